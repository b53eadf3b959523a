//! Which contender is the fastest on which link: the verdict on a table that is sent to a client.

use super::metric;
use super::number;
use super::standings::{Row, Standings};
use super::statistics::{Standing, Summary};
use tamtam_lab::rows::LINKS;

/// So many contenders that are level are named.
const MOST_NAMED: usize = 3;

/// "packed-small is the fastest at 1 Mbit/s; packed and arrow are level, and none is ahead of them, at 8 Mbit/s and 1 Gbit/s. …"; `None` where no totals
/// were measured. What is not ours is compared with the best of ours.
#[must_use]
pub(super) fn verdict(standings: &Standings) -> Option<String> {
    let mut winners: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    let mut gains = Vec::new();
    for link in LINKS {
        let speed = metric::heading(link.metric)?;
        // From end to end only some links may have been measured.
        let first = first(standings, link.metric);
        if first.is_empty() {
            continue;
        }
        match winners.last_mut() {
            Some((names, speeds)) if *names == first => speeds.push(speed.clone()),
            _ => winners.push((first, vec![speed.clone()])),
        }
        let ours = fastest(standings, link.metric, |row| row.ours);
        let other = fastest(standings, link.metric, |row| !row.ours);
        if let (Some((_, ours)), Some((other, theirs))) = (ours, other) {
            let level = match ours.beside(theirs) {
                Standing::Level => ", level",
                Standing::Ahead | Standing::Behind => "",
            };
            gains.push(format!(
                "{} at {speed} ({}{level})",
                times(theirs.median / ours.median),
                other.contender
            ));
        }
    }
    if winners.is_empty() {
        return None;
    }
    let parts: Vec<String> = winners
        .iter()
        .map(|(names, speeds)| format!("{} at {}", ahead(names), listed(speeds)))
        .collect();
    let mut text = format!("{}.", parts.join("; "));
    if !gains.is_empty() {
        text.push_str(&format!(
            " Times that the best other way takes of ours: {}.",
            gains.join(", ")
        ));
    }
    Some(text)
}

/// The contender with the least median of `metric`, and those that are level with it.
fn first<'a>(standings: &'a Standings, metric: &str) -> Vec<&'a str> {
    let Some((_, best)) = fastest(standings, metric, |_| true) else {
        return Vec::new();
    };
    let mut first: Vec<(&str, f64)> = standings
        .ranked()
        .filter_map(|row| Some((row, row.summary(metric)?)))
        .filter(|(_, summary)| best.beside(*summary) == Standing::Level)
        .map(|(row, summary)| (row.contender.as_str(), summary.median))
        .collect();
    first.sort_by(|one, other| one.1.total_cmp(&other.1));
    first.into_iter().map(|(name, _)| name).collect()
}

/// "packed is the fastest", or "packed and arrow are level, and none is ahead of them".
fn ahead(names: &[&str]) -> String {
    let named = names.iter().take(MOST_NAMED).copied();
    let mut said: Vec<String> = named.map(str::to_owned).collect();
    match names.len() - said.len() {
        0 => {}
        rest => said.push(format!("{rest} more")),
    }
    let who = listed(&said);
    match names {
        [_] => format!("{who} is the fastest"),
        _ => format!("{who} are level, and none is ahead of them,"),
    }
}

/// The ranked row with the least median of `metric`, and what its runs gave.
#[must_use]
pub(super) fn fastest<'a>(
    standings: &'a Standings,
    metric: &str,
    wanted: impl Fn(&Row) -> bool,
) -> Option<(&'a Row, Summary)> {
    standings
        .ranked()
        .filter(|row| wanted(row))
        .filter_map(|row| Some((row, row.summary(metric)?)))
        .min_by(|a, b| a.1.median.total_cmp(&b.1.median))
}

fn times(ratio: f64) -> String {
    format!("{}×", number::times(ratio))
}

/// "a", "a and b", "a, b and c".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::verdict;
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::standings;

    fn totals(names: [&'static str; 4], figures: [f64; 4]) -> [(&'static str, f64); 4] {
        std::array::from_fn(|place| (names[place], figures[place]))
    }

    const NAMES: [&str; 4] = [
        "total_us_8mbit",
        "total_us_1mbit",
        "total_us_100mbit",
        "total_us_1000mbit",
    ];

    fn sample() -> Standings {
        standings(
            "rows",
            "1000/random",
            &[
                (
                    "+packed",
                    Ok(&[&totals(NAMES, [7.0, 60.0, 0.6, 0.06])]),
                    None,
                ),
                (
                    "+packed-small",
                    Ok(&[&totals(NAMES, [6.0, 50.0, 0.7, 0.09])]),
                    None,
                ),
                (
                    "text+gzip",
                    Ok(&[&totals(NAMES, [12.0, 100.0, 1.8, 0.9])]),
                    None,
                ),
                ("text", Ok(&[&totals(NAMES, [20.0, 200.0, 1.9, 0.3])]), None),
                ("broken", Err("another table"), None),
            ],
        )
    }

    #[test]
    fn the_fastest_of_each_link_is_named_with_the_best_other() {
        assert_eq!(
            verdict(&sample()).unwrap(),
            "packed-small is the fastest at 1 Mbit/s and 8 Mbit/s; packed is the fastest at 100 Mbit/s and 1 Gbit/s. Times that the \
             best other way takes of ours: 2.0× at 1 Mbit/s (text+gzip), 2.0× at 8 Mbit/s (text+gzip), 3.0× at 100 \
             Mbit/s (text+gzip), 5.0× at 1 Gbit/s (text)."
        );
    }

    #[test]
    fn what_is_level_with_the_fastest_is_named_beside_it() {
        let packed: &[&[(&str, f64)]] = &[
            &[("total_us_1mbit", 100.0), ("total_us_8mbit", 10.0)],
            &[("total_us_1mbit", 103.0), ("total_us_8mbit", 11.0)],
        ];
        let text: &[&[(&str, f64)]] = &[
            &[("total_us_1mbit", 99.9), ("total_us_8mbit", 20.0)],
            &[("total_us_1mbit", 102.9), ("total_us_8mbit", 21.0)],
        ];
        let samples = [("+packed", Ok(packed), None), ("text", Ok(text), None)];
        assert_eq!(
            verdict(&standings("rows", "1000/random", &samples)).unwrap(),
            "text and packed are level, and none is ahead of them, at 1 Mbit/s; packed is the fastest at 8 Mbit/s. Times that \
             the best other way takes of ours: 1.00× at 1 Mbit/s (text, level), 1.95× at 8 Mbit/s (text)."
        );
    }

    #[test]
    fn the_best_figure_of_each_link_is_marked_and_no_other() {
        let standings = sample();
        let marked: Vec<(&str, &str)> = standings
            .rows
            .iter()
            .flat_map(|row| row.figures.iter().map(move |figure| (row, figure)))
            .filter(|(_, figure)| figure.is_best)
            .map(|(row, figure)| (row.contender.as_str(), figure.metric.as_str()))
            .collect();
        assert_eq!(
            marked,
            [
                ("packed-small", "total_us_8mbit"),
                ("packed-small", "total_us_1mbit"),
                ("packed", "total_us_100mbit"),
                ("packed", "total_us_1000mbit"),
            ]
        );
    }

    #[test]
    fn without_totals_there_is_no_verdict() {
        let other = standings(
            "handover",
            "1000/free",
            &[("+slot", Ok(&[&[("ns_per_op", 1.0)]]), None)],
        );
        assert_eq!(verdict(&other), None);
        assert!(!other.rows[0].figures[0].is_best);
    }
}
