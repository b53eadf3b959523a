//! What can go wrong on the way to an actor. Each error says what became of the message.

use core::error::Error;
use core::fmt;
use std::sync::{Mutex, PoisonError};

use crate::waits::Cycle;

/// A message that was not accepted, and why.
///
/// It converts by `?` into `Box<dyn Error + Send + Sync>` whatever the message is: nobody gets at the message
/// but by [`into_message`](TellError::into_message).
pub struct TellError<M> {
    why: Refusal,
    /// Those who wait for each other, if that is why.
    cycle: Option<Box<Cycle>>,
    /// The lock is never taken: it says that nobody looks at the message through a shared error.
    message: Mutex<M>,
}

/// Why a message was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The mailbox has no room; later it may have.
    Full,
    /// The actor has stopped.
    Stopped,
    /// The mailbox has no room, and will not have any: the sending actor [holds](crate::Context::hold) for room in the mailbox
    /// of one that waits for it in turn. See [`TellError::cycle`].
    Cycle,
}

impl<M> TellError<M> {
    pub(crate) fn full(message: M) -> Self {
        TellError {
            why: Refusal::Full,
            cycle: None,
            message: Mutex::new(message),
        }
    }

    pub(crate) fn stopped(message: M) -> Self {
        TellError {
            why: Refusal::Stopped,
            cycle: None,
            message: Mutex::new(message),
        }
    }

    pub(crate) fn in_cycle(message: M, cycle: Cycle) -> Self {
        TellError {
            why: Refusal::Cycle,
            cycle: Some(Box::new(cycle)),
            message: Mutex::new(message),
        }
    }

    /// The message that was not accepted.
    pub fn into_message(self) -> M {
        self.message
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it was not accepted.
    pub fn why(&self) -> Refusal {
        self.why
    }

    /// Whether the mailbox had no room; later it may have.
    pub fn is_full(&self) -> bool {
        self.why == Refusal::Full
    }

    /// Whether the actor has stopped.
    pub fn is_stopped(&self) -> bool {
        self.why == Refusal::Stopped
    }
}

impl<M> TellError<M> {
    /// The actors that wait for each other, if [that](Refusal::Cycle) is why it was not accepted. A circle of several actors
    /// counts as one if it has stood for 0.2 seconds.
    #[must_use]
    pub fn cycle(&self) -> Option<&Cycle> {
        self.cycle.as_deref()
    }
}

impl<M> fmt::Debug for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TellError")
            .field("why", &self.why)
            .finish_non_exhaustive()
    }
}

impl<M> fmt::Display for TellError<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cycle) = &self.cycle {
            return write!(
                f,
                "these actors wait for each other, and there would never be room in the mailbox: {cycle}; the message was \
                 not sent; let one of them wait by `Context::pipe`, which handles messages meanwhile"
            );
        }
        f.write_str(match self.why {
            Refusal::Full | Refusal::Cycle => {
                "the actor's mailbox is full: the message was not sent; try later, or wait for room"
            }
            Refusal::Stopped => "the actor has stopped: the message was not sent",
        })
    }
}

impl<M> Error for TellError<M> {}

impl From<Refusal> for AskError {
    fn from(why: Refusal) -> Self {
        match why {
            Refusal::Full | Refusal::Cycle => AskError::Full,
            Refusal::Stopped => AskError::Stopped,
        }
    }
}

/// Why a question got no answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AskError {
    /// The mailbox has no room: the actor never got the question.
    Full,
    /// The actor had stopped: it never got the question.
    Stopped,
    /// The question was dropped without an answer: by the actor, or with its mailbox when it stopped.
    Unanswered,
    /// No answer came in time. The question may still be handled; its answer goes nowhere.
    TimedOut,
    /// The asking actor waited, by [`Address::ask`](crate::Address::ask) in a handler or by
    /// [`Context::hold`](crate::Context::hold), for one that waits for it in turn: none of them would ever have got an
    /// answer. [`Context::ask`](crate::Context::ask) lets an actor handle messages while it waits.
    ///
    /// A circle of several actors counts as one if it has stood for 0.2 seconds, since the answer might come
    /// from somewhere else.
    Cycle(Cycle),
    /// The actor lives on this very thread, a [`Worker`](crate::Worker)'s or a [`Frame`](crate::Frame)'s, which would
    /// wait for itself: the question was not asked.
    OwnThread,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            AskError::Cycle(cycle) => {
                return write!(
                    f,
                    "these actors wait for each other's answers, and none would ever get one: {cycle}; let one of \
                     them ask by `Context::ask`, which handles messages meanwhile"
                );
            }
            AskError::Full => "the actor's mailbox is full: the question was not asked",
            AskError::Stopped => "the actor has stopped: the question was not asked",
            AskError::Unanswered => {
                "the question was dropped without an answer: the actor did not answer it, panicked, or \
                 stopped before its turn came"
            }
            AskError::TimedOut => "no answer came in time; the question may still be handled",
            AskError::OwnThread => {
                "the actor lives on this very thread, which would wait for itself: the question was not asked; \
                 ask from its handlers by `Context::ask`"
            }
        };
        f.write_str(text)
    }
}

impl Error for AskError {}
