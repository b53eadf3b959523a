//! The heat map of the grid on the page.

use maud::{Markup, html};

use crate::lab::heat::{self, Heat, Line, Side};
use crate::lab::results::recording::Recording;

pub(super) use crate::lab::heat::EXPERIMENT;

/// The map of the newest of `recordings`, oldest first, that has rows of the grid; `link` says where a variant is shown.
#[must_use]
pub(super) fn newest<'a>(
    recordings: &[&Recording],
    link: impl Fn(&str) -> Option<&'a str>,
) -> Option<Markup> {
    super::newest(recordings, heat::lines, |label, lines| {
        map(label, lines, &link)
    })
}

fn map<'a>(label: &str, lines: &[Line], link: &impl Fn(&str) -> Option<&'a str>) -> Markup {
    html! {
        p { (heat::ABOUT) }
        p.verdict { (heat::sentence(lines)) }
        div.scroll role="region" aria-label=(format!("Heat map, {label}")) tabindex="0" {
            table.heat {
                caption { span.here {
                    "Session " (label) ": medians of the runs. "
                    span.best { "the best" } " "
                    span.near { "at most 1.25×" } " "
                    span.warm { "below 2×" } " "
                    span.red { "2× and more" } " "
                    span.verified { "✓ every delivery verified" }
                } }
                thead {
                    tr {
                        th scope="col" rowspan="2" { "row" }
                        th.words scope="colgroup" colspan="4" { "ours" }
                        th.words scope="colgroup" colspan="4" { "theirs" }
                    }
                    tr {
                        @for _ in 0..2 {
                            th.words scope="col" { "way" }
                            th scope="col" { "figure" }
                            th scope="col" { "time" }
                            th scope="col" { "CPU" }
                        }
                    }
                }
                tbody {
                    @for line in lines {
                        tr {
                            th scope="row" {
                                @match link(&line.variant) {
                                    Some(id) => { a href=(format!("#{id}")) { (line.row()) } }
                                    None => (line.row()),
                                }
                            }
                            (side(&line.ours))
                            (side(&line.theirs))
                        }
                    }
                }
            }
        }
    }
}

fn side(side: &Side) -> Markup {
    html! {
        td.way { (side.contender) }
        td { (side.figure) }
        (cell(Some(side.time)))
        (cell(side.cpu))
    }
}

fn cell(ratio: Option<f64>) -> Markup {
    let class = match ratio.map(Heat::of) {
        Some(Heat::Best) => "best",
        Some(Heat::Near) => "near",
        Some(Heat::Warm) => "warm",
        Some(Heat::Red) => "red",
        None => "unknown",
    };
    html! { td class=(class) { (heat::ratio(ratio)) } }
}

#[cfg(test)]
mod tests {
    use super::map;
    use crate::lab::heat::{lines, tests::session};

    #[test]
    fn each_row_is_linked_and_its_cells_have_their_heat() {
        let link = |variant: &str| variant.ends_with("8B-cap16").then_some("grid-8b");
        let page = map("today<", &lines(&session()), &link).into_string();
        assert_eq!(page.matches("<tr>").count(), 2 + 2, "{page}");
        assert!(page.contains("Session today&lt;"), "{page}");
        assert!(
            page.contains("<a href=\"#grid-8b\">2cores/1to1-8B-cap16</a>"),
            "{page}"
        );
        let red = page.find("<td class=\"red\">2.50×</td><td class=\"red\">5.00×</td>");
        let warm = page.find("<td class=\"best\">1.00×</td><td class=\"warm\">1.50×</td>");
        assert!(red.is_some() && red < warm, "{page}");
        assert_eq!(
            page.matches("<td class=\"near\">1.25×</td>").count(),
            1,
            "{page}"
        );
    }
}
