//! Being called after an interval, which is all that gathering needs of time.

use core::task::Waker;
use std::time::{Duration, Instant};

use tamtam_wait::{Context, TaskDeadline};

/// What calls.
#[derive(Clone)]
pub(super) enum Alarm {
    /// The clock of this machine, on the thread that all timers of a process share.
    System,
    /// A test, when it likes.
    #[cfg(test)]
    Manual(std::sync::Arc<tamtam_wait::seam::Mutex<Vec<Waker>>>),
}

/// A call that is to come; dropping this takes it back.
pub(super) struct Call {
    _deadline: Option<TaskDeadline>,
}

impl Alarm {
    /// Wakes somebody once, after this time. After more time than the clock can tell: never.
    pub(super) fn call_after(&self, interval: Duration, who: Waker) -> Call {
        let deadline = match self {
            Alarm::System => Instant::now()
                .checked_add(interval)
                .map(|due| TaskDeadline::new(due, &Context::for_task(&who))),
            #[cfg(test)]
            Alarm::Manual(calls) => {
                calls.lock().push(who);
                None
            }
        };
        Call {
            _deadline: deadline,
        }
    }
}
