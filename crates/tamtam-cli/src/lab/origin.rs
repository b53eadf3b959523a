//! Rows out of a database, before they take a form: the same for every form of a table, so that it is said once, above
//! them, and not in a column.

use super::experiment::{Experiment, Published};
use super::metric;
use super::standings::{Row, Standings};
use super::statistics::Summary;

/// How long the rows of a table take out of a database into columns, in microseconds.
pub(super) const METRIC: &str = "rows_us";

/// Whether this is a database beside the forms of a table, which are compared without it.
#[must_use]
pub(super) fn is_beside(standings: &Standings, row: &Row) -> bool {
    standings.primary.as_deref() != Some(METRIC) && is_database(row)
}

/// Whether this is a database that gave its rows.
#[must_use]
pub(super) fn is_database(row: &Row) -> bool {
    row.figures
        .first()
        .is_some_and(|figure| figure.metric == METRIC)
}

/// What rows out of each database take beside the forms of a table, with our form and with the article's figures; `None`
/// if no database was asked.
#[must_use]
pub(super) fn sentence(standings: &Standings) -> Option<String> {
    let databases: Vec<(&Row, Summary)> = standings
        .rows
        .iter()
        .filter(|row| is_beside(standings, row))
        .filter_map(|row| Some((row, row.summary(METRIC)?)))
        .collect();
    let (_, first) = databases.first()?;
    let experiment = Experiment::find(&standings.experiment);
    let each: Vec<String> = databases
        .iter()
        .map(|(row, rows)| {
            let range = if rows.runs > 1 {
                format!(" {}", metric::range(METRIC, rows.min, rows.max))
            } else {
                String::new()
            };
            let time = metric::column(METRIC, rows.median);
            format!("out of {} in {time}{range}", row.contender)
        })
        .collect();
    let mut text = format!(
        "Before that, for every form alike, rows into columns: {}",
        each.join(", ")
    );
    let form = standings.champion(experiment.map_or(&[], |experiment| experiment.flagships));
    let encode = form.and_then(|form| Some((form, form.summary("encode_us")?)));
    if let Some((form, encode)) = encode {
        text.push_str(&format!(
            "; with {}, {} on the server in all",
            form.contender,
            metric::column(METRIC, first.median + encode.median)
        ));
    }
    text.push('.');
    let article: Vec<(&Published, f64)> = experiment
        .into_iter()
        .flat_map(|experiment| experiment.published_beside(&standings.variant))
        .filter_map(|published| Some((published, published.value(METRIC)?)))
        .collect();
    if !article.is_empty() {
        let each: Vec<String> = article
            .iter()
            .map(|(published, rows)| {
                let encode = published.value("encode_mean_us").unwrap_or_default();
                format!(
                    "{}, {} in all ({})",
                    metric::column(METRIC, *rows),
                    metric::column(METRIC, rows + encode),
                    published.name
                )
            })
            .collect();
        text.push_str(&format!(" In the article: {}.", each.join("; ")));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::{is_beside, sentence};
    use crate::lab::standings::State;
    use crate::lab::standings::samples::{Sample, standings};

    const PACKED: Sample<'_> = (
        "+packed",
        Ok(&[&[("total_us_8mbit", 6_840.0), ("encode_us", 5.0)]]),
        None,
    );
    const SQLITE: Sample<'_> = (
        "+sqlite",
        Ok(&[
            &[("rows_us", 300.0)],
            &[("rows_us", 310.0)],
            &[("rows_us", 320.0)],
        ]),
        None,
    );

    #[test]
    fn what_is_the_same_for_every_form_is_said_with_the_articles_figures() {
        let both = standings("rows", "1000/random", &[PACKED, SQLITE]);
        assert_eq!(
            sentence(&both).unwrap(),
            "Before that, for every form alike, rows into columns: out of sqlite in 310 µs [300..320 µs]; with packed, \
             315 µs on the server in all. In the article: 8.75 ms, 377 ms in all (C: array); 11.0 ms, 13.5 ms in all (C: \
             string)."
        );
        let mysql = ("+mysql", Ok(&[&[("rows_us", 900.0)][..]][..]), None);
        let larger = standings("rows", "10000/random", &[PACKED, SQLITE, mysql]);
        assert_eq!(
            sentence(&larger).unwrap(),
            "Before that, for every form alike, rows into columns: out of sqlite in 310 µs [300..320 µs], out of mysql \
             in 900 µs; with packed, 315 µs on the server in all."
        );
    }

    #[test]
    fn a_database_is_not_ranked_with_forms_and_does_not_order_them() {
        let both = standings("rows", "1000/random", &[SQLITE, PACKED]);
        assert_eq!(both.primary.as_deref(), Some("total_us_8mbit"));
        let found: Vec<(&str, bool, bool)> = both
            .rows
            .iter()
            .map(|row| {
                let is_ranked = row.state == State::Ranked;
                (row.contender.as_str(), is_ranked, is_beside(&both, row))
            })
            .collect();
        assert_eq!(found, [("packed", true, false), ("sqlite", false, true)]);
    }

    #[test]
    fn databases_alone_are_compared() {
        let alone = standings("rows", "1000/random", &[SQLITE]);
        assert_eq!(alone.primary.as_deref(), Some("rows_us"));
        assert!(!is_beside(&alone, &alone.rows[0]));
        assert_eq!(sentence(&alone), None);
        assert_eq!(sentence(&standings("rows", "1000/random", &[PACKED])), None);
        // One that failed has no figure to show apart: it stays where failures are shown.
        let failed = ("+sqlite", Err("the disk is full"), None);
        let failed = standings("rows", "1000/random", &[PACKED, failed]);
        assert!(!is_beside(&failed, &failed.rows[1]));
    }
}
