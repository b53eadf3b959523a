//! Rows as objects of AMF3, whose names are sent once.

use std::sync::Arc;

use tamtam_amf::amf3::{Decoder, Encoder, Event, Traits};

use super::cell::{Cell, Style};
use super::failure;
use crate::encoding::intake::Intake;
use crate::encoding::names::{Names, check_names};
use crate::shortened::shortened;
use crate::{DecodeError, EncodeError, Encoding, Field, Limits, Rows, Schema};

/// AMF3: an array of objects that share their traits, so that the columns' names are written once. Named
/// `amf3-objects`.
///
/// Integers of up to 29 bits take one to four bytes: their length varies with their size, which is no Huffman code, as
/// is sometimes said. Others are doubles, and one that no double holds is an error. A text that was written before is
/// a reference to that. Bytes are byte arrays; the rest is as in [`Amf0Objects::TYPED`](super::Amf0Objects::TYPED).
///
/// A reader takes objects of any class with their values as members of the traits, as properties beside them, or
/// both; not objects, dates or bytes that are references to others.
///
/// ```
/// use tamtam_rows::encoding::Amf3Objects;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("x", Kind::I16)])?;
/// let rows = Rows::new(schema.clone(), [Column::from(vec![7_i16, 200])])?;
/// let mut bytes = Vec::new();
/// Amf3Objects.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, b"\x09\x05\x01\x0a\x13\x01\x03x\x04\x07\x0a\x01\x04\x81\x48");
/// assert_eq!(Amf3Objects.decode(&bytes, Some(&schema), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amf3Objects;

const FORM: &str = "amf3-objects";

impl Encoding for Amf3Objects {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_names(FORM, rows.schema())?;
        let failed = |error| failure::encoding(FORM, &error);
        let names = rows.schema().fields().iter().map(Field::name);
        let mut scratch = Vec::new();
        let mut encoder = Encoder::new(out);
        let traits = encoder
            .define_traits(Traits::sealed("", names))
            .map_err(failed)?;
        encoder.begin_array(rows.len()).map_err(failed)?;
        for row in 0..rows.len() {
            encoder.begin_object(traits).map_err(failed)?;
            for (field, column) in rows.fields() {
                let cell = match column.is_null(row) {
                    true => Cell::Null,
                    false => {
                        Cell::of(FORM, Style::Amf3, field, column.values(), row, &mut scratch)?
                    }
                };
                match cell {
                    Cell::Null => encoder.write_null(),
                    Cell::Bool(value) => encoder.write_boolean(value),
                    Cell::Integer(value) => match i32::try_from(value) {
                        Ok(value) => encoder.write_integer(value),
                        Err(_) => encoder.write_double(value as f64),
                    },
                    Cell::Number(value) => encoder.write_double(value),
                    Cell::Date(time) => encoder.write_date(time),
                    Cell::Text(text) => encoder.write_string(text),
                    Cell::Bytes(bytes) => encoder.write_byte_array(bytes),
                }
                .map_err(failed)?;
            }
            encoder.end().map_err(failed)?;
        }
        encoder.end().map_err(failed)?;
        encoder.finish().map_err(failed)
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let intake = Intake::new(FORM, schema, limits)?;
        let mut reader = Reader {
            decoder: Decoder::new(bytes, failure::limits(bytes, limits)),
            at: 0,
            names: Names::new(FORM, intake.schema())?,
            last_row: vec![0; intake.schema().len()],
            members: Vec::new(),
            members_of: None,
            intake,
        };
        let Event::BeginArray { dense } = reader.next()? else {
            return Err(reader.unexpected("an array of rows is expected"));
        };
        for _ in 0..dense {
            reader.row()?;
        }
        // The end of the array.
        reader.next()?;
        let Reader {
            decoder, intake, ..
        } = reader;
        decoder
            .finish()
            .map_err(|error| failure::decoding(FORM, &error))?;
        intake.finish()
    }
}

