//! The experiment `rows` on one page: when each table is ready to use, for each client behind each link, in the form that
//! our packed encoding takes there by itself, and how much longer the best way of others takes.

use super::browser;
use super::fastest::fastest;
use super::metric;
use super::origin;
use super::standings::{Row, Standings};
use super::statistics::{Standing, Summary};
use tamtam_lab::rows::{LINKS, Link};

/// Ours as a user gets it: in the mode and behind the compressor that are planned for the table and the link.
const CHOSEN: &str = "packed-for-link";

/// Its modes alone.
const MODES: [&str; 3] = ["packed", "packed-small", "packed-plain"];

/// A mode this little faster than the one that was chosen is not worth a word: runs differ by as much.
const LEVEL: f64 = 1.01;

/// Who reads a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    /// A program in Rust.
    Rust,
    /// A page that has done so often.
    Warm,
    /// A page that does so for the first time.
    Cold,
}

impl Client {
    const ALL: [Client; 3] = [Client::Rust, Client::Warm, Client::Cold];

    /// Its name in tables.
    #[must_use]
    pub(super) fn name(self) -> &'static str {
        match self {
            Client::Rust => "Rust",
            Client::Warm => "Chromium, warm",
            Client::Cold => "Chromium, cold",
        }
    }

    /// What stands behind the table in the names of variants.
    fn end(self) -> &'static str {
        match self {
            Client::Rust => "",
            Client::Warm => "/chromium-warm",
            Client::Cold => "/chromium-cold",
        }
    }

    /// The variant of this table for this client.
    fn variant(self, table: &str) -> String {
        format!("{table}{}", self.end())
    }

    /// Whether this is a variant for this client.
    fn reads(self, variant: &str) -> bool {
        variant.ends_with(self.end())
    }
}

/// A contender, and after how many microseconds a table is ready with it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ready {
    pub contender: String,
    pub summary: Summary,
}

impl Ready {
    /// The contender of a row, and what its runs gave.
    pub(super) fn of((row, summary): (&Row, Summary)) -> Ready {
        Ready {
            contender: row.contender.clone(),
            summary,
        }
    }

    /// The median of the runs.
    #[must_use]
    pub(super) fn microseconds(&self) -> f64 {
        self.summary.median
    }
}

/// One client behind one link.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub link: Link,
    pub ours: Ready,
    /// The best way that is not ours.
    pub other: Ready,
    /// A mode that would have been better than the one that was chosen.
    pub better: Option<Ready>,
}

impl Cell {
    /// How many times as long the best other way takes.
    #[must_use]
    pub(super) fn lead(&self) -> f64 {
        self.other.microseconds() / self.ours.microseconds()
    }

    /// How ours stands beside the best other way.
    #[must_use]
    pub(super) fn standing(&self) -> Standing {
        self.ours.summary.beside(self.other.summary)
    }
}

/// One table for one client.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Such as `1000/random`.
    pub table: String,
    pub client: Client,
    pub cells: Vec<Cell>,
    /// Forms that were not read by this client, and those of them that might have been first, would decoding take no time.
    pub unread: Vec<String>,
    pub unread_might_win: Vec<String>,
}

/// The lines of `standings` in which ours was measured as a user gets it, beside others.
#[must_use]
pub(super) fn lines(standings: &[Standings]) -> Vec<Line> {
    let of = |variant: &str| {
        standings
            .iter()
            .find(|one| one.experiment == "rows" && one.variant == variant)
    };
    let mut lines = Vec::new();
    let tables = standings.iter().filter(|one| {
        one.experiment == "rows"
            && Client::ALL[1..]
                .iter()
                .all(|client| !client.reads(&one.variant))
    });
    for here in tables {
        for client in Client::ALL {
            let read = of(&client.variant(&here.variant));
            lines.extend(read.and_then(|read| line(here, client, read)));
        }
    }
    lines
}

/// The line of a table that was encoded `here` and `read` by this client.
fn line(here: &Standings, client: Client, read: &Standings) -> Option<Line> {
    let cells: Vec<Cell> = LINKS
        .into_iter()
        .filter_map(|link| cell(read, link))
        .collect();
    if cells.is_empty() {
        return None;
    }
    let unread = here.ranked().filter(|row| {
        client != Client::Rust && !origin::is_database(row) && !browser::is_read(&row.contender)
    });
    let (mut names, mut might_win) = (Vec::new(), Vec::new());
    let add = |names: &mut Vec<String>, name: &str| {
        // Alone and compressed it is one form.
        let form = name.split('+').next().unwrap_or(name);
        if !names.iter().any(|known| known == form) {
            names.push(form.to_owned());
        }
    };
    for row in unread {
        let decode = row.summary("decode_us").map_or(0.0, |decode| decode.median);
        let is_sooner = |cell: &Cell| {
            row.summary(cell.link.metric)
                .is_some_and(|total| total.median - decode < cell.ours.microseconds())
        };
        if cells.iter().any(is_sooner) {
            add(&mut might_win, &row.contender);
        }
        add(&mut names, &row.contender);
    }
    Some(Line {
        table: here.variant.clone(),
        client,
        cells,
        unread: names,
        unread_might_win: might_win,
    })
}

