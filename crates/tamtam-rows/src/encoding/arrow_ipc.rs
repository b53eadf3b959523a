//! Arrow's stream and file formats.

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, Endianness, MessageHeader, MetadataVersion, root_as_message};
use arrow_schema::{ArrowError, DataType};

use super::expected::expected;
use super::guarded::guarded;
use crate::arrow::Gathering;
use crate::{DecodeError, EncodeError, Encoding, Limits, Rows, Schema};

/// The stream format of Arrow's inter-process communication: `arrow-ipc`, and with its buffers compressed by zstd at
/// level 3 `arrow-ipc-zstd`. Either reads what the other wrote.
///
/// A table is written as one record batch. What is read may be many, with dictionaries; the stream must end with its
/// mark of the end, so that one cut off between two batches is noticed. Buffers compressed by LZ4 are not read.
///
/// # Examples
///
/// ```
/// use tamtam_rows::encoding::ArrowIpc;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8])])?;
/// let mut bytes = Vec::new();
/// ArrowIpc::ZSTD.encode(&rows, &mut bytes)?;
/// // It says of itself what the columns are, and by what it is compressed.
/// assert_eq!(ArrowIpc::PLAIN.decode(&bytes, None, &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrowIpc {
    zstd: bool,
}

impl ArrowIpc {
    /// Without compression.
    pub const PLAIN: ArrowIpc = ArrowIpc { zstd: false };
    /// Each buffer compressed by zstd.
    pub const ZSTD: ArrowIpc = ArrowIpc { zstd: true };

    fn options(self) -> Result<IpcWriteOptions, ArrowError> {
        // Decimals take 16 bytes, and are read where they lie.
        let options = IpcWriteOptions::try_new(16, false, MetadataVersion::V5)?;
        match self.zstd {
            true => options
                .try_with_compression(Some(CompressionType::ZSTD))?
                .try_with_compression_level(Some(3)),
            false => Ok(options),
        }
    }

    fn write(self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        let mut writer = StreamWriter::try_new_with_options(out, &batch.schema(), self.options()?)?;
        writer.write(batch)?;
        writer.finish()
    }
}

impl Encoding for ArrowIpc {
    fn name(&self) -> &'static str {
        match self.zstd {
            true => "arrow-ipc-zstd",
            false => "arrow-ipc",
        }
    }

    fn describes_itself(&self) -> bool {
        true
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let batch = rows.clone().into_record_batch_as(self.name())?;
        self.write(&batch, out)
            .map_err(|error| EncodeError::Failed {
                form: self.name(),
                reason: error.to_string(),
            })
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let form = self.name();
        let rows = guarded(form, 0, || read(form, bytes, limits))?;
        expected(form, rows, schema)
    }
}

fn read(form: &'static str, bytes: &[u8], limits: &Limits) -> Result<Rows, DecodeError> {
    let mut gathering = Stream::new(form, bytes, limits).check()?;
    let malformed = |error: ArrowError| DecodeError::Malformed {
        form,
        at: 0,
        reason: error.to_string(),
    };
    let mut stream = Buffer::from(bytes);
    let mut decoder = StreamDecoder::new();
    while !stream.is_empty() {
        if let Some(batch) = decoder.decode(&mut stream).map_err(malformed)? {
            gathering.append(&batch)?;
        }
    }
    decoder.finish().map_err(malformed)?;
    gathering.finish()
}

/// Walks over the messages before anything is decoded: Arrow's own reader takes memory for what is declared.
struct Stream<'a> {
    form: &'static str,
    bytes: &'a [u8],
    at: usize,
    limits: &'a Limits,
    rows: u64,
    /// Of all buffers, after decompression.
    buffers: u64,
    /// Those of the dictionaries among them.
    dictionaries: u64,
    /// How many each column has; of a column of views each batch says it.
    of_columns: Vec<Option<usize>>,
}

const CONTINUATION: u32 = u32::MAX;

