//! The grid as a heat map: for each row how far our fastest way and the fastest other one are from the best, in time and in
//! CPU time.

use super::experiment::{limit, spins};
use super::metric::{self, Metric};
use super::number;
use super::standings::{Row, Standings};
use super::statistics::Standing;

/// The experiment that is shown so.
pub(super) const EXPERIMENT: &str = "grid";

/// The metric of CPU time.
const CPU: &str = "cpu_ns_per_op";

/// The row of one variant.
#[derive(Debug)]
pub(super) struct Line {
    /// The variant.
    pub variant: String,
    /// The fastest of ours.
    pub ours: Side,
    /// The fastest of others that can wait.
    pub theirs: Side,
    /// How ours stands beside it, in time.
    pub standing: Standing,
}

/// One side of a row.
#[derive(Debug)]
pub(super) struct Side {
    /// The fastest way of this side.
    pub contender: String,
    /// Its figure as a column shows it.
    pub figure: String,
    /// How many times the best time of both sides it takes.
    pub time: f64,
    /// How many times the least CPU time of any way of the row it takes; `None` where it is not known.
    pub cpu: Option<f64>,
}

/// How hot a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heat {
    /// The best.
    Best,
    /// At most a quarter more.
    Near,
    /// Less than twice the best.
    Warm,
    /// Twice the best and more.
    Red,
}

impl Heat {
    /// Of so many times the best.
    #[must_use]
    pub(super) fn of(ratio: f64) -> Self {
        // What is shown as 1.00 counts as the best.
        match ratio {
            ratio if ratio < 1.005 => Self::Best,
            ratio if ratio <= 1.25 => Self::Near,
            ratio if ratio < 2.0 => Self::Warm,
            _ => Self::Red,
        }
    }
}

/// The rows of the grid among `standings` that have a way of ours and another one: those first in which ours is farthest
/// from the best.
#[must_use]
pub(super) fn lines(standings: &[Standings]) -> Vec<Line> {
    let of_grid = standings
        .iter()
        .filter(|standings| standings.experiment == EXPERIMENT);
    let mut lines: Vec<Line> = of_grid.filter_map(line).collect();
    lines.sort_by(|one, other| other.worst().total_cmp(&one.worst()));
    lines
}

fn line(standings: &Standings) -> Option<Line> {
    let primary = standings.primary.as_deref()?;
    if Metric::find(primary).is_some_and(|metric| metric.more_is_better) {
        return None;
    }
    let is_compared = |row: &&Row| limit(&row.contender).is_none() && !spins(&row.contender);
    let time = |row: &Row| row.summary(primary);
    let value = |row: &Row| time(row).map(|summary| summary.median);
    let cpu = |row: &Row| row.summary(CPU).map(|summary| summary.median);
    // They are ordered, the best first.
    let ours = standings.ranked().find(|row| row.ours)?;
    let theirs = standings
        .ranked()
        .filter(is_compared)
        .find(|row| !row.ours)?;
    let best = value(ours)?.min(value(theirs)?);
    let least = standings
        .ranked()
        .filter(is_compared)
        .filter_map(cpu)
        .min_by(f64::total_cmp);
    let side = |row: &Row| {
        let value = value(row)?;
        (best > 0.0).then(|| Side {
            contender: row.contender.clone(),
            figure: metric::column(primary, value),
            time: value / best,
            cpu: cpu(row)
                .zip(least)
                .filter(|(_, least)| *least > 0.0)
                .map(|(cpu, least)| cpu / least),
        })
    };
    Some(Line {
        variant: standings.variant.clone(),
        ours: side(ours)?,
        theirs: side(theirs)?,
        standing: time(ours)?.beside(time(theirs)?),
    })
}

impl Line {
    /// The name of the row: the variant without its count.
    #[must_use]
    pub(super) fn row(&self) -> &str {
        let count = self.variant.split_once('/');
        count.map_or(self.variant.as_str(), |(_, row)| row)
    }

    /// How far ours is from the best, in time or in CPU time.
    fn worst(&self) -> f64 {
        self.ours
            .cpu
            .map_or(self.ours.time, |cpu| cpu.max(self.ours.time))
    }
}

/// A cell's words: `1.48×`.
#[must_use]
pub(super) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"))
}

/// What the map comes to.
#[must_use]
pub(super) fn sentence(lines: &[Line]) -> String {
    let count = |wanted: &dyn Fn(&Line) -> bool| lines.iter().filter(|line| wanted(line)).count();
    let of_cpu = count(&|line| line.ours.cpu.is_some());
    format!(
        "Of {}, ours is the fastest in {}, is level with the best other way in {}, and is behind and takes more than 1.25 times \
         the best time in {}; of {of_cpu} with CPU times, it takes at most 1.25 times the least in {}.",
        number::counted(lines.len(), "row"),
        count(&|line| line.standing == Standing::Ahead),
        count(&|line| line.standing == Standing::Level),
        count(&|line| line.standing == Standing::Behind && line.ours.time > 1.25),
        count(&|line| line.ours.cpu.is_some_and(|cpu| cpu <= 1.25)),
    )
}

