//! The latest value, read by all processes without waiting.

use std::fmt;
use std::marker::PhantomData;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use tamtam_channel::{CompareAndSetError, WaitTimeoutError};
use tamtam_wait::Wait;

use crate::bell::Bell;
use crate::claim::Lives;
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::plain::Plain;
use crate::published::{Published, Torn, Unpublished};
use crate::segment::Segment;
use crate::wake::Waiters;

/// One for the latest value, and for this many writers less one that are at work at once.
const BUFFERS: usize = 8;

/// What lies in the segment before the buffers.
#[derive(Debug)]
#[repr(C, align(128))]
struct State {
    published: Published<BUFFERS>,
    bell: Bell,
}

const _: () = assert!(size_of::<State>() == 256);

/// A value in shared memory that any process sets, and reads without waiting: `tamtam_channel::Property` between processes.
///
/// There are eight buffers, one of which holds the latest value. A writer fills another one and then makes that the latest, so a process that is stopped or
/// dies while it sets a value holds up no reader and changes nothing. A reader copies; if that very buffer was written over meanwhile, which takes
/// several writers' whole turns, it copies again.
///
/// # Ordering
///
/// A read that begins after a `set` has returned finds its value or a later one. What a thread did before it set a value has happened for each thread that
/// reads that value or learns of its version. All readers see the values in one order.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Property;
///
/// let place = Property::create([10.0, 20.0])?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = Property::<[f64; 2]>::attach(place.memory().try_clone_to_owned()?)?;
/// assert_eq!(there.get(), [10.0, 20.0]);
///
/// std::thread::scope(|threads| {
///     threads.spawn(|| place.set([11.0, 20.0]));
///     assert_eq!(there.wait_changed(0), 1);
/// });
/// assert_eq!(there.get(), [11.0, 20.0]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Property<T> {
    /// Tasks and selecting threads of this process.
    pub(crate) waiters: Waiters,
    pub(crate) segment: Segment,
    wait: Wait,
    value: PhantomData<fn(T) -> T>,
}

impl<T: Plain> Property<T> {
    /// From one buffer to the next: none shares lines with another.
    const STRIDE: usize = size_of::<T>().next_multiple_of(128);
    const BYTES: usize = size_of::<State>() + BUFFERS * Self::STRIDE;

