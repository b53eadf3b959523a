use core::fmt;
use core::hash::Hash;
use std::collections::HashMap;
use std::time::Duration;

use super::Topic;
use super::gatherer::{Gatherer, Rhythm};
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
#[must_use = "nobody has subscribed yet"]
pub struct Feed<M, N = M> {
    topic: Topic<M>,
    filter: Option<Filter<M>>,
    when_full: WhenFull,
    limit: usize,
    admit: Admit<M, N>,
}

/// What the subscriber is made of in the end.
struct Wishes<M> {
    filter: Option<Filter<M>>,
    when_full: WhenFull,
    limit: usize,
}

impl<M> Wishes<M> {
    fn common(&mut self, id: SubscriptionId) -> Common<M> {
        Common::new(id, self.filter.take(), self.when_full)
    }
}

type Admit<M, N> = Box<dyn FnOnce(&Topic<M>, Wishes<M>, &Address<N>) -> Subscription + Send>;

impl<M: Send + 'static> Feed<M> {
    pub(super) fn each(topic: Topic<M>) -> Self {
        Feed {
            topic,
            filter: None,
            when_full: WhenFull::default(),
            limit: usize::MAX,
            admit: Box::new(|topic, mut wishes, address| {
                topic.admit(|id| Each::new(wishes.common(id), address.outlet()))
            }),
        }
    }

    /// All messages of an interval, as a vector, in the order in which they came.
    pub fn batched(self, interval: Duration) -> Feed<M, Vec<M>> {
        self.gathered(interval, All)
    }

    /// As [`batched`](Feed::batched), but the vectors are used again: a [`Batch`] that is dropped gives its own back.
    /// If the subscriber keeps up, two of them take turns, and a message needs no memory of its own.
    pub fn recycled(self, interval: Duration) -> Feed<M, Batch<M>> {
        self.gathered(interval, Recycled::new())
    }

    /// The latest message of an interval alone. Those before it are dropped, and counted:
    /// [`Subscription::replaced`].
    pub fn latest(self, interval: Duration) -> Feed<M> {
        self.gathered(interval, Latest)
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
        interval: Duration,
        key: impl Fn(&M) -> K + Send + Sync + 'static,
    ) -> Feed<M, HashMap<K, M>> {
        self.gathered(interval, LatestBy::new(key))
    }

    fn gathered<G: Gathering<M> + Send>(
        self,
        interval: Duration,
        gathering: G,
    ) -> Feed<M, G::Delivery> {
        Feed {
            topic: self.topic,
            filter: self.filter,
            when_full: self.when_full,
            limit: self.limit,
            admit: Box::new(move |topic, mut wishes, address| {
                topic.admit(|id| {
                    let common = wishes.common(id);
                    let rhythm = Rhythm {
                        interval,
                        limit: wishes.limit,
                    };
                    Gatherer::new(common, address, gathering, rhythm)
                })
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
        self.filter = Some(match self.filter.take() {
            None => Box::new(wanted),
            Some(before) => Box::new(move |message| before(message) && wanted(message)),
        });
        self
    }

    /// What is done when there is no room for a message.
    pub fn when_full(mut self, then: WhenFull) -> Self {
        self.when_full = then;
        self
    }

    /// So many messages are gathered at most, at least one; for [`latest_by`](Feed::latest_by), so many keys. What
    /// becomes of others is said by [`when_full`](Feed::when_full).
    ///
    /// Otherwise there is no limit: what is published faster than it is handled takes memory. Where nothing is
    /// gathered, and for [`latest`](Feed::latest), this means nothing.
    pub fn gather_at_most(mut self, messages: usize) -> Self {
        self.limit = messages.max(1);
        self
    }

    /// Subscribes an actor, until the [`Subscription`] is dropped.
    pub fn subscribe(self, address: &Address<N>) -> Subscription {
        let wishes = Wishes {
            filter: self.filter,
            when_full: self.when_full,
            limit: self.limit,
        };
        (self.admit)(&self.topic, wishes, address)
    }
}

impl<M, N> fmt::Debug for Feed<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed")
            .field("when_full", &self.when_full)
            .finish_non_exhaustive()
    }
}
