//! Who can be measured: our contenders in this program, and the peers in theirs.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::child::{self, Ending};
use super::interrupt::Interrupt;
use super::peers::{Peers, Program};
use crate::reason::reason;
use tamtam_lab::Listing;

/// With this code a program ends whose runtime is not there; its word says how to get it.
const NOT_THERE: i32 = 3;

/// How long a program may take to say what it has.
const LIST_LIMIT: Duration = Duration::from_secs(60);

/// One contender of one experiment, and the program that runs it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// What the program says of it.
    pub listing: Listing,
    /// The program.
    pub program: Arc<Path>,
}

/// Everything that can be measured here.
#[derive(Debug)]
pub(super) struct Catalog {
    /// The contenders, ours first.
    pub entries: Vec<Entry>,
    /// What the user should know, such as peers that are not built.
    pub notices: Vec<String>,
}

impl Catalog {
    /// Asks our own program, and the peers' if `peers` is [`Peers::Found`], what they have.
    ///
    /// # Errors
    ///
    /// If our own program does not answer. Peers that do not answer are a notice.
    pub(super) fn gather(ours: &Path, peers: &Peers, interrupt: &Interrupt) -> Result<Self> {
        let entries = list(ours, interrupt).context("our own contenders cannot be listed")?;
        let mut catalog = Self {
            entries,
            notices: Vec::new(),
        };
        match peers {
            Peers::NotWanted => {}
            Peers::Missing { looked_for } => catalog.notices.push(all_left_out(looked_for)),
            Peers::Found { programs, missing } => {
                catalog.add_peers(programs, missing.as_deref(), interrupt);
            }
        }
        Ok(catalog)
    }

    /// Adds what each of `programs` has; `missing` is the file of Rust's peers if these are not built.
    fn add_peers(&mut self, programs: &[Program], missing: Option<&str>, interrupt: &Interrupt) {
        let (mut heard, mut broken, mut absent) = (false, Vec::new(), Vec::new());
        for program in programs {
            match list(&program.path, interrupt) {
                Ok(entries) => {
                    heard = true;
                    self.add(entries);
                }
                Err(error) if error.is::<NotThere>() => absent.push(left_out(program, &error)),
                Err(error) => broken.push(left_out(program, &error)),
            }
        }
        match missing {
            // Who has built none is told so once.
            Some(looked_for) if !heard => self.notices.push(all_left_out(looked_for)),
            _ => {
                self.notices.extend(missing.map(|looked_for| {
                    format!(
                        "The peers of Rust are left out: {looked_for} is not there. To build them:\n./scripts/lab --peers"
                    )
                }));
                self.notices.extend(absent);
            }
        }
        self.notices.extend(broken);
    }

    /// Adds what is not there yet: the program that is asked first runs what two of them have.
    fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let is_known = self.entries.iter().any(|known| {
                known.listing.contender == entry.listing.contender
                    && known.listing.experiment == entry.listing.experiment
            });
            if !is_known {
                self.entries.push(entry);
            }
        }
    }

    /// The experiments' names: first those that we know, in our order, then others.
    #[must_use]
    pub(super) fn experiments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = super::experiment::EXPERIMENTS
            .iter()
            .map(|experiment| experiment.name)
            .filter(|name| {
                self.entries
                    .iter()
                    .any(|entry| entry.listing.experiment == *name)
            })
            .collect();
        for entry in &self.entries {
            if !names.contains(&entry.listing.experiment.as_str()) {
                names.push(&entry.listing.experiment);
            }
        }
        names
    }

    /// The variants of `experiment`, in the order in which the contenders give them.
    #[must_use]
    pub(super) fn variants(&self, experiment: &str) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.listing.experiment == experiment)
        {
            for variant in &entry.listing.variants {
                if !names.contains(&variant.as_str()) {
                    names.push(variant);
                }
            }
        }
        names
    }

    /// The contenders' names, each once.
    #[must_use]
    pub(super) fn contenders(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for entry in &self.entries {
            if !names.contains(&entry.listing.contender.as_str()) {
                names.push(&entry.listing.contender);
            }
        }
        names
    }
}

