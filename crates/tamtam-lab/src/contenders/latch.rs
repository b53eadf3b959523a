//! Our latch, as the end of a count.

use tamtam_channel::Latch;

use super::VERSION;
use crate::latch::{self, Countdown};
use crate::{Card, Contender, Measure};

/// Our latch.
#[derive(Debug, Clone, Copy)]
pub(super) struct LatchCountdown;

impl Contender for LatchCountdown {
    fn card(&self) -> Card {
        Card {
            name: "latch",
            version: VERSION,
            ours: true,
            about: "a latch, counted down one by one",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        latch::measures::<Latch>()
    }
}

impl Countdown for Latch {
    fn new(count: u64) -> Self {
        Latch::new(count)
    }

    fn count_down(&self) {
        Latch::count_down(self);
    }

    fn is_open(&self) -> bool {
        Latch::is_open(self)
    }

    fn wait(&self) {
        Latch::wait(self);
    }
}
