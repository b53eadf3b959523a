//! Memory for the nodes of mailboxes, from slabs or as the allocator gives it; and lists that do not grow with what has ended.

pub(crate) mod plain;
#[cfg(any(test, not(any(tamtam_loom, miri))))]
#[cfg_attr(any(tamtam_loom, miri), allow(dead_code))]
pub(crate) mod slabs;
pub(crate) mod swept;
