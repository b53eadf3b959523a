//! The folder in which results are kept by choice, `lab/results`: one file for each session, named after its day.

use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::results::ResultsFile;
use super::results::json::Json;
use super::results::recording::{Day, Recording};

/// Where results are kept, in a checkout or in the current folder.
const FOLDER: &str = "lab/results";

/// How their names end.
const ENDING: &str = "jsonl";

/// More sessions of one day than there are runs: beyond it, something else is wrong.
const MOST_OF_A_DAY: usize = 9_999;

/// A place in the folder, taken before anything is measured and given back if nothing comes of it.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    /// `None` once it is written.
    file: Option<ResultsFile>,
}

impl Kept {
    /// Takes the first free name of today.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made or written.
    pub(super) fn claim() -> Result<Self> {
        let today = jiff::Zoned::now().date().to_string();
        Self::claim_in(&folder()?, &today)
    }

    /// Takes `DAY.jsonl` in `folder`, or `DAY-2.jsonl` if that is there, and so on.
    fn claim_in(folder: &Path, day: &str) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        for number in 1..=MOST_OF_A_DAY {
            let name = if number == 1 {
                format!("{day}.{ENDING}")
            } else {
                format!("{day}-{number}.{ENDING}")
            };
            let path = folder.join(name);
            // A name belongs to the one who made the file: two sessions at once never get the same.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => {
                    let file = Some(ResultsFile::open(&path, &Json)?);
                    return Ok(Self { path, file });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("{} cannot be written", path.display()));
                }
            }
        }
        bail!("{} is full of results of {day}", folder.display())
    }

    /// Writes the figures of this session and says where; without any, the place is free again.
    ///
    /// # Errors
    ///
    /// If the file cannot be written; then it is removed, and the place is free again.
    pub(super) fn write(mut self, sessions: &[Recording]) -> Result<String> {
        if sessions.iter().all(|session| session.figures == 0) {
            return Ok("There are no figures, so none are kept.".to_owned());
        }
        if let Some(file) = self.file.take()
            && let Err(error) = file.write(sessions)
        {
            self.remove();
            return Err(error);
        }
        Ok(format!(
            "Kept as {}; `tamtam lab report` shows and compares what is kept.",
            self.path.display()
        ))
    }

    /// Removes a file without all figures, which would be in the way of a report; if it cannot go, the report says so.
    fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            self.remove();
        }
    }
}

/// The folder of the checkout around the current folder, or else the one in the current folder.
///
/// # Errors
///
/// If there is no current folder.
pub(super) fn folder() -> Result<PathBuf> {
    let here = std::env::current_dir().context("there is no current folder")?;
    Ok(folder_around(&here))
}

fn folder_around(here: &Path) -> PathBuf {
    let around = here
        .ancestors()
        .find(|ancestor| {
            ancestor.join(FOLDER).is_dir() || ancestor.join("peers/rust/Cargo.toml").is_file()
        })
        .unwrap_or(here);
    // A name without the way to it is what a person here would write.
    if around == here {
        PathBuf::from(FOLDER)
    } else {
        around.join(FOLDER)
    }
}

/// The results that are kept in `folder`: those whose names begin with no date, by name, and then the others in the order of their days.
///
/// # Errors
///
/// If the folder is there and cannot be read.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", folder.display()));
        }
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry
            .with_context(|| format!("{} cannot be read", folder.display()))?
            .path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            files.push(path);
        }
    }
    let day = |path: &Path| Day::of(path.file_stem()?.to_str()?);
    files.sort_by_cached_key(|path| (day(path), path.clone()));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Kept, files, folder_around};
    use crate::lab::results::ResultsFile;
    use crate::lab::results::json::Json;
    use crate::lab::results::recording::Recording;
    use crate::lab::standings::samples::standings;

    #[test]
    fn a_second_session_of_a_day_gets_a_number_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let results = folder.path().join("lab/results");
        let measured = |machine: &str| {
            let sample = ("+slot", Ok(&[&[("ns_per_op", 180.0)][..]][..]), None);
            let standings = standings("handover", "1000/free", &[sample]);
            [Recording::taken(machine.to_owned(), vec![standings])]
        };
        for machine in ["first", "second", "third"] {
            let told = Kept::claim_in(&results, "2026-11-21")
                .unwrap()
                .write(&measured(machine))
                .unwrap();
            assert!(told.starts_with("Kept as "), "{told}");
        }
        let kept = files(&results).unwrap();
        let names: Vec<_> = kept
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "2026-11-21.jsonl",
                "2026-11-21-2.jsonl",
                "2026-11-21-3.jsonl"
            ]
        );
        for (path, machine) in kept.iter().zip(["first", "second", "third"]) {
            let text = fs::read_to_string(path).unwrap();
            assert!(
                text.contains(&format!("\"machine\":\"{machine}\"")),
                "{text}"
            );
        }
    }

    /// By their paths the second session of a day came before the first, which the page shows as they come where a name has no date.
    #[test]
    fn files_are_in_the_order_of_their_days_behind_those_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let expected = [
            "before.jsonl",
            "old-laptop.jsonl",
            "2025-12-31.jsonl",
            "2026-11-21.jsonl",
            "2026-11-21-2.jsonl",
            "2026-11-21-10.jsonl",
        ];
        for name in expected {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let files = files(folder.path()).unwrap();
        let names = files.iter().map(|path| path.file_name().unwrap());
        assert!(names.eq(expected), "{files:?}");
    }

    /// The beginning of it stayed, which no report could read.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_written_as_a_whole_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-21.jsonl");
        // All that is written there is refused, as by a disk that is full.
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let claimed = Kept {
            file: Some(ResultsFile::open(&path, &Json).unwrap()),
            path,
        };
        let standings = standings(
            "handover",
            "1000/free",
            &[("+slot", Ok(&[&[("ns_per_op", 180.0)]]), None)],
        );
        let measured = [Recording::taken("machine".to_owned(), vec![standings])];
        let error = claimed.write(&measured).unwrap_err();
        assert!(error.to_string().ends_with("cannot be written"), "{error}");
        assert!(files(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn without_figures_the_name_is_free_again() {
        let folder = tempfile::tempdir().unwrap();
        let standings = standings("handover", "1000/free", &[("+slot", Err("broken"), None)]);
        let measured = [Recording::taken("machine".to_owned(), vec![standings])];
        let claimed = Kept::claim_in(folder.path(), "2026-11-21").unwrap();
        assert_eq!(files(folder.path()).unwrap().len(), 1);
        assert!(claimed.write(&measured).unwrap().contains("no figures"));
        drop(Kept::claim_in(folder.path(), "2026-11-22").unwrap());
        assert!(files(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn the_folder_is_that_of_the_checkout_or_in_the_current_folder() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(folder_around(&inner).to_str(), Some("lab/results"));
        fs::create_dir_all(place.path().join("peers/rust")).unwrap();
        fs::write(place.path().join("peers/rust/Cargo.toml"), "").unwrap();
        assert_eq!(folder_around(&inner), place.path().join("lab/results"));
        assert_eq!(folder_around(place.path()).to_str(), Some("lab/results"));
    }

    #[test]
    fn a_folder_that_is_not_there_holds_nothing() {
        let place = tempfile::tempdir().unwrap();
        assert!(files(&place.path().join("lab/results")).unwrap().is_empty());
    }
}
