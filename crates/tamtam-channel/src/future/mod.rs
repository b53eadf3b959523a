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
pub(crate) mod receiving;
mod recv;
mod reserve;
mod send;
pub(crate) mod sending;
mod sink;
pub(crate) mod timeout;
mod wait;

pub use changed::{ChangedFuture, ChangedTimeoutFuture};
pub(crate) use recv::{Mail, has_just_looked};
pub use recv::{RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream, RecvTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
pub use timeout::TimeoutFuture;
pub use wait::{PutFuture, TakeFuture, WaitFuture, WaitTimeoutFuture};
