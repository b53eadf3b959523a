//! Properties by name, of any type, which threads that know nothing of each other share.

use core::any::{Any, type_name};
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::collections::HashMap;
use std::collections::hash_map;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::seam::Mutex;
use tamtam_wait::{Wait, WaitList, fence};

use super::Property;
use crate::error::{GetPropertyError, WaitForPropertyError, WrongType};

/// Named properties, each of a type of its own.
///
/// A name is made by the first [`set`](Properties::set), and its type is that of the first value
/// until the name is [removed](Properties::remove). Names are looked up under a lock that is held for
/// that alone: 30 to 60 ns. Who uses a name often asks once for the
/// [`property`](Properties::property) itself and spares the lookup.
///
/// # Examples
///
/// Two threads that know nothing of each other but a name:
///
/// ```
/// use tamtam_channel::Properties;
///
/// let shared = Properties::new();
/// std::thread::scope(|threads| {
///     threads.spawn(|| shared.set("speed", 88_u32).unwrap());
///     let speed = shared.wait_for::<u32>("speed").unwrap();
///     assert_eq!(speed.get(), 88);
/// });
/// assert_eq!(shared.get("speed"), Ok(88_u32));
/// assert!(shared.get::<String>("speed").is_err());
/// ```
pub struct Properties {
    entries: Mutex<HashMap<String, Entry>>,
    /// Those who wait for a name.
    waiters: WaitList,
    wait: Wait,
}

#[derive(Clone)]
struct Entry {
    /// An `Arc<Property<T>>`.
    property: Arc<dyn Any + Send + Sync>,
    type_name: &'static str,
}

// No user code runs under the lock.
impl UnwindSafe for Properties {}
impl RefUnwindSafe for Properties {}

impl Entry {
    fn new<T: Send + Sync + 'static>(value: T) -> Self {
        Entry {
            property: Arc::new(Property::new(value)),
            type_name: type_name::<T>(),
        }
    }

    fn downcast<T: Send + Sync + 'static>(self, name: &str) -> Result<Arc<Property<T>>, WrongType> {
        self.property.downcast().map_err(|_| WrongType {
            name: name.to_owned(),
            found: self.type_name,
            wanted: type_name::<T>(),
        })
    }
}

impl Properties {
    /// No properties yet.
    #[must_use]
    pub fn new() -> Self {
        // What the first property of a process takes milliseconds for is done here, and not under
        // the lock later on.
        let _ = fence::is_asymmetric();
        Properties {
            entries: Mutex::new(HashMap::new()),
            waiters: WaitList::new(),
            wait: Wait::Adaptive,
        }
    }

