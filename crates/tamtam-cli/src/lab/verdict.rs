//! What it comes to, in a sentence for each variant: our way, how it compares with the standard library and with the
//! best peer, and what the article had.

use super::experiment::{Experiment, Kind, limit};
use super::fastest;
use super::metric::Metric;
use super::number;
use super::standings::{Row, Standings};
use super::statistics::{Summary, is_level};

/// The processor time of an operation.
const CPU: &str = "cpu_ns_per_op";

/// The verdicts on one variant: one for each kind of contender where kinds are kept apart, otherwise one.
///
/// There is none where ours has no figure, where the metric is not known, or where there is nothing to compare with and
/// the variant is not a main one.
#[must_use]
pub(super) fn verdicts(standings: &Standings) -> Vec<String> {
    if let Some(verdict) = fastest::verdict(standings) {
        return vec![verdict];
    }
    let experiment = Experiment::find(&standings.experiment);
    if experiment.is_some_and(|experiment| experiment.kinds_apart) {
        Kind::ALL
            .into_iter()
            .filter_map(|kind| {
                verdict(
                    standings,
                    experiment,
                    |name| Kind::of(name) == kind,
                    kind.baseline(),
                )
            })
            .collect()
    } else {
        verdict(standings, experiment, |_| true, Kind::Bounded.baseline())
            .into_iter()
            .collect()
    }
}

/// The verdict on the contenders whose names are `wanted`, against the peer `baseline` and the best one.
fn verdict(
    standings: &Standings,
    experiment: Option<&Experiment>,
    wanted: impl Fn(&str) -> bool,
    baseline: &str,
) -> Option<String> {
    let metric = Metric::find(standings.primary.as_deref()?)?;
    let variant = standings.variant.as_str();
    let flagships: Vec<&str> = experiment
        .map_or(&[][..], |experiment| experiment.flagships)
        .iter()
        .copied()
        .filter(|name| wanted(name))
        .collect();
    let champion = standings
        .champion(&flagships)
        .filter(|row| wanted(&row.contender))?;
    let own = champion.summary(metric.name)?;

    let peers: Vec<&Row> = standings
        .ranked()
        .filter(|row| !row.ours && wanted(&row.contender) && limit(&row.contender).is_none())
        .collect();
    let base = peers.iter().copied().find(|row| row.contender == baseline);
    let best = peers
        .first()
        .copied()
        .filter(|best| best.contender != baseline);

    let mut clauses = Vec::new();
    clauses.extend(base.map(|row| {
        let price = price(champion, row).unwrap_or_default();
        format!("{} here{price}", compare(metric, own, row))
    }));
    clauses.extend(best.map(|row| {
        let price = price(champion, row).map(|price| format!(",{price}"));
        let (compared, price) = (compare(metric, own, row), price.unwrap_or_default());
        format!("{compared}, the best other way{price}")
    }));
    let is_timed = ["ns_per_op", "ops_per_s"].contains(&metric.name);
    if let Some(experiment) = experiment.filter(|_| is_timed) {
        match experiment.claim {
            // The article's ratio is one between plain round trips, as its figures are.
            Some(claim)
                if metric.name == "ns_per_op"
                    && base.is_some()
                    && experiment.published_beside(variant).next().is_some() =>
            {
                clauses.push(claim.to_owned());
            }
            _ => clauses.extend(beside_the_article(experiment, variant, metric)),
        }
    }
    let is_main = experiment.is_none_or(|experiment| experiment.main_variants.contains(&variant));
    if clauses.is_empty() && !is_main {
        return None;
    }
    let mut text = format!("{}: {}", champion.contender, (metric.sentence)(own.median));
    if let Some(experiment) = experiment.filter(|_| metric.name == "ns_per_op") {
        text.push(' ');
        text.push_str(experiment.operation);
    }
    for (place, clause) in clauses.iter().enumerate() {
        text.push_str(if place == 0 { ", " } else { "; " });
        text.push_str(clause);
    }
    text.push('.');
    Some(text)
}

/// " for 2.1 times the CPU time": what a lead costs, or what a lag spares. `None` where one of the two does not say.
fn price(champion: &Row, row: &Row) -> Option<String> {
    let cpu = |row: &Row| {
        let median = row.summary(CPU)?.median;
        (median > 0.0).then_some(median)
    };
    let ratio = cpu(champion)? / cpu(row)?;
    Some(if is_level(ratio) {
        " for the same CPU time".to_owned()
    } else {
        format!(" for {} times the CPU time", number::times(ratio))
    })
}

