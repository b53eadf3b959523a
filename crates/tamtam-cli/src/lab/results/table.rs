//! The table of one variant: what it says is decided here, once. How it looks is the writers' part.

use crate::lab::experiment::{Experiment, Published, limit};
use crate::lab::metric::{self, Metric};
use crate::lab::origin;
use crate::lab::standings::{Row, Standings, State};
use crate::lab::statistics::Summary;

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) enum Detail {
    /// The figure that orders the rows, its range, its ratio to ours, and the CPU time: what fits beside the names. Of an
    /// article's figures the best.
    Short,
    /// Every figure.
    Full,
}

/// The metrics that a short table has beside the one that leads it.
const SHORT_METRICS: [&str; 5] = [
    "cpu_ns_per_op",
    "total_us_8mbit",
    "total_us_100mbit",
    "total_us_1000mbit",
    "bytes_per_row",
];

/// One variant as a table.
#[derive(Debug)]
pub(in crate::lab) struct Table<'a> {
    /// Whom each row is about: the contenders, best first, then the article's own ways.
    pub subjects: Vec<Subject<'a>>,
    /// What is said of them; columns in which nothing is said are left out.
    pub columns: Vec<Column<'a>>,
}

/// Whom a row is about.
#[derive(Clone, Copy, Debug)]
pub(in crate::lab) enum Subject<'a> {
    /// A contender of this session.
    Contender(&'a Row),
    /// A figure of the article, taken on another machine.
    Article(&'static Published),
}

/// One column, with a cell for each subject.
#[derive(Debug)]
pub(in crate::lab) struct Column<'a> {
    /// What its cells are.
    pub what: What<'a>,
    pub cells: Vec<Cell>,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) enum What<'a> {
    /// Medians of the metric that leads the table.
    Leading(Unit<'a>),
    /// The least and the greatest run of that metric.
    Range(Unit<'a>),
    /// That metric divided by the figure of the best of ours.
    ToOurs,
    /// The same by the best figure, where none is ours.
    ToBest,
    /// The same by the best that is not ours and is a way to program.
    ToBestPeer,
    /// How many runs that metric has.
    Runs,
    /// Medians of another metric.
    Other(Unit<'a>),
    /// How those stand of whom none has a figure.
    Failures,
}

/// A metric and the unit of its figures, by their names in the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) struct Unit<'a> {
    pub metric: &'a str,
    pub unit: &'a str,
}

impl<'a> Unit<'a> {
    /// The metric with the unit that the figures of `standings` have.
    #[must_use]
    pub(in crate::lab) fn of(standings: &'a Standings, metric: &'a str) -> Self {
        let mut figures = standings.rows.iter().flat_map(|row| &row.figures);
        let unit = figures
            .find(|figure| figure.metric == metric)
            .map_or("", |figure| figure.unit.as_str());
        Self { metric, unit }
    }
}

/// What is said of a subject in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::lab) enum Cell {
    /// Nothing.
    Empty,
    /// A median, or an article's figure.
    Figure {
        value: f64,
        /// Whether it is the best of a column whose best is marked.
        is_best: bool,
    },
    Range(Summary),
    Ratio(f64),
    /// It has a figure that is not compared.
    NotRanked,
    Runs(usize),
    Failed,
    NotRun,
}

impl<'a> Table<'a> {
    /// The table of `standings` that the metric `leading` leads: the one that orders the rows, or that is drawn.
    #[must_use]
    pub(in crate::lab) fn of(
        standings: &'a Standings,
        leading: Option<&'a str>,
        detail: Detail,
    ) -> Self {
        let subjects: Vec<Subject<'a>> = standings
            .rows
            .iter()
            .filter(|row| !origin::is_beside(standings, row))
            .map(Subject::Contender)
            .chain(
                published(standings, leading, detail)
                    .into_iter()
                    .map(Subject::Article),
            )
            .collect();
        let mut table = Self {
            subjects,
            columns: Vec::new(),
        };
        match leading {
            Some(leading) => table.compare(standings, leading, detail),
            None => table.add(What::Failures, |subject| match subject {
                Subject::Contender(row) => row.median(""),
                Subject::Article(_) => Cell::Empty,
            }),
        }
        let is_said = |column: &Column<'_>| column.cells.iter().any(|cell| *cell != Cell::Empty);
        table.columns.retain(is_said);
        table
    }

    /// The figure that leads, its range, its ratios, then every other figure.
    fn compare(&mut self, standings: &'a Standings, leading: &'a str, detail: Detail) {
        let unit = Unit::of(standings, leading);
        self.add(What::Leading(unit), |subject| match subject {
            Subject::Contender(row) => row.median(leading),
            Subject::Article(published) => published.figure(leading),
        });
        self.add(What::Range(unit), |subject| {
            match summary(subject, leading) {
                Some(summary) if summary.runs > 1 => Cell::Range(summary),
                _ => Cell::Empty,
            }
        });
        let ours = standings.ours();
        self.add_ratio(What::ToOurs, ours, leading);
        self.add_ratio(
            What::ToBest,
            standings.ranked().next().filter(|_| ours.is_none()),
            leading,
        );
        self.add_ratio(What::ToBestPeer, standings.best_peer(), leading);
        self.add(What::Runs, |subject| {
            summary(subject, leading).map_or(Cell::Empty, |summary| Cell::Runs(summary.runs))
        });
        for name in self.others(standings, leading, detail) {
            self.add(
                What::Other(Unit::of(standings, name)),
                |subject| match subject {
                    Subject::Contender(row) if row.summary(name).is_none() => Cell::Empty,
                    Subject::Contender(row) => row.median(name),
                    Subject::Article(published) => published.figure(name),
                },
            );
        }
    }

