//! How often a property is set, and whether it is read meanwhile: what its writers know, under their
//! lock.

pub(super) use system::Pace;

#[cfg(not(tamtam_loom))]
mod system {
    use std::time::{Duration, Instant};

    /// Replacements that are further apart pay for the readers' barriers. The price is up to 13 µs
    /// if other cores run threads of the process, so at most little more than one part in a hundred
    /// of the writer's time.
    const SELDOM: Duration = Duration::from_millis(1);

    /// For so many sets a writer remembers that it met a reader.
    const MEMORY: u8 = 16;

    #[derive(Debug)]
    pub(in super::super) struct Pace {
        pub(super) last: Option<Instant>,
        readers: u8,
    }

    impl Pace {
        pub(in super::super) const fn new() -> Self {
            Pace {
                last: None,
                readers: 0,
            }
        }

        /// Notes a replacement, and says whether the one before was a short time ago.
        pub(in super::super) fn note(&mut self) -> bool {
            let now = Instant::now();
            self.last
                .replace(now)
                .is_some_and(|last| now.saturating_duration_since(last) < SELDOM)
        }

        /// A writer has met a reader.
        pub(in super::super) fn note_readers(&mut self) {
            self.readers = MEMORY;
        }

        /// Whether one of the last writers has met a reader.
        pub(in super::super) fn meets_readers(&mut self) -> bool {
            let meets = self.readers > 0;
            self.readers = self.readers.saturating_sub(1);
            meets
        }

        /// Whether there was no replacement for some time.
        pub(in super::super) fn is_calm(&self) -> bool {
            self.last.is_none_or(|last| last.elapsed() >= SELDOM)
        }
    }
}

/// In the models a replacement follows quickly on the one before where the plan says so.
#[cfg(tamtam_loom)]
mod system {
    #[derive(Debug)]
    pub(in super::super) struct Pace {
        /// For each replacement, whether it comes a short time after the one before.
        plan: &'static [bool],
    }

    impl Pace {
        pub(in super::super) fn new() -> Self {
            Self::planned(&[])
        }

        pub(in super::super) fn planned(plan: &'static [bool]) -> Self {
            Pace { plan }
        }

        pub(in super::super) fn note(&mut self) -> bool {
            match self.plan.split_first() {
                Some((&often, rest)) => {
                    self.plan = rest;
                    often
                }
                None => false,
            }
        }

        pub(in super::super) fn is_calm(&self) -> bool {
            true
        }

        pub(in super::super) fn note_readers(&mut self) {}

        pub(in super::super) fn meets_readers(&mut self) -> bool {
            false
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    #[test]
    fn replacements_are_frequent_if_the_last_was_a_short_time_ago() {
        let mut pace = Pace::new();
        assert!(pace.is_calm() && !pace.note());
        // However long this thread was kept from going on, that was no time ago.
        pace.last = Instant::now().checked_add(Duration::from_secs(3600));
        assert!(!pace.is_calm() && pace.note());
        pace.last = Instant::now().checked_sub(Duration::from_secs(1));
        assert!(pace.is_calm() && !pace.note());
    }

    #[test]
    fn readers_that_were_met_are_remembered_for_some_writers() {
        let mut pace = Pace::new();
        assert!(!pace.meets_readers());
        pace.note_readers();
        let remembered = (0..1_000).take_while(|_| pace.meets_readers()).count();
        assert!((1..256).contains(&remembered), "{remembered}");
        assert!(!pace.meets_readers());
    }
}