/// "131 times as fast as std::sync::mpsc". Where some run of the one is on the wrong side of some run of the other, that is said.
fn compare(metric: &Metric, own: Summary, row: &Row) -> String {
    let name = &row.contender;
    let Some(of_other) = row.summary(metric.name) else {
        return format!("not compared with {name}");
    };
    let overlap = match own.overlaps(of_other) {
        true => " (but their runs overlap)",
        false => "",
    };
    let (own, other) = (own.median, of_other.median);
    if metric.better.is_empty() || own <= 0.0 || other <= 0.0 {
        return format!("{} with {name}", (metric.sentence)(other));
    }
    let gain = if metric.more_is_better {
        own / other
    } else {
        other / own
    };
    if is_level(gain) {
        format!("level with {name}")
    } else if gain > 1.0 {
        format!("{} {} {name}{overlap}", number::times(gain), metric.better)
    } else {
        format!(
            "{} {} {name}{overlap}",
            number::times(1.0 / gain),
            metric.worse
        )
    }
}

/// "the article: 62.0 µs (A: shared property)": without the standard library's figure there is nothing to set the
/// article's ratio against, so its fastest way stands there as it is.
fn beside_the_article(experiment: &Experiment, variant: &str, metric: &Metric) -> Option<String> {
    // A figure with a note is one that does not mean what the article says it means.
    let published = experiment
        .published_beside(variant)
        .filter(|published| published.note.is_none())
        .filter_map(|published| Some((published.name, published.value(metric.name)?)));
    let (name, best) = if metric.more_is_better {
        published.max_by(|a, b| a.1.total_cmp(&b.1))?
    } else {
        published.min_by(|a, b| a.1.total_cmp(&b.1))?
    };
    Some(format!(
        "the article's best was {} ({name})",
        (metric.sentence)(best)
    ))
}

#[cfg(test)]
mod tests {
    use super::verdicts;
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::{Sample, standings};

    fn verdict(standings: &Standings) -> Option<String> {
        let mut verdicts = verdicts(standings);
        assert!(verdicts.len() < 2, "{verdicts:?}");
        verdicts.pop()
    }

    const SLOT: Sample<'_> = ("+slot", Ok(&[&[("ns_per_op", 440.0)]]), None);
    const STD: Sample<'_> = ("std::sync::mpsc", Ok(&[&[("ns_per_op", 57_640.0)]]), None);

    #[test]
    fn ours_is_compared_with_the_standard_library_and_the_best_peer() {
        let kanal: Sample<'_> = ("kanal", Ok(&[&[("ns_per_op", 750.0)]]), None);
        let limit: Sample<'_> = ("bare-spin", Ok(&[&[("ns_per_op", 110.0)]]), None);
        assert_eq!(
            verdict(&standings(
                "handover",
                "1000/2cores",
                &[SLOT, STD, kanal, limit]
            ))
            .unwrap(),
            "slot: 440 ns a round trip, 131 times as fast as std::sync::mpsc here; 1.70 times as fast as kanal, the \
             best other way; the ratio between the article's own ways was 2.5."
        );
    }

    #[test]
    fn a_rate_is_compared_with_the_articles_best_and_a_mere_call_with_nothing() {
        let channel: Sample<'_> = ("+channel", Ok(&[&[("ops_per_s", 60_000.0)]]), None);
        let socket: Sample<'_> = ("unix-socket", Ok(&[&[("ops_per_s", 30_000.0)]]), None);
        let direct: Sample<'_> = ("direct", Ok(&[&[("ops_per_s", 90_000.0)]]), None);
        assert_eq!(
            verdict(&standings(
                "calls",
                "60/free/1client",
                &[socket, direct, channel]
            ))
            .unwrap(),
            "channel: 60.0 k operations a second, 2.0 times as many as unix-socket, the best other way; the article's \
             best was 36.0 k operations a second (E: window messages)."
        );
    }

    #[test]
    fn a_better_peer_is_said_to_be_better() {
        let kanal: Sample<'_> = ("kanal", Ok(&[&[("ns_per_op", 220.0)]]), None);
        let text = verdict(&standings("handover", "1000/free", &[SLOT, STD, kanal])).unwrap();
        assert!(
            text.contains("2.0 times slower than kanal, the best other way"),
            "{text}"
        );
    }

    #[test]
    fn a_lead_within_the_spread_of_the_runs_is_said_to_be_one() {
        let runs: &[&[(&str, f64)]] = &[
            &[("ns_per_op", 380.0)],
            &[("ns_per_op", 600.0)],
            &[("ns_per_op", 900.0)],
        ];
        let kanal: Sample<'_> = ("kanal", Ok(runs), None);
        let text = verdict(&standings("handover", "1000/free", &[SLOT, kanal])).unwrap();
        assert!(
            text.contains(
                "1.36 times as fast as kanal (but their runs overlap), the best other way"
            ),
            "{text}"
        );
    }

