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
    /// They are not built.
    Missing {
        /// Where the first of them would be.
        looked_for: String,
    },
    /// They are here.
    Found(Vec<Program>),
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
        if !rust.is_file() {
            return Ok(Self::Missing {
                looked_for: rust.display().to_string(),
            });
        }
        let mut programs = vec![Program {
            of: "Rust",
            path: rust,
        }];
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
        Ok(Self::Found(programs))
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
            Peers::Missing {
                looked_for: program.display().to_string()
            }
        );
        fs::write(&program, "").unwrap();
        let rust = Program {
            of: "Rust",
            path: program,
        };
        let found = Peers::Found(vec![rust.clone()]);
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
            let both = Peers::Found(vec![rust, Program { of: "Go", path: go }]);
            assert_eq!(Peers::find(None, &starts, true).unwrap(), both);
            assert_eq!(Peers::find(None, &starts, false).unwrap(), found);
        }
    }
}
