//! One variant on the page: its chart, what it comes to in words, its figures in a table, and how ours went over time.

use maud::{Markup, html};

use super::capital;
use super::chart::{self, Bar, Chart, Mark};
use super::comparison::{self, Judgement, Series};
use super::drawn::{self, CPU, Drawn};
use super::recording::Recording;
use super::tracks::{self, Tracks};
use crate::lab::experiment::{Experiment, LIMITS, Published};
use crate::lab::fastest;
use crate::lab::metric::{self, Metric};
use crate::lab::number;
use crate::lab::origin;
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

/// A column of the table of figures: its heading and, for each row, the cell.
struct Column {
    heading: String,
    cells: Vec<Cell>,
}

/// A figure as it is shown, and to the last digit.
#[derive(Default)]
struct Cell {
    text: String,
    exact: Option<f64>,
}

impl Cell {
    fn text(text: String) -> Self {
        Self { text, exact: None }
    }
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
            (self.table(&name, drawn, &published))
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
    fn table(&self, name: &str, drawn: Drawn<'_>, published: &[(&Published, f64)]) -> Markup {
        let rows = compared(self.standings);
        let columns = columns(self.standings, &rows, drawn, published);
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
                        @for column in &columns { th scope="col" { (column.heading) } }
                    } }
                    tbody {
                        @for (place, row) in rows.iter().enumerate() {
                            tr class=(if row.ours { "ours" } else { "peer" }) {
                                th scope="row" {
                                    (mark(row).in_text()) (row.contender) " " small { (row.version) }
                                }
                                (cells(&columns, place))
                            }
                        }
                        @for (place, (published, _)) in published.iter().enumerate() {
                            tr.article {
                                th scope="row" { (Mark::Article.in_text()) (published.name) }
                                (cells(&columns, rows.len() + place))
                            }
                        }
                    }
                }
            }
        }
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

/// Those that are shown with each other; what is beside them is said in a sentence.
fn compared(standings: &Standings) -> Vec<&Row> {
    standings
        .rows
        .iter()
        .filter(|row| !origin::is_beside(standings, row))
        .collect()
}

/// The columns of the table that have something to say.
fn columns(
    standings: &Standings,
    rows: &[&Row],
    drawn: Drawn<'_>,
    published: &[(&Published, f64)],
) -> Vec<Column> {
    // Cells for the contenders by `of_row`, for the articles by `of_article`.
    let column = |heading: &str,
                  of_row: &dyn Fn(&Row) -> Cell,
                  of_article: &dyn Fn(&Published) -> Cell| Column {
        heading: heading.to_owned(),
        cells: rows
            .iter()
            .copied()
            .map(of_row)
            .chain(published.iter().map(|(published, _)| of_article(published)))
            .collect(),
    };
    let none = |_: &Published| Cell::default();
    let medians = |metric: &str, unit: &str| {
        let shown = |value: f64| Cell {
            text: drawn::figure(metric, unit, value),
            exact: Some(value),
        };
        let heading = metric::heading(metric).unwrap_or_else(|| metric.replace('_', " "));
        column(
            // What is drawn is said above the chart, unless others like it are in the table.
            if metric == drawn.metric && !drawn.is_one_of_several() {
                "median"
            } else {
                &heading
            },
            &|row| {
                let mut cell = row
                    .summary(metric)
                    .map_or_else(Cell::default, |summary| shown(summary.median));
                if fastest::is_marked(standings, row, metric) {
                    cell.text.insert_str(0, "› ");
                }
                cell
            },
            &|published| published.value(metric).map_or_else(Cell::default, shown),
        )
    };
    let mut columns = vec![medians(drawn.metric, drawn.unit)];
    columns.push(column(
        "[min..max]",
        &|row| match row.summary(drawn.metric) {
            Some(summary) if summary.runs > 1 => {
                Cell::text(drawn::span(drawn.metric, drawn.unit, summary))
            }
            _ => Cell::default(),
        },
        &none,
    ));
    let experiment = Experiment::find(&standings.experiment);
    let flagships = experiment.map_or(&[][..], |experiment| experiment.flagships);
    let best_peer = standings
        .ranked()
        .find(|row| !row.ours && !LIMITS.contains(&row.contender.as_str()));
    for (heading, reference) in [
        ("to ours", standings.champion(flagships)),
        ("to best peer", best_peer),
    ] {
        let base = reference.and_then(|row| row.summary(drawn.metric));
        if let Some(base) = base.filter(|base| base.median > 0.0) {
            let ratio = |value: f64| Cell {
                text: format!("{}×", number::times(value / base.median)),
                exact: Some(value / base.median),
            };
            columns.push(column(
                heading,
                &|row| match (&row.state, row.summary(drawn.metric)) {
                    (State::Ranked, Some(summary)) => ratio(summary.median),
                    (_, Some(_)) => Cell::text("–".to_owned()),
                    _ => Cell::default(),
                },
                // An article's machine is not this one: between the two there is no ratio.
                &none,
            ));
        }
    }
    columns.push(column(
        "runs",
        &|row| match row.summary(drawn.metric) {
            Some(summary) => Cell::text(format!("{} ✓", summary.runs)),
            None => Cell::default(),
        },
        &none,
    ));
    for (metric, unit) in others(standings, rows, drawn) {
        columns.push(medians(metric, unit));
    }
    columns.retain(|column| column.cells.iter().any(|cell| !cell.text.is_empty()));
    columns
}

/// The other metrics that tables show, with their units, in the order of their columns.
fn others<'a>(
    standings: &Standings,
    rows: &[&'a Row],
    drawn: Drawn<'_>,
) -> Vec<(&'a str, &'a str)> {
    let mut others: Vec<(&str, &str)> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        let name = figure.metric.as_str();
        let is_primary = standings.primary.as_deref() == Some(name);
        // One is the other turned round, of interest only where it orders the rows.
        let is_reciprocal = name == "ops_per_s" && !is_primary;
        if name != drawn.metric
            && !is_reciprocal
            && metric::heading(name).is_some()
            && !others.iter().any(|(known, _)| *known == name)
        {
            others.push((name, &figure.unit));
        }
    }
    others.sort_by_key(|(name, _)| Metric::place(name));
    others
}

fn cells(columns: &[Column], place: usize) -> Markup {
    html! {
        @for column in columns {
            @let cell = &column.cells[place];
            td {
                @match cell.exact {
                    Some(exact) => data value=(exact) { (cell.text) },
                    None => (cell.text),
                }
            }
        }
    }
}
