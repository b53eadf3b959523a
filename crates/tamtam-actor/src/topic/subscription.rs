//! A subscription: it lasts as long as this is kept, or as long as the actor.

use core::fmt;
use std::sync::{Arc, Weak};

use super::ledger::{Ending, SubscriptionId};
use super::roster::Forget;
use super::subscriber::Member;

/// What keeps a subscription going: dropping it ends the subscription.
///
/// An actor that subscribes itself keeps this among its state; then the subscription ends with the actor. It keeps
/// neither the topic nor the subscriber alive.
///
/// What is published after the end, that is, by a call that began after [`unsubscribe`](Subscription::unsubscribe)
/// or the drop had returned, is not delivered. A publish on another thread that is under way just then may still
/// deliver its message, and what is in the mailbox already is handled: so an actor that unsubscribes may have to do
/// with messages that come afterwards. What a [gathering](crate::Feed::batched) feed has not delivered yet is dropped.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, Topic};
///
/// let pool = Pool::new();
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let listener = pool.spawn_fn(move |news: &str, _| sender.send(news).unwrap());
/// let topic = Topic::new();
/// let subscription = topic.subscribe(&listener);
/// topic.publish("rain")?;
/// assert_eq!(receiver.recv()?, "rain");
/// assert_eq!((subscription.delivered(), subscription.is_active()), (1, true));
///
/// subscription.unsubscribe(); // or by dropping it
/// assert_eq!(topic.publish("sun")?, 0);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[must_use = "dropping it ends the subscription; see `detach`"]
pub struct Subscription {
    member: Arc<dyn Member>,
    roster: Weak<dyn Forget>,
    detached: bool,
}

impl Subscription {
    pub(super) fn new(member: Arc<dyn Member>, roster: Weak<dyn Forget>) -> Self {
        Subscription {
            member,
            roster,
            detached: false,
        }
    }

    /// Ends the subscription; the same as dropping it.
    pub fn unsubscribe(self) {
        drop(self);
    }

    /// Lets the subscription go on until its actor stops.
    pub fn detach(mut self) {
        self.detached = true;
    }

    /// The subscription's number, of its own within the topic. [`PublishError`](crate::PublishError) says by it who had no room.
    #[must_use]
    pub fn id(&self) -> SubscriptionId {
        self.member.ledger().id
    }

    /// Whether messages are still delivered, as far as is known: that an actor has stopped is noticed by a publish, or a later subscription.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.member.ledger().is_active()
    }

    /// Why it has ended, if it has.
    #[must_use]
    pub fn ending(&self) -> Option<Ending> {
        self.member.ledger().ending()
    }

    /// How many messages were put into the mailbox; of a batch each one counts.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.member.ledger().all_delivered()
    }

    /// How many messages were dropped: for want of room, by [`WhenFull`](crate::WhenFull), or gathered and not
    /// delivered when the subscription ended by itself.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.member.ledger().dropped.get()
    }

    /// How often a publisher was told that there was no room.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.member.ledger().refused.get()
    }

    /// How many messages were replaced by later ones before they were delivered, as is meant for
    /// [`latest`](crate::Feed::latest) and [`latest_by`](crate::Feed::latest_by).
    #[must_use]
    pub fn replaced(&self) -> u64 {
        self.member.ledger().replaced.get()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.detached {
            return;
        }
        self.member.ledger().end(Ending::Unsubscribed);
        self.member.clear();
        if let Some(roster) = self.roster.upgrade() {
            roster.forget(self.id());
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("id", &self.id())
            .field("ending", &self.ending())
            .field("delivered", &self.delivered())
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
