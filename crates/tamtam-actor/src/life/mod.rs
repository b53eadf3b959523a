//! How actors end, who hears of it, and who begins again.

mod end;
mod finish;
mod link;
mod name;
mod registry;
mod restarting;
mod supervisor;
mod watch;

pub use end::End;
pub use registry::{FindError, RegisterError, Registry};
pub use restarting::Restarting;
#[cfg(feature = "serde")]
pub use supervisor::ReportFailure;
pub use supervisor::{Strategy, Supervision, Supervisor};
pub use watch::Watch;
