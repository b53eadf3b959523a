//! Where an actor's messages lie until it handles them.

mod answer_place;
mod block;
mod dead_letter;
mod elsewhere;
mod label;
mod lane;
mod limited;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod mute;
mod node;
mod oneshot;
mod plan;
mod queue;
#[cfg(feature = "serde")]
mod receipt;
mod room;
mod sorted;
mod streak;
mod streaks;
mod taking;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;
mod urgent;

pub(crate) use answer_place::{AnswerFuture, AnswerPlace};
pub(crate) use dead_letter::tell_of;
pub use dead_letter::{DeadLetter, DeadLetterWatch, Loss, on_dead_letter};
pub(crate) use elsewhere::{Downstream, Upstream};
pub(crate) use lane::LaneLength;
pub use limited::{Level, Overflow};
pub(crate) use limited::{LimitedMailbox, Pushed, Reserved, WhenNoRoom};
pub(crate) use mute::Mute;
#[cfg(feature = "serde")]
pub(crate) use mute::MutedSenders;
pub(crate) use node::apart;
pub(crate) use oneshot::{Filler, Taker, oneshot};
pub use plan::{Bounded, Describes, Plain, Ruled, Untyped};
pub(crate) use plan::{Special, Store};
pub(crate) use queue::{Head, Mark, Popped, Seen, Tail};
#[cfg(feature = "serde")]
pub(crate) use receipt::Receipt;
#[cfg(feature = "serde")]
pub(crate) use room::Room;
pub(crate) use streak::Streak;
pub(crate) use streaks::{LockedStreak, StreakGuard, StreakLock};
pub(crate) use taking::Taking;
pub(crate) use urgent::{Linked, Open, Things, Urgent};
