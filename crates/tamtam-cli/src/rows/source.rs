use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tamtam_rows::encoding::{JsonReader, ParquetReader, Text, TextReader};
use tamtam_rows::packed::Reader;
use tamtam_rows::{Limits, Rows, RowsBuilder, Schema, infer};

use super::format::Format;
use crate::database::{Database, Taker, Url};

/// The beginning of a delimited text, which shows what stands between its fields.
const BEGINNING: u64 = 64 * 1024;

/// Where rows come from.
#[derive(Debug)]
pub(super) enum Source {
    File(PathBuf, Format),
    Query(Url, String),
}

impl Source {
    /// # Errors
    /// If there is no such file, or its name says not what it is.
    pub(super) fn file(path: &Path) -> Result<Source> {
        let format = Format::of(path)?;
        File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Source::File(path.to_owned(), format))
    }

    pub(super) fn query(url: &str, query: &str) -> Result<Source> {
        Ok(Source::Query(Url::parse(url)?, query.to_owned()))
    }

    /// Gives all rows away, a part at a time, until the taker has enough.
    ///
    /// # Errors
    /// If what is read is damaged, or the taker fails.
    pub(super) fn stream(&self, taker: &mut dyn Taker) -> Result<()> {
        let result = match self {
            Source::Query(url, query) => Database::open(url)?.stream(query, None, taker),
            Source::File(path, format) => file(path, *format, taker)
                .with_context(|| format!("cannot read {}", path.display())),
        };
        match result {
            Err(error) if error.is::<Enough>() || error.root_cause().is::<Enough>() => Ok(()),
            other => other,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::File(path, _) => path.display().fmt(f),
            Source::Query(_, query) => f.write_str(query),
        }
    }
}

fn file(path: &Path, format: Format, taker: &mut dyn Taker) -> Result<()> {
    // It is the user's own file; how much of it is in memory at a time is what the readers see to.
    let limits = Limits::NONE;
    match format {
        Format::Text(delimiter) => {
            let delimiter = match delimiter {
                Some(delimiter) => delimiter,
                None => {
                    let mut beginning = Vec::new();
                    File::open(path)?
                        .take(BEGINNING)
                        .read_to_end(&mut beginning)?;
                    infer::delimiter(&beginning)
                }
            };
            let form = Text {
                delimiter,
                ..Text::HEADED
            };
            let schema = infer::text(BufReader::new(File::open(path)?), form, &limits)?;
            taker.begin(&schema)?;
            let mut reader =
                TextReader::new(BufReader::new(File::open(path)?), form, &schema, limits)?;
            while let Some(part) = reader.next_chunk()? {
                taker.take(part)?;
            }
        }
        Format::Json | Format::JsonLines => {
            let schema = infer::json_parts(File::open(path)?, &limits)?;
            taker.begin(&schema)?;
            let mut reader = JsonReader::new(File::open(path)?, &schema, limits)?;
            while let Some(part) = reader.next_chunk()? {
                taker.take(part)?;
            }
        }
        Format::Parquet => {
            let mut reader = ParquetReader::open(path, Limits::default())?;
            taker.begin(reader.schema())?;
            while let Some(part) = reader.next_part()? {
                taker.take(part)?;
            }
        }
        Format::Packed => {
            let limits = Limits {
                rows: u64::MAX,
                ..Limits::default()
            };
            let mut reader = Reader::new(BufReader::new(File::open(path)?), limits)?;
            taker.begin(reader.schema())?;
            while let Some(part) = reader.next_chunk()? {
                taker.take(part)?;
            }
        }
    }
    Ok(())
}

/// Not an error: no more rows are wanted.
#[derive(Debug)]
struct Enough;

impl fmt::Display for Enough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no more rows are wanted")
    }
}

impl std::error::Error for Enough {}

/// The first rows of a source, in memory.
#[derive(Debug)]
pub(super) struct First {
    most: u64,
    kept: Option<RowsBuilder>,
    is_cut: bool,
}

impl First {
    pub(super) fn new(most: u64) -> First {
        First {
            most,
            kept: None,
            is_cut: false,
        }
    }

    /// Whether the source had more.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    pub(super) fn rows(self) -> Result<Rows> {
        match self.kept {
            Some(kept) => Ok(kept.finish()),
            None => bail!("there are no columns"),
        }
    }
}

impl Taker for First {
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        self.kept = Some(RowsBuilder::new(schema.clone()));
        Ok(())
    }

    fn take(&mut self, part: Rows) -> Result<()> {
        let kept = self
            .kept
            .as_mut()
            .context("rows come behind their columns")?;
        let columns = part.schema().len();
        for row in 0..part.len() {
            if kept.len() as u64 == self.most {
                self.is_cut = true;
                return Err(Enough.into());
            }
            kept.push((0..columns).map(|column| part.value(row, column)))?;
        }
        Ok(())
    }
}
