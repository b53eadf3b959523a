//! The last mile of a table: from the request of a page until it has made the last tile, through the gateway and over a link
//! of each speed, in each form that a page reads, with processors of several speeds.
//!
//! The gateway and the links are in this process. The page is one of a headless Chromium, which the package in `clients/web`
//! drives: it slows the page's processor by DevTools, checks the tiles, and first of all checks the links.

pub(super) mod ahead;
#[cfg(feature = "gateway")]
mod check;
#[cfg(feature = "gateway")]
mod served;
#[cfg(feature = "gateway")]
mod throttle;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::arguments::RunArguments;
use super::browser::{self, Page};
use super::plan::Plan;
use super::standings::Standings;
use tamtam_lab::rows::{LINKS, Link};
use tamtam_lab::tables::Table;

/// What stands behind the table in the names of variants, and before what is slowed.
const MARK: &str = "/end-to-end-";

/// The end of the variant that says how well links and processors were slowed.
const CHECKS: &str = "/end-to-end-checks";

/// The metric of that variant.
const TO_COMPUTED: &str = "measured_to_computed";

/// What is to be measured from end to end, and what it takes.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "gateway"),
    allow(dead_code, reason = "without a gateway there is nothing to measure")
)]
pub(super) struct EndToEnd {
    page: Page,
    tables: Vec<(&'static Table, u64)>,
    links: Vec<Link>,
    slowdowns: Vec<u32>,
    /// The forms that are wanted; all if there are none.
    only: Vec<String>,
    runs: usize,
}

impl EndToEnd {
    /// Looks for all that it takes, before anything is measured.
    ///
    /// # Errors
    /// If something is missing, with what it is and how to get it; or a link is asked for that the lab does not have.
    pub(super) fn find(
        starts: &[PathBuf],
        plan: &Plan,
        arguments: &RunArguments,
    ) -> Result<EndToEnd> {
        ensure!(
            cfg!(feature = "gateway"),
            "--end-to-end: this program was built without the gateway; in a checkout: ./scripts/lab --all builds it"
        );
        let mut tables: Vec<(&'static Table, u64)> = Vec::new();
        for task in plan.tasks.iter().filter(|task| task.experiment == "rows") {
            if let Some((table, count)) = browser::table(&task.variant)
                && !tables
                    .iter()
                    .any(|(known, rows)| known.name == table.name && *rows == count)
            {
                tables.push((table, count));
            }
        }
        ensure!(
            !tables.is_empty(),
            "--end-to-end: no table of the article with at most 10,000 rows is measured; name one: rows/1000/random"
        );
        Ok(EndToEnd {
            page: Page::installed(starts, plan.runs)?,
            tables,
            links: links(or_usual(
                &arguments.links,
                if arguments.quick {
                    &[8]
                } else {
                    &[1, 8, 100, 1000]
                },
            ))?,
            slowdowns: or_usual(
                &arguments.slowdowns,
                if arguments.quick { &[1] } else { &[1, 4, 20] },
            )
            .to_vec(),
            only: arguments.only.clone(),
            runs: plan.runs,
        })
    }

    /// How many pages that opens, for a person who waits.
    #[must_use]
    pub(super) fn about(&self) -> String {
        let cells = self.tables.len() * self.links.len() * self.slowdowns.len() * self.runs;
        format!(
            "Now from end to end: for each form {cells} fresh pages of Chromium, one after the other, a second or more each."
        )
    }
}

/// What was asked for, or else the usual.
fn or_usual<'a>(asked: &'a [u32], usual: &'a [u32]) -> &'a [u32] {
    if asked.is_empty() { usual } else { asked }
}

/// The links of these speeds in Mbit/s, that of the primary figure first.
fn links(speeds: &[u32]) -> Result<Vec<Link>> {
    for speed in speeds {
        let is_known = LINKS
            .iter()
            .any(|link| link.bits_per_second() == u64::from(*speed) * 1_000_000);
        ensure!(
            is_known,
            "--links: there is no link of {speed} Mbit/s; there are those of 1, 8, 100 and 1000"
        );
    }
    let is_wanted = |link: &Link| {
        let same = |speed: &u32| link.bits_per_second() == u64::from(*speed) * 1_000_000;
        speeds.iter().any(same)
    };
    let primary_first = browser::PRIMARY_FIRST.map(|place| LINKS[place]);
    Ok(primary_first.into_iter().filter(is_wanted).collect())
}

/// The words for the end of a variant that was measured from end to end.
#[must_use]
pub(super) fn describe(extra: &str) -> Option<String> {
    let rest = extra.strip_prefix(&MARK[1..])?;
    if extra == &CHECKS[1..] {
        return Some("how much longer than computed links and processors took".to_owned());
    }
    let (call, slowdown) = rest.split_once("-cpu")?;
    let call = match call {
        "first" => "the first call in a fresh page of Chromium",
        "warm" => "a call in a page of Chromium that is warm",
        _ => return None,
    };
    let processor = match slowdown {
        "1" => String::new(),
        times => format!(", at 1/{times} of the processor's speed"),
    };
    Some(format!("from request to tiles: {call}{processor}"))
}

/// What must be known of these figures: how they were slowed, and how well that was done.
#[must_use]
pub(super) fn note(standings: &Standings) -> Option<String> {
    if !standings.variant.ends_with(CHECKS) {
        return None;
    }
    let measured = |kind: &str| -> Vec<String> {
        let rows = standings.ranked().filter_map(|row| {
            let name = row.contender.strip_prefix(kind)?;
            Some((name, row.summary(TO_COMPUTED)?.median))
        });
        let mut rows: Vec<(&str, f64)> = rows.collect();
        rows.sort_by_key(|(name, _)| {
            let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().unwrap_or(u32::MAX)
        });
        rows.iter()
            .map(|(name, ratio)| format!("{ratio:.2} ({name})"))
            .collect()
    };
    let mut said = format!(
        "From end to end: a proxy of this program slows the way down to the page, to which nothing else is added; the way up is \
         free. A body of known length took a plain client as many times as long as computed: {}; and the page: {}.",
        measured("link-").join(", "),
        measured("page-").join(", ")
    );
    let processors = measured("cpu-");
    if !processors.is_empty() {
        said.push_str(&format!(
            " DevTools slow the page's thread; a loop took as many times as long as it should: {}.",
            processors.join(", ")
        ));
    }
    said.push_str(
        " The server's CPU is that of one answer, which it pays for each client. Arrow is read by apache-arrow, Parquet by \
         hyparquet, MessagePack by @msgpack/msgpack; AMF by the lab's own reader.",
    );
    Some(said)
}

#[cfg(feature = "gateway")]
mod measure {
    //! The gateway, the links, and the program that drives the browser.

