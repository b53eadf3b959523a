//! What was measured from end to end on one page: which form has its tiles first, at which speed of the link and of the
//! processor, and how much longer the next form takes.

use super::MARK;
use crate::lab::fastest::fastest;
use crate::lab::standings::{Row, Standings};
use crate::lab::statistics::Standing;
use crate::lab::totals::{Ready, speed, times};
use tamtam_lab::rows::{LINKS, Link};

/// One link.
#[derive(Clone, Debug)]
pub(in crate::lab) struct Cell {
    pub link: Link,
    pub first: Ready,
    /// The best of the other forms: compressed, or read in another way, it is the same form.
    pub next: Ready,
}

impl Cell {
    /// How many times as long the next form takes.
    #[must_use]
    pub(in crate::lab) fn lead(&self) -> f64 {
        self.next.microseconds() / self.first.microseconds()
    }

    /// Whether the form that is first is surely so.
    fn is_clear(&self) -> bool {
        self.first.summary.beside(self.next.summary) == Standing::Ahead
    }

    /// How ours stands, where it is the first of the two or the other one is.
    #[must_use]
    pub(in crate::lab) fn standing(&self) -> Standing {
        match self.first.contender.starts_with("packed") {
            _ if !self.is_clear() => Standing::Level,
            true => Standing::Ahead,
            false => Standing::Behind,
        }
    }
}

/// One table, at one call, with one processor.
#[derive(Clone, Debug)]
pub(in crate::lab) struct Line {
    /// Such as `1000/random`.
    pub table: String,
    /// "first call" or "warm".
    pub call: &'static str,
    /// "1" or "1/20".
    pub processor: String,
    pub cells: Vec<Cell>,
}

/// The lines of `standings` in which two forms were measured.
#[must_use]
pub(in crate::lab) fn lines(standings: &[Standings]) -> Vec<Line> {
    let of_rows = standings.iter().filter(|one| one.experiment == "rows");
    of_rows.filter_map(line).collect()
}

fn line(standings: &Standings) -> Option<Line> {
    let (table, rest) = standings.variant.split_once(MARK)?;
    let (call, slowdown) = rest.split_once("-cpu")?;
    let call = match call {
        "first" => "first call",
        "warm" => "warm",
        _ => return None,
    };
    let cells: Vec<Cell> = LINKS
        .into_iter()
        .filter_map(|link| cell(standings, link))
        .collect();
    (!cells.is_empty()).then(|| Line {
        table: table.to_owned(),
        call,
        processor: match slowdown {
            "1" => "1".to_owned(),
            times => format!("1/{times}"),
        },
        cells,
    })
}

fn cell(standings: &Standings, link: Link) -> Option<Cell> {
    let ready =
        |wanted: &dyn Fn(&Row) -> bool| fastest(standings, link.metric, wanted).map(Ready::of);
    let first = ready(&|_| true)?;
    let next = ready(&|row| form(&row.contender) != form(&first.contender))?;
    Some(Cell { link, first, next })
}

/// The form of a contender: compressed, or read in another way, it is the same one.
fn form(contender: &str) -> &str {
    contender.split(['+', '/']).next().unwrap_or(contender)
}

/// What `lines` come to, a paragraph for each form that is first anywhere, the most frequent one before the others.
#[must_use]
pub(in crate::lab) fn sentences(lines: &[Line]) -> Vec<String> {
    let cells: Vec<(&Line, &Cell)> = lines
        .iter()
        .flat_map(|line| line.cells.iter().map(move |cell| (line, cell)))
        .collect();
    let mut winners: Vec<(&str, Vec<&(&Line, &Cell)>)> = Vec::new();
    for won in cells.iter().filter(|(_, cell)| cell.is_clear()) {
        let name = form(&won.1.first.contender);
        match winners.iter_mut().find(|(known, _)| *known == name) {
            Some((_, places)) => places.push(won),
            None => winners.push((name, vec![won])),
        }
    }
    winners.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    let mut sentences = Vec::new();
    for (place, (name, won)) in winners.iter().enumerate() {
        let leads = || won.iter().map(|(_, cell)| cell.lead());
        let (least, most) = (
            leads().fold(f64::INFINITY, f64::min),
            leads().fold(0.0, f64::max),
        );
        let range = if won.len() == 1 {
            times(least)
        } else {
            format!("{} to {}", times(least), times(most))
        };
        let mut said = format!(
            "{name} has its tiles first in {} of {}; the next form takes {range} as long.",
            won.len(),
            cells.len()
        );
        if place > 0 {
            let places: Vec<String> = won.iter().map(|(line, cell)| at(line, cell)).collect();
            said.push_str(&format!(" It is first at {}.", places.join("; ")));
        }
        sentences.push(said);
    }
    let level: Vec<String> = cells
        .iter()
        .filter(|(_, cell)| !cell.is_clear())
        .map(|(line, cell)| format!("{} at {}", cell.first.contender, at(line, cell)))
        .collect();
    if !level.is_empty() {
        sentences.push(format!(
            "Two forms are level in {} of {}: {}.",
            level.len(),
            cells.len(),
            level.join("; ")
        ));
    }
    sentences
}

