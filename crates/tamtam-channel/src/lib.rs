#![doc = include_str!("../README.md")]
#![cfg_attr(
    all(target_family = "wasm", not(target_feature = "atomics")),
    allow(
        dead_code,
        unused_imports,
        reason = "what blocks is left out there, and with it the callers of some parts"
    )
)]

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
mod permit;
mod property;
mod receiver;
mod select;
#[doc(hidden)]
pub mod select_macro;
mod sender;
mod slot;
mod source;
pub mod spsc;
mod weak_sender;

pub use builder::{Builder, Overflow};
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
pub use iter::{Drain, IntoIter, Iter, TryIter};
pub use latch::Latch;
pub use permit::Permit;
pub use property::{Changed, Properties, Property};
pub use receiver::Receiver;
pub use select::{Select, SelectedOperation, Waitable};
pub use sender::Sender;
pub use slot::Slot;
pub use tamtam_wait::{ParseWaitError, Wait};
pub use weak_sender::WeakSender;

#[cfg(all(test, tamtam_loom))]
mod models;
