//! Why a measurement has no figure.

use std::{fmt, io};

/// Why a measurement has no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A message was lost, doubled, damaged or out of turn; says which.
    Unverified(String),
    /// This machine or system cannot run the variant; says why.
    Impossible(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Unverified(reason) => write!(formatter, "delivery not verified: {reason}"),
            Failure::Impossible(reason) => write!(formatter, "cannot be measured here: {reason}"),
        }
    }
}

impl std::error::Error for Failure {}

/// What cannot be read or written is not delivered.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Unverified(error.to_string())
    }
}
