//! Threads that wait for a change under a mutex.

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tamtam_wait::Wait;

use crate::bell::Bell;
use crate::claim::Lives;
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::mutex::{LockError, LockTimeoutError, MutexGuard};
use crate::plain::Plain;
use crate::segment::Segment;

/// Where threads of several processes wait, with a [`Mutex`](crate::Mutex) unlocked meanwhile, until one says that something has changed.
///
/// A wait may end without a reason, so it stands in a loop that looks at the value, as everywhere. It also ends when a process that has the
/// condition dies or gives it up: the change may be one that this process was to make. How many are left, [`processes`](Condition::processes)
/// tells.
///
/// All threads that wait are woken by each [`notify_all`](Condition::notify_all). There is no call that wakes one of them: that one could die, or be stopped,
/// with the news that was for any of them.
///
/// # Ordering
///
/// What was done before a notification has happened for the thread that it wakes.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Condition, Mutex};
///
/// let (count, changed) = (Mutex::create(0_u64)?, Condition::create()?);
/// // Another process would attach to both.
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         count.lock().unwrap().set(3);
///         changed.notify_all();
///     });
///     let mut guard = count.lock()?;
///     while guard.get() != 3 {
///         guard = changed.wait(guard)?;
///     }
///     Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// })?;
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Condition {
    segment: Segment,
}

/// What lies in the segment.
#[derive(Debug)]
#[repr(C)]
struct State {
    /// Notifications so far.
    count: AtomicU64,
    bell: Bell,
}

const _: () = assert!(size_of::<State>() == 256);

impl Condition {
    fn shape() -> Shape {
        Shape {
            size: 0,
            align: 1,
            capacity: 0,
            name: "condition".to_owned(),
        }
    }

    /// A new condition.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create() -> Result<Self, CreateError> {
        let segment = Segment::create(Kind::Condition, Self::shape(), size_of::<State>())?;
        let condition = Condition { segment };
        condition.state().bell.prepare();
        Ok(condition)
    }

    /// The condition that another process has made, by the descriptor of its memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let segment = Segment::attach(memory, Kind::Condition, &Self::shape())?;
        if segment.bytes() != size_of::<State>() {
            return Err(AttachError::NotOurs);
        }
        let condition = Condition { segment };
        // Those who sleep here are to sleep on the life of this process, too.
        condition.state().bell.ring();
        Ok(condition)
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.segment.memory()
    }

    fn state(&self) -> &State {
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are such a state, and all access to it is
        // atomic.
        unsafe { self.segment.place::<State>(0).as_ref() }
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        let state = self.state();
        // SYNC condition
        state.count.fetch_add(1, Ordering::SeqCst);
        state.bell.ring();
    }

    /// How many processes have it now, this one included.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.segment.processes()
    }

    /// Unlocks the mutex, waits for a notification or the end of a process, and locks again.
    ///
    /// # Blocking
    ///
    /// Until a notification, and then as [`Mutex::lock`](crate::Mutex::lock).
    ///
    /// # Errors
    ///
    /// [`LockError`] if another process has written that this thread has locked the mutex meanwhile.
    pub fn wait<'a, T: Plain>(
        &self,
        guard: MutexGuard<'a, T>,
    ) -> Result<MutexGuard<'a, T>, LockError> {
        let mutex = guard.mutex();
        self.sleep(guard, None);
        mutex.lock()
    }

    /// As [`wait`](Condition::wait), for so long at most, with the time for which it waits for the mutex. `false` beside the guard: neither a
    /// notification nor the end of a process came.
    ///
    /// # Errors
    ///
    /// [`LockTimeoutError`] if the mutex was not free again in time; then it is not locked.
    pub fn wait_timeout<'a, T: Plain>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> Result<(MutexGuard<'a, T>, bool), LockTimeoutError> {
        let mutex = guard.mutex();
        let deadline = Instant::now().checked_add(timeout);
        let is_notified = self.sleep(guard, deadline);
        let guard = match deadline {
            Some(deadline) => mutex.lock_deadline(deadline),
            None => mutex.lock_timeout(Duration::MAX),
        };
        Ok((guard?, is_notified))
    }

    fn sleep<T: Plain>(&self, guard: MutexGuard<'_, T>, deadline: Option<Instant>) -> bool {
        let state = self.state();
        // Under the mutex: what is notified after it was unlocked is seen.
        let before = state.count.load(Ordering::SeqCst);
        let ends = self.segment.ends();
        drop(guard);
        // SYNC condition
        let is_notified =
            || state.count.load(Ordering::SeqCst) != before || self.segment.ends() != ends;
        let words = || self.segment.words();
        let bell = &state.bell;
        let slept = bell.wait(Wait::Adaptive, deadline, is_notified, words);
        slept.is_ok()
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let processes = self.processes();
        f.debug_struct("Condition")
            .field("processes", &processes)
            .finish()
    }
}
