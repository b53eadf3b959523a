//! The standings of one variant as a table for people, no wider than [`width`].

use std::io::{IsTerminal, stdout};
use std::sync::LazyLock;

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, CellAlignment, Color, ContentArrangement};

use crate::lab::experiment::{self, Experiment};
use crate::lab::metric;
use crate::lab::number;
use crate::lab::origin;
use crate::lab::results::table::{Cell, Detail, Subject, Table, What};
use crate::lab::standings::{Standings, State};
use crate::lab::statistics::Standing;

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

/// What a row is to the reader; it decides its colour.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::lab) enum Kind {
    Ours,
    Peer,
    Failed,
    Article,
}

impl Kind {
    /// That of ours, where it stands so beside the best other way.
    #[must_use]
    pub(in crate::lab) fn of(standing: Standing) -> Self {
        match standing {
            Standing::Ahead => Kind::Ours,
            Standing::Level => Kind::Peer,
            Standing::Behind => Kind::Failed,
        }
    }
}

/// A column: its heading and, for each row, its text.
pub(in crate::lab) struct Column {
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
pub(in crate::lab) fn render(standings: &Standings, detail: Detail, colour: bool) -> String {
    let table = Table::of(standings, standings.primary.as_deref(), detail);
    let kinds: Vec<Kind> = table.subjects.iter().map(kind).collect();
    let mut text = title(standings, colour);
    if let Some(sentence) = origin::sentence(standings) {
        text.push_str(&wrapped(&sentence, "  "));
    }
    text.push_str(&parts(&columns(&table), &kinds, colour));
    for note in notes(standings, detail) {
        text.push_str(&wrapped(&note, "  "));
    }
    text
}

/// Draws `columns`, of which the first are the names: what does not fit beside those goes into a further table under the
/// same names.
fn parts(columns: &[Column], kinds: &[Kind], colour: bool) -> String {
    let mut text = String::new();
    let Some((names, mut rest)) = columns.split_first() else {
        return text;
    };
    loop {
        let mut taken = 2 + names.width();
        let fitting = rest
            .iter()
            .enumerate()
            .take_while(|(place, column)| {
                taken += GAP + column.width();
                taken <= width() || *place == 0
            })
            .count();
        let (part, behind) = rest.split_at(fitting);
        let part: Vec<&Column> = std::iter::once(names).chain(part).collect();
        text.push_str(&draw(&part, kinds, colour));
        if behind.is_empty() {
            return text;
        }
        text.push('\n');
        rest = behind;
    }
}

/// Breaks `text` into lines of at most [`width`] columns, each behind `indent`.
#[must_use]
pub(in crate::lab) fn wrapped(text: &str, indent: &str) -> String {
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
pub(in crate::lab) fn bold(text: &str, colour: bool) -> String {
    if colour {
        format!("\u{1b}[1m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

fn kind(subject: &Subject<'_>) -> Kind {
    match subject {
        Subject::Article(_) => Kind::Article,
        Subject::Contender(row) => match row.state {
            State::Failed(_) => Kind::Failed,
            _ if row.ours => Kind::Ours,
            _ => Kind::Peer,
        },
    }
}

fn title(standings: &Standings, colour: bool) -> String {
    let experiment = Experiment::find(&standings.experiment);
    let name = format!("{} {}", standings.experiment, standings.variant);
    let mut words = experiment::describe(&standings.variant);
    let operation = experiment.filter(|_| standings.primary.as_deref() == Some("ns_per_op"));
    if let Some(experiment) = operation {
        words.push_str(&format!("; an operation is {}", experiment.operation));
    }
    let mut figures = standings.rows.iter().flat_map(|row| &row.figures);
    if figures.any(|figure| figure.is_best) {
        words.push_str("; until ready to use at each speed, › the fastest");
    }
    if name.chars().count() + GAP + words.chars().count() <= width() {
        format!("{}  {words}\n", bold(&name, colour))
    } else {
        format!("{}\n{}", bold(&name, colour), wrapped(&words, "  "))
    }
}

/// The columns of `table` as text, the names first.
fn columns(table: &Table<'_>) -> Vec<Column> {
    let names = table.subjects.iter().map(|subject| match subject {
        Subject::Contender(row) => {
            format!("{}{}", if row.ours { "* " } else { "  " }, row.contender)
        }
        Subject::Article(published) => format!("  {}", published.name),
    });
    let mut columns = vec![Column {
        heading: "  contender".to_owned(),
        cells: names.collect(),
        left: true,
    }];
    for column in &table.columns {
        let heading = match column.what {
            What::Leading(unit) | What::Other(unit) => {
                metric::heading(unit.metric).unwrap_or_else(|| unit.metric.to_owned())
            }
            What::Range(_) => "[min..max]".to_owned(),
            What::ToOurs => "to ours".to_owned(),
            What::ToBest => "to best".to_owned(),
            What::Failures => String::new(),
            // They are for who has the room.
            What::ToBestPeer | What::Runs => continue,
        };
        columns.push(Column {
            heading,
            cells: column
                .cells
                .iter()
                .map(|cell| shown(column.what, *cell))
                .collect(),
            left: column.what == What::Failures,
        });
    }
    columns
}

/// A cell as it stands in a column.
fn shown(what: What<'_>, cell: Cell) -> String {
    let name = match what {
        What::Leading(unit) | What::Range(unit) | What::Other(unit) => unit.metric,
        _ => "",
    };
    match cell {
        Cell::Empty => String::new(),
        Cell::Figure { value, is_best } => {
            format!(
                "{}{}",
                if is_best { "› " } else { "" },
                metric::column(name, value)
            )
        }
        Cell::Range(summary) => metric::range(name, summary.min, summary.max),
        Cell::Ratio(ratio) => format!("{}×", number::times(ratio)),
        Cell::NotRanked => "–".to_owned(),
        Cell::Runs(runs) => runs.to_string(),
        Cell::Failed => "failed".to_owned(),
        Cell::NotRun => "not run".to_owned(),
    }
}

/// Draws the rows that have something to say beside their names.
pub(in crate::lab) fn draw(columns: &[&Column], kinds: &[Kind], colour: bool) -> String {
    let mut table = comfy_table::Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    let aligned = |text: &str, left: bool| {
        comfy_table::Cell::new(text).set_alignment(if left {
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