fn cell(read: &Standings, link: Link) -> Option<Cell> {
    let best = |wanted: &dyn Fn(&Row) -> bool| fastest(read, link.metric, wanted).map(Ready::of);
    let ours = best(&|row| row.contender == CHOSEN)?;
    let other = best(&|row| !row.ours)?;
    let better = best(&|row| MODES.contains(&row.contender.as_str()))
        .filter(|mode| mode.microseconds() * LEVEL < ours.microseconds());
    Some(Cell {
        link,
        ours,
        other,
        better,
    })
}

/// What `lines` come to, a paragraph each: how often ours is first and by how much, where it is not, and what was not
/// compared.
#[must_use]
pub(super) fn sentences(lines: &[Line]) -> Vec<String> {
    let cells: Vec<(&Line, &Cell)> = lines
        .iter()
        .flat_map(|line| line.cells.iter().map(move |cell| (line, cell)))
        .collect();
    let Some((line, least)) = cells
        .iter()
        .min_by(|(_, one), (_, other)| one.lead().total_cmp(&other.lead()))
    else {
        return Vec::new();
    };
    let won = cells
        .iter()
        .filter(|(_, cell)| cell.standing() == Standing::Ahead)
        .count();
    let mut first = format!(
        "{CHOSEN} is the fastest in {won} of {}. Its least lead is {}, {} at {} ({}).",
        cells.len(),
        times(least.lead()),
        place(line),
        speed(least.link),
        least.other.contender
    );
    for (standing, words) in [
        (Standing::Level, "Level with the best other way"),
        (Standing::Behind, "Not the fastest"),
    ] {
        let places: Vec<String> = cells
            .iter()
            .filter(|(_, cell)| cell.standing() == standing)
            .map(|(line, cell)| {
                format!(
                    "{} at {} ({}, {})",
                    place(line),
                    speed(cell.link),
                    cell.other.contender,
                    times(cell.lead())
                )
            })
            .collect();
        if !places.is_empty() {
            let count = places.len();
            first.push_str(&format!(" {words} in {count}: {}.", places.join("; ")));
        }
    }
    let mut sentences = vec![first];
    let better: Vec<String> = cells
        .iter()
        .filter_map(|(line, cell)| {
            let better = cell.better.as_ref()?;
            Some(format!(
                "{}, {} at {} ({})",
                better.contender,
                place(line),
                speed(cell.link),
                times(cell.ours.microseconds() / better.microseconds())
            ))
        })
        .collect();
    if !better.is_empty() {
        sentences.push(format!(
            "Another mode would have been faster: {}.",
            better.join("; ")
        ));
    }
    sentences.extend(unread(lines));
    sentences
}

