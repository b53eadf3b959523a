//! The futex in the models: the kernel's bucket lock is a mutex, its queue a condition variable.

use std::collections::VecDeque;
use std::time::Instant;

use super::{Futex, Scope, TimedOut};
use crate::seam::Arc;
use crate::seam::atomic::Ordering;

#[derive(Debug, Default)]
pub(super) struct Sleepers {
    /// Threads that sleep on this word and on others.
    lock: loom::sync::Mutex<VecDeque<Arc<Sleeper>>>,
    queue: loom::sync::Condvar,
}

/// A thread that sleeps on several words.
#[derive(Debug, Default)]
struct Sleeper {
    is_woken: loom::sync::Mutex<bool>,
    woken: loom::sync::Condvar,
}

pub(super) fn can_wait_any() -> bool {
    true
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

/// As the kernel does it: at each word it looks and enters, under the word's lock; a word that holds something else ends it.
pub(super) fn wait_any(
    words: &[(&Futex, u32, Scope)],
    deadline: Option<Instant>,
) -> Result<(), TimedOut> {
    if deadline.is_some() {
        crate::seam::yield_now();
        return Err(TimedOut);
    }
    let sleeper = Arc::new(Sleeper::default());
    let mut entered = 0;
    for (futex, expected, _) in words {
        let mut sleepers = futex.sleepers.lock.lock().unwrap();
        if futex.load(Ordering::SeqCst) != *expected {
            break;
        }
        sleepers.push_back(Arc::clone(&sleeper));
        entered += 1;
    }
    if entered == words.len() {
        let mut is_woken = sleeper.is_woken.lock().unwrap();
        while !*is_woken {
            is_woken = sleeper.woken.wait(is_woken).unwrap();
        }
    }
    for (futex, ..) in &words[..entered] {
        let mut sleepers = futex.sleepers.lock.lock().unwrap();
        sleepers.retain(|other| !Arc::ptr_eq(other, &sleeper));
    }
    Ok(())
}

pub(super) fn wake(futex: &Futex, count: u32, _scope: Scope) {
    let mut sleepers = futex.sleepers.lock.lock().unwrap();
    let mut left = count;
    while left > 0
        && let Some(sleeper) = sleepers.pop_front()
    {
        left -= 1;
        *sleeper.is_woken.lock().unwrap() = true;
        sleeper.woken.notify_one();
    }
    if left == 1 {
        futex.sleepers.queue.notify_one();
    } else if left > 1 {
        futex.sleepers.queue.notify_all();
    }
    drop(sleepers);
}
