//! What the tests of this crate share: flavours, counted drops, a small random generator, limits on time.

// Each test binary uses its own part of this module.
#![allow(dead_code, unused_imports, unused_macros)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{Receiver, Sender, bounded, unbounded};
pub(crate) use tamtam_testing::within;

/// How long a test may take before it counts as a deadlock, on however loaded a machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A wait that is expected to end without success: long enough that a wrong success would show, short enough to repeat.
pub(crate) const SHORT: Duration = Duration::from_millis(20);

/// A wait that is expected to succeed: only a lost wake-up uses it up.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The kinds of queue behind one pair of types.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// A channel that holds at most so many messages; with 0 a rendezvous.
    Bounded(usize),
    /// A channel without a limit.
    Unbounded,
}

impl fmt::Debug for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flavour::Bounded(capacity) => write!(f, "bounded({capacity})"),
            Flavour::Unbounded => write!(f, "unbounded"),
        }
    }
}

impl Flavour {
    /// Every flavour that a generic test runs on.
    pub(crate) const ALL: [Flavour; 5] = [
        Flavour::Bounded(0),
        Flavour::Bounded(1),
        Flavour::Bounded(2),
        Flavour::Bounded(100),
        Flavour::Unbounded,
    ];

    /// A fresh channel.
    pub(crate) fn pair<T>(self) -> (Sender<T>, Receiver<T>) {
        match self {
            Flavour::Bounded(capacity) => bounded(capacity),
            Flavour::Unbounded => unbounded(),
        }
    }

    /// The limit, as `capacity` has to state it.
    pub(crate) fn capacity(self) -> Option<usize> {
        match self {
            Flavour::Bounded(capacity) => Some(capacity),
            Flavour::Unbounded => None,
        }
    }

    /// So many messages can be sent without a receiver; 300 where there is no limit.
    pub(crate) fn room(self) -> usize {
        self.capacity().unwrap_or(300)
    }

    /// Whether sender and receiver have to meet.
    pub(crate) fn is_rendezvous(self) -> bool {
        self.capacity() == Some(0)
    }
}

/// Makes a `#[test]` for every flavour out of functions that take a `Flavour`.
macro_rules! for_every_flavour {
    ($($name:ident),+ $(,)?) => {
        for_every_flavour!(@module bounded_0, Flavour::Bounded(0), $($name),+);
        for_every_flavour!(@module bounded_1, Flavour::Bounded(1), $($name),+);
        for_every_flavour!(@module bounded_2, Flavour::Bounded(2), $($name),+);
        for_every_flavour!(@module bounded_100, Flavour::Bounded(100), $($name),+);
        for_every_flavour!(@module unbounded_channel, Flavour::Unbounded, $($name),+);
    };
    (@module $module:ident, $flavour:expr, $($name:ident),+) => {
        mod $module {
            use crate::support::{Flavour, within_limit};
            $(
                #[test]
                fn $name() {
                    within_limit(|| super::$name($flavour));
                }
            )+
        }
    };
}
pub(crate) use for_every_flavour;

/// Runs `test` on a thread of its own and fails, instead of hanging, when it does not end within [`LIMIT`].
pub(crate) fn within_limit(test: impl FnOnce() + Send + 'static) {
    within(LIMIT, test);
}

/// Milliseconds.
pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Yields until `condition` holds; for states of other threads that no event announces.
pub(crate) fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "the condition was never met");
        thread::yield_now();
    }
}

/// Counts the drops of the values that it hands out.
#[derive(Clone, Default)]
pub(crate) struct Drops(Arc<AtomicUsize>);

impl Drops {
    /// A value that adds one when it is dropped.
    pub(crate) fn token(&self) -> Token {
        Token {
            drops: self.clone(),
            number: 0,
        }
    }

    /// A value with a number, that adds one when it is dropped.
    pub(crate) fn numbered(&self, number: usize) -> Token {
        Token {
            drops: self.clone(),
            number,
        }
    }

    /// How many values were dropped so far.
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A value whose drop is counted; deliberately without `Debug` and `Clone`.
pub(crate) struct Token {
    drops: Drops,
    /// Free for the test.
    pub(crate) number: usize,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.drops.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A small generator of random numbers (xorshift64*), seeded so that a failure can be repeated.
pub(crate) struct Random(u64);

impl Random {
    /// Different seeds give different sequences.
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number from 0 up to and without `end`.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }
}

/// How long a stress test runs: `TAMTAM_SOAK_SECONDS`, or `standard`.
pub(crate) fn soak(standard: Duration) -> Duration {
    match std::env::var("TAMTAM_SOAK_SECONDS") {
        Ok(seconds) => Duration::from_secs(
            seconds
                .parse()
                .expect("TAMTAM_SOAK_SECONDS is a whole number of seconds"),
        ),
        Err(_) => standard,
    }
}

/// The name of the calling thread towards the kernel, for [`until_asleep`].
#[cfg(target_os = "linux")]
pub(crate) fn thread_number() -> u64 {
    let link = std::fs::read_link("/proc/thread-self").expect("the file system /proc");
    link.file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.parse().ok())
        .expect("the number of a thread")
}

/// Elsewhere nobody asks.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_number() -> u64 {
    0
}

/// Waits until the given threads sleep in the kernel, all at once. They must have announced that they are about to wait.
///
/// One by one would not do: a thread may sleep for a moment at a lock that another of them holds.
#[cfg(target_os = "linux")]
pub(crate) fn until_asleep(threads: &[u64]) {
    let is_asleep = |thread: &u64| {
        let status =
            std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
        // The state follows the name, which stands in parentheses.
        status
            .rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    let mut in_a_row = 0;
    until(|| {
        in_a_row = if threads.iter().all(is_asleep) {
            in_a_row + 1
        } else {
            0
        };
        in_a_row == 5
    });
}

/// Elsewhere a pause has to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn until_asleep(_threads: &[u64]) {
    thread::sleep(ms(200));
}
