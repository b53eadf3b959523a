//! A packed table read chunk by chunk from a stream.

use std::io::Read;
use std::ops::Range;

use super::bytes::{FORM, Input, Result};
use super::column;
use super::layout::{CHECKSUM, MAGIC, ROWS_PER_CHUNK, VERSION, checksum, read_schema};
use crate::{DecodeError, Field, Limits, Rows, Schema};

/// Reads a table chunk by chunk, with memory for one of them.
///
/// # Examples
///
/// ```
/// use tamtam_rows::packed::{self, Mode, Reader};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U32)])?;
/// let rows = Rows::new(schema, [Column::from((0..100_000_u32).collect::<Vec<_>>())])?;
/// let mut bytes = Vec::new();
/// packed::encode(&rows, Mode::Packed, &mut bytes)?;
///
/// let mut reader = Reader::new(bytes.as_slice(), Limits::default())?; // of a file, or a socket
/// let mut rows = 0;
/// while let Some(chunk) = reader.next_chunk()? {
///     rows += chunk.len(); // of 65,536 rows at most
/// }
/// assert_eq!(rows, 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Reader<R> {
    chunks: Chunks<Streamed<R>>,
}

impl<R: Read> Reader<R> {
    /// Reads the schema. The limit on bytes is one on each chunk; that on rows is one on all.
    ///
    /// # Errors
    /// If reading fails, or this is no table in the packed encoding.
    pub fn new(from: R, limits: Limits) -> Result<Reader<R>> {
        let source = Streamed {
            from,
            buffer: Vec::new(),
            position: 0,
        };
        Ok(Reader {
            chunks: Chunks::new(source, limits)?,
        })
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.chunks.schema
    }

    /// The next rows, or `None` at the end.
    ///
    /// # Errors
    /// If reading fails, or the chunk is damaged, exceeds the limits, or is missing. After an error the reader is of
    /// no further use.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>> {
        self.chunks.next(&mut |_, _| ())
    }

    /// How many bytes were read.
    pub fn position(&self) -> u64 {
        self.chunks.source.position()
    }

    /// Gives back what was read from.
    pub fn into_inner(self) -> R {
        self.chunks.source.from
    }
}

/// Where the bytes of a table come from.
pub(super) trait Source {
    /// The next bytes, as many as asked for.
    fn take(&mut self, count: u64, what: &'static str) -> Result<&[u8]>;
    /// How many were taken.
    fn position(&self) -> u64;
}

/// Bytes in memory are not copied.
#[derive(Debug)]
pub(super) struct InMemory<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) position: usize,
}

impl InMemory<'_> {
    /// The table must be all that there is.
    pub(super) fn expect_end(&self) -> Result<()> {
        match self.bytes.len() - self.position {
            0 => Ok(()),
            more => Err(DecodeError::Malformed {
                form: FORM,
                at: self.position as u64,
                reason: format!("{more} more bytes behind the end of the table"),
            }),
        }
    }
}

impl Source for InMemory<'_> {
    fn take(&mut self, count: u64, what: &'static str) -> Result<&[u8]> {
        let left = &self.bytes[self.position..];
        if count > left.len() as u64 {
            return Err(DecodeError::Truncated {
                form: FORM,
                what,
                at: self.bytes.len() as u64,
            });
        }
        self.position += count as usize;
        Ok(&left[..count as usize])
    }

    fn position(&self) -> u64 {
        self.position as u64
    }
}

#[derive(Debug)]
struct Streamed<R> {
    from: R,
    /// What was taken last.
    buffer: Vec<u8>,
    position: u64,
}

impl<R: Read> Source for Streamed<R> {
    fn take(&mut self, count: u64, what: &'static str) -> Result<&[u8]> {
        self.buffer.clear();
        // Memory grows only with what is really there.
        self.buffer.reserve(count.min(1 << 20) as usize);
        let found = self
            .from
            .by_ref()
            .take(count)
            .read_to_end(&mut self.buffer)? as u64;
        self.position += found;
        if found < count {
            return Err(DecodeError::Truncated {
                form: FORM,
                what,
                at: self.position,
            });
        }
        Ok(&self.buffer)
    }

