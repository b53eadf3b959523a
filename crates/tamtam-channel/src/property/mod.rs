//! The property: what its users see, and its waiters. How reads stay cheap is in [`published`], and
//! why it is right in README.md.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::Wait;
use tamtam_wait::seam::Arc;

use crate::error::{CompareAndSetError, WaitTimeoutError};

mod changed;
mod hazard;
mod pace;
mod properties;
mod published;

#[cfg(all(test, tamtam_loom))]
mod loom_tests;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

pub use changed::Changed;
pub use properties::Properties;

use hazard::Registry;
use pace::Pace;
use published::{Published, Refused, Replaced};

/// The latest value, for any number of readers.
///
/// A property always holds a value. Writers [set](Property::set) it, readers [get](Property::get)
/// it, [look](Property::read) at it or keep a [snapshot](Property::snapshot), as often as they like and
/// each at a pace of its own; who is slow misses values and never gets an old one. Share the property
/// by reference or in an `Arc`. Where each value must arrive, use a [channel](crate::unbounded) or a
/// [slot](crate::Slot).
///
/// Each value has a number, its [version](Property::version): 0 for the first, one more at each set.
/// Who knows the version that he has seen last can [wait](Property::wait_changed) until there is
/// another one, alone or in [`select!`](crate::select).
///
/// # What it costs
///
/// Readers never wait, and writers only for each other. A read takes 2 to 3 ns while the
/// property is set at most once a millisecond or so, and about 20 while it is set more often; with one
/// writer at full speed on another core 40 on average, new values included.
/// In return a writer that comes after a pause makes the processors on which other threads of the
/// program run execute a barrier: up to 13 µs on Linux, 0.15 µs if there are none. A writer that
/// follows soon after another one takes 0.08 µs, or 0.8 while others read at full speed. Elsewhere than on Linux there is
/// no such barrier, and all reads cost the same.
///
/// A value that was replaced is dropped as soon as it is not read any more: by the writer, or by the
/// last of those who were reading it. Never later, and never under a lock.
///
/// A property is 256 bytes; its value lies apart from it, in an [`Arc`](std::sync::Arc). Each thread
/// that reads properties has 128 bytes for that, whatever their number, which a later thread uses again.
/// The first property (or large [`Latch`](crate::Latch)) of a process that runs several threads
/// already takes 7 to 12 ms longer to make on Linux, where the process has to be registered for
/// `membarrier(2)`.
///
/// # Ordering
///
/// A read that begins after a `set` has returned finds its value or a later one. What a thread did
/// before it set a value is visible to each thread that reads that value or learns of its version. All readers
/// see the values in one order.
///
/// # Examples
///
/// ```
/// use tamtam_channel::Property;
///
/// let speed = Property::new(10);
/// std::thread::scope(|threads| {
///     threads.spawn(|| speed.set(20));
///     let seen = speed.get();
///     assert!(seen == 10 || seen == 20);
/// });
/// assert_eq!(speed.get(), 20);
/// ```
pub struct Property<T> {
    published: Published<T>,
}

// No user code runs while a property is half changed. A reader sees a `T` by reference.
impl<T: RefUnwindSafe> UnwindSafe for Property<T> {}
impl<T: RefUnwindSafe> RefUnwindSafe for Property<T> {}

