//! What changed from one session to the next on the same machine: a change is one only where the ranges of the runs do
//! not touch.

use super::drawn::{self, CPU, Drawn};
use crate::lab::metric::Metric;
use crate::lab::number;
use crate::lab::origin;
use crate::lab::results::recording::Recording;
use crate::lab::standings::Row;
use crate::lab::statistics::Summary;

/// Figures this close are the same, however narrow their ranges: the least that is seen in three digits.
const LEVEL: f64 = 1.01;

/// One figure of one contender over the sessions of one machine, oldest first.
#[derive(Debug)]
pub(super) struct Series<'a> {
    /// The experiment.
    pub experiment: &'a str,
    /// The variant.
    pub variant: &'a str,
    /// The contender.
    pub contender: &'a str,
    /// Whether it is one of ours.
    pub ours: bool,
    /// The metric.
    pub metric: &'a str,
    /// Its unit.
    pub unit: &'a str,
    /// The sessions that have it, never none.
    pub points: Vec<Point<'a>>,
}

/// One figure in one session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<'a> {
    /// The session.
    pub recording: &'a Recording,
    /// The contender's version.
    pub version: &'a str,
    /// The figure.
    pub figure: Summary,
}

/// How a figure stands to an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Worse, beyond the ranges of both: a regression.
    Regression,
    /// Better, beyond the ranges of both.
    Improvement,
    /// The ranges touch.
    Within,
    /// The ranges do not touch, but the medians are less than [`LEVEL`] apart.
    Level,
    /// A single run has no range.
    NotJudged,
}

/// What a change is a change of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Time, or operations in a time.
    Speed,
    /// CPU time.
    Cpu,
    /// Anything else.
    Other,
}

/// Every figure that is compared, in the order in which the newest session has them.
///
/// `recordings` are those of one machine, oldest first.
#[must_use]
pub(super) fn series<'a>(recordings: &[&'a Recording]) -> Vec<Series<'a>> {
    let mut all: Vec<Series<'a>> = Vec::new();
    for standings in recordings
        .iter()
        .rev()
        .flat_map(|recording| &recording.standings)
    {
        let (experiment, variant) = (standings.experiment.as_str(), standings.variant.as_str());
        // The newest session that has a variant says what is compared in it.
        let known = all
            .iter()
            .any(|series| series.experiment == experiment && series.variant == variant);
        let Some(drawn) = Drawn::of(standings).filter(|_| !known) else {
            continue;
        };
        let sessions: Vec<_> = recordings
            .iter()
            .filter_map(|recording| Some((*recording, recording.of_variant(experiment, variant)?)))
            .collect();
        let mut contenders: Vec<&Row> = Vec::new();
        for row in sessions.iter().rev().flat_map(|(_, found)| &found.rows) {
            if !contenders
                .iter()
                .any(|known| known.contender == row.contender)
            {
                contenders.push(row);
            }
        }
        let metrics = if drawn.metric == CPU {
            vec![drawn.metric]
        } else {
            vec![drawn.metric, CPU]
        };
        for contender in contenders {
            let metrics = if origin::is_database(contender) {
                &[origin::METRIC][..]
            } else {
                &metrics
            };
            for metric in metrics {
                let mut unit = "";
                let points: Vec<Point<'a>> = sessions
                    .iter()
                    .filter_map(|(recording, found)| {
                        let row = found
                            .rows
                            .iter()
                            .find(|row| row.contender == contender.contender)?;
                        let figure = row.figures.iter().find(|figure| figure.metric == *metric)?;
                        unit = &figure.unit;
                        Some(Point {
                            recording,
                            version: &row.version,
                            figure: figure.summary,
                        })
                    })
                    .collect();
                if !points.is_empty() {
                    all.push(Series {
                        experiment,
                        variant,
                        contender: &contender.contender,
                        ours: contender.ours,
                        metric,
                        unit,
                        points,
                    });
                }
            }
        }
    }
    all
}

