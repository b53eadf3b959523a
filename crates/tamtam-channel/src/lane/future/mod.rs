//! Waiting as a task at the ends of `spsc` and `mpsc` channels.
//!
//! The futures borrow their end exclusively: an end belongs to one owner, and so a future of it may be sent
//! to another thread although the end cannot be shared.

mod recv;
mod recv_many;
mod reserve;
mod send;
mod sink;
mod stream;

pub use recv::{RecvFuture, RecvTimeoutFuture};
pub use recv_many::{RecvManyFuture, RecvManyTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
pub use stream::RecvStream;

use core::ops::Deref;

/// An end that a stream or sink borrows or owns.
enum End<'a, E> {
    Borrowed(&'a mut E),
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
