//! Rows as a record set of Flash Remoting in AMF0.

use tamtam_amf::recordset::{
    self, Block, Cell as RecordSetCell, CellKind, CellSink, Encoder, Expected, ServerInfo,
};

use super::cell::{Cell, Style, bytes_of_cells, is_text};
use super::failure;
use super::plain::PlainTable;
use crate::encoding::inlet::{Inlet, exact};
use crate::encoding::intake::Intake;
use crate::{DecodeError, EncodeError, Encoding, Field, Kind, Limits, Rows, Schema, Values};

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
        out.reserve(5 * rows.len() + bytes_of_cells(rows));
        let mut scratch = Vec::new();
        let mut encoder =
            Encoder::new(out, ServerInfo::whole(names, count), count).map_err(failed)?;
        if let Some(plain) = PlainTable::of(rows) {
            plain
                .write(|columns| encoder.write_columns(columns))
                .map_err(failed)?;
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
        let intake = Intake::new(FORM, schema, limits)?;
        let fields = intake.schema().fields();
        let mut sink = TableSink {
            intake,
            fields,
            refused: None,
        };
        let info = recordset::read_into(bytes, failure::limits(bytes, limits), &mut sink);
        if let Some(error) = sink.refused {
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
        sink.intake.finish()
    }
}

/// What a decoder reads, on its way into a table.
struct TableSink<'s> {
    intake: Intake<'s>,
    fields: &'s [Field],
    /// The first thing that was wrong, which counts: the reader goes on to the end.
    refused: Option<DecodeError>,
}

impl<'a> CellSink<'a> for TableSink<'_> {
    fn cell(&mut self, row: usize, column: usize, cell: RecordSetCell<'a>) {
        if self.refused.is_none() {
            self.refused = self.take(row, column, cell).err();
        }
    }

    fn expected(&self) -> Vec<Expected> {
        let expected = self.fields.iter().map(expected).collect::<Option<_>>();
        expected.unwrap_or_default()
    }

    fn block(&mut self, block: &Block<'a>) -> bool {
        if self.refused.is_some() {
            return false;
        }
        let rows = self.intake.rows() as usize;
        let mut variable = 0;
        let columns = self.fields.iter().zip(&mut self.intake.columns);
        // Rows in which something is wrong come once more, cell by cell, which finds out what.
        let is_taken = columns.enumerate().all(|(column, (field, inlet))| {
            match take_column(block, column, field, inlet) {
                Some(bytes) => {
                    variable += bytes;
                    true
                }
                None => false,
            }
        }) && self.intake.end_rows(block.rows(), variable);
        if !is_taken {
            for inlet in &mut self.intake.columns {
                inlet.truncate(rows);
            }
        }
        is_taken
    }
}

/// Takes the texts of a column out of a block, if all are. That they are UTF-8 is seen for all together.
fn take_texts(block: &Block<'_>, column: usize, inlet: &mut Inlet) -> Option<usize> {
    let mut joined = Vec::with_capacity(block.rows() * 8);
    let mut lengths = Vec::with_capacity(block.rows());
    let are_texts = block.join_texts(column, &mut joined, &mut lengths);
    are_texts.then_some(())?;
    let joined = std::str::from_utf8(&joined).ok()?;
    inlet.push_joined(joined, &lengths).ok()
}

/// Takes the numbers of a column out of a block, if all are for it.
fn take_numbers(block: &Block<'_>, column: usize, field: &Field, inlet: &mut Inlet) -> bool {
    let mut null_rows = Vec::new();
    macro_rules! of_type {
        ($values:expr, $exact:path) => {{
            let before = $values.len();
            $values.reserve(block.rows());
            let are_taken = block.numbers(column, |number| {
                let value = match number {
                    Some(number) => $exact(number),
                    None => {
                        null_rows.push($values.len() - before);
                        Some(Default::default())
                    }
                };
                value.map(|value| $values.push(value)).is_some()
            });
            are_taken && inlet.were_pushed(block.rows(), &null_rows)
        }};
    }
    match &mut inlet.values {
        Values::I8(values) => of_type!(values, exact::<i8>),
        Values::I16(values) => of_type!(values, exact::<i16>),
        Values::I32(values) => of_type!(values, exact::<i32>),
        Values::U8(values) => of_type!(values, exact::<u8>),
        Values::U16(values) => of_type!(values, exact::<u16>),
        Values::U32(values) => of_type!(values, exact::<u32>),
        Values::F64(values) => of_type!(values, Some),
        _ => block.numbers(column, |number| match number {
            Some(number) => Cell::Number(number).put(Style::Amf0, field, inlet).is_ok(),
            None => inlet.push_null().is_ok(),
        }),
    }
}

/// What the cells of a column are in the form, if all that are not null are of one kind there.
fn expected(field: &Field) -> Option<Expected> {
    let kind = match field.kind() {
        Kind::Bool => CellKind::Boolean,
        Kind::I8
        | Kind::I16
        | Kind::I32
        | Kind::I64
        | Kind::U8
        | Kind::U16
        | Kind::U32
        | Kind::U64
        | Kind::F32
        | Kind::F64 => CellKind::Number,
        kind if is_text(Style::Amf0, kind) => CellKind::Text,
        _ => return None,
    };
    Some(Expected {
        kind,
        is_nullable: field.is_nullable(),
    })
}

/// Takes a column's cells out of a block; the bytes that they take beyond the column's width, or nothing if one of them is
/// not for this column. Some may have been put there then.
fn take_column(
    block: &Block<'_>,
    column: usize,
    field: &Field,
    inlet: &mut Inlet,
) -> Option<usize> {
    let mut bytes = 0;
    let is_taken = match field.kind() {
        Kind::Text => return take_texts(block, column, inlet),
        Kind::Bool => block.booleans(column, |value| match value {
            Some(value) => inlet.push_bool(value).is_ok(),
            None => inlet.push_null().is_ok(),
        }),
        kind if is_text(Style::Amf0, kind) => block.texts(column, |text| match text {
            Some(text) => {
                let pushed = std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| inlet.push_text(text).ok());
                bytes += pushed.unwrap_or(0);
                pushed.is_some()
            }
            None => inlet.push_null().is_ok(),
        }),
        _ => take_numbers(block, column, field, inlet),
    };
    is_taken.then_some(bytes)
}

impl TableSink<'_> {
    fn take(
        &mut self,
        row: usize,
        column: usize,
        cell: RecordSetCell<'_>,
    ) -> Result<(), DecodeError> {
        let Some(field) = self.fields.get(column) else {
            return Err(DecodeError::Schema {
                form: FORM,
                reason: format!(
                    "row {row} has more values than the {} asked for",
                    self.fields.len()
                ),
            });
        };
        let intake = &mut self.intake;
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
        if column + 1 == self.fields.len() {
            intake.end_row()?;
        }
        Ok(())
    }
}
