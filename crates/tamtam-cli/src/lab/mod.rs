//! The front end of the lab: `tamtam lab`.
//!
//! It chooses what to measure (`plan`), starts one fresh process for every measurement (`runner`), summarises what
//! they answer (`standings`) and shows it (`results`, `verdict`). It never measures anything itself:
//! that is the work of the crate `tamtam-lab`, in the processes that it starts. What was written earlier it shows and
//! compares as a page (`report`).

mod answer;
pub mod arguments;
mod browser;
mod catalog;
mod child;
mod end_to_end;
mod experiment;
mod fastest;
mod heat;
pub mod hog;
mod interrupt;
mod kept;
mod list;
mod machine;
mod metric;
mod origin;
mod peers;
mod plan;
mod progress;
mod report;
mod results;
mod runner;
mod session;
mod standings;
mod statistics;
mod totals;
mod verdict;

use crate::number;
pub use session::command;
