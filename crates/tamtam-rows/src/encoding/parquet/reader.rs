//! Parquet read part by part.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field as ArrowField, Fields, Schema as ArrowSchema, TimeUnit};
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::basic::LogicalType;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::SchemaDescriptor;

use super::int96;
use super::pages::CheckedGroup;
use super::schema_tree;
use super::source::Source;
use super::thrift::Unread;
use crate::arrow::{Gathering, schema_from, uuid_metadata};
use crate::encoding::guarded::guarded;
use crate::{DecodeError, Limits, Rows, Schema};

/// The rows that are decoded at a time.
const PART: u64 = 65_536;
/// The longest description of a file that is read. That of 10,000 columns takes about 1.5 MB for each row group.
const DESCRIPTION: u64 = 16 << 20;

/// Reads a Parquet file part by part, so that it may be larger than memory.
///
/// Columns may be of any type that a table has, uncompressed or compressed by Snappy or zstd. A column that is nested
/// is an error that names it. Timestamps of 96 bits, which Hive, Impala and older versions of Spark write, are read in
/// microseconds, of any year from -290,307 to 294,247; one that has nanoseconds, or lies beyond, is an error that names it.
///
/// The limits hold for each part, and for the pages of each row group twice that many bytes. Texts that are written as
/// what they share with the text before (`DELTA_BYTE_ARRAY`, which few writers use) can make a small file large: they
/// are read with [`Limits::NONE`] only. The description at the file's end may take 16 MiB.
///
/// ```no_run
/// use tamtam_rows::Limits;
/// use tamtam_rows::encoding::ParquetReader;
///
/// let mut reader = ParquetReader::open("orders.parquet", Limits::default())?;
/// println!("{} rows of {} columns", reader.rows(), reader.schema().len());
/// while let Some(part) = reader.next_part()? {
///     println!("{} of them", part.len());
/// }
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
pub struct ParquetReader {
    form: &'static str,
    limits: Limits,
    source: Arc<Source>,
    metadata: Arc<ParquetMetaData>,
    /// How Arrow is to read the columns.
    arrow: ArrowSchema,
    /// Which columns are timestamps of 96 bits.
    int96: Vec<usize>,
    schema: Schema,
    rows: u64,
    /// How many rows were given away in parts.
    given: u64,
    next_group: usize,
    /// The group that is being read.
    group: Option<OpenGroup>,
}

struct OpenGroup {
    batches: ParquetRecordBatchReader,
    /// The columns of 96 bits once more, as milliseconds.
    milliseconds: Option<ParquetRecordBatchReader>,
    /// How many of its rows are still to come.
    left: u64,
}

