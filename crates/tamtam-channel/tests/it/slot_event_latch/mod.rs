//! `Slot`, `Event` and `Latch`: what they promise, alone and under many threads, with every way of waiting.

mod event;
mod latch;
mod slot;

use std::sync::mpsc;
use std::thread;

use crate::support::{LONG, SHORT};
use tamtam_channel::Wait;

/// Every way of waiting.
pub(crate) const WAITS: [Wait; 4] = [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park];

/// Fewer turns where each may cost the time slice of another process: spinning and yielding beside a busy one.
pub(crate) fn turns(wait: Wait, full: usize) -> usize {
    if matches!(wait, Wait::Adaptive | Wait::Park) {
        full
    } else {
        full / 100
    }
}

/// Runs `waits` on a thread, checks that it does wait, then runs `ends` and waits for its end.
pub(crate) fn waits_until(waits: impl FnOnce() + Send, ends: impl FnOnce()) {
    let (done, is_done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            waits();
            done.send(()).unwrap();
        });
        assert_eq!(
            is_done.recv_timeout(SHORT),
            Err(mpsc::RecvTimeoutError::Timeout)
        );
        ends();
        assert_eq!(is_done.recv_timeout(LONG), Ok(()));
    });
}
