//! Waiting as a task at the ends of `spsc` and `mpsc` channels.
//!
//! The futures borrow their end exclusively: an end belongs to one owner, and so a future of it may be sent
//! to another thread although the end cannot be shared.

mod recv;
mod reserve;
mod send;
mod sink;

pub use recv::{RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream, RecvTimeoutFuture};
pub use reserve::{ReserveFuture, ReserveTimeoutFuture};
pub use send::{SendFuture, SendTimeoutFuture};
pub use sink::SendSink;