    use std::fs;
    use std::num::NonZeroUsize;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use anyhow::{Context, Result, bail};
    use serde::{Deserialize, Serialize};
    use tamtam_rows::encoding;

    use super::EndToEnd;
    use super::check::check;
    use super::served::Served;
    use super::throttle::ThrottledLink;
    use crate::lab::child::{self, Ending};
    use crate::lab::interrupt::Interrupt;
    use crate::lab::machine;
    use crate::lab::progress::Progress;
    use crate::lab::results::recording::Recording;
    use crate::lab::standings::Standings;
    use tamtam_lab::rows::Link;
    use tamtam_lab::tables::Table;

    /// Very many fresh pages: it takes long.
    const LONGEST_SESSION: Duration = Duration::from_secs(4 * 3600);

    /// What the package is told.
    #[derive(Debug, Serialize)]
    struct Order<'a> {
        tables: Vec<Ordered>,
        slowdowns: &'a [u32],
        only: &'a [String],
        runs: usize,
        machine: String,
    }

    /// One table, and where it is.
    #[derive(Debug, Serialize)]
    struct Ordered {
        count: u64,
        table: &'static str,
        /// The file by which its tiles are checked.
        text: String,
        links: Vec<Way>,
    }

    /// The gateways behind one link.
    #[derive(Clone, Debug, Serialize)]
    struct Way {
        name: &'static str,
        metric: &'static str,
        bits_per_second: u64,
        /// How many times as long as computed a body took over it.
        measured_to_computed: f64,
        plain: String,
        compressed: String,
        /// Without the link.
        server: String,
    }

