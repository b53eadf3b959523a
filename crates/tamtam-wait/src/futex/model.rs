//! The futex in the models: the kernel's bucket lock is a mutex, its queue a condition variable.

use std::time::Instant;

use super::{Futex, Scope, TimedOut};
use crate::seam::atomic::Ordering;

#[derive(Debug, Default)]
pub(super) struct Sleepers {
    lock: loom::sync::Mutex<()>,
    queue: loom::sync::Condvar,
}

pub(super) fn wait(
    futex: &Futex,
    expected: u32,
    deadline: Option<Instant>,
    _scope: Scope,
) -> Result<(), TimedOut> {
    if deadline.is_some() {
        // A model has no clock: a timed sleep may end at any moment, so it ends at once, and loom
        // puts that moment before or after every step of the others.
        crate::seam::yield_now();
        return Err(TimedOut);
    }
    let guard = futex.sleepers.lock.lock().unwrap();
    if futex.load(Ordering::SeqCst) == expected {
        drop(futex.sleepers.queue.wait(guard).unwrap());
    }
    Ok(())
}

pub(super) fn wait_any(
    words: &[(&Futex, u32, Scope)],
    deadline: Option<Instant>,
) -> Result<(), TimedOut> {
    super::in_slices(words, deadline)
}

pub(super) fn wake(futex: &Futex, count: u32, _scope: Scope) {
    let guard = futex.sleepers.lock.lock().unwrap();
    if count == 1 {
        futex.sleepers.queue.notify_one();
    } else {
        futex.sleepers.queue.notify_all();
    }
    drop(guard);
}
