#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(any(not(target_family = "wasm"), target_feature = "atomics")),
    allow(
        dead_code,
        unused_imports,
        reason = "what blocks is left out there, and with it the callers of some parts"
    )
)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 7 | mpsc, receiving, sending, spsc | the lanes under the names by which they are asked for; iterators, futures and streams of all ends |
// | 6 | broadcast, lane | channels with ends of their own: each receiver has all, each sender has a lane |
// | 5 | channel, future, select_macro | functions that make channels, the async verbs, `select!` |
// | 4 | batch, builder, permit, select | several messages at once, a place held, several things at once |
// | 3 | receiver | the receiving end |
// | 2 | sender, weak_sender (one circle) | the sending end, and one that keeps no channel open |
// | 1 | event, flavor, latch, property, slot | each kind of channel in a file, and what is no channel |
// | 0 | block, ends, error, iter, overflow, source | memory of messages, counts of ends, errors, iterators over an end, what a full channel does |

mod batch;
mod block;
pub mod broadcast;
mod builder;
mod channel;
mod ends;
mod error;
mod event;
mod flavor;
mod future;
mod iter;
mod lane;
mod latch;
pub mod mpsc;
mod overflow;
mod permit;
mod property;
mod receiver;
mod select;
#[doc(hidden)]
pub mod select_macro;
mod sender;
mod slot;
mod source;
/// What iterators, futures and streams of receiving ends are: one of each for all kinds of ends.
///
/// Each kind of channel has names of its own for them, such as [`Iter`], [`spsc::Iter`] and [`broadcast::Iter`]; here is what they can do.
pub mod receiving {
    pub use crate::future::receiving::{AwaitedEnd, End, Receiving, ReceivingMany, Stream};
    pub use crate::iter::{DrainingIter, IteratedEnd, OwningIter, TryingIter, WaitingIter};
}
/// What futures and sinks of sending ends are: one of each for all kinds of ends.
///
/// Each kind of channel has names of its own for them, such as [`SendFuture`] and [`spsc::SendFuture`]; here is what they can do.
pub mod sending {
    pub use crate::future::sending::{AwaitedSender, Reserving, ReservingSender, Sending, Sink};
}
pub mod spsc;
mod weak_sender;

pub use builder::Builder;
pub use channel::{after, at, bounded, never, tick, unbounded};
pub use error::{
    CompareAndSetError, GetPropertyError, PutTimeoutError, ReadyTimeoutError, RecvError,
    RecvTimeoutError, ReserveError, ReserveTimeoutError, SelectTimeoutError, SendError,
    SendManyError, SendTimeoutError, TakeTimeoutError, TryPutError, TryReadyError, TryRecvError,
    TryReserveError, TrySelectError, TrySendError, WaitForPropertyError, WaitTimeoutError,
    WrongType,
};
pub use event::Event;
pub use future::{
    ChangedFuture, ChangedTimeoutFuture, PutFuture, RecvFuture, RecvManyFuture,
    RecvManyTimeoutFuture, RecvStream, RecvTimeoutFuture, ReserveFuture, ReserveTimeoutFuture,
    SendFuture, SendSink, SendTimeoutFuture, TakeFuture, TimeoutFuture, WaitFuture,
    WaitTimeoutFuture,
};
pub use latch::Latch;
pub use overflow::Overflow;
pub use permit::Permit;
pub use property::{Changed, Properties, Property};
pub use receiver::{Drain, IntoIter, Iter, Receiver, TryIter};
#[doc(hidden)]
pub use select::Sealed;
pub use select::{Select, SelectedOperation, Waitable};
pub use sender::Sender;
pub use slot::Slot;
pub use tamtam_wait::{ParseWaitError, Wait};
pub use weak_sender::WeakSender;

#[cfg(all(test, tamtam_loom))]
mod models;
