//! How a subscriber gets what is published: each message, some of them, or the latest now and then.

use core::fmt;
use core::hash::Hash;
use std::collections::HashMap;
use std::time::Duration;

use super::Topic;
use super::gatherer::Gatherer;
use super::gathering::{All, Batch, Gathering, Latest, LatestBy, Recycled};
use super::ledger::SubscriptionId;
use super::subscriber::{Common, Each, Filter};
use super::subscription::Subscription;
use crate::address::Address;

/// What is done when a subscriber has no room for a message.
///
/// A subscriber has no room when its mailbox has a limit, is full, and gives messages back
/// ([`Overflow::Fail`](crate::Overflow)), or when as many messages are gathered for it as it
/// [allows](Feed::gather_at_most). A mailbox that drops messages of its own takes every message, and counts what it
/// drops by [`Address::lost`].
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Budget, Frame, Overflow, Topic, WhenFull};
///
/// let mut frame = Frame::new();
/// let slow = frame.spawner().limited(1, Overflow::Fail).spawn_fn(|_: u32, _| {});
/// let topic = Topic::new();
/// let subscription = topic.feed().when_full(WhenFull::Drop).subscribe(&slow);
/// topic.publish(1)?;
/// topic.publish(2)?; // the publisher is not told, and goes on
/// assert_eq!(subscription.dropped(), 1);
/// # frame.pump(Budget::unlimited());
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WhenFull {
    /// The publisher is told, by a [`PublishError`](crate::PublishError), and may try again or wait. So nothing is lost in silence, and one
    /// slow subscriber may slow the publisher, if that chooses to wait.
    #[default]
    Refuse,
    /// The message is dropped, for this subscriber, and counted: [`Subscription::dropped`].
    Drop,
    /// The subscription ends; the message is counted as dropped.
    Unsubscribe,
}

/// What a subscriber gets of a topic, and how: each message, some of them, or in one piece what came within an
/// interval. See [`Topic::feed`].
///
/// Of [`batched`](Feed::batched), [`recycled`](Feed::recycled), [`latest`](Feed::latest) and
/// [`latest_by`](Feed::latest_by) the one that was called last counts. All of them *gather*: the first message starts
/// the interval, and at its end is delivered what has come. Then nothing happens until another message comes. If
/// the mailbox is full at the end, what was gathered stays, with what comes meanwhile, for another interval. These
/// kinds of subscribers are those of Jetlang's channels.
///
/// Intervals are measured by the time of the subscriber's home; see [`PoolBuilder::time`](crate::PoolBuilder::time).
///
/// A filter runs on the publishers' threads, and so does what a [mapped address](Address::map) does with each message.
/// What was gathered is delivered, and mapped, in a turn of the subscriber's own. A key runs on either. All of
/// them run under no lock.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_actor::{Pool, Topic};
///
/// let pool = Pool::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let chart = pool.spawn_fn(move |prices: Vec<u64>, _| sender.send(prices).unwrap());
///
/// let topic = Topic::new();
/// let subscription = topic
///     .feed()
///     .filter(|price| *price > 10)
///     .batched(Duration::from_millis(16))
///     .subscribe(&chart);
/// for price in [5, 12, 20] {
///     topic.publish(price)?;
/// }
/// let mut prices = Vec::new();
/// while prices.len() < 2 {
///     prices.extend(receiver.recv()?);
/// }
/// assert_eq!(prices, [12, 20]);
/// # drop(subscription);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[must_use = "a feed without `subscribe` does nothing"]
pub struct Feed<M, N = M> {
    topic: Topic<M>,
    wishes: Wishes<M>,
    admit: Admit<M, N>,
}

/// Until when a [feed](Feed) gathers messages. A [`Duration`] is an interval.
///
/// # Examples
///
/// A loop of frames gets the latest price when it pumps, each time, however long its frames take:
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
/// use tamtam_actor::{Budget, Frame, Topic, Until};
///
/// let mut frame = Frame::new();
/// let shown = Rc::new(Cell::new(0));
/// let show = Rc::clone(&shown);
/// let label = frame.spawn_fn(move |price: u32, _| show.set(price));
///
/// let prices = Topic::new();
/// let subscription = prices.feed().latest(Until::Turn).subscribe(&label);
/// for price in 1..=30 {
///     prices.publish(price)?;
/// }
/// frame.pump(Budget::unlimited());
/// assert_eq!(shown.get(), 30);
/// assert_eq!((subscription.delivered(), subscription.replaced()), (1, 29));
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Until {
    /// So long from the first message on.
    Interval(Duration),
    /// Until the subscriber has its next turn: in a [`Frame`](crate::Frame), until it is pumped. The first message makes
    /// it due at once, and what comes until its turn is delivered with it, in the same pump. If its mailbox has no room
    /// for it then, that is tried again after a millisecond.
    Turn,
}

impl From<Duration> for Until {
    fn from(interval: Duration) -> Self {
        Until::Interval(interval)
    }
}

