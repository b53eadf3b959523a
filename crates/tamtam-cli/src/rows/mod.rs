//! `tamtam rows`: what each form of a table costs, on the user's own data.
//!
//! Rows come out of files and databases (`source`), are tried in each form (`trial`), and what is best at which link
//! speed is said (`verdict`, `report`). Files are shown (`show`) and converted (`output`).

pub mod arguments;
mod format;
mod output;
mod progress;
mod report;
mod show;
mod source;
mod trial;
mod verdict;

use std::io::{Write, stdout};
use std::process::ExitCode;

use anyhow::{Result, bail};

use arguments::{Action, RowsArguments, TryArguments};
use source::{First, Source};

/// Does what the arguments say.
///
/// # Errors
///
/// If a file or a database cannot be read, or a file cannot be written; each error says which and why.
pub fn command(arguments: RowsArguments) -> Result<ExitCode> {
    match arguments.action {
        Some(Action::Show(show)) => show::command(&show)?,
        Some(Action::Convert(convert)) => {
            let rows = output::convert(&Source::file(&convert.from)?, &convert.to)?;
            writeln!(stdout(), "{rows} rows written to {}", convert.to.display())?;
        }
        None => try_each(&arguments.data)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn try_each(arguments: &TryArguments) -> Result<()> {
    let source = match (&arguments.file, &arguments.db, &arguments.query) {
        (Some(file), None, None) => Source::file(file)?,
        (None, Some(url), Some(query)) => Source::query(url, query)?,
        _ => bail!("give a file, or a database and a query: --db URL --query SQL"),
    };
    if let Some(path) = &arguments.write {
        let rows = output::convert(&source, path)?;
        writeln!(stdout(), "{rows} rows written to {}", path.display())?;
        return Ok(());
    }
    let mut first = First::new(arguments.rows);
    source.stream(&mut first)?;
    let is_part = first.is_cut();
    let rows = first.rows()?;
    if rows.is_empty() {
        bail!("there are no rows to try");
    }
    let trials = trial::all(&rows)?;
    let mut out = stdout().lock();
    if arguments.json {
        report::json(&rows, &trials, &mut out)
    } else {
        report::text(&source, &rows, is_part, &trials, &mut out)
    }
}
