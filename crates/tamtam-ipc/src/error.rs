//! Why there is no shared memory, or not the one that was expected.

use std::io;

/// Why no memory to share could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// It would be larger than all memory of the machine.
    #[error("{bytes} bytes are more than this machine has, so they cannot be shared")]
    TooLarge {
        /// What was asked for.
        bytes: usize,
    },
    /// The system has refused something.
    #[error("no shared memory of {bytes} bytes: {doing}: {source}")]
    System {
        /// What it has refused.
        doing: &'static str,
        /// What was asked for.
        bytes: usize,
        /// Why.
        source: io::Error,
    },
    /// Memory is shared on Linux only, so far.
    #[error("memory between processes is for Linux so far")]
    NotHere,
}

/// Why memory that another process has made is not what was expected here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// It could be made smaller by the other process, which would end this one.
    #[error(
        "the descriptor is no memory whose size is sealed, so it is not one that tamtam has made"
    )]
    NotSealed,
    /// It does not begin as what tamtam makes does.
    #[error("the memory is not one that tamtam has made, or it was damaged")]
    NotOurs,
    /// The other program has another version of tamtam.
    #[error(
        "the memory has layout {theirs}, and this program reads layout {ours}: build both programs with one version of tamtam-ipc"
    )]
    Layout {
        /// Of the memory.
        theirs: u32,
        /// Of this program.
        ours: u32,
    },
    /// It is something else.
    #[error("the memory holds {theirs}, and {ours} was expected")]
    Kind {
        /// What it is.
        theirs: &'static str,
        /// What was expected.
        ours: &'static str,
    },
    /// It is of other messages.
    #[error("the memory holds {theirs}, and {ours} was expected")]
    Shape {
        /// What it is of.
        theirs: String,
        /// What was expected.
        ours: String,
    },
    /// It is a channel's, and another process receives from it already.
    #[error("another process receives from this channel, and there is one receiver")]
    HasReceiver,
    /// As many processes have it as can.
    #[error("64 processes have the memory already, which is the most")]
    Full,
    /// The system has refused something.
    #[error("the memory is of no use: {doing}: {source}")]
    System {
        /// What it has refused.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
    /// Memory is shared on Linux only, so far.
    #[error("memory between processes is for Linux so far")]
    NotHere,
}
