//! Waiting as a task: what the `_async` verbs return.
//!
//! Nothing here needs a runtime: a future registers its task's waker where a blocking call would
//! register its thread, in the same list, so that both kinds wait in one line. Deadlines are kept by one
//! thread for the whole program, which is there only while a task waits with a deadline.

mod changed;
mod recv;
mod reserve;
mod send;
mod sink;
mod stream;
mod wait;

pub use changed::{ChangedFuture, ChangedTimeoutFuture};
pub use recv::{RecvFuture, RecvTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
pub use stream::RecvStream;
pub use wait::{PutFuture, TakeFuture, WaitFuture, WaitTimeoutFuture};

use core::ops::Deref;

/// An end that a stream or sink borrows or owns.
pub(crate) enum End<'a, E> {
    Borrowed(&'a E),
    Owned(E),
}

impl<E> Deref for End<'_, E> {
    type Target = E;

    fn deref(&self) -> &E {
        match self {
            End::Borrowed(end) => end,
            End::Owned(end) => end,
        }
    }
}
