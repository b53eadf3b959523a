//! Channels.
mod channel;
mod ends;
mod error;
mod flavor;
mod iter;
mod receiver;
mod sender;
mod slot;

pub use channel::{after, at, bounded, never, tick, unbounded};
pub use error::*;
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::Sender;
pub use slot::Slot;
pub use tamtam_wait::Wait;
