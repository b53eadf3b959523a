//! One invocation of the lab, from its arguments to its exit code.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use super::arguments::{Action, Against, LabArguments, PeersArguments, RunArguments};
use super::browser::Page;
use super::catalog::Catalog;
use super::end_to_end::EndToEnd;
use super::interrupt::Interrupt;
use super::kept::Kept;
use super::peers::Peers;
use super::plan::Plan;
use super::progress::{Progress, tell};
use super::results::csv::Csv;
use super::results::json::Json;
use super::results::recording::Recording;
use super::results::terminal::Terminal;
use super::results::{ResultsFile, Writer};
use super::runner::Session;
use super::standings::Standings;
use super::{list, machine, number, report as page};
use crate::standard_output;

/// The exit code of a program that a person stopped.
const STOPPED: u8 = 130;

/// Carries out `tamtam lab`.
///
/// The exit code is 1 if a contender failed, 130 if the user stopped the run.
///
/// # Errors
///
/// If an argument is wrong, a file cannot be written, or nothing can be measured.
pub fn command(arguments: LabArguments) -> Result<ExitCode> {
    match arguments.action {
        Some(Action::List(peers)) => show_list(&peers),
        Some(Action::Run(run)) => measure(&run),
        Some(Action::Report(report)) => page::command(&report),
        None => measure(&arguments.run),
    }
}

fn show_list(arguments: &PeersArguments) -> Result<ExitCode> {
    let interrupt = Interrupt::on_signals()?;
    let catalog = gather(arguments, Against::All, &interrupt)?;
    for notice in catalog
        .notices
        .iter()
        .chain(&super::catalog::forms_left_out())
    {
        tell(notice);
    }
    print(&list::render(&catalog, colour()))?;
    Ok(ExitCode::SUCCESS)
}

fn measure(arguments: &RunArguments) -> Result<ExitCode> {
    ensure_two_files(arguments)?;
    let interrupt = Interrupt::on_signals()?;
    // Other runtimes take their time.
    let default = if arguments.quick {
        Against::Rust
    } else {
        Against::All
    };
    let catalog = gather(&arguments.peers, default, &interrupt)?;
    let plan = Plan::make(&catalog, arguments, machine::usable_cores())?;
    // What is missing is to be heard of before a long measurement, too.
    let page = (arguments.browser && !arguments.end_to_end)
        .then(|| Page::find(&starts()?, &plan))
        .transpose()?;
    let end_to_end = arguments
        .end_to_end
        .then(|| EndToEnd::find(&starts()?, &plan, arguments))
        .transpose()?;
    // So is a name that cannot be written; without a plan no file is made.
    let open = |path: &Option<PathBuf>, writer: &'static dyn Writer| {
        path.as_deref()
            .map(|path| ResultsFile::open(path, writer))
            .transpose()
    };
    let files = [open(&arguments.json, &Json)?, open(&arguments.csv, &Csv)?];
    let kept = arguments.keep.then(Kept::claim).transpose()?;
    for notice in &plan.notices {
        tell(notice);
    }
    if let Some(busy) = machine::busy() {
        tell(&busy);
    }
    tell(&format!(
        "{} of {}, {} s each: at most about {}. Ctrl-C ends it early and shows what there is.",
        number::counted(plan.runs, "round"),
        number::counted(plan.tasks.len(), "measurement"),
        plan.limit.as_secs_f64(),
        number::wait(plan.estimate().as_secs_f64())
    ));
    let terminal = std::io::stderr().is_terminal();
    let progress = Progress::begin(plan.runs, plan.tasks.len(), terminal).within(plan.budget);
    let mut session = Session::run(&plan, &own_program()?, &interrupt, progress);
    let mut standings = Standings::all(&plan, &session);
    let in_browser = match page.filter(|_| !session.interrupted) {
        Some(page) => {
            tell("Now in the browser: a fresh page for each run, which takes minutes.");
            page.measure(&standings, &interrupt)
        }
        None => Ok(None),
    };
    let from_end_to_end = match end_to_end.filter(|_| !interrupt.is_raised()) {
        Some(end_to_end) => {
            tell(&end_to_end.about());
            end_to_end.measure(&interrupt, terminal)
        }
        None => Ok(None),
    };
    if interrupt.is_raised() && !session.interrupted {
        session.interrupted = true;
        tell("It was stopped before all was measured in the browser.");
    }
    let in_browser = in_browser.and_then(|found| Ok(found.or(from_end_to_end?)));
    // What was measured here is written and shown, whatever became of the browser.
    let in_browser = in_browser.map(|found| standings.extend(found.into_iter().flatten()));

    let measured = [Recording::taken(machine::describe(), standings)];
    // Each of them whatever became of the others: the terminal may have gone, and a disk may be full.
    let written = files
        .into_iter()
        .flatten()
        .map(|file| file.write(&measured))
        .fold(Ok(()), Result::and);
    let kept = kept.map(|kept| kept.write(&measured));
    let terminal = Terminal {
        plan: &plan,
        session: &session,
        colour: colour(),
    };
    let shown = terminal.write(&measured, &mut standard_output::lock());
    written?;
    if let Some(told) = kept.transpose()? {
        tell(&told);
    }
    in_browser?;
    if let Err(error) = shown
        && !standard_output::reader_has_gone(&error)
    {
        return Err(error);
    }
    Ok(if session.interrupted {
        ExitCode::from(STOPPED)
    } else if session.failures() > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// # Errors
///
/// If both forms are to be written into the same file.
fn ensure_two_files(arguments: &RunArguments) -> Result<()> {
    let place = |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
    let places = (place(&arguments.json)?, place(&arguments.csv)?);
    if let (Some(json), Some(csv)) = places {
        ensure!(
            json != csv,
            "--json and --csv name the same file, {}",
            json.display()
        );
    }
    Ok(())
}

fn gather(arguments: &PeersArguments, default: Against, interrupt: &Interrupt) -> Result<Catalog> {
    let own_program = own_program()?;
    let peers = match arguments.against.unwrap_or(default) {
        Against::None => Peers::NotWanted,
        against @ (Against::All | Against::Rust) => {
            let all = against == Against::All;
            Peers::find(arguments.peers.as_deref(), &starts()?, all)?
        }
    };
    Catalog::gather(&own_program, &peers, interrupt)
}

/// From where to look upward for the checkout.
fn starts() -> Result<Vec<PathBuf>> {
    Ok(std::env::current_dir()
        .into_iter()
        .chain([own_program()?])
        .collect())
}

fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("this program cannot find itself")
}

/// Whether the output is for the eyes of a person who did not say no.
fn colour() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !set("NO_COLOR") && !dumb
}

pub(super) fn print(text: &str) -> Result<()> {
    let mut stdout = standard_output::lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
