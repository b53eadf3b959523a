//! Converting a file into another one, which appears when it is complete.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tamtam_rows::encoding::{JsonObjects, Parquet, ParquetWriter, Text};
use tamtam_rows::packed::{Mode, Writer};
use tamtam_rows::{Encoding, Rows, Schema};

use super::format::Format;
use super::progress::{Counted, Progress};
use super::source::Source;
use crate::database::Taker;

/// Writes all rows of a source to a file, and returns how many there were. The file is there when it is complete: until
/// then it has another name, so that what fails leaves no half of one, and a file may be converted into itself.
///
/// # Errors
/// If the source cannot be read, the file cannot be written, or its form cannot carry a value.
pub(super) fn convert(source: &Source, path: &Path) -> Result<u64> {
    let format = Format::to_write(path)?;
    let unfinished = Unfinished::beside(path);
    let cannot = || format!("cannot write {}", path.display());
    let progress = Progress::new();
    let file = unfinished.create().with_context(cannot)?;
    let mut output = Output {
        path: path.to_owned(),
        format,
        state: State::Empty(progress.counted(BufWriter::new(file))),
        rows: 0,
        progress,
    };
    source.stream(&mut output, u64::MAX)?;
    let rows = output.finish().with_context(cannot)?;
    unfinished.complete(path).with_context(cannot)?;
    Ok(rows)
}

/// A file that is not complete, and is taken away again unless it becomes so: also when a signal ends the program.
struct Unfinished {
    part: PathBuf,
    /// Whether it is there. The signal's thread holds the lock from then on until the process has ended, so that the file is
    /// neither made nor renamed behind it.
    is_there: Arc<Mutex<bool>>,
}

impl Unfinished {
    fn beside(path: &Path) -> Unfinished {
        let mut name = OsString::from(".");
        name.push(path.file_name().unwrap_or_default());
        name.push(format!(".{}.part", std::process::id()));
        Unfinished {
            part: path.with_file_name(name),
            is_there: Arc::default(),
        }
    }

    fn create(&self) -> Result<File> {
        let (part, is_there) = (self.part.clone(), Arc::clone(&self.is_there));
        ctrlc::set_handler(move || {
            let is_there = is_there.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_there {
                let _ = std::fs::remove_file(&part);
            }
            std::process::exit(130);
        })
        .context("signals cannot be handled")?;
        let mut is_there = self.lock();
        let file = File::create(&self.part)?;
        *is_there = true;
        Ok(file)
    }

    fn complete(&self, path: &Path) -> Result<()> {
        let mut is_there = self.lock();
        std::fs::rename(&self.part, path)?;
        *is_there = false;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_there.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut is_there = self.lock();
        if std::mem::take(&mut *is_there) {
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

struct Output {
    path: PathBuf,
    format: Format,
    state: State,
    rows: u64,
    progress: Progress,
}

type Target = Counted<BufWriter<File>>;

enum State {
    Empty(Target),
    Packed(Writer<Target>),
    Text(Target, Text),
    JsonLines(Target),
    /// Whether an object was written.
    Json(Target, bool),
    Parquet(Box<ParquetWriter<Target>>),
    Failed,
}

impl Taker for Output {
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let State::Empty(mut file) = std::mem::replace(&mut self.state, State::Failed) else {
            anyhow::bail!("the columns come once");
        };
        self.state = match self.format {
            Format::Packed => State::Packed(Writer::new(file, schema, Mode::Packed)?),
            Format::Text(delimiter) => {
                let form = Text {
                    delimiter: delimiter.unwrap_or(b','),
                    ..Text::HEADED
                };
                let mut line = Vec::new();
                form.encode(&Rows::empty(schema.clone()), &mut line)?;
                file.write_all(&line)?;
                State::Text(
                    file,
                    Text {
                        header: false,
                        ..form
                    },
                )
            }
            Format::JsonLines => State::JsonLines(file),
            Format::Json => {
                file.write_all(b"[")?;
                State::Json(file, false)
            }
            Format::Parquet => {
                State::Parquet(Box::new(ParquetWriter::new(file, Parquet::ZSTD, schema)?))
            }
        };
        Ok(())
    }

    fn take(&mut self, part: Rows) -> Result<()> {
        self.rows += part.len() as u64;
        let path = &self.path;
        let cannot = || format!("cannot write {}", path.display());
        match &mut self.state {
            State::Packed(writer) => writer.write(&part).with_context(cannot)?,
            State::Text(file, form) => {
                let mut bytes = Vec::new();
                form.encode(&part, &mut bytes).with_context(cannot)?;
                file.write_all(&bytes).with_context(cannot)?;
            }
            State::Json(file, is_behind) => {
                let mut bytes = Vec::new();
                JsonObjects.encode(&part, &mut bytes).with_context(cannot)?;
                // The objects, without the brackets around them.
                let text = bytes.trim_ascii();
                let objects = text
                    .strip_prefix(b"[")
                    .and_then(|text| text.strip_suffix(b"]"))
                    .unwrap_or_default()
                    .trim_ascii();
                if *is_behind && !objects.is_empty() {
                    file.write_all(b",\n").with_context(cannot)?;
                }
                *is_behind |= !objects.is_empty();
                file.write_all(objects).with_context(cannot)?;
            }
            State::JsonLines(file) => {
                let mut line = Vec::new();
                for row in 0..part.len() {
                    line.clear();
                    let encoded = JsonObjects.encode(&part.part(row..row + 1), &mut line);
                    encoded.with_context(cannot)?;
                    // The object, without the brackets around it.
                    let object = line.get(1..line.len() - 1).unwrap_or_default();
                    file.write_all(object).with_context(cannot)?;
                    file.write_all(b"\n").with_context(cannot)?;
                }
            }
            State::Parquet(writer) => writer.write(&part).with_context(cannot)?,
            State::Empty(_) | State::Failed => anyhow::bail!("rows come behind their columns"),
        }
        self.progress.show(self.rows);
        Ok(())
    }
}

impl Output {
    fn finish(self) -> Result<u64> {
        match self.state {
            State::Packed(writer) => {
                writer.finish()?;
            }
            State::Text(mut file, _) | State::JsonLines(mut file) | State::Empty(mut file) => {
                file.flush()?;
            }
            State::Json(mut file, _) => {
                file.write_all(b"]\n")?;
                file.flush()?;
            }
            State::Parquet(writer) => writer.finish()?.flush()?,
            State::Failed => {}
        }
        Ok(self.rows)
    }
}
