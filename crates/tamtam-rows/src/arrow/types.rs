//! Which type of Arrow stands for which of ours.

use std::collections::HashMap;

use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::{DataType, Field as ArrowField, Schema as ArrowSchema, TimeUnit};

use crate::{DecodeError, Field, Kind, Schema, Unit, Zone};

/// The name of the extension type of UUIDs.
const UUID: &str = "arrow.uuid";

/// The schema of the record batches that a table of this schema becomes, as long as no column of text or bytes
/// exceeds 2 GiB.
pub fn schema_to_arrow(schema: &Schema) -> ArrowSchema {
    let fields: Vec<ArrowField> = schema
        .fields()
        .iter()
        .map(|field| field_to_arrow(field, false))
        .collect();
    ArrowSchema::new(fields)
}

/// The schema of the table that record batches of this schema become.
///
/// # Errors
/// [`DecodeError::Unsupported`] for a column of a type that a table does not have.
pub fn schema_from_arrow(schema: &ArrowSchema) -> Result<Schema, DecodeError> {
    schema_from("arrow", schema)
}

pub(crate) fn schema_from(form: &'static str, schema: &ArrowSchema) -> Result<Schema, DecodeError> {
    let fields = schema
        .fields()
        .iter()
        .map(|field| field_from_arrow(form, field));
    Ok(Schema::new(fields.collect::<Result<Vec<_>, _>>()?)?)
}

/// `large`: offsets of 64 bits.
pub(crate) fn field_to_arrow(field: &Field, large: bool) -> ArrowField {
    let data_type = match field.kind() {
        Kind::Bool => DataType::Boolean,
        Kind::I8 => DataType::Int8,
        Kind::I16 => DataType::Int16,
        Kind::I32 => DataType::Int32,
        Kind::I64 => DataType::Int64,
        Kind::U8 => DataType::UInt8,
        Kind::U16 => DataType::UInt16,
        Kind::U32 => DataType::UInt32,
        Kind::U64 => DataType::UInt64,
        Kind::F32 => DataType::Float32,
        Kind::F64 => DataType::Float64,
        // A scale is at most 38.
        Kind::Decimal { precision, scale } => DataType::Decimal128(*precision, *scale as i8),
        Kind::Date => DataType::Date32,
        Kind::Time(unit @ (Unit::Second | Unit::Millisecond)) => {
            DataType::Time32(unit_to_arrow(*unit))
        }
        Kind::Time(unit) => DataType::Time64(unit_to_arrow(*unit)),
        Kind::Timestamp(unit, zone) => DataType::Timestamp(
            unit_to_arrow(*unit),
            match zone {
                Zone::Local => None,
                Zone::Utc => Some("UTC".into()),
                Zone::Named(name) => Some(name.clone()),
            },
        ),
        Kind::Uuid => DataType::FixedSizeBinary(16),
        Kind::Text if large => DataType::LargeUtf8,
        Kind::Text => DataType::Utf8,
        Kind::Bytes if large => DataType::LargeBinary,
        Kind::Bytes => DataType::Binary,
    };
    let arrow = ArrowField::new(field.name(), data_type, field.is_nullable());
    match field.kind() {
        Kind::Uuid => arrow.with_metadata(uuid_metadata()),
        _ => arrow,
    }
}

/// What marks a field of 16 bytes as one of UUIDs.
pub(crate) fn uuid_metadata() -> HashMap<String, String> {
    HashMap::from([(EXTENSION_TYPE_NAME_KEY.to_owned(), UUID.to_owned())])
}

fn field_from_arrow(form: &'static str, field: &ArrowField) -> Result<Field, DecodeError> {
    let is_uuid = field
        .metadata()
        .get(EXTENSION_TYPE_NAME_KEY)
        .is_some_and(|name| name == UUID);
    let kind = match field.data_type() {
        DataType::FixedSizeBinary(16) if is_uuid => Some(Kind::Uuid),
        DataType::Dictionary(_, values) => kind_of(values),
        data_type => kind_of(data_type),
    };
    match kind {
        Some(kind) if field.is_nullable() => Ok(Field::nullable(field.name().as_str(), kind)),
        Some(kind) => Ok(Field::new(field.name().as_str(), kind)),
        None => Err(DecodeError::Unsupported {
            form,
            column: field.name().clone(),
            reason: format!(
                "it is of the type {}; leave the column out, or cast it before",
                shortened(&field.data_type().to_string())
            ),
        }),
    }
}

fn kind_of(data_type: &DataType) -> Option<Kind> {
    Some(match data_type {
        DataType::Boolean => Kind::Bool,
        DataType::Int8 => Kind::I8,
        DataType::Int16 => Kind::I16,
        DataType::Int32 => Kind::I32,
        DataType::Int64 => Kind::I64,
        DataType::UInt8 => Kind::U8,
        DataType::UInt16 => Kind::U16,
        DataType::UInt32 => Kind::U32,
        DataType::UInt64 => Kind::U64,
        DataType::Float16 | DataType::Float32 => Kind::F32,
        DataType::Float64 => Kind::F64,
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale) => Kind::Decimal {
            precision: *precision,
            // A negative one, hundreds counted in ones, has no counterpart.
            scale: u8::try_from(*scale).ok()?,
        },
        DataType::Date32 | DataType::Date64 => Kind::Date,
        DataType::Time32(unit) | DataType::Time64(unit) => Kind::Time(unit_from_arrow(unit)),
        DataType::Timestamp(unit, zone) => Kind::Timestamp(
            unit_from_arrow(unit),
            match zone {
                None => Zone::Local,
                Some(name) if &**name == "UTC" => Zone::Utc,
                Some(name) => Zone::Named(name.clone()),
            },
        ),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Kind::Bytes,
        // A stream may declare a negative one, on which Arrow's reader panics.
        DataType::FixedSizeBinary(0..) => Kind::Bytes,
        _ => return None,
    })
}

fn unit_to_arrow(unit: Unit) -> TimeUnit {
    match unit {
        Unit::Second => TimeUnit::Second,
        Unit::Millisecond => TimeUnit::Millisecond,
        Unit::Microsecond => TimeUnit::Microsecond,
        Unit::Nanosecond => TimeUnit::Nanosecond,
    }
}

fn unit_from_arrow(unit: &TimeUnit) -> Unit {
    match unit {
        TimeUnit::Second => Unit::Second,
        TimeUnit::Millisecond => Unit::Millisecond,
        TimeUnit::Microsecond => Unit::Microsecond,
        TimeUnit::Nanosecond => Unit::Nanosecond,
    }
}

/// A type of nested types may be long.
fn shortened(name: &str) -> String {
    let mut end = name.len().min(120);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let dots = if end < name.len() { "..." } else { "" };
    format!("{}{dots}", &name[..end])
}
