//! A reader of a property that waits for values it has not seen yet.

use core::fmt;

use tamtam_wait::{Source, Token};

use super::Property;
use crate::source::in_list;

/// That a [`Property`] has changed since a version, as something to wait for in
/// [`Select`](crate::Select) or [`select!`](crate::select).
///
/// Made by [`Property::changed_since`]. Once it is ready it stays so: it has nothing to take, and a
/// property never goes back to an earlier version.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{Event, Property, select};
///
/// let (settings, quit) = (Property::new("plain"), Event::manual());
/// let (seen, _) = settings.versioned();
/// settings.set("bright");
/// let settings_changed = settings.changed_since(seen);
/// select! {
///     wait(settings_changed) => assert_eq!(settings.get(), "bright"),
///     wait(quit) => panic!("it was not set"),
/// }
/// ```
pub struct Changed<'a, T> {
    property: &'a Property<T>,
    since: u64,
}

impl<'a, T> Changed<'a, T> {
    pub(super) fn new(property: &'a Property<T>, since: u64) -> Self {
        Changed { property, since }
    }

    /// The version that is waited to pass.
    #[must_use]
    pub fn since(&self) -> u64 {
        self.since
    }

    /// The property's version now.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.property.version()
    }

    #[cfg(any(not(target_family = "wasm"), target_feature = "atomics"))]
    /// Waits until the property has changed, as [`Property::wait_changed`]: the version then.
    ///
    /// # Blocking
    ///
    /// While the property keeps the version that was seen.
    pub fn changed(&self) -> u64 {
        self.property.wait_changed(self.since)
    }

    fn has_come(&self) -> bool {
        self.property.version() != self.since
    }

    /// The second look of a thread that has registered.
    fn has_come_once_registered(&self) -> bool {
        self.property.published.version_once_registered() != self.since
    }
}

impl<T> Clone for Changed<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Changed<'_, T> {}

impl<T> fmt::Debug for Changed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed")
            .field("since", &self.since)
            .field("version", &self.property.version())
            .finish()
    }
}

impl<T> Source for Changed<'_, T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.has_come()
    }

    in_list!(this => this.property.published.waiters, this.has_come_once_registered());

    fn is_ready(&self) -> bool {
        self.has_come()
    }

    fn unready_since(&self) -> Option<u64> {
        // What has come stays.
        (!self.has_come_once_registered()).then_some(0)
    }
}
