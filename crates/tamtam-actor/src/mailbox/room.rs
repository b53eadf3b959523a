//! A task's wait for room in a mailbox.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use tamtam_wait::{Operation, Polled, Source, TaskWait, Token, WaitList};

use super::limited::Limited;
use crate::address::Address;
use crate::error::TellError;

/// Room in a mailbox. To begin is to look whether there is any: whoever has seen it then tries.
pub(crate) struct Room<'a, M, C> {
    pub(crate) limited: &'a Limited<M>,
    /// Whether the actor takes no more messages.
    pub(crate) closed: C,
}

impl<M, C: Fn() -> bool> Source for Room<'_, M, C> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.limited.senders().register(operation, context);
        self.is_ready()
    }

    fn unregister(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.limited.senders().unregister(operation, context);
    }

    fn decline(&self, _: &tamtam_wait::Context) {
        self.limited.senders().decline(|| self.is_ready());
    }

    fn is_ready(&self) -> bool {
        (self.closed)() || self.limited.has_room()
    }

    fn watch(&self, operation: Operation, context: &tamtam_wait::Context) -> bool {
        self.limited.senders().watch(operation, context);
        self.is_ready()
    }

    fn unwatch(&self, operation: Operation, context: &tamtam_wait::Context) {
        self.limited.senders().unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(self.limited.senders())
    }

    fn looks_ready(&self) -> bool {
        self.is_ready()
    }
}

/// What [`Address::tell_async`] returns: ready when the message is in the mailbox, or refused.
///
/// # Cancel safety
///
/// Dropping it before it is ready drops the message unsent; [`into_message`](TellFuture::into_message) gives it
/// back.
#[must_use = "futures do nothing unless polled"]
pub struct TellFuture<'a, M> {
    address: &'a Address<M>,
    /// None once it was sent.
    message: Option<M>,
    wait: TaskWait,
}

impl<'a, M> TellFuture<'a, M> {
    pub(crate) fn new(address: &'a Address<M>, message: M) -> Self {
        TellFuture {
            address,
            message: Some(message),
            wait: TaskWait::new(),
        }
    }

    /// Gives the sending up; the message, unless it was sent.
    #[must_use = "the message is dropped with this"]
    pub fn into_message(mut self) -> Option<M> {
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
                match address.try_tell(message) {
                    Err(refused) if refused.is_full() => message = refused.into_message(),
                    decided => return Poll::Ready(decided),
                }
            }
            let (wait, waker) = (&mut this.wait, context.waker());
            let polled =
                address.with_room(|room| wait.poll(room, &mut Token::default(), waker, None));
            match polled {
                Some(Poll::Ready(Polled::Begun)) => {}
                Some(Poll::Ready(Polled::TimedOut)) => unreachable!("there is no deadline"),
                Some(Poll::Pending) => {
                    this.message = Some(message);
                    return Poll::Pending;
                }
                None => unreachable!("a mailbox without a limit is never full"),
            }
        }
    }
}

impl<M> Drop for TellFuture<'_, M> {
    fn drop(&mut self) {
        if self.wait.is_listed() {
            let wait = &mut self.wait;
            self.address.with_room(|room| wait.cancel(room));
        }
    }
}

impl<M> fmt::Debug for TellFuture<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TellFuture")
            .field("sent", &self.message.is_none())
            .finish_non_exhaustive()
    }
}
