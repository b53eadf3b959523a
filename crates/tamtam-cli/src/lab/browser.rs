//! Tables decoded in a browser: what this program encoded is read by a page of a headless Chromium, which the package in
//! `clients/web` drives and times. What it takes there replaces the decoding of the figures measured here.
//!
//! A browser expands what is compressed before a page gets it, by the same libraries as servers use, where no page can time
//! it. For that counts what it takes here.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tamtam_rows::{Rows, encoding};

use super::child::{self, Ending};
use super::interrupt::Interrupt;
use super::plan::{Plan, Task};
use super::standings::{Figure, Row, Standings, State};
use super::statistics::Summary;
use tamtam_lab::Variant;
use tamtam_lab::rows::{LINKS, Link};
use tamtam_lab::tables::{self, Table};

/// The forms that a page reads, as contenders are called here and as bytes are there. Two are ways to write what another
/// one writes, too.
const FORMS: [(&str, &str); 9] = [
    ("packed", "packed"),
    ("packed-small", "packed-small"),
    ("packed-plain", "packed-plain"),
    ("packed-from-structs", "packed"),
    ("text-bare", "text"),
    ("text-by-hand", "text"),
    ("json-arrays", "json-arrays"),
    ("json-objects", "json-objects"),
    ("json-columns", "json-columns"),
];

/// The contender that is another one on each link.
const BY_LINK: &str = "packed-for-link";

/// The bytes out of which the page's tiles are checked.
const CHECKED_BY: &str = "text";

/// More rows than these are not sent to a page.
const MOST_ROWS: u64 = 10_000;

/// Many fresh pages of many forms: it takes minutes.
const LONGEST_SESSION: Duration = Duration::from_secs(3600);

/// A figure of the page's.
#[derive(Debug, Deserialize)]
struct Line {
    variant: String,
    contender: String,
    version: String,
    ours: bool,
    metric: String,
    median: f64,
    min: f64,
    max: f64,
    runs: usize,
    verified: bool,
}

/// Where a Chromium usually is; another one is named in the variable [`CHOSEN`], as the package's own tests have it.
const USUAL: [&str; 3] = [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
];

/// The variable that names another Chromium.
const CHOSEN: &str = "TAMTAM_CHROMIUM";

/// What it takes to measure in a browser: the package `clients/web`, which is there and installed, npm and a Chromium.
#[derive(Debug)]
pub(super) struct Page {
    package: PathBuf,
    /// How often each form is read by a page that is warm.
    runs: usize,
}

impl Page {
    /// Looks for all that measuring in a browser takes, before anything is measured: the package in the checkout around
    /// one of `starts`, and in `plan` a table that a page reads.
    ///
    /// # Errors
    /// If something is missing, with what it is and how to get it.
    pub(super) fn find(starts: &[PathBuf], plan: &Plan) -> Result<Page> {
        let reads = |task: &Task| {
            task.experiment == "rows" && is_read(&task.contender) && table(&task.variant).is_some()
        };
        ensure!(plan.tasks.iter().any(reads), "{NOTHING_TO_READ}");
        Page::installed(starts, plan.runs)
    }

    /// Looks for the package, npm and a Chromium, which is to read each form in so many runs.
    ///
    /// # Errors
    /// If something is missing, with what it is and how to get it.
    pub(super) fn installed(starts: &[PathBuf], runs: usize) -> Result<Page> {
        let package = starts
            .iter()
            .flat_map(|start| start.ancestors())
            .map(|ancestor| ancestor.join("clients/web"))
            .find(|folder| folder.join("package.json").is_file())
            .context(
                "--browser: there is no folder clients/web around here; call it in a checkout",
            )?;
        ensure!(
            package.join("node_modules").is_dir(),
            "--browser: {} is not installed; ./scripts/setup web browser does so",
            package.display()
        );
        let npm = Command::new("npm")
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        ensure!(
            npm.is_ok_and(|output| output.status.success()),
            "--browser: npm cannot be started; ./scripts/setup web browser installs it"
        );
        match std::env::var_os(CHOSEN) {
            Some(chosen) => ensure!(
                Path::new(&chosen).is_file(),
                "--browser: there is no Chromium {}, which {CHOSEN} names",
                Path::new(&chosen).display()
            ),
            None => ensure!(
                USUAL.iter().any(|path| Path::new(path).exists()),
                "--browser: there is no Chromium at {}; ./scripts/setup browser installs one, or name yours in \
                 {CHOSEN}",
                USUAL.join(", ")
            ),
        }
        Ok(Page { package, runs })
    }