    #[test]
    fn figures_that_hardly_differ_are_level() {
        let kanal: Sample<'_> = ("kanal", Ok(&[&[("ns_per_op", 431.0)]]), None);
        let text = verdict(&standings("handover", "1000/free", &[SLOT, kanal])).unwrap();
        assert!(
            text.contains("level with kanal, the best other way"),
            "{text}"
        );
    }

    #[test]
    fn a_lead_is_never_shown_without_its_cpu_time() {
        let both = |time, cpu| [("ns_per_op", time), ("cpu_ns_per_op", cpu)];
        let text = verdict(&standings(
            "handover",
            "1000/2cores",
            &[
                ("+slot", Ok(&[&both(100.0, 200.0)]), None),
                ("std::sync::mpsc", Ok(&[&both(100.0, 199.0)]), None),
                ("kanal", Ok(&[&both(130.0, 95.0)]), None),
            ],
        ));
        assert_eq!(
            text.unwrap(),
            "slot: 100 ns a round trip, level with std::sync::mpsc here for the same CPU time; the ratio between the article's own ways was 2.5."
        );
        let text = verdict(&standings(
            "handover",
            "1000/2cores",
            &[
                ("+slot", Ok(&[&both(100.0, 200.0)]), None),
                ("kanal", Ok(&[&both(130.0, 95.0)]), None),
            ],
        ));
        assert!(
            text.as_ref().unwrap().contains(
                "1.30 times as fast as kanal, the best other way, for 2.1 times the CPU time"
            ),
            "{text:?}"
        );
    }

    #[test]
    fn without_peers_the_articles_figure_stands_beside() {
        assert_eq!(
            verdict(&standings("handover", "1000/1core", &[SLOT])).unwrap(),
            "slot: 440 ns a round trip, the article's best was 62.0 µs (A: shared property)."
        );
    }

    #[test]
    fn more_a_second_is_better() {
        let text = verdict(&standings(
            "handover",
            "1000/2cores/crowd",
            &[
                ("+slot", Ok(&[&[("ops_per_s", 3_000_000.0)]]), None),
                ("kanal", Ok(&[&[("ops_per_s", 1_500_000.0)]]), None),
            ],
        ));
        assert_eq!(
            text.unwrap(),
            "slot: 3.00 M operations a second, 2.0 times as many as kanal, the best other way."
        );
    }

    #[test]
    fn kinds_are_compared_with_their_like() {
        let verdicts = verdicts(&standings(
            "post",
            "10000000/2cores/stream-16B",
            &[
                ("+channel-unbounded", Ok(&[&[("ns_per_op", 10.0)]]), None),
                ("+channel", Ok(&[&[("ns_per_op", 20.0)]]), None),
                ("std::sync::mpsc", Ok(&[&[("ns_per_op", 60.0)]]), None),
                (
                    "std::sync::mpsc-unbounded",
                    Ok(&[&[("ns_per_op", 40.0)]]),
                    None,
                ),
                ("kanal-unbounded", Ok(&[&[("ns_per_op", 5.0)]]), None),
                // Another kind: it takes all at once.
                ("mutex-swap", Ok(&[&[("ns_per_op", 2.0)]]), None),
            ],
        ));
        assert_eq!(
            verdicts,
            [
                "channel: 20.0 ns a message posted and retrieved, 3.0 times as fast as std::sync::mpsc here.",
                "channel-unbounded: 10.0 ns a message posted and retrieved, 4.0 times as fast as \
             std::sync::mpsc-unbounded here; 2.0 times slower than kanal-unbounded, the best other way.",
            ]
        );
    }

    #[test]
    fn next_to_nothing_has_no_ratio() {
        let text = verdict(&standings(
            "handover",
            "8/free/idle",
            &[
                ("+slot", Ok(&[&[("idle_cpu_us_per_s", 124.0)]]), None),
                ("kanal", Ok(&[&[("idle_cpu_us_per_s", 135.0)]]), None),
            ],
        ));
        assert_eq!(
            text.unwrap(),
            "slot: 124 µs of CPU a second, 135 µs of CPU a second with kanal, the best other way."
        );
    }

    #[test]
    fn without_a_figure_of_ours_there_is_no_verdict() {
        assert_eq!(verdict(&standings("handover", "1000/free", &[STD])), None);
        assert_eq!(
            verdict(&standings(
                "handover",
                "1000/free",
                &[("+slot", Err("broken"), None), STD]
            )),
            None
        );
    }
}
