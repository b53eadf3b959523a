//! The heat map of the grid on a terminal.

use super::table::{Column, Kind, bold, draw, wrapped};
use crate::lab::heat::{self, Heat, Line, Side};

/// Writes the map of `lines` with what it comes to; nothing if there are none.
#[must_use]
pub(super) fn render(lines: &[Line], colour: bool) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = bold("grid, in all", colour) + "\n";
    text.push_str(&wrapped(heat::ABOUT, "  "));
    text.push_str(&wrapped(
        "!! marks twice the best and more, ! more than 1.25 times.",
        "  ",
    ));
    let column = |heading: &str, left, cell: &dyn Fn(&Line) -> String| Column {
        heading: heading.to_owned(),
        cells: lines.iter().map(cell).collect(),
        left,
    };
    let columns = [
        column("row", true, &|line| line.row().to_owned()),
        column("ours", true, &|line| line.ours.contender.clone()),
        column("figure", false, &|line| line.ours.figure.clone()),
        column("time", false, &|line| cell(Some(line.ours.time))),
        column("CPU", false, &|line| cell(line.ours.cpu)),
        column("theirs", true, &|line| line.theirs.contender.clone()),
        column("figure", false, &|line| line.theirs.figure.clone()),
        column("time", false, &|line| cell(Some(line.theirs.time))),
        column("CPU", false, &|line| cell(line.theirs.cpu)),
    ];
    let kinds: Vec<Kind> = lines.iter().map(|line| kind(&line.ours)).collect();
    let columns: Vec<&Column> = columns.iter().collect();
    text.push_str(&draw(&columns, &kinds, colour));
    text.push_str(&wrapped(&heat::sentence(lines), "  "));
    text
}

/// `2.50× !!`, with room for the marks.
fn cell(ratio: Option<f64>) -> String {
    let mark = match ratio.map(Heat::of) {
        Some(Heat::Red) => "!!",
        Some(Heat::Warm) => "! ",
        _ => "  ",
    };
    format!("{} {mark}", heat::ratio(ratio))
}

/// The colour of a row: that of what failed where ours is red.
fn kind(ours: &Side) -> Kind {
    let hottest = ours.cpu.map_or(ours.time, |cpu| cpu.max(ours.time));
    match (Heat::of(hottest), Heat::of(ours.time)) {
        (Heat::Red, _) | (_, Heat::Warm) => Kind::Failed,
        (_, Heat::Best) => Kind::Ours,
        _ => Kind::Peer,
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::lab::heat::{lines, tests::session};

    #[test]
    fn a_map_looks_like_this() {
        let text = render(&lines(&session()), false);
        let table: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.starts_with("  row "))
            .take(3)
            .map(str::trim_end)
            .collect();
        assert_eq!(
            table.join("\n"),
            "  row                     ours     figure      time       CPU  theirs  figure      time       CPU
  2cores/1to1-1KiB-cap16  spsc        150  2.50× !!  5.00× !!  kanal     60.0  1.00×     1.00×
  2cores/1to1-8B-cap16    channel    40.0  1.00×     1.50× !   kanal     50.0  1.25×     1.00×"
        );
        assert!(
            text.contains("Of 2 rows, ours is the fastest in 1"),
            "{text}"
        );
        assert_eq!(render(&[], false), "");
    }
}
