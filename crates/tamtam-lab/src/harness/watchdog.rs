//! Ending a run that hangs.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use crate::harness::cpu_clock::process_cpu_time;

/// Does something unless it is dropped in time: so that a contender that loses a message cannot hang the lab.
///
/// One that gets on, though slowly, since others have the cores, is not one that hangs.
#[derive(Debug)]
pub(crate) struct Watchdog {
    // Dropping it wakes the thread, which then ends without a bark.
    _alive: Sender<()>,
}

impl Watchdog {
    /// Calls `bark` in a thread of its own after `patience`, unless the watchdog was dropped by then: as soon as this
    /// process has used that much core time, or uses no more than a hundredth of a core.
    pub(crate) fn new(patience: Duration, bark: impl FnOnce() + Send + 'static) -> Self {
        let (alive, dropped) = mpsc::channel();
        thread::spawn(move || {
            let is_dropped_within =
                |time| dropped.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
            if is_dropped_within(patience) {
                return;
            }
            let look = patience / 4;
            loop {
                let before = process_cpu_time();
                if is_dropped_within(look) {
                    return;
                }
                let hangs = match (before, process_cpu_time()) {
                    (Some(before), Some(now)) => {
                        now >= patience || now.saturating_sub(before) <= look / 100
                    }
                    _ => true,
                };
                if hangs {
                    return bark();
                }
            }
        });
        Watchdog { _alive: alive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_barks_when_nobody_ends_it() {
        let (sender, barked) = mpsc::channel();
        let _watchdog = Watchdog::new(Duration::from_millis(5), move || sender.send(()).unwrap());
        barked.recv().unwrap();
    }

    #[test]
    fn it_is_silent_once_dropped() {
        let (sender, barked) = mpsc::channel::<()>();
        let watchdog = Watchdog::new(Duration::from_secs(3600), move || sender.send(()).unwrap());
        drop(watchdog);
        // The closure was dropped unrun, and its sender with it.
        assert!(barked.recv().is_err());
    }
}
