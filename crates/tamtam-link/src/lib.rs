#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// No module below `carrier` reads, writes, sleeps or starts a thread: they take bytes and give bytes, and call `wake` when there are some. `carrier` has the
// sockets, the pipes and two threads for each end. It is no crate of its own since a question and an answer are written by the thread that
// sends them, and read by the one that waits: for that a carrier needs what the core shows to no user. The one thing that is asked of the system below
// it is of `attachments`: which descriptors are open here, and how large.
//
// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 11 | carrier | threads that read and write for a link |
// | 10 | link | an end of a link, as its users have it |
// | 9 | inbound | the half of it that a carrier gives what has come |
// | 8 | actors | which actors the sides know, and which of them end together |
// | 7 | confirming, far_peer | which messages are done with; the way to an actor there |
// | 6 | ending | how an end ends, or goes on with another process |
// | 5 | core, in_hand (one circle) | what an end does; the message that a thread writes or reads |
// | 4 | given, root_log | which actors were given messages; what is kept for a process that may die |
// | 3 | frames, links, numbers, tables, untrusted | frames that are kept as they go; what a message has of replies and addresses; which actors of the two sides are linked; which actors and replies these know of each other; what a side may do that is not trusted |
// | 2 | descriptors, frame | what goes beside the frames; what is said, byte by byte |
// | 1 | attachments, bytes, direct | what has come beside the frames and is open here; numbers and texts in a frame; what senders write to by themselves |
// | 0 | error, seats | how a link ends; for which threads answers are |

mod actors;
mod attachments;
mod bytes;
pub mod carrier;
mod confirming;
mod core;
mod descriptors;
mod direct;
mod ending;
mod error;
mod far_peer;
mod frame;
mod frames;
mod given;
mod in_hand;
mod inbound;
mod link;
mod links;
mod numbers;
mod root_log;
mod seats;
mod tables;
mod untrusted;

#[doc(hidden)]
pub use descriptors::Attached;
#[doc(hidden)]
pub use direct::DirectOutlet;
pub use error::LinkEnd;
pub use inbound::Inbound;
#[doc(hidden)]
pub use inbound::TakenOut;
#[doc(hidden)]
pub use link::{AnswerReader, Death, Kept, Supervised};
pub use link::{Link, LinkBuilder};
#[doc(hidden)]
pub use seats::{Seats, own_seat};
pub use tamtam_actor::link::Encoding;