fn all_left_out(looked_for: &str) -> String {
    format!(
        "The peers are left out: {looked_for} is not there. To build them:\n./scripts/lab --peers"
    )
}

/// What is missing in a program that was built for a first look, and how to have it.
pub(super) fn forms_left_out() -> Option<String> {
    (!cfg!(all(feature = "tables", feature = "databases"))).then(|| {
        "This program has a few forms of tables, and no databases. To build it with all of them:\n./scripts/lab --all"
            .to_owned()
    })
}

/// What is missing among the ways to call a server in a program that was built without HTTP, and how to have it.
pub(super) fn http_left_out() -> Option<String> {
    (!cfg!(feature = "http")).then(|| {
        "This program has no HTTP among the ways to call a server. To build it with it:\n./scripts/lab calls"
            .to_owned()
    })
}

/// Why the peers of `program` are left out, and what to do about it.
fn left_out(Program { of, path }: &Program, error: &anyhow::Error) -> String {
    match error.downcast_ref::<NotThere>() {
        Some(NotThere(reason)) => format!("The peers of {of} are left out: {reason}"),
        None => format!(
            "The peers of {of} are left out: {} does not work ({}). To build it anew:\n./scripts/lab --peers",
            path.display(),
            reason(error)
        ),
    }
}

/// What a program said whose runtime is not there.
#[derive(Debug)]
struct NotThere(String);

impl std::fmt::Display for NotThere {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for NotThere {}

/// Asks `program` for its contenders.
fn list(program: &Path, interrupt: &Interrupt) -> Result<Vec<Entry>> {
    let mut command = Command::new(program);
    command.args(["contender", "list"]);
    match child::run(command, LIST_LIMIT, interrupt)? {
        Ending::Finished { status, stdout, .. } if status.success() => read(&stdout, program),
        Ending::Finished { status, stderr, .. } if status.code() == Some(NOT_THERE) => {
            Err(NotThere(stderr.trim().to_owned()).into())
        }
        Ending::Finished { status, stderr, .. } => bail!("{status}: {}", stderr.trim()),
        Ending::TimedOut => bail!("no answer within {} s", LIST_LIMIT.as_secs()),
        Ending::Interrupted => bail!("interrupted"),
    }
}

fn read(output: &str, program: &Path) -> Result<Vec<Entry>> {
    let program: Arc<Path> = Arc::from(program);
    output
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let listing =
                serde_json::from_str(line).with_context(|| format!("cannot be read: {line}"))?;
            Ok(Entry {
                listing,
                program: Arc::clone(&program),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Catalog, read};

    const LINES: &str = concat!(
        r#"{"contender":"slot","version":"1","ours":true,"experiment":"odd","variants":["1/free"],"about":"a"}"#,
        "\n",
        r#"{"contender":"slot","version":"1","ours":true,"experiment":"post","variants":["5/free","6/free"],"about":"a"}"#,
        "\n",
        r#"{"contender":"kanal","version":"2","ours":false,"experiment":"post","variants":["6/free","7/free"],"about":"b"}"#,
    );

    #[test]
    fn names_come_once_and_in_order() {
        let catalog = Catalog {
            entries: read(LINES, Path::new("program")).unwrap(),
            notices: Vec::new(),
        };
        assert_eq!(catalog.experiments(), ["post", "odd"]);
        assert_eq!(catalog.variants("post"), ["5/free", "6/free", "7/free"]);
        assert_eq!(catalog.contenders(), ["slot", "kanal"]);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_shown() {
        let error = read("{\"contender\":1}", Path::new("program")).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("cannot be read: {\"contender\":1}"),
            "{error}"
        );
    }
}
