//! A packed table written part by part.

use std::io::Write;

use super::bytes::{FORM, Output, write_varint};
use super::layout::{CHECKSUM, ROWS_PER_CHUNK, append_part, checksum, write_schema};
use super::{Mode, column};
use crate::{EncodeError, Record, Rows, Schema};

/// Writes a table part by part, so that one larger than memory can pass.
///
/// Each part becomes one chunk or several, of at most [`ROWS_PER_CHUNK`] rows; what is written at once takes memory
/// for one chunk. The end is written by [`finish`](Writer::finish): a reader of what was not finished says that it is
/// cut off.
///
/// ```
/// use tamtam_rows::packed::{Mode, Reader, Writer};
/// use tamtam_rows::{Column, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U64)])?;
/// let mut writer = Writer::new(Vec::new(), &schema, Mode::Packed)?;
/// for part in 0..10_u64 {
///     let numbers: Vec<u64> = (part * 1000..part * 1000 + 1000).collect();
///     writer.write(&Rows::new(schema.clone(), [Column::from(numbers)])?)?;
/// }
/// let bytes = writer.finish()?;
///
/// let mut reader = Reader::new(&bytes[..], Limits::default())?;
/// let mut sum = 0;
/// while let Some(rows) = reader.next_chunk()? {
///     sum += rows.column("n").unwrap().slice::<u64>().unwrap().iter().sum::<u64>();
/// }
/// assert_eq!(sum, 9999 * 10_000 / 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    schema: Schema,
    mode: Mode,
    /// How many bytes were written.
    position: u64,
    rows: u64,
    /// The bytes of one chunk.
    chunk: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the schema.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut to: W, schema: &Schema, mode: Mode) -> Result<Writer<W>, EncodeError> {
        let start = write_schema(schema)?;
        to.write_all(&start)?;
        let position = start.len() as u64;
        Ok(Writer {
            to,
            schema: schema.clone(),
            mode,
            position,
            rows: 0,
            chunk: Vec::new(),
        })
    }

    /// Writes more rows.
    ///
    /// # Errors
    /// If they have another schema, a chunk of them takes more than 4 GiB, or writing fails. In the last two cases
    /// what was written is of no use.
    pub fn write(&mut self, rows: &Rows) -> Result<(), EncodeError> {
        check(rows, &self.schema)?;
        each_part(rows, |part| self.chunk(part))
    }

    /// Writes structs as more rows, of which those of one chunk at a time become columns.
    ///
    /// # Errors
    /// As [`write`](Writer::write), and if the text or the bytes of a column exceed 4 GiB within a chunk.
    ///
    /// # Examples
    /// ```
    /// use tamtam_rows::packed::{self, Mode, Writer};
    /// use tamtam_rows::{Limits, Record, record};
    ///
    /// record! {
    ///     struct Step { at: u32, left: bool }
    /// }
    ///
    /// let mut writer = Writer::new(Vec::new(), &Step::schema(), Mode::Packed)?;
    /// for day in 0..3 {
    ///     let steps: Vec<Step> = (0..50).map(|n| Step { at: day * 86_400 + n, left: n % 2 == 0 }).collect();
    ///     writer.write_records(&steps)?;
    /// }
    /// let rows = packed::decode(&writer.finish()?, &Limits::default())?;
    /// assert_eq!(rows.len(), 150);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_records<T: Record>(&mut self, records: &[T]) -> Result<(), EncodeError> {
        each_table(records, |rows| self.write(rows))
    }

    fn chunk(&mut self, rows: &Rows) -> Result<(), EncodeError> {
        self.chunk.clear();
        append_chunk(rows, self.mode, self.position, &mut self.chunk)?;
        self.to.write_all(&self.chunk)?;
        self.position += self.chunk.len() as u64;
        self.rows += rows.len() as u64;
        Ok(())
    }

    /// Writes the end, and gives back what was written to. It is flushed.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> Result<W, EncodeError> {
        let mut end = Vec::new();
        append_end(self.rows, &mut end);
        self.to.write_all(&end)?;
        self.to.flush()?;
        Ok(self.to)
    }

    /// How many rows were written.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many bytes were written.
    pub fn position(&self) -> u64 {
        self.position
    }
}

/// Gives away the rows of each chunk.
fn each_part(
    rows: &Rows,
    mut give: impl FnMut(&Rows) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    if rows.len() <= ROWS_PER_CHUNK {
        return give(rows);
    }
    (0..rows.len())
        .step_by(ROWS_PER_CHUNK)
        .try_for_each(|from| give(&rows.part(from..rows.len().min(from + ROWS_PER_CHUNK))))
}

/// Makes a table of the records of each chunk, and gives it away.
fn each_table<T: Record>(
    records: &[T],
    mut give: impl FnMut(&Rows) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    records.chunks(ROWS_PER_CHUNK).try_for_each(|records| {
        let rows = T::to_rows(records).map_err(|error| EncodeError::Unsupported {
            form: FORM,
            what: "these records".into(),
            reason: error.to_string(),
        })?;
        give(&rows)
    })
}

