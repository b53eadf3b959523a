//! What one results file holds: the figures of one session on one machine, read with care, since files come from outside.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use jiff::civil::Date;
use serde::Deserialize;

use crate::lab::standings::{Figure, Row, Standings, State};
use crate::lab::statistics::Summary;

/// A results file larger than this is something else: a session of everything writes less than 1 MiB.
const LARGEST_FILE: u64 = 16 << 20;

/// A name longer than this is not one, in characters; a machine is described in a line.
const LONGEST_NAME: usize = 400;

/// Figures above this are none: it would be 31 years in nanoseconds.
const GREATEST: f64 = 1e18;

/// One line of a results file.
#[derive(Debug, Deserialize)]
struct Line {
    experiment: String,
    variant: String,
    contender: String,
    version: String,
    ours: bool,
    metric: String,
    unit: String,
    median: f64,
    min: f64,
    max: f64,
    runs: usize,
    verified: bool,
    machine: String,
}

/// The figures of one session.
#[derive(Debug)]
pub(in crate::lab) struct Recording {
    /// What it is called: the given label, or the file's name without its ending.
    pub label: String,
    /// Where it stands among the others, if its name begins with a date.
    pub day: Option<Day>,
    /// The file.
    pub path: PathBuf,
    /// The machine, as the session described it.
    pub machine: String,
    /// The figures, in the order of the file.
    pub standings: Vec<Standings>,
    /// How many figures there are.
    pub figures: usize,
}

/// A day, and which session of that day: `2026-11-21`, `2026-11-21-2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::lab) struct Day {
    date: Date,
    number: u32,
    rest: String,
}

impl Day {
    /// The day with which `label` begins.
    #[must_use]
    pub(in crate::lab) fn of(label: &str) -> Option<Self> {
        let (date, rest) = label.split_at_checked(10)?;
        let date = date.parse().ok()?;
        let rest = match rest.strip_prefix('-') {
            None if rest.is_empty() => rest,
            None => return None,
            Some(rest) => rest,
        };
        match rest.parse() {
            Ok(number) => Some(Self {
                date,
                number,
                rest: String::new(),
            }),
            Err(_) => Some(Self {
                date,
                number: 1,
                rest: rest.to_owned(),
            }),
        }
    }
}

impl Recording {
    /// The session that was just measured.
    #[must_use]
    pub(in crate::lab) fn taken(machine: String, standings: Vec<Standings>) -> Self {
        let rows = standings.iter().flat_map(|standings| &standings.rows);
        Self {
            label: "this session".to_owned(),
            day: None,
            path: PathBuf::new(),
            machine,
            figures: rows.map(|row| row.figures.len()).sum(),
            standings,
        }
    }

    /// Reads the file `path`, which is to be called `label`.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or a line of it is not a figure; the error names the file, the line and what is wrong.
    pub(in crate::lab) fn read(path: &Path, label: Option<&str>) -> Result<Self> {
        let shown = path.display();
        let text = text_of(path)?;
        let label = match label {
            Some(label) => label.to_owned(),
            None => path.file_stem().map_or_else(
                || path.display().to_string(),
                |stem| stem.to_string_lossy().into_owned(),
            ),
        };
        let mut recording = Self {
            day: Day::of(&label),
            label,
            path: path.to_owned(),
            machine: String::new(),
            standings: Vec::new(),
            figures: 0,
        };
        let mut groups = Groups::default();
        for (place, line) in text.lines().enumerate() {
            if !line.trim().is_empty() {
                recording
                    .add(line, &mut groups)
                    .map_err(|error| error.context(format!("{shown}, line {}", place + 1)))?;
            }
        }
        ensure!(
            recording.figures > 0,
            "{shown} has no figures: the session that was to write it may have been ended by force"
        );
        recording.standings = groups.into_standings();
        Ok(recording)
    }

