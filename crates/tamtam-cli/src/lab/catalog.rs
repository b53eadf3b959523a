//! Who can be measured: our contenders in this program, and the peers in theirs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::child::{self, Ending};
use super::interrupt::Interrupt;
use crate::drive::Listing;

/// Where a folder of peers keeps the program of the Rust ones.
const RUST_PEERS: &str = "rust/target/release/tamtam-peers-rust";

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
            Peers::Missing { looked_for } => catalog.notices.push(format!(
                "The peers are left out: {looked_for} is not there. To build them:\n./scripts/lab --peers"
            )),
            Peers::Found(program) => match list(program, interrupt) {
                Ok(entries) => catalog.entries.extend(entries),
                Err(error) => catalog.notices.push(format!(
                    "The peers are left out: {} does not work ({error:#}). To build it anew:\n./scripts/lab --peers",
                    program.display()
                )),
            },
        }
        Ok(catalog)
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

/// The program of the Rust peers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Peers {
    /// The user does not want them.
    NotWanted,
    /// It is not built.
    Missing {
        /// Where it would be.
        looked_for: String,
    },
    /// It is here.
    Found(PathBuf),
}

impl Peers {
    /// Looks for the peers in `folder`, or in the folder `peers` of the checkout around one of `starts`.
    ///
    /// # Errors
    ///
    /// If `folder` is given and is not a folder.
    pub(super) fn find(folder: Option<&Path>, starts: &[PathBuf]) -> Result<Self> {
        let folder = match folder {
            Some(folder) if !folder.is_dir() => {
                bail!("--peers: {} is not a folder", folder.display())
            }
            Some(folder) => Some(folder.to_owned()),
            None => starts
                .iter()
                .flat_map(|start| start.ancestors())
                .map(|ancestor| ancestor.join("peers"))
                .find(|peers| peers.join("rust/Cargo.toml").is_file()),
        };
        let Some(folder) = folder else {
            return Ok(Self::Missing {
                looked_for: format!("peers/{RUST_PEERS}"),
            });
        };
        let program = folder.join(format!("{RUST_PEERS}{}", std::env::consts::EXE_SUFFIX));
        if program.is_file() {
            Ok(Self::Found(program))
        } else {
            Ok(Self::Missing {
                looked_for: program.display().to_string(),
            })
        }
    }
}

/// Asks `program` for its contenders.
fn list(program: &Path, interrupt: &Interrupt) -> Result<Vec<Entry>> {
    let mut command = Command::new(program);
    command.args(["contender", "list"]);
    match child::run(command, LIST_LIMIT, interrupt)? {
        Ending::Finished { status, stdout, .. } if status.success() => read(&stdout, program),
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
    use std::fs;
    use std::path::Path;

    use super::{Catalog, Peers, RUST_PEERS, read};

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

    #[test]
    fn peers_are_found_upward_from_a_folder_inside_the_checkout() {
        let checkout = tempfile::tempdir().unwrap();
        let inside = checkout.path().join("crates/deep");
        let peers = checkout.path().join("peers");
        let program = peers.join(RUST_PEERS);
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(peers.join("rust/Cargo.toml"), "").unwrap();
        let starts = [inside];
        assert_eq!(
            Peers::find(None, &starts).unwrap(),
            Peers::Missing {
                looked_for: program.display().to_string()
            }
        );
        fs::write(&program, "").unwrap();
        assert_eq!(
            Peers::find(None, &starts).unwrap(),
            Peers::Found(program.clone())
        );
        assert_eq!(
            Peers::find(Some(&peers), &[]).unwrap(),
            Peers::Found(program)
        );
        let error = Peers::find(Some(&peers.join("nowhere")), &[]).unwrap_err();
        assert!(
            error.to_string().contains("nowhere is not a folder"),
            "{error}"
        );
    }
}
