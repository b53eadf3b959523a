//! A message at regular moments: `tick`.

use std::time::{Duration, Instant};

use tamtam_wait::seam::Mutex;
use tamtam_wait::{Source, Token};

use super::Nothing;
use super::at::sleep_until;
use crate::source::in_no_list;

/// Delivers the moment of each tick. Ticks that are not received do not pile up: the next one is due
/// a period after the last one was received or due, whichever is later.
#[derive(Debug)]
pub(crate) struct Tick {
    next: Mutex<Instant>,
    period: Duration,
}

impl Tick {
    pub(crate) fn new(first: Instant, period: Duration) -> Self {
        Tick {
            next: Mutex::new(first),
            period,
        }
    }

    /// `Err` holds the moment of the next tick.
    pub(crate) fn try_receive(&self) -> Result<Instant, Instant> {
        let now = Instant::now();
        let mut next = self.next.lock();
        let due = *next;
        if now < due {
            return Err(due);
        }
        // A period that leads out of the clock's range means that there is no next tick.
        *next = now
            .max(due)
            .checked_add(self.period)
            .unwrap_or(far_future(now));
        Ok(due)
    }

    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Result<Instant, Nothing> {
        loop {
            match self.try_receive() {
                Ok(due) => return Ok(due),
                Err(next) => {
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        return Err(Nothing::Empty);
                    }
                    sleep_until(Some(deadline.map_or(next, |deadline| deadline.min(next))));
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        Instant::now() < *self.next.lock()
    }
}

/// Thirty years from now, or as far as the clock goes.
pub(crate) fn far_future(now: Instant) -> Instant {
    now.checked_add(Duration::from_secs(86_400 * 365 * 30))
        .unwrap_or(now)
}

impl Source for Tick {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.try_receive().map(|due| token.put(due)).is_ok()
    }

    in_no_list!();

    fn is_ready(&self) -> bool {
        !self.is_empty()
    }

    fn deadline(&self) -> Option<Instant> {
        Some(*self.next.lock())
    }
}
