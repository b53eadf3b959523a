//! Where rows come from: files of every form.

use std::cell::RefCell;
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use tamtam_rows::encoding::{JsonReader, ParquetReader, Text, TextReader};
use tamtam_rows::infer::{About, Options, Remark};
use tamtam_rows::packed::Reader;
use tamtam_rows::{Limits, NullTexts, Rows, RowsBuilder, Schema, infer};

use super::arguments::ReadArguments;
use super::format::Format;
use super::input::Input;
use crate::database::{Database, Taker, Url};
use crate::nearest::nearest;

/// Where rows come from.
#[derive(Debug)]
pub(super) struct Source {
    from: From,
    /// What is worth a word about the types that were found.
    remarks: RefCell<Vec<Remark>>,
}

#[derive(Debug)]
enum From {
    File(Input, Format, ReadArguments),
    Query(Url, String),
}

impl Source {
    /// # Errors
    /// If there is no such file, or its name says not what it is.
    pub(super) fn file(path: &Path, reading: &ReadArguments) -> Result<Source> {
        if !path.exists() && path != Path::new("-") {
            let word = path.to_string_lossy();
            if let [action, ..] = nearest(&word, ["show", "convert"]).as_slice() {
                bail!("there is no file {word}; did you mean `tamtam rows {action}`?");
            }
        }
        // A pipe has no name that says what it is.
        let is_file = |path: &Path| path.metadata().map_or(true, |metadata| metadata.is_file());
        let by_name = match reading.from {
            Some(format) => Some(format),
            None if path == Path::new("-") || !is_file(path) => Format::of(path).ok(),
            None => Some(Format::of(path)?),
        };
        let input = Input::open(path)?;
        let format = match by_name {
            Some(format) => format,
            None => {
                let beginning = input.beginning();
                Format::shown_by(&beginning.with_context(|| cannot_read(&input))?)
            }
        };
        Ok(Source::new(From::File(input, format, reading.clone())))
    }

    pub(super) fn query(url: &str, query: &str) -> Result<Source> {
        Ok(Source::new(From::Query(Url::parse(url)?, query.to_owned())))
    }

    fn new(from: From) -> Source {
        Source {
            from,
            remarks: RefCell::default(),
        }
    }

    /// Gives rows away, a part at a time, until the taker has enough. Types are found by so many rows at least: the taker
    /// wants no more.
    ///
    /// # Errors
    /// If what is read is damaged, or the taker fails.
    pub(super) fn stream(&self, taker: &mut dyn Taker, rows: u64) -> Result<()> {
        let mut taken = Taken {
            taker,
            failure: None,
        };
        let result = match &self.from {
            From::Query(url, query) => Database::open(url)?.stream(query, None, &mut taken),
            From::File(input, format, reading) => {
                self.read(input, *format, reading, rows, &mut taken)
            }
        };
        match (taken.failure, result) {
            // The taker's own failure says what it is about.
            (Some(error), _) if error.is::<Enough>() => Ok(()),
            (Some(error), _) => Err(error),
            (None, result) => match &self.from {
                From::File(input, ..) => result.with_context(|| cannot_read(input)),
                From::Query(..) => result,
            },
        }
    }

