//! What was measured from end to end as a table on a terminal.

use super::table::{Column, Kind, bold, draw, wrapped};
use crate::lab::end_to_end::ahead::{self, Line};
use crate::lab::metric;
use crate::lab::totals;

/// Writes the table of `lines` with what they come to; nothing if there are none.
#[must_use]
pub(super) fn render(lines: &[Line], colour: bool) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = bold("rows, from end to end", colour) + "\n";
    text.push_str(&wrapped(
        "from a page's request to its last tile: the form that is first at each speed of the page's processor and of the link, and how \
         many times as long the next form takes",
        "  ",
    ));
    let column = |heading: &str, left: bool| Column {
        heading: heading.to_owned(),
        cells: Vec::new(),
        left,
    };
    let mut columns = [
        column("  table, call", true),
        column("CPU", true),
        column("link", true),
        column("first", true),
        column("ready", false),
        column("lead", false),
        column("the next form", true),
    ];
    let mut kinds = Vec::new();
    for line in lines {
        let mut page = format!("  {}, {}", line.table, line.call);
        let mut processor = line.processor.clone();
        for cell in &line.cells {
            // Each name once.
            let cells = [
                std::mem::take(&mut page),
                std::mem::take(&mut processor),
                totals::speed(cell.link),
                cell.first.contender.clone(),
                metric::column(cell.link.metric, cell.first.microseconds()),
                totals::times(cell.lead()),
                cell.next.contender.clone(),
            ];
            for (column, cell) in columns.iter_mut().zip(cells) {
                column.cells.push(cell);
            }
            kinds.push(Kind::of(cell.standing()));
        }
    }
    text.push_str(&draw(&columns.each_ref(), &kinds, colour));
    for sentence in ahead::sentences(lines) {
        text.push_str(&wrapped(&sentence, "  "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::lab::end_to_end::ahead::lines;
    use crate::lab::standings::samples::standings;

    #[test]
    fn the_table_looks_like_this() {
        let ours: &[(&str, f64)] = &[("total_us_8mbit", 7_000.0), ("total_us_1000mbit", 1_000.0)];
        let csv: &[(&str, f64)] = &[("total_us_8mbit", 14_000.0), ("total_us_1000mbit", 500.0)];
        let samples = [
            ("+packed", Ok(&[ours][..]), None),
            ("csv+zstd", Ok(&[csv][..]), None),
        ];
        let session = [standings(
            "rows",
            "1000/random/end-to-end-first-cpu20",
            &samples,
        )];
        let text = render(&lines(&session), false);
        let table: Vec<&str> = text.lines().skip(3).take(3).collect();
        assert_eq!(
            table.join("\n"),
            "    table, call              CPU   link      first       ready   lead  the next form
    1000/random, first call  1/20  8 Mbit/s  packed    7.00 ms  2.00×  csv+zstd
                                   1 Gbit/s  csv+zstd   500 µs  2.00×  packed"
        );
        assert_eq!(render(&[], false), "");
    }
}
