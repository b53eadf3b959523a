//! Which contender is the fastest on which link: the verdict on a table that is sent to a client.

use super::metric;
use super::number;
use super::standings::{Row, Standings};
use tamtam_lab::rows::LINKS;

/// "packed-small is the fastest at 1 Mbit/s, packed at 8 Mbit/s, 100 Mbit/s and 1 Gbit/s. …"; `None` where no totals
/// were measured. What is not ours is compared with the best of ours.
#[must_use]
pub(super) fn verdict(standings: &Standings) -> Option<String> {
    let mut winners: Vec<(&str, Vec<String>)> = Vec::new();
    let mut gains = Vec::new();
    for link in LINKS {
        let speed = metric::heading(link.metric)?;
        // From end to end only some links may have been measured.
        let Some((winner, _)) = fastest(standings, link.metric, |_| true) else {
            continue;
        };
        match winners.last_mut() {
            Some((name, speeds)) if *name == winner.contender => speeds.push(speed.clone()),
            _ => winners.push((&winner.contender, vec![speed.clone()])),
        }
        let ours = fastest(standings, link.metric, |row| row.ours);
        let other = fastest(standings, link.metric, |row| !row.ours);
        if let (Some((_, ours)), Some((other, theirs))) = (ours, other) {
            gains.push(format!(
                "{} at {speed} ({})",
                times(theirs / ours),
                other.contender
            ));
        }
    }
    if winners.is_empty() {
        return None;
    }
    let parts: Vec<String> = winners
        .iter()
        .enumerate()
        .map(|(place, (name, speeds))| {
            let verb = if place == 0 { " is the fastest" } else { "" };
            format!("{name}{verb} at {}", listed(speeds))
        })
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

/// The ranked row with the least median of `metric`, and that median.
#[must_use]
pub(super) fn fastest<'a>(
    standings: &'a Standings,
    metric: &str,
    wanted: impl Fn(&Row) -> bool,
) -> Option<(&'a Row, f64)> {
    standings
        .ranked()
        .filter(|row| wanted(row))
        .filter_map(|row| Some((row, row.summary(metric)?.median)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
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
            "packed-small is the fastest at 1 Mbit/s and 8 Mbit/s; packed at 100 Mbit/s and 1 Gbit/s. Times that the \
             best other way takes of ours: 2.0× at 1 Mbit/s (text+gzip), 2.0× at 8 Mbit/s (text+gzip), 3.0× at 100 \
             Mbit/s (text+gzip), 5.0× at 1 Gbit/s (text)."
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
