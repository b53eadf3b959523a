//! One value that processes share, for one thread at a time.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::arena::{Arena, ArenaPlace};
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::home::Allocation;
use crate::lock::{Lock, Taken};
use crate::plain::Plain;
use crate::segment::Segment;

/// The number of this thread, as the system knows it.
fn own_thread() -> u32 {
    thread_local! {
        static OWN: Cell<u32> = const { Cell::new(0) };
    }
    OWN.with(|own| {
        if own.get() == 0 {
            own.set(rustix::thread::gettid().as_raw_pid().cast_unsigned());
        }
        own.get()
    })
}

/// A clock that all processes have in common, in nanoseconds. It goes by ticks of some milliseconds, and costs a quarter of one that does not.
fn clock() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Who holds a [`Mutex`], as far as that process has said.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Mutex;
///
/// let count = Mutex::create(0_u64)?;
/// assert_eq!(count.holder(), None);
/// let guard = count.lock()?;
/// let holder = count.holder().unwrap();
/// assert_eq!(holder.process, std::process::id());
/// println!("{holder}"); // process 4711, thread 4712 has held it for 0.0 s
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The number of the process, as it knows itself: in a container that is another one than outside.
    pub process: u32,
    /// The number of the thread; `None` if it has taken the lock this moment and not said so yet.
    pub thread: Option<u32>,
    /// For how long it has held it, to some milliseconds.
    pub held_for: Duration,
}

impl Holder {
    pub(crate) fn of(lock: &Lock, segment: &Segment) -> Option<Self> {
        let held = lock.held(segment)?;
        let is_signed = held.thread != 0;
        let held_for = if is_signed {
            clock().saturating_sub(held.since)
        } else {
            0
        };
        Some(Holder {
            process: segment.process_of(held.claim),
            thread: is_signed.then_some(held.thread),
            held_for: Duration::from_nanos(held_for),
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)?;
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        write!(f, " has held it for {:.1} s", self.held_for.as_secs_f64())
    }
}

/// A value in shared memory that one thread at a time reads and changes, of all processes that have it.
///
/// It is free when its holder dies, however that happens: the kernel marks the death, and a thread that waits is woken by it. The next one to lock
/// gets a guard that [is abandoned](MutexGuard::is_abandoned), since the value may be half written, and so does each one after, until one of
/// them has put it in order and [says so](MutexGuard::mark_consistent). A thread that panics while it holds the guard unlocks it, and leaves it abandoned,
/// too. (The standard library's mutex calls that *poisoned*; this one says it by the guard instead of an error, since there is something to be done.)
///
/// The value is copied in and out ([`get`](MutexGuard::get), [`set`](MutexGuard::set), [`update`](MutexGuard::update)). There is no `&mut T`: a
/// process that does not keep to the lock could write there at any time. Such a process can also take the lock from its holder, or keep it for ever; more
/// it cannot do.
///
/// Which thread comes next is not said: one that comes by takes a free lock before those that were woken.
///
/// # Ordering
///
/// What a thread did before it unlocked has happened for the one that locks next.
///
/// # Blocking
///
/// [`lock`](Mutex::lock) waits without end while the holder lives: also if that was stopped, as by `SIGSTOP`. [`lock_timeout`](Mutex::lock_timeout) tells
/// who it is. All threads that wait are woken at each unlock, and one gets it: the one that is woken alone could die, or be stopped, at that
/// moment.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Mutex;
///
/// let count = Mutex::create(5_u64)?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = Mutex::<u64>::attach(count.memory().try_clone_to_owned()?)?;
///
/// there.lock()?.update(|count| count + 1);
/// assert_eq!(count.lock()?.get(), 6);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Mutex<T> {
    allocation: Allocation,
    value: PhantomData<fn(T) -> T>,
}

/// Where the value lies.
const VALUE: usize = size_of::<Lock>();

impl<T: Plain> Mutex<T> {
    fn created(arena: Option<&Arena>, value: T) -> Result<Self, CreateError> {
        let bytes = VALUE + size_of::<T>();
        let mutex = Mutex {
            allocation: Allocation::create(arena, Kind::Mutex, Shape::of::<T>(1), bytes)?,
            value: PhantomData,
        };
        mutex.lock_word().prepare();
        mutex.write(value);
        Ok(mutex)
    }

    fn attached(allocation: Allocation) -> Result<Self, AttachError> {
        if allocation.bytes() != VALUE + size_of::<T>() {
            return Err(AttachError::NotOurs);
        }
        let mutex = Mutex {
            allocation,
            value: PhantomData,
        };
        mutex.lock_word().greet();
        Ok(mutex)
    }

