//! `handover`: what a message there and its answer cost two workers, and what waiting for one costs.

pub mod async_turns;
pub mod crowd;
pub mod frames;
pub mod idle;
pub mod lock_loop;
pub mod processes;
pub mod sparse;
pub mod turns;
