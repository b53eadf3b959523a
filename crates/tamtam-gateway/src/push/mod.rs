//! Topics and properties that are pushed: what is kept of each once for all, and where each subscriber is.

mod channel;
mod encoders;
mod frame;
mod log;
mod publication;
mod subscription;
mod wish;

pub(crate) use encoders::Encoders;
pub(crate) use frame::{HEADER_BYTES, closed_message};
pub use publication::Publication;
pub(crate) use subscription::{LAG_PAUSE, Message, Subscription, Taken};
pub use wish::{Policy, PushForm, WhenBehind, Wish};