    /// What the package says before each page that it opens, and at the end: a line of JSON.
    #[derive(Debug, Deserialize)]
    struct Told {
        /// Pages that are done with, in all rounds.
        done: usize,
        pages_a_round: NonZeroUsize,
        /// What comes next; nothing at the end.
        next: Option<String>,
    }

    /// The progress of so many rounds, as the package tells it.
    #[derive(Debug)]
    struct Followed {
        rounds: usize,
        terminal: bool,
        /// Nothing until the package has said how many pages there are in a round.
        progress: Option<Progress>,
    }

    impl Followed {
        fn new(rounds: usize, terminal: bool) -> Followed {
            Followed {
                rounds,
                terminal,
                progress: None,
            }
        }

        /// Shows what a line tells. One that is no JSON of this kind comes from what compiles the package.
        fn hear(&mut self, line: &str) {
            let Ok(told) = serde_json::from_str::<Told>(line) else {
                return;
            };
            let pages = told.pages_a_round.get();
            let begin = || Progress::begin(self.rounds, pages, self.terminal);
            let progress = self.progress.get_or_insert_with(begin);
            progress.reached(told.done);
            let round = told.done / pages;
            if round > 0 && told.done % pages == 0 {
                progress.round_ended(round);
            }
            if let Some(next) = told.next {
                progress.running(round + 1, next);
            }
        }

        /// Takes away what is shown.
        fn end(self) {
            if let Some(progress) = self.progress {
                progress.end();
            }
        }
    }

    /// The tables of one number of rows, while they are served.
    struct Behind {
        _served: [Served; 2],
        _links: Vec<ThrottledLink>,
        ways: Vec<Way>,
    }

    impl Behind {
        fn open(rows: u64, links: &[Link]) -> Result<Behind> {
            let rows = usize::try_from(rows)?;
            let served = [Served::start(rows, false)?, Served::start(rows, true)?];
            let (mut opened, mut ways) = (Vec::new(), Vec::new());
            for link in links {
                let [plain, compressed] = [0, 1].map(|place: usize| {
                    ThrottledLink::open(served[place].address(), link.bits_per_second())
                });
                let (plain, compressed) = (plain?, compressed?);
                ways.push(Way {
                    name: link.name,
                    metric: link.metric,
                    bits_per_second: link.bits_per_second(),
                    measured_to_computed: check(plain.address(), link.bits_per_second())
                        .context("--end-to-end")?,
                    plain: plain.url(),
                    compressed: compressed.url(),
                    server: format!("http://{}", served[0].address()),
                });
                opened.extend([plain, compressed]);
            }
            Ok(Behind {
                _served: served,
                _links: opened,
                ways,
            })
        }
    }

    impl EndToEnd {
        /// Measures, and shows on standard error how far it is. `None` if the user stopped it.
        ///
        /// # Errors
        /// If the gateway or the browser does not start, a link or a processor is not as slow as it should be, or a page made
        /// other tiles than the table has.
        pub(in crate::lab) fn measure(
            &self,
            interrupt: &Interrupt,
            terminal: bool,
        ) -> Result<Option<Vec<Standings>>> {
            let folder = tempfile::tempdir().context("--end-to-end: no folder for the tables")?;
            let mut behind: Vec<(u64, Behind)> = Vec::new();
            let mut tables = Vec::new();
            for (table, count) in &self.tables {
                let known = behind.iter().position(|(rows, _)| rows == count);
                let place = match known {
                    Some(place) => place,
                    None => {
                        behind.push((*count, Behind::open(*count, &self.links)?));
                        behind.len() - 1
                    }
                };
                tables.push(Ordered {
                    count: *count,
                    table: table.name,
                    text: write(table, *count, folder.path())?,
                    links: behind[place].1.ways.clone(),
                });
            }
            let order = Order {
                tables,
                slowdowns: &self.slowdowns,
                only: &self.only,
                runs: self.runs,
                machine: machine::describe(),
            };
            let (ordered, found) = (
                folder.path().join("order.json"),
                folder.path().join("figures.jsonl"),
            );
            fs::write(&ordered, serde_json::to_vec(&order)?)
                .with_context(|| format!("{} cannot be written", ordered.display()))?;
            let mut command = Command::new("npm");
            command
                .args(["run", "--silent", "end-to-end", "--"])
                .args([&ordered, &found])
                .current_dir(self.page.package());
            let mut followed = Followed::new(self.runs, terminal);
            let hear = |line: &str| followed.hear(line);
            let ending = child::run_heard(command, LONGEST_SESSION, interrupt, hear);
            followed.end();
            match ending? {
                Ending::Interrupted => Ok(None),
                Ending::TimedOut => bail!("--end-to-end: it gave no result within four hours"),
                Ending::Finished { status, .. } if status.success() => {
                    let recording = Recording::read(&found, None)
                        .context("--end-to-end: what the page says are no figures")?;
                    Ok(Some(recording.standings))
                }
                Ending::Finished { stderr, .. } => bail!("--end-to-end: {}", stderr.trim()),
            }
        }
    }

