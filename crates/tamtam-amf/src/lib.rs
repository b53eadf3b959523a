#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 6 | typed | Rust types, by serde |
// | 5 | packet, recordset | the envelope of remoting, and the table that Flash Remoting sends |
// | 4 | columns | rows out of columns, as arrays or objects of AMF0 |
// | 3 | amf0 | the first format, in which the second one may lie |
// | 2 | amf3, references (one circle) | the second format, and the references of both |
// | 1 | input | bytes that are read within limits |
// | 0 | error, limits, scalar, sharing, weight | what went wrong, what is allowed, what stands for itself, what becomes of references, what a copy costs |

mod columns;
mod error;
mod input;
mod limits;
mod references;
mod scalar;
mod sharing;
mod weight;

pub mod amf0;
pub mod amf3;
pub mod packet;
pub mod recordset;
#[cfg(feature = "serde")]
pub mod typed;

pub use error::{Cause, DecodeError, EncodeError};
pub use limits::{Limits, MAX_DEPTH};
pub use sharing::Sharing;