    /// The folder of the package.
    #[cfg(feature = "gateway")]
    #[must_use]
    pub(super) fn package(&self) -> &Path {
        &self.package
    }

    /// Measures how soon a page has the tables of `standings`, for the article's tables of at most 10,000 rows. `None`
    /// if the user stopped it.
    ///
    /// # Errors
    /// If nothing that a page reads was measured, the browser does not start, or the page made another table.
    pub(super) fn measure(
        &self,
        standings: &[Standings],
        interrupt: &Interrupt,
    ) -> Result<Option<Vec<Standings>>> {
        let folder = tempfile::tempdir().context("--browser: no folder for the tables")?;
        if write(standings, folder.path())? == 0 {
            bail!("{NOTHING_TO_READ}");
        }
        let mut command = Command::new("npm");
        command
            .args(["run", "--silent", "measure", "--", "--payloads"])
            .arg(folder.path())
            .args(["--warm-runs", &self.runs.to_string()])
            // A first call cannot be repeated in its page, so that its figures scatter more.
            .args(["--cold-runs", &(3 * self.runs).to_string()])
            .current_dir(&self.package);
        match child::run_with_others(command, LONGEST_SESSION, interrupt)? {
            Ending::Interrupted => Ok(None),
            Ending::TimedOut => bail!("--browser: it gave no result within an hour"),
            Ending::Finished { status, stdout, .. } if status.success() => {
                read(&stdout, standings).map(Some)
            }
            Ending::Finished { stderr, .. } => bail!("--browser: {}", stderr.trim()),
        }
    }
}

/// What is said where no table is measured that a page reads.
const NOTHING_TO_READ: &str = "--browser: no table of the article with at most 10,000 rows is measured in a form that a \
    page reads; name one: rows/1000/random";

/// The table and the number of rows of this variant, if a page reads them.
pub(super) fn table(variant: &str) -> Option<(&'static Table, u64)> {
    let variant: Variant = variant.parse().ok()?;
    let table = tables::find(variant.table?)?;
    let is_read = table.of_the_article && variant.count <= MOST_ROWS && variant.extra.is_none();
    is_read.then_some((table, variant.count))
}

/// What a page reads of this contender: the name of its bytes there, and whether they come compressed. `None` if there is
/// no decoder for pages, and for the one that is another one on each link.
fn bytes_of(contender: &str) -> Option<(&'static str, bool)> {
    let (form, compression) = match contender.split_once('+') {
        Some((form, by)) => (form, Some(by)),
        None => (contender, None),
    };
    let (_, bytes) = FORMS.iter().find(|(name, _)| *name == form)?;
    Some((bytes, compression.is_some()))
}

/// Whether a page can read this contender.
#[must_use]
pub(super) fn is_read(contender: &str) -> bool {
    contender == BY_LINK || bytes_of(contender).is_some()
}

/// What must be known of figures of the browser that hold one of ours.
#[must_use]
pub(super) fn note(standings: &Standings) -> Option<String> {
    let in_browser = standings.variant.contains("/chromium-");
    let is_compressed = |row: &Row| row.contender.contains('+');
    (in_browser && standings.ranked().any(is_compressed)).then(|| {
        "What is compressed a browser expands before the page gets it, where no page can time it: of that counts what \
         it takes in Rust."
            .to_owned()
    })
}

