//! Results: what was measured, and the forms that it takes for those who read it.
//!
//! A session is a [`Recording`](recording::Recording), also when it is read back from a file. A form is a file here that
//! implements [`Writer`]: figures for programs as JSON lines (`json`) and CSV (`csv`), tables for people on a terminal
//! (`terminal`) and as a page (`report`). What a table says is decided once (`table`), and so are the words beside it
//! (`remarks`).

pub(in crate::lab) mod csv;
pub(in crate::lab) mod json;
mod lines;
pub(in crate::lab) mod recording;
pub(in crate::lab) mod remarks;
pub(in crate::lab) mod table;
pub(in crate::lab) mod terminal;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::recording::Recording;

/// A form that results take.
pub(in crate::lab) trait Writer: fmt::Debug {
    /// Writes what these sessions, oldest first, have measured.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    fn write(&self, sessions: &[Recording], output: &mut dyn Write) -> Result<()>;
}

/// A results file, opened before anything is measured, so that a wrong name costs no time.
#[derive(Debug)]
pub(in crate::lab) struct ResultsFile {
    path: PathBuf,
    file: File,
    writer: &'static dyn Writer,
}

impl ResultsFile {
    /// Opens `path`, which keeps what it holds until [`write`](Self::write).
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub(in crate::lab) fn open(path: &Path, writer: &'static dyn Writer) -> Result<Self> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            writer,
        })
    }

    /// Writes these sessions in place of what the file held.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(in crate::lab) fn write(self, sessions: &[Recording]) -> Result<()> {
        let Self { path, file, writer } = self;
        let write = || -> Result<()> {
            // A device or a pipe has no length to set.
            if file.metadata()?.is_file() {
                file.set_len(0)?;
            }
            let mut output = BufWriter::new(&file);
            writer.write(sessions, &mut output)?;
            Ok(output.flush()?)
        };
        write().with_context(|| format!("{} cannot be written", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::csv::Csv;
    use super::json::Json;
    use super::recording::Recording;
    use super::{ResultsFile, Writer};
    use crate::lab::standings::samples::standings;

    fn sample(machine: &str) -> [Recording; 1] {
        let standings = standings(
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
        );
        [Recording::taken(machine.to_owned(), vec![standings])]
    }

    #[test]
    fn a_json_line_has_the_fields_of_the_design_to_the_letter() {
        let mut output = Vec::new();
        Json.write(&sample("A, \"quoted\" machine"), &mut output)
            .unwrap();
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
        Csv.write(&sample("A, \"quoted\" machine"), &mut output)
            .unwrap();
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
        let file = ResultsFile::open(&path, &Json).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("older"));
        file.write(&sample("machine")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with('{') && text.ends_with("\"machine\":\"machine\"}\n"),
            "{text}"
        );
        let error = ResultsFile::open(folder.path(), &Csv).unwrap_err();
        assert!(error.to_string().ends_with("cannot be written"), "{error}");
    }
}
