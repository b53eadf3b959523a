//! The pause before the next process, which ends early where there is to be none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::lock::{lock, wait_for};

/// Where the thread waits that has no process for a while.
#[derive(Default)]
pub(crate) struct Pause {
    is_on: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Pause {
    /// Waits for so long, or until there is something for which it is cut short, which is looked for first and whenever this is rung.
    pub(crate) fn wait<T>(&self, pause: Duration, cut_short: impl Fn() -> Option<T>) -> Option<T> {
        // A time beyond the clock's end is none.
        let deadline = Instant::now().checked_add(pause);
        let mut held = lock(&self.lock);
        // Before the look: what changes after that look, under its own lock, finds this said.
        self.is_on.store(true, Ordering::SeqCst);
        let cut = loop {
            let cut = cut_short();
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if cut.is_some() || left == Some(Duration::ZERO) {
                break cut;
            }
            held = wait_for(&self.changed, held, left);
        };
        self.is_on.store(false, Ordering::SeqCst);
        drop(held);
        cut
    }

    /// Has the thread that pauses look, if one does. Mostly none does, and that is one look.
    pub(crate) fn ring(&self) {
        if self.is_on.load(Ordering::SeqCst) {
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_lasts_as_long_as_it_is_to_unless_it_is_cut_short() {
        let pause = Pause::default();
        let short = Duration::from_millis(20);
        let begun = Instant::now();
        assert_eq!(pause.wait(short, || None::<()>), None);
        assert!(begun.elapsed() >= short);
        assert_eq!(pause.wait(Duration::MAX, || Some(1)), Some(1));
        let is_cut = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let pausing = threads.spawn(|| {
                let cut = || is_cut.load(Ordering::SeqCst).then_some(2);
                pause.wait(Duration::MAX, cut)
            });
            // It may look before or after this.
            is_cut.store(true, Ordering::SeqCst);
            pause.ring();
            assert_eq!(pausing.join().unwrap(), Some(2));
        });
    }
}
