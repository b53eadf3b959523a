//! Where the peers' programs are: those of Rust, and those of other runtimes.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

/// Where a folder of peers keeps the program of the Rust ones.
pub(super) const RUST: &str = "rust/target/release/tamtam-peers-rust";

/// Other runtimes, and where a folder of peers keeps the programs that run theirs. Each says itself what it misses.
const RUNTIMES: &[(&str, &str)] = &[
    ("Go", "go/run"),
    ("Erlang", "erlang/run"),
    ("the JVM", "jvm/run"),
    ("Python", "python/run"),
];

/// A program of peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Whose peers they are.
    pub of: &'static str,
    /// Where it is.
    pub path: PathBuf,
}

/// The programs of the peers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Peers {
    /// The user does not want them.
    NotWanted,
    /// There is no folder of peers.
    Missing {
        /// Where the first of them would be.
        looked_for: String,
    },
    /// Some of them may be here.
    Found {
        /// Those whose programs or scripts are there.
        programs: Vec<Program>,
        /// Where the program of the Rust ones would be, if it is not there.
        missing: Option<String>,
    },
}

impl Peers {
    /// Looks for the peers in `folder`, or in the folder `peers` of the checkout around one of `starts`; those of other
    /// runtimes only if they are `all` wanted.
    ///
    /// # Errors
    ///
    /// If `folder` is given and is not a folder.
    pub(super) fn find(folder: Option<&Path>, starts: &[PathBuf], all: bool) -> Result<Self> {
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
                looked_for: format!("peers/{RUST}"),
            });
        };
        let rust = folder.join(format!("{RUST}{}", std::env::consts::EXE_SUFFIX));
        let missing = (!rust.is_file()).then(|| rust.display().to_string());
        let mut programs = Vec::new();
        if missing.is_none() {
            programs.push(Program {
                of: "Rust",
                path: rust,
            });
        }
        // They are scripts, which this system can start.
        if all && cfg!(unix) {
            programs.extend(
                RUNTIMES
                    .iter()
                    .map(|&(of, path)| Program {
                        of,
                        path: folder.join(path),
                    })
                    .filter(|program| program.path.is_file()),
            );
        }
        Ok(Self::Found { programs, missing })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn peers_are_found_upward_from_a_folder_inside_the_checkout() {
        let checkout = tempfile::tempdir().unwrap();
        let inside = checkout.path().join("crates/deep");
        let peers = checkout.path().join("peers");
        let program = peers.join(RUST);
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(peers.join("rust/Cargo.toml"), "").unwrap();
        let starts = [inside];
        assert_eq!(
            Peers::find(None, &starts, true).unwrap(),
            Peers::Found {
                programs: Vec::new(),
                missing: Some(program.display().to_string()),
            }
        );
        assert!(matches!(
            Peers::find(None, &[], true).unwrap(),
            Peers::Missing { .. }
        ));
        fs::write(&program, "").unwrap();
        let rust = Program {
            of: "Rust",
            path: program,
        };
        let found = Peers::Found {
            programs: vec![rust.clone()],
            missing: None,
        };
        assert_eq!(Peers::find(None, &starts, true).unwrap(), found);
        assert_eq!(Peers::find(Some(&peers), &[], true).unwrap(), found);
        let error = Peers::find(Some(&peers.join("nowhere")), &[], true).unwrap_err();
        assert!(
            error.to_string().contains("nowhere is not a folder"),
            "{error}"
        );
        if cfg!(unix) {
            let go = peers.join("go/run");
            fs::create_dir_all(go.parent().unwrap()).unwrap();
            fs::write(&go, "").unwrap();
            let go = Program { of: "Go", path: go };
            let both = Peers::Found {
                programs: vec![rust.clone(), go.clone()],
                missing: None,
            };
            assert_eq!(Peers::find(None, &starts, true).unwrap(), both);
            assert_eq!(Peers::find(None, &starts, false).unwrap(), found);
            // Those of another runtime take part without those of Rust.
            fs::remove_file(&rust.path).unwrap();
            let alone = Peers::Found {
                programs: vec![go],
                missing: Some(rust.path.display().to_string()),
            };
            assert_eq!(Peers::find(None, &starts, true).unwrap(), alone);
        }
    }
}
