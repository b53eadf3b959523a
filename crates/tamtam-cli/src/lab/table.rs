//! The standings of one variant as a table for people, no wider than [`width`].

use std::io::{IsTerminal, stdout};
use std::sync::LazyLock;

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};

use super::experiment::{self, Experiment, Published};
use super::fastest;
use super::metric;
use super::number;
use super::origin;
use super::standings::{Row, Standings, State};

/// The most columns that what the lab prints is wide.
const WIDEST: usize = 100;

/// The least: on a terminal that is narrower, lines are broken by it.
const NARROWEST: usize = 60;

/// How many columns wide what the lab prints is: as many as the terminal has, within bounds.
fn width() -> usize {
    static WIDTH: LazyLock<usize> = LazyLock::new(|| {
        if cfg!(test) || !stdout().is_terminal() {
            return WIDEST;
        }
        let size = console::Term::stdout().size_checked();
        size.map_or(WIDEST, |(_, columns)| {
            usize::from(columns).clamp(NARROWEST, WIDEST)
        })
    });
    *WIDTH
}

/// The blanks between two columns.
const GAP: usize = 2;

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The figure that orders the rows, its range, its ratio to ours, and the CPU time: what fits beside the names. Of an
    /// article's figures the best.
    Short,
    /// Every figure.
    Full,
}

/// The metrics that a short table has beside the one that orders it.
const SHORT: [&str; 5] = [
    "cpu_ns_per_op",
    "total_us_8mbit",
    "total_us_100mbit",
    "total_us_1000mbit",
    "bytes_per_row",
];

/// What a row is to the reader; it decides its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Ours,
    Peer,
    Failed,
    Article,
}

/// A column: its heading and, for each row, its text.
pub(super) struct Column {
    pub heading: String,
    pub cells: Vec<String>,
    pub left: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.cells
            .iter()
            .chain([&self.heading])
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
    }
}

/// Writes the table of `standings` with its title and its notes; with `colour`, for a terminal.
#[must_use]
pub(super) fn render(standings: &Standings, detail: Detail, colour: bool) -> String {
    let experiment = Experiment::find(&standings.experiment);
    let mut published: Vec<&Published> = match (experiment, &standings.primary) {
        (Some(experiment), Some(primary)) => experiment
            .published_beside(&standings.variant)
            .filter(|published| {
                published
                    .metrics
                    .iter()
                    .any(|(metric, _)| metric == primary)
            })
            .collect(),
        _ => Vec::new(),
    };
    if let (Detail::Short, Some(primary)) = (detail, &standings.primary) {
        // One with a note does not mean what it says without it.
        published.retain(|published| published.note.is_none());
        let value = |published: &Published| published.value(primary).unwrap_or(f64::INFINITY);
        published.sort_by(|one, other| value(one).total_cmp(&value(other)));
        published.truncate(1);
    }
    let rows: Vec<&Row> = standings
        .rows
        .iter()
        .filter(|row| !origin::is_beside(standings, row))
        .collect();
    let mut kinds: Vec<Kind> = rows.iter().copied().map(kind).collect();
    kinds.extend(published.iter().map(|_| Kind::Article));

    let mut text = title(standings, experiment, colour);
    if let Some(sentence) = origin::sentence(standings) {
        text.push_str(&wrapped(&sentence, "  "));
    }
    let mut columns = columns(standings, detail, &rows, experiment, &published)
        .into_iter()
        .peekable();
    // What does not fit beside the names goes into a further table under the same names.
    let mut names = columns.next();
    while let Some(Column {
        heading,
        cells,
        left,
    }) = names.take()
    {
        let name = Column {
            heading: heading.clone(),
            cells: cells.clone(),
            left,
        };
        let mut taken = 2 + name.width();
        let mut part = vec![name];
        while let Some(column) =
            columns.next_if(|column| taken + GAP + column.width() <= width() || part.len() == 1)
        {
            taken += GAP + column.width();
            part.push(column);
        }
        text.push_str(&draw(&part, &kinds, colour));
        if columns.peek().is_some() {
            text.push('\n');
            names = Some(Column {
                heading,
                cells,
                left,
            });
        }
    }
    for note in notes(standings, detail) {
        text.push_str(&wrapped(&note, "  "));
    }
    text
}

