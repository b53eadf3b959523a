//! One suite for every flavour of channel: what is documented holds for `bounded(0)`, `bounded(1)`, `bounded(2)`,
//! `bounded(100)` and `unbounded` alike.

mod batches;
mod capacity;
mod closing;
mod disconnect;
mod drops;
mod errors;
mod high_water;
mod iteration;
mod order;
mod overflow;
mod payloads;
mod permits;
mod queries;
mod send_receive;
mod thread_locals;
mod traits;
mod waiters;
