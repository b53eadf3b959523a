//! How actors end, who hears of it, and who begins again.

mod end;
mod ended;
mod finish;
mod lifeline;
mod link;
mod name;
mod panics;
mod registry;
mod remembered;
mod restart;
mod supervisor;
mod watch;

pub use end::End;
pub use ended::{EndReason, Ended};
pub(crate) use lifeline::{Concerned, Lifeline, WatchKey, Watcher};
pub(crate) use name::{Called, forget_name, name_of, remember_name};
pub use panics::Panicked;
pub(crate) use panics::{catch, panic_of};
pub use registry::{FindError, RegisterError, Registry};
pub(crate) use remembered::Remembered;
#[cfg(all(test, tamtam_loom))]
pub(crate) use restart::Born;
pub(crate) use restart::{Again, Birth, Call, Decision, Once, Pause, Policy};
pub use restart::{Restart, Restarting};
pub use supervisor::{Strategy, Supervision, Supervisor};
pub use watch::Watch;
