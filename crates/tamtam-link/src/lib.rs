#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 4 | carrier | threads that read and write for a link |
// | 3 | inbox, link, outbox (one circle) | an end of a link; what is in a message that is read, and in one that is written |
// | 2 | frame | what is said, byte by byte |
// | 1 | bytes | numbers and texts in a frame |
// | 0 | error | how a link ends |

mod bytes;
pub mod carrier;
mod error;
mod frame;
mod inbox;
mod link;
mod outbox;

pub use error::LinkEnd;
pub use link::{Inbound, Link, LinkBuilder};
