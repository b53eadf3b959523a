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

use std::time::Instant;

use tamtam_wait::{Context, TaskWait};

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
pub(crate) use recv::await_message;
pub use recv::{RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream, RecvTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
pub use timeout::TimeoutFuture;
pub use wait::{PutFuture, TakeFuture, WaitFuture, WaitTimeoutFuture};

/// The attempts of a future whose own look was in vain: it enters the list without another one. Before a deadline, which may have passed, it
/// has to tell what is closed from what is empty, and so looks again.
pub(crate) fn behind_a_look<R, A>(
    wait: &TaskWait,
    deadline: Option<Instant>,
    mut attempt: A,
) -> impl FnMut(Option<&Context>) -> Option<R> + use<R, A>
where
    A: FnMut(Option<&Context>) -> Option<R>,
{
    let mut has_looked = !wait.is_listed() && deadline.is_none();
    move |chosen| {
        if core::mem::take(&mut has_looked) {
            None
        } else {
            attempt(chosen)
        }
    }
}