    fn read(
        &self,
        input: &Input,
        format: Format,
        reading: &ReadArguments,
        rows: u64,
        taker: &mut dyn Taker,
    ) -> Result<()> {
        let nulls = reading.null.as_ref();
        let options = Options {
            nulls: nulls.map_or_else(NullTexts::default, |texts| {
                NullTexts::of(texts.iter().cloned())
            }),
            types: reading.types.clone(),
            rows,
            // It is the user's own file; how much of it is in memory at a time is what the readers see to.
            limits: Limits::NONE,
        };
        let is_typed = matches!(format, Format::Parquet | Format::Packed);
        if is_typed && (reading.null.is_some() || !reading.types.is_empty()) {
            bail!(
                "its columns have types already: --null and --type are for delimited text and JSON"
            );
        }
        match format {
            Format::Text(delimiter) => {
                let delimiter = match delimiter {
                    Some(delimiter) => delimiter,
                    None => infer::delimiter(&input.beginning()?),
                };
                let form = Text {
                    delimiter,
                    ..Text::HEADED
                };
                let found = options.text(input.read()?, form)?;
                *self.remarks.borrow_mut() = found.remarks;
                taker.begin(&found.schema)?;
                let reader = TextReader::new(input.read()?, form, &found.schema, options.limits)?;
                let mut reader = reader.with_nulls(options.nulls);
                while let Some(part) = reader.next_chunk()? {
                    taker.take(part)?;
                }
            }
            Format::Json | Format::JsonLines => {
                let found = options.json(input.read()?)?;
                *self.remarks.borrow_mut() = found.remarks;
                taker.begin(&found.schema)?;
                let reader = JsonReader::new(input.read()?, &found.schema, options.limits)?;
                let mut reader = reader.with_nulls(options.nulls);
                while let Some(part) = reader.next_chunk()? {
                    taker.take(part)?;
                }
            }
            Format::Parquet => {
                let mut reader = ParquetReader::of_file(input.seekable()?, own_limits())?;
                taker.begin(reader.schema())?;
                while let Some(part) = reader.next_part()? {
                    taker.take(part)?;
                }
            }
            Format::Packed => {
                let mut reader = Reader::new(input.read()?, own_limits())?;
                taker.begin(reader.schema())?;
                while let Some(part) = reader.next_chunk()? {
                    taker.take(part)?;
                }
            }
        }
        Ok(())
    }

    /// What is to be said of the types that were found, a line each.
    pub(super) fn notes(&self) -> Vec<String> {
        /// More than these are counted.
        const MOST_NAMED: usize = 12;
        let remarks = self.remarks.borrow();
        let (nulls, others): (Vec<&Remark>, Vec<&Remark>) = remarks
            .iter()
            .partition(|remark| matches!(remark.about, About::ReadAsNull(_)));
        let mut notes = Vec::new();
        if let Some(first) = nulls.first() {
            let mut texts: Vec<&str> = Vec::new();
            for text in nulls.iter().flat_map(|remark| &remark.examples) {
                if !texts.contains(&text.as_str()) {
                    texts.push(text);
                }
            }
            let more = match nulls.len() - 1 {
                0 => String::new(),
                1 => " and one other column".to_owned(),
                more => format!(" and {more} other columns"),
            };
            notes.push(format!(
                "{} read as null in column {:?}{more}; --null says which texts are",
                texts.join(", "),
                first.column,
            ));
        }
        notes.extend(others.iter().take(MOST_NAMED).map(|remark| {
            let help = match remark.about {
                About::NotNumbers(_) | About::KeptAsText => "; --null would make them null",
                _ => "; --type says otherwise",
            };
            format!("{remark}{help}")
        }));
        if others.len() > MOST_NAMED {
            notes.push(format!("and {} more of such", others.len() - MOST_NAMED));
        }
        notes
    }
}

fn cannot_read(input: &Input) -> String {
    format!("cannot read {}", input.name)
}

/// For files of the user's own: what a chunk may take is half of the machine's memory.
fn own_limits() -> Limits {
    #[cfg(target_os = "linux")]
    let memory = {
        let system = rustix::system::sysinfo();
        system.totalram as u64 * u64::from(system.mem_unit)
    };
    #[cfg(not(target_os = "linux"))]
    let memory = 4 << 30;
    Limits {
        bytes: memory / 2,
        rows: u64::MAX,
        columns: usize::MAX,
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            From::File(input, ..) => f.write_str(&input.name),
            From::Query(_, query) => f.write_str(query),
        }
    }
}

/// A taker whose failure is told from that of what is read.
struct Taken<'t> {
    taker: &'t mut dyn Taker,
    failure: Option<anyhow::Error>,
}

impl Taken<'_> {
    fn keep(&mut self, result: Result<()>) -> Result<()> {
        result.map_err(|error| {
            self.failure = Some(error);
            anyhow!("the rows are not taken")
        })
    }
}

impl Taker for Taken<'_> {
    fn begin(&mut self, schema: &Schema) -> Result<()> {
        let result = self.taker.begin(schema);
        self.keep(result)
    }

    fn take(&mut self, part: Rows) -> Result<()> {
        let result = self.taker.take(part);
        self.keep(result)
    }
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
