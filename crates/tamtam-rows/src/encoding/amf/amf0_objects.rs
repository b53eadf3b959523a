//! Rows as objects of AMF0, as Amfphp sends them.

use tamtam_amf::amf0::{Decoder, Encoder, Event, Name};

use super::cell::{Cell, Style, bytes_of_cells};
use super::failure;
use super::plain::PlainTable;
use crate::encoding::intake::Intake;
use crate::encoding::names::{Names, check_names};
use crate::shortened::shortened;
use crate::{DecodeError, EncodeError, Encoding, Limits, Rows, Schema};

/// AMF0: an array of objects, each a row with its columns by name: `amf0-objects`; and with each value as text, as
/// PHP gave them to Amfphp, `amf0-objects-text`.
///
/// Numbers are doubles, and an integer that none holds is an error. Dates, and timestamps in seconds and
/// milliseconds, are dates of AMF. Decimals, UUIDs, bytes (in Base64), times and finer timestamps are text. Two
/// columns of one name cannot be carried.
///
/// A reader takes objects, objects of a class and associative arrays, with the names in any order, one that is missing
/// for null; not objects that are references to others.
///
/// ```
/// use tamtam_rows::encoding::Amf0Objects;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("x", Kind::I16)])?;
/// let rows = Rows::new(schema.clone(), [Column::from(vec![7_i16])])?;
/// let mut bytes = Vec::new();
/// Amf0Objects::TYPED.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, b"\x0a\0\0\0\x01\x03\0\x01x\0\x40\x1c\0\0\0\0\0\0\0\0\x09");
/// assert_eq!(Amf0Objects::TYPED.decode(&bytes, Some(&schema), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amf0Objects {
    style: Style,
}

impl Amf0Objects {
    /// Each value as what it is.
    pub const TYPED: Amf0Objects = Amf0Objects { style: Style::Amf0 };
    /// Each value as text.
    pub const TEXTS: Amf0Objects = Amf0Objects { style: Style::Text };

    fn write(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let form = self.name();
        let failed = |error| failure::encoding(form, &error);
        let fields = rows.schema().fields().iter();
        let names = fields.map(|field| Name::new(field.name()));
        let names: Vec<Name> = names.collect::<Result<_, _>>().map_err(failed)?;
        let names_of_row: usize = names.iter().map(|name| 2 + name.as_str().len()).sum();
        out.reserve(rows.len() * (4 + names_of_row) + bytes_of_cells(rows));
        let mut scratch = Vec::new();
        let mut encoder = Encoder::new(out);
        let count = failure::length(form, "rows", rows.len())?;
        encoder.begin_strict_array(count).map_err(failed)?;
        let plain = PlainTable::of(rows).filter(|_| self.style == Style::Amf0);
        if let Some(plain) = plain {
            plain
                .write(|columns| encoder.write_objects(&names, columns))
                .map_err(failed)?;
            encoder.end().map_err(failed)?;
            return encoder.finish().map_err(failed);
        }
        for row in 0..rows.len() {
            encoder.begin_object().map_err(failed)?;
            for (name, (field, column)) in names.iter().zip(rows.fields()) {
                let cell = match column.is_null(row) {
                    true => Cell::Null,
                    false => Cell::of(form, self.style, field, column.values(), row, &mut scratch)?,
                };
                match cell {
                    Cell::Integer(value) => encoder.property_number(name, value as f64),
                    Cell::Number(value) => encoder.property_number(name, value),
                    Cell::Text(text) => encoder.property_string(name, text),
                    Cell::Null => encoder
                        .property_name(name)
                        .and_then(|()| encoder.write_null()),
                    Cell::Bool(value) => encoder
                        .property_name(name)
                        .and_then(|()| encoder.write_boolean(value)),
                    Cell::Date(time) => encoder
                        .property_name(name)
                        .and_then(|()| encoder.write_date(time, 0)),
                    Cell::Bytes(_) => unreachable!("bytes are text in AMF0"),
                }
                .map_err(failed)?;
            }
            encoder.end().map_err(failed)?;
        }
        encoder.end().map_err(failed)?;
        encoder.finish().map_err(failed)
    }
}