impl Series<'_> {
    /// How the newest figure stands to the one at `place`.
    #[must_use]
    pub(super) fn judge(&self, place: usize) -> Judgement {
        let (Some(newest), Some(before)) = (self.points.last(), self.points.get(place)) else {
            return Judgement::NotJudged;
        };
        let more_is_better = Metric::find(self.metric).is_some_and(|metric| metric.more_is_better);
        judge(more_is_better, before.figure, newest.figure)
    }

    /// "1.40 times slower", "3.1 % faster": how the newest figure stands to the one at `place`; empty if it is not beyond
    /// the ranges.
    #[must_use]
    pub(super) fn change(&self, place: usize) -> String {
        let (Some(newest), Some(before)) = (self.points.last(), self.points.get(place)) else {
            return String::new();
        };
        let kind = kind(self.metric);
        let word = match (self.judge(place), kind) {
            (Judgement::Regression, Kind::Speed) => "slower",
            (Judgement::Improvement, Kind::Speed) => "faster",
            (Judgement::Regression, Kind::Cpu) => "more CPU time",
            (Judgement::Improvement, Kind::Cpu) => "less CPU time",
            (Judgement::Regression, Kind::Other) => "worse",
            (Judgement::Improvement, Kind::Other) => "better",
            _ => return String::new(),
        };
        format!(
            "{}{word}",
            amount(before.figure.median, newest.figure.median)
        )
    }

    /// The newest figure beside the one at `place`, in a sentence.
    #[must_use]
    pub(super) fn sentence(&self, place: usize) -> String {
        let (Some(newest), Some(before)) = (self.points.last(), self.points.get(place)) else {
            return String::new();
        };
        let show = |point: &Point<'_>| {
            format!(
                "{} in {}",
                drawn::range(self.metric, self.unit, point.figure),
                point.recording.label
            )
        };
        format!(
            "{} {}, {}: {}; {}, {}",
            self.experiment,
            self.variant,
            self.contender,
            self.change(place),
            show(before),
            show(newest)
        )
    }
}

/// Judges two figures by their ranges alone.
fn judge(more_is_better: bool, before: Summary, after: Summary) -> Judgement {
    if before.runs < 2 || after.runs < 2 {
        return Judgement::NotJudged;
    }
    let (less, more) = (
        before.median.min(after.median),
        before.median.max(after.median),
    );
    let rose = after.min > before.max;
    let fell = after.max < before.min;
    match (rose, fell) {
        (false, false) => Judgement::Within,
        _ if more < less * LEVEL => Judgement::Level,
        (rose, _) if rose == more_is_better => Judgement::Improvement,
        _ => Judgement::Regression,
    }
}

/// What a change of `metric` is a change of.
#[must_use]
pub(super) fn kind(metric: &str) -> Kind {
    match Metric::find(metric) {
        _ if metric == CPU || metric == "idle_cpu_us_per_s" => Kind::Cpu,
        Some(metric) if !metric.better.is_empty() => Kind::Speed,
        _ => Kind::Other,
    }
}

/// "1.40 times ", "3.1 % ": how far two figures are apart, whichever is the greater; empty if one of them is nothing.
fn amount(before: f64, after: f64) -> String {
    if before <= 0.0 || after <= 0.0 {
        return String::new();
    }
    let ratio = (after / before).max(before / after);
    if ratio < 1.0995 {
        format!("{:.1} % ", (ratio - 1.0) * 100.0)
    } else {
        format!("{} times ", number::times(ratio))
    }
}

/// The contenders of ours that have figures in at least two sessions, for each variant.
pub(super) fn ours_over_time<'a, 'b>(
    series: &'b [Series<'a>],
    experiment: &'b str,
    variant: &'b str,
) -> impl Iterator<Item = &'b Series<'a>> {
    series.iter().filter(move |series| {
        series.ours
            && series.experiment == experiment
            && series.variant == variant
            && series.points.len() > 1
    })
}

#[cfg(test)]
pub(super) mod samples {
    //! Sessions for the tests of what is made of them.

    use std::path::PathBuf;

    use crate::lab::results::recording::Recording;
    use crate::lab::standings::samples::standings;

