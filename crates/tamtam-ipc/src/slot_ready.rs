//! That a slot can be used, as something to wait for among other things, and as a task.

use std::fmt;
use std::future::Future;

use tamtam_channel::{Sealed, Waitable};
use tamtam_wait::{Source, Token};

use crate::exchange::Access;
use crate::future::{Attempts, Own};
use crate::plain::Plain;
use crate::slot::Slot;
use crate::wake::{Waiters, waits_at};

/// That a value can be taken out of a [`Slot`], or put into it, as something to wait for in [`Select`](tamtam_channel::Select) or
/// [`select!`](tamtam_channel::select): made by [`Slot::ready_to_take`] and [`Slot::ready_to_put`].
///
/// Another thread may be quicker, so what comes after it is [`try_take`](Slot::try_take) or [`try_put`](Slot::try_put).
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_channel::select;
/// use tamtam_ipc::Slot;
///
/// let (orders, results) = (Slot::<u32>::create()?, Slot::<u32>::create()?);
/// results.put(7);
/// let (order, result) = (orders.ready_to_take(), results.ready_to_take());
/// select! {
///     wait(order) => panic!("nothing was put there"),
///     wait(result) => assert_eq!(results.try_take(), Some(7)),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct SlotReady<'a, T> {
    slot: &'a Slot<T>,
    access: Access,
}

impl<T: Plain> Slot<T> {
    /// That a value is there, to be waited for together with other things.
    #[must_use]
    pub fn ready_to_take(&self) -> SlotReady<'_, T> {
        let access = Access::Take;
        SlotReady { slot: self, access }
    }

    /// That there is room for a value, to be waited for together with other things.
    #[must_use]
    pub fn ready_to_put(&self) -> SlotReady<'_, T> {
        let access = Access::Put;
        SlotReady { slot: self, access }
    }

    /// Waits as a task until a value is there, and takes it out.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future takes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// # futures::executor::block_on(async {
    /// let slot = tamtam_ipc::Slot::<u32>::create()?;
    /// slot.put_async(7).await;
    /// assert_eq!(slot.take_async().await, 7);
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn take_async(&self) -> impl Future<Output = T> + Unpin + Send + '_ {
        let ready = Own(self.ready_to_take());
        Attempts::new(ready, |ready: &SlotReady<'_, T>| ready.slot.try_take())
    }

    /// Waits as a task until the slot is empty, and puts the value in.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it is ready puts nothing.
    pub fn put_async(&self, value: T) -> impl Future<Output = ()> + Unpin + Send + '_ {
        Attempts::new(Own(self.ready_to_put()), move |ready: &SlotReady<'_, T>| {
            ready.slot.try_put(value).ok()
        })
    }
}

impl<T> SlotReady<'_, T> {
    fn waiters(&self) -> &Waiters {
        match self.access {
            Access::Put => &self.slot.putting,
            Access::Take => &self.slot.taking,
        }
    }
}

impl<T: Plain> Source for SlotReady<'_, T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    waits_at!(this => this.waiters(), &this.slot.segment, this.slot.exchange().bell(this.access));

    fn is_ready(&self) -> bool {
        let exchange = self.slot.exchange();
        exchange.is_claimable(self.access, &self.slot.segment)
    }
}

impl<T: Plain> Sealed for SlotReady<'_, T> {}
impl<T: Plain> Waitable for SlotReady<'_, T> {}

impl<T> fmt::Debug for SlotReady<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlotReady")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