    /// The same properties; who waits for a name waits in another way.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the property of this name, and makes it if there is none.
    ///
    /// # Blocking
    ///
    /// Briefly, while other threads look up names, and as [`Property::set`].
    ///
    /// # Errors
    ///
    /// [`WrongType`] if the property is of another type. The value is dropped, the property as before.
    pub fn set<T: Send + Sync + 'static>(&self, name: &str, value: T) -> Result<(), WrongType> {
        let (entry, value) = self.entry_or(name, value);
        let property = entry.downcast::<T>(name)?;
        if let Some(value) = value {
            property.set(value);
        }
        Ok(())
    }

    /// A copy of the latest value of the property of this name.
    ///
    /// # Blocking
    ///
    /// Briefly, while other threads look up names.
    ///
    /// # Errors
    ///
    /// [`GetPropertyError::Missing`] if there is no such property, [`GetPropertyError::WrongType`] if
    /// it is of another type.
    pub fn get<T>(&self, name: &str) -> Result<T, GetPropertyError>
    where
        T: Clone + Send + Sync + 'static,
    {
        Ok(self.property::<T>(name)?.get())
    }

    /// The property of this name, to be used without looking it up again.
    ///
    /// It stays usable when the name is removed, but is not what the name means from then on.
    ///
    /// # Errors
    ///
    /// As [`get`](Properties::get).
    pub fn property<T>(&self, name: &str) -> Result<Arc<Property<T>>, GetPropertyError>
    where
        T: Send + Sync + 'static,
    {
        match self.find(name) {
            Some(entry) => Ok(entry.downcast(name)?),
            None => Err(GetPropertyError::Missing {
                name: name.to_owned(),
            }),
        }
    }

    /// The property of this name; if there is none, it is made with this value, which is dropped
    /// otherwise.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if there is a property of another type.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::Properties;
    ///
    /// let shared = Properties::new();
    /// let visits = shared.property_or("visits", 0_u64).unwrap();
    /// visits.update(|visits| visits + 1);
    /// assert_eq!(shared.property_or("visits", 0_u64).unwrap().get(), 1);
    /// ```
    pub fn property_or<T>(&self, name: &str, first: T) -> Result<Arc<Property<T>>, WrongType>
    where
        T: Send + Sync + 'static,
    {
        // What was not needed is dropped at the end, under no lock.
        let (entry, _unused) = self.entry_or(name, first);
        entry.downcast(name)
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// Waits until there is a property of this name, and returns it.
    ///
    /// # Blocking
    ///
    /// For as long as it is not made. Not at all if it exists.
    ///
    /// # Errors
    ///
    /// [`WrongType`] if it is of another type.
    pub fn wait_for<T>(&self, name: &str) -> Result<Arc<Property<T>>, WrongType>
    where
        T: Send + Sync + 'static,
    {
        loop {
            if let Some(entry) = self.wait_until(name, None) {
                return entry.downcast(name);
            }
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait_for`](Properties::wait_for), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`WaitForPropertyError::Timeout`] if there was no such property in time,
    /// [`WaitForPropertyError::WrongType`] if it is of another type.
    pub fn wait_for_timeout<T>(
        &self,
        name: &str,
        timeout: Duration,
    ) -> Result<Arc<Property<T>>, WaitForPropertyError>
    where
        T: Send + Sync + 'static,
    {
        match self.wait_until(name, Instant::now().checked_add(timeout)) {
            Some(entry) => Ok(entry.downcast(name)?),
            None => Err(WaitForPropertyError::Timeout {
                name: name.to_owned(),
            }),
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// As [`wait_for`](Properties::wait_for), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// As [`wait_for_timeout`](Properties::wait_for_timeout).
    pub fn wait_for_deadline<T>(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Arc<Property<T>>, WaitForPropertyError>
    where
        T: Send + Sync + 'static,
    {
        match self.wait_until(name, Some(deadline)) {
            Some(entry) => Ok(entry.downcast(name)?),
            None => Err(WaitForPropertyError::Timeout {
                name: name.to_owned(),
            }),
        }
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    fn wait_until(&self, name: &str, deadline: Option<Instant>) -> Option<Entry> {
        self.find(name).or_else(|| {
            self.waiters.wait_until(
                self.wait,
                deadline,
                |_| self.find(name),
                // Either this look comes after the name was made, under the same lock; or the thread that
                // makes it takes the lock after this look, and then sees that another one waits.
                || self.contains(name),
            )
        })
    }

    /// Removes the property of this name. Returns whether there was one.
    ///
    /// Who has it still can use it. The name is free for a value of any type.
    pub fn remove(&self, name: &str) -> bool {
        let removed = self.entries.lock().remove(name);
        // Dropped here, under no lock.
        removed.is_some()
    }

    /// Whether there is a property of this name at this moment.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.entries.lock().contains_key(name)
    }

    /// The names of all properties at this moment, in alphabetical order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.entries.lock().keys().cloned().collect();
        names.sort_unstable();
        names
    }

    fn find(&self, name: &str) -> Option<Entry> {
        self.entries.lock().get(name).cloned()
    }

    /// The property of this name, and the value if that was not used to make it.
    fn entry_or<T>(&self, name: &str, value: T) -> (Entry, Option<T>)
    where
        T: Send + Sync + 'static,
    {
        if let Some(entry) = self.find(name) {
            return (entry, Some(value));
        }
        let name = name.to_owned();
        let mut entries = self.entries.lock();
        let vacant = match entries.entry(name) {
            hash_map::Entry::Occupied(occupied) => {
                let entry = occupied.get().clone();
                drop(entries);
                return (entry, Some(value));
            }
            hash_map::Entry::Vacant(vacant) => vacant,
        };
        let entry = vacant.insert(Entry::new(value)).clone();
        drop(entries);
        self.waiters.notify_all();
        (entry, None)
    }
}

impl Default for Properties {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Properties")
            .field("names", &self.names())
            .finish_non_exhaustive()
    }
}
