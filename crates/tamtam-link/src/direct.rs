//! What a sender writes to by itself, while it has the link's lock: memory that is shared with the other side.
//!
//! Who carries the link **lends** that to it, when all is written that it has taken. From then on what is added to nothing goes there at once, in
//! order, without a thread of the carrier, its lock and its wake-up. What has no room there, or descriptors beside it, is outgoing as ever, and the
//! carrier is woken: it takes back what it has lent before it takes that.

use std::any::Any;

use tamtam_actor::link::Call;

use crate::seats::Seats;

/// Where a sender puts frames by itself. Neither of these takes a system call, nor waits.
#[doc(hidden)]
pub trait DirectOutlet: Any + Send {
    /// Puts these bytes there as a whole, behind those before. `false`, and none, if they have no room now, or are for no process any more.
    fn put(&mut self, bytes: &[u8]) -> bool;

    /// Shows the other side what was put there, with answers for those who wait at these seats. If it sleeps, what this gives wakes it: to be called
    /// under no lock.
    fn show(&mut self, answered: Seats) -> Option<Call>;
}
