//! What changed from one session to the next on the same machine: a change is one only where the ranges of the runs do
//! not touch.

use super::drawn::{self, CPU, Drawn};
use super::recording::Recording;
use crate::lab::metric::Metric;
use crate::lab::number;
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

/// What the sessions of one machine show together.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// What changed, in groups: "2 figures got slower", and a sentence for each.
    pub groups: Vec<(String, Judgement, Vec<String>)>,
    /// How many of our figures were compared with those of the session before.
    pub compared: usize,
    /// How many were not judged, for want of runs.
    pub not_judged: usize,
    /// How many of those compared would be beyond their ranges by chance, were all runs alike.
    pub by_chance: f64,
    /// The same figures of peers whose versions stayed the same: compared, worse, better.
    pub peers: (usize, usize, usize),
}

/// Sorts the words of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Speed,
    Cpu,
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
            for metric in &metrics {
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
    fn sentence(&self, place: usize) -> String {
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

impl Findings {
    /// What `series` show: each newest figure against the one before it, and, where that step is within the ranges,
    /// against the oldest.
    #[must_use]
    pub(super) fn of(series: &[Series<'_>]) -> Self {
        let mut findings = Self::default();
        let mut told: Vec<(Judgement, Kind, bool, String)> = Vec::new();
        for series in series {
            let Some(before) = series.points.len().checked_sub(2) else {
                continue;
            };
            let judgement = series.judge(before);
            if !series.ours {
                findings.see_peer(series, before, judgement);
                continue;
            }
            findings.compared += 1;
            if judgement == Judgement::NotJudged {
                findings.not_judged += 1;
                continue;
            }
            findings.by_chance += chance(
                series.points[before].figure.runs,
                series.points[before + 1].figure.runs,
            );
            let changed =
                |judgement| matches!(judgement, Judgement::Regression | Judgement::Improvement);
            if changed(judgement) {
                told.push((
                    judgement,
                    kind(series.metric),
                    false,
                    series.sentence(before),
                ));
            } else if before > 0 && changed(series.judge(0)) {
                told.push((
                    series.judge(0),
                    kind(series.metric),
                    true,
                    series.sentence(0),
                ));
            }
        }
        let mut groups: Vec<(Judgement, Kind, bool)> = told
            .iter()
            .map(|(judgement, kind, creeping, _)| (*judgement, *kind, *creeping))
            .collect();
        // Regressions first, then by kind, and slow changes behind steps.
        groups.sort_by_key(|(judgement, kind, creeping)| {
            (*judgement != Judgement::Regression, *kind, *creeping)
        });
        groups.dedup();
        for group in groups {
            let sentences: Vec<String> = told
                .iter()
                .filter(|(judgement, kind, creeping, _)| (*judgement, *kind, *creeping) == group)
                .map(|(_, _, _, sentence)| sentence.clone())
                .collect();
            let (judgement, kind, creeping) = group;
            findings.groups.push((
                heading(judgement, kind, creeping, sentences.len()),
                judgement,
                sentences,
            ));
        }
        findings
    }

    fn see_peer(&mut self, series: &Series<'_>, before: usize, judgement: Judgement) {
        if series.points[before].version != series.points[before + 1].version
            || judgement == Judgement::NotJudged
        {
            return;
        }
        self.peers.0 += 1;
        self.peers.1 += usize::from(judgement == Judgement::Regression);
        self.peers.2 += usize::from(judgement == Judgement::Improvement);
    }

    /// What must be known to read the findings rightly.
    #[must_use]
    pub(super) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let judged = self.compared - self.not_judged;
        if self.groups.is_empty() && judged > 0 {
            remarks.push(format!(
                "None of our figures changed beyond the ranges of its runs; {} compared with the session before.",
                were(judged)
            ));
        } else if judged > 0 {
            remarks.push(format!(
                "{} compared with the session before; those not named here stayed within the ranges of their runs.",
                capital(&were(judged))
            ));
        }
        if judged > 0 && self.by_chance >= 0.5 {
            remarks.push(format!(
                "With so few runs about {:.0} of them would be beyond their ranges by chance alone.",
                self.by_chance
            ));
        }
        if self.not_judged > 0 {
            remarks.push(format!(
                "{} not judged: a single run has no range.",
                capital(&were(self.not_judged))
            ));
        }
        let (peers, worse, better) = self.peers;
        if peers > 0 {
            remarks.push(format!(
                "Of {} of peers whose versions stayed the same, {worse} got worse and {better} got better beyond their \
                 ranges: where many did, the machine was busier or idler, rather than the code different.",
                number::counted(peers, "figure")
            ));
        }
        remarks
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

/// How likely it is that the ranges of so many like runs do not touch: of all orders of the runs, two keep them apart.
fn chance(before: usize, after: usize) -> f64 {
    let mut orders = 1.0;
    for place in 1..=before.min(after) {
        orders *= (before + after + 1 - place) as f64 / place as f64;
    }
    2.0 / orders
}

fn kind(metric: &str) -> Kind {
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

fn heading(judgement: Judgement, kind: Kind, creeping: bool, number: usize) -> String {
    let verb = match (judgement == Judgement::Regression, kind) {
        (true, Kind::Speed) => "got slower",
        (false, Kind::Speed) => "got faster",
        (true, Kind::Cpu) => "took more CPU time",
        (false, Kind::Cpu) => "took less CPU time",
        (true, Kind::Other) => "got worse",
        (false, Kind::Other) => "got better",
    };
    let figures = number::counted(number, "figure");
    if creeping {
        format!("{figures} {verb} than at first, though not in the last step alone")
    } else {
        format!("{figures} {verb}")
    }
}

fn were(number: usize) -> String {
    format!(
        "{} {}",
        number::counted(number, "figure"),
        if number == 1 { "was" } else { "were" }
    )
}

/// Sentences begin with a figure or with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
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
mod tests {
    use std::path::PathBuf;

    use super::{Findings, Judgement, Series, amount, chance, judge, series};
    use crate::lab::report::recording::Recording;
    use crate::lab::standings::samples::standings;
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

    /// A session in which slot and kanal took these times and CPU times, run by run.
    fn session(label: &str, slot: &[[f64; 2]], kanal: &[[f64; 2]]) -> Recording {
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

    fn headings(recordings: &[&Recording]) -> (Vec<String>, Findings) {
        let findings = Findings::of(&series(recordings));
        let headings = findings
            .groups
            .iter()
            .map(|(heading, ..)| heading.clone())
            .collect();
        (headings, findings)
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
    fn regressions_come_first_in_words() {
        let old = session(
            "monday",
            &[[200.0, 400.0], [210.0, 410.0]],
            &[[300.0, 600.0], [310.0, 610.0]],
        );
        let new = session(
            "tuesday",
            &[[280.0, 300.0], [294.0, 310.0]],
            &[[300.0, 600.0], [310.0, 610.0]],
        );
        let (headings, findings) = headings(&[&old, &new]);
        assert_eq!(
            headings,
            ["1 figure got slower", "1 figure took less CPU time"]
        );
        assert_eq!(
            findings.groups[0].2,
            [
                "handover 1000/free, slot: 1.40 times slower; 205 ns [200..210] in monday, 287 ns [280..294] in tuesday"
            ]
        );
        assert_eq!((findings.compared, findings.peers), (2, (2, 0, 0)));
    }

    #[test]
    fn a_slow_change_is_found_against_the_oldest() {
        let steps: Vec<Recording> = [100.0, 104.0, 108.0]
            .iter()
            .enumerate()
            .map(|(day, time)| {
                let slot = [[*time, 9.0], [time + 5.0, 9.5]];
                session(&format!("day {day}"), &slot, &[[1.0, 1.0], [2.0, 2.0]])
            })
            .collect();
        let (headings, _) = headings(&steps.iter().collect::<Vec<_>>());
        assert_eq!(
            headings,
            ["1 figure got slower than at first, though not in the last step alone"]
        );
    }

    #[test]
    fn nothing_changed_is_said_too() {
        let one = session(
            "a",
            &[[200.0, 1.0], [210.0, 1.0]],
            &[[5.0, 1.0], [6.0, 1.0]],
        );
        let two = session(
            "b",
            &[[205.0, 1.0], [215.0, 1.0]],
            &[[9.0, 1.0], [8.0, 1.0]],
        );
        let (headings, findings) = headings(&[&one, &two]);
        assert!(headings.is_empty(), "{headings:?}");
        let remarks = findings.remarks().join(" ");
        assert!(remarks.contains("None of our figures changed"), "{remarks}");
        assert!(
            remarks.contains("Of 2 figures of peers whose versions stayed the same, 1 got worse"),
            "{remarks}"
        );
        assert_eq!(findings.peers, (2, 1, 0));
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
    fn chance_counts_the_orders_of_the_runs() {
        assert_eq!(chance(1, 1), 1.0);
        assert!((chance(3, 3) - 0.1).abs() < 1e-12);
        assert!((chance(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(chance(2, 5), chance(5, 2));
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
