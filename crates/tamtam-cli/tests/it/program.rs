//! Starting the program as a person does: the real binary, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder of its own for a test.
pub(crate) struct Place {
    folder: TempDir,
}

/// How a command ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn empty() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `tamtam` with `words`, in this folder.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tamtam"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ended {
        Ended::of(&mut self.command(words))
    }
}

impl Ended {
    /// How this command ends.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