/// Who has no decoder for a page.
fn unread(lines: &[Line]) -> Option<String> {
    let distinct = |names: &dyn Fn(&Line) -> &[String]| {
        let mut all: Vec<String> = Vec::new();
        for name in lines.iter().flat_map(names) {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all.sort();
        all
    };
    let names = distinct(&|line| &line.unread);
    if names.is_empty() {
        return None;
    }
    // At the first call it is not known what a decoder would take that has yet to be compiled.
    let might_win = distinct(&|line| match line.client {
        Client::Warm => &line.unread_might_win,
        Client::Rust | Client::Cold => &[],
    });
    let rest = match might_win.as_slice() {
        _ if lines.iter().all(|line| line.client != Client::Warm) => String::new(),
        [] => {
            " In a page that is warm they would be later even if decoding took no time.".to_owned()
        }
        some => format!(
            " In a page that is warm they would be later even if decoding took no time, but for {}.",
            some.join(", ")
        ),
    };
    Some(format!(
        "Not read in Chromium, where the lab has no decoder for them, alone and compressed: {}.{rest}",
        names.join(", ")
    ))
}

fn place(line: &Line) -> String {
    let client = match line.client {
        Client::Rust => "Rust",
        Client::Warm => "warm Chromium",
        Client::Cold => "cold Chromium",
    };
    format!("{} in {client}", line.table)
}

/// A speed as the heading of its column.
#[must_use]
pub(super) fn speed(link: Link) -> String {
    metric::heading(link.metric).unwrap_or_else(|| link.name.to_owned())
}

/// A ratio to two places: leads are small where bytes are all that counts.
#[must_use]
pub(super) fn times(ratio: f64) -> String {
    format!("{ratio:.2}×")
}

#[cfg(test)]
mod tests {
    use super::{Client, lines, sentences};
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::standings;
    use crate::lab::statistics::Standing;
    use tamtam_lab::rows::LINKS;

    type Run = Vec<(&'static str, f64)>;

    fn totals(figures: [f64; 4], decode: f64) -> Run {
        let mut run: Run = LINKS.iter().map(|link| link.metric).zip(figures).collect();
        run.push(("decode_us", decode));
        run
    }

    fn group(variant: &str, rows: &[(&str, Run)]) -> Standings {
        let runs: Vec<[&[(&str, f64)]; 1]> = rows.iter().map(|(_, run)| [&run[..]]).collect();
        let samples: Vec<_> = rows
            .iter()
            .zip(&runs)
            .map(|((name, _), run)| (*name, Ok(&run[..]), None))
            .collect();
        standings("rows", variant, &samples)
    }

    fn session() -> Vec<Standings> {
        let here = [
            ("+packed-for-link", totals([50.0, 6.0, 0.6, 0.1], 0.02)),
            ("+packed-small", totals([50.0, 6.0, 0.5, 0.2], 0.02)),
            ("text-bare", totals([200.0, 20.0, 3.0, 0.5], 0.2)),
            ("pco", totals([51.0, 9.0, 2.0, 0.4], 0.2)),
            ("bitcode", totals([100.0, 12.0, 1.2, 0.15], 0.01)),
            ("sqlite", vec![("rows_us", 1.0)]),
        ];
        let warm = [
            ("+packed-for-link", totals([50.0, 6.0, 0.6, 0.3], 0.2)),
            ("text-bare", totals([200.0, 20.0, 3.0, 0.27], 0.2)),
        ];
        vec![
            group("1000/random", &here),
            group("1000/random/chromium-warm", &warm),
        ]
    }

    #[test]
    fn each_client_is_set_beside_the_best_that_it_can_read() {
        let lines = lines(&session());
        assert_eq!(
            lines.iter().map(|line| line.client).collect::<Vec<_>>(),
            [Client::Rust, Client::Warm]
        );
        let others = |place: usize| -> Vec<&str> {
            let cells = lines[place].cells.iter();
            cells.map(|cell| cell.other.contender.as_str()).collect()
        };
        assert_eq!(others(0), ["pco", "pco", "bitcode", "bitcode"]);
        assert_eq!(others(1), ["text-bare"; 4]);
        let standing = |line: usize| lines[line].cells.iter().map(super::Cell::standing);
        // A fiftieth less is no lead.
        assert!(standing(0).eq([
            Standing::Level,
            Standing::Ahead,
            Standing::Ahead,
            Standing::Ahead
        ]));
        assert_eq!(standing(1).next_back(), Some(Standing::Behind));
        assert!(lines[0].unread.is_empty());
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].unread, ["pco", "bitcode"]);
        // Without its decoding it would be there after 0.14 µs.
        assert_eq!(lines[1].unread_might_win, ["pco", "bitcode"]);
    }

    #[test]
    fn it_is_said_where_ours_leads_least_and_where_it_does_not() {
        let said = sentences(&lines(&session())).join("\n");
        assert_eq!(
            said,
            "packed-for-link is the fastest in 6 of 8. Its least lead is 0.90×, 1000/random in warm Chromium at 1 Gbit/s \
             (text-bare). Level with the best other way in 1: 1000/random in Rust at 1 Mbit/s (pco, 1.02×). Not the fastest \
             in 1: 1000/random in warm Chromium at 1 Gbit/s (text-bare, 0.90×).\n\
             Another mode would have been faster: packed-small, 1000/random in Rust at 100 Mbit/s (1.20×).\n\
             Not read in Chromium, where the lab has no decoder for them, alone and compressed: bitcode, pco. In a page \
             that is warm they would be later even if decoding took no time, but for bitcode, pco."
        );
    }

    /// It was said to be the fastest by the medians alone.
    #[test]
    fn where_the_runs_of_both_overlap_neither_is_the_fastest() {
        let runs = |figures: [f64; 3]| figures.map(|figure| [(LINKS[0].metric, figure)]);
        let (ours, other) = (runs([98.0, 100.0, 102.0]), runs([97.0, 100.1, 103.0]));
        // Far apart by their medians, and one run of the one is as short as one of the other.
        let (near, far) = (runs([100.0, 101.0, 161.0]), runs([160.0, 200.0, 201.0]));
        for (ours, other) in [(&ours, &other), (&near, &far)] {
            let samples = [("+packed-for-link", ours), ("text-bare", other)].map(|(name, runs)| {
                let runs: Vec<&[(&str, f64)]> = runs.iter().map(|run| &run[..]).collect();
                (name, runs)
            });
            let samples: Vec<_> = samples
                .iter()
                .map(|(name, runs)| (*name, Ok(&runs[..]), None))
                .collect();
            let lines = lines(&[standings("rows", "1000/random", &samples)]);
            let said = sentences(&lines).join("\n");
            assert!(
                said.contains("is the fastest in 0 of 1.") && said.contains("other way in 1: "),
                "{said}"
            );
        }
    }

    #[test]
    fn without_ours_or_without_others_there_is_nothing_to_say() {
        let alone = group(
            "1000/random",
            &[("+packed-for-link", totals([1.0; 4], 0.1))],
        );
        let without = group("1000/random", &[("text-bare", totals([1.0; 4], 0.1))]);
        for session in [alone, without] {
            assert!(lines(&[session]).is_empty());
        }
        assert!(sentences(&[]).is_empty());
    }
}