/// The packed bytes that are planned for a link, as they are called there.
fn bytes_for(link: Link) -> String {
    format!("packed-{}", link.name)
}

/// The table as the bytes of this name.
fn encoded(rows: &Rows, name: &str) -> Result<Vec<u8>> {
    if let Some(link) = LINKS.into_iter().find(|link| bytes_for(*link) == name) {
        return planned(rows, link);
    }
    let mut bytes = Vec::new();
    let form = FORMS.iter().find(|(_, bytes)| *bytes == name);
    let form = form.and_then(|(contender, _)| encoding::find(contender));
    form.context("a form is not compiled in")?
        .encode(rows, &mut bytes)?;
    Ok(bytes)
}

/// What a page gets of the bytes that are sent over a link by the library's plan: what a browser has expanded. The plan is made
/// anew, so that modes that are equally good may have changed places since the contender was measured.
#[cfg(feature = "tables")]
fn planned(rows: &Rows, link: Link) -> Result<Vec<u8>> {
    let plan = tamtam_rows::Plan::for_link(rows, link.bits_per_second())?;
    let mut bytes = Vec::new();
    tamtam_rows::packed::encode(rows, plan.mode, &mut bytes)?;
    Ok(bytes)
}

/// Without compressors there are no plans, and no contender that is measured by them.
#[cfg(not(feature = "tables"))]
fn planned(_: &Rows, _: Link) -> Result<Vec<u8>> {
    bail!("no plans are compiled in")
}

/// Writes the tables that a page is to read, as `COUNT/TABLE.FORM`, and says how many.
fn write(standings: &[Standings], folder: &Path) -> Result<usize> {
    let mut written = 0;
    for standings in standings.iter().filter(|one| one.experiment == "rows") {
        let Some((table, count)) = table(&standings.variant) else {
            continue;
        };
        let mut names: BTreeSet<String> = BTreeSet::new();
        for row in standings.ranked() {
            if row.contender == BY_LINK {
                names.extend(LINKS.map(bytes_for));
            }
            names.extend(bytes_of(&row.contender).map(|(name, _)| name.to_owned()));
        }
        if names.is_empty() {
            continue;
        }
        written += names.len();
        names.insert(CHECKED_BY.to_owned());
        let rows = table.rows(usize::try_from(count)?)?;
        let counted = folder.join(count.to_string());
        fs::create_dir_all(&counted)
            .with_context(|| format!("{} cannot be made", counted.display()))?;
        for name in names {
            let path = counted.join(format!("{}.{name}", table.name));
            fs::write(&path, encoded(&rows, &name)?)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
    }
    Ok(written)
}

/// The standings in the browser, of what the page printed and what was measured here.
fn read(text: &str, standings: &[Standings]) -> Result<Vec<Standings>> {
    // By variant, in the order in which they came.
    let mut groups: Vec<(String, HashMap<String, Line>)> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let line: Line = serde_json::from_str(line)
            .with_context(|| format!("--browser: what the page says is no figure: {line}"))?;
        if !line.verified || line.metric != "decode_us" {
            continue;
        }
        let known = groups
            .iter()
            .position(|(variant, _)| *variant == line.variant);
        let place = known.unwrap_or_else(|| {
            groups.push((line.variant.clone(), HashMap::new()));
            groups.len() - 1
        });
        groups[place].1.insert(line.contender.clone(), line);
    }
    let found: Vec<Standings> = groups
        .into_iter()
        .filter_map(|(variant, lines)| {
            let (of, _) = variant.rsplit_once('/')?;
            let here = standings
                .iter()
                .find(|one| one.experiment == "rows" && one.variant == of)?;
            let count = of.split('/').next()?.parse::<f64>().ok()?;
            let rows: Vec<Row> = here
                .ranked()
                .flat_map(|row| in_page(row, count, &lines))
                .collect();
            (!rows.is_empty()).then(|| Standings::of("rows".to_owned(), variant, rows))
        })
        .collect();
    ensure!(!found.is_empty(), "--browser: the page gave no figures");
    Ok(found)
}