impl<T> Property<T> {
    /// A property with its first value.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self::with(value, Pace::new(), Registry::new())
    }

    fn with(value: T, pace: Pace, registry: Registry) -> Self {
        Property {
            published: Published::new(value, pace, registry),
        }
    }

    /// The same property, waiting in another way.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.published.set_wait(wait);
        self
    }

    // ------------------------------------------------------------------------------- reading

    /// A copy of the latest value.
    ///
    /// # Blocking
    ///
    /// Never. If the value is replaced while the read begins, it begins again.
    ///
    /// # Panics
    ///
    /// If `clone` panics; the property is as before.
    #[inline]
    pub fn get(&self) -> T
    where
        T: Clone,
    {
        self.read(T::clone)
    }

    /// Looks at the latest value in place and returns what `look` makes of it.
    ///
    /// The value stays as it is while `look` runs, also if another one is set meanwhile; it is
    /// dropped after that. Reads may nest, and `look` may also set this very property.
    ///
    /// # Blocking
    ///
    /// Never. If the value is replaced while the read begins, it begins again.
    ///
    /// # Panics
    ///
    /// If `look` panics; the property is as before.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::Property;
    ///
    /// let names = Property::new(vec!["Anna", "Berta"]);
    /// assert_eq!(names.read(|names| names.len()), 2);
    /// ```
    #[inline]
    pub fn read<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let value = self.published.protect();
        look(&value)
    }

    /// The latest value, to keep: it lives as long as the snapshot does, whatever is set meanwhile.
    ///
    /// # Blocking
    ///
    /// Never, as [`read`](Property::read).
    #[inline]
    #[must_use]
    pub fn snapshot(&self) -> Arc<T> {
        self.published.protect().share()
    }

    /// The latest value with a version: the value is that version or a later one.
    ///
    /// So [`wait_changed`](Property::wait_changed) with this version may return once too often, and
    /// never once too seldom; and if [`compare_and_set`](Property::compare_and_set) accepts this
    /// version, then the value was that version's.
    ///
    /// # Blocking
    ///
    /// Never, as [`read`](Property::read).
    #[inline]
    #[must_use]
    pub fn versioned(&self) -> (u64, Arc<T>) {
        let version = self.version();
        (version, self.snapshot())
    }

    /// The number of times that another value was set so far. A value that is read afterwards is
    /// that version or a later one.
    #[inline]
    #[must_use]
    pub fn version(&self) -> u64 {
        self.published.version()
    }

    // ------------------------------------------------------------------------------- setting

    /// Sets the latest value. Threads and tasks that wait for a change are woken.
    ///
    /// The old value is dropped by this call, or by the last reader that still looks at it.
    ///
    /// # Blocking
    ///
    /// Never for readers; briefly while another thread sets the same property, or another property
    /// whose old value is just being read.
    ///
    /// # Panics
    ///
    /// If dropping the old value panics; the new one is set then.
    #[inline]
    pub fn set(&self, value: T) {
        drop(self.replace(value));
    }

    /// As [`set`](Property::set), and returns the old value.
    ///
    /// Readers may still be looking at it, or keep snapshots of it.
    pub fn replace(&self, value: T) -> Arc<T> {
        match self.publish(Arc::new(value), None) {
            Ok(replaced) => replaced.old,
            Err(_) => unreachable!("no version was expected"),
        }
    }

    /// Sets what `change` makes of the latest value, and returns the version that begins with it.
    ///
    /// If another thread sets a value in between, `change` is asked again, with that value. It runs
    /// under no lock, and may use this property.
    ///
    /// # Blocking
    ///
    /// As [`set`](Property::set). When many threads update one property, one of them succeeds at each
    /// turn, and the others have computed in vain.
    ///
    /// # Panics
    ///
    /// If `change` panics; the property is as before.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::Property;
    ///
    /// let count = Property::new(0);
    /// std::thread::scope(|threads| {
    ///     for _ in 0..4 {
    ///         threads.spawn(|| count.update(|count| count + 1));
    ///     }
    /// });
    /// assert_eq!(count.get(), 4);
    /// ```
    pub fn update(&self, mut change: impl FnMut(&T) -> T) -> u64 {
        loop {
            let (version, value) = self.versioned();
            let new = Arc::new(change(&value));
            // One share less for the old value to wait for.
            drop(value);
            match self.publish(new, Some(version)) {
                Ok(replaced) => return replaced.version,
                Err(refused) => drop(refused),
            }
        }
    }

    /// Sets a value if the latest one has this version, and returns the version that begins with it.
    ///
    /// # Blocking
    ///
    /// As [`set`](Property::set).
    ///
    /// # Errors
    ///
    /// [`CompareAndSetError`] with the value and the version that was found, if that is another one.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::Property;
    ///
    /// let owner = Property::new("none");
    /// assert_eq!(owner.compare_and_set(0, "Anna"), Ok(1));
    /// let error = owner.compare_and_set(0, "Berta").unwrap_err();
    /// assert_eq!((error.version, error.value), (1, "Berta"));
    /// ```
    pub fn compare_and_set(&self, version: u64, value: T) -> Result<u64, CompareAndSetError<T>> {
        match self.publish(Arc::new(value), Some(version)) {
            Ok(replaced) => Ok(replaced.version),
            Err(Refused { version, new }) => match Arc::try_unwrap(new) {
                Ok(value) => Err(CompareAndSetError { version, value }),
                Err(_) => unreachable!("nobody has seen the value that was refused"),
            },
        }
    }

    /// Publishes a value and tells those who wait. The old value is in the caller's hands then, so
    /// that it is dropped last of all.
    fn publish(&self, new: Arc<T>, expected: Option<u64>) -> Result<Replaced<T>, Refused<T>> {
        let replaced = self.published.replace(new, expected)?;
        self.published.waiters.habit().meet_by_turns();
        self.published.waiters.notify_all();
        Ok(replaced)
    }

    // ------------------------------------------------------------------------------- waiting

    /// Waits until the version is another one than `since`, and returns it; at once if it is.
    ///
    /// A reader that passes on each time the version that it was given learns of every change, though not
    /// of every value: several changes may have come together.
    ///
    /// # Blocking
    ///
    /// For as long as the property is not set.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::Property;
    ///
    /// let position = Property::new(0);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         let mut seen = 0;
    ///         while position.get() < 3 {
    ///             seen = position.wait_changed(seen);
    ///         }
    ///     });
    ///     (1..=3).for_each(|next| position.set(next));
    /// });
    /// ```
    pub fn wait_changed(&self, since: u64) -> u64 {
        loop {
            if let Some(version) = self.wait_until(since, None) {
                return version;
            }
        }
    }

    /// As [`wait_changed`](Property::wait_changed), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the version was the same all the time.
    pub fn wait_changed_timeout(
        &self,
        since: u64,
        timeout: Duration,
    ) -> Result<u64, WaitTimeoutError> {
        self.wait_until(since, Instant::now().checked_add(timeout))
            .ok_or(WaitTimeoutError)
    }

    /// As [`wait_changed`](Property::wait_changed), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if the version was the same all the time.
    pub fn wait_changed_deadline(
        &self,
        since: u64,
        deadline: Instant,
    ) -> Result<u64, WaitTimeoutError> {
        self.wait_until(since, Some(deadline))
            .ok_or(WaitTimeoutError)
    }

    fn wait_until(&self, since: u64, deadline: Option<Instant>) -> Option<u64> {
        let other = |version: u64| (version != since).then_some(version);
        other(self.version()).or_else(|| {
            self.published.waiters.wait_until(
                self.published.wait(),
                deadline,
                |_| other(self.version()),
                || other(self.published.version_once_registered()).is_some(),
            )
        })
    }

    /// The change to another version than `since`, to be waited for together with other things.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Property, select, unbounded};
    ///
    /// let position = Property::new(0);
    /// let (_sender, messages) = unbounded::<u8>();
    /// position.set(1);
    /// let moved = position.changed_since(0);
    /// select! {
    ///     recv(messages) -> _ => unreachable!("nothing is sent"),
    ///     wait(moved) => assert_eq!(position.get(), 1),
    /// }
    /// ```
    pub fn changed_since(&self, since: u64) -> Changed<'_, T> {
        Changed::new(self, since)
    }

    /// Unwraps the value. There may be snapshots of it; `Arc::into_inner` says whether there are.
    #[must_use]
    pub fn into_inner(self) -> Arc<T> {
        self.published.into_inner()
    }
}

impl<T: Default> Default for Property<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Property<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T> fmt::Debug for Property<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Property")
            .field("version", &self.version())
            .field("wait", &self.published.wait())
            .finish_non_exhaustive()
    }
}
