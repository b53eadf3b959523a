//! Publish and subscribe: what one publishes, all who have subscribed get.

#![forbid(unsafe_code)]

use core::fmt;
use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use tamtam_wait::contain;
use tamtam_wait::seam::Mutex;

use crate::address::Address;

mod error;
mod feed;
mod gatherer;
mod gathering;
mod ledger;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod request;
mod round;
mod subscriber;
mod subscription;

pub use error::PublishError;
pub use feed::{Feed, WhenFull};
pub use gathering::Batch;
pub use ledger::{Ending, SubscriptionId};
pub use request::{AnswerError, Answers, Request, RequestTopic, Session};
pub use subscription::Subscription;

use round::Round;
use subscriber::{Member, Subscriber};

/// Where messages are published, for all who have subscribed.
///
/// Who publishes does not know who listens. A subscriber is an actor's [`Address`]; the message lands in its mailbox
/// as if it had been told. Clones of a topic are the same topic.
///
/// Subscribers that want something else than each message use a [`feed`](Topic::feed): some of the messages, or what
/// came within an interval in one piece.
///
/// A topic keeps no subscriber alive. One that has stopped is noticed and taken off the list by the next
/// [`publish`](Topic::publish). A message that is published when nobody has subscribed is dropped; one who
/// subscribes later does not get it (a [`Property`](https://docs.rs/tamtam-channel) keeps the latest value).
///
/// # Ordering
///
/// What one thread, or one actor, publishes reaches each subscriber in the order published, without gaps but for those
/// that were refused or counted as dropped. So does what was published by somebody who had learned of an earlier
/// message after that was published. Other messages of two publishers may reach two subscribers in different orders;
/// where all have to see one order, let one actor publish.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Topic};
///
/// let pool = Pool::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let listener = pool.spawn_fn(move |news: String, _| sender.send(news).unwrap());
///
/// let topic = Topic::new();
/// let subscription = topic.subscribe(&listener);
/// assert_eq!(topic.publish("rain".to_owned())?, 1); // one subscriber has got it
/// assert_eq!(receiver.recv()?, "rain");
///
/// drop(subscription);
/// assert_eq!(topic.publish("sun".to_owned())?, 0);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Topic<M> {
    roster: Arc<Roster<M>>,
}

impl<M: Send + 'static> Topic<M> {
    /// A topic without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Topic {
            roster: Arc::new(Roster(Mutex::new(Members {
                by_number: BTreeMap::new(),
                snapshot: None,
                next: 0,
            }))),
        }
    }

    /// Subscribes an actor to each message that is published from now on, until the [`Subscription`] is dropped.
    ///
    /// If its mailbox is full, the publisher is told; see [`WhenFull`].
    ///
    /// What is not the actor's kind of message is made into it by [`Address::map`]: on the publisher's thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Topic};
    ///
    /// enum Event {
    ///     News(String),
    ///     Price(u64),
    /// }
    ///
    /// let pool = Pool::new();
    /// let window = pool.spawn_fn(|_: Event, _| {});
    /// let (news, prices) = (Topic::new(), Topic::new());
    /// let subscriptions = [
    ///     news.subscribe(&window.map(Event::News)),
    ///     prices.subscribe(&window.map(Event::Price)),
    /// ];
    /// assert_eq!(prices.publish(20)?, 1);
    /// # drop(subscriptions);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn subscribe(&self, address: &Address<M>) -> Subscription {
        self.feed().subscribe(address)
    }

    /// Says what a subscriber is to get, and how: see [`Feed`].
    pub fn feed(&self) -> Feed<M> {
        Feed::each(self.clone())
    }

    /// How many have subscribed. Actors that have stopped count until a publish notices.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.roster.0.lock().by_number.len()
    }
}

