//! What a topic knows of each of its subscriptions: what was sent, and what was lost.

use core::fmt;

use tamtam_wait::seam::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::mailbox::StreakGuard;

/// The number of a subscription, of its own among those of one topic; later ones have greater numbers.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Frame, Overflow, Topic};
///
/// let mut frame = Frame::new();
/// let slow = frame.spawner().limited(1, Overflow::Fail).spawn_fn(|_: u32, _| {});
/// let topic = Topic::new();
/// let subscription = topic.subscribe(&slow);
/// topic.publish(1)?;
/// let error = topic.publish(2).unwrap_err(); // there is no room
/// assert!(error.subscriptions().eq([subscription.id()]));
/// # frame.pump(tamtam_actor::Budget::unlimited());
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubscriptionId(pub(super) u64);

impl fmt::Display for SubscriptionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Why a subscription has ended.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Ending, Pool, Topic};
///
/// let pool = Pool::new();
/// let listener = pool.spawn_fn(|_: u32, _| {});
/// let topic = Topic::new();
/// let subscription = topic.subscribe(&listener);
/// listener.stop();
/// listener.end().wait();
/// topic.publish(1)?; // finds out
/// assert_eq!(subscription.ending(), Some(Ending::Stopped));
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ending {
    /// It was unsubscribed, or the [`Subscription`](crate::Subscription) was dropped.
    Unsubscribed,
    /// The actor has stopped.
    Stopped,
    /// There was no room for a message, and this was what to do then:
    /// [`WhenFull::Unsubscribe`](crate::WhenFull::Unsubscribe).
    Lagged,
    /// Its filter, its key, or what maps messages for it has panicked.
    Panicked,
}

const ACTIVE: u8 = 0;

/// What is known of one subscription: whether it goes on, and what became of its messages.
pub(super) struct SubscriptionLedger {
    pub(super) id: SubscriptionId,
    ended: AtomicU8,
    /// Those that did not go into a block of a streak.
    pub(super) delivered: MessageCount,
    /// Those that did: changed by the thread that has the lock of the streaks, and so by no locked instruction.
    streamed: AtomicU64,
    pub(super) dropped: MessageCount,
    pub(super) refused: MessageCount,
    pub(super) replaced: MessageCount,
}

impl SubscriptionLedger {
    pub(super) fn new(id: SubscriptionId) -> Self {
        SubscriptionLedger {
            id,
            ended: AtomicU8::new(ACTIVE),
            delivered: MessageCount::new(),
            streamed: AtomicU64::new(0),
            dropped: MessageCount::new(),
            refused: MessageCount::new(),
            replaced: MessageCount::new(),
        }
    }

    /// A message went into a block.
    #[inline]
    pub(super) fn count_in_streak(&self, _: &StreakGuard<'_>) {
        let before = self.streamed.load(Ordering::Relaxed);
        self.streamed.store(before + 1, Ordering::Relaxed);
    }

    /// How many messages were delivered, in whatever way.
    pub(super) fn all_delivered(&self) -> u64 {
        self.delivered.get() + self.streamed.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        // SYNC topic-ended
        self.ended.load(Ordering::Acquire) == ACTIVE
    }

    /// The first reason counts.
    pub(super) fn end(&self, why: Ending) {
        // SYNC topic-ended: what is done after the end was seen comes after what was done before it.
        let _ =
            self.ended
                .compare_exchange(ACTIVE, why as u8 + 1, Ordering::AcqRel, Ordering::Relaxed);
    }

    pub(super) fn ending(&self) -> Option<Ending> {
        // SYNC topic-ended
        let ended = self.ended.load(Ordering::Acquire);
        [
            Ending::Unsubscribed,
            Ending::Stopped,
            Ending::Lagged,
            Ending::Panicked,
        ]
        .into_iter()
        .find(|why| *why as u8 + 1 == ended)
    }
}

/// How many messages had one outcome.
pub(super) struct MessageCount(AtomicU64);

impl MessageCount {
    fn new() -> Self {
        MessageCount(AtomicU64::new(0))
    }

    #[inline]
    pub(super) fn add(&self, messages: usize) {
        self.0.fetch_add(messages as u64, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
