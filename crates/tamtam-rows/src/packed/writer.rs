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
        let origin = self.position + (head.len() + HEAD) as u64;
        let mut part = Vec::new();
        for (field, column) in rows.fields() {
            part.clear();
            // Only plain columns look at where they lie; the length before them always takes five bytes.
            let before = self.body.len() + PADDED;
            let mut out = Output {
                bytes: &mut part,
                origin: origin + before as u64,
            };
            column::encode(
                column,
                field.is_nullable(),
                Effort::new(self.mode),
                &mut out,
            );
            if self.mode == Mode::Plain {
                write_padded(&mut self.body, part.len() as u64);
            } else {
                write_varint(&mut self.body, part.len() as u64);
            }
            self.body.extend_from_slice(&part);
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

/// The bytes of a padded length.
const PADDED: usize = 5;

/// A number below 2^35 in five bytes; readers of shorter ones read it, too.
fn write_padded(bytes: &mut Vec<u8>, value: u64) {
    let parts: [u8; PADDED] = std::array::from_fn(|index| {
        let bits = (value >> (7 * index)) as u8 & 0x7f;
        if index + 1 < PADDED {
            bits | 0x80
        } else {
            bits
        }
    });
    bytes.extend_from_slice(&parts);
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
