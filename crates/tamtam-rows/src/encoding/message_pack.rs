//! MessagePack: an array for each row.

use rmp::Marker;
use rmp::{decode, encode};

use super::Encoding;
use super::inlet::{Inlet, Refusal};
use super::intake::Intake;
use crate::shortened::shortened;
use crate::{DecodeError, EncodeError, Field, Kind, Limits, Rows, Schema, Values, cell_text};

/// MessagePack: an array whose first element is the array of names, each further one the array of a row's values.
/// Named `message-pack`.
///
/// Integers take the fewest bytes that hold them; dates, times and timestamps are the integers that count their days
/// or units; a UUID is 16 bytes; decimals, which MessagePack does not have, are text. Everything can be carried, up to
/// 2^32 − 2 rows.
///
/// ```
/// use tamtam_rows::encoding::MessagePack;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::I16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_i16, 2]), Column::from_iter([Some("one"), None])])?;
/// let mut bytes = Vec::new();
/// MessagePack.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, b"\x93\x92\xa1n\xa4name\x92\x01\xa3one\x92\x02\xc0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessagePack;

const FORM: &str = "message-pack";

impl Encoding for MessagePack {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let too_many = |what: &str| EncodeError::Unsupported {
            form: FORM,
            what: what.to_owned(),
            reason: "its lengths have 32 bits; divide the table into several".into(),
        };
        let elements = u32::try_from(rows.len())
            .ok()
            .and_then(|rows| rows.checked_add(1))
            .ok_or_else(|| too_many("so many rows"))?;
        let columns =
            u32::try_from(rows.schema().len()).map_err(|_| too_many("so many columns"))?;
        let failed = |_| failed();
        encode::write_array_len(out, elements).map_err(failed)?;
        encode::write_array_len(out, columns).map_err(failed)?;
        for field in rows.schema().fields() {
            if u32::try_from(field.name().len()).is_err() {
                return Err(too_many("so long a name"));
            }
            encode::write_str(out, field.name()).map_err(failed)?;
        }
        let mut scratch = Vec::new();
        for row in 0..rows.len() {
            encode::write_array_len(out, columns).map_err(failed)?;
            for (field, column) in rows.fields() {
                if column.is_null(row) {
                    out.push(Marker::Null.to_u8());
                } else {
                    write(field, column.values(), row, &mut scratch, out)?;
                }
            }
        }
        Ok(())
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let mut intake = Intake::new(FORM, schema, limits)?;
        let mut source = Source {
            total: bytes.len(),
            rest: bytes,
        };
        let elements = source.array("the array of names and rows")?;
        let rows = elements
            .checked_sub(1)
            .ok_or_else(|| source.malformed("the array of names is missing".into()))?;
        if u64::from(rows) > limits.rows {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "rows",
                declared: rows.into(),
                limit: limits.rows,
            });
        }
        source.names(intake.schema())?;
        let columns = intake.columns.len();
        if columns == 0 && rows > 0 {
            return Err(source.malformed("there are rows, and the table has no columns".into()));
        }
        for row in 0..rows {
            let values = source.array("the array of a row")?;
            if values as usize != columns {
                let reason = format!("row {row} has {values} values, not {columns}");
                return Err(source.malformed(reason));
            }
            for index in 0..columns {
                let variable = source.cell(&mut intake, index)?;
                intake.add_variable(variable);
            }
            intake.end_row()?;
        }
        if !source.rest.is_empty() {
            return Err(source.malformed("more bytes follow".into()));
        }
        intake.finish()
    }
}

/// A vector takes all that is written: this is for the type.
#[cold]
fn failed() -> EncodeError {
    EncodeError::Failed {
        form: FORM,
        reason: "the bytes could not be stored".into(),
    }
}

