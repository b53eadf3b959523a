//! The home that this thread keeps: the one whose actors have all their turns here.

use core::cell::Cell;
use core::ptr;
use std::collections::VecDeque;

use tamtam_wait::seam::UnsafeCell;

use super::Task;

/// What is due in a home of one thread, which alone uses it.
pub(crate) type DueHere = UnsafeCell<VecDeque<Task>>;

struct KeptHome {
    /// Where it lies.
    location: Cell<*const ()>,
    /// What is due there, while this thread is in its turns.
    due: Cell<*const DueHere>,
}

impl KeptHome {
    const fn none() -> Self {
        KeptHome {
            location: Cell::new(ptr::null()),
            due: Cell::new(ptr::null()),
        }
    }
}

#[cfg(not(tamtam_loom))]
thread_local! {
    static KEPT: KeptHome = const { KeptHome::none() };
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static KEPT: KeptHome = KeptHome::none();
}

/// Where the home lies that this thread keeps; null if there is none. Of several homes it is one, and that whose turns it is in.
#[inline(always)]
pub(crate) fn kept_home() -> *const () {
    KEPT.with(|kept| kept.location.get())
}

/// This thread keeps the home that lies there, and is to [give it up](give_up_home) before that goes. If it is in the turns of it, this is what is
/// due there.
pub(crate) fn keep_home(location: *const (), due: *const DueHere) {
    KEPT.with(|kept| {
        kept.location.set(location);
        kept.due.set(due);
    });
}

/// This thread is not in the turns any more of the home that it keeps.
pub(crate) fn leave_turns() {
    KEPT.with(|kept| kept.due.set(ptr::null()));
}

/// This thread does not keep the home that lies there any more.
pub(crate) fn give_up_home(location: *const ()) {
    KEPT.with(|kept| {
        if kept.location.get() == location {
            kept.location.set(ptr::null());
            kept.due.set(ptr::null());
        }
    });
}

/// Makes something due in the home that this thread keeps, if it is in the turns of that.
#[inline(always)]
pub(crate) fn make_due_here(task: Task) -> Result<(), Task> {
    let due = KEPT.with(|kept| kept.due.get());
    if due.is_null() {
        return Err(task);
    }
    // SAFETY: the home is there as long as this thread is in its turns; and this thread alone uses what is due, and not in the midst of this.
    unsafe { (*due).with_mut(|due| (*due).push_back(task)) };
    Ok(())
}
