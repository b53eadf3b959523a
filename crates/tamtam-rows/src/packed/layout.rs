//! What lies around the columns: the beginning with the schema, the heads of chunks, the end.

use super::bytes::{FORM, Input, Result, write_varint};
use crate::{DecodeError, EncodeError, Field, Kind, Limits, Schema, Unit, Zone};

/// How the bytes begin: a byte that is no text, letters to recognise, and the version of the format.
pub(super) const MAGIC: [u8; 3] = [0xa7, b'T', b'T'];
pub(super) const VERSION: u8 = 1;

/// How many rows a chunk has at most.
pub const ROWS_PER_CHUNK: usize = 1 << 16;

/// The bytes of a checksum, which stands between the length of a part and the part.
pub(super) const CHECKSUM: usize = 4;

/// CRC-32C, as iSCSI has it.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

pub(super) fn write_schema(schema: &Schema) -> std::result::Result<Vec<u8>, EncodeError> {
    // A name has some ten bytes, and there are a few more for each column.
    let mut body = Vec::with_capacity(16 + 24 * schema.len());
    write_varint(&mut body, schema.len() as u64);
    for field in schema.fields() {
        write_text(&mut body, field.name());
        let (number, details) = number_of(field.kind());
        body.push(number | u8::from(field.is_nullable()) << 7);
        body.extend_from_slice(&details);
        if let Kind::Timestamp(_, Zone::Named(name)) = field.kind() {
            write_text(&mut body, name);
        }
    }
    if u32::try_from(body.len()).is_err() {
        return Err(EncodeError::Unsupported {
            form: FORM,
            what: "the schema".into(),
            reason: "the names of its columns take more than 4 GiB".into(),
        });
    }
    let mut bytes = Vec::with_capacity(16 + body.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.push(VERSION);
    append_part(&body, &mut bytes);
    Ok(bytes)
}

/// Appends a part of a table: its length, its checksum, and itself.
pub(super) fn append_part(body: &[u8], bytes: &mut Vec<u8>) {
    write_varint(bytes, body.len() as u64);
    bytes.extend_from_slice(&checksum(body).to_le_bytes());
    bytes.extend_from_slice(body);
}

fn write_text(bytes: &mut Vec<u8>, text: &str) {
    write_varint(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

fn number_of(kind: &Kind) -> (u8, Vec<u8>) {
    let unit = |unit: &Unit| (unit.digits() / 3) as u8;
    match kind {
        Kind::Bool => (0, vec![]),
        Kind::I8 => (1, vec![]),
        Kind::I16 => (2, vec![]),
        Kind::I32 => (3, vec![]),
        Kind::I64 => (4, vec![]),
        Kind::U8 => (5, vec![]),
        Kind::U16 => (6, vec![]),
        Kind::U32 => (7, vec![]),
        Kind::U64 => (8, vec![]),
        Kind::F32 => (9, vec![]),
        Kind::F64 => (10, vec![]),
        Kind::Decimal { precision, scale } => (11, vec![*precision, *scale]),
        Kind::Date => (12, vec![]),
        Kind::Time(of) => (13, vec![unit(of)]),
        Kind::Timestamp(of, Zone::Local) => (14, vec![unit(of), 0]),
        Kind::Timestamp(of, Zone::Utc) => (14, vec![unit(of), 1]),
        Kind::Timestamp(of, Zone::Named(_)) => (14, vec![unit(of), 2]),
        Kind::Uuid => (15, vec![]),
        Kind::Text => (16, vec![]),
        Kind::Bytes => (17, vec![]),
    }
}

/// The schema out of the body that [`write_schema`] made.
pub(super) fn read_schema(body: &[u8], origin: u64, limits: &Limits) -> Result<Schema> {
    let mut input = Input::new(body, origin, limits);
    let columns = input.varint("the number of columns")?;
    if columns > limits.columns as u64 {
        return Err(DecodeError::Limit {
            form: FORM,
            what: "columns",
            declared: columns,
            limit: limits.columns as u64,
        });
    }
    let mut fields = Vec::new();
    for _ in 0..columns {
        let name = read_text(&mut input)?;
        let byte = input.byte("the type of a column")?;
        let kind = read_kind(&mut input, byte & 0x7f)?;
        fields.push(if byte & 0x80 == 0 {
            Field::new(name, kind)
        } else {
            Field::nullable(name, kind)
        });
    }
    if input.left() != 0 {
        return Err(input.malformed("more bytes behind the last column of the schema"));
    }
    Ok(Schema::new(fields)?)
}

fn read_text<'a>(input: &mut Input<'a>) -> Result<&'a str> {
    let length = input.count(input.left(), "the length of a name")?;
    let bytes = input.take(length, "a name")?;
    std::str::from_utf8(bytes)
        .map_err(|error| input.malformed(format!("a name that is not UTF-8: {error}")))
}

fn read_unit(input: &mut Input<'_>) -> Result<Unit> {
    match input.byte("a unit of time")? {
        0 => Ok(Unit::Second),
        1 => Ok(Unit::Millisecond),
        2 => Ok(Unit::Microsecond),
        3 => Ok(Unit::Nanosecond),
        other => Err(input.malformed(format!("no unit of time is numbered {other}"))),
    }
}

fn read_kind(input: &mut Input<'_>, number: u8) -> Result<Kind> {
    Ok(match number {
        0 => Kind::Bool,
        1 => Kind::I8,
        2 => Kind::I16,
        3 => Kind::I32,
        4 => Kind::I64,
        5 => Kind::U8,
        6 => Kind::U16,
        7 => Kind::U32,
        8 => Kind::U64,
        9 => Kind::F32,
        10 => Kind::F64,
        11 => Kind::Decimal {
            precision: input.byte("a precision")?,
            scale: input.byte("a scale")?,
        },
        12 => Kind::Date,
        13 => Kind::Time(read_unit(input)?),
        14 => {
            let unit = read_unit(input)?;
            let zone = match input.byte("a rule of zones")? {
                0 => Zone::Local,
                1 => Zone::Utc,
                2 => Zone::Named(read_text(input)?.into()),
                other => {
                    return Err(input.malformed(format!("no rule of zones is numbered {other}")));
                }
            };
            Kind::Timestamp(unit, zone)
        }
        15 => Kind::Uuid,
        16 => Kind::Text,
        17 => Kind::Bytes,
        other => return Err(input.malformed(format!("no type is numbered {other}"))),
    })
}