impl<'a> Stream<'a> {
    fn new(form: &'static str, bytes: &'a [u8], limits: &'a Limits) -> Stream<'a> {
        Stream {
            form,
            bytes,
            at: 0,
            limits,
            rows: 0,
            buffers: 0,
            dictionaries: 0,
            of_columns: Vec::new(),
        }
    }

    /// Goes through all messages, and makes what will take the batches.
    fn check(mut self) -> Result<Gathering, DecodeError> {
        if self.bytes.starts_with(b"ARROW1") {
            return Err(self.malformed("this is Arrow's file format; its stream format is read"));
        }
        let mut gathering = None;
        loop {
            let mut size = self.take_u32("the length of a message")?;
            if size == CONTINUATION {
                size = self.take_u32("the length of a message")?;
            }
            if size == 0 {
                break;
            }
            let begin = self.at;
            let message = self.take(size.into(), "a message")?;
            let message = root_as_message(message).map_err(|error| self.malformed(&error))?;
            let body = message.bodyLength();
            let body = u64::try_from(body)
                .map_err(|_| self.malformed(&format!("a body of {body} bytes")))?;
            let body = self.take(body, "the body of a message")?;
            let header = message.header_type();
            match (header, &gathering) {
                (MessageHeader::Schema, None) => {
                    let schema = message
                        .header_as_schema()
                        .ok_or_else(|| self.malformed("a schema is missing"))?;
                    gathering = Some(self.check_schema(schema)?);
                }
                (MessageHeader::RecordBatch, Some(_)) => {
                    let batch = message
                        .header_as_record_batch()
                        .ok_or_else(|| self.malformed("a batch is missing"))?;
                    self.rows = self.rows.saturating_add(self.check_batch(batch, body)?);
                    self.check_limit("rows", self.rows, self.limits.rows)?;
                }
                (MessageHeader::DictionaryBatch, Some(_)) => {
                    let dictionary = message
                        .header_as_dictionary_batch()
                        .ok_or_else(|| self.malformed("a dictionary is missing"))?;
                    let batch = dictionary
                        .data()
                        .ok_or_else(|| self.malformed("a dictionary without values"))?;
                    let before = self.buffers;
                    self.check_batch(batch, body)?;
                    self.dictionaries += self.buffers - before;
                    if dictionary.isDelta() {
                        // The values so far are copied with it.
                        self.buffers = self.buffers.saturating_add(self.dictionaries);
                        self.check_buffers()?;
                    }
                }
                _ => {
                    self.at = begin;
                    return Err(self.malformed(&format!(
                        "a message of the type {:?} cannot stand here",
                        header.variant_name().unwrap_or("unknown")
                    )));
                }
            }
        }
        if self.at < self.bytes.len() {
            return Err(self.malformed("bytes follow the mark of the end"));
        }
        gathering.ok_or_else(|| self.malformed("there is no schema"))
    }

    fn check_schema(&mut self, schema: arrow_ipc::Schema<'_>) -> Result<Gathering, DecodeError> {
        if !schema.endianness().equals_to_target_endianness() {
            return Err(self.malformed(match schema.endianness() {
                Endianness::Big => "its numbers are big-endian",
                _ => "its numbers are of another byte order than this machine's",
            }));
        }
        let columns = schema.fields().map_or(0, |fields| fields.len());
        self.check_limit("columns", columns as u64, self.limits.columns as u64)?;
        let schema = try_fb_to_schema(schema).map_err(|error| self.malformed(&error))?;
        // From here on no column is nested.
        let gathering = Gathering::new(self.form, &schema, self.limits)?;
        let columns = schema.fields().iter();
        self.of_columns = columns
            .map(|field| match field.data_type() {
                DataType::Utf8View | DataType::BinaryView => None,
                DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                    Some(3)
                }
                _ => Some(2),
            })
            .collect();
        Ok(gathering)
    }

