use std::io::Read;

use super::bytes::{FORM, Input, Result};
use super::column;
use super::layout::{HEAD, MAGIC, ROWS_PER_CHUNK, VERSION, checksum, read_schema};
use crate::{DecodeError, Limits, Rows, Schema};

/// Reads a table chunk by chunk, with memory for one of them.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    limits: Limits,
    schema: Schema,
    /// How many bytes were read.
    position: u64,
    rows: u64,
    chunks: u64,
    is_done: bool,
    /// One chunk.
    body: Vec<u8>,
}

impl<R: Read> Reader<R> {
    /// Reads the schema. The limit on bytes is one on each chunk; that on rows is one on all.
    ///
    /// # Errors
    /// If reading fails, or this is no table in the packed encoding.
    pub fn new(mut from: R, limits: Limits) -> Result<Reader<R>> {
        let mut position = 0;
        let mut magic = [0; 4];
        read(&mut from, &mut magic, &mut position, "the beginning")?;
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
        let length = read_varint(&mut from, &mut position, "the length of the schema")?;
        within(length, &limits)?;
        let mut expected = [0; 4];
        read(
            &mut from,
            &mut expected,
            &mut position,
            "the checksum of the schema",
        )?;
        let mut body = Vec::new();
        let origin = position;
        read_body(&mut from, length, &mut body, &mut position, "the schema")?;
        check(&body, expected, origin, || "the schema".into())?;
        let schema = read_schema(&body, origin, &limits)?;
        Ok(Reader {
            from,
            limits,
            schema,
            position,
            rows: 0,
            chunks: 0,
            is_done: false,
            body,
        })
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The next rows, or `None` at the end.
    ///
    /// # Errors
    /// If reading fails, or the chunk is damaged, exceeds the limits, or is missing. After an error the reader is of
    /// no further use.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>> {
        self.chunk(&mut |_, _| ())
            .map(|chunk| chunk.map(|(rows, _)| rows))
    }

    /// Also shows each column's input after it was read, for those who want to know what was met there.
    pub(super) fn chunk(
        &mut self,
        look: &mut dyn FnMut(usize, &mut Input<'_>),
    ) -> Result<Option<(Rows, usize)>> {
        if self.is_done {
            return Ok(None);
        }
        let count = read_varint(
            &mut self.from,
            &mut self.position,
            "the number of rows of a chunk",
        )?;
        if count == 0 {
            let all = read_varint(&mut self.from, &mut self.position, "the number of all rows")?;
            if all != self.rows {
                return Err(self.malformed(format!(
                    "{} rows were read where {all} were written",
                    self.rows
                )));
            }
            self.is_done = true;
            return Ok(None);
        }
        if count > ROWS_PER_CHUNK as u64 || self.schema.is_empty() {
            return Err(self.malformed(format!("a chunk of {count} rows")));
        }
        let rows = self.rows + count;
        if rows > self.limits.rows {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "rows",
                declared: rows,
                limit: self.limits.rows,
            });
        }
        let mut head = [0; HEAD];
        read(
            &mut self.from,
            &mut head,
            &mut self.position,
            "the head of a chunk",
        )?;
        let length = u32::from_le_bytes(head[..4].try_into().expect("4 bytes"));
        within(length.into(), &self.limits)?;
        let origin = self.position;
        read_body(
            &mut self.from,
            length.into(),
            &mut self.body,
            &mut self.position,
            "a chunk",
        )?;
        let chunks = self.chunks;
        check(
            &self.body,
            head[4..].try_into().expect("4 bytes"),
            origin,
            || format!("chunk {chunks}"),
        )?;
        let rows_of_chunk = columns(
            &self.body,
            origin,
            &self.schema,
            count as usize,
            &self.limits,
            look,
        )?;
        self.rows = rows;
        self.chunks += 1;
        Ok(Some((rows_of_chunk, self.body.len())))
    }

    /// How many bytes were read.
    pub fn position(&self) -> u64 {
        self.position
    }

    fn malformed(&self, reason: String) -> DecodeError {
        DecodeError::Malformed {
            form: FORM,
            at: self.position,
            reason,
        }
    }

    /// Gives back what was read from.
    pub fn into_inner(self) -> R {
        self.from
    }
}

fn columns(
    body: &[u8],
    origin: u64,
    schema: &Schema,
    count: usize,
    limits: &Limits,
    look: &mut dyn FnMut(usize, &mut Input<'_>),
) -> Result<Rows> {
    let mut input = Input::new(body, origin, limits);
    let mut columns = Vec::with_capacity(schema.len());
    for (index, field) in schema.fields().iter().enumerate() {
        let length = input.count(input.left(), "the length of a column")?;
        let at = input.position();
        let bytes = input.take(length, "a column")?;
        let mut part = Input::new(bytes, at, limits);
        part.budget = input.budget;
        look(index, &mut part);
        let column = column::decode(&mut part, field.kind(), field.is_nullable(), count)?;
        if part.left() != 0 {
            return Err(part.malformed(format!(
                "{} more bytes behind the column {:?}",
                part.left(),
                field.name()
            )));
        }
        input.budget = part.budget;
        look(index, &mut part);
        columns.push(column);
    }
    if input.left() != 0 {
        return Err(input.malformed("more bytes behind the last column"));
    }
    Ok(Rows::new(schema.clone(), columns)?)
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

fn check(body: &[u8], expected: [u8; 4], at: u64, what: impl FnOnce() -> String) -> Result<()> {
    let (expected, found) = (u32::from_le_bytes(expected), checksum(body));
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

fn read(
    from: &mut impl Read,
    bytes: &mut [u8],
    position: &mut u64,
    what: &'static str,
) -> Result<()> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => DecodeError::Truncated {
            form: FORM,
            what,
            at: *position,
        },
        _ => DecodeError::Read(error),
    })?;
    *position += bytes.len() as u64;
    Ok(())
}

fn read_varint(from: &mut impl Read, position: &mut u64, what: &'static str) -> Result<u64> {
    let start = *position;
    let mut bytes = Vec::with_capacity(10);
    loop {
        let mut byte = [0];
        read(from, &mut byte, position, what)?;
        bytes.push(byte[0]);
        if byte[0] < 0x80 || bytes.len() == 10 {
            return Input::new(&bytes, start, &Limits::default()).varint(what);
        }
    }
}

/// Memory grows only with what is really there.
fn read_body(
    from: &mut impl Read,
    length: u64,
    body: &mut Vec<u8>,
    position: &mut u64,
    what: &'static str,
) -> Result<()> {
    body.clear();
    body.reserve(length.min(1 << 20) as usize);
    let found = from.by_ref().take(length).read_to_end(body)? as u64;
    *position += found;
    if found < length {
        return Err(DecodeError::Truncated {
            form: FORM,
            what,
            at: *position,
        });
    }
    Ok(())
}

/// The table in these bytes, which must end with it.
///
/// # Errors
/// If the bytes are not a table in the packed encoding, are damaged, or exceed the limits; that on bytes is one on the
/// whole table.
pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Rows> {
    let mut reader = Reader::new(bytes, *limits)?;
    let mut all: Option<Rows> = None;
    let mut memory = 0;
    while let Some(rows) = reader.next_chunk()? {
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
    let position = reader.position();
    if position < bytes.len() as u64 {
        return Err(DecodeError::Malformed {
            form: FORM,
            at: position,
            reason: format!(
                "{} more bytes behind the end of the table",
                bytes.len() as u64 - position
            ),
        });
    }
    Ok(all.unwrap_or_else(|| Rows::empty(reader.schema.clone())))
}
