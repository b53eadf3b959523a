//! An actor for what happens later: where one knocks, whatever its messages are.

use std::sync::Arc;

use super::{Cell, Continuation, System};
use crate::mailbox::Loss;
use crate::time::Time;

/// An actor's cell, whatever its messages are: where timers knock.
pub(crate) trait Door: Send + Sync {
    fn knock(self: Arc<Self>, with: Box<dyn Continuation>);
    fn is_closed(&self) -> bool;
    fn count_lost(&self, why: Loss);
    fn time(&self) -> &Time;
}

impl<M: Send + 'static> Door for Cell<M> {
    fn knock(self: Arc<Self>, with: Box<dyn Continuation>) {
        self.push_system(System::Continue(with));
    }

    fn is_closed(&self) -> bool {
        Cell::is_closed(self)
    }

    fn count_lost(&self, why: Loss) {
        self.note_lost(self.message_type(), why);
    }

    fn time(&self) -> &Time {
        Cell::time(self)
    }
}
