//! Systems without a futex that we use: a table of parked threads, keyed by the word's address.
//!
//! It does within one process what the kernel does for all: the look at the word and entering the
//! table are one step under the bucket's lock, and a waker takes that lock after it changed the word.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::Instant;

use super::{Futex, Scope, TimedOut};

struct Sleeper {
    address: usize,
    thread: Thread,
    woken: Arc<AtomicBool>,
}

const BUCKETS: usize = 64;
static TABLE: [Mutex<Vec<Sleeper>>; BUCKETS] = [const { Mutex::new(Vec::new()) }; BUCKETS];

fn bucket(address: usize) -> MutexGuard<'static, Vec<Sleeper>> {
    // Fibonacci hashing; words lie at least four bytes apart.
    let hash = (address >> 2).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize);
    TABLE[(hash >> (usize::BITS - 6)) % BUCKETS]
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn wait(
    futex: &Futex,
    expected: u32,
    deadline: Option<Instant>,
    _scope: Scope,
) -> Result<(), TimedOut> {
    let address = futex.as_ptr() as usize;
    let woken = Arc::new(AtomicBool::new(false));
    {
        let mut sleepers = bucket(address);
        if futex.load(Ordering::SeqCst) != expected {
            return Ok(());
        }
        sleepers.push(Sleeper {
            address,
            thread: std::thread::current(),
            woken: Arc::clone(&woken),
        });
    }
    while !woken.load(Ordering::Acquire) {
        match deadline {
            None => std::thread::park(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let mut sleepers = bucket(address);
                    sleepers.retain(|sleeper| !Arc::ptr_eq(&sleeper.woken, &woken));
                    drop(sleepers);
                    // A wake-up that came first counts: it must not be lost on a sleeper who
                    // reports a timeout instead.
                    if woken.load(Ordering::Acquire) {
                        return Ok(());
                    }
                    return Err(TimedOut);
                }
                std::thread::park_timeout(left);
            }
        }
    }
    Ok(())
}

pub(super) fn wake(futex: &Futex, count: u32, _scope: Scope) {
    let address = futex.as_ptr() as usize;
    let mut left = count;
    let mut threads = Vec::new();
    bucket(address).retain(|sleeper| {
        if left == 0 || sleeper.address != address {
            return true;
        }
        left -= 1;
        sleeper.woken.store(true, Ordering::Release);
        threads.push(sleeper.thread.clone());
        false
    });
    for thread in threads {
        thread.unpark();
    }
}
