//! The totals of `rows` on the page: a line for each client of each table, a column for each link.

use maud::Markup;

use super::by_link::{self, Heading};
use crate::lab::results::recording::Recording;
use crate::lab::totals::{self, Cell, Line};

/// The table of the newest of `recordings`, oldest first, that has totals; nothing if none has.
#[must_use]
pub(super) fn newest(recordings: &[&Recording]) -> Option<Markup> {
    super::newest(recordings, totals::lines, table)
}

fn table(label: &str, lines: &[Line]) -> Markup {
    let heading = Heading {
        about: "Until a table is ready to use: encoded, sent and decoded, in the mode that our packed encoding chooses for each \
                link by itself. Below each time, how many times as long the best other way takes.",
        name: "Totals",
        label,
        verified: "every delivery",
        lines: "table, client",
    };
    let drawn: Vec<_> = lines
        .iter()
        .map(|line| by_link::Line {
            table: &line.table,
            name: line.client.name().to_owned(),
            cells: line.cells.iter().map(figure).collect(),
        })
        .collect();
    by_link::table(&heading, &drawn, totals::sentences(lines))
}

fn figure(cell: &Cell) -> Markup {
    let said = format!("{} {}", totals::times(cell.lead()), cell.other.contender);
    by_link::cell(cell.link, cell.ours.microseconds(), cell.standing(), &said)
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::lab::standings::samples::standings;
    use crate::lab::totals::lines;
    use tamtam_lab::rows::LINKS;

    #[test]
    fn each_client_has_a_line_and_where_ours_is_later_it_is_marked() {
        let ours = LINKS.map(|link| (link.metric, 50.0));
        let mut other = LINKS.map(|link| (link.metric, 75.0));
        other[3].1 = 40.0;
        let samples = [
            ("+packed-for-link", Ok(&[&ours[..]][..]), None),
            ("pco<&>", Ok(&[&other[..]][..]), None),
        ];
        let session = ["1000/random", "1000/random/chromium-warm"]
            .map(|variant| standings("rows", variant, &samples));
        let page = table("today", &lines(&session)).into_string();
        assert_eq!(page.matches("<tr>").count(), 1 + 2, "{page}");
        assert_eq!(page.matches("1.50× pco&lt;&amp;&gt;").count(), 6, "{page}");
        assert_eq!(page.matches("› <").count(), 0, "{page}");
        assert_eq!(page.matches("› 50.0 µs").count(), 6, "{page}");
        assert_eq!(page.matches("<td class=\"lost\">").count(), 2, "{page}");
        assert!(page.contains("is the fastest in 6 of 8."), "{page}");
    }
}