/// Breaks `text` into lines of at most [`width`] columns, each behind `indent`.
#[must_use]
pub(super) fn wrapped(text: &str, indent: &str) -> String {
    let most = width();
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let width = indent.chars().count() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && width > most {
            lines.push_str(&format!("{indent}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&format!("{indent}{line}\n"));
    lines
}

/// `text` as a heading of a terminal.
#[must_use]
pub(super) fn bold(text: &str, colour: bool) -> String {
    if colour {
        format!("\u{1b}[1m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

fn kind(row: &Row) -> Kind {
    match row.state {
        State::Failed(_) => Kind::Failed,
        _ if row.ours => Kind::Ours,
        _ => Kind::Peer,
    }
}

fn title(standings: &Standings, experiment: Option<&Experiment>, colour: bool) -> String {
    let name = format!("{} {}", standings.experiment, standings.variant);
    let mut words = experiment::describe(&standings.variant);
    let operation = experiment.filter(|_| standings.primary.as_deref() == Some("ns_per_op"));
    if let Some(experiment) = operation {
        words.push_str(&format!("; an operation is {}", experiment.operation));
    }
    if standings.rows.iter().any(|row| {
        let mut figures = row.figures.iter();
        figures.any(|figure| fastest::is_marked(standings, row, &figure.metric))
    }) {
        words.push_str("; until ready to use at each speed, › the fastest");
    }
    if name.chars().count() + GAP + words.chars().count() <= width() {
        format!("{}  {words}\n", bold(&name, colour))
    } else {
        format!("{}\n{}", bold(&name, colour), wrapped(&words, "  "))
    }
}

/// All columns: names, the figure that orders the rows, its range, its ratio to ours, then everything else.
fn columns(
    standings: &Standings,
    detail: Detail,
    rows: &[&Row],
    experiment: Option<&Experiment>,
    published: &[&Published],
) -> Vec<Column> {
    let mut names: Vec<String> = rows
        .iter()
        .map(|row| format!("{}{}", if row.ours { "* " } else { "  " }, row.contender))
        .collect();
    names.extend(
        published
            .iter()
            .map(|published| format!("  {}", published.name)),
    );
    let mut columns = vec![Column {
        heading: "  contender".to_owned(),
        cells: names,
        left: true,
    }];

    let Some(primary) = standings.primary.as_deref() else {
        columns.push(Column {
            heading: String::new(),
            cells: rows
                .iter()
                .map(|row| failure(row).unwrap_or_default())
                .collect(),
            left: true,
        });
        return columns;
    };
    // The figures of `metric`: the rows' by `show`, the article's by `show_published`.
    let column = |heading: String,
                  show: &dyn Fn(&Row) -> String,
                  show_published: &dyn Fn(&Published) -> String| Column {
        heading,
        cells: rows
            .iter()
            .copied()
            .map(show)
            .chain(published.iter().map(|published| show_published(published)))
            .collect(),
        left: false,
    };
    let median = |metric: &str, row: &Row| {
        row.summary(metric).map_or(String::new(), |summary| {
            let mark = if fastest::is_marked(standings, row, metric) {
                "› "
            } else {
                ""
            };
            format!("{mark}{}", metric::column(metric, summary.median))
        })
    };

    let heading = metric::heading(primary).unwrap_or_else(|| primary.to_owned());
    columns.push(column(
        heading,
        &|row| failure(row).unwrap_or_else(|| median(primary, row)),
        &|published| {
            published
                .value(primary)
                .map_or(String::new(), |value| metric::column(primary, value))
        },
    ));
    columns.push(column(
        "[min..max]".to_owned(),
        &|row| match row.summary(primary) {
            Some(summary) if summary.runs > 1 => metric::range(primary, summary.min, summary.max),
            _ => String::new(),
        },
        &|_| String::new(),
    ));
    let reference = standings
        .champion(experiment.map_or(&[], |experiment| experiment.flagships))
        .or_else(|| standings.ranked().next());
    if let Some((reference, base)) = reference
        .and_then(|row| row.summary(primary).map(|summary| (row, summary.median)))
        .filter(|(_, base)| *base > 0.0)
    {
        let ratio = |value: f64| format!("{}×", number::times(value / base));
        columns.push(column(
            if reference.ours { "to ours" } else { "to best" }.to_owned(),
            &|row| match (&row.state, row.summary(primary)) {
                (State::Ranked, Some(summary)) => ratio(summary.median),
                (State::Unranked, _) => "–".to_owned(),
                _ => String::new(),
            },
            // An article's machine is not this one: between the two there is no ratio.
            &|_| String::new(),
        ));
    }

    let mut others: Vec<&str> = Vec::new();
    for figure in rows.iter().flat_map(|row| &row.figures) {
        // One is the other turned round; a table shows the one that orders it.
        let is_reciprocal = matches!(
            (primary, figure.metric.as_str()),
            ("ns_per_op", "ops_per_s") | ("ops_per_s", "ns_per_op")
        );
        let is_wanted = detail == Detail::Full || SHORT.contains(&figure.metric.as_str());
        if figure.metric != primary
            && is_wanted
            && !is_reciprocal
            && !others.contains(&figure.metric.as_str())
        {
            others.push(&figure.metric);
        }
    }
    others.sort_by_key(|name| metric::Metric::place(name));
    for name in others {
        if let Some(heading) = metric::heading(name) {
            columns.push(column(heading, &|row| median(name, row), &|published| {
                published
                    .value(name)
                    .map_or(String::new(), |value| metric::column(name, value))
            }));
        }
    }
    columns.retain(|column| column.cells.iter().any(|text| !text.is_empty()));
    columns
}

/// The word that stands in place of a figure.
fn failure(row: &Row) -> Option<String> {
    match row.state {
        State::Failed(_) => Some("failed".to_owned()),
        State::NotRun => Some("not run".to_owned()),
        State::Ranked | State::Unranked => None,
    }
}

/// Draws the rows that have something to say beside their names.
pub(super) fn draw(columns: &[Column], kinds: &[Kind], colour: bool) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let aligned = |text: &str, left: bool| {
        Cell::new(text).set_alignment(if left {
            CellAlignment::Left
        } else {
            CellAlignment::Right
        })
    };
    table.set_header(
        columns
            .iter()
            .map(|column| aligned(&column.heading, column.left).add_attribute(Attribute::Dim)),
    );
    for (place, kind) in kinds.iter().enumerate() {
        if columns
            .iter()
            .skip(1)
            .all(|column| column.cells.get(place).is_none_or(String::is_empty))
        {
            continue;
        }
        table.add_row(columns.iter().map(|column| {
            let cell = aligned(
                column.cells.get(place).map_or("", String::as_str),
                column.left,
            );
            match kind {
                Kind::Ours => cell.fg(Color::DarkGreen),
                Kind::Peer => cell,
                Kind::Failed => cell.fg(Color::DarkRed),
                Kind::Article => cell.add_attribute(Attribute::Italic),
            }
        }));
    }
    for (place, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if place == 0 { 2 } else { GAP as u16 }, 0));
    }
    table.trim_fmt() + "\n"
}

/// What must be known to read the table rightly.
fn notes(standings: &Standings, detail: Detail) -> Vec<String> {
    let mut notes = Vec::new();
    for row in &standings.rows {
        if let State::Failed(reason) = &row.state {
            let reason: Vec<&str> = reason.split_whitespace().collect();
            let reason = reason.join(" ");
            let short: String = reason.chars().take(300).collect();
            let dots = if short.len() < reason.len() {
                " …"
            } else {
                ""
            };
            notes.push(format!("{} failed: {short}{dots}", row.contender));
        }
        if let (Some(note), Detail::Full) = (&row.note, detail) {
            notes.push(format!("{}: {note}", row.contender));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::{Detail, WIDEST, render, wrapped};
    use crate::lab::standings::samples::{Sample, standings};

    fn samples() -> Vec<Sample<'static>> {
        vec![
            (
                "std::sync::mpsc",
                Ok(&[&[
                    ("ns_per_op", 57_312.0),
                    ("cpu_ns_per_op", 31_200.0),
                    ("switches_per_op", 2.0),
                ]]),
                None,
            ),
            (
                "+slot",
                Ok(&[
                    &[
                        ("ns_per_op", 180.0),
                        ("cpu_ns_per_op", 360.0),
                        ("switches_per_op", 0.001),
                        ("max_ns", 1e6),
                    ],
                    &[
                        ("ns_per_op", 201.0),
                        ("cpu_ns_per_op", 362.0),
                        ("switches_per_op", 0.0),
                        ("max_ns", 2e6),
                    ],
                    &[
                        ("ns_per_op", 171.0),
                        ("cpu_ns_per_op", 364.0),
                        ("switches_per_op", 0.0),
                        ("max_ns", 3e6),
                    ],
                ]),
                None,
            ),
            ("flume", Err("message 17 came twice"), None),
            (
                "+mutex-published",
                Ok(&[&[("ns_per_op", 25.0), ("handovers_per_op", 0.0)]]),
                Some("the same thread takes the lock again"),
            ),
        ]
    }

    #[test]
    fn a_table_looks_like_this() {
        let text = render(
            &standings("handover", "1000/2cores", &samples()),
            Detail::Full,
            false,
        );
        let expected = "\
handover 1000/2cores  on two cores; an operation is a round trip
    contender             ns/op  [min..max]  to ours   CPU/op  switches  longest
  * slot                    180  [171..201]    1.00×   362 ns         0  2.00 ms
    std::sync::mpsc      57,312                 318×  31.2 µs      2.00
  * mutex-published        25.0                    –
    flume                failed
    A: MessageChannel   153,000
    A: shared property   62,000
    B: mutex             25,000
  mutex-published: the same thread takes the lock again
  flume failed: message 17 came twice
";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_short_table_has_time_and_cpu_and_one_figure_of_the_article() {
        let text = render(
            &standings("handover", "1000/2cores", &samples()),
            Detail::Short,
            false,
        );
        let expected = "\
handover 1000/2cores  on two cores; an operation is a round trip
    contender            ns/op  [min..max]  to ours   CPU/op
  * slot                   180  [171..201]    1.00×   362 ns
    std::sync::mpsc     57,312                 318×  31.2 µs
  * mutex-published       25.0                    –
    flume               failed
    A: shared property  62,000
  flume failed: message 17 came twice
";
        assert_eq!(text, expected);
    }

    #[test]
    fn nothing_is_wider_than_the_page() {
        let mut samples = samples();
        samples.push((
            "a-contender-with-a-long-name-unbounded",
            Ok(&[&[
                ("ns_per_op", 16_666_667.0),
                ("p99_ns", 1.0),
                ("p999_ns", 1.0),
                ("an_unknown_metric_of_tomorrow", 1.0),
                ("post_ns_per_op", 123_456.0),
            ]]),
            Some("words, words, words and more words that go on until the line is full and must be broken in two"),
        ));
        let text = render(
            &standings("handover", "1000/hog", &samples),
            Detail::Full,
            false,
        );
        for line in text.lines() {
            assert!(
                line.chars().count() <= WIDEST,
                "{} columns: {line}",
                line.chars().count()
            );
        }
        assert!(text.contains("an unknown metric of tomorrow"), "{text}");
        // Once in each of the three parts, once before its note.
        assert_eq!(
            text.matches("a-contender-with-a-long-name-unbounded")
                .count(),
            4,
            "{text}"
        );
        // In the first part alone: it has no figure for the others.
        assert_eq!(text.matches("A: MessageChannel").count(), 1, "{text}");
    }

    #[test]
    fn colour_is_for_terminals() {
        let standings = standings("handover", "1000/free", &samples());
        assert!(render(&standings, Detail::Full, true).contains('\u{1b}'));
        assert!(!render(&standings, Detail::Full, false).contains('\u{1b}'));
    }

    #[test]
    fn when_all_failed_the_reasons_are_shown() {
        let text = render(
            &standings("latch", "1/free", &[("+latch", Err("never opened"), None)]),
            Detail::Full,
            false,
        );
        assert_eq!(
            text,
            "latch 1/free  on any core\n    contender\n  * latch      failed\n  latch failed: never opened\n"
        );
    }

    #[test]
    fn text_is_broken_between_words() {
        let text = wrapped(&"word ".repeat(50), "   ");
        assert!(
            text.lines()
                .all(|line| line.starts_with("   word") && line.chars().count() <= WIDEST)
        );
        assert_eq!(text.matches("word").count(), 50);
    }
}
