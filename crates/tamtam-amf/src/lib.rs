#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod error;
mod input;
mod limits;
mod references;

pub mod amf0;
pub mod amf3;
pub mod recordset;

pub use error::{Cause, DecodeError, EncodeError};
pub use limits::{Limits, MAX_DEPTH};
