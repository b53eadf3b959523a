//! How often a property is set: what its writers know, under their lock.

pub(super) use system::Pace;

#[cfg(not(tamtam_loom))]
mod system {
    use std::time::{Duration, Instant};

    /// Replacements that are further apart pay for the readers' barriers. The price is up to 13 µs
    /// if other cores run threads of the process, so at most little more than one part in a hundred
    /// of the writer's time.
    const SELDOM: Duration = Duration::from_millis(1);

    #[derive(Debug)]
    pub(in super::super) struct Pace {
        last: Option<Instant>,
    }

    impl Pace {
        pub(in super::super) const fn new() -> Self {
            Pace { last: None }
        }

        /// Notes a replacement, and says whether the one before was a short time ago.
        pub(in super::super) fn note(&mut self) -> bool {
            let now = Instant::now();
            self.last
                .replace(now)
                .is_some_and(|last| now.saturating_duration_since(last) < SELDOM)
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
    }
}
