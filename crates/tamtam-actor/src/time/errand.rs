//! What must not be done on the clock's thread.
//!
//! That thread only knocks at actors. Seldom it is the first one to find out that an actor is gone, or the pool that
//! it lived on: then the actor, or what a timer keeps, has to be dropped, and that is user code. A thread that lives
//! as long as there is such an errand does it.

use core::cell::Cell;

thread_local! {
    static KEEPS_TIME: Cell<bool> = const { Cell::new(false) };
}

/// This thread is the clock's: errands are for others.
pub(super) fn keep_time() {
    let _ = KEEPS_TIME.try_with(|keeps| keeps.set(true));
}

/// Does something that may run user code: here and now, or on another thread if this one is the clock's.
#[inline]
pub(crate) fn elsewhere<T: Send + 'static>(thing: T, what: impl FnOnce(T) + Send + 'static) {
    if KEEPS_TIME.try_with(Cell::get).unwrap_or(false) {
        errands::add(Box::new(move || what(thing)));
    } else {
        what(thing);
    }
}

#[cfg(not(tamtam_loom))]
mod errands {
    use std::collections::VecDeque;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;

    use tamtam_wait::contain;

    type Errand = Box<dyn FnOnce() + Send>;

    struct Errands {
        waiting: VecDeque<Errand>,
        runs: bool,
    }

    static ERRANDS: Mutex<Errands> = Mutex::new(Errands {
        waiting: VecDeque::new(),
        runs: false,
    });

    fn lock() -> MutexGuard<'static, Errands> {
        // No user code runs under the lock, so it is never poisoned half changed.
        ERRANDS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    pub(super) fn add(errand: Errand) {
        let starts = {
            let mut errands = lock();
            errands.waiting.push_back(errand);
            !core::mem::replace(&mut errands.runs, true)
        };
        if starts {
            let started = thread::Builder::new()
                .name("tamtam-errand".to_owned())
                .spawn(run);
            if started.is_err() {
                // Where no thread is to be had it has to be here.
                run();
            }
        }
    }

    fn run() {
        loop {
            let errand = {
                let mut errands = lock();
                let errand = errands.waiting.pop_front();
                if errand.is_none() {
                    errands.runs = false;
                    errands.waiting = VecDeque::new();
                }
                errand
            };
            match errand {
                Some(errand) => contain(errand),
                None => return,
            };
        }
    }
}

/// No thread of a model is the clock's.
#[cfg(tamtam_loom)]
mod errands {
    pub(super) fn add(errand: Box<dyn FnOnce() + Send>) {
        errand();
    }
}
