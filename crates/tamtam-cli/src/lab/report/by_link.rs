//! A table with a column for each link, whose lines belong to tables of the experiment.

use maud::{Markup, html};

use super::drawn;
use crate::lab::statistics::Standing;
use crate::lab::totals;
use tamtam_lab::rows::{LINKS, Link};

/// What a table has beside its lines.
pub(super) struct Heading<'a> {
    /// What it is about, in a paragraph.
    pub about: &'a str,
    /// Its name for screen readers.
    pub name: &'a str,
    /// The session's label.
    pub label: &'a str,
    /// What was verified.
    pub verified: &'a str,
    /// That of the first column.
    pub lines: &'a str,
}

/// A line: the table of which it is, its name, and a cell for each link.
pub(super) struct Line<'a> {
    pub table: &'a str,
    pub name: String,
    pub cells: Vec<Markup>,
}

/// The table, and what its lines come to.
pub(super) fn table(heading: &Heading<'_>, lines: &[Line<'_>], sentences: Vec<String>) -> Markup {
    html! {
        p { (heading.about) }
        div.scroll role="region" aria-label=(format!("{}, {}", heading.name, heading.label)) tabindex="0" {
            table.totals {
                caption { span.here {
                    "Session " (heading.label) ": medians of the runs. › marks where ours is the fastest. "
                    span.verified { "✓ " (heading.verified) " verified" }
                } }
                thead { tr {
                    th scope="col" { (heading.lines) }
                    @for link in LINKS { th scope="col" { (totals::speed(link)) } }
                } }
                tbody {
                    @for (place, line) in lines.iter().enumerate() {
                        @if place == 0 || lines[place - 1].table != line.table {
                            tr.group { th scope="rowgroup" colspan=(LINKS.len() + 1) { (line.table) } }
                        }
                        tr {
                            th scope="row" { (line.name) }
                            @for cell in &line.cells { (cell) }
                        }
                    }
                }
            }
        }
        @for sentence in sentences { p.verdict { (sentence) } }
    }
}

/// A time over a link, marked where ours, which stands so beside the others, is the fastest; and what is to be said of it.
pub(super) fn cell(link: Link, microseconds: f64, ours: Standing, said: &str) -> Markup {
    let time = drawn::figure(link.metric, "µs", microseconds);
    html! {
        td.lost[ours == Standing::Behind] {
            data value=(microseconds) { @if ours == Standing::Ahead { "› " } (time) }
            br;
            small { (said) }
        }
    }
}