    /// A new mutex with its value, in memory of its own. [`Arena::mutex`] makes one beside other things.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create(value: T) -> Result<Self, CreateError> {
        Self::created(None, value)
    }

    /// The mutex that another process has made, by the descriptor of its memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or of another type, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        Self::attached(Allocation::attach(memory, Kind::Mutex, &Shape::of::<T>(1))?)
    }

    pub(crate) fn attach_at(arena: &Arena, place: ArenaPlace) -> Result<Self, AttachError> {
        let shape = Shape::of::<T>(1);
        Self::attached(Allocation::attach_at(arena, place, Kind::Mutex, &shape)?)
    }

    /// Where it lies in its [`Arena`]; none if it has memory of its own.
    #[must_use]
    pub fn place(&self) -> Option<ArenaPlace> {
        self.allocation.home().place()
    }

    pub(crate) fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// The memory, for another process; that of its arena if it lies in one.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.allocation.memory()
    }

    #[inline]
    fn segment(&self) -> &Segment {
        self.allocation.segment()
    }

    #[inline]
    fn read(&self) -> T {
        let value = self.allocation.begin() + VALUE;
        self.segment().read_value(value)
    }

    #[inline]
    fn write(&self, value: T) {
        let place = self.allocation.begin() + VALUE;
        self.segment().write_value(place, &value);
    }

    fn guard(&self, taken: Taken, thread: u32) -> MutexGuard<'_, T> {
        self.lock_word().sign(thread, clock());
        MutexGuard {
            mutex: self,
            is_abandoned: taken.is_abandoned,
            panics: std::thread::panicking(),
            on_its_thread: PhantomData,
        }
    }

    /// Waits until no other thread holds it.
    ///
    /// # Blocking
    ///
    /// Until the holder unlocks it or dies.
    ///
    /// # Errors
    ///
    /// [`LockError`] if this thread holds it already, by this very handle.
    #[inline]
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, LockError> {
        match self.lock_until(None) {
            Ok(guard) => Ok(guard),
            Err(_) => Err(LockError),
        }
    }

    /// As [`lock`](Mutex::lock), for so long at most.
    ///
    /// # Errors
    ///
    /// [`LockTimeoutError`] with the holder's name if the time is over, or if this thread holds it already.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use std::time::Duration;
    /// use tamtam_ipc::Mutex;
    ///
    /// let count = Mutex::create(5_u64)?;
    /// let there = Mutex::<u64>::attach(count.memory().try_clone_to_owned()?)?;
    /// let guard = count.lock()?;
    /// let error = there.lock_timeout(Duration::from_millis(20)).unwrap_err();
    /// assert_eq!(error.holder().unwrap().process, std::process::id());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[inline]
    pub fn lock_timeout(&self, timeout: Duration) -> Result<MutexGuard<'_, T>, LockTimeoutError> {
        // A time beyond the clock's end is none.
        self.lock_until(Instant::now().checked_add(timeout))
    }

    /// As [`lock`](Mutex::lock), until then at most.
    ///
    /// # Errors
    ///
    /// [`LockTimeoutError`] with the holder's name if the time is over, or if this thread holds it already.
    #[inline]
    pub fn lock_deadline(&self, deadline: Instant) -> Result<MutexGuard<'_, T>, LockTimeoutError> {
        self.lock_until(Some(deadline))
    }

    fn lock_until(&self, deadline: Option<Instant>) -> Result<MutexGuard<'_, T>, LockTimeoutError> {
        let lock = self.lock_word();
        let thread = own_thread();
        if let Some(taken) = lock.try_take(self.segment()) {
            return Ok(self.guard(taken, thread));
        }
        if lock.is_held_by(self.segment(), thread) {
            return Err(LockTimeoutError::Recursive);
        }
        match lock.take(self.segment(), deadline) {
            Ok(taken) => Ok(self.guard(taken, thread)),
            Err(_) => {
                let holder = self.holder();
                Err(LockTimeoutError::Timeout { holder })
            }
        }
    }

    /// Locks it if no other thread holds it now.
    ///
    /// # Errors
    ///
    /// [`TryLockError`] if one does, or this one itself.
    #[inline]
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError> {
        let lock = self.lock_word();
        let thread = own_thread();
        match lock.try_take(self.segment()) {
            Some(taken) => Ok(self.guard(taken, thread)),
            None if lock.is_held_by(self.segment(), thread) => Err(TryLockError::Recursive),
            None => {
                let holder = self.holder();
                Err(TryLockError::Held { holder })
            }
        }
    }

    /// Who holds it now; `None` if it is free, or its holder is dead. It may be another one before this returns.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        Holder::of(self.lock_word(), self.segment())
    }

    /// How many processes have its memory now, this one included: in an arena all that have the arena. One that has [`attach`](Mutex::attach)ed twice counts twice.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.segment().processes()
    }
}

