//! A task's wait for room in a mailbox.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use tamtam_wait::{Polled, TaskWait, Token};

use super::Address;
use crate::error::TellError;
use crate::mailbox::WhenNoRoom;
use crate::reply::AskedBy;
use crate::waits::{Cycle, HeldWait, UntilDropped, holder};

/// What [`Address::tell_async`] returns: ready when the message is in the mailbox, or refused.
///
/// # Cancel safety
///
/// Dropping it before it is ready drops the message unsent; [`into_inner`](TellFuture::into_inner) gives it
/// back.
///
/// # Examples
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Waker};
/// use tamtam_actor::{Frame, Overflow};
///
/// let mut frame = Frame::new();
/// let actor = frame.spawner().limited(1, Overflow::Wait).spawn_fn(|_: u32, _| {});
/// actor.try_tell(1)?;
///
/// let mut second = actor.tell_async(2);
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(pin!(&mut second).poll(&mut cx).is_pending()); // there is no room yet
/// assert_eq!(second.into_inner(), Some(2)); // given up: the message comes back
/// # drop(frame);
/// # Ok::<(), tamtam_actor::TellError<u32>>(())
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct TellFuture<'a, M> {
    address: &'a Address<M>,
    /// None once it was sent.
    message: Option<M>,
    /// Who waits for an answer to it, if that is to be noted.
    asked_by: Option<AskedBy>,
    wait: TaskWait,
    /// Whether circles are looked for.
    is_watched: bool,
    /// If an actor keeps its messages back for this.
    held: Option<Box<HeldWait>>,
}

impl<'a, M> TellFuture<'a, M> {
    pub(crate) fn new(address: &'a Address<M>, message: M) -> Self {
        TellFuture {
            address,
            message: Some(message),
            asked_by: None,
            wait: TaskWait::new(),
            is_watched: true,
            held: None,
        }
    }

    /// That of a question, which looks for circles itself.
    pub(crate) fn of_question(
        address: &'a Address<M>,
        message: M,
        asked_by: Option<AskedBy>,
    ) -> Self {
        let mut future = Self::new(address, message);
        future.asked_by = asked_by;
        future.is_watched = false;
        future
    }

    /// The circle of waits that this one is in, if that has stood for long enough.
    #[cold]
    fn look(&mut self, context: &mut Context<'_>) -> Option<Cycle> {
        if self.held.is_none() {
            self.is_watched = holder().is_some();
            if !self.is_watched {
                return None;
            }
            self.held = Some(Box::new(HeldWait::New));
        }
        let to = self.address.id();
        self.held
            .as_mut()?
            .look(context, to, || Arc::new(UntilDropped))
    }

    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_inner(mut self) -> Option<M> {
        self.message.take()
    }
}

// The message is moved by value and never pinned.
impl<M> Unpin for TellFuture<'_, M> {}

impl<M> Future for TellFuture<'_, M> {
    type Output = Result<(), TellError<M>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(mut message) = this.message.take() else {
            panic!("a tell was polled after it had ended");
        };
        let address = this.address;
        loop {
            if !this.wait.is_listed() {
                // The first time, or there is room as it seems.
                match address.push_asked(message, WhenNoRoom::GiveBack, this.asked_by.clone()) {
                    Err(refused) if refused.is_full() => message = refused.into_inner(),
                    decided => {
                        this.held = None;
                        return Poll::Ready(decided);
                    }
                }
            }
            let (wait, waker) = (&mut this.wait, context.waker());
            let polled =
                address.with_room(|room| wait.poll(room, &mut Token::default(), waker, None));
            match polled {
                Some(Poll::Ready(Polled::Begun)) => {}
                Some(Poll::Ready(Polled::TimedOut)) => unreachable!("there is no deadline"),
                Some(Poll::Pending) => {
                    let cycle = if this.is_watched {
                        this.look(context)
                    } else {
                        None
                    };
                    let Some(cycle) = cycle else {
                        this.message = Some(message);
                        return Poll::Pending;
                    };
                    this.leave();
                    return Poll::Ready(Err(TellError::in_cycle(address.id(), message, cycle)));
                }
                None => unreachable!("a mailbox without a limit is never full"),
            }
        }
    }
}

impl<M> TellFuture<'_, M> {
    /// Leaves the list of those who wait.
    fn leave(&mut self) {
        if self.wait.is_listed() {
            let wait = &mut self.wait;
            self.address.with_room(|room| wait.cancel(room));
        }
    }
}

impl<M> Drop for TellFuture<'_, M> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<M> fmt::Debug for TellFuture<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TellFuture")
            .field("sent", &self.message.is_none())
            .finish_non_exhaustive()
    }
}
