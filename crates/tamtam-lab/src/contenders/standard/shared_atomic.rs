//! A countdown by one shared atomic number.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::VERSION;
use crate::latch::{self, Countdown};
use crate::{Card, Contender, Measure};

/// The countdown that one writes by hand: one shared atomic number, and a `Condvar` for the wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct SharedAtomic;

impl Contender for SharedAtomic {
    fn card(&self) -> Card {
        Card {
            name: "shared-atomic",
            version: VERSION,
            ours: false,
            about: "an AtomicU64 counted down with fetch_sub, and a Mutex with a Condvar for the wait",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        latch::measures::<Shared>()
    }
}

#[derive(Debug)]
struct Shared {
    remaining: AtomicU64,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Countdown for Shared {
    fn new(count: u64) -> Self {
        Shared {
            remaining: AtomicU64::new(count),
            open: Mutex::new(count == 0),
            opened: Condvar::new(),
        }
    }

    fn count_down(&self) {
        if self.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            *self.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.opened.notify_all();
        }
    }

    fn is_open(&self) -> bool {
        self.remaining.load(Ordering::Acquire) == 0
    }

    fn wait(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(
            self.opened
                .wait_while(open, |open| !*open)
                .unwrap_or_else(PoisonError::into_inner),
        );
    }
}
