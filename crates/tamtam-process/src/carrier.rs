//! What carries the messages of a process, as its users are told.

use std::fmt;
use std::sync::Arc;

/// What carries the messages of a process: see [`ProcessHandle::carrier`](crate::ProcessHandle::carrier).
///
/// # Examples
///
/// ```
/// use tamtam_process::{Carrier, ProcessHandle};
///
/// fn note(process: &ProcessHandle) {
///     match process.carrier() {
///         Some(Carrier::SharedMemory) => {}
///         Some(carrier) => println!("messages take longer: they go through {carrier}"),
///         None => println!("there is no process now"),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carrier {
    /// Memory that both processes share: no system call as long as both sides are awake.
    SharedMemory,
    /// A Unix socket. All promises are the same; each message costs system calls.
    Socket {
        /// Why there is no shared memory between the two; `None` if the process did not get so far as to try.
        refused: Option<Arc<str>>,
    },
}

#[cfg(feature = "top")]
impl Carrier {
    /// What it is, without why.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Carrier::SharedMemory => "shared memory",
            Carrier::Socket { .. } => "socket",
        }
    }

    /// Why it is not shared memory, if that was tried.
    pub(crate) fn refused(&self) -> Option<String> {
        match self {
            Carrier::Socket { refused: Some(why) } => Some(why.to_string()),
            _ => None,
        }
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Carrier::SharedMemory => f.pad("shared memory"),
            Carrier::Socket { refused: None } => f.pad("a socket"),
            Carrier::Socket { refused: Some(why) } => write!(f, "a socket: {why}"),
        }
    }
}
