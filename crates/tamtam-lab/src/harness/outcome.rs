//! What one run of one contender prints.

use serde::{Deserialize, Serialize};

/// One figure of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What was measured, such as `ns_per_op`.
    pub metric: String,
    /// The unit of `value`, such as `ns`.
    pub unit: String,
    /// The figure.
    pub value: f64,
}

impl Metric {
    /// A figure of the given name and unit.
    #[must_use]
    pub fn new(metric: &str, unit: &str, value: f64) -> Self {
        Metric {
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            value,
        }
    }
}

/// What one run of one contender prints: the line that `contender run` writes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The experiment's name.
    pub experiment: String,
    /// The variant's name, `COUNT/PLACEMENT[/EXTRA]`.
    pub variant: String,
    /// The contender's name.
    pub contender: String,
    /// The contender's version.
    pub version: String,
    /// Whether the contender is Tamtam's own.
    pub ours: bool,
    /// Always true: an outcome that was not verified is an error and is never written.
    pub verified: bool,
    /// How many operations were done and verified in the measured time.
    pub operations: u64,
    /// How long they took together, in nanoseconds.
    pub elapsed_ns: u64,
    /// The figures. The first is the one to compare contenders by.
    pub metrics: Vec<Metric>,
    /// What the reader of the figures should know.
    pub note: Option<String>,
}

/// What a program offers to measure: one line of `contender list`, for each contender and experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The contender's name.
    pub contender: String,
    /// The contender's version.
    pub version: String,
    /// Whether the contender is Tamtam's own.
    pub ours: bool,
    /// The experiment's name.
    pub experiment: String,
    /// The names of the variants that the contender takes part in.
    pub variants: Vec<String>,
    /// The contender in one line.
    pub about: String,
}