    /// A session in which slot and kanal took these times and CPU times, run by run.
    pub(crate) fn session(label: &str, slot: &[[f64; 2]], kanal: &[[f64; 2]]) -> Recording {
        let runs = |figures: &[[f64; 2]]| -> Vec<[(&'static str, f64); 2]> {
            figures
                .iter()
                .map(|[time, cpu]| [("ns_per_op", *time), ("cpu_ns_per_op", *cpu)])
                .collect()
        };
        let (slot, kanal) = (runs(slot), runs(kanal));
        let slices = |runs: &'_ [[(&'static str, f64); 2]]| -> Vec<Vec<(&'static str, f64)>> {
            runs.iter().map(|run| run.to_vec()).collect()
        };
        let (slot, kanal) = (slices(&slot), slices(&kanal));
        let slot: Vec<&[(&str, f64)]> = slot.iter().map(Vec::as_slice).collect();
        let kanal: Vec<&[(&str, f64)]> = kanal.iter().map(Vec::as_slice).collect();
        Recording {
            label: label.to_owned(),
            day: None,
            path: PathBuf::from(label),
            machine: "a machine".to_owned(),
            standings: vec![standings(
                "handover",
                "1000/free",
                &[("+slot", Ok(&slot), None), ("kanal", Ok(&kanal), None)],
            )],
            figures: 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::session;
    use super::{Judgement, Series, amount, judge, series};
    use crate::lab::statistics::Summary;

    fn summary(values: [f64; 3], runs: usize) -> Summary {
        let [min, median, max] = values;
        Summary {
            median,
            min,
            max,
            runs,
        }
    }

    #[test]
    fn only_ranges_that_do_not_touch_are_a_change() {
        let before = summary([90.0, 100.0, 110.0], 5);
        for (after, expected) in [
            ([111.0, 120.0, 130.0], Judgement::Regression),
            ([110.0, 120.0, 130.0], Judgement::Within),
            ([80.0, 200.0, 300.0], Judgement::Within),
            ([70.0, 80.0, 89.0], Judgement::Improvement),
            ([70.0, 80.0, 90.0], Judgement::Within),
        ] {
            assert_eq!(
                judge(false, before, summary(after, 5)),
                expected,
                "{after:?}"
            );
            let turned = match expected {
                Judgement::Regression => Judgement::Improvement,
                Judgement::Improvement => Judgement::Regression,
                other => other,
            };
            assert_eq!(judge(true, before, summary(after, 5)), turned, "{after:?}");
        }
        let narrow = summary([99.9, 100.0, 100.1], 5);
        assert_eq!(
            judge(false, narrow, summary([100.2, 100.9, 101.0], 5)),
            Judgement::Level
        );
        assert_eq!(
            judge(false, narrow, summary([100.2, 101.0, 101.0], 5)),
            Judgement::Regression
        );
        let nothing = summary([0.0, 0.0, 0.0], 5);
        assert_eq!(judge(false, nothing, narrow), Judgement::Regression);
        assert_eq!(judge(false, nothing, nothing), Judgement::Within);
        let single = summary([500.0, 500.0, 500.0], 1);
        assert_eq!(judge(false, before, single), Judgement::NotJudged);
        assert_eq!(judge(false, single, before), Judgement::NotJudged);
    }

    #[test]
    fn a_series_skips_sessions_that_lack_it() {
        let one = session("a", &[[1.0, 1.0]], &[[1.0, 1.0]]);
        let mut two = session("b", &[[2.0, 1.0]], &[[1.0, 1.0]]);
        two.standings[0].rows.retain(|row| !row.ours);
        let three = session("c", &[[3.0, 1.0]], &[[1.0, 1.0]]);
        let recordings = [&one, &two, &three];
        let all = series(&recordings);
        let slot: &Series<'_> = all.iter().find(|series| series.ours).unwrap();
        let labels: Vec<&str> = slot
            .points
            .iter()
            .map(|point| point.recording.label.as_str())
            .collect();
        assert_eq!(labels, ["a", "c"]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn amounts_are_percents_then_times() {
        assert_eq!(
            [(100.0, 103.1), (140.0, 100.0), (1.0, 30.0), (0.0, 5.0)]
                .map(|(before, after)| amount(before, after)),
            ["3.1 % ", "1.40 times ", "30 times ", ""]
        );
    }
}