/// Whether rows have the schema of the table that they are written to.
fn check(rows: &Rows, schema: &Schema) -> Result<(), EncodeError> {
    if rows.schema() == schema {
        return Ok(());
    }
    Err(EncodeError::Unsupported {
        form: FORM,
        what: "rows of another schema than the first".into(),
        reason: "a table has one schema; write them as a table of their own".into(),
    })
}

/// Appends what stands behind the last chunk.
fn append_end(rows: u64, bytes: &mut Vec<u8>) {
    let mut body = Vec::with_capacity(11);
    body.push(0);
    write_varint(&mut body, rows);
    append_part(&body, bytes);
}

/// Appends a chunk, which will lie at `position` in the stream.
fn append_chunk(
    rows: &Rows,
    mode: Mode,
    position: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    if rows.is_empty() {
        return Ok(());
    }
    let start = bytes.len();
    let memory = rows.memory();
    bytes.reserve(memory + 16);
    // Room for the length of the chunk is left before it, and so is that of each column. Only plain columns look at
    // where they lie; before those a length always takes five bytes.
    let head = match (mode, memory) {
        (Mode::Plain, _) => 5,
        (_, 0..4096) => 2,
        (_, 4096..0x10_0000) => 3,
        _ => 4,
    };
    bytes.resize(start + head + CHECKSUM, 0);
    let from = bytes.len();
    write_varint(bytes, rows.len() as u64);
    let room = match (mode, rows.len()) {
        (Mode::Plain, _) => 5,
        (_, 0..1600) => 2,
        _ => 3,
    };
    let origin = position.wrapping_sub(start as u64);
    for (field, column) in rows.fields() {
        let before = bytes.len();
        bytes.resize(before + room, 0);
        let mut out = Output {
            bytes: &mut *bytes,
            origin,
            slack: 0,
        };
        column::encode(column, field.is_nullable(), mode, &mut out);
        let length = (bytes.len() - before - room) as u64;
        write_length(bytes, before, room, length);
    }
    let body = &bytes[from..];
    if u32::try_from(body.len()).is_err() {
        return Err(EncodeError::Unsupported {
            form: FORM,
            what: format!("a chunk of {} bytes", body.len()),
            reason: "a chunk takes at most 4 GiB; write fewer rows at a time".into(),
        });
    }
    let (length, checksum) = (body.len() as u64, checksum(body));
    bytes[from - CHECKSUM..from].copy_from_slice(&checksum.to_le_bytes());
    write_length(bytes, start, head, length);
    Ok(())
}

/// Writes a length into the room that was left for it; where that is too small, what lies behind makes place.
fn write_length(body: &mut Vec<u8>, at: usize, room: usize, length: u64) {
    if length >> (7 * room) != 0 {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, length);
        body.splice(at..at + room, bytes);
        return;
    }
    let mut left = length;
    let places = &mut body[at..at + room];
    for place in &mut *places {
        *place = left as u8 | 0x80;
        left >>= 7;
    }
    places[room - 1] &= 0x7f;
}

/// Writes a table behind what is in `out`.
///
/// # Errors
/// If a chunk of 65,536 rows takes more than 4 GiB.
pub fn encode(rows: &Rows, mode: Mode, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let start = out.len();
    out.extend_from_slice(&write_schema(rows.schema())?);
    each_part(rows, |part| {
        append_chunk(part, mode, (out.len() - start) as u64, out)
    })?;
    append_end(rows.len() as u64, out);
    Ok(())
}

/// Writes structs as a table behind what is in `out`: the bytes that [`encode`] makes of [`Record::to_rows`], but with
/// the columns of one chunk of 65,536 rows in memory at a time.
///
/// # Errors
/// If a chunk takes more than 4 GiB.
///
/// # Examples
/// ```
/// use tamtam_rows::packed::{self, Mode};
/// use tamtam_rows::{Limits, Record, record};
///
/// record! {
///     #[derive(Debug, PartialEq)]
///     struct Tile { slot: u16, color: String, turn: Option<i16> }
/// }
///
/// let tiles = [
///     Tile { slot: 1, color: "ff8800".into(), turn: None },
///     Tile { slot: 2, color: "0088ff".into(), turn: Some(90) },
/// ];
/// let mut bytes = Vec::new();
/// packed::encode_records(&tiles, Mode::Packed, &mut bytes)?;
///
/// let rows = packed::decode(&bytes, &Limits::default())?;
/// assert!(Tile::from_rows(&rows)?.eq(tiles));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode_records<T: Record>(
    records: &[T],
    mode: Mode,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let start = out.len();
    let schema = T::schema();
    out.extend_from_slice(&write_schema(&schema)?);
    let mut count = 0;
    each_table(records, |rows| {
        check(rows, &schema)?;
        count += rows.len() as u64;
        each_part(rows, |part| {
            append_chunk(part, mode, (out.len() - start) as u64, out)
        })
    })?;
    append_end(count, out);
    Ok(())
}
