//! A way of passing messages that takes part in experiments.

use std::fmt;

use crate::{Failure, Measure, Serving};

/// What a contender is called and who made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name in every table: ours by its noun, a peer by its crate's or system's name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Whether it is Tamtam's own.
    pub ours: bool,
    /// What it is, in one line.
    pub about: &'static str,
}

/// A way of passing messages that takes part in experiments.
pub trait Contender: fmt::Debug + Sync {
    /// Its name and version.
    fn card(&self) -> Card;

    /// What it takes part in. A contender puts this list together from the experiments' own, such as
    /// [`turns::measures`](crate::turns::measures).
    fn measures(&self) -> Vec<Measure>;

    /// Begins to serve what [`ServerProcess`](crate::ServerProcess) started this process for, in threads of its own: of a
    /// contender whose server is another process.
    ///
    /// # Errors
    /// It has no such server, or the system does not let it.
    fn serve(&self) -> Result<Serving, Failure> {
        Err(Failure::Impossible(format!(
            "{} has no server in a process of its own",
            self.card().name
        )))
    }

    /// The same for one part of what it takes part in, if it has several servers: what
    /// [`ServerProcess::start_part`](crate::ServerProcess::start_part) has named.
    ///
    /// # Errors
    /// It has no such server, or the system does not let it.
    fn serve_part(&self, part: &str) -> Result<Serving, Failure> {
        Err(Failure::Impossible(format!(
            "{} has no server for {part:?} in a process of its own",
            self.card().name
        )))
    }
}
