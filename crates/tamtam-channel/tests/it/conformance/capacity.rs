//! Capacities that are too large.

use std::panic::catch_unwind;

use tamtam_channel::{Builder, bounded};

/// As documented, a panic: the program goes on. Two lengths that no address space has, one that no memory has.
#[test]
#[cfg(target_pointer_width = "64")]
#[cfg_attr(miri, ignore = "Miri ends when memory is asked for that there is not")]
fn a_capacity_for_which_there_is_no_memory_is_a_panic() {
    for capacity in [1 << 45, 1 << 58, usize::MAX] {
        let panic = catch_unwind(|| bounded::<u64>(capacity)).expect_err("so much memory is there");
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains(&capacity.to_string()), "{text}");
        assert!(catch_unwind(|| Builder::new().capacity(capacity).build::<u64>()).is_err());
    }
}