fn at(line: &Line, cell: &Cell) -> String {
    format!(
        "{}, CPU {}, {} ({}, {}: {})",
        speed(cell.link),
        line.processor,
        line.call,
        line.table,
        cell.next.contender,
        times(cell.lead())
    )
}

#[cfg(test)]
mod tests {
    use super::{lines, sentences};
    use crate::lab::standings::samples::standings;

    #[test]
    fn the_next_form_is_another_one_and_what_is_first_is_said() {
        let slow: &[(&str, f64)] = &[("total_us_8mbit", 7_000.0), ("total_us_1000mbit", 1_000.0)];
        let same: &[(&str, f64)] = &[("total_us_8mbit", 7_100.0), ("total_us_1000mbit", 1_100.0)];
        let csv: &[(&str, f64)] = &[("total_us_8mbit", 14_000.0), ("total_us_1000mbit", 500.0)];
        let samples = [
            ("+packed", Ok(&[slow][..]), None),
            ("+packed/row-objects", Ok(&[same][..]), None),
            ("csv+zstd", Ok(&[csv][..]), None),
        ];
        let session = [
            standings("rows", "1000/random", &samples),
            standings("rows", "1000/random/end-to-end-checks", &samples),
            standings("rows", "1000/random/end-to-end-warm-cpu20", &samples),
        ];
        let lines = lines(&session);
        assert_eq!(lines.len(), 1);
        assert_eq!(
            (lines[0].call, lines[0].processor.as_str()),
            ("warm", "1/20")
        );
        assert_eq!(lines[0].cells[0].next.contender, "csv+zstd");
        assert_eq!(
            sentences(&lines).join("\n"),
            "packed has its tiles first in 1 of 2; the next form takes 2.00× as long.\n\
             csv has its tiles first in 1 of 2; the next form takes 2.00× as long. It is first at 1 Gbit/s, CPU 1/20, warm \
             (1000/random, packed: 2.00×)."
        );
    }

    /// It was said to be first by the medians alone.
    #[test]
    fn a_form_is_not_first_where_its_runs_overlap_those_of_the_next() {
        let runs = |figures: [f64; 2]| figures.map(|figure| [("total_us_8mbit", figure)]);
        let (packed, csv) = (runs([100.0, 130.0]), runs([120.0, 200.0]));
        let (packed, csv) = ([&packed[0][..], &packed[1][..]], [&csv[0][..], &csv[1][..]]);
        let samples = [
            ("+packed", Ok(&packed[..]), None),
            ("csv", Ok(&csv[..]), None),
        ];
        let session = standings("rows", "1000/random/end-to-end-warm-cpu1", &samples);
        assert_eq!(
            sentences(&lines(&[session])),
            [
                "Two forms are level in 1 of 1: packed at 8 Mbit/s, CPU 1, warm (1000/random, csv: 1.39×)."
            ]
        );
    }

    #[test]
    fn one_form_alone_is_not_first() {
        let run: &[(&str, f64)] = &[("total_us_8mbit", 1.0)];
        let samples = [
            ("+packed", Ok(&[run][..]), None),
            ("+packed/row-objects", Ok(&[run][..]), None),
        ];
        let alone = standings("rows", "1000/random/end-to-end-warm-cpu1", &samples);
        assert!(lines(&[alone]).is_empty());
        assert!(sentences(&[]).is_empty());
    }
}
