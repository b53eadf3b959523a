//! `tamtam lab report`: results as a page with charts, and those of several days compared.
//!
//! `comparison` sets each figure beside those of other sessions, `findings` says what
//! changed, and `page` puts it together from the totals of `rows` (`totals`, `end_to_end`, drawn by `by_link`) and the variants (`variant`), their charts
//! (`chart` of one session, `tracks` of several, both on logarithmic axes: `scale`) and what is drawn in them (`drawn`).

mod by_link;
mod chart;
mod comparison;
mod drawn;
mod end_to_end;
mod findings;
mod heat;
mod page;
mod scale;
mod totals;
mod tracks;
mod variant;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use maud::Markup;

use self::page::Page;

use super::arguments::ReportArguments;
use super::progress::tell;
use super::results::Writer;
use super::results::recording::Recording;
use super::results::terminal::wrapped;
use super::standings::Standings;
use super::{kept, number, session};
use crate::reason::reason;
use crate::standard_output;

/// The name of the output that is no file.
const STANDARD_OUTPUT: &str = "-";

/// Carries out `tamtam lab report`.
///
/// The exit code is 1 if files were left out.
///
/// # Errors
///
/// If there are no results, a file is not one (unless such are to be left out), or the page cannot be written.
pub(super) fn command(arguments: &ReportArguments) -> Result<ExitCode> {
    let files = chosen(&arguments.files)?;
    ensure_output_is_no_input(&arguments.out, &files)?;
    let (mut recordings, mut left_out) = (Vec::new(), Vec::new());
    for (label, path) in &files {
        match Recording::read(path, label.as_deref()) {
            Ok(recording) => recordings.push(recording),
            Err(error) if arguments.keep_going => left_out.push(reason(&error)),
            Err(error) if files.len() > 1 => {
                return Err(error.context("--keep-going leaves such files out"));
            }
            Err(error) => return Err(error),
        }
    }
    for reason in &left_out {
        tell(&format!("left out: {reason}"));
    }
    ensure!(!recordings.is_empty(), "no file is left to report on");
    put_in_order(&mut recordings);
    tell_labels_apart(&mut recordings);

    let html = Html {
        left_out: &left_out,
    };
    if arguments.out.as_os_str() == STANDARD_OUTPUT {
        html.write(&recordings, &mut standard_output::lock())?;
    } else {
        fs::File::create(&arguments.out)
            .map_err(anyhow::Error::from)
            .and_then(|mut file| html.write(&recordings, &mut file))
            .with_context(|| format!("{} cannot be written", arguments.out.display()))?;
        let page = Page::of(&recordings, &left_out);
        let mut text = String::new();
        for line in page.headlines() {
            let indent = if line.starts_with(' ') { "  " } else { "" };
            text.push_str(&wrapped(&line, indent));
        }
        let figures: usize = recordings.iter().map(|recording| recording.figures).sum();
        text.push_str(&format!(
            "{} of {} in {}\n",
            number::counted(figures, "figure"),
            number::counted(recordings.len(), "session"),
            arguments.out.display()
        ));
        session::print(&text)?;
    }
    Ok(if left_out.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Sessions as a page that a browser shows.
#[derive(Debug)]
struct Html<'a> {
    /// Files that are missing in it, and why.
    left_out: &'a [String],
}

impl Writer for Html<'_> {
    fn write(&self, sessions: &[Recording], output: &mut dyn Write) -> Result<()> {
        let page = Page::of(sessions, self.left_out).render();
        output.write_all(page.as_bytes())?;
        Ok(output.flush()?)
    }
}

/// The files that are meant, with the labels that were given.
fn chosen(arguments: &[impl AsRef<OsStr>]) -> Result<Vec<(Option<String>, PathBuf)>> {
    if arguments.is_empty() {
        let folder = kept::folder()?;
        let files = kept::files(&folder)?;
        if files.is_empty() {
            bail!(
                "there are no results in {}: `tamtam lab run --keep` measures and keeps some there, or name files that \
                 `tamtam lab run --json FILE` wrote",
                folder.display()
            );
        }
        return Ok(files.into_iter().map(|path| (None, path)).collect());
    }
    let files: Vec<(Option<String>, PathBuf)> = arguments
        .iter()
        .map(|argument| labelled(argument.as_ref()))
        .collect();
    let mut seen = HashSet::new();
    for (_, path) in &files {
        // What is not there is told when it is read.
        let whole = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        ensure!(
            seen.insert(whole),
            "{} is given twice: it would be compared with itself",
            path.display()
        );
    }
    Ok(files)
}

/// `LABEL=FILE`, or a file alone; a file of that very name comes first.
fn labelled(argument: &OsStr) -> (Option<String>, PathBuf) {
    let whole = PathBuf::from(argument);
    match argument.to_str().and_then(|text| text.split_once('=')) {
        Some((label, path)) if !label.trim().is_empty() && !path.is_empty() && !whole.exists() => {
            (Some(label.trim().to_owned()), PathBuf::from(path))
        }
        _ => (None, whole),
    }
}

/// A slip such as `--out 2026-11-21.jsonl` would put the page in place of the results.
fn ensure_output_is_no_input(out: &Path, files: &[(Option<String>, PathBuf)]) -> Result<()> {
    let Ok(out) = fs::canonicalize(out) else {
        return Ok(());
    };
    for (_, path) in files {
        ensure!(
            fs::canonicalize(path).ok().as_ref() != Some(&out),
            "--out: {} is one of the results",
            path.display()
        );
    }
    Ok(())
}

/// What is drawn of the newest of `recordings`, oldest first, whose figures make some lines; nothing if those of none do.
#[must_use]
fn newest<L>(
    recordings: &[&Recording],
    lines: impl Fn(&[Standings]) -> Vec<L>,
    draw: impl Fn(&str, &[L]) -> Markup,
) -> Option<Markup> {
    recordings.iter().rev().find_map(|recording| {
        let lines = lines(&recording.standings);
        (!lines.is_empty()).then(|| draw(&recording.label, &lines))
    })
}

/// Puts them in the order of their dates if all have one; otherwise they stay as they are.
fn put_in_order(recordings: &mut [Recording]) {
    if recordings.iter().all(|recording| recording.day.is_some()) {
        recordings.sort_by(|one, other| one.day.cmp(&other.day));
    }
}

/// Calls those that share a label by their files.
fn tell_labels_apart(recordings: &mut [Recording]) {
    let mut seen = HashSet::new();
    let twice: HashSet<String> = recordings
        .iter()
        .filter(|recording| !seen.insert(recording.label.clone()))
        .map(|recording| recording.label.clone())
        .collect();
    for recording in recordings {
        if twice.contains(&recording.label) {
            recording.label = format!("{} ({})", recording.label, recording.path.display());
        }
    }
}

/// `text` with a capital letter, as sentences and captions begin.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
