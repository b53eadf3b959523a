//! What a contender implements, what one run of it is asked and answers, and what keeps a run within its time.

mod async_handover;
#[cfg(test)]
pub(crate) mod broken;
mod command;
mod contender;
pub(crate) mod cpu_clock;
pub(crate) mod executor;
mod failure;
mod gate;
mod handover;
mod latest;
mod measure;
mod message;
mod outcome;
pub(crate) mod packet;
mod payload;
mod placement;
mod polled;
mod queue;
mod server;
mod troupe;
pub(crate) mod usage;
mod variant;
mod watchdog;

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
pub use payload::{Packet1K, Packet8, Packet16K};
pub use placement::Placement;
pub use polled::{Polled, PolledEnd};
pub use queue::{BatchQueue, Post, PostMany, Queue, Retrieve, RetrieveMany};
#[cfg(unix)]
pub use server::PrivateFolder;
pub use server::{ServerProcess, Serving, serve_by_test, serve_if_asked};
pub use troupe::{Others, Part, Stage, Troupe};
pub use variant::Variant;