/// What a reader must know of the map.
pub(super) const ABOUT: &str = "Our fastest way of each row beside the fastest other one that can wait: time as a multiple of \
    the best of the two, CPU time as a multiple of the least of any way of the row. The row in which ours is farthest from the best comes first.";

#[cfg(test)]
pub(super) mod tests {
    use super::{Heat, lines, ratio, sentence};
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::standings;

    /// A row that ours wins in time and not in CPU time, one that it loses, one without others, and one of another
    /// experiment.
    pub(in crate::lab) fn session() -> Vec<Standings> {
        let won = [
            (
                "+channel",
                Ok(&[&[("ns_per_op", 40.0), ("cpu_ns_per_op", 90.0)][..]][..]),
                None,
            ),
            (
                "kanal",
                Ok(&[&[("ns_per_op", 50.0), ("cpu_ns_per_op", 60.0)][..]][..]),
                None,
            ),
            (
                "rtrb",
                Ok(&[&[("ns_per_op", 5.0), ("cpu_ns_per_op", 10.0)][..]][..]),
                None,
            ),
        ];
        let lost = [
            (
                "+channel",
                Ok(&[&[("ns_per_op", 200.0), ("cpu_ns_per_op", 300.0)][..]][..]),
                None,
            ),
            (
                "+spsc",
                Ok(&[&[("ns_per_op", 150.0), ("cpu_ns_per_op", 290.0)][..]][..]),
                None,
            ),
            (
                "kanal",
                Ok(&[&[("ns_per_op", 60.0), ("cpu_ns_per_op", 58.0)][..]][..]),
                None,
            ),
        ];
        vec![
            standings("grid", "1000000/2cores/1to1-8B-cap16", &won),
            standings("grid", "100000/2cores/1to1-1KiB-cap16", &lost),
            standings("grid", "1000/2cores/1to1-Box-cap16", &lost[..2]),
            standings("post", "5000/2cores/16B-warm", &won),
        ]
    }

    #[test]
    fn the_row_in_which_ours_is_farthest_from_the_best_comes_first() {
        let lines = lines(&session());
        let told: Vec<_> = lines
            .iter()
            .map(|line| {
                let cell = |time, cpu| (ratio(Some(time)), ratio(cpu));
                (
                    line.row(),
                    line.ours.contender.as_str(),
                    cell(line.ours.time, line.ours.cpu),
                    line.theirs.contender.as_str(),
                    cell(line.theirs.time, line.theirs.cpu),
                )
            })
            .collect();
        let cell = |time: &str, cpu: &str| (time.to_owned(), cpu.to_owned());
        assert_eq!(
            told,
            [
                (
                    "2cores/1to1-1KiB-cap16",
                    "spsc",
                    cell("2.50×", "5.00×"),
                    "kanal",
                    cell("1.00×", "1.00×")
                ),
                (
                    "2cores/1to1-8B-cap16",
                    "channel",
                    cell("1.00×", "1.50×"),
                    "kanal",
                    cell("1.25×", "1.00×")
                ),
            ],
            "what spins is not compared, and what has no other way is left out"
        );
        assert_eq!(
            sentence(&lines),
            "Of 2 rows, ours is the fastest in 1, is level with the best other way in 0, and is behind and takes more than 1.25 times the best \
             time in 1; of 2 with CPU times, it takes at most 1.25 times the least in 0."
        );
    }

    /// It was said to be the fastest by the medians alone.
    #[test]
    fn ours_is_level_where_its_runs_overlap_those_of_the_other() {
        let runs = |figures: [f64; 2]| figures.map(|figure| [("ns_per_op", figure)]);
        let (ours, other) = (runs([40.0, 60.0]), runs([59.0, 90.0]));
        let (ours, other) = ([&ours[0][..], &ours[1][..]], [&other[0][..], &other[1][..]]);
        let samples = [
            ("+channel", Ok(&ours[..]), None),
            ("kanal", Ok(&other[..]), None),
        ];
        let lines = lines(&[standings("grid", "1000000/2cores/1to1-8B-cap16", &samples)]);
        let said = sentence(&lines);
        assert!(
            said.contains("the fastest in 0, is level with the best other way in 1,"),
            "{said}"
        );
    }

    #[test]
    fn heat_has_bounds() {
        for (ratio, heat) in [
            (1.0, Heat::Best),
            (1.01, Heat::Near),
            (1.25, Heat::Near),
            (1.26, Heat::Warm),
            (2.0, Heat::Red),
        ] {
            assert_eq!(Heat::of(ratio), heat, "{ratio}");
        }
    }
}
