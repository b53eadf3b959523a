//! Publish and subscribe: what one publishes, all who have subscribed get.

#![forbid(unsafe_code)]

use core::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::address::Address;

mod error;
mod feed;
mod gatherer;
mod gathering;
mod ledger;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod publish_future;
mod roster;
mod round;
mod subscriber;
mod subscription;

pub use error::PublishError;
pub use feed::{Feed, Until, WhenFull};
pub use gathering::Batch;
pub use ledger::{Ending, SubscriptionId};
pub use publish_future::PublishFuture;
pub use subscription::Subscription;

use roster::Subscribers;
use round::{Patience, Round};

/// Where messages are published, for all who have subscribed.
///
/// Who publishes does not know who listens. A subscriber is an actor's [`Address`]; the message lands in its mailbox
/// as if it had been told. Clones of a topic are the same topic.
///
/// Subscribers that want something else than each message use a [`feed`](Topic::feed): some of the messages, or what
/// came within an interval in one piece.
///
/// A topic keeps no subscriber alive. One that has stopped is noticed and taken off the list by the next
/// [`publish`](Topic::publish), or when others subscribe: there are never more than twice as many on the list as were at work at
/// once, or 64. A message that is published while there is no subscriber is dropped, and one who
/// subscribes later does not get it, unless the topic is one that [retains](Topic::retaining) its latest message.
///
/// # Ordering
///
/// What one thread, or one actor, publishes reaches each subscriber in the order published, without gaps but for those
/// that were refused or counted as dropped. So does what was published by one who had learned of an earlier
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
    roster: Arc<Subscribers<M>>,
}

impl<M: Send + 'static> Topic<M> {
    /// A topic without subscribers.
    #[must_use]
    pub fn new() -> Self {
        Topic {
            roster: Arc::new(Subscribers::new()),
        }
    }

    /// A topic that keeps the latest message: a new subscriber gets that one first, if its feed wants it, and then
    /// each one that is published later, as others do.
    ///
    /// It is kept from the moment at which it is published, whichever subscriber has room for it, until the next one is. If
    /// the new subscriber has no room for it, it is dropped for that one, and [counted](Subscription::dropped). Where the latest
    /// value is all that is wanted, and no subscriber needs to be told, there is the
    /// [`Property`](https://docs.rs/tamtam-channel).
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Pool, Topic};
    ///
    /// let weather = Topic::retaining();
    /// assert_eq!(weather.publish("rain")?, 0);
    ///
    /// let pool = Pool::new();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let late = pool.spawn_fn(move |news: &str, _| sender.send(news).unwrap());
    /// let subscription = weather.subscribe(&late);
    /// assert_eq!(receiver.recv()?, "rain");
    /// assert_eq!(weather.publish("sun")?, 1);
    /// assert_eq!(receiver.recv()?, "sun");
    /// # drop(subscription);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[must_use]
    pub fn retaining() -> Self
    where
        M: Clone + Sync,
    {
        Topic {
            roster: Arc::new(Subscribers::retaining()),
        }
    }

    /// The message that is [retained](Topic::retaining); none if nothing was published yet, or the topic retains nothing.
    #[must_use]
    pub fn retained(&self) -> Option<M> {
        self.roster.retained()
    }

    /// Subscribes an actor to each message that is published from now on, until the [`Subscription`] is dropped. If the
    /// topic [retains](Topic::retaining) one, that is the first.
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

    /// How many have subscribed. Actors that have stopped count until a publish notices, or a later subscription.
    #[must_use]
    pub fn subscribers(&self) -> usize {
        self.roster.len()
    }
}

impl<M: Clone + Send + 'static> Topic<M> {
    /// Gives a message to each subscriber that wants it, in the order in which they subscribed, and returns to how
    /// many.
    ///
    /// It waits only for those whose mailboxes have their [senders wait](crate::Overflow::Wait), as a
    /// [`tell`](Address::tell) does; in async code, [`publish_async`](Topic::publish_async) awaits them. Subscribers' handlers run elsewhere and later; of what they have brought only their filters,
    /// keys and mappings run here, under no lock. One of those that panics ends its own subscription, and the others
    /// do not notice.
    ///
    /// All subscribers but the last one get clones, the last one the message itself. If a clone is expensive, publish
    /// `Arc`s. Beside that a subscriber costs what a tell costs; if it has not come to what was published before, less than half of that.
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
        Round::new(&self.roster, Patience::AsMade).hand_out_to_all(message)
    }

    /// As [`publish`](Topic::publish), for async code: who has no room is awaited, wherever
    /// [`tell_async`](Address::tell_async) awaits it, with any runtime or none, and no thread waits. First all get the
    /// message who have room.
    ///
    /// That is so for mailboxes that have their [senders wait](crate::Overflow::Wait), and for those that would refuse the
    /// message, unless the subscriber would rather [lose it](WhenFull::Drop), or [its place](WhenFull::Unsubscribe); and
    /// where messages are gathered, if there is a [limit](Feed::gather_at_most).
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, it has given the message to those who had room, and to no other.
    /// [`PublishFuture::into_inner`] gives it back.
    ///
    /// # Panics
    ///
    /// As [`publish`](Topic::publish), when it is polled.
    ///
    /// # Errors
    ///
    /// None at this time, since no subscriber is left to tell the publisher of; it is the error of
    /// [`publish`](Topic::publish), so that the one can be put in the place of the other.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_actor::{Overflow, Pool, Topic};
    /// # fn run<F: Future>(future: F) -> F::Output {
    /// #     let mut future = std::pin::pin!(future);
    /// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #     loop {
    /// #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
    /// #             return output;
    /// #         }
    /// #         std::thread::yield_now();
    /// #     }
    /// # }
    ///
    /// let pool = Pool::new();
    /// let slow = pool.spawner().limited(1, Overflow::Wait).spawn_fn(|_: u32, _| {});
    /// let topic = Topic::new();
    /// let subscription = topic.subscribe(&slow);
    /// # run(async {
    /// for number in 0..10 {
    ///     assert_eq!(topic.publish_async(number).await?, 1);
    /// }
    /// # Ok::<(), tamtam_actor::PublishError<u32>>(()) })?;
    /// assert_eq!(subscription.delivered(), 10);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn publish_async(&self, message: M) -> PublishFuture<M> {
        PublishFuture::of_all(&self.roster, message)
    }

    /// As [`publish`](Topic::publish), but waits for room where there is none, at most `timeout` in all. First
    /// all get it who have room.
    ///
    /// # Blocking
    ///
    /// While a subscriber's mailbox is full. Not for handlers on a pool: they keep a thread from those who would make
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
        f.debug_struct("Topic")
            .field("subscribers", &self.roster.len())
            .finish_non_exhaustive()
    }
}
