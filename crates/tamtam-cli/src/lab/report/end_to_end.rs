//! What was measured from end to end on the page: a line for each call and processor, a column for each link.

use maud::{Markup, html};

use super::by_link::{self, Heading};
use crate::lab::end_to_end::ahead::{self, Line};
use crate::lab::results::recording::Recording;
use crate::lab::totals;
use tamtam_lab::rows::{LINKS, Link};

/// The table of the newest of `recordings`, oldest first, that has such figures; nothing if none has.
#[must_use]
pub(super) fn newest(recordings: &[&Recording]) -> Option<Markup> {
    super::newest(recordings, ahead::lines, table)
}

fn table(label: &str, lines: &[Line]) -> Markup {
    let heading = Heading {
        about: "From a page's request to its last tile, through the gateway over throttled links: the form that is first. Below each \
                time, how many times as long the next form takes.",
        name: "From end to end",
        label,
        verified: "every tile",
        lines: "call, processor",
    };
    let drawn: Vec<_> = lines
        .iter()
        .map(|line| by_link::Line {
            table: &line.table,
            name: format!("{}, CPU {}", line.call, line.processor),
            cells: LINKS.map(|link| figure(line, link)).into(),
        })
        .collect();
    by_link::table(&heading, &drawn, ahead::sentences(lines))
}

fn figure(line: &Line, link: Link) -> Markup {
    let Some(cell) = line.cells.iter().find(|cell| cell.link.name == link.name) else {
        return html! { td { "–" } };
    };
    let (first, next) = (&cell.first, &cell.next.contender);
    let said = format!("{}, {} {next}", first.contender, totals::times(cell.lead()));
    by_link::cell(link, first.microseconds(), cell.standing(), &said)
}

#[cfg(test)]
mod tests {
    use super::table;
    use crate::lab::end_to_end::ahead::lines;
    use crate::lab::standings::samples::standings;

    #[test]
    fn each_call_has_a_line_and_links_that_were_not_measured_are_left_open() {
        let ours: &[(&str, f64)] = &[("total_us_8mbit", 7_000.0), ("total_us_1000mbit", 1_000.0)];
        let other: &[(&str, f64)] = &[("total_us_8mbit", 14_000.0), ("total_us_1000mbit", 500.0)];
        let samples = [
            ("+packed", Ok(&[ours][..]), None),
            ("csv<&>", Ok(&[other][..]), None),
        ];
        let session = ["first-cpu1", "warm-cpu20"].map(|end| {
            let variant = format!("1000/random/end-to-end-{end}");
            standings("rows", &variant, &samples)
        });
        let page = table("today", &lines(&session)).into_string();
        assert_eq!(page.matches("› 7.00 ms").count(), 2, "{page}");
        assert_eq!(page.matches("2.00× csv&lt;&amp;&gt;").count(), 2, "{page}");
        assert_eq!(page.matches("<td class=\"lost\">").count(), 2, "{page}");
        assert_eq!(page.matches("<td>–</td>").count(), 4, "{page}");
        assert!(page.contains("warm, CPU 1/20"), "{page}");
    }
}
