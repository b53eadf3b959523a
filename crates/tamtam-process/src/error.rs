//! Why there is no process.

use std::io;

/// Why an actor was not spawned in a process of its own.
///
/// # Examples
///
/// ```
/// use tamtam_process::SpawnError;
///
/// let error = SpawnError::NotStarted;
/// assert!(error.to_string().contains("tamtam_process::start"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// [`start`](crate::start) was not called. A process from the image of this program would do what this one does, and spawn
    /// another one in turn.
    #[error(
        "this program has not called `tamtam_process::start`, so a process of it would not know that it is a worker: call it first in `main`"
    )]
    NotStarted,
    /// The actor is not among those that [`start`](crate::start) was told of.
    #[error(
        "no actor {name:?} is registered in this program, only {known:?}: add it in `tamtam_process::start`"
    )]
    NotRegistered {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// What the actor is to be made of cannot be written as bytes.
    #[error("the configuration of actor {name:?} cannot be written as bytes: {said}")]
    Config {
        /// The name of the actor.
        name: String,
        /// What was said.
        said: String,
    },
    /// The system has no process, no socket or no thread for it.
    #[error("no process for actor {name:?}: {doing}")]
    System {
        /// The name of the actor.
        name: String,
        /// What could not be done.
        doing: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Processes of their own are for Linux only, so far.
    #[error("actors in processes of their own are for Linux, and this is another system")]
    NotHere,
}
