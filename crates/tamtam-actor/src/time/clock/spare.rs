//! Memory of timers that are over: kept for those that come, and given back when it was not used for a while.
//!
//! To give a piece of memory back, and to get one, takes the system longer than the timers in it do. A time that is moved by hand,
//! where there is no "while", gives it back at once.

use super::{ClockState, NEAR, Time};
use crate::time::tick::{tick_before, tick_of};

/// So many pieces of memory for timers are kept for ever.
const MOST_KEPT: usize = 8;
/// So many are given back at a time, so that others can set their timers meanwhile.
const MOST_AT_ONCE: usize = 64;

impl Time {
    /// Has the shared timer thread come if there is memory to give back, and it does not come for that anyway.
    #[inline]
    pub(super) fn see_to_spares(&self, state: &mut ClockState) {
        if state.wheel.spares() > MOST_KEPT && state.gives_back.is_none() && !self.0.is_manual {
            self.give_back_later(state);
        }
    }

    #[cold]
    fn give_back_later(&self, state: &mut ClockState) {
        let then = tick_of(self.0.began.elapsed() + NEAR);
        state.gives_back = Some(then);
        // From now on is what counts.
        state.wheel.long_spare();
        // Where there is no such thread, those that look after the timers in its place see to this, too, when they do.
        self.appoint(state, then);
    }

    /// Gives back what was not used since it was to be seen to, if it is the time for that.
    pub(super) fn give_back(&self) {
        let mut count = {
            let mut state = self.0.state.lock();
            let now = tick_before(self.passed(&state));
            if state.gives_back.is_none_or(|then| then > now) {
                return;
            }
            state.wheel.long_spare()
        };
        let mut below = usize::MAX;
        while count != 0 {
            let mut state = self.0.state.lock();
            let spares: Vec<_> = (0..count.min(MOST_AT_ONCE))
                .map_while(|_| state.wheel.take_spare(&mut below))
                .collect();
            drop(state);
            count = if spares.is_empty() {
                0
            } else {
                count - spares.len()
            };
        }
        let mut state = self.0.state.lock();
        state.gives_back = None;
        self.see_to_spares(&mut state);
    }
}
