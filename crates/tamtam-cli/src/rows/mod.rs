//! `tamtam rows`: what each form of a table costs, on the user's own data.
//!
//! Rows come out of files and databases (`source`), are tried in each form (`trial`), and what is best at which link
//! speed is said (`verdict`, `report`). Files are shown (`show`) and converted (`output`).

pub mod arguments;
mod format;
mod input;
mod output;
mod progress;
mod report;
mod show;
mod source;
mod trial;
mod verdict;

use std::io::{Write, stderr};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use arguments::{Action, RowsArguments, TryArguments};
#[cfg(feature = "gateway")]
pub(crate) use show::print_table;
use source::{First, Source};

use crate::number::whole;
use crate::printable::printable;
use crate::standard_output;

/// Does what the arguments say.
///
/// # Errors
///
/// If a file or a database cannot be read, or a file cannot be written; each error says which and why.
pub fn command(arguments: RowsArguments) -> Result<ExitCode> {
    match arguments.action {
        Some(Action::Show(show)) => show::command(&show)?,
        Some(Action::Convert(convert)) => {
            let source = Source::file(&convert.from_file, &convert.reading)?;
            write(&source, &convert.to_file)?;
        }
        None => try_each(&arguments.data)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn try_each(arguments: &TryArguments) -> Result<()> {
    let source = match (&arguments.file, &arguments.db, &arguments.query) {
        (Some(file), None, None) => Source::file(file, &arguments.reading)?,
        (None, Some(url), Some(query)) => Source::query(url, query)?,
        _ => bail!("give a file, or a database and a query: --db URL --query SQL"),
    };
    if let Some(path) = &arguments.write {
        return write(&source, path);
    }
    let mut first = First::new(arguments.rows);
    source.stream(&mut first, arguments.rows)?;
    let is_part = first.is_cut();
    let rows = first.rows()?;
    if rows.is_empty() {
        bail!("there are no rows to try");
    }
    let time = trial::LongEnough(Duration::from_millis(arguments.each));
    let trials = trial::all(&rows, time)?;
    let plans = trial::plans(&rows, time);
    let mut out = standard_output::lock();
    if arguments.json {
        report::json(&rows, &trials, &plans, &mut out)?;
    } else {
        report::text(&source, &rows, is_part, &trials, &plans, &mut out)?;
    }
    drop(out);
    note(&source);
    Ok(())
}

/// Writes all rows to a file.
fn write(source: &Source, path: &Path) -> Result<()> {
    let rows = output::convert(source, path)?;
    writeln!(
        standard_output::lock(),
        "{} written to {}",
        counted(rows, "row"),
        path.display()
    )?;
    note(source);
    Ok(())
}

/// Says beside the results what is worth a word about the types that were found.
fn note(source: &Source) {
    for note in source.notes() {
        // A closed standard error leaves no reader to tell.
        let _ = writeln!(stderr(), "note: {}", printable(&note));
    }
}

/// `1 row`, `2,000 rows`.
fn counted(count: u64, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", whole(count))
}
