//! Ways of showing what a worker process makes of a slider, for the experiment `frames`, one small file each.

mod copied;
mod in_memory;
mod newest;
mod value_in_memory;

use crate::Contender;

/// All of them, in the order in which lists show them.
pub(super) const ALL: &[&dyn Contender] = &[
    &in_memory::BY_PROPERTY,
    &in_memory::BY_QUEUE,
    &copied::ThroughSocket,
];
