//! The figures for programs: JSON lines and CSV, one line for each metric of each contender in each variant.

pub(in crate::lab) mod table;
pub(in crate::lab) mod terminal;

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::lab::standings::Standings;

/// One figure, as it is written: every field always.
#[derive(Debug, Serialize)]
pub(in crate::lab) struct Line<'a> {
    experiment: &'a str,
    variant: &'a str,
    contender: &'a str,
    version: &'a str,
    ours: bool,
    metric: &'a str,
    unit: &'a str,
    median: f64,
    min: f64,
    max: f64,
    runs: usize,
    /// Always true: a figure whose delivery was not verified is not written.
    verified: bool,
    machine: &'a str,
}

/// The lines of `standings`. Contenders that failed have no figures, so no lines.
pub(in crate::lab) fn lines<'a>(
    standings: &'a [Standings],
    machine: &'a str,
) -> impl Iterator<Item = Line<'a>> {
    standings.iter().flat_map(move |standings| {
        standings.rows.iter().flat_map(move |row| {
            row.figures.iter().map(move |figure| Line {
                experiment: &standings.experiment,
                variant: &standings.variant,
                contender: &row.contender,
                version: &row.version,
                ours: row.ours,
                metric: &figure.metric,
                unit: &figure.unit,
                median: figure.summary.median,
                min: figure.summary.min,
                max: figure.summary.max,
                runs: figure.summary.runs,
                verified: true,
                machine,
            })
        })
    })
}

/// How a results file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lab) enum Format {
    /// One JSON object a line.
    Json,
    /// Comma-separated values with a heading.
    Csv,
}

/// A results file, opened before anything is measured, so that a wrong name costs no time.
#[derive(Debug)]
pub(in crate::lab) struct ResultsFile {
    path: PathBuf,
    file: File,
    format: Format,
}

impl ResultsFile {
    /// Opens `path`, which keeps what it holds until [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(in crate::lab) fn open(path: &Path, format: Format) -> Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            format,
        })
    }

    /// Writes the lines of `standings` in place of what the file held.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(in crate::lab) fn write(self, standings: &[Standings], machine: &str) -> Result<()> {
        let Self { path, file, format } = self;
        let write = || -> Result<()> {
            // A device or a pipe has no length to set.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            let mut output = BufWriter::new(&file);
            match format {
                Format::Json => write_json(&mut output, lines(standings, machine))?,
                Format::Csv => write_csv(&mut output, lines(standings, machine))?,
            }
            Ok(output.flush()?)
        };
        write().with_context(|| format!("{} cannot be written", path.display()))
    }
}

fn write_json<'a>(output: &mut impl Write, lines: impl Iterator<Item = Line<'a>>) -> Result<()> {
    for line in lines {
        serde_json::to_writer(&mut *output, &line)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}

fn write_csv<'a>(output: &mut impl Write, lines: impl Iterator<Item = Line<'a>>) -> Result<()> {
    let mut writer = csv::Writer::from_writer(output);
    for line in lines {
        writer.serialize(line)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::{Format, ResultsFile, lines, write_csv, write_json};
    use crate::lab::standings::Standings;
    use crate::lab::standings::samples::standings;

    fn sample() -> [Standings; 1] {
        [standings(
            "handover",
            "1000/free",
            &[
                (
                    "+slot",
                    Ok(&[
                        &[("ns_per_op", 180.0)],
                        &[("ns_per_op", 170.5)],
                        &[("ns_per_op", 199.0)],
                    ]),
                    None,
                ),
                ("broken", Err("lost a message"), None),
                ("late", Ok(&[]), None),
            ],
        )]
    }

    #[test]
    fn a_json_line_has_the_fields_of_the_design_to_the_letter() {
        let mut output = Vec::new();
        write_json(&mut output, lines(&sample(), "A, \"quoted\" machine")).unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            concat!(
                r#"{"experiment":"handover","variant":"1000/free","contender":"slot","version":"1.2.3","ours":true,"#,
                r#""metric":"ns_per_op","unit":"ns","median":180.0,"min":170.5,"max":199.0,"runs":3,"verified":true,"#,
                r#""machine":"A, \"quoted\" machine"}"#,
                "\n"
            )
        );
    }

    #[test]
    fn csv_has_the_same_columns() {
        let mut output = Vec::new();
        write_csv(&mut output, lines(&sample(), "A, \"quoted\" machine")).unwrap();
        assert_eq!(
            String::from_utf8(output).unwrap(),
            concat!(
                "experiment,variant,contender,version,ours,metric,unit,median,min,max,runs,verified,machine\n",
                "handover,1000/free,slot,1.2.3,true,ns_per_op,ns,180.0,170.5,199.0,3,true,",
                "\"A, \"\"quoted\"\" machine\"\n"
            )
        );
    }

    #[test]
    fn a_file_keeps_what_it_holds_until_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        std::fs::write(&path, "older results, longer than the new ones".repeat(20)).unwrap();
        let file = ResultsFile::open(&path, Format::Json).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("older"));
        file.write(&sample(), "machine").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with('{') && text.ends_with("\"machine\":\"machine\"}\n"),
            "{text}"
        );
        let error = ResultsFile::open(folder.path(), Format::Csv).unwrap_err();
        assert!(error.to_string().ends_with("cannot be written"), "{error}");
    }
}
