use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Does something unless it is dropped in time: so that a contender that loses a message cannot hang the lab.
#[derive(Debug)]
pub(crate) struct Watchdog {
    // Dropping it wakes the thread, which then ends without a bark.
    _alive: Sender<()>,
}

impl Watchdog {
    /// Calls `bark` in a thread of its own after `patience`, unless the watchdog was dropped by then.
    pub(crate) fn new(patience: Duration, bark: impl FnOnce() + Send + 'static) -> Self {
        let (alive, dropped) = mpsc::channel();
        thread::spawn(move || {
            if dropped.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                bark();
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
