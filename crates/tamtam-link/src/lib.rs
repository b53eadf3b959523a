#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 6 | carrier | threads that read and write for a link |
// | 5 | inbound, link (one circle) | an end of a link: what its users and its carrier have of it |
// | 4 | core, far_peer, in_hand (one circle) | what an end does; the way to an actor there; the message that a thread writes or reads |
// | 3 | root_log | what is kept for a process that may die |
// | 2 | tables | which actors and replies the two sides know of each other |
// | 1 | frame | what is said, byte by byte |
// | 0 | bytes, error | numbers and texts in a frame; how a link ends |

mod bytes;
pub mod carrier;
mod core;
mod error;
mod far_peer;
mod frame;
mod in_hand;
mod inbound;
mod link;
mod root_log;
mod tables;

pub use error::LinkEnd;
pub use inbound::Inbound;
#[doc(hidden)]
pub use link::Death;
pub use link::{Link, LinkBuilder};