    /// A new property with its first value, whose version is zero.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create(value: T) -> Result<Self, CreateError> {
        let property = Property {
            waiters: Waiters::new(),
            segment: Segment::create(Kind::Property, Shape::of::<T>(1), Self::BYTES)?,
            wait: Wait::Adaptive,
            value: PhantomData,
        };
        property.state().bell.prepare();
        property.write(0, &value);
        Ok(property)
    }

    /// The property that another process has made, by the descriptor of its memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or of another type, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let segment = Segment::attach(memory, Kind::Property, &Shape::of::<T>(1))?;
        if segment.bytes() != Self::BYTES {
            return Err(AttachError::NotOurs);
        }
        let property = Property {
            waiters: Waiters::new(),
            segment,
            wait: Wait::Adaptive,
            value: PhantomData,
        };
        // Those who sleep here are to sleep on the life of this process, too.
        property.state().bell.ring();
        Ok(property)
    }

    /// The same property, waiting in another way in this process.
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

    fn state(&self) -> &State {
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are such a state, and all access to it is
        // atomic.
        unsafe { self.segment.place::<State>(0).as_ref() }
    }

    /// Where those sleep who wait for a change.
    pub(crate) fn bell(&self) -> &Bell {
        &self.state().bell
    }

    fn write(&self, buffer: usize, value: &T) {
        let offset = size_of::<State>() + buffer * Self::STRIDE;
        self.segment.write_value(offset, value);
    }

    // ------------------------------------------------------------------------------- reading

    #[inline]
    fn read(&self) -> (Result<u64, Torn>, T) {
        let mut value = T::new_zeroed();
        let version = self.state().published.read(|buffer| {
            let offset = size_of::<State>() + buffer * Self::STRIDE;
            self.segment.read_bytes(offset, value.as_mut_bytes());
        });
        (version, value)
    }

    /// A copy of the latest value.
    ///
    /// # Blocking
    ///
    /// Never. If 10,000 copies one after another were disturbed, for some seconds, it is given what was copied last, of which parts may be of other values:
    /// a process writes nonsense into the memory all the time, or eight threads and more set values without a pause. [`get_whole`](Property::get_whole) tells
    /// that.
    #[must_use]
    #[inline]
    pub fn get(&self) -> T {
        self.versioned().1
    }

    /// A copy of the latest value, as [`get`](Property::get) gives it, and its version.
    #[must_use]
    #[inline]
    pub fn versioned(&self) -> (u64, T) {
        let (version, value) = self.read();
        (version.unwrap_or_else(|torn| torn.version), value)
    }

    /// A copy of the latest value, and its version, where no part of it is of another value.
    ///
    /// # Errors
    ///
    /// [`NotWholeError`] if there was no such copy among 10,000: see [`get`](Property::get).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// let place = tamtam_ipc::Property::create([10.0, 20.0])?;
    /// place.set([11.0, 21.0]);
    /// assert_eq!(place.get_whole()?, (1, [11.0, 21.0]));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[inline]
    pub fn get_whole(&self) -> Result<(u64, T), NotWholeError> {
        let (version, value) = self.read();
        let version = version.map_err(|_| NotWholeError)?;
        Ok((version, value))
    }

    /// The number of times that another value was set so far.
    #[must_use]
    #[inline]
    pub fn version(&self) -> u64 {
        self.state().published.version()
    }

    // ------------------------------------------------------------------------------- setting

    #[inline]
    fn publish(
        &self,
        expected: Option<u64>,
        longest: Option<Duration>,
        value: &T,
    ) -> Result<u64, Unpublished> {
        let write = |buffer| self.write(buffer, value);
        let state = self.state();
        let version = state
            .published
            .publish(&self.segment, expected, longest, write)?;
        state.bell.ring();
        Ok(version)
    }

    /// Sets the value.
    ///
    /// # Blocking
    ///
    /// Only while seven other threads that live are in the middle of setting it: without end if they are stopped there, or a process has written that they are.
    /// [`set_timeout`](Property::set_timeout) ends in its time.
    pub fn set(&self, value: T) {
        // Without an end to the wait it is always published.
        let _ = self.publish(None, None, &value);
    }

    /// As [`set`](Property::set), where the wait for a place is no longer than this. The value is set at once if there is one.
    ///
    /// # Errors
    ///
    /// [`SetTimeoutError`] with the value if there was none in time; the property is as before.
    pub fn set_timeout(&self, value: T, timeout: Duration) -> Result<(), SetTimeoutError<T>> {
        match self.publish(None, Some(timeout), &value) {
            Ok(_) => Ok(()),
            Err(_) => Err(SetTimeoutError(value)),
        }
    }

    /// Sets what `change` makes of the latest value, and gives the new version. If another value is set meanwhile, `change` is called again
    /// with that.
    ///
    /// # Blocking
    ///
    /// As [`set`](Property::set).
    ///
    /// # Panics
    ///
    /// If `change` panics; the property is as before.
    pub fn update(&self, mut change: impl FnMut(T) -> T) -> u64 {
        loop {
            let (version, value) = self.versioned();
            if let Ok(version) = self.compare_and_set(version, change(value)) {
                return version;
            }
        }
    }

    /// Sets the value if the version is still this one, and gives the new version.
    ///
    /// # Blocking
    ///
    /// As [`set`](Property::set); [`compare_and_set_timeout`](Property::compare_and_set_timeout) ends in its time.
    ///
    /// # Errors
    ///
    /// [`CompareAndSetError`] with the version that there is, and the value.
    pub fn compare_and_set(&self, version: u64, value: T) -> Result<u64, CompareAndSetError<T>> {
        match self.publish(Some(version), None, &value) {
            Ok(version) => Ok(version),
            Err(Unpublished::Changed(version)) => Err(CompareAndSetError { version, value }),
            Err(Unpublished::Crowded) => unreachable!("the wait has no end"),
        }
    }

    /// As [`compare_and_set`](Property::compare_and_set), where the wait for a place is no longer than this.
    ///
    /// # Errors
    ///
    /// [`CompareAndSetTimeoutError`] with the value.
    pub fn compare_and_set_timeout(
        &self,
        version: u64,
        value: T,
        timeout: Duration,
    ) -> Result<u64, CompareAndSetTimeoutError<T>> {
        match self.publish(Some(version), Some(timeout), &value) {
            Ok(version) => Ok(version),
            Err(Unpublished::Changed(version)) => {
                Err(CompareAndSetTimeoutError::Changed(CompareAndSetError {
                    version,
                    value,
                }))
            }
            Err(Unpublished::Crowded) => {
                Err(CompareAndSetTimeoutError::Timeout(SetTimeoutError(value)))
            }
        }
    }

    // ------------------------------------------------------------------------------- waiting

    /// Waits until the version is another one than `since`, and gives it.
    ///
    /// # Blocking
    ///
    /// Until then: without end if no process sets a value any more.
    pub fn wait_changed(&self, since: u64) -> u64 {
        loop {
            if let Ok(version) = self.wait_until(since, None) {
                return version;
            }
        }
    }

    /// As [`wait_changed`](Property::wait_changed), for so long at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if it did not change in time.
    pub fn wait_changed_timeout(
        &self,
        since: u64,
        timeout: Duration,
    ) -> Result<u64, WaitTimeoutError> {
        // A time beyond the clock's end is none.
        self.wait_until(since, Instant::now().checked_add(timeout))
    }

    /// As [`wait_changed`](Property::wait_changed), until then at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if it did not change in time.
    pub fn wait_changed_deadline(
        &self,
        since: u64,
        deadline: Instant,
    ) -> Result<u64, WaitTimeoutError> {
        self.wait_until(since, Some(deadline))
    }

    fn wait_until(&self, since: u64, deadline: Option<Instant>) -> Result<u64, WaitTimeoutError> {
        let mut version = since;
        let is_changed = || {
            version = self.version();
            version != since
        };
        let words = || self.segment.words();
        let bell = &self.state().bell;
        let waited = bell.wait(self.wait, deadline, is_changed, words);
        waited.map(|()| version).map_err(|_| WaitTimeoutError)
    }

    /// How many processes have it now, this one included.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.segment.processes()
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for Property<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (version, value) = self.versioned();
        f.debug_struct("Property")
            .field("value", &value)
            .field("version", &version)
            .finish()
    }
}