#[inline]
fn write(
    field: &Field,
    values: &Values,
    row: usize,
    scratch: &mut Vec<u8>,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let failed = |_| failed();
    let result = match values {
        Values::Bool(values) => {
            let marker = if values[row] {
                Marker::True
            } else {
                Marker::False
            };
            out.push(marker.to_u8());
            return Ok(());
        }
        Values::I8(values) => encode::write_sint(out, values[row].into()),
        Values::I16(values) => encode::write_sint(out, values[row].into()),
        Values::I32(values) => encode::write_sint(out, values[row].into()),
        Values::I64(values) => encode::write_sint(out, values[row]),
        Values::U8(values) => encode::write_uint(out, values[row].into()),
        Values::U16(values) => encode::write_uint(out, values[row].into()),
        Values::U32(values) => encode::write_uint(out, values[row].into()),
        Values::U64(values) => encode::write_uint(out, values[row]),
        Values::F32(values) => return encode::write_f32(out, values[row]).map_err(failed),
        Values::F64(values) => return encode::write_f64(out, values[row]).map_err(failed),
        Values::I128(_) => {
            scratch.clear();
            cell_text::write(values, field.kind(), row, scratch).map_err(|reason| {
                EncodeError::Value {
                    form: FORM,
                    column: field.name().to_owned(),
                    row,
                    reason: reason.to_owned(),
                }
            })?;
            encode::write_str_len(out, scratch.len() as u32).map_err(failed)?;
            out.extend_from_slice(scratch);
            return Ok(());
        }
        // A column has at most 4 GiB of text or bytes, so that a length fits.
        Values::Text(texts) => return encode::write_str(out, texts.get(row)).map_err(failed),
        Values::Bytes(slices) => return encode::write_bin(out, slices.get(row)).map_err(failed),
        Values::Uuid(values) => return encode::write_bin(out, &values[row]).map_err(failed),
    };
    result.map(drop).map_err(failed)
}

/// Bytes to be read.
struct Source<'a> {
    total: usize,
    rest: &'a [u8],
}

impl<'a> Source<'a> {
    fn at(&self) -> u64 {
        (self.total - self.rest.len()) as u64
    }

    #[cold]
    fn malformed(&self, reason: String) -> DecodeError {
        DecodeError::Malformed {
            form: FORM,
            at: self.at(),
            reason,
        }
    }

    #[cold]
    fn truncated(&self, what: &'static str) -> DecodeError {
        DecodeError::Truncated {
            form: FORM,
            what,
            at: self.total as u64,
        }
    }

    #[inline]
    fn marker(&mut self) -> Result<Marker, DecodeError> {
        decode::read_marker(&mut self.rest).map_err(|_| self.truncated("a value"))
    }

