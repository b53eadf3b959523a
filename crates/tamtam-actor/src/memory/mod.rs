//! Memory in the order in which it was asked for.

pub(crate) mod plain;
mod slab_box;
#[cfg(any(test, not(any(tamtam_loom, miri))))]
#[cfg_attr(any(tamtam_loom, miri), allow(dead_code))]
pub(crate) mod slabs;

pub(crate) use slab_box::SlabBox;