impl<T> Mutex<T> {
    #[inline]
    fn lock_word(&self) -> &Lock {
        let place = self.allocation.begin();
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are a lock, and all access to it is atomic.
        unsafe { self.allocation.segment().place::<Lock>(place).as_ref() }
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let holder = Holder::of(self.lock_word(), self.allocation.segment());
        f.debug_struct("Mutex").field("holder", &holder).finish()
    }
}

impl Arena {
    /// Makes a [`Mutex`] in the arena.
    ///
    /// # Errors
    ///
    /// [`CreateError::ArenaFull`] if there is no room for it, and [`CreateError::NotTheMaker`] if another process has made the arena.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::Arena;
    ///
    /// let arena = Arena::create(1 << 16)?;
    /// let count = arena.mutex(5_u64)?;
    /// let place = count.place().unwrap();
    /// // The arena's descriptor and the place go to another process; here they stay in this one.
    /// let there = Arena::attach(arena.memory().try_clone_to_owned()?)?;
    /// there.mutex_at::<u64>(place)?.lock()?.update(|count| count + 1);
    /// assert_eq!(count.lock()?.get(), 6);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    pub fn mutex<T: Plain>(&self, value: T) -> Result<Mutex<T>, CreateError> {
        Mutex::created(Some(self), value)
    }

    /// The mutex at a place, which another process has [said](Mutex::place).
    ///
    /// # Errors
    ///
    /// [`AttachError`] if there is no such mutex, or none any more.
    pub fn mutex_at<T: Plain>(&self, place: ArenaPlace) -> Result<Mutex<T>, AttachError> {
        Mutex::attach_at(self, place)
    }
}

/// A [`Mutex`] that this thread has locked, until it is dropped.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Mutex;
///
/// let place = Mutex::create([3_i32, 4])?;
/// let mut guard = place.lock()?;
/// if guard.is_abandoned() {
///     // A process has died here; what it has left is not relied on.
///     guard.set([0, 0]);
///     guard.mark_consistent();
/// }
/// guard.update(|[x, y]| [x + 1, y]);
/// assert_eq!(guard.get(), [4, 4]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// There is no safe way to a reference to the value, which another process could change under it:
///
/// ```compile_fail,E0614
/// let count = tamtam_ipc::Mutex::create(5_u64).unwrap();
/// let guard = count.lock().unwrap();
/// let value: &u64 = &*guard;
/// ```
///
/// ```compile_fail,E0277
/// fn leads_to_the_value<T: AsRef<u64>>() {}
/// leads_to_the_value::<tamtam_ipc::MutexGuard<'static, u64>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_borrowed_as<T: std::borrow::Borrow<u64>>() {}
/// is_borrowed_as::<tamtam_ipc::MutexGuard<'static, u64>>();
/// ```
#[must_use = "the mutex is unlocked when the guard is dropped"]
pub struct MutexGuard<'a, T: Plain> {
    mutex: &'a Mutex<T>,
    is_abandoned: bool,
    /// The thread was panicking when it took it, so a panic is nothing that happened since.
    panics: bool,
    /// Its thread is named as the holder.
    on_its_thread: PhantomData<*const ()>,
}

// SAFETY: by reference it reads the value under the lock, which other threads may do as well; it is freed by its own thread.
unsafe impl<T: Plain + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: Plain> MutexGuard<'a, T> {
    /// A copy of the value.
    #[must_use]
    #[inline]
    pub fn get(&self) -> T {
        self.mutex.read()
    }

    /// Writes another value.
    #[inline]
    pub fn set(&mut self, value: T) {
        self.mutex.write(value);
    }

    /// Writes what `change` makes of the value, and gives that back.
    ///
    /// # Panics
    ///
    /// If `change` panics; the value is as before, and the mutex is abandoned.
    #[inline]
    pub fn update(&mut self, change: impl FnOnce(T) -> T) -> T {
        let value = change(self.get());
        self.set(value);
        value
    }

    /// Whether a holder has died or panicked, so that the value may be half written or half thought through; until it is
    /// [put in order](MutexGuard::mark_consistent).
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// The value is in order, whatever has happened before.
    pub fn mark_consistent(&mut self) {
        self.is_abandoned = false;
    }

    pub(crate) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }
}

