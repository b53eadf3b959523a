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
//! | [`calls`] | `calls`: a server called for a document of JSON, in this process and in another |
//! | [`pictures`] | `frames`: how old the frame is that a worker process made of a slider |
//! | [`flood`] | `flood`: how late 1,000 actors are beside one that is flooded |
//! | [`grid`] | `grid`: every load that users meet, each against the best other way |
//! | [`rows`] | `rows`: a table encoded, sent and decoded, in every form |

#![forbid(unsafe_code)]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 4 | contenders | our own ways of passing messages and the standard library's |
// | 3 | experiments | the bodies that every contender runs |
// | 2 | measure | processors, time, clocks, medians |
// | 1 | harness | what a contender implements, and what one run of it answers |
// | 0 | tables | tables of any size to send |

#[cfg(feature = "contenders")]
pub mod contenders;
mod experiments;
mod harness;
mod measure;
pub mod tables;

pub use experiments::handover::{
    async_turns, crowd, frames, idle, lock_loop, processes, sparse, turns,
};
pub use experiments::post::stream;
pub use experiments::{
    ask, calls, flood, grid, latch, offer, pictures, post, property, ring, rows, savina,
};
#[cfg(unix)]
pub use harness::PrivateFolder;
pub use harness::{
    AsyncEnd, AsyncHandover, AsyncPost, AsyncQueue, AsyncRetrieve, BatchQueue, Card, Conditions,
    Contender, End, Failure, Gate, GetLatest, Handover, Latest, Listing, Measure, Measurement,
    Message, Metric, MixedHandover, Others, Outcome, Packet, Packet1K, Packet8, Packet16,
    Packet16K, Packet64, Part, Placement, Polled, PolledEnd, Post, PostMany, Queue, QueueEnd,
    QueuePair, Retrieve, RetrieveMany, ServerProcess, Serving, SetLatest, Stage, Stamp, StdGate,
    Text, Troupe, Turn, Variant, run_command, serve_by_test, serve_if_asked,
};
pub use measure::statistics::median;
