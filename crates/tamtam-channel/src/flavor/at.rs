//! A message at a moment: `after` and `at`.

use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::{Source, Token};

use super::Nothing;
use crate::source::in_no_list;

/// Delivers its own moment, once, when that moment has come.
#[derive(Debug)]
pub(crate) struct At {
    moment: Instant,
    /// For good: who has seen this waits for it no more, so nothing is given back.
    delivered: AtomicBool,
}

impl At {
    pub(crate) fn new(moment: Instant) -> Self {
        At {
            moment,
            delivered: AtomicBool::new(false),
        }
    }

    pub(crate) fn try_receive(&self) -> Result<Instant, Nothing> {
        // The flag first: it is cheaper to read than the clock.
        if self.delivered.load(Ordering::Relaxed)
            || Instant::now() < self.moment
            || self.delivered.swap(true, Ordering::SeqCst)
        {
            Err(Nothing::Empty)
        } else {
            Ok(self.moment)
        }
    }

    pub(crate) fn receive(&self, deadline: Option<Instant>) -> Result<Instant, Nothing> {
        loop {
            match self.try_receive() {
                Err(Nothing::Empty) => {}
                decided => return decided,
            }
            let until = if self.delivered.load(Ordering::Relaxed) {
                deadline
            } else {
                Some(deadline.map_or(self.moment, |deadline| deadline.min(self.moment)))
            };
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return Err(Nothing::Empty);
            }
            sleep_until(until);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.delivered.load(Ordering::SeqCst) || Instant::now() < self.moment
    }
}

/// Sleeps until the moment, or for ever if there is none.
pub(crate) fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => std::thread::sleep(moment.saturating_duration_since(Instant::now())),
        None => loop {
            std::thread::sleep(std::time::Duration::from_secs(1000));
        },
    }
}

impl Source for At {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.try_receive().map(|moment| token.put(moment)).is_ok()
    }

    in_no_list!();

    fn is_ready(&self) -> bool {
        !self.is_empty()
    }

    fn unready_since(&self) -> Option<u64> {
        // It goes from one to the next, and never back: early, due, delivered.
        if self.delivered.load(Ordering::SeqCst) {
            return Some(1);
        }
        (Instant::now() < self.moment).then_some(0)
    }

    fn deadline(&self) -> Option<Instant> {
        (!self.delivered.load(Ordering::Relaxed)).then_some(self.moment)
    }
}
