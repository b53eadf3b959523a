//! What can be waited for without taking anything.

use tamtam_wait::Source;

use crate::{Changed, Event, Latch};

/// What can be waited for without taking anything: [`Event`], [`Latch`], [`Changed`], and the ends of
/// `spsc` and `mpsc` channels as [`Selectable`](crate::spsc::Selectable).
///
/// # Examples
///
/// A function that waits for the first of two things, of whatever kind:
///
/// ```
/// use tamtam_channel::{Event, Latch, Select, Waitable};
///
/// fn first(one: &impl Waitable, other: &impl Waitable) -> usize {
///     let mut select = Select::new();
///     select.wait(one);
///     select.wait(other);
///     select.ready()
/// }
///
/// let (quit, loaded) = (Event::manual(), Latch::new(1));
/// loaded.count_down();
/// assert_eq!(first(&quit, &loaded), 1);
/// ```
pub trait Waitable: Source + sealed::Sealed {}

mod sealed {
    /// What this project alone implements.
    pub trait Sealed {}
}

pub use sealed::Sealed;

impl Sealed for Event {}
impl Waitable for Event {}
impl Sealed for Latch {}
impl Waitable for Latch {}
impl<T> Sealed for Changed<'_, T> {}
impl<T> Waitable for Changed<'_, T> {}
