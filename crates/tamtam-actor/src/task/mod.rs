//! What is due for a turn, where it gets one, and what a thread does that waits meanwhile.

mod blocking;
mod due;
mod home;
mod inject_slot;
mod kept;
mod remembered;
#[cfg(feature = "tokio")]
mod tokio_worker;
// Without links there is nothing to flush.
#[cfg_attr(not(feature = "serde"), allow(dead_code, unreachable_pub))]
mod unflushed;

pub(crate) use blocking::{Blocking, Stuck, set_blocking, wait_for, while_blocked};
pub(crate) use due::{Acts, Due, Task};
pub(crate) use home::{AtClose, Home, Left, ThreadTurn, ThreadWait, TurnLimits};
pub(crate) use inject_slot::InjectSlot;
pub(crate) use kept::{DueHere, give_up_home, keep_home, kept_home, leave_turns, make_due_here};
pub(crate) use remembered::Remembered;
#[cfg(feature = "tokio")]
pub(crate) use tokio_worker::{BlockedWorker, RuntimeThread};
pub(crate) use unflushed::Unflushed;
#[cfg(test)]
pub(crate) use unflushed::{Answers, Flushes, answer_tests};
#[cfg(feature = "serde")]
pub use unflushed::{Flush, ReadAnswers, flush_later, read_later};
