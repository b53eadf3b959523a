//! One place through which values go from process to process.

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use tamtam_channel::{PutTimeoutError, TakeTimeoutError, TryPutError};
use tamtam_wait::Wait;

use crate::error::{AttachError, CreateError};
use crate::exchange::{Access, Exchange};
use crate::header::{Kind, Shape};
use crate::plain::Plain;
use crate::segment::Segment;
use crate::wake::Waiters;

/// One place in shared memory for one value, which any thread of any process that has it puts in or takes out: `tamtam_channel::Slot` between
/// processes.
///
/// - **Full**: a `put` waits until it is empty.
/// - **Empty**: a `take` waits until it is full.
///
/// There is no end to it: a slot whose other processes are gone is empty, or full, and [`processes`](Slot::processes) tells. A process that dies while it
/// puts a value has put none; one that dies while it takes one leaves it for another.
///
/// # Ordering
///
/// What a thread did before it put a value has happened for the thread that takes it.
///
/// # Blocking
///
/// The value is copied by the thread that puts or takes it. If that is stopped in the middle of the copy, as by `SIGSTOP`, then the others wait for it;
/// those that have a timeout, so long.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Slot;
///
/// let slot = Slot::<[u32; 2]>::create()?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = Slot::<[u32; 2]>::attach(slot.memory().try_clone_to_owned()?)?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| (1..=3).for_each(|number| there.put([number, number * number])));
///     assert_eq!(slot.take(), [1, 1]);
///     assert_eq!(slot.take(), [2, 4]);
///     assert_eq!(slot.take(), [3, 9]);
/// });
/// assert_eq!(slot.try_take(), None);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Slot<T> {
    /// Tasks and selecting threads of this process that wait to put a value.
    pub(crate) putting: Waiters,
    /// Tasks and selecting threads of this process that wait to take one.
    pub(crate) taking: Waiters,
    pub(crate) segment: Segment,
    wait: Wait,
    value: PhantomData<fn(T) -> T>,
}

/// Where the value lies.
const VALUE: usize = size_of::<Exchange>();

impl<T: Plain> Slot<T> {
    /// A new slot, empty.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create() -> Result<Self, CreateError> {
        let bytes = VALUE + size_of::<T>();
        let slot = Slot {
            putting: Waiters::new(),
            taking: Waiters::new(),
            segment: Segment::create(Kind::Slot, Shape::of::<T>(1), bytes)?,
            wait: Wait::Adaptive,
            value: PhantomData,
        };
        slot.exchange().prepare();
        Ok(slot)
    }

    /// The slot that another process has made, by the descriptor of its memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or of another type, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let segment = Segment::attach(memory, Kind::Slot, &Shape::of::<T>(1))?;
        if segment.bytes() != VALUE + size_of::<T>() {
            return Err(AttachError::NotOurs);
        }
        let slot = Slot {
            putting: Waiters::new(),
            taking: Waiters::new(),
            segment,
            wait: Wait::Adaptive,
            value: PhantomData,
        };
        slot.exchange().greet();
        Ok(slot)
    }

    /// The same slot, waiting in another way in this process.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.segment.memory()
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are an exchange, and all access to it is
        // atomic.
        unsafe { self.segment.place::<Exchange>(0).as_ref() }
    }

    /// Only for the one that has claimed the place.
    fn write(&self, value: &T) {
        self.segment.write_value(VALUE, value);
        self.exchange().settle(Access::Put, &self.segment);
    }

    /// Only for the one that has claimed the place.
    fn read(&self) -> T {
        let value = self.segment.read_value(VALUE);
        self.exchange().settle(Access::Take, &self.segment);
        value
    }

    /// Puts the value in if the slot is empty now.
    ///
    /// # Errors
    ///
    /// [`TryPutError`] with the value if it is full, or another thread is at work there.
    pub fn try_put(&self, value: T) -> Result<(), TryPutError<T>> {
        if !self.exchange().try_claim(Access::Put, &self.segment) {
            return Err(TryPutError(value));
        }
        self.write(&value);
        Ok(())
    }

    /// Waits until the slot is empty, and puts the value in.
    ///
    /// # Blocking
    ///
    /// Until then: without end if no thread takes what is there.
    pub fn put(&self, value: T) {
        while !self.put_until(&value, None) {}
    }

    /// As [`put`](Slot::put), for so long at most.
    ///
    /// # Errors
    ///
    /// [`PutTimeoutError`] with the value if the slot was not empty in time.
    pub fn put_timeout(&self, value: T, timeout: Duration) -> Result<(), PutTimeoutError<T>> {
        // A time beyond the clock's end is none.
        match self.put_until(&value, Instant::now().checked_add(timeout)) {
            true => Ok(()),
            false => Err(PutTimeoutError(value)),
        }
    }

    /// As [`put`](Slot::put), until then at most.
    ///
    /// # Errors
    ///
    /// [`PutTimeoutError`] with the value if the slot was not empty in time.
    pub fn put_deadline(&self, value: T, deadline: Instant) -> Result<(), PutTimeoutError<T>> {
        match self.put_until(&value, Some(deadline)) {
            true => Ok(()),
            false => Err(PutTimeoutError(value)),
        }
    }

    fn put_until(&self, value: &T, deadline: Option<Instant>) -> bool {
        let exchange = self.exchange();
        let claimed = exchange.claim(Access::Put, &self.segment, self.wait, deadline);
        if claimed.is_ok() {
            self.write(value);
        }
        claimed.is_ok()
    }

    /// Takes the value out if one is there now.
    #[must_use = "the value is not in the slot any more"]
    pub fn try_take(&self) -> Option<T> {
        let is_claimed = self.exchange().try_claim(Access::Take, &self.segment);
        is_claimed.then(|| self.read())
    }

    /// Waits until a value is there, and takes it out.
    ///
    /// # Blocking
    ///
    /// Until then: without end if no thread puts one in.
    pub fn take(&self) -> T {
        loop {
            if let Some(value) = self.take_until(None) {
                return value;
            }
        }
    }

    /// As [`take`](Slot::take), for so long at most.
    ///
    /// # Errors
    ///
    /// [`TakeTimeoutError`] if no value was there in time.
    pub fn take_timeout(&self, timeout: Duration) -> Result<T, TakeTimeoutError> {
        // A time beyond the clock's end is none.
        let value = self.take_until(Instant::now().checked_add(timeout));
        value.ok_or(TakeTimeoutError)
    }

    /// As [`take`](Slot::take), until then at most.
    ///
    /// # Errors
    ///
    /// [`TakeTimeoutError`] if no value was there in time.
    pub fn take_deadline(&self, deadline: Instant) -> Result<T, TakeTimeoutError> {
        self.take_until(Some(deadline)).ok_or(TakeTimeoutError)
    }

    fn take_until(&self, deadline: Option<Instant>) -> Option<T> {
        let exchange = self.exchange();
        let claimed = exchange.claim(Access::Take, &self.segment, self.wait, deadline);
        claimed.is_ok().then(|| self.read())
    }

    /// Whether a value is there now.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.exchange().is_full(&self.segment)
    }

    /// Whether no value is there now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_full()
    }

    /// How many processes have it now, this one included.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.segment.processes()
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}
