//! What an actor does later, or is told later, by the timers of its time.

mod knock;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod message;
mod turn;
