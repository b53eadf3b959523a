//! What is used of the machine while an actor is told and asked: by this process, and by the actor's if that is another one.

use std::fmt;

use crate::Metric;
use crate::measure::usage::{Usage, metrics_between, peak_memory};

/// Says what another process has used so far: see [`Asker::count_process`](super::Asker::count_process).
type Used = Box<dyn FnMut() -> Option<[u64; 3]> + Send + Sync>;

/// What this process uses of the machine, and the actor's if that is another one.
#[derive(Default)]
pub(super) struct Meter {
    other: Option<Used>,
    before: Option<Usage>,
    after: Option<Usage>,
}

impl Meter {
    /// The actor is in another process, of which `used` tells.
    pub(super) fn count_process(
        &mut self,
        used: impl FnMut() -> Option<[u64; 3]> + Send + Sync + 'static,
    ) {
        self.other = Some(Box::new(used));
    }

    /// The operations that count begin.
    pub(super) fn start(&mut self) {
        self.before = self.read();
    }

    /// They have ended.
    pub(super) fn stop(&mut self) {
        self.after = self.read();
    }

    fn read(&mut self) -> Option<Usage> {
        let here = Usage::of_process()?;
        match &mut self.other {
            Some(used) => Some(here + Usage::from(used()?)),
            None => Some(here),
        }
    }

    /// The figures for each of `operations`. The most memory is there only where it is that of all: another process does not
    /// tell its own.
    pub(super) fn metrics(&self, operations: u64) -> Vec<Metric> {
        let mut metrics = metrics_between(self.before, self.after, operations);
        if self.other.is_none() {
            metrics.extend(peak_memory());
        }
        metrics
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Meter")
            .field("before", &self.before)
            .field("after", &self.after)
            .finish_non_exhaustive()
    }
}
