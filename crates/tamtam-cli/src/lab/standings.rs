//! Who stands where: the figures of a session, summarised and ordered, one group for each variant.

use super::metric::Metric;
use super::origin;
use super::plan::{Plan, Task};
use super::runner::{Record, Session};
use super::statistics::Summary;

/// All contenders of one variant.
#[derive(Debug)]
pub(super) struct Standings {
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// The metric that orders the contenders: the one that they put first; `None` if none gave a figure.
    pub primary: Option<String>,
    /// The contenders, best first.
    pub rows: Vec<Row>,
}

/// One contender of one variant.
#[derive(Debug)]
pub(super) struct Row {
    /// The contender.
    pub contender: String,
    /// Its version.
    pub version: String,
    /// Whether it is one of ours.
    pub ours: bool,
    /// How it stands.
    pub state: State,
    /// Its figures, in the order in which it gave them; none if it failed.
    pub figures: Vec<Figure>,
    /// What it says of its figures.
    pub note: Option<String>,
}

/// One metric of one contender, over all runs.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What the runs gave.
    pub summary: Summary,
    /// Whether it is the best one, of a metric whose best is marked.
    pub is_best: bool,
}

impl Figure {
    #[must_use]
    pub(super) fn new(metric: &str, unit: &str, summary: Summary) -> Self {
        Self {
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            summary,
            is_best: false,
        }
    }
}

/// How a contender stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Compared with the others.
    Ranked,
    /// Shown, but not compared: its operations do not hand anything over, or it has other figures than those compared.
    Unranked,
    /// It failed, for this reason; none of its figures count.
    Failed(String),
    /// It did not come to run before the session was stopped.
    NotRun,
}

impl Standings {
    /// The standings of `session`, one for each variant of `plan`, in the plan's order.
    #[must_use]
    pub(super) fn all(plan: &Plan, session: &Session) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for (task, record) in plan.tasks.iter().zip(&session.records) {
            let row = Row::new(task, record);
            match all
                .iter_mut()
                .find(|other| other.experiment == task.experiment && other.variant == task.variant)
            {
                Some(standings) => standings.rows.push(row),
                None => all.push(Self {
                    experiment: task.experiment.clone(),
                    variant: task.variant.clone(),
                    primary: None,
                    rows: vec![row],
                }),
            }
        }
        for standings in &mut all {
            standings.sort();
        }
        all
    }

    /// The standings of `rows`, which may be in any order.
    #[must_use]
    pub(super) fn of(experiment: String, variant: String, rows: Vec<Row>) -> Self {
        let mut standings = Self {
            experiment,
            variant,
            primary: None,
            rows,
        };
        standings.sort();
        standings
    }

    /// Finds the primary metric and orders the rows by it: ranked, unranked, failed, not run.
    fn sort(&mut self) {
        // What is shown beside the others orders them only where it is alone.
        let first = |state: &State| {
            let of_state = || self.rows.iter().filter(|row| row.state == *state);
            let row = of_state()
                .find(|row| !origin::is_database(row))
                .or_else(|| of_state().next())?;
            row.figures.first().map(|figure| figure.metric.clone())
        };
        self.primary = first(&State::Ranked).or_else(|| first(&State::Unranked));
        let Some(primary) = &self.primary else {
            return;
        };
        let more_is_better = Metric::find(primary).is_some_and(|metric| metric.more_is_better);
        for row in &mut self.rows {
            if row.state == State::Ranked && row.summary(primary).is_none() {
                row.state = State::Unranked;
            }
        }
        self.rows.sort_by(|a, b| {
            let value = |row: &Row| {
                row.summary(primary)
                    .map_or(f64::INFINITY, |summary| summary.median)
            };
            let (first, second) = if more_is_better { (b, a) } else { (a, b) };
            a.state
                .place()
                .cmp(&b.state.place())
                .then(value(first).total_cmp(&value(second)))
        });
        self.mark_the_best();
    }

    /// Marks the best figure of each metric whose best is marked, where there are others.
    fn mark_the_best(&mut self) {
        if self.ranked().count() < 2 {
            return;
        }
        for metric in Metric::whose_best_is_marked() {
            let best = self
                .rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.state == State::Ranked)
                .filter_map(|(place, row)| Some((place, row.summary(metric)?.median)))
                .min_by(|(_, one), (_, other)| one.total_cmp(other));
            let Some((best, _)) = best else { continue };
            for (place, row) in self.rows.iter_mut().enumerate() {
                let mut figures = row.figures.iter_mut();
                if let Some(figure) = figures.find(|figure| figure.metric == metric) {
                    figure.is_best = place == best;
                }
            }
        }
    }

    /// The contenders that are compared, best first.
    pub(super) fn ranked(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.state == State::Ranked)
    }

    /// The contender of ours to compare with: the best of those named in `flagships`, or else the best of ours.
    #[must_use]
    pub(super) fn champion(&self, flagships: &[&str]) -> Option<&Row> {
        self.ranked()
            .find(|row| row.ours && flagships.contains(&row.contender.as_str()))
            .or_else(|| self.ranked().find(|row| row.ours))
    }
}

