//! Why a message was not published to all subscribers.

use core::error::Error;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::PublishFuture;
use super::ledger::SubscriptionId;
use super::roster::Subscribers;
use super::round::{Patience, Round};
use super::subscriber::Subscriber;

/// Some subscribers had no room for a message; all others who wanted it have got it.
///
/// It has the message, and knows who has not got it.
///
/// It converts by `?` into `Box<dyn Error + Send + Sync>` whatever the message is.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Budget, Frame, Overflow, Topic};
///
/// let mut frame = Frame::new();
/// let slow = frame.spawner().limited(1, Overflow::Fail).spawn_fn(|_: u32, _| {});
/// let topic = Topic::new();
/// let subscription = topic.subscribe(&slow);
/// topic.publish(1)?;
/// let error = topic.publish(2).unwrap_err();
/// assert_eq!((error.delivered(), error.refused()), (0, 1));
/// frame.pump(Budget::unlimited());
/// assert_eq!(error.retry()?, 1); // to those who had no room
/// # drop(subscription);
/// # frame.pump(Budget::unlimited());
/// # Ok::<(), tamtam_actor::PublishError<u32>>(())
/// ```
pub struct PublishError<M> {
    /// The lock is never taken: it says that the message is not looked at through a shared error.
    message: Mutex<M>,
    refused: Vec<Arc<dyn Subscriber<M>>>,
    delivered: usize,
    roster: Arc<Subscribers<M>>,
}

/// What is left to do of a publish.
pub(super) struct Unpublished<M> {
    pub(super) message: M,
    pub(super) refused: Vec<Arc<dyn Subscriber<M>>>,
    pub(super) delivered: usize,
    pub(super) roster: Arc<Subscribers<M>>,
}

impl<M> PublishError<M> {
    pub(super) fn new(
        message: M,
        refused: Vec<Arc<dyn Subscriber<M>>>,
        delivered: usize,
        roster: Arc<Subscribers<M>>,
    ) -> Self {
        PublishError {
            message: Mutex::new(message),
            refused,
            delivered,
            roster,
        }
    }

    /// The message.
    pub fn into_inner(self) -> M {
        self.into_unpublished().message
    }

    pub(super) fn into_unpublished(self) -> Unpublished<M> {
        let message = self.message.into_inner();
        Unpublished {
            message: message.unwrap_or_else(PoisonError::into_inner),
            refused: self.refused,
            delivered: self.delivered,
            roster: self.roster,
        }
    }

    /// How many subscribers have got it.
    #[must_use]
    pub fn delivered(&self) -> usize {
        self.delivered
    }

    /// How many subscribers wanted it and had no room: at least one.
    #[must_use]
    pub fn refused(&self) -> usize {
        self.refused.len()
    }

    /// Which ones had no room: see [`Subscription::id`](crate::Subscription::id).
    pub fn subscriptions(&self) -> impl Iterator<Item = SubscriptionId> {
        self.refused.iter().map(|member| member.ledger().id)
    }
}

impl<M: Clone + Send + 'static> PublishError<M> {
    /// Offers the message again to those who had no room, and returns how many subscribers have it now in all.
    ///
    /// # Ordering
    ///
    /// Their next message is the one that is offered first: before another one is published, therefore, this one is
    /// offered again, or given up.
    ///
    /// # Errors
    ///
    /// Another [`PublishError`] if a subscriber still has no room.
    pub fn retry(self) -> Result<usize, PublishError<M>> {
        self.again(Patience::AsMade)
    }

    /// As [`retry`](PublishError::retry), but waits for room, at most `timeout` in all.
    ///
    /// # Blocking
    ///
    /// While a subscriber's mailbox is full; see [`Topic::publish_timeout`](crate::Topic::publish_timeout).
    ///
    /// # Errors
    ///
    /// As [`retry`](PublishError::retry).
    pub fn retry_timeout(self, timeout: Duration) -> Result<usize, PublishError<M>> {
        self.retry_until(Instant::now().checked_add(timeout))
    }

    /// As [`retry`](PublishError::retry), for async code: room is awaited, with any runtime or none, however long that
    /// takes.
    ///
    /// # Cancel safety
    ///
    /// As [`Topic::publish_async`](crate::Topic::publish_async).
    pub fn retry_async(self) -> PublishFuture<M> {
        PublishFuture::of_some(self.into_unpublished())
    }

    pub(super) fn retry_until(self, deadline: Option<Instant>) -> Result<usize, PublishError<M>> {
        self.again(Patience::Until(deadline))
    }

    fn again(self, patience: Patience) -> Result<usize, PublishError<M>> {
        let Unpublished {
            message,
            refused,
            delivered,
            roster,
        } = self.into_unpublished();
        match Round::new(&roster, patience).hand_out_to(&refused, message) {
            Ok(more) => Ok(delivered + more),
            Err(mut error) => {
                error.delivered += delivered;
                Err(error)
            }
        }
    }
}

impl<M> fmt::Debug for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishError")
            .field("delivered", &self.delivered)
            .field("refused", &self.refused.len())
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Display for PublishError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no room at {} of the subscribers who wanted the message, {} have got it; try the others later, or wait \
             for room",
            self.refused.len(),
            self.delivered
        )
    }
}

impl<M> Error for PublishError<M> {}