    fn position(&self) -> u64 {
        self.position
    }
}

/// Reads a table from either.
#[derive(Debug)]
pub(super) struct Chunks<S> {
    pub(super) source: S,
    limits: Limits,
    pub(super) schema: Schema,
    progress: Progress,
}

/// How far a table was read.
#[derive(Debug, Default)]
struct Progress {
    rows: u64,
    chunks: u64,
    is_done: bool,
}

impl<S: Source> Chunks<S> {
    pub(super) fn new(mut source: S, limits: Limits) -> Result<Chunks<S>> {
        let magic = source.take(4, "the beginning")?;
        if magic[..3] != MAGIC {
            return Err(DecodeError::Malformed {
                form: FORM,
                at: 0,
                reason: format!(
                    "it begins with the bytes {:02x?}, not with {MAGIC:02x?}",
                    &magic[..3]
                ),
            });
        }
        if magic[3] != VERSION {
            return Err(DecodeError::Version {
                form: FORM,
                found: magic[3].into(),
                known: VERSION.into(),
            });
        }
        let (origin, body) = part(&mut source, &limits, || "the schema".into())?;
        let schema = read_schema(body, origin, &limits)?;
        Ok(Chunks {
            source,
            limits,
            schema,
            progress: Progress::default(),
        })
    }

    /// The next rows. `look` sees each column's input before and after it is read.
    pub(super) fn next(
        &mut self,
        look: &mut dyn FnMut(usize, &mut Input<'_>),
    ) -> Result<Option<Rows>> {
        let columns = self.schema.len();
        let Some((head, input)) = self
            .progress
            .open(&mut self.source, &self.limits, columns)?
        else {
            return Ok(None);
        };
        let mut columns = Vec::with_capacity(columns);
        each_column(input, &self.schema, |index, field, part| {
            look(index, part);
            columns.push(column::decode(
                part,
                field.kind(),
                field.is_nullable(),
                head.rows,
            )?);
            look(index, part);
            Ok(())
        })?;
        Ok(Some(Rows::new(self.schema.clone(), columns)?))
    }

    /// Where the columns of the next chunk lie, which were taken and are what was written; `None` at the end.
    pub(super) fn head(&mut self) -> Result<Option<Head>> {
        let columns = self.schema.len();
        let opened = self
            .progress
            .open(&mut self.source, &self.limits, columns)?;
        Ok(opened.map(|(head, _)| head))
    }
}

impl Progress {
    /// Takes the next chunk of so many columns, and says how many rows they have; `None` at the end.
    fn open<'s>(
        &mut self,
        source: &'s mut impl Source,
        limits: &Limits,
        columns: usize,
    ) -> Result<Option<(Head, Input<'s>)>> {
        if self.is_done {
            return Ok(None);
        }
        let number = self.chunks;
        let (origin, body) = part(source, limits, || format!("chunk {number}"))?;
        let mut input = Input::new(body, origin, limits);
        let count = input.varint("the number of rows of a chunk")?;
        if count == 0 {
            let all = input.varint("the number of all rows")?;
            if all != self.rows {
                return Err(input.malformed(format!(
                    "{} rows were read where {all} were written",
                    self.rows
                )));
            }
            if input.left() != 0 {
                return Err(input.malformed("more bytes behind the number of all rows"));
            }
            self.is_done = true;
            return Ok(None);
        }
        if count > ROWS_PER_CHUNK as u64 || columns == 0 {
            return Err(input.malformed(format!("a chunk of {count} rows")));
        }
        let rows = self.rows + count;
        if rows > limits.rows {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "rows",
                declared: rows,
                limit: limits.rows,
            });
        }
        self.rows = rows;
        self.chunks += 1;
        let head = Head {
            number,
            rows: count as usize,
            columns: input.position()..origin + body.len() as u64,
        };
        Ok(Some((head, input)))
    }
}

