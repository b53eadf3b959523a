//! One invocation of the lab, from its arguments to its exit code.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use super::arguments::{Action, Against, LabArguments, PeersArguments, RunArguments};
use super::browser::{self, Page};
use super::catalog::Catalog;
use super::experiment::{Experiment, LIMITS};
use super::interrupt::Interrupt;
use super::kept::Kept;
use super::peers::Peers;
use super::plan::Plan;
use super::progress::{Progress, tell};
use super::results::table::Detail;
use super::results::terminal::{self, wrapped};
use super::results::{Format, ResultsFile};
use super::runner::Session;
use super::standings::{Standings, State};
use super::{list, machine, number, report as page, totals, totals_table, verdict};

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
    // Files first: a wrong name is to be heard of before a long measurement, not after it.
    let open = |path: &Option<PathBuf>, format| {
        path.as_deref()
            .map(|path| ResultsFile::open(path, format))
            .transpose()
    };
    let files = [
        open(&arguments.json, Format::Json)?,
        open(&arguments.csv, Format::Csv)?,
    ];
    let kept = arguments.keep.then(Kept::claim).transpose()?;

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
    let page = arguments
        .browser
        .then(|| Page::find(&starts()?, &plan))
        .transpose()?;
    for notice in &plan.notices {
        tell(notice);
    }
    tell(&format!(
        "{} of {}, {} s each: at most about {}. Ctrl-C ends it early and shows what there is.",
        number::counted(plan.runs, "round"),
        number::counted(plan.tasks.len(), "measurement"),
        plan.limit.as_secs_f64(),
        number::wait(plan.estimate().as_secs_f64())
    ));
    let progress = Progress::begin(&plan, std::io::stderr().is_terminal());
    let session = Session::run(&plan, &own_program()?, &interrupt, progress);
    let mut standings = Standings::all(&plan, &session);
    let in_browser = match page.filter(|_| !session.interrupted) {
        Some(page) => {
            tell("Now in the browser: a fresh page for each run, which takes minutes.");
            page.measure(&standings, &interrupt)
        }
        None => Ok(None),
    };
    // What was measured here is written and shown, whatever became of the browser.
    let in_browser = in_browser.map(|found| standings.extend(found.into_iter().flatten()));

    let machine = machine::describe();
    // Files before the terminal, which may have gone; and the terminal also where a disk is full.
    let written = files
        .into_iter()
        .flatten()
        .try_for_each(|file| file.write(&standings, &machine));
    let kept = kept.map(|kept| kept.write(&standings, &machine));
    print(&report(&plan, &session, &standings, &machine, colour()))?;
    written?;
    if let Some(told) = kept.transpose()? {
        tell(&told);
    }
    in_browser?;
    Ok(if session.interrupted {
        ExitCode::from(STOPPED)
    } else if session.failures() > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Everything that a run prints when it has ended.
fn report(
    plan: &Plan,
    session: &Session,
    standings: &[Standings],
    machine: &str,
    colour: bool,
) -> String {
    let detail = if plan.first_look {
        Detail::Short
    } else {
        Detail::Full
    };
    let mut text = wrapped(machine, "");
    text.push_str(&wrapped(
        &format!(
            "{} in {}: {} s each, interleaved, a fresh process for each run. Medians; CPU/op is the time of all cores. * \
             marks ours, – what is not ranked. Every delivery was verified.",
            number::counted(session.rounds, "round"),
            number::wait(session.elapsed.as_secs_f64()),
            plan.limit.as_secs_f64(),
        ),
        "",
    ));
    text.push('\n');
    for standings in standings
        .iter()
        .filter(|standings| standings.rows.iter().any(|row| row.state != State::NotRun))
    {
        text.push_str(&terminal::render(standings, detail, colour));
        for verdict in verdict::verdicts(standings) {
            text.push_str(&wrapped(&format!("→ {verdict}"), "  "));
        }
        text.push('\n');
    }
    if detail == Detail::Full {
        for note in notes(standings) {
            text.push_str(&wrapped(&note, ""));
        }
        text.push_str(&wrapped(&format!("Versions: {}.", versions(standings)), ""));
        let in_all = totals_table::render(&totals::lines(standings), colour);
        if !in_all.is_empty() {
            text.push('\n');
            text.push_str(&in_all);
        }
    }
    text.push_str(&closing(plan, session));
    text
}

/// Where to go from a first look.
const THE_REST: &str = "\
More, by `tamtam lab` or, in a checkout, by ./scripts/lab:
  handover          one experiment whole; `list` names them, and who takes part
  --quick           every variant of each
  run --keep        keeps the figures; `report` makes a page with charts of them
  ./scripts/lab --peers builds other systems, and measures them beside ours
";

/// What must be known to read more than one of the tables rightly.
pub(super) fn notes<'a>(standings: impl IntoIterator<Item = &'a Standings>) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for standings in standings {
        let experiment = Experiment::find(&standings.experiment);
        for published in experiment
            .iter()
            .flat_map(|experiment| experiment.published_beside(&standings.variant))
        {
            published
                .note
                .into_iter()
                .for_each(|note| add(note.to_owned()));
        }
        if let Some(note) = browser::note(standings) {
            add(note);
        }
        for row in standings
            .ranked()
            .filter(|row| LIMITS.contains(&row.contender.as_str()))
        {
            add(format!(
                "{} shows the limit of the hardware; it is not a way to program.",
                row.contender
            ));
        }
    }
    notes
}

/// What the reader must know of the run as a whole.
fn closing(plan: &Plan, session: &Session) -> String {
    let mut text = String::new();
    if session.interrupted {
        text.push_str("Stopped early: the figures are of the runs that were made.\n");
    } else if session.rounds < plan.runs {
        text.push_str(&format!(
            "{} of {} rounds fitted into the time; --runs {} makes them all.\n",
            session.rounds, plan.runs, plan.runs
        ));
    }
    if session.rounds < 5 && !session.interrupted {
        text.push_str("Fewer than 5 rounds are a look, not a comparison to quote: --runs 5.\n");
    }
    if plan.first_look {
        text.push_str(THE_REST);
    }
    if session.failures() > 0 {
        text.push_str(&format!(
            "{} failed; see above.\n",
            number::counted(session.failures(), "contender")
        ));
    }
    text
}

/// The contenders' versions, those of ours as one.
pub(super) fn versions(standings: &[Standings]) -> String {
    let mut versions: Vec<String> = Vec::new();
    let rows = standings
        .iter()
        .flat_map(|standings| standings.rows.iter().map(move |row| (standings, row)));
    for (standings, row) in rows {
        let version = if row.ours {
            format!("ours {}", row.version)
        } else if standings.experiment == "rows" && row.version == env!("CARGO_PKG_VERSION") {
            // Forms of others that come with our program.
            format!("forms in tamtam-rows {}", row.version)
        } else {
            // The two kinds of one crate's channel have one version.
            let name = row.contender.trim_end_matches("-unbounded");
            format!("{name} {}", row.version)
        };
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions.join(", ")
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
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}