impl std::fmt::Debug for ParquetReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetReader")
            .field("schema", &self.schema)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl ParquetReader {
    /// Opens a file and reads its description.
    ///
    /// # Errors
    /// If there is no such file, it is not a Parquet file, or it has columns of types that a table does not have.
    pub fn open(path: impl AsRef<Path>, limits: Limits) -> Result<ParquetReader, DecodeError> {
        ParquetReader::of_file(File::open(path)?, limits)
    }

    /// Reads the description of a file that is open.
    ///
    /// # Errors
    /// As [`open`](ParquetReader::open).
    pub fn of_file(file: File, limits: Limits) -> Result<ParquetReader, DecodeError> {
        ParquetReader::new("parquet", Source::File(file), limits)
    }

    pub(super) fn of_bytes(
        form: &'static str,
        bytes: Bytes,
        limits: Limits,
    ) -> Result<ParquetReader, DecodeError> {
        ParquetReader::new(form, Source::Bytes(bytes), limits)
    }

    fn new(
        form: &'static str,
        source: Source,
        limits: Limits,
    ) -> Result<ParquetReader, DecodeError> {
        let described = check_end(form, &source)?;
        check_columns(form, &source, described)?;
        let at = source.len();
        guarded(form, at, || {
            let metadata = ParquetMetaDataReader::new()
                .with_page_index_policy(PageIndexPolicy::Skip)
                .parse_and_finish(&source)
                .map_err(|error| malformed(form, at, &error))?;
            let described = metadata.file_metadata();
            let columns = described.schema_descr().root_schema().get_fields().len();
            if columns > limits.columns {
                return Err(DecodeError::Limit {
                    form,
                    what: "columns",
                    declared: columns as u64,
                    limit: limits.columns as u64,
                });
            }
            let arrow =
                parquet_to_arrow_schema(described.schema_descr(), described.key_value_metadata())
                    .map_err(|error| malformed(form, at, &error))?;
            let int96 = int96::columns(described.schema_descr());
            let arrow = int96::with_unit(&arrow, &int96, TimeUnit::Nanosecond);
            let read = int96::with_unit(&arrow, &int96, TimeUnit::Microsecond);
            let schema = schema_from(form, &with_uuids(&read, described.schema_descr()))?;
            let mut rows = 0_u64;
            for group in metadata.row_groups() {
                let declared = u64::try_from(group.num_rows()).map_err(|_| {
                    let reason = format!("a row group of {} rows", group.num_rows());
                    malformed(form, at, &reason)
                })?;
                rows = rows.saturating_add(declared);
            }
            Ok(ParquetReader {
                form,
                limits,
                arrow: with_views(&arrow),
                int96,
                schema,
                source: Arc::new(source),
                metadata: Arc::new(metadata),
                rows,
                given: 0,
                next_group: 0,
                group: None,
            })
        })
    }

    /// The columns' names and types.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How many rows the file says it has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The next at most 65,536 rows, all of one row group; `None` behind the last. After an error there is nothing
    /// more to read.
    ///
    /// # Errors
    /// If the file is damaged, cannot be read, or exceeds the limits.
    pub fn next_part(&mut self) -> Result<Option<Rows>, DecodeError> {
        let mut gathering = Gathering::of_schema(self.form, self.schema.clone(), &self.limits);
        gathering.begin_at(self.given);
        let more = self.read_into(&mut gathering)?;
        self.given = gathering.rows();
        more.then(|| gathering.finish()).transpose()
    }

    /// The whole table, within the limits.
    pub(super) fn read_all(mut self) -> Result<Rows, DecodeError> {
        let widths = self.schema.fields().iter();
        let width: u64 = widths
            .map(|field| field.kind().width().map_or(4, |width| width as u64))
            .sum();
        for (what, declared, limit) in [
            ("rows", self.rows, self.limits.rows),
            ("bytes", self.rows.saturating_mul(width), self.limits.bytes),
        ] {
            if declared > limit {
                return Err(DecodeError::Limit {
                    form: self.form,
                    what,
                    declared,
                    limit,
                });
            }
        }
        let mut gathering = Gathering::of_schema(self.form, self.schema.clone(), &self.limits);
        while self.read_into(&mut gathering)? {}
        gathering.finish()
    }

    /// Appends the next part; false behind the last.
    fn read_into(&mut self, gathering: &mut Gathering) -> Result<bool, DecodeError> {
        let (form, at) = (self.form, self.source.len());
        let result = guarded(form, at, || {
            loop {
                if let Some(group) = &mut self.group {
                    match group.batches.next() {
                        Some(batch) => {
                            let batch = batch.map_err(|error| malformed(form, at, &error))?;
                            group.left = group.left.saturating_sub(batch.num_rows() as u64);
                            let batch = match group.milliseconds.as_mut().and_then(Iterator::next) {
                                Some(milliseconds) => milliseconds.and_then(|milliseconds| {
                                    int96::in_microseconds(&batch, &milliseconds, &self.int96)
                                }),
                                None => Ok(Ok(batch)),
                            };
                            let batch = batch.map_err(|error| malformed(form, at, &error))?;
                            let batch = batch.map_err(|inexact| {
                                let field = &self.schema.fields()[inexact.column];
                                DecodeError::Value {
                                    form,
                                    column: field.name().to_owned(),
                                    row: gathering.rows() as usize + inexact.row,
                                    line: None,
                                    value: format!("{} ns", inexact.nanoseconds),
                                    kind: field.kind().clone(),
                                }
                            })?;
                            gathering.append(&batch)?;
                            return Ok(true);
                        }
                        None if group.left > 0 => {
                            let reason = format!(
                                "row group {} ends {} rows too early",
                                self.next_group - 1,
                                group.left
                            );
                            return Err(malformed(form, at, &reason));
                        }
                        None => self.group = None,
                    }
                }
                if self.next_group == self.metadata.num_row_groups() {
                    return Ok(false);
                }
                self.group = Some(self.open_group()?);
                self.next_group += 1;
            }
        });
        if result.is_err() {
            self.group = None;
            self.next_group = self.metadata.num_row_groups();
        }
        result
    }

    fn open_group(&self) -> Result<OpenGroup, DecodeError> {
        let at = self.source.len();
        let group = CheckedGroup {
            source: self.source.clone(),
            metadata: self.metadata.clone(),
            group: self.next_group,
            allows_prefixes: self.limits.bytes == Limits::NONE.bytes,
        };
        let pages = group
            .check()
            .map_err(|reason| malformed(self.form, at, &reason))?;
        // Twice the table: ends of texts of equal length, levels, dictionaries.
        let limit = self.limits.bytes.saturating_mul(2).saturating_add(1 << 16);
        if pages > limit {
            return Err(DecodeError::Limit {
                form: self.form,
                what: "bytes of pages in a row group",
                declared: pages,
                limit,
            });
        }
        let described = self.metadata.file_metadata().schema_descr();
        let open = |columns: ProjectionMask, arrow: &ArrowSchema| {
            parquet_to_arrow_field_levels(described, columns, Some(arrow.fields()))
                .and_then(|levels| {
                    ParquetRecordBatchReader::try_new_with_row_groups(
                        &levels,
                        &group,
                        self.part_rows() as usize,
                        None,
                    )
                })
                .map_err(|error| malformed(self.form, at, &error))
        };
        let batches = open(ProjectionMask::all(), &self.arrow)?;
        let milliseconds = match self.int96.is_empty() {
            true => None,
            false => Some(open(
                ProjectionMask::roots(described, self.int96.iter().copied()),
                &int96::with_unit(&self.arrow, &self.int96, TimeUnit::Millisecond),
            )?),
        };
        let rows = self.metadata.row_group(self.next_group).num_rows();
        Ok(OpenGroup {
            batches,
            milliseconds,
            left: rows.unsigned_abs(),
        })
    }

    /// As many rows as are decoded before they are counted.
    fn part_rows(&self) -> u64 {
        let columns = self.schema.fields().iter();
        let width: u64 = columns
            .map(|field| field.kind().width().unwrap_or(16) as u64)
            .sum();
        let within = self.limits.bytes / width.max(1);
        within.min(self.limits.rows).clamp(1, PART)
    }
}

