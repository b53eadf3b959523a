//! The crate from outside, by its public names, in one program.

#[path = "../support/mod.rs"]
mod support;

mod ask;
mod ask_timeout;
mod backpressure;
mod birth;
mod conformance;
mod corners;
mod cycles;
mod delivery;
mod frame;
mod gathering;
mod hung;
mod idle;
mod life;
mod listener;
mod mailboxes;
mod named;
#[cfg(feature = "tokio")]
mod on_tokio;
mod own_turns;
mod panics;
mod pending;
mod pipe;
mod pool_end;
mod publish_async;
mod refused;
mod registry;
mod restart;
mod retained;
mod rules;
mod shutdown;
mod stand_ins;
mod stepper;
mod supervision;
mod time;
mod told_later;
mod topic;
mod watch;
mod worker;
