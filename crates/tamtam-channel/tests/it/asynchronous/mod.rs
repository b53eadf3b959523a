//! Both ends as tasks: what the `_async` verbs, streams and sinks promise, on executors of every kind and polled by
//! hand.
//!
//! The modules `batches`, `cancel`, `program` and its likes, `wakers` and `wakes` need no threads and no clock, so they run
//! under Miri, too.

mod batches;
mod cancel;
mod executor;
mod hand;
mod lane_program;
mod lane_soak;
mod ledger;
mod program;
mod property_program;
mod wakers;
mod wakes;
mod zero;

#[cfg(not(miri))]
mod conformance;
#[cfg(not(miri))]
mod nouns;
#[cfg(not(miri))]
mod pairings;
mod soak;
#[cfg(all(not(miri), feature = "futures"))]
mod streams;
#[cfg(not(miri))]
mod timeouts;
mod traits;
#[cfg(not(miri))]
mod wishes;