/// What was asked for so far, whatever kind of subscriber it is for.
struct Wishes<M> {
    filter: Option<Filter<M>>,
    when_full: WhenFull,
    limit: usize,
}

impl<M> Wishes<M> {
    fn common(self, id: SubscriptionId) -> Common<M> {
        Common::new(id, self.filter, self.when_full)
    }
}

/// Makes the subscriber, and adds it to the topic.
type Admit<M, N> = Box<dyn FnOnce(&Topic<M>, Wishes<M>, &Address<N>) -> Subscription + Send>;

impl<M: Send + 'static> Feed<M> {
    pub(super) fn each(topic: Topic<M>) -> Self {
        Feed {
            topic,
            wishes: Wishes {
                filter: None,
                when_full: WhenFull::default(),
                limit: usize::MAX,
            },
            admit: Box::new(|topic, wishes, address| {
                topic.admit(|id| Each::new(wishes.common(id), address.outlet(), topic.streak()))
            }),
        }
    }

    /// All messages of an interval, as a vector, in the order in which they came.
    pub fn batched(self, until: impl Into<Until>) -> Feed<M, Vec<M>> {
        self.gathered(until.into(), All)
    }

    /// As [`batched`](Feed::batched), but the vectors are used again: a [`Batch`] that is dropped gives its own back.
    /// If the subscriber keeps up, two of them take turns, and a message needs no memory of its own.
    pub fn recycled(self, until: impl Into<Until>) -> Feed<M, Batch<M>> {
        self.gathered(until.into(), Recycled::new())
    }

    /// The latest message of an interval alone. Those before it are dropped, and counted:
    /// [`Subscription::replaced`].
    pub fn latest(self, until: impl Into<Until>) -> Feed<M> {
        self.gathered(until.into(), Latest)
    }

    /// The latest message of each key within an interval, as a map. Those before them are dropped, and counted:
    /// [`Subscription::replaced`].
    ///
    /// # Panics
    ///
    /// A panic in `key`, or in the key's comparison or hash, ends the subscription.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::time::Duration;
    /// use tamtam_actor::{Pool, Topic};
    ///
    /// let pool = Pool::new();
    /// let table = pool.spawn_fn(|prices: HashMap<&'static str, (&'static str, u64)>, _| {
    ///     // draw the lines that have changed
    ///     # let _ = prices;
    /// });
    /// let topic = Topic::new();
    /// let frame = Duration::from_millis(16);
    /// let subscription = topic.feed().latest_by(frame, |price: &(_, _)| price.0).subscribe(&table);
    /// topic.publish(("copper", 9))?;
    /// topic.publish(("tin", 31))?;
    /// topic.publish(("copper", 10))?;
    /// # drop(subscription);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn latest_by<K: Eq + Hash + Send + 'static>(
        self,
        until: impl Into<Until>,
        key: impl Fn(&M) -> K + Send + Sync + 'static,
    ) -> Feed<M, HashMap<K, M>> {
        self.gathered(until.into(), LatestBy::new(key))
    }

    fn gathered<G: Gathering<M> + Send>(self, until: Until, gathering: G) -> Feed<M, G::Delivery> {
        Feed {
            topic: self.topic,
            wishes: self.wishes,
            admit: Box::new(move |topic, wishes, address| {
                let limit = wishes.limit;
                topic.admit(|id| Gatherer::new(wishes.common(id), address, gathering, until, limit))
            }),
        }
    }
}

impl<M: Send + 'static, N: Send + 'static> Feed<M, N> {
    /// Only messages for which this is true. Called again, both have to be.
    ///
    /// It is called by each publish, on the publisher's thread, under no lock; before a message is cloned.
    ///
    /// # Panics
    ///
    /// A panic in it ends the subscription; the publisher does not notice.
    pub fn filter(mut self, wanted: impl Fn(&M) -> bool + Send + Sync + 'static) -> Self {
        self.wishes.filter = Some(match self.wishes.filter.take() {
            None => Box::new(wanted),
            Some(before) => Box::new(move |message| before(message) && wanted(message)),
        });
        self
    }

    /// What is done when there is no room for a message.
    pub fn when_full(mut self, then: WhenFull) -> Self {
        self.wishes.when_full = then;
        self
    }

    /// So many messages are gathered at most, at least one; for [`latest_by`](Feed::latest_by), so many keys. What
    /// becomes of others is said by [`when_full`](Feed::when_full).
    ///
    /// Otherwise there is no limit: what is published faster than it is handled takes memory. Where nothing is
    /// gathered, and for [`latest`](Feed::latest), this means nothing.
    pub fn gather_at_most(mut self, messages: usize) -> Self {
        self.wishes.limit = messages.max(1);
        self
    }

    /// Subscribes an actor, until the [`Subscription`] is dropped.
    pub fn subscribe(self, address: &Address<N>) -> Subscription {
        (self.admit)(&self.topic, self.wishes, address)
    }
}

impl<M, N> fmt::Debug for Feed<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("when_full", &self.wishes.when_full)
            .finish_non_exhaustive()
    }
}