/// What becomes of a contender that was encoded here where a page decodes it: a row for each way to read it there.
fn in_page(here: &Row, count: f64, lines: &HashMap<String, Line>) -> Vec<Row> {
    if here.contender == BY_LINK {
        return by_link(here, count, lines).into_iter().collect();
    }
    let Some((name, is_compressed)) = bytes_of(&here.contender) else {
        return Vec::new();
    };
    // `packed/reuse` is another way to read what `packed` has written; others write the same, and are read once.
    let mut ways: Vec<(String, &Line)> = lines
        .iter()
        .filter_map(|(contender, line)| match contender.strip_prefix(name)? {
            "" => Some((here.contender.clone(), line)),
            way if way.starts_with('/') && here.contender == name => {
                Some((contender.clone(), line))
            }
            _ => None,
        })
        .collect();
    ways.sort_by(|(one, _), (other, _)| one.cmp(other));
    ways.into_iter()
        .filter_map(|(contender, line)| {
            let expand = if is_compressed {
                here.summary("expand_us")?
            } else {
                NOTHING
            };
            let decode = sum(&[expand, line.summary()]);
            let parts = Parts {
                encode: here.summary("encode_us")?,
                bytes: here.summary("bytes_per_row")?,
                decode,
            };
            let totals = PRIMARY_FIRST.map(|place| parts.total(LINKS[place], count));
            let figures = totals.into_iter().chain(parts.figures()).collect();
            Some(row(contender, line, figures))
        })
        .collect()
}

/// The one that is another one on each link, where it may be compressed.
fn by_link(here: &Row, count: f64, lines: &HashMap<String, Line>) -> Option<Row> {
    let parts = |link: Link| {
        let of = |metric| here.summary(&link.alone(metric));
        Some(Parts {
            encode: of("encode_us")?,
            bytes: of("bytes_per_row")?,
            decode: sum(&[of("expand_us")?, lines.get(&bytes_for(link))?.summary()]),
        })
    };
    let mut figures = Vec::new();
    for place in PRIMARY_FIRST {
        figures.push(parts(LINKS[place])?.total(LINKS[place], count));
    }
    figures.extend(parts(LINKS[PRIMARY_FIRST[0]])?.figures());
    for link in LINKS {
        figures.extend(parts(link)?.figures().map(|part| Figure {
            metric: link.alone(&part.metric),
            ..part
        }));
    }
    let line = lines.get(&bytes_for(LINKS[PRIMARY_FIRST[0]]))?;
    Some(row(BY_LINK.to_owned(), line, figures))
}

fn row(contender: String, line: &Line, figures: Vec<Figure>) -> Row {
    Row {
        contender,
        version: line.version.clone(),
        ours: line.ours,
        state: State::Ranked,
        figures,
        note: None,
    }
}

/// The places of the links, that of the figure by which contenders are compared first.
pub(super) const PRIMARY_FIRST: [usize; 4] = [1, 0, 2, 3];

/// What takes no time.
const NOTHING: Summary = Summary {
    median: 0.0,
    min: 0.0,
    max: 0.0,
    runs: usize::MAX,
};

impl Line {
    fn summary(&self) -> Summary {
        Summary {
            median: self.median,
            min: self.min,
            max: self.max,
            runs: self.runs,
        }
    }
}

/// What makes up a total.
struct Parts {
    encode: Summary,
    /// A row.
    bytes: Summary,
    decode: Summary,
}

impl Parts {
    fn total(&self, link: Link, count: f64) -> Figure {
        let sent = link.microseconds(self.bytes.median * count);
        let sent = Summary {
            median: sent,
            min: sent,
            max: sent,
            runs: usize::MAX,
        };
        Figure::new(link.metric, "µs", sum(&[self.encode, sent, self.decode]))
    }