    /// Takes in one line.
    fn add(&mut self, text: &str, groups: &mut Groups) -> Result<()> {
        if self.figures == 0 && text.starts_with("experiment,") {
            bail!("this is CSV; the report reads what --json and --keep write");
        }
        let line: Line = match serde_json::from_str(text) {
            Ok(line) => line,
            Err(error) => bail!("not a figure: {}", without_place(&error)),
        };
        line.check()?;
        if self.figures == 0 {
            self.machine.clone_from(&line.machine);
        }
        ensure!(
            line.machine == self.machine,
            "the machine is another than in the lines before: a file holds one session, so keep sessions apart"
        );
        self.figures += 1;
        groups.add(line)
    }

    /// The figures of `variant` of `experiment`, if there are any.
    #[must_use]
    pub(in crate::lab) fn of_variant(&self, experiment: &str, variant: &str) -> Option<&Standings> {
        self.standings
            .iter()
            .find(|standings| standings.experiment == experiment && standings.variant == variant)
    }
}

impl Line {
    fn check(&self) -> Result<()> {
        for (what, text) in [
            ("experiment", &self.experiment),
            ("variant", &self.variant),
            ("contender", &self.contender),
            ("version", &self.version),
            ("metric", &self.metric),
            ("unit", &self.unit),
            ("machine", &self.machine),
        ] {
            ensure!(
                !text.chars().any(char::is_control),
                "there is a control character in its {what}"
            );
            ensure!(
                text.chars().take(LONGEST_NAME + 1).count() <= LONGEST_NAME,
                "its {what} is longer than {LONGEST_NAME} characters"
            );
            ensure!(
                !text.trim().is_empty() || what == "version" || what == "unit",
                "its {what} is empty"
            );
        }
        ensure!(
            self.verified,
            "its delivery was not verified, so it does not count"
        );
        ensure!(self.runs > 0, "it comes from no run at all");
        ensure!(
            self.min >= 0.0 && self.min <= self.median && self.median <= self.max,
            "its median is not between its least and its greatest: {} [{}..{}]",
            self.median,
            self.min,
            self.max
        );
        ensure!(
            self.max <= GREATEST,
            "its greatest is beyond anything that can be measured: {}",
            self.max
        );
        Ok(())
    }
}

/// The figures read so far, in the order in which their variants and contenders appeared.
#[derive(Default)]
struct Groups {
    groups: Vec<Group>,
    seen: HashSet<[String; 4]>,
}

/// One variant's contenders.
struct Group {
    experiment: String,
    variant: String,
    rows: Vec<Row>,
}

impl Groups {
    fn add(&mut self, line: Line) -> Result<()> {
        let key = [
            line.experiment.clone(),
            line.variant.clone(),
            line.contender.clone(),
            line.metric.clone(),
        ];
        ensure!(
            self.seen.insert(key),
            "{} of {} in {} {} is there already: a file holds one session, so keep sessions apart",
            line.metric,
            line.contender,
            line.experiment,
            line.variant
        );
        let known = self
            .groups
            .iter()
            .position(|group| group.experiment == line.experiment && group.variant == line.variant);
        let place = known.unwrap_or_else(|| {
            self.groups.push(Group {
                experiment: line.experiment,
                variant: line.variant,
                rows: Vec::new(),
            });
            self.groups.len() - 1
        });
        let rows = &mut self.groups[place].rows;
        let known = rows.iter().position(|row| row.contender == line.contender);
        let place = known.unwrap_or_else(|| {
            rows.push(Row {
                contender: line.contender,
                version: line.version.clone(),
                ours: line.ours,
                state: State::Ranked,
                figures: Vec::new(),
                note: None,
            });
            rows.len() - 1
        });
        let row = &mut rows[place];
        ensure!(
            row.version == line.version && row.ours == line.ours,
            "{} has another version or another owner than in the lines before",
            row.contender
        );
        let summary = Summary {
            median: line.median,
            min: line.min,
            max: line.max,
            runs: line.runs,
        };
        row.figures
            .push(Figure::new(&line.metric, &line.unit, summary));
        Ok(())
    }