impl Row {
    fn new(task: &Task, record: &Record) -> Self {
        let (mut figures, mut note) = (Vec::new(), None);
        let state = match &record.failure {
            Some(reason) => State::Failed(reason.clone()),
            None if record.outcomes.is_empty() => State::NotRun,
            None => {
                figures = summarise(record);
                note = record
                    .outcomes
                    .last()
                    .and_then(|outcome| outcome.note.clone());
                State::of_measured(&figures)
            }
        };
        Self {
            contender: task.contender.clone(),
            version: task.version.clone(),
            ours: task.ours,
            state,
            figures,
            note,
        }
    }

    /// What the runs gave for `metric`.
    #[must_use]
    pub(super) fn summary(&self, metric: &str) -> Option<Summary> {
        self.figures
            .iter()
            .find(|figure| figure.metric == metric)
            .map(|figure| figure.summary)
    }
}

impl State {
    /// How a contender stands that gave `figures`.
    #[must_use]
    pub(super) fn of_measured(figures: &[Figure]) -> Self {
        // Who is ranked makes hand-overs; who counts them makes none on purpose.
        let counts_them = figures
            .iter()
            .any(|figure| figure.metric == "handovers_per_op");
        if counts_them {
            Self::Unranked
        } else {
            Self::Ranked
        }
    }

    fn place(&self) -> u8 {
        match self {
            Self::Ranked => 0,
            Self::Unranked => 1,
            Self::Failed(_) => 2,
            Self::NotRun => 3,
        }
    }
}

/// Summarises each metric over the runs that gave it.
fn summarise(record: &Record) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for metric in record.outcomes.iter().flat_map(|outcome| &outcome.metrics) {
        if figures.iter().any(|figure| figure.metric == metric.metric) {
            continue;
        }
        let values: Vec<f64> = record
            .outcomes
            .iter()
            .flat_map(|outcome| &outcome.metrics)
            .filter(|other| other.metric == metric.metric)
            .map(|other| other.value)
            .collect();
        if let Some(summary) = Summary::of(&values) {
            figures.push(Figure::new(&metric.metric, &metric.unit, summary));
        }
    }
    figures
}

#[cfg(test)]
pub(super) mod samples {
    //! Sessions for the tests of what is made of them.

    use std::path::Path;
    use std::sync::Arc;
    use std::time::Duration;

    use super::Standings;
    use crate::lab::plan::{Plan, Task};
    use crate::lab::runner::{Record, Session};
    use tamtam_lab::{Metric, Outcome};

