#![doc = include_str!("../README.md")]
//!
//! # The experiments
//!
//! Each body is generic over small traits, through which a way of passing messages (a *contender*) plugs into it. Our own
//! contenders and the peers (the separate programs in `peers/`) run this very code, so
//! that only the way of passing messages differs. One process runs one contender in one variant of one experiment and
//! prints one line of raw figures; the lab's front end starts the processes, interleaves them and takes the medians.
//!
//! | module | experiment |
//! |---|---|
//! | [`turns`] | `handover`: strict turns between two workers |
//! | [`async_turns`] | `handover`: strict turns in which a task takes part |
//! | [`sparse`] | `handover`: a message now and then |
//! | [`crowd`] | `handover`: many pairs at once |
//! | [`idle`] | `handover`: waiting without mail |
//! | [`frames`] | `handover`: mail looked at once per frame |
//! | [`lock_loop`] | `handover`: a mutex locked and unlocked, as once published |
//! | [`post`] | `post`: many messages for a blocked worker, then all are retrieved |
//! | [`stream`] | `post`: one or four senders and one receiver, all running |
//! | [`property`] | `property`: the latest value, read while it is set |
//! | [`latch`] | `latch`: a countdown shared by two threads |
//! | [`ask`] | `ask`: questions to one actor, and messages told without waiting |
//! | [`ring`] | `ring`: thousands of actors, each of which passes its messages on to the next |
//! | [`savina`] | `counting`, `fork-join`, `threadring`, `big`, `chameneos`: the classics of a suite for actors |
//! | [`flood`] | `flood`: how late 1,000 actors are beside one that is flooded |
//! | [`rows`] | `rows`: a table encoded, sent and decoded, in every form |

#![forbid(unsafe_code)]

pub mod ask;
mod async_handover;
pub mod async_turns;
mod command;
mod contender;
#[cfg(feature = "contenders")]
pub mod contenders;
mod cpu_clock;
pub mod crowd;
pub(crate) mod executor;
mod failure;
pub mod flood;
mod flow;
pub mod frames;
mod gate;
mod handover;
pub mod idle;
pub mod latch;
mod latest;
pub mod lock_loop;
mod measure;
mod message;
pub mod offer;
mod outcome;
mod pace;
mod packet;
mod passes;
mod placement;
mod polled;
pub mod post;
mod precedence;
pub mod property;
mod queue;
pub mod ring;
mod rounds;
pub mod rows;
pub mod savina;
mod seats;
pub mod sparse;
mod statistics;
pub mod stream;
pub mod tables;
mod troupe;
pub mod turns;
mod usage;
mod variant;
mod watchdog;

#[cfg(test)]
mod broken;

pub use async_handover::{
    AsyncEnd, AsyncHandover, AsyncPost, AsyncQueue, AsyncRetrieve, MixedHandover,
};
pub use command::run_command;
pub use contender::{Card, Contender};
pub use failure::Failure;
pub use gate::{Gate, StdGate};
pub use handover::{End, Handover, QueueEnd, QueuePair};
pub use latest::{GetLatest, Latest, SetLatest};
pub use measure::{Conditions, Measure, Measurement};
pub use message::{Message, Stamp, Text, Turn};
pub use outcome::{Listing, Metric, Outcome};
pub use packet::{Packet, Packet16, Packet64};
pub use placement::Placement;
pub use polled::{Polled, PolledEnd};
pub use queue::{BatchQueue, Post, PostMany, Queue, Retrieve, RetrieveMany};
pub use troupe::{Others, Part, Stage, Troupe};
pub use variant::Variant;
