//! Why there is no shared memory, or not the one that was expected.

use std::io;

/// Why no memory to share could be made.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{CreateError, SharedBytes};
///
/// let error = SharedBytes::create(usize::MAX).unwrap_err();
/// assert!(matches!(error, CreateError::TooLarge { .. }));
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// It would be larger than all memory of the machine.
    #[error("{bytes} bytes are more than this machine has, so they cannot be shared")]
    TooLarge {
        /// What was asked for.
        bytes: usize,
    },
    /// The arena has no piece of memory for it any more.
    #[error(
        "{bytes} bytes are needed, and the longest free piece of the arena has {free}: make a larger arena, or give up what is in it"
    )]
    ArenaFull {
        /// What it takes.
        bytes: usize,
        /// The longest piece that is free.
        free: usize,
    },
    /// The arena was made by another process, which makes what is in it.
    #[error(
        "another process has made the arena, and makes what is in it: make an arena of your own, or ask that process for it"
    )]
    NotTheMaker,
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
}

/// Why memory that another process has made is not what was expected here.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{AttachError, Mutex, Slot};
///
/// let count = Mutex::create(5_u64)?;
/// let memory = count.memory().try_clone_to_owned()?;
/// let error = Slot::<u64>::attach(memory).unwrap_err();
/// assert!(matches!(error, AttachError::Kind { .. }));
/// println!("{error}"); // the memory holds a mutex, and a slot was expected
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// It could be made smaller by the other process, which would end this one, or larger than was counted when it came.
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
    /// At this place of the arena there is something later, or nothing.
    #[error("what was at this place of the arena is over")]
    Over,
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
}
