//! What another side may say that is not trusted, how much of what it has said is not done with, and what it is not told.

use std::time::Duration;

use tamtam_actor::link::{FarEnd, FarFailure};
use tamtam_wait::seam::atomic::{AtomicUsize, Ordering};

use crate::error::LinkEnd;
use crate::frame::Frame;

/// So many bytes count for a message beside its own: what a mailbox has for it.
const MESSAGE_BYTES: usize = 64;

/// What is said of a panic.
const PANICKED: &str = "its handler panicked";

/// Another side that is not trusted.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// Bytes of its messages with which actors are not done.
    unhandled: AtomicUsize,
    /// No more is read of it where they are so many.
    most_unhandled: usize,
    /// So long an answer may be awaited behind them while none is handled.
    pub(crate) patience: Duration,
}

impl Untrusted {
    pub(crate) fn new(most_unhandled: usize, patience: Duration) -> Self {
        Untrusted {
            unhandled: AtomicUsize::new(0),
            most_unhandled,
            patience,
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.unhandled() < self.most_unhandled
    }

    /// Counts a message of so many bytes as one that an actor was given; how many it counts for.
    pub(crate) fn given(&self, bytes: usize) -> usize {
        let counted = bytes + MESSAGE_BYTES;
        self.unhandled.fetch_add(counted, Ordering::SeqCst);
        counted
    }

    /// Actors are done with so many bytes.
    pub(crate) fn handled(&self, counted: usize) {
        self.unhandled.fetch_sub(counted, Ordering::SeqCst);
    }

    pub(crate) fn unhandled(&self) -> usize {
        self.unhandled.load(Ordering::SeqCst)
    }
}

/// Whether a side that is not trusted may say this: `false` if it is to have no effect.
///
/// # Errors
///
/// If that ends the link.
pub(crate) fn may_say(frame: &Frame<'_>) -> Result<bool, LinkEnd> {
    let wants = match frame {
        // It could say that there is a circle where there is none.
        Frame::Probe(..) => return Ok(false),
        Frame::Stop(actor) | Frame::Finish(actor) => format!("to stop actor {actor}"),
        Frame::Link(made) => format!("to link an actor of its own with actor {}", made.actor),
        _ => return Ok(true),
    };
    Err(LinkEnd::protocol(format!(
        "it wants {wants}: a side that is not trusted may tell, ask and watch the actors whose addresses it has"
    )))
}

/// What a side that is not trusted hears of why there is no answer.
pub(crate) fn told_failure(failure: FarFailure) -> FarFailure {
    match failure {
        FarFailure::Panicked(..) => FarFailure::Panicked(None, PANICKED.to_owned()),
        FarFailure::Other(fate, _) => {
            FarFailure::Other(fate, "what it was passed on to does not answer".to_owned())
        }
        other => other,
    }
}

/// What a side that is not trusted hears of why an actor has ended.
pub(crate) fn told_end(end: FarEnd) -> FarEnd {
    match end {
        FarEnd::Panicked(_) => FarEnd::Panicked(PANICKED.to_owned()),
        FarEnd::GaveUp(restarts, _) => FarEnd::GaveUp(restarts, PANICKED.to_owned()),
        FarEnd::LinkLost(_) => FarEnd::LinkLost("a link behind it was lost".to_owned()),
        FarEnd::Linked(names, end) => {
            FarEnd::Linked(vec![None; names.len()], Box::new(told_end(*end)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamtam_actor::Fate;

    #[test]
    fn what_a_panic_said_is_told_to_those_who_are_trusted() {
        let secret = || "the secret of the house".to_owned();
        for failure in [
            FarFailure::Panicked(Some(secret()), secret()),
            FarFailure::Other(Fate::Begun, secret()),
        ] {
            let told = told_failure(failure);
            assert!(!format!("{told:?}").contains("secret"), "{told:?}");
        }
        let ends = [
            FarEnd::Panicked(secret()),
            FarEnd::GaveUp(3, secret()),
            FarEnd::LinkLost(secret()),
        ];
        for end in ends {
            let linked = FarEnd::Linked(vec![Some(secret()), None], Box::new(end.clone()));
            for told in [told_end(end), told_end(linked)] {
                assert!(!format!("{told:?}").contains("secret"), "{told:?}");
            }
        }
    }
}
