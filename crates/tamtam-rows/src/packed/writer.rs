use std::io::Write;

use super::bytes::{FORM, Output, write_varint};
use super::integers::Effort;
use super::layout::{HEAD, ROWS_PER_CHUNK, checksum, write_schema};
use super::{Mode, column};
use crate::{EncodeError, Rows, Schema};

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
    /// One chunk.
    body: Vec<u8>,
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
            body: Vec::new(),
        })
    }

    /// Writes more rows.
    ///
    /// # Errors
    /// If they have another schema, a chunk of them takes more than 4 GiB, or writing fails. In the last two cases
    /// what was written is of no use.
    pub fn write(&mut self, rows: &Rows) -> Result<(), EncodeError> {
        if *rows.schema() != self.schema {
            return Err(EncodeError::Unsupported {
                form: FORM,
                what: "rows of another schema than the first".into(),
                reason: "a table has one schema; write them as a table of their own".into(),
            });
        }
        if rows.len() <= ROWS_PER_CHUNK {
            return self.chunk(rows);
        }
        let mut from = 0;
        while from < rows.len() {
            let to = rows.len().min(from + ROWS_PER_CHUNK);
            self.chunk(&rows.part(from..to))?;
            from = to;
        }
        Ok(())
    }

    fn chunk(&mut self, rows: &Rows) -> Result<(), EncodeError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut head = Vec::with_capacity(16);
        write_varint(&mut head, rows.len() as u64);
        self.body.clear();
        self.body.reserve(rows.memory());
        let origin = self.position + (head.len() + HEAD) as u64;
        // Room for the length of a column is left before it. Only plain columns look at where they lie; before those
        // it always takes five bytes.
        let room = match (self.mode, rows.len()) {
            (Mode::Plain, _) => 5,
            (_, 0..1600) => 2,
            _ => 3,
        };
        for (field, column) in rows.fields() {
            let before = self.body.len();
            self.body.resize(before + room, 0);
            let mut out = Output {
                bytes: &mut self.body,
                origin,
            };
            column::encode(
                column,
                field.is_nullable(),
                Effort::new(self.mode),
                &mut out,
            );
            let length = (self.body.len() - before - room) as u64;
            write_length(&mut self.body, before, room, length);
        }
        let Ok(length) = u32::try_from(self.body.len()) else {
            return Err(EncodeError::Unsupported {
                form: FORM,
                what: format!("a chunk of {} bytes", self.body.len()),
                reason: "a chunk takes at most 4 GiB; write fewer rows at a time".into(),
            });
        };
        head.extend_from_slice(&length.to_le_bytes());
        head.extend_from_slice(&checksum(&self.body).to_le_bytes());
        self.to.write_all(&head)?;
        self.to.write_all(&self.body)?;
        self.position += (head.len() + self.body.len()) as u64;
        self.rows += rows.len() as u64;
        Ok(())
    }

    /// Writes the end, and gives back what was written to. It is flushed.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> Result<W, EncodeError> {
        let mut end = vec![0];
        write_varint(&mut end, self.rows);
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

/// Writes a length into the room that was left for it; where that is too small, what lies behind makes place.
fn write_length(body: &mut Vec<u8>, at: usize, room: usize, length: u64) {
    if length >> (7 * room) != 0 {
        let mut bytes = Vec::new();
        write_varint(&mut bytes, length);
        body.splice(at..at + room, bytes);
        return;
    }
    for index in 0..room {
        let more = if index + 1 < room { 0x80 } else { 0 };
        body[at + index] = (length >> (7 * index)) as u8 & 0x7f | more;
    }
}

/// Writes a table behind what is in `out`.
///
/// # Errors
/// If a chunk of 65,536 rows takes more than 4 GiB.
pub fn encode(rows: &Rows, mode: Mode, out: &mut Vec<u8>) -> Result<(), EncodeError> {
    let mut writer = Writer::new(out, rows.schema(), mode)?;
    writer.write(rows)?;
    writer.finish()?;
    Ok(())
}
