//! The figures one by one: what the forms for programs have in common.

use serde::Serialize;

use super::recording::Recording;

/// One figure, as it is written: every field always.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    experiment: &'a str,
    variant: &'a str,
    contender: &'a str,
    version: &'a str,
    ours: bool,
    metric: &'a str,
    unit: &'a str,
    median: f64,
    min: f64,
    max: f64,
    runs: usize,
    /// Always true: a figure whose delivery was not verified is not written.
    verified: bool,
    machine: &'a str,
}

/// The lines of `sessions`. Contenders that failed have no figures, so no lines.
pub(super) fn lines(sessions: &[Recording]) -> impl Iterator<Item = Line<'_>> {
    sessions.iter().flat_map(|session| {
        session.standings.iter().flat_map(move |standings| {
            standings.rows.iter().flat_map(move |row| {
                row.figures.iter().map(move |figure| Line {
                    experiment: &standings.experiment,
                    variant: &standings.variant,
                    contender: &row.contender,
                    version: &row.version,
                    ours: row.ours,
                    metric: &figure.metric,
                    unit: &figure.unit,
                    median: figure.summary.median,
                    min: figure.summary.min,
                    max: figure.summary.max,
                    runs: figure.summary.runs,
                    verified: true,
                    machine: &session.machine,
                })
            })
        })
    })
}
