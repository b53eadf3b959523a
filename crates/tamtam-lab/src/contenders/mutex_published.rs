//! Article B's lock and unlock loop, as it was published.

use super::VERSION;
use crate::{Card, Contender, Measure, lock_loop};

/// Article B's lock and unlock loop, as it was published: shown, not ranked.
#[derive(Debug, Clone, Copy)]
pub(super) struct MutexPublished;

impl Contender for MutexPublished {
    fn card(&self) -> Card {
        Card {
            name: "mutex-published",
            version: VERSION,
            ours: true,
            about: "article B's loop as published, std's Mutex locked and unlocked: hands nothing over, so not ranked",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        lock_loop::measures()
    }
}
