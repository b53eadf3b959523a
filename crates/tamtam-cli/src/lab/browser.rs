//! Tables decoded in a browser: what this program encoded is read by a page of a headless Chromium, which the package in
//! `clients/web` drives and times. What it takes there replaces the decoding of the figures measured here.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tamtam_rows::encoding;

use super::child::{self, Ending};
use super::interrupt::Interrupt;
use super::plan::{Plan, Task};
use super::standings::{Figure, Row, Standings, State};
use super::statistics::Summary;
use crate::drive::Variant;
use crate::drive::rows::LINKS;
use crate::drive::tables::{self, Table};

/// The forms that a page reads, as they are called here and there.
const FORMS: [(&str, &str); 7] = [
    ("packed", "packed"),
    ("packed-small", "packed-small"),
    ("packed-plain", "packed-plain"),
    ("text-bare", "text"),
    ("json-arrays", "json-arrays"),
    ("json-objects", "json-objects"),
    ("json-columns", "json-columns"),
];

/// The form out of which the page's tiles are checked.
const CHECKED_BY: &str = "text-bare";

/// More rows than these are not sent to a page.
const MOST_ROWS: u64 = 10_000;

/// Many fresh pages of many forms: it takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

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
}

impl Page {
    /// Looks for all that measuring in a browser takes, before anything is measured: the package in the checkout around
    /// one of `starts`, and in `plan` a table that a page reads.
    ///
    /// # Errors
    /// If something is missing, with what it is and how to get it.
    pub(super) fn find(starts: &[PathBuf], plan: &Plan) -> Result<Page> {
        let reads = |task: &Task| {
            task.experiment == "rows"
                && FORMS.iter().any(|(form, _)| *form == task.contender)
                && table(&task.variant).is_some()
        };
        ensure!(plan.tasks.iter().any(reads), "{NOTHING_TO_READ}");
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
        Ok(Page { package })
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
            .current_dir(&self.package);
        match child::run(command, PATIENCE, interrupt)? {
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
fn table(variant: &str) -> Option<(&'static Table, u64)> {
    let variant: Variant = variant.parse().ok()?;
    let table = tables::find(variant.table?)?;
    let is_read = table.of_the_article && variant.count <= MOST_ROWS && variant.extra.is_none();
    is_read.then_some((table, variant.count))
}

/// Writes the tables that a page is to read, as `COUNT/TABLE.FORM`, and says how many.
fn write(standings: &[Standings], folder: &Path) -> Result<usize> {
    let mut written = HashSet::new();
    for standings in standings.iter().filter(|one| one.experiment == "rows") {
        let Some((table, count)) = table(&standings.variant) else {
            continue;
        };
        let rows = table.rows(usize::try_from(count)?)?;
        let counted = folder.join(count.to_string());
        for (form, name) in FORMS {
            let is_measured = standings.ranked().any(|row| row.contender == form);
            if !is_measured && form != CHECKED_BY {
                continue;
            }
            let encoding = encoding::find(form).context("a form is not compiled in")?;
            let mut bytes = Vec::new();
            encoding.encode(&rows, &mut bytes)?;
            fs::create_dir_all(&counted)?;
            let path = counted.join(format!("{}.{name}", table.name));
            fs::write(&path, bytes)
                .with_context(|| format!("{} cannot be written", path.display()))?;
            if is_measured {
                written.insert(path);
            }
        }
    }
    Ok(written.len())
}

/// The standings in the browser, of what the page printed and what was measured here.
fn read(text: &str, standings: &[Standings]) -> Result<Vec<Standings>> {
    let mut groups: Vec<(String, Vec<Row>)> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let line: Line = serde_json::from_str(line)
            .with_context(|| format!("--browser: what the page says is no figure: {line}"))?;
        if !line.verified || line.metric != "decode_us" {
            continue;
        }
        let Some(row) = row(&line, standings) else {
            continue;
        };
        match groups
            .iter_mut()
            .find(|(variant, _)| *variant == line.variant)
        {
            Some((_, rows)) => rows.push(row),
            None => groups.push((line.variant, vec![row])),
        }
    }
    ensure!(!groups.is_empty(), "--browser: the page gave no figures");
    Ok(groups
        .into_iter()
        .map(|(variant, rows)| Standings::of("rows".to_owned(), variant, rows))
        .collect())
}

/// A row in the browser: encoded here, decoded there; `None` if it was not encoded here.
fn row(line: &Line, standings: &[Standings]) -> Option<Row> {
    let (variant, _) = line.variant.rsplit_once('/')?;
    let (form, way) = match line.contender.split_once('/') {
        Some((form, way)) => (form, Some(way)),
        None => (line.contender.as_str(), None),
    };
    let (ours, _) = FORMS.iter().find(|(_, name)| *name == form)?;
    let here = standings
        .iter()
        .find(|one| one.experiment == "rows" && one.variant == variant)?
        .ranked()
        .find(|row| row.contender == *ours)?;
    let count = variant.split('/').next()?.parse::<f64>().ok()?;
    let encode = here.summary("encode_us")?;
    let bytes = here.summary("bytes_per_row")?;
    let decode = Summary {
        median: line.median,
        min: line.min,
        max: line.max,
        runs: line.runs,
    };
    let figure = |metric: &str, unit: &str, summary| Figure {
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        summary,
    };
    let total = |place: usize| {
        let link = LINKS[place];
        let sent = link.microseconds(bytes.median * count);
        let sum = |encode: f64, decode: f64| encode + sent + decode;
        let summary = Summary {
            median: sum(encode.median, decode.median),
            min: sum(encode.min, decode.min),
            max: sum(encode.max, decode.max),
            runs: encode.runs.min(decode.runs),
        };
        figure(link.metric, "µs", summary)
    };
    Some(Row {
        contender: match way {
            Some(way) => format!("{ours}/{way}"),
            None => (*ours).to_owned(),
        },
        version: line.version.clone(),
        ours: line.ours,
        state: State::Ranked,
        figures: vec![
            total(1),
            total(0),
            total(2),
            total(3),
            figure("encode_us", "µs", encode),
            figure("decode_us", "µs", decode),
            figure("bytes_per_row", "B", bytes),
        ],
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Page, read, write};
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::{session, standings};

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
                ("text+gzip", Ok(&[&[("total_us_8mbit", 900.0)]]), None),
            ],
        )]
    }

    #[test]
    fn what_a_page_can_read_is_written_and_what_its_tiles_are_checked_by() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write(&measured(), folder.path()).unwrap(), 1);
        let text = std::fs::read_to_string(folder.path().join("100/palette.text")).unwrap();
        assert_eq!(text.lines().count(), 100);
        assert!(text.starts_with("1,"), "{text}");
        assert!(folder.path().join("100/palette.packed").is_file());
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
        let line = |contender: &str, median: f64| {
            format!(
                r#"{{"experiment":"rows","variant":"100/palette/chromium-warm","contender":"{contender}","version":"1","ours":true,"metric":"decode_us","unit":"µs","median":{median},"min":{median},"max":{median},"runs":5,"verified":true,"machine":"m"}}"#
            )
        };
        let text = [
            line("packed", 7.0),
            line("packed/row-objects", 9.0),
            line("text", 1.0),
        ];
        let found = read(&text.join("\n"), &measured()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].variant, "100/palette/chromium-warm");
        let totals: Vec<(&str, f64)> = found[0]
            .rows
            .iter()
            .map(|row| {
                let total = row.summary("total_us_8mbit").unwrap();
                (row.contender.as_str(), total.median)
            })
            .collect();
        // 3 µs here, 400 bytes at 8 Mbit/s, and the page. The text was not encoded here.
        assert_eq!(totals, [("packed", 410.0), ("packed/row-objects", 412.0)]);
    }

    #[test]
    fn a_page_that_says_something_else_is_an_error() {
        assert!(read("", &measured()).is_err());
        assert!(read("{\"experiment\":1}", &measured()).is_err());
    }
}