    /// The rows of a batch whose buffers lie in the body.
    fn check_batch(
        &mut self,
        batch: arrow_ipc::RecordBatch<'_>,
        body: &[u8],
    ) -> Result<u64, DecodeError> {
        let rows = batch.length();
        let declared =
            u64::try_from(rows).map_err(|_| self.malformed(&format!("a batch of {rows} rows")))?;
        for node in batch.nodes().iter().flatten() {
            if node.length() != rows || !(0..=rows).contains(&node.null_count()) {
                return Err(self.malformed(&format!(
                    "a column of {} rows and {} nulls in a batch of {rows} rows",
                    node.length(),
                    node.null_count()
                )));
            }
        }
        let is_compressed = match batch.compression() {
            None => false,
            Some(compression) if compression.codec() == CompressionType::ZSTD => true,
            Some(compression) => {
                return Err(self.malformed(&format!(
                    "it is compressed by {}; write it without compression or with ZSTD",
                    compression
                        .codec()
                        .variant_name()
                        .unwrap_or("an unknown codec")
                )));
            }
        };
        let count = batch.buffers().map_or(0, |buffers| buffers.len());
        for buffers in batch.variadicBufferCounts().iter().flatten() {
            if !usize::try_from(buffers).is_ok_and(|buffers| buffers <= count) {
                return Err(self.malformed(&format!("{buffers} buffers where there are {count}")));
            }
        }
        let mut lengths = Vec::with_capacity(count);
        for buffer in batch.buffers().iter().flatten() {
            let range = usize::try_from(buffer.offset())
                .ok()
                .zip(usize::try_from(buffer.length()).ok())
                .and_then(|(offset, length)| Some(offset..offset.checked_add(length)?));
            let Some(held) = range.and_then(|range| body.get(range)) else {
                return Err(self.malformed("a buffer lies outside of its message"));
            };
            let mut length = held.len() as u64;
            if is_compressed && !held.is_empty() {
                let Some(declared) = held.first_chunk().copied().map(i64::from_le_bytes) else {
                    return Err(self.malformed("a compressed buffer of less than 8 bytes"));
                };
                // -1: this one was not compressed.
                if declared != -1 {
                    length = u64::try_from(declared)
                        .map_err(|_| self.malformed(&format!("a buffer of {declared} bytes")))?;
                }
            }
            self.buffers = self.buffers.saturating_add(length);
            self.check_buffers()?;
            lengths.push(length);
        }
        self.check_nulls(batch, &lengths)?;
        Ok(declared)
    }

    /// The first buffer of a column says which rows are null, if it has any; Arrow's reader panics on one that is too
    /// short. The one column of a dictionary begins with it, too.
    fn check_nulls(
        &self,
        batch: arrow_ipc::RecordBatch<'_>,
        lengths: &[u64],
    ) -> Result<(), DecodeError> {
        let rows = batch.length().unsigned_abs();
        let mut of_views = batch.variadicBufferCounts().into_iter().flatten();
        let mut first = 0_usize;
        for (column, node) in batch.nodes().iter().flatten().enumerate() {
            let length = lengths.get(first).copied().unwrap_or(0);
            if node.null_count() > 0 && length < rows.div_ceil(8) {
                return Err(self.malformed("marks of nulls that are shorter than their column"));
            }
            let buffers = match self.of_columns.get(column) {
                Some(Some(buffers)) => *buffers,
                // And the views themselves, and the nulls.
                _ => of_views
                    .next()
                    .and_then(|buffers| usize::try_from(buffers).ok())
                    .map_or(2, |buffers| buffers.saturating_add(2)),
            };
            first = first.saturating_add(buffers);
        }
        Ok(())
    }

    /// Buffers may take twice what the table takes: they have ends of texts of equal length, and padding.
    fn check_buffers(&self) -> Result<(), DecodeError> {
        let limit = self.limits.bytes.saturating_mul(2).saturating_add(1 << 16);
        self.check_limit("bytes of buffers", self.buffers, limit)
    }

    fn check_limit(
        &self,
        what: &'static str,
        declared: u64,
        limit: u64,
    ) -> Result<(), DecodeError> {
        if declared <= limit {
            return Ok(());
        }
        Err(DecodeError::Limit {
            form: self.form,
            what,
            declared,
            limit,
        })
    }

    fn take_u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        let taken = self.take(4, what)?;
        Ok(u32::from_le_bytes([taken[0], taken[1], taken[2], taken[3]]))
    }

    fn take(&mut self, count: u64, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let left = &self.bytes[self.at..];
        let taken = usize::try_from(count)
            .ok()
            .and_then(|count| left.get(..count))
            .ok_or(DecodeError::Truncated {
                form: self.form,
                what,
                at: self.at as u64,
            })?;
        self.at += taken.len();
        Ok(taken)
    }

    fn malformed(&self, reason: &(impl ToString + ?Sized)) -> DecodeError {
        DecodeError::Malformed {
            form: self.form,
            at: self.at as u64,
            reason: reason.to_string(),
        }
    }
}
