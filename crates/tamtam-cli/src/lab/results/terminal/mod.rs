//! What a session prints when it has ended: its tables, verdicts and what must be known beside them.

mod end_to_end;
mod heat;
mod table;
mod totals;

use std::io::Write;

use anyhow::Result;

use super::Writer;
use super::recording::Recording;
use super::remarks::{notes, versions};
use super::table::Detail;
use crate::lab::number;
use crate::lab::plan::Plan;
use crate::lab::runner::Session;
use crate::lab::standings::{Standings, State};
use crate::lab::verdict;

pub(in crate::lab) use self::table::{bold, wrapped};

/// The results of a run, for the person who waits for them.
#[derive(Debug)]
pub(in crate::lab) struct Terminal<'a> {
    /// What was to be measured.
    pub plan: &'a Plan,
    /// What became of it.
    pub session: &'a Session,
    /// Whether it is in colour.
    pub colour: bool,
}

impl Writer for Terminal<'_> {
    fn write(&self, sessions: &[Recording], output: &mut dyn Write) -> Result<()> {
        for Recording {
            machine, standings, ..
        } in sessions
        {
            let text = report(self.plan, self.session, standings, machine, self.colour);
            output.write_all(text.as_bytes())?;
        }
        Ok(output.flush()?)
    }
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
        text.push_str(&table::render(standings, detail, colour));
        // One that is broken off in its first round has not measured all.
        let is_whole = !session.interrupted || session.rounds > 0;
        for verdict in verdict::verdicts(standings).iter().filter(|_| is_whole) {
            text.push_str(&wrapped(&format!("→ {verdict}"), "  "));
        }
        text.push('\n');
    }
    if detail == Detail::Full {
        for note in notes(standings) {
            text.push_str(&wrapped(&note, ""));
        }
        text.push_str(&wrapped(&format!("Versions: {}.", versions(standings)), ""));
        let in_all = totals::render(&crate::lab::totals::lines(standings), colour);
        let map = heat::render(&crate::lab::heat::lines(standings), colour);
        let measured = crate::lab::end_to_end::ahead::lines(standings);
        let measured = end_to_end::render(&measured, colour);
        for behind in [in_all, measured, map]
            .iter()
            .filter(|behind| !behind.is_empty())
        {
            text.push('\n');
            text.push_str(behind);
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
