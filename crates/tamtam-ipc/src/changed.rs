//! That a property has changed, as something to wait for among other things, and as a task.

use std::fmt;
use std::future::Future;

use tamtam_channel::{Sealed, Waitable};
use tamtam_wait::{Source, Token};

use crate::future::{Attempts, Own};
use crate::plain::Plain;
use crate::property::Property;
use crate::wake::waits_at;

/// That a [`Property`] has changed since a version, as something to wait for in [`Select`](tamtam_channel::Select) or
/// [`select!`](tamtam_channel::select): made by [`Property::changed_since`].
///
/// Once it is ready it stays so: a property never goes back to an earlier version.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::{select, unbounded};
/// use tamtam_ipc::Property;
///
/// let (_sender, receiver) = unbounded::<u32>();
/// let speed = Property::create(1)?;
/// let seen = speed.version();
/// speed.set(2);
/// let changed = speed.changed_since(seen);
/// select! {
///     wait(changed) => assert_eq!(speed.get(), 2),
///     recv(receiver) -> _ => panic!("nothing was sent"),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Changed<'a, T> {
    property: &'a Property<T>,
    since: u64,
}

impl<T: Plain> Property<T> {
    /// That the version is another one than `since`, to be waited for together with other things.
    #[must_use]
    pub fn changed_since(&self, since: u64) -> Changed<'_, T> {
        Changed {
            property: self,
            since,
        }
    }

    /// Waits as a task until the version is another one than `since`, and gives it.
    ///
    /// # Cancel safety
    ///
    /// Waiting changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// let speed = tamtam_ipc::Property::create(1)?;
    /// speed.set(2);
    /// assert_eq!(speed.wait_changed_async(0).await, 1);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn wait_changed_async(&self, since: u64) -> impl Future<Output = u64> + Unpin + Send + '_ {
        let changed = Own(self.changed_since(since));
        Attempts::new(changed, |changed: &Changed<'_, T>| {
            Some(changed.version()).filter(|version| *version != changed.since)
        })
    }
}

impl<T: Plain> Changed<'_, T> {
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
}

impl<T: Plain> Source for Changed<'_, T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    waits_at!(this => this.property.waiters, &this.property.segment, this.property.bell());

    fn is_ready(&self) -> bool {
        self.version() != self.since
    }
}

impl<T: Plain> Sealed for Changed<'_, T> {}
impl<T: Plain> Waitable for Changed<'_, T> {}

impl<T: Plain> fmt::Debug for Changed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed")
            .field("since", &self.since)
            .field("version", &self.version())
            .finish()
    }
}
