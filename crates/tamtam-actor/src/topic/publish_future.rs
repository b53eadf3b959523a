//! Publishing as a task, which waits for room at each subscriber.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::VecDeque;
use std::sync::Arc;

use tamtam_wait::{Polled, TaskWait, Token};

use super::error::{PublishError, Unpublished};
use super::roster::Subscribers;
use super::round::{Patience, Round};
use super::subscriber::{Offered, Subscriber};

/// What [`Topic::publish_async`](crate::Topic::publish_async) and [`PublishError::retry_async`] return: ready, with the
/// number of subscribers that have got the message, when none is waited for any more.
///
/// # Cancel safety
///
/// Dropping it before it is ready gives the message to no other; [`into_inner`](PublishFuture::into_inner) gives it
/// back.
///
/// # Examples
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use tamtam_actor::{Pool, Topic};
///
/// let pool = Pool::new();
/// let topic = Topic::new();
/// let reader = pool.spawn_fn(|_: u32, _| {});
/// let subscription = topic.subscribe(&reader);
/// // A task awaits it. There is room, so it is ready at once.
/// let mut publishing = std::pin::pin!(topic.publish_async(1));
/// let polled = publishing.as_mut().poll(&mut Context::from_waker(Waker::noop()));
/// assert!(matches!(polled, Poll::Ready(Ok(1))));
/// # drop(subscription);
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct PublishFuture<M> {
    roster: Arc<Subscribers<M>>,
    /// None when all have it.
    message: Option<M>,
    /// No subscriber was offered it yet.
    is_new: bool,
    /// Those who have no room, and are awaited: one after the other.
    awaited: VecDeque<Arc<dyn Subscriber<M>>>,
    taken: usize,
    is_over: bool,
    wait: TaskWait,
}

impl<M: Clone + Send + 'static> PublishFuture<M> {
    /// To all who have subscribed when it is polled first.
    pub(super) fn of_all(roster: &Arc<Subscribers<M>>, message: M) -> Self {
        let mut all = Self::of_some(Unpublished {
            message,
            refused: Vec::new(),
            delivered: 0,
            roster: Arc::clone(roster),
        });
        all.is_new = true;
        all
    }

    /// To those who had no room.
    pub(super) fn of_some(left: Unpublished<M>) -> Self {
        PublishFuture {
            roster: left.roster,
            message: Some(left.message),
            is_new: false,
            awaited: left.refused.into(),
            taken: left.delivered,
            is_over: false,
            wait: TaskWait::new(),
        }
    }

    /// Hands it out to all who have room.
    fn begin(&mut self, message: M) {
        match Round::new(&self.roster, Patience::ForSome).hand_out_to_all(message) {
            Ok(taken) => self.taken = taken,
            Err(error) => {
                let left = error.into_unpublished();
                self.message = Some(left.message);
                self.awaited = left.refused.into();
                self.taken = left.delivered;
            }
        }
    }

    /// Offers it to the one that is awaited: `false` if that one still has no room.
    fn offer(&mut self, member: &dyn Subscriber<M>) -> bool {
        // The last one of all gets the message itself.
        let is_last = self.awaited.len() == 1;
        let message = if is_last {
            self.message.take()
        } else {
            self.message.clone()
        };
        let Some(message) = message else {
            unreachable!("as long as a subscriber is awaited there is a message")
        };
        match member.offer(message, Patience::ForAll, None) {
            Offered::NoRoom(message) => {
                self.message.get_or_insert(message);
                return false;
            }
            Offered::Taken => self.taken += 1,
            Offered::Dropped => {}
            Offered::Over => self.roster.bury(member),
        }
        self.awaited.pop_front();
        true
    }
}

impl<M> PublishFuture<M> {
    /// Gives the publishing up; the message, unless all who want it have got it.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<M> {
        self.message.take()
    }

    /// Leaves the list of those who wait.
    fn leave(&mut self) {
        if self.wait.is_listed()
            && let Some(member) = self.awaited.front()
        {
            let wait = &mut self.wait;
            member.with_room(&mut |room| wait.cancel(room));
        }
    }
}

// The message is moved by value and never pinned.
impl<M> Unpin for PublishFuture<M> {}

impl<M: Clone + Send + 'static> Future for PublishFuture<M> {
    type Output = Result<usize, PublishError<M>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if core::mem::take(&mut this.is_new)
            && let Some(message) = this.message.take()
        {
            this.begin(message);
        }
        assert!(!this.is_over, "a publish was polled after it had ended");
        while let Some(member) = this.awaited.front().map(Arc::clone) {
            // The first time, or there is room as it seems. Also to one who has unsubscribed meanwhile: it was this task
            // that was told of the room, and no other.
            if !this.wait.is_listed() && this.offer(&*member) {
                continue;
            }
            let (wait, waker) = (&mut this.wait, context.waker());
            let mut polled = None;
            member.with_room(&mut |room| {
                polled = Some(wait.poll(room, &mut Token::default(), waker, None));
            });
            match polled {
                Some(Poll::Ready(Polled::Begun)) => {}
                Some(Poll::Ready(Polled::TimedOut)) => unreachable!("there is no deadline"),
                Some(Poll::Pending) => return Poll::Pending,
                None => unreachable!("a mailbox without a limit is never full"),
            }
        }
        this.is_over = true;
        Poll::Ready(Ok(this.taken))
    }
}

impl<M> Drop for PublishFuture<M> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<M> fmt::Debug for PublishFuture<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishFuture")
            .field("delivered", &self.taken)
            .field("awaited", &self.awaited.len())
            .finish_non_exhaustive()
    }
}