    /// One contender: its name (ours begin with `+`), and either its runs (metrics and values) or its failure.
    pub(crate) type Sample<'a> = (
        &'a str,
        Result<&'a [&'a [(&'a str, f64)]], &'a str>,
        Option<&'a str>,
    );

    /// A plan of one variant and the session that ran it.
    pub(crate) fn session(
        experiment: &str,
        variant: &str,
        samples: &[Sample<'_>],
    ) -> (Plan, Session) {
        let (mut tasks, mut records) = (Vec::new(), Vec::new());
        for (name, runs, note) in samples {
            let task = Task {
                experiment: experiment.to_owned(),
                variant: variant.to_owned(),
                contender: name.trim_start_matches('+').to_owned(),
                version: "1.2.3".to_owned(),
                ours: name.starts_with('+'),
                program: Arc::from(Path::new("program")),
            };
            let mut record = Record::default();
            match runs {
                Err(reason) => record.failure = Some((*reason).to_owned()),
                Ok(runs) => record.outcomes.extend(runs.iter().map(|metrics| {
                    Outcome {
                        experiment: experiment.to_owned(),
                        variant: variant.to_owned(),
                        contender: task.contender.clone(),
                        version: task.version.clone(),
                        ours: task.ours,
                        verified: true,
                        operations: 1000,
                        elapsed_ns: 1,
                        metrics: metrics
                            .iter()
                            .map(|(name, value)| Metric::new(name, "ns", *value))
                            .collect(),
                        note: note.map(str::to_owned),
                    }
                })),
            }
            tasks.push(task);
            records.push(record);
        }
        let plan = Plan {
            first_look: false,
            tasks,
            limit: Duration::from_secs(1),
            runs: 5,
            budget: None,
            notices: Vec::new(),
        };
        let session = Session {
            records,
            rounds: 5,
            interrupted: false,
            elapsed: Duration::from_secs(20),
        };
        (plan, session)
    }

    /// The standings of one variant.
    pub(crate) fn standings(experiment: &str, variant: &str, samples: &[Sample<'_>]) -> Standings {
        let (plan, session) = session(experiment, variant, samples);
        Standings::all(&plan, &session).remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::State;
    use super::samples::standings;

    #[test]
    fn rows_are_ordered_by_their_medians_and_failures_come_last() {
        let standings = standings(
            "handover",
            "1000/2cores",
            &[
                ("broken", Err("lost a message"), None),
                (
                    "slow",
                    Ok(&[
                        &[("ns_per_op", 900.0)],
                        &[("ns_per_op", 1.0)],
                        &[("ns_per_op", 800.0)],
                    ]),
                    None,
                ),
                ("unmeasured", Ok(&[]), None),
                (
                    "+lock",
                    Ok(&[&[("ns_per_op", 25.0), ("handovers_per_op", 0.001)]]),
                    Some("hands nothing over"),
                ),
                (
                    "+slot",
                    Ok(&[
                        &[("ns_per_op", 180.0)],
                        &[("ns_per_op", 190.0)],
                        &[("ns_per_op", 170.0)],
                    ]),
                    None,
                ),
            ],
        );
        let rows: Vec<(&str, &State)> = standings
            .rows
            .iter()
            .map(|row| (row.contender.as_str(), &row.state))
            .collect();
        assert_eq!(
            rows,
            [
                ("slot", &State::Ranked),
                ("slow", &State::Ranked),
                ("lock", &State::Unranked),
                ("broken", &State::Failed("lost a message".to_owned())),
                ("unmeasured", &State::NotRun),
            ]
        );
        assert_eq!(
            standings.rows[1].summary("ns_per_op").unwrap().median,
            800.0
        );
        assert_eq!(standings.primary.as_deref(), Some("ns_per_op"));
        assert!(standings.rows[3].figures.is_empty());
    }

    #[test]
    fn more_operations_a_second_are_better() {
        let standings = standings(
            "handover",
            "1000/2cores/crowd",
            &[
                ("few", Ok(&[&[("ops_per_s", 10.0)]]), None),
                ("many", Ok(&[&[("ops_per_s", 90.0)]]), None),
            ],
        );
        assert_eq!(standings.rows[0].contender, "many");
    }

    #[test]
    fn the_champion_is_the_best_flagship() {
        let standings = standings(
            "handover",
            "1000/2cores",
            &[
                ("+slot-spin", Ok(&[&[("ns_per_op", 100.0)]]), None),
                ("+slot", Ok(&[&[("ns_per_op", 120.0)]]), None),
                ("+channel", Ok(&[&[("ns_per_op", 300.0)]]), None),
                ("bare-spin", Ok(&[&[("ns_per_op", 90.0)]]), None),
            ],
        );
        assert_eq!(
            standings.champion(&["channel", "slot"]).unwrap().contender,
            "slot"
        );
        assert_eq!(standings.champion(&[]).unwrap().contender, "slot-spin");
    }

    #[test]
    fn a_metric_that_some_runs_lack_is_summarised_over_those_that_have_it() {
        let standings = standings(
            "handover",
            "1000/2cores",
            &[(
                "+slot",
                Ok(&[
                    &[("ns_per_op", 1.0), ("max_ns", 7.0)],
                    &[("ns_per_op", 2.0)],
                ]),
                None,
            )],
        );
        assert_eq!(standings.rows[0].summary("max_ns").unwrap().runs, 1);
        assert_eq!(standings.rows[0].summary("ns_per_op").unwrap().runs, 2);
    }
}
