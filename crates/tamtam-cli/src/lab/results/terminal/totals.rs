//! The totals of `rows` as a table on a terminal.

use super::table::{Column, Kind, bold, draw, wrapped};
use crate::lab::metric;
use crate::lab::statistics::Standing;
use crate::lab::totals::{self, Line};

/// Writes the table of `lines` with what they come to; nothing if there are none.
#[must_use]
pub(super) fn render(lines: &[Line], colour: bool) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = bold("rows, in all", colour) + "\n";
    text.push_str(&wrapped(
        "until a table is ready to use, in the mode that our packed encoding chooses for each link by itself, and how many \
         times as long the best other way takes; › where ours is the fastest",
        "  ",
    ));
    let [mut tables, mut clients, mut links] = ["  table", "client", "link"].map(words);
    let [mut ours, mut leads] = ["ready", "lead"].map(figures);
    let mut others = words("the best other way");
    let mut kinds = Vec::new();
    let mut before = "";
    for line in lines {
        let mut client = line.client.name();
        let mut table = if line.table == before {
            ""
        } else {
            line.table.as_str()
        };
        before = &line.table;
        for cell in &line.cells {
            let mark = match cell.standing() {
                Standing::Ahead => "› ",
                Standing::Level | Standing::Behind => "  ",
            };
            // Each name once.
            tables.cells.push(format!("{mark}{table}"));
            clients.cells.push(client.to_owned());
            (table, client) = ("", "");
            links.cells.push(totals::speed(cell.link));
            let time = metric::column(cell.link.metric, cell.ours.microseconds());
            ours.cells.push(time);
            leads.cells.push(totals::times(cell.lead()));
            others.cells.push(cell.other.contender.clone());
            kinds.push(Kind::of(cell.standing()));
        }
    }
    let columns = [&tables, &clients, &links, &ours, &leads, &others];
    text.push_str(&draw(&columns, &kinds, colour));
    for sentence in totals::sentences(lines) {
        text.push_str(&wrapped(&sentence, "  "));
    }
    text
}

fn words(heading: &str) -> Column {
    Column {
        heading: heading.to_owned(),
        cells: Vec::new(),
        left: true,
    }
}

fn figures(heading: &str) -> Column {
    Column {
        left: false,
        ..words(heading)
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::lab::standings::samples::standings;
    use crate::lab::totals::lines;

    const OURS: &[(&str, f64)] = &[
        ("total_us_1mbit", 53_447.0),
        ("total_us_8mbit", 6_694.0),
        ("total_us_100mbit", 549.0),
        ("total_us_1000mbit", 59.3),
    ];
    const OTHER: &[(&str, f64)] = &[
        ("total_us_1mbit", 54_315.0),
        ("total_us_8mbit", 7_159.0),
        ("total_us_100mbit", 958.0),
        ("total_us_1000mbit", 50.0),
    ];

    #[test]
    fn a_table_of_totals_looks_like_this_and_fits_a_narrow_terminal() {
        let samples = [
            ("+packed-for-link", Ok(&[OURS][..]), None),
            ("json-objects+brotli", Ok(&[OTHER][..]), None),
        ];
        let session = ["1000/rotation", "1000/rotation/chromium-cold"]
            .map(|variant| standings("rows", variant, &samples));
        let text = render(&lines(&session), false);
        let table: Vec<&str> = text.lines().skip(3).take(9).collect();
        assert_eq!(
            table.join("\n"),
            "    table          client          link          ready   lead  the best other way
    1000/rotation  Rust            1 Mbit/s    53.4 ms  1.02×  json-objects+brotli
  ›                                8 Mbit/s    6.69 ms  1.07×  json-objects+brotli
  ›                                100 Mbit/s   549 µs  1.74×  json-objects+brotli
                                   1 Gbit/s    59.3 µs  0.84×  json-objects+brotli
                   Chromium, cold  1 Mbit/s    53.4 ms  1.02×  json-objects+brotli
  ›                                8 Mbit/s    6.69 ms  1.07×  json-objects+brotli
  ›                                100 Mbit/s   549 µs  1.74×  json-objects+brotli
                                   1 Gbit/s    59.3 µs  0.84×  json-objects+brotli"
        );
        assert!(
            table.iter().all(|line| line.chars().count() <= 84),
            "{text}"
        );
        assert!(text.contains("is the fastest in 4 of 8."), "{text}");
        assert_eq!(render(&[], false), "");
    }
}