/// The end of a Parquet file: the length of its description, which is returned, and four letters.
fn check_end(form: &'static str, source: &Source) -> Result<u64, DecodeError> {
    let length = source.len();
    let Some([a, b, c, d, letters @ ..]) = source.tail::<8>() else {
        return Err(DecodeError::Truncated {
            form,
            what: "the end of the file",
            at: length,
        });
    };
    let description = u64::from(u32::from_le_bytes([a, b, c, d]));
    if &letters != b"PAR1" {
        return Err(malformed(
            form,
            length - 4,
            "it does not end with \"PAR1\": it is cut off, encrypted, or no Parquet file",
        ));
    }
    if description + 12 > length {
        return Err(malformed(
            form,
            length - 8,
            "its description would be longer than it",
        ));
    }
    if description > DESCRIPTION {
        return Err(DecodeError::Limit {
            form,
            what: "bytes of description",
            declared: description,
            limit: DESCRIPTION,
        });
    }
    Ok(description)
}

/// What the description says of the columns, before the library makes a tree of it.
fn check_columns(form: &'static str, source: &Source, described: u64) -> Result<(), DecodeError> {
    let start = source.len() - 8 - described;
    let bytes = source
        .get_bytes(start, described as usize)
        .map_err(|error| malformed(form, start, &error))?;
    let reason = match schema_tree::check(&bytes) {
        Ok(()) => return Ok(()),
        Err(Unread::Longer) => "is cut off".to_owned(),
        Err(Unread::Wrong(reason)) => format!("has {reason}"),
    };
    Err(malformed(form, start, &format!("its description {reason}")))
}

/// Text is read as views of the pages: one value of a dictionary is not copied for each row before it is counted.
fn with_views(arrow: &ArrowSchema) -> ArrowSchema {
    let fields = arrow.fields().iter().map(|field| {
        let data_type = match field.data_type() {
            DataType::Dictionary(_, values) => values.as_ref(),
            data_type => data_type,
        };
        let data_type = match data_type {
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            data_type => data_type.clone(),
        };
        field.as_ref().clone().with_data_type(data_type)
    });
    ArrowSchema::new(fields.collect::<Fields>())
}

/// Files of other writers say which columns are of UUIDs in Parquet's schema only.
fn with_uuids(arrow: &ArrowSchema, parquet: &SchemaDescriptor) -> ArrowSchema {
    let described = parquet.root_schema().get_fields();
    let fields = arrow.fields().iter().zip(described).map(|(field, column)| {
        let field: ArrowField = field.as_ref().clone();
        match column.get_basic_info().logical_type_ref() {
            Some(LogicalType::Uuid) => field.with_metadata(uuid_metadata()),
            _ => field,
        }
    });
    ArrowSchema::new(fields.collect::<Fields>())
}

fn malformed(form: &'static str, at: u64, reason: &(impl ToString + ?Sized)) -> DecodeError {
    DecodeError::Malformed {
        form,
        at,
        reason: reason.to_string(),
    }
}
