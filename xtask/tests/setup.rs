//! `scripts/setup` on a machine where something is missing, with stand-ins for what would install it.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What the script uses on its way to a package.
const USED: [&str; 6] = ["bash", "dirname", "head", "sed", "sh", "timeout"];

/// A folder that is all of the `PATH`.
struct Programs {
    folder: TempDir,
}

impl Programs {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in USED {
            symlink(found(name), folder.path().join(name)).unwrap();
        }
        Programs { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A program that is these lines for the shell.
    fn add(&self, name: &str, lines: &str) {
        let path = self.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// The program of this name in our own `PATH`.
fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|program| program.exists())
        .unwrap_or_else(|| panic!("there is no {name}"))
}

/// It halted, as all that reads a terminal behind its foreground.
#[test]
fn a_user_on_a_terminal_is_asked_for_a_password() {
    let programs = Programs::new();
    programs.add("id", "echo 1000");
    programs.add(
        "sudo",
        "read -r word </dev/tty && echo \"$word\" >>\"$FOLDER/asked\" && exec \"$@\"",
    );
    programs.add("apt-get", "echo \"$@\" >>\"$FOLDER/installed\"");
    let setup = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/setup");
    // Longer than it takes anywhere, and shorter than the script's own patience.
    let mut child = Command::new(found("timeout"))
        .arg("60")
        .arg(found("script"))
        .args(["--quiet", "--return", "--command"])
        .arg(format!("{} shell", setup.display()))
        .arg("/dev/null")
        .env("PATH", programs.path())
        .env("FOLDER", programs.path())
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keys = child.stdin.take().unwrap();
    keys.write_all(b"secret\nsecret\n").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(keys);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {said}", output.status);
    let read = |name: &str| fs::read_to_string(programs.path().join(name)).unwrap();
    assert_eq!(read("asked"), "secret\nsecret\n");
    let installed = read("installed");
    assert!(installed.starts_with("update "), "{installed}");
    assert!(
        installed.contains("install ") && installed.ends_with(" shellcheck\n"),
        "{installed}"
    );
}