    /// Writes what the tiles are checked by, and says where.
    fn write(table: &Table, count: u64, folder: &Path) -> Result<String> {
        let rows = table.rows(usize::try_from(count)?)?;
        let mut bytes = Vec::new();
        encoding::find("text-bare")
            .context("a form is not compiled in")?
            .encode(&rows, &mut bytes)?;
        let path = folder.join(format!("{count}-{}.text", table.name));
        fs::write(&path, bytes).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(path
            .to_str()
            .context("a temporary folder has a name that is no text")?
            .to_owned())
    }
}

#[cfg(not(feature = "gateway"))]
impl EndToEnd {
    /// Without a gateway there is nothing to measure, which [`find`](Self::find) has said.
    ///
    /// # Errors
    /// Always.
    pub(super) fn measure(
        &self,
        _: &super::interrupt::Interrupt,
        _: bool,
    ) -> Result<Option<Vec<Standings>>> {
        anyhow::bail!("--end-to-end: this program was built without the gateway")
    }
}

#[cfg(test)]
mod tests {
    use super::{describe, links, note};
    use crate::lab::standings::samples::standings;

    #[test]
    fn links_are_those_of_the_lab_and_the_primary_one_is_first() {
        let names = |speeds: &[u32]| -> Vec<&str> {
            let links = links(speeds).unwrap();
            links.iter().map(|link| link.name).collect()
        };
        assert_eq!(
            names(&[1, 8, 100, 1000]),
            ["8mbit", "1mbit", "100mbit", "1000mbit"]
        );
        assert_eq!(names(&[1000, 1]), ["1mbit", "1000mbit"]);
        let error = links(&[1, 54]).unwrap_err().to_string();
        assert!(error.contains("no link of 54 Mbit/s"), "{error}");
    }

    #[test]
    fn variants_have_words() {
        assert_eq!(
            describe("end-to-end-warm-cpu20").as_deref(),
            Some(
                "from request to tiles: a call in a page of Chromium that is warm, at 1/20 of the processor's speed"
            )
        );
        assert_eq!(
            describe("end-to-end-first-cpu1").as_deref(),
            Some("from request to tiles: the first call in a fresh page of Chromium")
        );
        assert_eq!(describe("chromium-warm"), None);
        assert_eq!(describe("end-to-end-other-cpu1"), None);
    }

    #[test]
    fn how_well_it_was_slowed_is_said() {
        let checks = standings(
            "rows",
            "1000/random/end-to-end-checks",
            &[
                (
                    "link-100mbit",
                    Ok(&[&[("measured_to_computed", 1.1)]]),
                    None,
                ),
                ("link-8mbit", Ok(&[&[("measured_to_computed", 1.02)]]), None),
                ("page-8mbit", Ok(&[&[("measured_to_computed", 1.2)]]), None),
                ("cpu-20", Ok(&[&[("measured_to_computed", 0.9)]]), None),
            ],
        );
        let said = note(&checks).unwrap();
        assert!(
            said.contains("computed: 1.02 (8mbit), 1.10 (100mbit); and the page: 1.20 (8mbit)."),
            "{said}"
        );
        assert!(said.contains("0.90 (20)."), "{said}");
        let samples = [(
            "link-8mbit",
            Ok(&[&[("measured_to_computed", 1.0)][..]][..]),
            None,
        )];
        let other = standings("rows", "1000/random", &samples);
        assert_eq!(note(&other), None);
    }
}