/// The error of [`Property::set_timeout`]: seven other threads were in the middle of setting the property until the time was over, or a process has written that
/// they were. Holds the value.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::time::Duration;
/// use tamtam_ipc::{Property, SetTimeoutError};
///
/// let speed = Property::create(1)?;
/// if let Err(SetTimeoutError(value)) = speed.set_timeout(2, Duration::from_secs(1)) {
///     println!("{value} was not set: a process that has the property is stopped, or lies");
/// }
/// # assert_eq!(speed.get(), 2);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("other processes have been in the middle of setting the property until the time was over")]
pub struct SetTimeoutError<T>(pub T);

impl<T> SetTimeoutError<T> {
    /// The value that was not set.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SetTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SetTimeoutError(..)")
    }
}

/// The error of [`Property::compare_and_set_timeout`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::time::Duration;
/// use tamtam_ipc::{CompareAndSetTimeoutError, Property};
///
/// let speed = Property::create(1)?;
/// speed.set(2);
/// let error = speed.compare_and_set_timeout(0, 3, Duration::from_secs(1));
/// let Err(CompareAndSetTimeoutError::Changed(error)) = error else {
///     panic!("it was set meanwhile");
/// };
/// assert_eq!((error.version, error.value), (1, 3));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareAndSetTimeoutError<T> {
    /// The property has another version.
    #[error("{0}")]
    Changed(CompareAndSetError<T>),
    /// There was no place for the value in time.
    #[error("{0}")]
    Timeout(SetTimeoutError<T>),
}

/// The error of [`Property::get_whole`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{NotWholeError, Property};
///
/// let speed = Property::create(1)?;
/// match speed.get_whole() {
///     Ok((version, value)) => assert_eq!((version, value), (0, 1)),
///     Err(NotWholeError) => println!("it is set faster than it can be read"),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no copy of the property's value was whole: it is set again and again while it is copied, or a process writes nonsense"
)]
pub struct NotWholeError;
