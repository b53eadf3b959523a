//! What an actor does later, or is told later, by the timers of its time.

#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod message;
mod turn;

/// How far a timer has got.
pub(super) enum Stage<C> {
    /// It waits to be due, or for its actor's turn.
    Set(C),
    /// It is happening.
    Now,
    /// It has happened, or was cancelled.
    Over,
}

impl<C> Stage<C> {
    /// Whether it is still to happen: what repeats is, also while it happens.
    pub(super) fn is_pending(&self, repeats: bool) -> bool {
        match self {
            Stage::Set(_) => true,
            Stage::Now => repeats,
            Stage::Over => false,
        }
    }

    /// It happens from now on, unless it is over.
    pub(super) fn begin(&mut self) -> Option<C> {
        if let Stage::Set(_) = self
            && let Stage::Set(call) = core::mem::replace(self, Stage::Now)
        {
            Some(call)
        } else {
            None
        }
    }

    /// It has happened, and is to happen again; if it is over, this comes back.
    pub(super) fn renew(&mut self, call: C) -> Result<(), C> {
        if let Stage::Now = self {
            *self = Stage::Set(call);
            Ok(())
        } else {
            Err(call)
        }
    }

    /// Ends it.
    pub(super) fn end(&mut self) -> Stage<C> {
        core::mem::replace(self, Stage::Over)
    }
}
