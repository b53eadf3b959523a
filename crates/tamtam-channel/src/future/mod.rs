//! Waiting as a task: what the `_async` verbs return.
//!
//! Nothing here needs a runtime: a future registers its task's waker where a blocking call would
//! register its thread, in the same list, so that both kinds wait in one line. Deadlines are kept by one
//! thread for the whole program, which is there only while a task waits with a deadline.

/// `Debug` of something that is in use by its task, whatever its messages are.
macro_rules! opaque {
    ($name:ident<$lifetime:lifetime, $parameter:ident $(: $bound:path)?>) => {
        impl<$parameter $(: $bound)?> core::fmt::Debug for $name<$lifetime, $parameter> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

mod changed;
mod recv;
mod recv_many;
mod reserve;
mod send;
mod sink;
mod stream;
pub(crate) mod timeout;
mod wait;

pub use changed::{ChangedFuture, ChangedTimeoutFuture};
pub use recv::{RecvFuture, RecvTimeoutFuture};
pub use recv_many::{RecvManyFuture, RecvManyTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
pub use stream::RecvStream;
pub use timeout::TimeoutFuture;
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
