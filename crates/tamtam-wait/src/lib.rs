#![doc = include_str!("../README.md")]

mod activity;
mod attention;
mod backoff;
mod contain;
mod context;
mod futex;
mod habit;
mod list;
mod lone;
#[cfg(not(tamtam_loom))]
mod process;
mod source;
mod strategy;
mod task;
mod timer;

/// Whether a thread can wait here: not under WebAssembly without threads, where nobody else could end the
/// wait. Verbs that block do not compile there; those that begin with `try_` and those that end in `_async`
/// do.
pub const CAN_BLOCK: bool = !cfg!(all(target_family = "wasm", not(target_feature = "atomics")));

#[doc(hidden)]
pub mod fence;
#[doc(hidden)]
pub mod seam;

pub use attention::Attention;
pub use backoff::Backoff;
#[doc(hidden)]
pub use contain::contain;
pub use context::{Context, Outcome};
pub use futex::{Futex, Scope, TimedOut};
pub use habit::{Habit, Patience};
pub use list::{Entry, Sleeper, WaitList, WaitQueue};
#[doc(hidden)]
pub use source::{Operation, Source, Token};
pub use strategy::{ParseWaitError, Wait};
#[doc(hidden)]
pub use task::{Polled, TaskWait};
#[doc(hidden)]
pub use timer::TaskDeadline;

#[cfg(all(test, tamtam_loom))]
mod models;
