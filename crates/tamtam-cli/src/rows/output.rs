//! Converting a file into another one, which appears when it is complete.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use tamtam_rows::encoding::{JsonObjects, Parquet, ParquetWriter, Text};
use tamtam_rows::packed::{Mode, Writer};
use tamtam_rows::{Encoding, Rows, Schema};
use tempfile::{Builder, TempPath};

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
    let cannot = || format!("cannot write {}", path.display());
    let unfinished = Unfinished::beside(place_of(path));
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
    unfinished.complete().with_context(cannot)?;
    Ok(rows)
}

/// Where a file is, or will be, that is written by this name: behind links.
fn place_of(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| match std::fs::read_link(path) {
        // What the link means is not there yet.
        Ok(meant) => folder_of(path).join(meant),
        Err(_) => path.to_owned(),
    })
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A file that is not complete, and is taken away again unless it becomes so: also when a signal ends the program.
struct Unfinished {
    place: PathBuf,
    /// What there is of it, which is removed when it is dropped. The signal's thread holds the lock from then on until the process has ended, so
    /// that the file is neither made nor renamed behind it.
    part: Arc<Mutex<Option<TempPath>>>,
}

impl Unfinished {
    fn beside(place: PathBuf) -> Unfinished {
        Unfinished {
            place,
            part: Arc::default(),
        }
    }

    /// Makes it, by a name that is no other file's. Who may read and write it is as with the file in whose place it comes, or with any new one.
    fn create(&self) -> Result<File> {
        let part = Arc::clone(&self.part);
        ctrlc::set_handler(move || {
            let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
            drop(part.take());
            std::process::exit(130);
        })
        .context("signals cannot be handled")?;
        let mut prefix = OsString::from(".");
        prefix.push(self.place.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".part");
        let before = std::fs::metadata(&self.place).ok();
        let before = before.filter(Metadata::is_file);
        allow(&mut builder, before.as_ref());
        let mut part = self.lock();
        let (file, path) = builder.tempfile_in(folder_of(&self.place))?.into_parts();
        *part = Some(path);
        if let Some(before) = before {
            take_over(&file, &before)?;
        }
        Ok(file)
    }

    fn complete(&self) -> Result<()> {
        let mut part = self.lock();
        let path = part.take().context("it is not there any more")?;
        path.persist(&self.place).map_err(|failed| failed.error)?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<TempPath>> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        drop(self.lock().take());
    }
}

/// Lets those read and write a file that is made who may do so with the one before; without one, those who may with any new file.
#[cfg(unix)]
fn allow(builder: &mut Builder<'_, '_>, before: Option<&Metadata>) {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    const ANY_NEW_FILE: u32 = 0o666;
    let mode = before.map_or(ANY_NEW_FILE, |before| before.permissions().mode() & 0o777);
    builder.permissions(Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn allow(_: &mut Builder<'_, '_>, _: Option<&Metadata>) {}

/// Gives a file the owner of the one before, as far as this user may, and what that one allows.
#[cfg(unix)]
fn take_over(file: &File, before: &Metadata) -> Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let made = file.metadata()?;
    // Of what is allowed to others, the umask has taken some away.
    let mut mode = before.permissions().mode() & 0o777;
    if (made.uid(), made.gid()) != (before.uid(), before.gid())
        && fchown(file, Some(before.uid()), Some(before.gid())).is_err()
        && fchown(file, None, Some(before.gid())).is_err()
    {
        // Only root gives files away; one of several users of a folder keeps what is written there. Another group may do no more than others.
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    Ok(file.set_permissions(Permissions::from_mode(mode))?)
}

#[cfg(not(unix))]
fn take_over(_: &File, _: &Metadata) -> Result<()> {
    Ok(())
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
