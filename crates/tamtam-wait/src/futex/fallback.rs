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

pub(super) fn can_wait_any() -> bool {
    false
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

pub(super) fn wait_any(
    words: &[(&Futex, u32, Scope)],
    deadline: Option<Instant>,
) -> Result<(), TimedOut> {
    super::in_slices(words, deadline)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How many sleep on the word.
    fn sleepers(futex: &Futex) -> usize {
        let address = futex.as_ptr() as usize;
        let on_it = |sleeper: &&Sleeper| sleeper.address == address;
        bucket(address).iter().filter(on_it).count()
    }

    fn until(condition: impl Fn() -> bool) {
        while !condition() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn as_many_are_woken_as_the_waker_says() {
        let word = Futex::new(0);
        std::thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| assert_eq!(wait(&word, 0, None, Scope::Private), Ok(())));
            }
            until(|| sleepers(&word) == 3);
            for (count, left) in [(0, 3), (1, 2), (2, 0), (1, 0)] {
                wake(&word, count, Scope::Private);
                assert_eq!(sleepers(&word), left);
            }
        });
    }

    #[test]
    fn those_who_sleep_on_another_word_of_the_same_bucket_sleep_on() {
        // More words than buckets: two of them share one.
        let words: Vec<_> = (0..=BUCKETS).map(|_| Futex::new(0)).collect();
        let place = |futex: &Futex| std::ptr::from_ref(&*bucket(futex.as_ptr() as usize)) as usize;
        let shared = words.iter().enumerate().find_map(|(index, one)| {
            let other = words[..index]
                .iter()
                .find(|other| place(other) == place(one))?;
            Some((other, one))
        });
        let (first, second) = shared.expect("there are fewer buckets than words");
        std::thread::scope(|threads| {
            threads.spawn(|| assert_eq!(wait(first, 0, None, Scope::Private), Ok(())));
            until(|| sleepers(first) == 1);
            threads.spawn(|| assert_eq!(wait(second, 0, None, Scope::Private), Ok(())));
            until(|| sleepers(second) == 1);
            wake(second, 1, Scope::Private);
            assert_eq!((sleepers(first), sleepers(second)), (1, 0));
            wake(first, u32::MAX, Scope::Private);
            assert_eq!(sleepers(first), 0);
        });
    }

    #[test]
    fn one_whose_deadline_has_passed_leaves_the_table() {
        let word = Futex::new(0);
        let past = Some(Instant::now());
        assert_eq!(wait(&word, 0, past, Scope::Private), Err(TimedOut));
        assert_eq!(sleepers(&word), 0);
    }
}
