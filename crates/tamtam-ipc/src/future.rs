//! Waiting as a task: attempts, and between them a place among those who wait.

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use tamtam_wait::{Source, TaskWait, Token};

/// What an `_async` verb returns: ready when an attempt has brought something.
///
/// Nothing is begun between two polls, so it can be dropped at any time without a loss.
pub(crate) struct Attempts<S: Deref<Target: Source>, A> {
    source: S,
    attempt: A,
    wait: TaskWait,
}

impl<S: Deref<Target: Source>, A> Attempts<S, A> {
    /// The source's own beginning takes nothing. `attempt` brings something, if the source is ready and no other thread was quicker.
    pub(crate) fn new(source: S, attempt: A) -> Self {
        Attempts {
            source,
            attempt,
            wait: TaskWait::new(),
        }
    }
}

// Nothing in it is pinned.
impl<S: Deref<Target: Source>, A> Unpin for Attempts<S, A> {}

impl<R, S: Deref<Target: Source>, A: FnMut(&S::Target) -> Option<R>> Future for Attempts<S, A> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        let this = &mut *self;
        loop {
            if let Some(brought) = (this.attempt)(&this.source) {
                this.wait.cancel(&*this.source);
                return Poll::Ready(brought);
            }
            let mut token = Token::default();
            let polled = this
                .wait
                .poll(&*this.source, &mut token, context.waker(), None);
            if polled.is_pending() {
                return Poll::Pending;
            }
            // The source is ready, and these sources put nothing into the token.
        }
    }
}

impl<S: Deref<Target: Source>, A> Drop for Attempts<S, A> {
    fn drop(&mut self) {
        self.wait.cancel(&*self.source);
    }
}

impl<S: Deref<Target: Source>, A> fmt::Debug for Attempts<S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempts")
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

/// A source that the future has itself.
pub(crate) struct Own<W>(pub(crate) W);

impl<W> Deref for Own<W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.0
    }
}