impl<T: Plain> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        let panics = !self.panics && std::thread::panicking();
        let is_abandoned = self.is_abandoned || panics;
        let lock = self.mutex.lock_word();
        lock.release(self.mutex.segment(), is_abandoned);
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MutexGuard")
            .field("value", &self.get())
            .field("is_abandoned", &self.is_abandoned)
            .finish()
    }
}

/// The error of [`Mutex::lock`]: this thread holds the mutex already, and would wait for itself.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// let count = tamtam_ipc::Mutex::create(5_u64)?;
/// let guard = count.lock()?;
/// let error = count.lock().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "this thread holds the mutex already, and would wait for itself"
/// );
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this thread holds the mutex already, and would wait for itself")]
pub struct LockError;

/// The error of [`Mutex::try_lock`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Mutex, TryLockError};
///
/// let count = Mutex::create(5_u64)?;
/// let guard = count.lock()?;
/// assert!(matches!(count.try_lock(), Err(TryLockError::Recursive)));
/// std::thread::scope(|threads| {
///     threads.spawn(|| assert!(matches!(count.try_lock(), Err(TryLockError::Held { .. }))));
/// });
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TryLockError {
    /// Another thread holds it.
    #[error("the mutex is locked{}", with(holder))]
    Held {
        /// Which; `None` if it has unlocked it meanwhile.
        holder: Option<Holder>,
    },
    /// This thread holds it already.
    #[error("this thread holds the mutex already, and would wait for itself")]
    Recursive,
}

/// The error of [`Mutex::lock_timeout`] and of what waits likewise.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_ipc::{Holder, LockTimeoutError};
///
/// let holder = Holder {
///     process: 4711,
///     thread: Some(4712),
///     held_for: Duration::from_millis(3_200),
/// };
/// let error = LockTimeoutError::Timeout { holder: Some(holder) };
/// assert_eq!(
///     error.to_string(),
///     "the mutex was not free in time: process 4711, thread 4712 has held it for 3.2 s"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LockTimeoutError {
    /// Another thread held it until the time was over.
    #[error("the mutex was not free in time{}", with(holder))]
    Timeout {
        /// Which; `None` if it has unlocked it meanwhile.
        holder: Option<Holder>,
    },
    /// This thread holds it already.
    #[error("this thread holds the mutex already, and would wait for itself")]
    Recursive,
}

impl LockTimeoutError {
    /// Who held it.
    #[must_use]
    pub fn holder(&self) -> Option<Holder> {
        match self {
            LockTimeoutError::Timeout { holder } => *holder,
            LockTimeoutError::Recursive => None,
        }
    }
}

fn with(holder: &Option<Holder>) -> String {
    holder.map_or_else(String::new, |holder| format!(": {holder}"))
}

// Miri has no memory of several processes, and says of no thread where it runs.
#[cfg(all(test, target_os = "linux", not(tamtam_loom), not(miri)))]
mod tests {
    use std::sync::mpsc;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    use super::*;

    #[test]
    fn a_thread_that_has_freed_a_lock_does_not_take_itself_for_its_holder() {
        let stay_on = |processor| {
            let mut only = CpuSet::new();
            only.set(processor);
            sched_setaffinity(None, &only).unwrap();
        };
        let allowed = sched_getaffinity(None).unwrap();
        let mut processors = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor));
        let (Some(here), Some(there)) = (processors.next(), processors.next()) else {
            // Where there is one processor they share it.
            return;
        };
        let mutex = Mutex::<u64>::create(0).unwrap();
        let (turns, turn) = mpsc::channel::<()>();
        let (held, is_held) = mpsc::channel();
        std::thread::scope(|threads| {
            let mutex = &mutex;
            threads.spawn(move || {
                stay_on(there);
                turn.recv().unwrap();
                let _guard = mutex.lock().unwrap();
                held.send(()).unwrap();
                // It was looked at.
                turn.recv().unwrap();
            });
            stay_on(here);
            drop(mutex.lock().unwrap());
            turns.send(()).unwrap();
            is_held.recv().unwrap();
            let lock = format!("{:?}", mutex.lock_word());
            turns.send(()).unwrap();
            sched_setaffinity(None, &allowed).unwrap();
            assert!(lock.contains("peer_on_this_core: false"), "{lock}");
        });
    }
}
