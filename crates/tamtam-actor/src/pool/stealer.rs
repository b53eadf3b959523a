//! When a theft pays.

use std::time::{Duration, Instant};

/// What a thread has learned about stealing.
///
/// A theft costs both sides some cache lines. It pays if the stealer can go on by itself for a while; but the
/// rest of what one actor has to do may lead only to the next actor, at which the other thread is already:
/// then the two would get in each other's way at each step. After such thefts a stealer stays away for a while,
/// in which the other one gets ahead.
#[derive(Default)]
pub(super) struct Stealer {
    /// How many turns there were at the last theft.
    stole_at: Option<usize>,
    /// How many thefts in a row were not worth it.
    in_vain: u32,
    not_before: Option<Instant>,
}

/// A theft that led to no more turns than this was not worth it.
const WORTHLESS: usize = 2;
/// How long a stealer stays away after one such theft; twice as long after each further one, up to 16 times.
const STAY_AWAY: Duration = Duration::from_micros(5);

impl Stealer {
    /// The thread has got something to do that may be stolen, after so many turns.
    pub(super) fn note(&mut self, turns: usize) {
        self.stole_at = Some(turns);
    }

    /// The thread has nothing to do, after so many turns.
    pub(super) fn learn(&mut self, turns: usize) {
        let Some(stole_at) = self.stole_at.take() else {
            return;
        };
        if turns.wrapping_sub(stole_at) > WORTHLESS {
            self.in_vain = 0;
            self.not_before = None;
        } else {
            self.in_vain = (self.in_vain + 1).min(5);
            self.not_before = Some(Instant::now() + STAY_AWAY * (1 << (self.in_vain - 1)));
        }
    }

    /// Whether it is time for a theft.
    pub(super) fn may_steal(&mut self) -> bool {
        if self.not_before.is_some_and(|time| Instant::now() < time) {
            return false;
        }
        self.not_before = None;
        true
    }
}