impl<M: Clone + Send + 'static> Topic<M> {
    /// Gives a message to each subscriber that wants it, in the order in which they subscribed, and returns to how
    /// many.
    ///
    /// It does not wait. Subscribers' handlers run elsewhere and later; of what they have brought only their filters,
    /// keys and mappings run here, under no lock. One of those that panics ends its own subscription, and the others
    /// do not notice.
    ///
    /// All subscribers but the last one get clones, the last one the message itself. If a clone is expensive, publish
    /// `Arc`s. Beside that a subscriber costs what a tell costs, and a count.
    ///
    /// # Panics
    ///
    /// If a clone of the message does. Some subscribers may have got it then.
    ///
    /// # Errors
    ///
    /// [`PublishError`] if a subscriber had no room, unless it had said that this is not the publisher's business
    /// ([`WhenFull`]). All others have got the message. The error has it, too, knows who has not, and can
    /// [try them again](PublishError::retry).
    pub fn publish(&self, message: M) -> Result<usize, PublishError<M>> {
        Round::new(&self.roster).hand_out_all(message)
    }

    /// As [`publish`](Topic::publish), but waits for room where there is none, at most `timeout` in all. First
    /// everybody gets it who has room.
    ///
    /// # Blocking
    ///
    /// While somebody's mailbox is full. Not for handlers on a pool: they keep a thread from those who would make
    /// room. An actor that has subscribed itself would wait for itself.
    ///
    /// # Panics
    ///
    /// As [`publish`](Topic::publish).
    ///
    /// # Errors
    ///
    /// As [`publish`](Topic::publish).
    pub fn publish_timeout(&self, message: M, timeout: Duration) -> Result<usize, PublishError<M>> {
        let deadline = Instant::now().checked_add(timeout);
        self.publish(message)
            .or_else(|error| error.retry_until(deadline))
    }
}

impl<M: Send + 'static> Default for Topic<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Clone for Topic<M> {
    fn clone(&self) -> Self {
        Topic {
            roster: Arc::clone(&self.roster),
        }
    }
}

impl<M> fmt::Debug for Topic<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subscribers = self.roster.0.lock().by_number.len();
        f.debug_struct("Topic")
            .field("subscribers", &subscribers)
            .finish_non_exhaustive()
    }
}

/// Those who have subscribed. Nobody gets a message while the lock is held.
struct Roster<M>(Mutex<Members<M>>);

/// Subscribers as they were at some time, in the order in which they came.
type Snapshot<M> = Arc<[Arc<dyn Subscriber<M>>]>;

struct Members<M> {
    by_number: BTreeMap<u64, Arc<dyn Subscriber<M>>>,
    /// Made by the first publish after a change: so one who subscribes or leaves copies nothing, and a publish, which
    /// goes to each of them anyway, copies at most as much as it hands out.
    snapshot: Option<Snapshot<M>>,
    next: u64,
}

impl<M> Roster<M> {
    fn snapshot(&self) -> Snapshot<M> {
        let mut members = self.0.lock();
        let Members {
            by_number,
            snapshot,
            ..
        } = &mut *members;
        Arc::clone(snapshot.get_or_insert_with(|| by_number.values().cloned().collect()))
    }

    /// Adds a subscriber, which is told its number.
    fn add<S: Subscriber<M> + 'static>(
        &self,
        subscriber: impl FnOnce(SubscriptionId) -> Arc<S>,
    ) -> Arc<S> {
        let number = {
            let mut members = self.0.lock();
            members.next += 1;
            members.next
        };
        let subscriber = subscriber(SubscriptionId(number));
        let outdated = {
            let mut members = self.0.lock();
            let member = Arc::clone(&subscriber);
            members.by_number.insert(number, member);
            members.snapshot.take()
        };
        // With it others may go that have left since, and what they have brought: not under the lock, and if that
        // panics it is nobody else's affair.
        contain(move || drop(outdated));
        subscriber
    }
}

/// Something that subscribers can be taken off, whatever its messages are.
trait Forget: Send + Sync {
    fn forget(&self, who: SubscriptionId);
}

impl<M> Forget for Roster<M> {
    fn forget(&self, who: SubscriptionId) {
        let gone = {
            let mut members = self.0.lock();
            let gone = members.by_number.remove(&who.0);
            let outdated = gone.as_ref().and_then(|_| members.snapshot.take());
            (gone, outdated)
        };
        // As above.
        contain(move || drop(gone));
    }
}

impl<M: Send + 'static> Topic<M> {
    /// Adds a subscriber that was made by a feed.
    fn admit<S: Subscriber<M> + 'static>(
        &self,
        subscriber: impl FnOnce(SubscriptionId) -> Arc<S>,
    ) -> Subscription {
        let member: Arc<dyn Member> = self.roster.add(subscriber);
        let roster: Weak<Roster<M>> = Arc::downgrade(&self.roster);
        Subscription::new(member, roster)
    }
}
