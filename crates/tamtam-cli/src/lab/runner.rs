//! Carries a plan out: each run in a fresh process, round after round.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use super::answer;
use super::child::{self, Ending};
use super::hog::Hogs;
use super::interrupt::Interrupt;
use super::plan::{Plan, Task};
use super::progress::Progress;
use crate::reason::reason;
use tamtam_lab::Outcome;

/// A contender ends itself by then if it hangs, with a better message than ours; so we wait longer, also for one that
/// has only a small share of a core.
fn patience(limit: Duration) -> Duration {
    limit * 40 + Duration::from_secs(120)
}

/// What became of one task.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// What its runs so far gave.
    pub outcomes: Vec<Outcome>,
    /// Why it failed; then none of its figures count.
    pub failure: Option<String>,
}

/// What became of a plan.
#[derive(Debug)]
pub(super) struct Session {
    /// One for each task, in the plan's order.
    pub records: Vec<Record>,
    /// How many rounds were completed.
    pub rounds: usize,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl Session {
    /// Runs `plan`; `own_program`, this very program, provides the hogs.
    #[must_use]
    pub(super) fn run(
        plan: &Plan,
        own_program: &Path,
        interrupt: &Interrupt,
        mut progress: Progress,
    ) -> Self {
        let start = Instant::now();
        let mut records: Vec<Record> = plan.tasks.iter().map(|_| Record::default()).collect();
        let (mut rounds, mut longest) = (0, Duration::ZERO);
        'rounds: for round in 1..=plan.runs {
            let round_start = Instant::now();
            if plan
                .budget
                .is_some_and(|budget| round > 1 && start.elapsed() + longest > budget)
            {
                break;
            }
            for place in plan.order(round) {
                let (task, record) = (&plan.tasks[place], &mut records[place]);
                if record.failure.is_none() {
                    let Task {
                        experiment,
                        variant,
                        contender,
                        ..
                    } = task;
                    progress.running(round, format_args!("{experiment} {variant} {contender}"));
                    match run_once(task, plan.limit, own_program, interrupt) {
                        Ok(Some(outcome)) => record.outcomes.push(outcome),
                        Ok(None) => break 'rounds,
                        Err(error) => record.failure = Some(reason(&error)),
                    }
                }
                progress.ran(task, record.outcomes.last());
            }
            rounds = round;
            longest = longest.max(round_start.elapsed());
            progress.round_ended(round);
        }
        progress.end();
        Self {
            records,
            rounds,
            interrupted: interrupt.is_raised(),
            elapsed: start.elapsed(),
        }
    }

    /// How many contenders failed.
    #[must_use]
    pub(super) fn failures(&self) -> usize {
        self.records
            .iter()
            .filter(|record| record.failure.is_some())
            .count()
    }
}

/// Runs `task` once; `None` if the user stopped it.
fn run_once(
    task: &Task,
    limit: Duration,
    own_program: &Path,
    interrupt: &Interrupt,
) -> Result<Option<Outcome>> {
    if interrupt.is_raised() {
        return Ok(None);
    }
    let hogs = if task.wants_hogs() {
        Some(Hogs::start(own_program)?)
    } else {
        None
    };
    let mut command = Command::new(&*task.program);
    command.args([
        "contender",
        "run",
        &task.experiment,
        &task.contender,
        &task.variant,
    ]);
    command.arg("--limit-ms").arg(limit.as_millis().to_string());
    let ending = child::run(command, patience(limit), interrupt)?;
    drop(hogs);
    match ending {
        Ending::Interrupted => {
            interrupt.raise();
            Ok(None)
        }
        Ending::TimedOut => bail!("it gave no result within {} s", patience(limit).as_secs()),
        Ending::Finished { status, stdout, .. } if status.success() => {
            answer::read(&stdout, task).map(Some)
        }
        Ending::Finished { status, stderr, .. } => Err(match stderr.trim() {
            "" => anyhow!("it ended with {status} and no word"),
            words => anyhow!("{words}"),
        }),
    }
}
