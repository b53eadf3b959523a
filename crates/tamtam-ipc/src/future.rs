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

/// An end is a source as what is in it.
macro_rules! source_is_its_end {
    ($end:ident $(<$parameter:ident $(: $bound:ident)?>)?, $field:ident) => {
        impl $(<$parameter $(: $bound)?>)? ::tamtam_wait::Source for $end $(<$parameter>)? {
            fn try_begin(&self, token: &mut ::tamtam_wait::Token) -> bool {
                self.$field.try_begin(token)
            }

            fn register(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) -> bool {
                self.$field.register(operation, context)
            }

            fn unregister(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) {
                self.$field.unregister(operation, context);
            }

            fn is_ready(&self) -> bool {
                self.$field.is_ready()
            }

            fn mark(&self) -> u64 {
                self.$field.mark()
            }

            fn watch(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) -> bool {
                self.$field.watch(operation, context)
            }

            fn unwatch(&self, operation: ::tamtam_wait::Operation, context: &::tamtam_wait::Context) {
                self.$field.unwatch(operation, context);
            }

            fn sleep_at<'a>(&'a self, words: &mut ::tamtam_wait::SharedWords<'a>) -> Option<bool> {
                self.$field.sleep_at(words)
            }

            fn woken_at(&self) {
                self.$field.woken_at();
            }
        }
    };
}

pub(crate) use source_is_its_end;
