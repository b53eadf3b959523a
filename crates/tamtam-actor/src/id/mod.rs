//! The number of an actor, which no other actor of the process ever has, and its name, which others may have.

mod hasher;
mod name;
mod table;

use core::fmt;
use core::num::NonZeroU64;
use core::sync::atomic::{AtomicU64, Ordering};

#[cfg_attr(
    not(feature = "serde"),
    expect(
        unreachable_pub,
        reason = "a part of what links use, and there are none"
    )
)]
pub use hasher::NumberHasher;
pub(crate) use name::{Called, forget_name, name_of, remember_name};
pub(crate) use table::ActorTable;

/// The number of an actor: see [`Address::id`](crate::Address::id).
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let one = pool.spawn_fn(|(): (), _| {});
/// let other = pool.spawn_fn(|(): (), _| {});
/// assert_ne!(one.id(), other.id());
/// assert_eq!(one.id(), one.clone().id());
/// println!("actor {}", one.id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(NonZeroU64);

impl ActorId {
    pub(crate) fn next() -> Self {
        // Not of the seam: it orders nothing.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        ActorId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MAX))
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
