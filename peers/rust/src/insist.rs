//! How a way that cannot wait is made to wait.

use std::hint::spin_loop;
use std::thread;

/// How often it looks again before [`insist`] gives its processor away: about a microsecond.
const SPINS: u32 = 32;

/// Calls `attempt` until it has something: spins first, then yields.
pub(crate) fn insist<R>(mut attempt: impl FnMut() -> Option<R>) -> R {
    for _ in 0..SPINS {
        if let Some(result) = attempt() {
            return result;
        }
        spin_loop();
    }
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        thread::yield_now();
    }
}