    fn into_standings(self) -> Vec<Standings> {
        self.groups
            .into_iter()
            .map(|mut group| {
                for row in &mut group.rows {
                    row.state = State::of_measured(&row.figures);
                }
                Standings::of(group.experiment, group.variant, group.rows)
            })
            .collect()
    }
}

/// The text of the file `path`, if it is one that could hold results.
fn text_of(path: &Path) -> Result<String> {
    let shown = path.display();
    let mut text = Vec::new();
    let file = File::open(path).with_context(|| format!("{shown} cannot be read"))?;
    // One byte more tells a file that is too large from one that is not.
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut text)
        .with_context(|| format!("{shown} cannot be read"))?;
    ensure!(
        text.len() as u64 <= LARGEST_FILE,
        "{shown} is larger than {} MiB: it cannot be a results file",
        LARGEST_FILE >> 20
    );
    String::from_utf8(text).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow::anyhow!("{shown}, line {line}: not a figure: the text is not UTF-8")
    })
}

/// What serde_json says, without its own count of lines: each line is parsed alone.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(what) if error.column() > 0 => format!("{what} at column {}", error.column()),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Day, Recording};
    use crate::lab::results::ResultsFile;
    use crate::lab::results::json::Json;
    use crate::lab::standings::samples::standings;
    use crate::lab::standings::{Standings, State};

    /// A good line, in which a test may replace something.
    const LINE: &str = r#"{"experiment":"handover","variant":"1000/free","contender":"slot","version":"0.1.0","ours":true,"metric":"ns_per_op","unit":"ns","median":180.0,"min":170.5,"max":199.0,"runs":3,"verified":true,"machine":"a machine"}"#;

    fn read(text: impl AsRef<[u8]>) -> Result<Recording, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("2026-11-21.jsonl");
        fs::write(&path, text).unwrap();
        Recording::read(&path, None).map_err(|error| {
            format!("{error:#}").replace(&folder.path().display().to_string(), "FOLDER")
        })
    }

    #[test]
    fn what_a_session_writes_is_read_back() {
        let written = standings(
            "handover",
            "1000/2cores",
            &[
                (
                    "+slot",
                    Ok(&[
                        &[("ns_per_op", 180.0), ("cpu_ns_per_op", 360.0)],
                        &[("ns_per_op", 170.5), ("cpu_ns_per_op", 361.0)],
                    ]),
                    None,
                ),
                (
                    "+mutex-published",
                    Ok(&[&[("ns_per_op", 25.0), ("handovers_per_op", 0.1)]]),
                    None,
                ),
                ("kanal", Ok(&[&[("ns_per_op", 150.0)]]), None),
            ],
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.jsonl");
        ResultsFile::open(&path, &Json)
            .unwrap()
            .write(&[Recording::taken("a machine".to_owned(), vec![written])])
            .unwrap();
        let recording = Recording::read(&path, Some("before")).unwrap();
        assert_eq!(
            (
                recording.label.as_str(),
                recording.machine.as_str(),
                recording.figures
            ),
            ("before", "a machine", 5)
        );
        let found = recording.of_variant("handover", "1000/2cores").unwrap();
        let rows: Vec<(&str, &State, bool)> = found
            .rows
            .iter()
            .map(|row| (row.contender.as_str(), &row.state, row.ours))
            .collect();
        assert_eq!(
            rows,
            [
                ("kanal", &State::Ranked, false),
                ("slot", &State::Ranked, true),
                ("mutex-published", &State::Unranked, true)
            ]
        );
        let slot = found.rows[1].summary("ns_per_op").unwrap();
        assert_eq!(
            (slot.median, slot.min, slot.max, slot.runs),
            (175.25, 170.5, 180.0, 2)
        );
        assert_eq!(found.primary.as_deref(), Some("ns_per_op"));
        let names = |standings: &[Standings]| standings.len();
        assert_eq!(names(&recording.standings), 1);
    }

    #[test]
    fn an_error_names_the_file_the_line_and_what_is_wrong() {
        let second = |from: &str, to: &str| {
            let changed = LINE.replacen(from, to, 1);
            assert_ne!(changed, LINE);
            read(format!("{LINE}\n\n{changed}\n")).unwrap_err()
        };
        for (from, to, wrong) in [
            ("\"runs\":3,", "", "not a figure: missing field `runs`"),
            ("180.0", "\"fast\"", "not a figure: invalid type: string"),
            ("180.0", "1e999", "not a figure: number out of range"),
            ("180.0", "200.0", "its median is not between"),
            (
                "\"min\":170.5",
                "\"min\":-1.0",
                "its median is not between its least and its greatest: 180 [-1..199]",
            ),
            (
                "\"max\":199.0",
                "\"max\":1e30",
                "its greatest is beyond anything",
            ),
            ("\"runs\":3", "\"runs\":0", "it comes from no run at all"),
            ("true,\"machine", "false,\"machine", "was not verified"),
            ("a machine", "another machine", "the machine is another"),
            (
                "slot",
                "sl\\u0000ot",
                "a control character in its contender",
            ),
            ("slot", " ", "its contender is empty"),
            ("\"0.1.0\"", "\"0.2.0\"", "is there already"),
            (
                "ns_per_op\",\"unit",
                "max_ns\",\"unut",
                "missing field `unit`",
            ),
        ] {
            let error = second(from, to);
            assert!(
                error.starts_with("FOLDER/2026-11-21.jsonl, line 3: ") && error.contains(wrong),
                "{to}: {error}"
            );
        }
        let other_version = LINE
            .replace("ns_per_op", "max_ns")
            .replace("0.1.0", "0.2.0");
        assert!(
            read(format!("{LINE}\n{other_version}"))
                .unwrap_err()
                .contains("line 2: slot has another version")
        );
        let long = LINE.replace("slot", &"s".repeat(401));
        assert!(read(long).unwrap_err().contains("longer than 400"));
    }

    #[test]
    fn files_of_another_kind_are_told_apart() {
        assert!(read("").unwrap_err().contains("has no figures"));
        assert!(
            read("experiment,variant,contender\n")
                .unwrap_err()
                .contains("line 1: this is CSV")
        );
        let mut text = format!("{LINE}\n").into_bytes();
        text.push(0xff);
        assert_eq!(
            read(text).unwrap_err(),
            "FOLDER/2026-11-21.jsonl, line 2: not a figure: the text is not UTF-8"
        );
        assert!(read("[1]").unwrap_err().contains("line 1: not a figure"));
        assert!(read(LINE.trim_end_matches('}')).is_err());
    }

    #[test]
    fn fields_of_later_versions_are_no_error() {
        let later = LINE.replacen('{', "{\"temperature\":41,", 1);
        assert_eq!(read(later).unwrap().figures, 1);
    }

    #[test]
    fn names_that_begin_with_a_date_are_in_the_order_of_the_dates() {
        let mut labels = [
            "2026-11-21-10",
            "2026-11-21",
            "2026-12-01",
            "2026-11-21-2",
            "2025-12-31-after",
        ];
        labels.sort_by_key(|label| Day::of(label).unwrap());
        assert_eq!(
            labels,
            [
                "2025-12-31-after",
                "2026-11-21",
                "2026-11-21-2",
                "2026-11-21-10",
                "2026-12-01"
            ]
        );
        for label in [
            "",
            "out",
            "2026-13-01",
            "2026-11-211",
            "2026-11-2é",
            "äöüäöüä",
        ] {
            assert_eq!(Day::of(label), None, "{label}");
        }
    }
}