struct Reader<'a, 's> {
    decoder: Decoder<'a>,
    /// Where the item that was read last begins.
    at: usize,
    names: Names<'s>,
    /// Of each column the row, counted from 1, in which it was seen last.
    last_row: Vec<u64>,
    /// The columns that the members of the traits mean that were met last.
    members: Vec<usize>,
    members_of: Option<usize>,
    intake: Intake<'s>,
}

impl<'a> Reader<'a, '_> {
    #[inline]
    fn next(&mut self) -> Result<Event<'a>, DecodeError> {
        self.at = self.decoder.position();
        match self.decoder.next_event() {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err(DecodeError::Truncated {
                form: FORM,
                what: "an array of rows",
                at: self.at as u64,
            }),
            Err(error) => Err(failure::decoding(FORM, &error)),
        }
    }

    #[cold]
    fn unexpected(&self, reason: &str) -> DecodeError {
        failure::unexpected(FORM, self.at, reason)
    }

    fn row(&mut self) -> Result<(), DecodeError> {
        let Event::BeginObject { traits } = self.next()? else {
            return Err(self.unexpected("an object is expected, a row"));
        };
        if self.intake.schema().is_empty() {
            return Err(self.unexpected("there is a row, and the table has no columns"));
        }
        if self.members_of != Some(traits) {
            self.learn(traits)?;
        }
        let number = self.intake.rows() + 1;
        for member in 0..self.members.len() {
            let event = self.next()?;
            self.take(self.members[member], number, event)?;
        }
        let mut seen = self.members.len();
        while let Event::Property(name) = self.next()? {
            let index = self.column(name, seen)?;
            let event = self.next()?;
            self.take(index, number, event)?;
            seen += 1;
        }
        if seen < self.last_row.len() {
            self.fill(number)?;
        }
        self.intake.end_row()
    }

    /// Which columns the members of these traits are.
    #[cold]
    fn learn(&mut self, traits: usize) -> Result<(), DecodeError> {
        let known: Option<Arc<Traits>> = self.decoder.traits(traits).cloned();
        self.members.clear();
        for name in known.iter().flat_map(|traits| &traits.members) {
            let index = self.column(name, self.members.len())?;
            self.members.push(index);
        }
        self.members_of = Some(traits);
        Ok(())
    }

    fn column(&mut self, name: &str, expected: usize) -> Result<usize, DecodeError> {
        self.names
            .find(name, expected)
            .ok_or_else(|| DecodeError::Schema {
                form: FORM,
                reason: format!(
                    "it has the column {:?}, which was not asked for",
                    shortened(name)
                ),
            })
    }

    #[inline]
    fn take(&mut self, index: usize, number: u64, event: Event<'a>) -> Result<(), DecodeError> {
        if std::mem::replace(&mut self.last_row[index], number) == number {
            return Err(self.unexpected("a row has a column twice"));
        }
        let cell = match event {
            Event::Integer(value) => Cell::Integer(value.into()),
            Event::Double(value) => Cell::Number(value),
            Event::String(text) | Event::XmlDocument(text) | Event::Xml(text) => Cell::Text(text),
            Event::Null | Event::Undefined => Cell::Null,
            Event::Boolean(value) => Cell::Bool(value),
            Event::Date(milliseconds) => Cell::Date(milliseconds),
            Event::ByteArray(bytes) => Cell::Bytes(bytes),
            _ => return Err(self.unexpected("a value of a column is expected")),
        };
        let field = &self.intake.schema().fields()[index];
        match cell.put(Style::Amf3, field, &mut self.intake.columns[index]) {
            Ok(variable) => {
                self.intake.add_variable(variable);
                Ok(())
            }
            Err(refusal) => Err(self.intake.refused(index, refusal, &format!("{cell:?}"))),
        }
    }

    /// What a row does not have is null.
    #[cold]
    fn fill(&mut self, number: u64) -> Result<(), DecodeError> {
        for index in 0..self.last_row.len() {
            if self.last_row[index] != number && self.intake.columns[index].push_null().is_err() {
                return Err(DecodeError::Schema {
                    form: FORM,
                    reason: format!(
                        "row {} has no {:?}, a column without nulls",
                        number - 1,
                        self.intake.schema().fields()[index].name()
                    ),
                });
            }
        }
        Ok(())
    }
}
