//! The crate from outside, by its public names, in one program.

#[path = "../support/mod.rs"]
mod support;

mod asynchronous;
mod broadcast;
mod conformance;
mod property;
mod select;
mod select_macro;
mod single;
mod slot_event_latch;
mod timers;
mod waits;
mod wishes;
