#![doc = include_str!("../README.md")]

// The floors of this crate, top to bottom: a module uses those on lower floors only. A test holds it.
//
// | floor | modules | what |
// |---|---|---|
// | 7 | task | the wait of a future, over one source or several |
// | 6 | source | what can be waited for: the trait that channels, slots and events implement |
// | 5 | list, timer | who waits for one thing; deadlines of tasks, by one thread |
// | 4 | context | one wait of a thread or a task: who selects it, and how it sleeps |
// | 3 | attention, habit, woken, words | the flag of a waiter; how long to look before sleeping; one wait among several of a task; words of other processes to sleep at |
// | 2 | activity, backoff, fence, futex, giving_way, lone, operation | parts of a wait: an index and a token, processors at work, the asymmetric fence, the system call, whether another thread ran, a single waiter |
// | 1 | waker_place | where a waker is kept |
// | 0 | contain, inline, nesting, process, seam, strategy | a panic kept in; a value in some words; values of limited depth; forks; std or loom; what a user chooses |

mod activity;
mod attention;
mod backoff;
mod contain;
mod context;
mod futex;
mod giving_way;
mod habit;
mod inline;
mod list;
mod lone;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod nesting;
mod operation;
#[cfg(not(tamtam_loom))]
mod process;
mod source;
mod strategy;
mod task;
mod timer;
mod waker_place;
mod woken;
mod words;

/// Whether a thread can wait here: not under WebAssembly without threads, where no other one could end the
/// wait. Verbs that block do not compile there; those that begin with `try_` and those that end in `_async`
/// do.
pub const CAN_BLOCK: bool = cfg!(any(not(target_family = "wasm"), target_feature = "atomics"));

#[doc(hidden)]
pub mod fence;
#[doc(hidden)]
pub mod seam;

pub use attention::Attention;
pub use backoff::Backoff;
#[doc(hidden)]
pub use contain::{contain, or_undo};
pub use context::{Context, Outcome};
pub use futex::{Futex, Scope, TimedOut};
pub use habit::{Habit, Patience};
#[doc(hidden)]
pub use inline::Inline;
pub use list::{Entry, Sleeper, WaitList, WaitQueue};
#[doc(hidden)]
pub use operation::{Operation, Token};
#[doc(hidden)]
pub use source::Source;
pub use strategy::{ParseWaitError, Wait};
#[doc(hidden)]
pub use task::{Polled, TaskWait};
#[doc(hidden)]
pub use timer::TaskDeadline;
#[doc(hidden)]
pub use woken::Woken;
#[doc(hidden)]
pub use words::SharedWords;

#[cfg(all(test, tamtam_loom))]
mod models;
