//! Which programs can be looked at.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::answer::Answer;
use super::line::Line;
use crate::printable::printable;
use crate::reason::reason;

/// A program that serves.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    /// What it says of itself, or why it says nothing.
    pub(crate) hello: Result<Answer>,
}

/// The folders in which programs of this user have their sockets.
fn folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let mut folders: Vec<_> = runtime
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("tamtam"))
        .into_iter()
        .collect();
    folders.push(PathBuf::from(format!("/tmp/tamtam-{user}")));
    // What another user has made there is not looked into.
    folders.retain(|folder| {
        std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir() && found.uid() == user)
    });
    folders
}

/// All programs that serve. Sockets that were left behind are removed.
pub(crate) fn all() -> Vec<Found> {
    let mut found = Vec::new();
    for folder in folders() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension() == Some(OsStr::new("sock")));
        paths.sort();
        for path in paths {
            match Line::open(&path) {
                Err(error) if is_left_behind(&error) => {
                    // It is of no use any more; if it cannot be removed, so be it.
                    let _ = std::fs::remove_file(&path);
                }
                line => {
                    let hello = line.and_then(|mut line| line.hello());
                    found.push(Found { path, hello });
                }
            }
        }
    }
    found
}

/// Whether a line cannot be opened since the program has ended.
fn is_left_behind(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<std::io::Error>();
    refused.is_some_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

/// The one that is meant.
///
/// # Errors
///
/// If there is none, or more than one: then the error names them.
pub(crate) fn one(wanted: Option<&str>) -> Result<PathBuf> {
    if let Some(path) = wanted.filter(|wanted| wanted.contains('/')) {
        return Ok(PathBuf::from(path));
    }
    let mut found = all();
    let Some(wanted) = wanted else {
        return match found.len() {
            0 => bail!("no program of this user serves its figures; {}", HOW),
            1 => Ok(found.remove(0).path),
            _ => bail!(
                "several programs serve; name one by its number or its name:\n{}",
                list(&found)
            ),
        };
    };
    let number = wanted.parse::<u64>().ok();
    let is_meant = |found: &Found| match &found.hello {
        Ok(hello) => Some(hello.pid) == number || hello.program == wanted,
        Err(_) => found.path.file_stem() == Some(OsStr::new(wanted)),
    };
    let (mut meant, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_meant);
    match meant.len() {
        1 => Ok(meant.remove(0).path),
        0 if others.is_empty() => {
            bail!("no program of this user serves its figures, so {wanted} does not either; {HOW}")
        }
        0 => bail!(
            "no program is called {wanted}, nor is that its number; there are:\n{}",
            list(&others)
        ),
        _ => bail!(
            "several programs are called {wanted}; name one by its number:\n{}",
            list(&meant)
        ),
    }
}

const HOW: &str = "a program does by calling tamtam::actor::observe::serve() first in its main function (feature `top`)";

/// A line for each.
fn list(found: &[Found]) -> String {
    let lines = found.iter().map(|found| match &found.hello {
        Ok(hello) => format!("{:>9}  {}", hello.pid, printable(&hello.program)),
        Err(error) => format!("        ?  {} ({})", found.path.display(), reason(error)),
    });
    lines.collect::<Vec<_>>().join("\n")
}
