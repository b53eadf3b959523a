//! Parquet, by the crate of the Arrow project.

mod int96;
mod page_header;
mod pages;
mod reader;
mod schema_tree;
mod source;
mod thrift;
mod writer;

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowSchemaConverter;
use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::ArrowWriterOptions;
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use ::parquet::errors::Result;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
use ::parquet::schema::types::{SchemaDescriptor, Type};
use arrow_schema::SchemaRef;

use crate::{DecodeError, EncodeError, Encoding, Kind, Limits, Rows, Schema};

pub use reader::ParquetReader;
pub use writer::ParquetWriter;

/// Parquet files: `parquet`, and with its pages compressed by zstd at level 3 `parquet-zstd`. Either reads what the
/// other wrote.
///
/// Columns are written as Parquet's writers do by default: with a dictionary as long as it stays small, plainly
/// otherwise, with statistics for each row group of at most 1,048,576 rows, and with Arrow's schema beside Parquet's,
/// which has neither named zones nor seconds. What is read is said at [`ParquetReader`].
///
/// # Examples
///
/// ```
/// use tamtam_rows::encoding::Parquet;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::U16)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_u16, 8])])?;
/// let mut bytes = Vec::new();
/// Parquet::ZSTD.encode(&rows, &mut bytes)?;
/// assert!(bytes.starts_with(b"PAR1"));
/// assert_eq!(Parquet::PLAIN.decode(&bytes, None, &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parquet {
    zstd: bool,
}

impl Parquet {
    /// Without compression.
    pub const PLAIN: Parquet = Parquet { zstd: false };
    /// Each page compressed by zstd.
    pub const ZSTD: Parquet = Parquet { zstd: true };

    /// A writer of batches of this schema.
    fn writer<W: Write + Send>(
        self,
        to: W,
        schema: &Schema,
        batches: &SchemaRef,
    ) -> Result<ArrowWriter<W>> {
        let compression = match self.zstd {
            true => Compression::ZSTD(ZstdLevel::try_new(3)?),
            false => Compression::UNCOMPRESSED,
        };
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let mut options = ArrowWriterOptions::new().with_properties(properties);
        if let Some(schema) = schema_with_uuids(schema, batches)? {
            options = options.with_parquet_schema(schema);
        }
        ArrowWriter::try_new_with_options(to, batches.clone(), options)
    }
}

/// Parquet's schema where it says which columns are of UUIDs; otherwise its own conversion does.
fn schema_with_uuids(schema: &Schema, batches: &SchemaRef) -> Result<Option<SchemaDescriptor>> {
    if schema
        .fields()
        .iter()
        .all(|field| *field.kind() != Kind::Uuid)
    {
        return Ok(None);
    }
    let converted = ArrowSchemaConverter::new().convert(batches)?;
    let fields = converted.root_schema().get_fields().iter();
    let fields = fields.zip(schema.fields()).map(|(converted, field)| {
        if *field.kind() != Kind::Uuid {
            return Ok(converted.clone());
        }
        let repetition = match field.is_nullable() {
            true => Repetition::OPTIONAL,
            false => Repetition::REQUIRED,
        };
        let uuid = Type::primitive_type_builder(field.name(), PhysicalType::FIXED_LEN_BYTE_ARRAY)
            .with_length(16)
            .with_logical_type(Some(LogicalType::Uuid))
            .with_repetition(repetition)
            .build()?;
        Ok(Arc::new(uuid))
    });
    let root = Type::group_type_builder(converted.root_schema().name())
        .with_fields(fields.collect::<Result<Vec<_>>>()?)
        .build()?;
    Ok(Some(SchemaDescriptor::new(Arc::new(root))))
}

impl Encoding for Parquet {
    fn name(&self) -> &'static str {
        match self.zstd {
            true => "parquet-zstd",
            false => "parquet",
        }
    }

    fn describes_itself(&self) -> bool {
        true
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> std::result::Result<(), EncodeError> {
        let mut writer = ParquetWriter::new(out, *self, rows.schema())?;
        writer.write(rows)?;
        writer.finish()?;
        Ok(())
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> std::result::Result<Rows, DecodeError> {
        let form = self.name();
        let bytes = bytes::Bytes::copy_from_slice(bytes);
        let rows = ParquetReader::of_bytes(form, bytes, *limits)?.read_all()?;
        super::expected::expected(form, rows, schema)
    }
}
