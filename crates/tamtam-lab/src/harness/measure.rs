//! What a body is told, and what it gives back.

use std::fmt;
use std::time::Duration;

use crate::{Failure, Metric, Variant};

/// Under which conditions a body is to measure.
#[derive(Debug, Clone)]
pub struct Conditions {
    /// The variant: how many, where, and what else.
    pub variant: Variant,
    /// For how long at most to measure; a body that has not done all operations by then says how many it did.
    pub limit: Duration,
}

/// What a body found: the figures without the names that the program adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// How many operations were done and verified in the measured time.
    pub operations: u64,
    /// How long they took together.
    pub elapsed: Duration,
    /// The figures. The first is the one to compare contenders by.
    pub metrics: Vec<Metric>,
    /// What the reader of the figures should know.
    pub note: Option<String>,
}

impl Measurement {
    /// The value of the figure `metric`, if it was measured.
    #[must_use]
    pub fn value(&self, metric: &str) -> Option<f64> {
        self.metrics
            .iter()
            .find(|figure| figure.metric == metric)
            .map(|figure| figure.value)
    }
}

type Body = Box<dyn Fn(&Conditions) -> Result<Measurement, Failure>>;

/// One variant of one experiment, with the body that runs it for one contender.
pub struct Measure {
    experiment: &'static str,
    variant: Variant,
    body: Body,
}

impl Measure {
    /// A variant of `experiment`, measured by `body`.
    pub fn new(
        experiment: &'static str,
        variant: Variant,
        body: impl Fn(&Conditions) -> Result<Measurement, Failure> + 'static,
    ) -> Self {
        Measure {
            experiment,
            variant,
            body: Box::new(body),
        }
    }

    /// The experiment's name.
    #[must_use]
    pub fn experiment(&self) -> &'static str {
        self.experiment
    }

    /// The variant.
    #[must_use]
    pub fn variant(&self) -> &Variant {
        &self.variant
    }

    /// Measures, for about `limit`.
    ///
    /// # Errors
    /// A message did not arrive as it should, or this machine cannot run the variant.
    pub fn run(&self, limit: Duration) -> Result<Measurement, Failure> {
        self.run_as(self.variant.clone(), limit)
    }

    fn run_as(&self, variant: Variant, limit: Duration) -> Result<Measurement, Failure> {
        (self.body)(&Conditions { variant, limit })
    }

    /// Sees to it that all arrives, with at most so many messages.
    ///
    /// # Errors
    /// As of [`run`](Measure::run).
    #[cfg(test)]
    pub(crate) fn try_out(&self, most: u64) -> Result<Measurement, Failure> {
        let mut variant = self.variant.clone();
        variant.count = variant.count.min(most);
        self.run_as(variant, Duration::from_millis(5))
    }
}

impl fmt::Debug for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Measure")
            .field("experiment", &self.experiment)
            .field("variant", &self.variant)
            .finish_non_exhaustive()
    }
}
