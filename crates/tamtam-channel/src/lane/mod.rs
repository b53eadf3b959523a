//! Channels with one receiver, in which each sender has a lane of its own.

mod future;
mod iter;
mod line;
mod permit;
mod queue;
mod receiver;
mod selectable;
mod sender;
mod weak_sender;

pub use future::{
    RecvFuture, RecvManyFuture, RecvManyTimeoutFuture, RecvStream, RecvTimeoutFuture,
};
pub use future::{ReserveFuture, ReserveTimeoutFuture};
pub use future::{SendFuture, SendSink, SendTimeoutFuture};
pub use iter::{Drain, IntoIter, Iter, TryIter};
pub(crate) use line::open;
pub use permit::{ExclusivePermit, Permit};
pub use receiver::Receiver;
pub use selectable::Selectable;
pub use sender::{LaneSender, Many, Single};
pub use weak_sender::WeakSender;

/// After so many messages without waiting, one side need not look for a waiting other side any more: asking
/// it to look again costs up to 13 µs, which is 6 ns for each of these.
const UNATTENDED: usize = 2048;

#[cfg(all(test, tamtam_loom))]
mod loom_tests;
