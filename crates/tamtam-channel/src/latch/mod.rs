//! The latch: what its users see, the exact count, and its waiters. How millions of counts stay
//! cheap is in [`stripes`].

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::seam::model_fence;
use tamtam_wait::{Source, Token, Wait, WaitList};

use crate::error::WaitTimeoutError;
use crate::source::in_list;

mod number;
mod stripes;

#[cfg(all(test, tamtam_loom))]
mod loom_tests;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

use stripes::Stripes;

/// A latch of at least so many counts has stripes: a count at the centre costs 5 ns, and ten times
/// that while other threads count too, so from here on the stripes earn what they cost.
const LARGE: u64 = if cfg!(tamtam_loom) { 1 << 32 } else { 1 << 16 };

/// A number that threads count down, and that lets all pass once it is zero.
///
/// A latch opens at zero, exactly and not before, and stays open for ever. Counting further does
/// nothing. Any number of threads may count and wait; share the latch by reference or in an `Arc`.
///
/// It is meant to be counted often. Where the count is large, each thread counts at a place of its
/// own, without a locked instruction and without touching what other threads write: 1 to 2 ns a
/// count and thread, where an atomic counter takes 5 alone and more in company. A thread that ends
/// takes nothing along: what it counted is counted, and what it did not is left to the others.
///
/// A latch is 128 bytes. One of at least 65,536 counts allocates 4,352 bytes more when it is made;
/// a smaller one allocates nothing while no thread sleeps at it.
///
/// # Ordering
///
/// What each thread did before it counted is visible to every thread that has waited for the latch or has
/// seen it open.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use tamtam_channel::Latch;
///
/// let done = Latch::new(2 * 1_000_000);
/// let sum = AtomicU64::new(0);
/// std::thread::scope(|threads| {
///     for _ in 0..2 {
///         threads.spawn(|| {
///             let mut own = 0;
///             for number in 1..=1_000_000 {
///                 own += number;
///                 if number == 1_000_000 {
///                     sum.fetch_add(own, Relaxed);
///                 }
///                 done.count_down();
///             }
///         });
///     }
///     done.wait();
///     assert_eq!(sum.load(Relaxed), 1_000_001_000_000);
/// });
/// ```
// On a cache-line pair of its own: it is written at every exact count, by all.
#[repr(align(128))]
pub struct Latch {
    /// What is left to count, less what the stripes have on lease: zero when the latch is open,
    /// and never zero before.
    left: AtomicU64,
    /// Where threads count at first, if there is much to count.
    stripes: Option<Box<Stripes>>,
    waiters: WaitList,
    wait: Wait,
}

// No user code runs while a latch is half changed.
impl UnwindSafe for Latch {}
impl RefUnwindSafe for Latch {}

impl Latch {
    /// A latch that opens after `count` counts; at once, if that is zero.
    ///
    /// From 65,536 counts on it is made for being counted by several threads at full speed. The
    /// first such latch of a process that runs several threads already takes 7 to 12 ms longer to
    /// make on Linux, where the process has to be registered for `membarrier(2)`.
    #[must_use]
    pub fn new(count: u64) -> Self {
        if count < LARGE {
            Self::with_stripes(count, None)
        } else {
            Self::striped(count)
        }
    }

    /// A latch with stripes; `count` is not zero.
    fn striped(count: u64) -> Self {
        Self::with_stripes(count, Some(Box::new(Stripes::new())))
    }

    fn with_stripes(left: u64, stripes: Option<Box<Stripes>>) -> Self {
        Latch {
            left: AtomicU64::new(left),
            stripes,
            waiters: WaitList::new(),
            wait: Wait::Adaptive,
        }
    }

    /// The same latch, waiting in another way.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Counts one down; the last count opens the latch. Does nothing if it is open.
    ///
    /// Not to be called from a signal handler.
    #[inline]
    pub fn count_down(&self) {
        self.count_as(number::current(), 1);
    }

    /// Counts `by` down at once. What goes beyond zero is ignored.
    ///
    /// Not to be called from a signal handler.
    #[inline]
    pub fn count_down_by(&self, by: u64) {
        self.count_as(number::current(), by);
    }

    /// Counts for the thread with this number; no other thread may use it meanwhile.
    #[inline]
    fn count_as(&self, thread: u32, by: u64) {
        let counted = match &self.stripes {
            Some(stripes) => stripes.count(&self.left, thread, by),
            None => false,
        };
        if !counted {
            self.count_exactly(by);
        }
    }

    /// Counts where every thread counts, and opens the latch at zero.
    fn count_exactly(&self, by: u64) {
        let mut left = self.left.load(Ordering::Relaxed);
        while left != 0 {
            let after = left.saturating_sub(by);
            // SYNC latch: each count acquires what those before it released, so that the last one
            // releases everything that was done before any of them. Sequentially consistent,
            // because zero must be seen by a waiter that registers and looks once more.
            match self
                .left
                .compare_exchange_weak(left, after, Ordering::SeqCst, Ordering::Relaxed)
            {
                Ok(_) => {
                    if after == 0 {
                        self.waiters.notify_all();
                    }
                    return;
                }
                Err(now) => left = now,
            }
        }
    }

    /// How many counts are left until the latch opens. Zero means that it is open.
    ///
    /// The answer was right at some moment during the call, if all count by one. On a large latch
    /// this takes a lock and reads what each thread has counted: to be called now and then.
    pub fn remaining(&self) -> u64 {
        match &self.stripes {
            Some(stripes) => stripes.remaining(&self.left),
            // SYNC latch
            None => self.left.load(Ordering::Acquire),
        }
    }

    /// Whether everything has been counted.
    #[inline]
    pub fn is_open(&self) -> bool {
        // SYNC latch
        self.left.load(Ordering::Acquire) == 0
    }

    /// The second look of a thread that has registered as a waiter.
    fn has_opened(&self) -> bool {
        model_fence();
        // SYNC latch
        self.left.load(Ordering::SeqCst) == 0
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// Waits until the latch is open.
    ///
    /// # Blocking
    ///
    /// For as long as counts are missing. Not at all once the latch is open.
    #[inline]
    pub fn wait(&self) {
        if !self.is_open() {
            self.wait_until(None);
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait`](Latch::wait), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if counts were still missing then.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), WaitTimeoutError> {
        let passed = self.is_open() || self.wait_until(Instant::now().checked_add(timeout));
        passed.then_some(()).ok_or(WaitTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait`](Latch::wait), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if counts were still missing then.
    pub fn wait_deadline(&self, deadline: Instant) -> Result<(), WaitTimeoutError> {
        let passed = self.wait_until(Some(deadline));
        passed.then_some(()).ok_or(WaitTimeoutError)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn wait_until(&self, deadline: Option<Instant>) -> bool {
        self.waiters
            .wait_until(
                self.wait,
                deadline,
                |_| self.is_open().then_some(()),
                || self.has_opened(),
            )
            .is_some()
    }
}

impl fmt::Debug for Latch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch")
            .field("remaining", &self.remaining())
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

impl Source for Latch {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_open()
    }

    in_list!(this => this.waiters, this.has_opened());

    fn is_ready(&self) -> bool {
        self.is_open()
    }

    fn unready_since(&self) -> Option<u64> {
        // It opens once, and stays open.
        (!self.has_opened()).then_some(0)
    }
}
