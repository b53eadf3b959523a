//! What a person sees while the lab measures: a bar on a terminal, a line for each round elsewhere.
//!
//! It is drawn between two runs only: a bar that redraws by itself would take time from what is measured.

use std::fmt::Display;
use std::io::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::metric::Metric;
use super::number;
use super::plan::Task;
use super::results::terminal::wrapped;
use tamtam_lab::Outcome;

/// The progress of one session, on standard error.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    start: Instant,
    done: usize,
    total: usize,
    rounds: usize,
    budget: Option<Duration>,
    /// The newest figure: a person sees one from the first second on.
    newest: String,
}

impl Progress {
    /// Begins to show the progress of so many `rounds` of so many runs; with `terminal` as a bar, otherwise as plain lines.
    #[must_use]
    pub(super) fn begin(rounds: usize, runs_a_round: usize, terminal: bool) -> Self {
        let total = rounds * runs_a_round;
        let bar = terminal.then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr());
            let template = "{bar:24} {pos}/{len}  {wide_msg}";
            // The template is ours: it is right, or the bar shows its default.
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("━╸─"));
            }
            bar
        });
        Self {
            bar,
            start: Instant::now(),
            done: 0,
            total,
            rounds,
            budget: None,
            newest: String::new(),
        }
    }

    /// It ends by then, if there is a budget of time.
    #[must_use]
    pub(super) fn within(self, budget: Option<Duration>) -> Self {
        Self { budget, ..self }
    }

    /// `run` is about to begin in round `round`, counted from 1.
    pub(super) fn running(&self, round: usize, run: impl Display) {
        let Some(bar) = &self.bar else { return };
        let rest = match self.rest() {
            Some(rest) => format!(", {} left", number::wait(rest.as_secs_f64())),
            None => String::new(),
        };
        bar.set_message(format!(
            "round {round} of {}{rest}  {}{run}",
            self.rounds, self.newest
        ));
    }

    /// One run of `task` is done, or needs no doing; `outcome` is what it gave.
    pub(super) fn ran(&mut self, task: &Task, outcome: Option<&Outcome>) {
        let known = outcome
            .and_then(|outcome| outcome.metrics.first())
            .and_then(|figure| Some((Metric::find(&figure.metric)?, figure.value)));
        if let Some((metric, value)) = known {
            let figure = (metric.sentence)(value);
            self.newest = format!("[{}: {figure}]  ", task.contender);
        }
        self.reached(self.done + 1);
    }

    /// So many runs are done.
    pub(super) fn reached(&mut self, done: usize) {
        self.done = done;
        if let Some(bar) = &self.bar {
            bar.set_position(self.done as u64);
        }
    }

    /// Round `round` is done.
    pub(super) fn round_ended(&self, round: usize) {
        if self.bar.is_none() {
            let rest = match self.rest() {
                Some(rest) if self.done < self.total => {
                    format!(", {} left", number::wait(rest.as_secs_f64()))
                }
                _ => String::new(),
            };
            tell(&format!(
                "round {round} of {}: {} of {} runs done{rest}",
                self.rounds, self.done, self.total
            ));
        }
    }

    /// Takes the bar away.
    pub(super) fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }

    /// How long the rest will take if it goes on as it began.
    fn rest(&self) -> Option<Duration> {
        if self.done == 0 {
            return None;
        }
        let share = (self.total - self.done) as f64 / self.done as f64;
        let elapsed = self.start.elapsed();
        let rest = elapsed.mul_f64(share);
        Some(
            self.budget
                .map_or(rest, |budget| rest.min(budget.saturating_sub(elapsed))),
        )
    }
}

/// Prints lines of words to standard error, broken between words; a closed one is no reason to stop.
pub(super) fn tell(text: &str) {
    let lines: String = text.lines().map(|line| wrapped(line, "")).collect();
    let _ = std::io::stderr().write_all(lines.as_bytes());
}
