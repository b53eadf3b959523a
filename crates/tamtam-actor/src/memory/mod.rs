//! Memory for the nodes of mailboxes: from slabs, or as the allocator gives it.

pub(crate) mod plain;
#[cfg(any(test, not(any(tamtam_loom, miri))))]
#[cfg_attr(any(tamtam_loom, miri), allow(dead_code))]
pub(crate) mod slabs;