impl Encoding for Amf0Objects {
    fn name(&self) -> &'static str {
        match self.style {
            Style::Text => "amf0-objects-text",
            _ => "amf0-objects",
        }
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_names(self.name(), rows.schema())?;
        self.write(rows, out)
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let form = self.name();
        let intake = Intake::new(form, schema, limits)?;
        let mut reader = Reader {
            form,
            style: self.style,
            decoder: Decoder::new(bytes, failure::limits(bytes, limits)),
            at: 0,
            names: Names::new(form, intake.schema())?,
            last_row: vec![0; intake.schema().len()],
            intake,
        };
        let Event::BeginStrictArray { length } = reader.next()? else {
            return Err(reader.unexpected("an array of rows is expected"));
        };
        for _ in 0..length {
            reader.row()?;
        }
        // The end of the array.
        reader.next()?;
        let Reader {
            decoder, intake, ..
        } = reader;
        decoder
            .finish()
            .map_err(|error| failure::decoding(form, &error))?;
        intake.finish()
    }
}

struct Reader<'a, 's> {
    form: &'static str,
    style: Style,
    decoder: Decoder<'a>,
    /// Where the item that was read last begins.
    at: usize,
    names: Names<'s>,
    /// Of each column the row, counted from 1, in which it was seen last.
    last_row: Vec<u64>,
    intake: Intake<'s>,
}

impl<'a> Reader<'a, '_> {
    #[inline]
    fn next(&mut self) -> Result<Event<'a>, DecodeError> {
        self.at = self.decoder.position();
        match self.decoder.next_event() {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(DecodeError::Truncated {
                form: self.form,
                what: "an array of rows",
                at: self.at as u64,
            }),
            Err(error) => Err(failure::decoding(self.form, &error)),
        }
    }

    #[cold]
    fn unexpected(&self, reason: &str) -> DecodeError {
        failure::unexpected(self.form, self.at, reason)
    }

    fn row(&mut self) -> Result<(), DecodeError> {
        if !matches!(
            self.next()?,
            Event::BeginObject | Event::BeginTypedObject(_) | Event::BeginEcmaArray { .. }
        ) {
            return Err(self.unexpected("an object is expected, a row"));
        }
        let number = self.intake.rows() + 1;
        let fields = self.intake.schema().fields();
        if fields.is_empty() {
            return Err(self.unexpected("there is a row, and the table has no columns"));
        }
        let (mut expected, mut seen) = (0, 0);
        while let Event::Property(name) = self.next()? {
            let Some(index) = self.names.find(name, expected) else {
                return Err(DecodeError::Schema {
                    form: self.form,
                    reason: format!(
                        "it has the column {:?}, which was not asked for",
                        shortened(name)
                    ),
                });
            };
            if std::mem::replace(&mut self.last_row[index], number) == number {
                return Err(self.unexpected(&format!("a row has {name:?} twice")));
            }
            let cell = self.cell()?;
            match cell.put(self.style, &fields[index], &mut self.intake.columns[index]) {
                Ok(variable) => self.intake.add_variable(variable),
                Err(refusal) => {
                    return Err(self.intake.refused(index, refusal, &format!("{cell:?}")));
                }
            }
            expected = index + 1;
            seen += 1;
        }
        if seen < fields.len() {
            for (index, field) in fields.iter().enumerate() {
                if self.last_row[index] != number && self.intake.columns[index].push_null().is_err()
                {
                    return Err(DecodeError::Schema {
                        form: self.form,
                        reason: format!(
                            "row {} has no {:?}, a column without nulls",
                            number - 1,
                            field.name()
                        ),
                    });
                }
            }
        }
        self.intake.end_row()
    }

    #[inline]
    fn cell(&mut self) -> Result<Cell<'a>, DecodeError> {
        Ok(match self.next()? {
            Event::Number(number) => Cell::Number(number),
            Event::String(text) | Event::XmlDocument(text) => Cell::Text(text),
            Event::Null | Event::Undefined | Event::Unsupported => Cell::Null,
            Event::Boolean(value) => Cell::Bool(value),
            Event::Date { milliseconds, .. } => Cell::Date(milliseconds),
            _ => return Err(self.unexpected("a value of a column is expected")),
        })
    }
}
