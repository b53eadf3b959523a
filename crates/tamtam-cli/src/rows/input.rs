//! Bytes that can be read as often as wanted, decompressed on the way.

use std::fs::File;
use std::io::{BufReader, Read, Seek, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tamtam_rows::{CompressionKind, decompressor};

/// Bytes that can be read as often as wanted, decompressed on the way.
#[derive(Debug)]
pub(super) struct Input {
    /// For messages.
    pub(super) name: String,
    place: Place,
    by: CompressionKind,
}

#[derive(Debug)]
enum Place {
    Path(PathBuf),
    /// What can be read once only, in a file without a name, which goes when the program ends, however it does.
    Kept(File),
}

/// How much shows what a file is.
const SEEN_BYTES: u64 = 64 * 1024;

impl Input {
    /// A file, or standard input if it is `-`.
    ///
    /// # Errors
    /// If there is no such file, or what can be read once cannot be kept.
    pub(super) fn open(path: &Path) -> Result<Input> {
        let is_standard = path == Path::new("-");
        let name = if is_standard {
            "standard input".to_owned()
        } else {
            path.display().to_string()
        };
        let cannot = || format!("cannot read {name}");
        let place = if is_standard {
            keep(stdin().lock()).with_context(cannot)?
        } else {
            let file = File::open(path).with_context(cannot)?;
            if file.metadata().with_context(cannot)?.is_file() {
                Place::Path(path.to_owned())
            } else {
                keep(file).with_context(cannot)?
            }
        };
        let mut input = Input {
            name: name.clone(),
            place,
            by: CompressionKind::None,
        };
        let beginning = input.take(4).with_context(cannot)?;
        input.by = match beginning.as_slice() {
            [0x1f, 0x8b, ..] => CompressionKind::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => CompressionKind::Zstd,
            _ => CompressionKind::None,
        };
        Ok(input)
    }

    /// From its beginning. One reader at a time.
    pub(super) fn read(&self) -> Result<Box<dyn Read>> {
        let file = self.file()?;
        Ok(if self.by == CompressionKind::None {
            Box::new(BufReader::new(file))
        } else {
            decompressor(self.by, BufReader::new(file))?
        })
    }

    /// Its first bytes.
    pub(super) fn beginning(&self) -> Result<Vec<u8>> {
        self.take(SEEN_BYTES)
    }

    fn take(&self, bytes: u64) -> Result<Vec<u8>> {
        let mut beginning = Vec::new();
        self.read()?.take(bytes).read_to_end(&mut beginning)?;
        Ok(beginning)
    }

    /// A file with what it holds, where one can be read anywhere in it.
    pub(super) fn seekable(&self) -> Result<File> {
        if self.by == CompressionKind::None {
            return self.file();
        }
        match keep(self.read()?)? {
            Place::Kept(mut file) => {
                file.rewind()?;
                Ok(file)
            }
            Place::Path(path) => Ok(File::open(path)?),
        }
    }

    fn file(&self) -> Result<File> {
        Ok(match &self.place {
            Place::Path(path) => File::open(path)?,
            Place::Kept(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                file
            }
        })
    }
}

fn keep(mut source: impl Read) -> Result<Place> {
    let mut file = tempfile::tempfile().context("there is no place for a file in between")?;
    std::io::copy(&mut source, &mut file)?;
    Ok(Place::Kept(file))
}