/// What is known of a chunk before its columns are looked at.
#[derive(Debug)]
pub(super) struct Head {
    /// Which chunk it is, from 0.
    pub(super) number: u64,
    pub(super) rows: usize,
    /// Where in the stream its columns lie.
    pub(super) columns: Range<u64>,
}

/// The next part, which is what was written, and where in the stream it begins.
fn part<'s>(
    source: &'s mut impl Source,
    limits: &Limits,
    name: impl FnOnce() -> String,
) -> Result<(u64, &'s [u8])> {
    let length = read_varint(source, "the length of a part")?;
    within(length, limits)?;
    let expected = source.take(CHECKSUM as u64, "the checksum of a part")?;
    let expected = u32::from_le_bytes(expected.try_into().expect("4 bytes"));
    let origin = source.position();
    let body = source.take(length, "a part")?;
    check(body, expected, origin, name)?;
    Ok((origin, body))
}

/// Divides the body of a chunk. Each column's part must be read to its end.
pub(super) fn each_column<'a>(
    mut input: Input<'a>,
    schema: &Schema,
    mut read: impl FnMut(usize, &Field, &mut Input<'a>) -> Result<()>,
) -> Result<()> {
    for (index, field) in schema.fields().iter().enumerate() {
        let length = input.count(input.left(), "the length of a column")?;
        let mut part = input.part(length, "a column")?;
        read(index, field, &mut part)?;
        if part.left() != 0 {
            return Err(part.malformed(format!(
                "{} more bytes behind the column {:?}",
                part.left(),
                field.name()
            )));
        }
        input.budget = part.budget;
    }
    if input.left() != 0 {
        return Err(input.malformed("more bytes behind the last column"));
    }
    Ok(())
}

/// A body is no larger than what it becomes, but for heads and padding.
fn within(length: u64, limits: &Limits) -> Result<()> {
    let most = limits.bytes.saturating_add(1 << 20);
    if length > most {
        return Err(DecodeError::Limit {
            form: FORM,
            what: "bytes",
            declared: length,
            limit: limits.bytes,
        });
    }
    Ok(())
}

fn check(body: &[u8], expected: u32, at: u64, what: impl FnOnce() -> String) -> Result<()> {
    let found = checksum(body);
    if expected == found {
        return Ok(());
    }
    Err(DecodeError::Checksum {
        form: FORM,
        what: what(),
        at,
        expected,
        found,
    })
}

fn read_varint(source: &mut impl Source, what: &'static str) -> Result<u64> {
    let start = source.position();
    let mut bytes = [0; 10];
    for count in 1..=bytes.len() {
        bytes[count - 1] = source.take(1, what)?[0];
        if bytes[count - 1] < 0x80 || count == bytes.len() {
            return Input::new(&bytes[..count], start, &Limits::default()).varint(what);
        }
    }
    unreachable!("the tenth byte ends it");
}

/// The table in these bytes, which must end with it.
///
/// # Errors
/// If the bytes are not a table in the packed encoding, are damaged, or exceed the limits; that on bytes is one on the
/// whole table.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Rows> {
    let mut chunks = Chunks::new(InMemory { bytes, position: 0 }, *limits)?;
    let mut all: Option<Rows> = None;
    let mut memory = 0;
    while let Some(rows) = chunks.next(&mut |_, _| ())? {
        memory += rows.memory() as u64;
        if memory > limits.bytes {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "bytes",
                declared: memory,
                limit: limits.bytes,
            });
        }
        match &mut all {
            None => all = Some(rows),
            Some(all) => all.append(&rows)?,
        }
    }
    chunks.source.expect_end()?;
    Ok(all.unwrap_or_else(|| Rows::empty(chunks.schema)))
}
