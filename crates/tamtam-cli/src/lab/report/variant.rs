//! One variant on the page: its chart, what it comes to in words, its figures in a table, and how ours went over time.

use maud::{Markup, html};

use super::capital;
use super::chart::{self, Bar, Chart, Mark};
use super::comparison::{self, Judgement, Series};
use super::drawn::{self, CPU, Drawn};
use super::tracks::{self, Tracks};
use crate::lab::experiment::{Experiment, Published};
use crate::lab::metric;
use crate::lab::number;
use crate::lab::origin;
use crate::lab::results::recording::Recording;
use crate::lab::results::table::{Cell, Column, Detail, Subject, Table, What};
use crate::lab::standings::{Row, Standings, State};
use crate::lab::statistics::Summary;
use crate::lab::verdict;

/// How many of our ways an answer shows, and how many others: the best. All of them stand with the experiment.
const ANSWERS: usize = 4;

/// A variant as one session measured it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<'a> {
    /// The session.
    pub recording: &'a Recording,
    /// What it found.
    pub standings: &'a Standings,
}

impl Measured<'_> {
    /// The chart, the verdicts and the table; `id` is one that the page has only once.
    #[must_use]
    pub(super) fn render(&self, id: &str) -> Markup {
        let standings = self.standings;
        let name = format!("{} {}", standings.experiment, standings.variant);
        let Some(drawn) = Drawn::of(standings) else {
            return html! { p { "There are no figures." } };
        };
        let published = published(standings, drawn.metric);
        html! {
            @if let Some(sentence) = origin::sentence(standings) {
                p { (sentence) }
            }
            (self.chart(&name, drawn, &published, id))
            @for verdict in verdict::verdicts(standings) {
                p.verdict { (verdict) }
            }
            (self.table(&name, drawn))
        }
    }

    /// The answer in short: what the fastest ways cost, and what it comes to; `id` is one that the page has only once.
    /// Nothing where there is no figure.
    #[must_use]
    pub(super) fn answer(&self, id: &str) -> Option<Markup> {
        let drawn = Drawn::of(self.standings)?;
        let name = format!("{} {}", self.standings.experiment, self.standings.variant);
        let bars = self.bars(drawn, ANSWERS);
        (!bars.is_empty()).then(|| {
            html! {
                (figure(
                    Chart {
                        title: format!("The answer: {name}, {}", self.recording.label),
                        drawn,
                        bars,
                    },
                    id,
                ))
                @for verdict in verdict::verdicts(self.standings) {
                    p.verdict { (verdict) }
                }
            }
        })
    }

    /// Who took part in an older one of `recordings`, oldest first, and not in this session.
    #[must_use]
    pub(super) fn others(&self, recordings: &[&Recording]) -> Option<String> {
        let standings = self.standings;
        let mut names: Vec<&str> = Vec::new();
        for row in recordings
            .iter()
            .rev()
            .filter_map(|other| other.of_variant(&standings.experiment, &standings.variant))
            .flat_map(|found| &found.rows)
        {
            let name = row.contender.as_str();
            let is_here = standings.rows.iter().any(|row| row.contender == name);
            if !is_here && !names.contains(&name) {
                names.push(name);
            }
        }
        (!names.is_empty()).then(|| format!("In older sessions only: {}.", names.join(", ")))
    }

    fn chart(
        &self,
        name: &str,
        drawn: Drawn<'_>,
        published: &[(&Published, f64)],
        id: &str,
    ) -> Markup {
        let mut bars = self.bars(drawn, usize::MAX);
        bars.extend(published.iter().map(|(published, value)| Bar {
            name: published.name.to_owned(),
            mark: Mark::Article,
            figure: Summary {
                median: *value,
                min: *value,
                max: *value,
                runs: 1,
            },
            cpu: None,
        }));
        figure(
            Chart {
                title: format!("{name}, {}", self.recording.label),
                drawn,
                bars,
            },
            id,
        )
    }

    /// A bar for each contender that has the figure, best first: at most `most` of ours, and as many others.
    fn bars(&self, drawn: Drawn<'_>, most: usize) -> Vec<Bar> {
        let (mut ours, mut others) = (0, 0);
        self.standings
            .rows
            .iter()
            .filter_map(|row| {
                let figure = row.summary(drawn.metric)?;
                let shown = if row.ours { &mut ours } else { &mut others };
                *shown += 1;
                (*shown <= most).then(|| Bar {
                    name: row.contender.clone(),
                    mark: mark(row),
                    figure,
                    cpu: row.summary(CPU),
                })
            })
            .collect()
    }

    /// Every figure, the articles' below ours.
    fn table(&self, name: &str, drawn: Drawn<'_>) -> Markup {
        let table = Table::of(self.standings, Some(drawn.metric), Detail::Full);
        // Where none is ours, the best peer's ratio says it.
        let columns: Vec<&Column<'_>> = table
            .columns
            .iter()
            .filter(|column| column.what != What::ToBest)
            .collect();
        html! {
            div.scroll role="region" aria-label=(format!("Figures of {name}, {}", self.recording.label)) tabindex="0" {
                table {
                    caption { span.here {
                        "Session " (self.recording.label) ": medians of the runs. "
                        @if drawn.is_one_of_several() { "› marks the fastest at each speed. " }
                        span.verified { "✓ every delivery verified" }
                    } }
                    thead { tr {
                        th scope="col" { "contender" }
                        @for column in &columns { th scope="col" { (heading(column.what, drawn)) } }
                    } }
                    tbody {
                        @for (place, subject) in table.subjects.iter().enumerate() {
                            tr class=(class(subject)) {
                                th scope="row" { (named(subject)) }
                                @for column in &columns { td { (shown(column.what, column.cells[place])) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn class(subject: &Subject<'_>) -> &'static str {
    match subject {
        Subject::Contender(row) if row.ours => "ours",
        Subject::Contender(_) => "peer",
        Subject::Article(_) => "article",
    }
}

fn named(subject: &Subject<'_>) -> Markup {
    match subject {
        Subject::Contender(row) => {
            html! { (mark(row).in_text()) (row.contender) " " small { (row.version) } }
        }
        Subject::Article(published) => html! { (Mark::Article.in_text()) (published.name) },
    }
}

fn heading(what: What<'_>, drawn: Drawn<'_>) -> String {
    match what {
        // What is drawn is said above the chart, unless others like it are in the table.
        What::Leading(_) if !drawn.is_one_of_several() => "median".to_owned(),
        What::Leading(unit) | What::Other(unit) => {
            metric::heading(unit.metric).unwrap_or_else(|| unit.metric.replace('_', " "))
        }
        What::Range(_) => "[min..max]".to_owned(),
        What::ToOurs => "to ours".to_owned(),
        What::ToBest => "to best".to_owned(),
        What::ToBestPeer => "to best peer".to_owned(),
        What::Runs => "runs".to_owned(),
        What::Failures => String::new(),
    }
}

/// A cell as it is read, and to the last digit.
fn shown(what: What<'_>, cell: Cell) -> Markup {
    let exact = |value: f64, text: String| html! { data value=(value) { (text) } };
    match (cell, what) {
        (Cell::Figure { value, is_best }, What::Leading(unit) | What::Other(unit)) => {
            let best = if is_best { "› " } else { "" };
            let text = drawn::figure(unit.metric, unit.unit, value);
            exact(value, format!("{best}{text}"))
        }
        (Cell::Range(summary), What::Range(unit)) => {
            html! { (drawn::span(unit.metric, unit.unit, summary)) }
        }
        (Cell::Ratio(ratio), _) => exact(ratio, format!("{}×", number::times(ratio))),
        (Cell::NotRanked, _) => html! { "–" },
        (Cell::Runs(runs), _) => html! { (runs) " ✓" },
        (Cell::Failed, _) => html! { "failed" },
        (Cell::NotRun, _) => html! { "not run" },
        (Cell::Empty | Cell::Figure { .. } | Cell::Range(_), _) => html! {},
    }
}

/// How our figures of a variant went from session to session; nothing if no two sessions have the same figure.
#[must_use]
pub(super) fn over_time(
    series: &[Series<'_>],
    experiment: &str,
    variant: &str,
    id: &str,
) -> Option<Markup> {
    let ours: Vec<&Series<'_>> = comparison::ours_over_time(series, experiment, variant).collect();
    let name = format!("{experiment} {variant}");
    if ours.is_empty() {
        return None;
    }
    let tracks = Tracks {
        title: format!("{name} over time"),
        series: &ours,
    };
    Some(html! {
        @if let Some(pictures) = tracks.draw(id) {
            (chart::figure(&tracks.title, &html! {
                span.caption { "Older sessions divided by the newest, logarithmic scale" }
                span.legend {
                    span { (older(false)) "older, least to greatest run" }
                    span { (older(true)) "does not touch the newest" }
                    span { (band()) "range of the newest" }
                }
            }, &pictures))
        }
        div.scroll role="region" aria-label=(format!("{name} over time")) tabindex="0" {
            table.over-time {
                caption { span.here { "Each session, oldest first; × newest is its figure divided by the newest." } }
                thead { tr {
                    th scope="col" { "figure, session" }
                    th scope="col" { "version" }
                    th scope="col" { "median" }
                    th scope="col" { "[min..max]" }
                    th scope="col" { "runs" }
                    th scope="col" { "× newest" }
                    th.words scope="col" { "the newest against it" }
                } }
                @for series in &ours {
                    tbody { (sessions(series)) }
                }
            }
        }
    })
}

/// The rows of one figure over time.
fn sessions(series: &Series<'_>) -> Markup {
    let newest = series
        .points
        .last()
        .map_or(0.0, |point| point.figure.median);
    html! {
        tr.group { th scope="rowgroup" colspan="7" {
            (series.contender) ", "
            (metric::heading(series.metric).unwrap_or_else(|| series.metric.replace('_', " ")))
        } }
        @for (place, point) in series.points.iter().enumerate() {
            tr {
                th scope="row" { (point.recording.label) }
                td { (point.version) }
                td { data value=(point.figure.median) { (drawn::figure(series.metric, series.unit, point.figure.median)) } }
                td { @if point.figure.runs > 1 { (drawn::span(series.metric, series.unit, point.figure)) } }
                td { (point.figure.runs) }
                td { @if newest > 0.0 { (number::times(point.figure.median / newest)) "×" } @else { "–" } }
                td.words { @if place + 1 == series.points.len() { "newest" } @else { (judged(series, place)) } }
            }
        }
    }
}

fn judged(series: &Series<'_>, place: usize) -> Markup {
    html! {
        @match series.judge(place) {
            Judgement::Regression => strong.regression { "▲ " (series.change(place)) },
            Judgement::Improvement => strong.improvement { "▼ " (series.change(place)) },
            Judgement::Within => "within the ranges",
            Judgement::Level => "less than 1 % apart",
            Judgement::NotJudged => "not judged: a single run",
        }
    }
}

/// A chart with its legend.
fn figure(chart: Chart<'_>, id: &str) -> Markup {
    let drawn = chart.drawn;
    let mut marks: Vec<Mark> = chart.bars.iter().map(|bar| bar.mark).collect();
    marks.sort_unstable();
    marks.dedup();
    let has_cpu = drawn.shares_scale_with_cpu() && chart.bars.iter().any(|bar| bar.cpu.is_some());
    let has_range = chart
        .bars
        .iter()
        .any(|bar| bar.mark != Mark::Article && bar.figure.runs > 1);
    html! {
        @if let Some(pictures) = chart.draw(id) {
            (chart::figure(&chart.title, &html! {
                span.caption { (capital(&drawn.caption())) ", logarithmic scale" }
                span.legend {
                    @for mark in marks { span { (mark.in_text()) (mark.word()) } }
                    @if has_range { span { (whisker()) "least to greatest run" } }
                    @if has_cpu { span { (thin_bar()) "CPU time" } }
                }
            }, &pictures))
        }
    }
}

fn whisker() -> Markup {
    html! {
        svg.glyph width="22" height="12" viewBox="0 -6 22 12" aria-hidden="true" {
            path.sample d="M2-4V4M2 0H20M20-4V4" {}
        }
    }
}

fn older(apart: bool) -> Markup {
    html! {
        svg.glyph width="22" height="12" viewBox="0 -6 22 12" aria-hidden="true" {
            line.sample x1="1" x2="21" y1="0" y2="0" {}
            g transform="translate(11)" { (tracks::dot(apart)) }
        }
    }
}

fn band() -> Markup {
    html! {
        svg.glyph width="14" height="12" viewBox="0 -6 14 12" aria-hidden="true" {
            rect.band x="1" y="-6" width="12" height="12" {}
        }
    }
}

fn thin_bar() -> Markup {
    html! {
        svg.glyph width="22" height="12" viewBox="0 -6 22 12" aria-hidden="true" {
            rect.bar.cpu x="1" y="-2" width="20" height="4" {}
        }
    }
}

fn mark(row: &Row) -> Mark {
    match row.state {
        State::Ranked if row.ours => Mark::Ours,
        State::Ranked => Mark::Peer,
        _ => Mark::Unranked,
    }
}

/// The articles' figures of `metric` that stand beside this variant.
fn published(standings: &Standings, metric: &str) -> Vec<(&'static Published, f64)> {
    Experiment::find(&standings.experiment)
        .iter()
        .flat_map(|experiment| experiment.published_beside(&standings.variant))
        .filter_map(|published| Some((published, published.value(metric)?)))
        .collect()
}
