//! What a link to another process says of a message that it could not carry, and how far that had got.

use core::fmt;
use std::sync::Arc;

use crate::ended::ProcessEnd;

/// How far a question had got that gets no answer: see [`AskError::fate`](crate::AskError::fate).
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Fate, Pool, Reply};
///
/// let pool = Pool::new();
/// let printer = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
/// printer.stop();
/// printer.end().wait();
/// let error = printer.ask(|reply| reply).unwrap_err();
/// assert_eq!(error.fate(), Fate::NotBegun); // it may be asked of another one
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fate {
    /// No actor has begun it, and none will: it was refused, or was still queued. Who asks again has nothing done twice.
    NotBegun,
    /// An actor has begun it, and may be done with it: what it did stays done. It is not begun again.
    Begun,
    /// It may have been begun or not, and it is not known which.
    Unknown,
}

/// What a link to an actor in another process says of a message or an answer that it could not carry.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{AskError, Fate};
///
/// fn may_ask_again(error: &AskError) -> bool {
///     if let AskError::Unreachable(failure) = error {
///         eprintln!("the other process: {failure}");
///     }
///     error.fate() == Fate::NotBegun
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LinkFailure(Arc<Said>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Said {
    text: Box<str>,
    fate: Fate,
    process: Option<ProcessEnd>,
}

impl LinkFailure {
    #[doc(hidden)]
    #[must_use]
    pub fn new(fate: Fate, text: impl Into<Box<str>>) -> Self {
        LinkFailure(Arc::new(Said {
            text: text.into(),
            fate,
            process: None,
        }))
    }

    /// Of a question to an actor whose process has ended so.
    #[doc(hidden)]
    #[must_use]
    pub fn of_process(fate: Fate, text: impl Into<Box<str>>, end: ProcessEnd) -> Self {
        LinkFailure(Arc::new(Said {
            text: text.into(),
            fate,
            process: Some(end),
        }))
    }

    /// What has happened, and to what.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// How far the message had got: see [`AskError::fate`](crate::AskError::fate).
    #[must_use]
    pub fn fate(&self) -> Fate {
        self.0.fate
    }

    /// How the process of the actor has ended, if that is what has happened, and known.
    #[must_use]
    pub fn process_end(&self) -> Option<ProcessEnd> {
        self.0.process
    }
}

impl fmt::Display for LinkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for LinkFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} ({:?})", self.text(), self.fate())
    }
}
