//! Where an actor's messages lie until it handles them.

mod limited;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod node;
mod pigeonhole;
mod queue;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;
mod urgent;

pub use limited::Overflow;
pub(crate) use limited::{Limited, Pushed, Reserved};
pub(crate) use pigeonhole::{Filler, Taker, pigeonhole};
pub(crate) use queue::{Head, Mark, Popped, Tail};
pub(crate) use urgent::{Linked, Open, Things, Urgent};
