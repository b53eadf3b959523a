//! Rows as a record set of Flash Remoting in AMF0.

use tamtam_amf::recordset::{self, Cell as RecordSetCell, Encoder, ServerInfo};

use super::cell::{Cell, Style};
use super::failure;
use crate::encoding::intake::Intake;
use crate::{
    Column, DecodeError, EncodeError, Encoding, Field, Kind, Limits, Nulls, Rows, Schema, Values,
};

/// AMF0: the RecordSet of Flash Remoting and Amfphp, the columns' names once and each row as an array. Named
/// `amf0-recordset`.
///
/// Values are as in [`Amf0Objects::TYPED`](super::Amf0Objects::TYPED); columns may have equal names.
///
/// ```
/// use tamtam_rows::encoding::Amf0RecordSet;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("x", Kind::I16), Field::nullable("note", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![7_i16, 8]), Column::from_iter([Some("up"), None])])?;
/// let mut bytes = Vec::new();
/// Amf0RecordSet.encode(&rows, &mut bytes)?;
/// assert_eq!(Amf0RecordSet.decode(&bytes, Some(rows.schema()), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amf0RecordSet;

const FORM: &str = "amf0-recordset";

impl Encoding for Amf0RecordSet {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let failed = |error| failure::encoding(FORM, &error);
        let count = failure::length(FORM, "rows", rows.len())?;
        let names = rows.schema().fields().iter().map(Field::name);
        out.reserve(rows.len() * (5 + rows.schema().len() * 9));
        let mut scratch = Vec::new();
        let mut encoder =
            Encoder::new(out, ServerInfo::whole(names, count), count).map_err(failed)?;
        let plain: Option<Vec<_>> = rows
            .fields()
            .map(|(field, column)| PlainColumn::of(field, column))
            .collect();
        if let Some(plain) = plain {
            for row in 0..rows.len() {
                let cells = plain.iter().map(|column| column.cell(row));
                encoder.write_row(cells).map_err(failed)?;
            }
            return encoder.finish().map_err(failed);
        }
        for row in 0..rows.len() {
            encoder.begin_row().map_err(failed)?;
            for (field, column) in rows.fields() {
                let cell = match column.is_null(row) {
                    true => Cell::Null,
                    false => {
                        Cell::of(FORM, Style::Amf0, field, column.values(), row, &mut scratch)?
                    }
                };
                let cell = match cell {
                    Cell::Null => RecordSetCell::Null,
                    Cell::Bool(value) => RecordSetCell::Boolean(value),
                    Cell::Integer(value) => RecordSetCell::Number(value as f64),
                    Cell::Number(value) => RecordSetCell::Number(value),
                    Cell::Date(time) => RecordSetCell::Date(time),
                    Cell::Text(text) => RecordSetCell::String(text),
                    Cell::Bytes(_) => unreachable!("bytes are text in AMF0"),
                };
                encoder.write_cell(cell).map_err(failed)?;
            }
            encoder.end_row().map_err(failed)?;
        }
        encoder.finish().map_err(failed)
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let mut intake = Intake::new(FORM, schema, limits)?;
        let fields = intake.schema().fields();
        // The reader goes on to the end: the first thing that was wrong counts.
        let mut refused = None;
        let info = recordset::read(
            bytes,
            failure::limits(bytes, limits),
            |row, column, cell| {
                if refused.is_none() {
                    refused = take(&mut intake, fields, row, column, cell).err();
                }
            },
        );
        if let Some(error) = refused {
            return Err(error);
        }
        let info = info.map_err(|error| failure::decoding(FORM, &error))?;
        let names = || fields.iter().map(Field::name);
        if !names().eq(info.columns.iter().map(String::as_str)) {
            let first = names()
                .zip(&info.columns)
                .find(|(asked, found)| asked != found);
            return Err(DecodeError::Schema {
                form: FORM,
                reason: match first {
                    Some((asked, found)) => format!("a column is called {found:?}, not {asked:?}"),
                    None => format!(
                        "it has {} columns, not {}",
                        info.columns.len(),
                        fields.len()
                    ),
                },
            });
        }
        intake.finish()
    }
}

/// A column of values that are cells as they are, whatever they are: no number is too large, and nothing becomes text.
struct PlainColumn<'a> {
    values: &'a Values,
    nulls: Option<&'a Nulls>,
}

impl<'a> PlainColumn<'a> {
    fn of(field: &Field, column: &'a Column) -> Option<Self> {
        let is_plain = match column.values() {
            Values::Bool(_)
            | Values::I8(_)
            | Values::I16(_)
            | Values::U8(_)
            | Values::U16(_)
            | Values::U32(_)
            | Values::F64(_)
            | Values::Text(_) => true,
            // Its numbers may be days.
            Values::I32(_) => field.kind() == &Kind::I32,
            _ => false,
        };
        is_plain.then(|| PlainColumn {
            values: column.values(),
            nulls: column.nulls(),
        })
    }

    #[inline]
    fn cell(&self, row: usize) -> RecordSetCell<'a> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return RecordSetCell::Null;
        }
        match self.values {
            Values::Bool(values) => RecordSetCell::Boolean(values[row]),
            Values::I8(values) => RecordSetCell::Number(values[row].into()),
            Values::I16(values) => RecordSetCell::Number(values[row].into()),
            Values::I32(values) => RecordSetCell::Number(values[row].into()),
            Values::U8(values) => RecordSetCell::Number(values[row].into()),
            Values::U16(values) => RecordSetCell::Number(values[row].into()),
            Values::U32(values) => RecordSetCell::Number(values[row].into()),
            Values::F64(values) => RecordSetCell::Number(values[row]),
            Values::Text(texts) => RecordSetCell::String(texts.get(row)),
            _ => unreachable!("such a column is not plain"),
        }
    }
}

fn take(
    intake: &mut Intake<'_>,
    fields: &[Field],
    row: usize,
    column: usize,
    cell: RecordSetCell<'_>,
) -> Result<(), DecodeError> {
    let Some(field) = fields.get(column) else {
        return Err(DecodeError::Schema {
            form: FORM,
            reason: format!(
                "row {row} has more values than the {} asked for",
                fields.len()
            ),
        });
    };
    // Where a row is shorter than the schema, the next begins too early.
    if row as u64 != intake.rows() {
        return Err(DecodeError::Schema {
            form: FORM,
            reason: format!("row {} has fewer values than asked for", intake.rows()),
        });
    }
    let cell = match cell {
        RecordSetCell::Null => Cell::Null,
        RecordSetCell::Number(number) => Cell::Number(number),
        RecordSetCell::Boolean(value) => Cell::Bool(value),
        RecordSetCell::String(text) => Cell::Text(text),
        RecordSetCell::Date(time) => Cell::Date(time),
    };
    match cell.put(Style::Amf0, field, &mut intake.columns[column]) {
        Ok(variable) => intake.add_variable(variable),
        Err(refusal) => return Err(intake.refused(column, refusal, &format!("{cell:?}"))),
    }
    if column + 1 == fields.len() {
        intake.end_row()?;
    }
    Ok(())
}
