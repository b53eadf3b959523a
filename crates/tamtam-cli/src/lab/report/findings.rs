//! What the figures over time come to, in words: what got slower or faster, and what must be known to believe it.

use super::capital;
use super::comparison::{self, Judgement, Kind, Series};
use crate::lab::number;

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
                    comparison::kind(series.metric),
                    false,
                    series.sentence(before),
                ));
            } else if before > 0 && changed(series.judge(0)) {
                told.push((
                    series.judge(0),
                    comparison::kind(series.metric),
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

/// How likely it is that the ranges of so many like runs do not touch: of all orders of the runs, two keep them apart.
fn chance(before: usize, after: usize) -> f64 {
    let mut orders = 1.0;
    for place in 1..=before.min(after) {
        orders *= (before + after + 1 - place) as f64 / place as f64;
    }
    2.0 / orders
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

#[cfg(test)]
mod tests {
    use super::{Findings, chance};
    use crate::lab::report::comparison::samples::session;
    use crate::lab::report::comparison::series;
    use crate::lab::results::recording::Recording;

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
    fn chance_counts_the_orders_of_the_runs() {
        assert_eq!(chance(1, 1), 1.0);
        assert!((chance(3, 3) - 0.1).abs() < 1e-12);
        assert!((chance(5, 5) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(chance(2, 5), chance(5, 2));
    }
}
