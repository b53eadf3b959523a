//! What happens later: the clock of actors, and the timers that it keeps.
//!
//! A timer is an entry in a [`Wheel`](wheel::Wheel), which belongs to a [`Time`]. When it is due the time only
//! *knocks* at the actor, by something that comes before its messages; what the timer is to do, it does in a turn of
//! that actor. So no user code runs on the clock's thread for it: not what a timer calls, not what makes a message, and no
//! drop of either. Beside actors that thread wakes tasks whose deadlines have come, by their wakers.

mod alarm;
mod clock;
mod errand;
mod every;
mod slab;
mod tick;
mod timer;
pub(crate) mod vigil;
mod wheel;

pub(crate) use alarm::{Alarm, AnyAlarm};
pub use clock::Time;
pub(crate) use clock::Timers;
pub(crate) use errand::elsewhere;
pub use every::Every;
pub(crate) use every::Rhythm;
pub(crate) use slab::Key;
pub(crate) use tick::TICK;
pub(crate) use timer::Missed;
pub use timer::Timer;