    fn add(&mut self, what: What<'a>, say: impl Fn(&Subject<'a>) -> Cell) {
        let cells = self.subjects.iter().map(say).collect();
        self.columns.push(Column { what, cells });
    }

    /// The ratio to the figure of `reference`, if it has one. An article's machine is not this one: between the two there is
    /// no ratio.
    fn add_ratio(&mut self, what: What<'a>, reference: Option<&Row>, leading: &str) {
        let base = reference.and_then(|row| row.summary(leading));
        let Some(base) = base.filter(|base| base.median > 0.0) else {
            return;
        };
        self.add(what, |subject| match (subject, summary(subject, leading)) {
            (Subject::Contender(row), Some(summary)) if row.state == State::Ranked => {
                Cell::Ratio(summary.median / base.median)
            }
            (Subject::Contender(row), _) if row.state == State::Unranked => Cell::NotRanked,
            _ => Cell::Empty,
        });
    }

    /// The other metrics that are shown, in the order of their columns.
    fn others(&self, standings: &Standings, leading: &str, detail: Detail) -> Vec<&'a str> {
        let mut others: Vec<&'a str> = Vec::new();
        let rows = self.subjects.iter().filter_map(|subject| match subject {
            Subject::Contender(row) => Some(*row),
            Subject::Article(_) => None,
        });
        for name in rows
            .flat_map(|row| &row.figures)
            .map(|figure| figure.metric.as_str())
        {
            // One is the other turned round: of interest only where it orders the rows.
            let is_reciprocal = matches!(
                (leading, name),
                ("ns_per_op", "ops_per_s") | ("ops_per_s", "ns_per_op")
            ) && standings.primary.as_deref() != Some(name);
            let is_wanted = detail == Detail::Full || SHORT_METRICS.contains(&name);
            let is_shown = name != leading && is_wanted && !is_reciprocal;
            if is_shown && metric::heading(name).is_some() && !others.contains(&name) {
                others.push(name);
            }
        }
        others.sort_by_key(|name| Metric::place(name));
        others
    }
}

/// What the runs of a contender gave.
fn summary(subject: &Subject<'_>, metric: &str) -> Option<Summary> {
    match subject {
        Subject::Contender(row) => row.summary(metric),
        Subject::Article(_) => None,
    }
}

/// The articles' figures that stand beside those of the metric `leading`.
fn published(
    standings: &Standings,
    leading: Option<&str>,
    detail: Detail,
) -> Vec<&'static Published> {
    let (Some(experiment), Some(leading)) = (Experiment::find(&standings.experiment), leading)
    else {
        return Vec::new();
    };
    let mut published: Vec<&Published> = experiment
        .published_beside(&standings.variant)
        .filter(|published| published.value(leading).is_some())
        .collect();
    if detail == Detail::Short {
        // One with a note does not mean what it says without it.
        published.retain(|published| published.note.is_none());
        let value = |published: &Published| published.value(leading).unwrap_or(f64::INFINITY);
        published.sort_by(|one, other| value(one).total_cmp(&value(other)));
        if Metric::find(leading).is_some_and(|metric| metric.more_is_better) {
            published.reverse();
        }
        published.truncate(1);
    }
    published
}

impl Row {
    /// Its median of this metric, or why there is none.
    fn median(&self, metric: &str) -> Cell {
        let figure = self.figures.iter().find(|figure| figure.metric == metric);
        match (&self.state, figure) {
            (State::Failed(_), _) => Cell::Failed,
            (State::NotRun, _) => Cell::NotRun,
            (_, Some(figure)) => Cell::Figure {
                value: figure.summary.median,
                is_best: figure.is_best,
            },
            (_, None) => Cell::Empty,
        }
    }
}

impl Published {
    fn figure(&self, metric: &str) -> Cell {
        self.value(metric)
            .map_or(Cell::Empty, |value| Cell::Figure {
                value,
                is_best: false,
            })
    }
}

impl Standings {
    /// The contender of ours that others are compared with.
    #[must_use]
    pub(in crate::lab) fn ours(&self) -> Option<&Row> {
        let experiment = Experiment::find(&self.experiment);
        self.champion(experiment.map_or(&[], |experiment| experiment.flagships))
    }

    /// The best that is not ours, without those that only show the limits of the hardware.
    #[must_use]
    pub(in crate::lab) fn best_peer(&self) -> Option<&Row> {
        self.ranked()
            .find(|row| !row.ours && limit(&row.contender).is_none())
    }
}