    fn figures(&self) -> [Figure; 3] {
        [
            Figure::new("encode_us", "µs", self.encode),
            Figure::new("decode_us", "µs", self.decode),
            Figure::new("bytes_per_row", "B", self.bytes),
        ]
    }
}

/// One after the other: ranges are those of parts that were measured apart.
fn sum(parts: &[Summary]) -> Summary {
    let of = |value: fn(&Summary) -> f64| parts.iter().map(value).sum();
    Summary {
        median: of(|part| part.median),
        min: of(|part| part.min),
        max: of(|part| part.max),
        runs: parts.iter().map(|part| part.runs).min().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "tables")]
    use super::table;
    use super::{Page, read, write};
    use crate::lab::standings::samples::{session, standings};
    use crate::lab::standings::{Row, Standings};
    use tamtam_lab::rows::LINKS;

    fn measured() -> [Standings; 1] {
        [standings(
            "rows",
            "100/palette",
            &[
                (
                    "+packed",
                    Ok(&[&[
                        ("total_us_8mbit", 405.0),
                        ("encode_us", 3.0),
                        ("decode_us", 2.0),
                        ("bytes_per_row", 4.0),
                    ]]),
                    None,
                ),
                (
                    "json-columns+zstd",
                    Ok(&[&[
                        ("total_us_8mbit", 900.0),
                        ("encode_us", 50.0),
                        ("decode_us", 9.0),
                        ("expand_us", 5.0),
                        ("bytes_per_row", 8.0),
                    ]]),
                    None,
                ),
                ("parquet", Ok(&[&[("total_us_8mbit", 9000.0)]]), None),
            ],
        )]
    }

    /// Encoded for each link in as many microseconds as its place says, in as many tens of bytes for 100 rows.
    fn measured_by_link() -> [Standings; 1] {
        let mut figures = vec![("total_us_8mbit".to_owned(), 405.0)];
        for (place, link) in (1_u8..).zip(LINKS) {
            figures.push((link.alone("encode_us"), f64::from(place)));
            figures.push((link.alone("bytes_per_row"), f64::from(place) / 10.0));
            // Compressed on the slow links alone.
            let expand = if place < 3 { 7.0 } else { 0.0 };
            figures.push((link.alone("expand_us"), expand));
        }
        let figures: Vec<(&str, f64)> = figures
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        let run: &[&[(&str, f64)]] = &[&figures];
        [standings(
            "rows",
            "100/palette",
            &[("+packed-for-link", Ok(run), None)],
        )]
    }

    fn line(contender: &str, median: f64) -> String {
        format!(
            r#"{{"experiment":"rows","variant":"100/palette/chromium-warm","contender":"{contender}","version":"1","ours":true,"metric":"decode_us","unit":"µs","median":{median},"min":{median},"max":{median},"runs":5,"verified":true,"machine":"m"}}"#
        )
    }

    fn totals(text: &[String], standings: &[Standings], metric: &str) -> Vec<(String, f64)> {
        let found = read(&text.join("\n"), standings).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].variant, "100/palette/chromium-warm");
        let total = |row: &Row| row.summary(metric).unwrap().median;
        let rows = found[0].rows.iter();
        rows.map(|row| (row.contender.clone(), total(row)))
            .collect()
    }

    #[test]
    fn what_a_page_can_read_is_written_and_what_its_tiles_are_checked_by() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(&measured(), folder.path()).unwrap(), 2);
        let text = std::fs::read_to_string(folder.path().join("100/palette.text")).unwrap();
        assert_eq!(text.lines().count(), 100);
        assert!(text.starts_with("1,"), "{text}");
        for form in ["packed", "json-columns"] {
            let path = folder.path().join(format!("100/palette.{form}"));
            assert!(path.is_file(), "{form}");
        }
        assert!(!folder.path().join("100/palette.json-arrays").exists());
        let [mut other] = measured();
        other.variant = "1000/logs".to_owned();
        assert_eq!(write(&[other], folder.path()).unwrap(), 0);
    }

    #[test]
    fn what_is_missing_is_said_before_anything_is_measured() {
        let found = |variant: &str, contender: &str, start: &std::path::Path| {
            let (plan, _) = session("rows", variant, &[(contender, Ok(&[]), None)]);
            let error = Page::find(&[start.to_owned()], &plan).map(|_| ());
            error.map_err(|error| error.to_string())
        };
        let checkout = tempfile::tempdir().unwrap();
        for (variant, contender) in [
            ("1000/logs", "+packed"),
            ("1000000/random", "+packed"),
            ("1000/random", "parquet"),
        ] {
            let error = found(variant, contender, checkout.path()).unwrap_err();
            assert!(error.contains("name one: rows/1000/random"), "{error}");
        }
        let error = found("1000/random", "+packed", checkout.path()).unwrap_err();
        assert!(error.contains("there is no folder clients/web"), "{error}");
        let package = checkout.path().join("clients/web");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("package.json"), "{}").unwrap();
        let below = checkout.path().join("clients");
        let error = found("1000/random", "+packed", &below).unwrap_err();
        assert!(error.contains("./scripts/setup web browser"), "{error}");
        std::fs::create_dir(package.join("node_modules")).unwrap();
        // What is still missing now depends on the machine.
        if let Err(error) = found("1000/random", "+packed", &below) {
            assert!(
                error.contains("npm") || error.contains("Chromium"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_page_decodes_what_was_encoded_here() {
        let text = [
            line("packed", 7.0),
            line("packed/row-objects", 9.0),
            line("text", 1.0),
            line("json-columns", 30.0),
        ];
        // 3 µs here, 400 bytes at 8 Mbit/s, and the page. What is compressed is expanded first. The text was not encoded here.
        let expected = [
            ("packed".to_owned(), 410.0),
            ("packed/row-objects".to_owned(), 412.0),
            ("json-columns+zstd".to_owned(), 885.0),
        ];
        assert_eq!(totals(&text, &measured(), "total_us_8mbit"), expected);
    }

    #[cfg(feature = "tables")]
    #[test]
    fn what_is_planned_for_a_link_is_there_as_a_page_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(&measured_by_link(), folder.path()).unwrap(), 4);
        let rows = table("100/palette").unwrap().0.rows(100).unwrap();
        for link in LINKS {
            let path = folder
                .path()
                .join(format!("100/palette.packed-{}", link.name));
            let bytes = std::fs::read(path).unwrap();
            let limits = tamtam_rows::Limits::default();
            assert_eq!(tamtam_rows::packed::decode(&bytes, &limits).unwrap(), rows);
        }
    }

    #[test]
    fn what_is_planned_for_a_link_is_read_as_it_was_sent_there() {
        let text = [
            line("packed-1mbit", 900.0),
            line("packed-8mbit", 500.0),
            line("packed-100mbit", 50.0),
            line("packed-1000mbit", 5.0),
        ];
        let total = |metric| totals(&text, &measured_by_link(), metric).remove(0).1;
        assert_eq!(total("total_us_1mbit"), 1.0 + 80.0 + 907.0);
        assert_eq!(total("total_us_8mbit"), 2.0 + 20.0 + 507.0);
        assert!((total("total_us_100mbit") - (3.0 + 2.4 + 50.0)).abs() < 1e-9);
        assert!((total("total_us_1000mbit") - (4.0 + 0.32 + 5.0)).abs() < 1e-9);
        assert_eq!(total("decode_us_1mbit"), 907.0);
        assert_eq!(total("decode_us_100mbit"), 50.0);
    }

    #[test]
    fn a_page_that_says_something_else_is_an_error() {
        assert!(read("", &measured()).is_err());
        assert!(read("{\"experiment\":1}", &measured()).is_err());
    }
}
