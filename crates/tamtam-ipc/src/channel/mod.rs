//! Channels between processes: [plain](plain) values, [bytes](bytes) of any length, and what serde can [encode](encoded).

pub(crate) mod away;
pub(crate) mod bytes;
#[cfg(feature = "serde")]
pub(crate) mod encoded;
pub(crate) mod error;
mod future;
#[cfg(feature = "link")]
pub(crate) mod lent;
pub(crate) mod loan;
pub(crate) mod plain;
pub(crate) mod receiver;
pub(crate) mod selectable;
pub(crate) mod sender;
pub(crate) mod shared;