    /// A number of so many bytes, the highest first.
    #[inline]
    fn number<const BYTES: usize>(&mut self) -> Result<[u8; BYTES], DecodeError> {
        let (bytes, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| self.truncated("a number"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn array(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        let at = self.at();
        match self.marker()? {
            Marker::FixArray(length) => Ok(length.into()),
            Marker::Array16 => Ok(u16::from_be_bytes(self.number()?).into()),
            Marker::Array32 => Ok(u32::from_be_bytes(self.number()?)),
            other => Err(DecodeError::Malformed {
                form: FORM,
                at,
                reason: format!("{other:?} stands where {what} is expected"),
            }),
        }
    }

    /// So many bytes.
    #[inline]
    fn take(&mut self, length: u32) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = usize::try_from(length)
            .ok()
            .and_then(|length| self.rest.split_at_checked(length))
            .ok_or_else(|| self.truncated("the rest of a text or of bytes"))?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn text(&mut self, length: u32) -> Result<&'a str, DecodeError> {
        let at = self.at();
        std::str::from_utf8(self.take(length)?).map_err(|error| DecodeError::Malformed {
            form: FORM,
            at: at + error.valid_up_to() as u64,
            reason: "a text is not UTF-8".into(),
        })
    }

    /// The array of names, which must be those of the schema.
    fn names(&mut self, schema: &Schema) -> Result<(), DecodeError> {
        let differs = |reason: String| Err(DecodeError::Schema { form: FORM, reason });
        let columns = self.array("the array of names")?;
        if columns as usize != schema.len() {
            return differs(format!("it has {columns} columns, not {}", schema.len()));
        }
        for (index, field) in schema.fields().iter().enumerate() {
            let length = match self.marker()? {
                Marker::FixStr(length) => length.into(),
                Marker::Str8 => u8::from_be_bytes(self.number()?).into(),
                Marker::Str16 => u16::from_be_bytes(self.number()?).into(),
                Marker::Str32 => u32::from_be_bytes(self.number()?),
                other => {
                    let reason = format!("{other:?} stands where a name is expected");
                    return Err(self.malformed(reason));
                }
            };
            let name = self.text(length)?;
            if name != field.name() {
                let name = shortened(name);
                let expected = field.name();
                return differs(format!(
                    "column {index} is called {name:?}, not {expected:?}"
                ));
            }
        }
        Ok(())
    }

    /// One value into its column. The bytes that it takes beyond the column's width.
    #[inline]
    fn cell(&mut self, intake: &mut Intake<'_>, index: usize) -> Result<usize, DecodeError> {
        let field = &intake.schema().fields()[index];
        let inlet = &mut intake.columns[index];
        let marker = self.marker()?;
        let mut variable = 0;
        let signed = |inlet: &mut Inlet, value: i64| {
            push_integer(field, inlet, value < 0, value.unsigned_abs())
        };
        let unsigned = |inlet: &mut Inlet, value: u64| push_integer(field, inlet, false, value);
        let result = match marker {
            Marker::Null => inlet.push_null(),
            Marker::True => inlet.push_bool(true),
            Marker::False => inlet.push_bool(false),
            Marker::FixPos(value) => unsigned(inlet, value.into()),
            Marker::FixNeg(value) => signed(inlet, value.into()),
            Marker::U8 => unsigned(inlet, u8::from_be_bytes(self.number()?).into()),
            Marker::U16 => unsigned(inlet, u16::from_be_bytes(self.number()?).into()),
            Marker::U32 => unsigned(inlet, u32::from_be_bytes(self.number()?).into()),
            Marker::U64 => unsigned(inlet, u64::from_be_bytes(self.number()?)),
            Marker::I8 => signed(inlet, i8::from_be_bytes(self.number()?).into()),
            Marker::I16 => signed(inlet, i16::from_be_bytes(self.number()?).into()),
            Marker::I32 => signed(inlet, i32::from_be_bytes(self.number()?).into()),
            Marker::I64 => signed(inlet, i64::from_be_bytes(self.number()?)),
            Marker::F32 => inlet.push_f32(f32::from_be_bytes(self.number()?)),
            Marker::F64 => inlet.push_f64(f64::from_be_bytes(self.number()?)),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let length = match marker {
                    Marker::FixStr(length) => length.into(),
                    Marker::Str8 => u8::from_be_bytes(self.number()?).into(),
                    Marker::Str16 => u16::from_be_bytes(self.number()?).into(),
                    _ => u32::from_be_bytes(self.number()?),
                };
                let text = self.text(length)?;
                if matches!(field.kind(), Kind::Text | Kind::Decimal { .. }) {
                    inlet.push_text(text).map(|more| variable = more)
                } else {
                    Err(Refusal::Kind)
                }
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = match marker {
                    Marker::Bin8 => u8::from_be_bytes(self.number()?).into(),
                    Marker::Bin16 => u16::from_be_bytes(self.number()?).into(),
                    _ => u32::from_be_bytes(self.number()?),
                };
                let bytes = self.take(length)?;
                inlet.push_bytes(bytes).map(|more| variable = more)
            }
            _ => Err(Refusal::Kind),
        };
        match result {
            Ok(()) => Ok(variable),
            Err(refusal) => Err(intake.refused(index, refusal, &format!("of marker {marker:?}"))),
        }
    }
}

#[inline]
fn push_integer(
    field: &Field,
    inlet: &mut Inlet,
    is_negative: bool,
    magnitude: u64,
) -> Result<(), Refusal> {
    match field.kind() {
        Kind::Date | Kind::Time(_) | Kind::Timestamp(..) => {
            inlet.push_count(is_negative, magnitude)
        }
        _ => inlet.push_exact_integer(is_negative, magnitude),
    }
}
