//! An actor for what happens later: where one knocks, whatever its messages are.

use std::sync::Arc;

use super::{Cell, Continuation, System};
use crate::error::TellError;
use crate::mailbox::Loss;
use crate::time::{Time, elsewhere};

/// An actor's cell, whatever its messages are: where timers knock.
pub(crate) trait Door: Send + Sync {
    fn knock(self: Arc<Self>, with: Box<dyn Continuation>);
    fn is_closed(&self) -> bool;
    fn has_ended(&self) -> bool;
    fn count_lost(&self, why: Loss);
    fn time(&self) -> &Time;
}

impl<M: Send + 'static> Cell<M> {
    /// As `push_plain`, for the clock's thread, which drops nothing of the user's.
    pub(crate) fn push_by_clock(self: &Arc<Self>, message: M) -> Result<(), TellError<M>> {
        if self.tail.push_in_streak(message) {
            return self.schedule_message();
        }
        self.sent_by_clock(false);
        Ok(())
    }

    fn sent_by_clock(self: &Arc<Self>, has_woken: bool) {
        if has_woken {
            self.schedule();
        } else if self.is_closed() {
            // As in `sent`.
            elsewhere(Arc::clone(self), |cell| cell.drain());
        }
    }
}

impl<M: Send + 'static> Door for Cell<M> {
    fn knock(self: Arc<Self>, with: Box<dyn Continuation>) {
        self.urgent.push(System::Continue(with));
        if !self.unpark() {
            self.sent_by_clock(self.tail.wake());
        }
    }

    fn is_closed(&self) -> bool {
        Cell::is_closed(self)
    }

    fn has_ended(&self) -> bool {
        self.life().has_ended()
    }

    fn count_lost(&self, why: Loss) {
        self.note_lost(self.message_type(), why);
    }

    fn time(&self) -> &Time {
        Cell::time(self)
    }
}
