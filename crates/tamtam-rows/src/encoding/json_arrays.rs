//! JSON: an array for each row.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, SeqAccess, Visitor};

use super::Encoding;
use super::intake::Intake;
use super::json::{Cell, Failure, Outlet, expect_end, read, take_in, write_text};
use crate::error::counted;
use crate::shortened::shortened;
use crate::{DecodeError, EncodeError, Field, Limits, Rows, Schema};

/// JSON: an array whose first element is the array of names, each further one the array of a row's values. Named
/// `json-arrays`.
///
/// Integers, floats and decimals are JSON's numbers, exact in all their digits (those beyond the 15 or 16 that a float holds
/// are lost where a reader takes numbers for floats, as JavaScript does); dates, times, timestamps (ISO 8601), UUIDs and
/// bytes (Base64) are text; what is null is `null`. Infinity and NaN cannot be carried. A reader takes decimals in text,
/// too, and whatever stands in a column of text: a number or a truth value as it is written.
///
/// ```
/// use tamtam_rows::encoding::JsonArrays;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::I16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_i16, 2]), Column::from_iter([Some("one"), None])])?;
/// let mut bytes = Vec::new();
/// JsonArrays.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, br#"[["n","name"],[1,"one"],[2,null]]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonArrays;

pub(super) const FORM: &str = "json-arrays";

impl Encoding for JsonArrays {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let outlets: Vec<Outlet<'_>> = rows
            .fields()
            .map(|(field, column)| Outlet::new(field, column))
            .collect();
        out.extend_from_slice(b"[[");
        for field in rows.schema().fields() {
            write_text(field.name(), out);
            out.push(b',');
        }
        close(out, outlets.is_empty());
        out.reserve(rows.len() * (2 + outlets.len() * 4));
        for row in 0..rows.len() {
            out.extend_from_slice(b",[");
            for outlet in &outlets {
                outlet.write(FORM, row, out)?;
                out.push(b',');
            }
            close(out, outlets.is_empty());
        }
        out.push(b']');
        Ok(())
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let intake = || Intake::new(FORM, schema, limits);
        let read = |intake: &mut Intake<'_>| read_into(intake, bytes, true);
        Ok(take_in(intake, &mut false, read)?.0)
    }
}

/// All rows of an array, which begins with that of the names if it `has_names`.
pub(super) fn read_into(
    intake: &mut Intake<'_>,
    bytes: &[u8],
    has_names: bool,
) -> Result<(), DecodeError> {
    let failure = Failure::default();
    let seed = Table {
        intake,
        has_names,
        failure: &failure,
    };
    read(FORM, bytes, &failure, seed)
}

/// Closes an array; behind its last element stands a comma.
fn close(out: &mut Vec<u8>, is_empty: bool) {
    match out.last_mut() {
        Some(comma) if !is_empty => *comma = b']',
        _ => out.push(b']'),
    }
}

/// All of it.
struct Table<'t, 'a> {
    intake: &'t mut Intake<'a>,
    has_names: bool,
    failure: &'t Failure,
}

impl<'de> DeserializeSeed<'de> for Table<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Table<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of the names and the rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let header = Header {
            schema: self.intake.schema(),
            failure: self.failure,
        };
        if self.has_names && sequence.next_element_seed(header)?.is_none() {
            return Err(de::Error::custom("the array of names is missing"));
        }
        loop {
            let row = Row {
                intake: self.intake,
                failure: self.failure,
            };
            if sequence.next_element_seed(row)?.is_none() {
                return Ok(());
            }
        }
    }
}

/// The names.
struct Header<'s> {
    schema: &'s Schema,
    failure: &'s Failure,
}

impl<'de> DeserializeSeed<'de> for Header<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Header<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the array of names")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let differs = |reason| {
            self.failure
                .keep(DecodeError::Schema { form: FORM, reason })
        };
        let expected = self.schema.len();
        for (index, field) in self.schema.fields().iter().enumerate() {
            let name = sequence.next_element::<String>()?.ok_or_else(|| {
                differs(format!(
                    "it has {}, not {expected}",
                    counted(index, "column")
                ))
            })?;
            if name != field.name() {
                let name = shortened(&name);
                let reason = format!("column {index} is called {name:?}, not {:?}", field.name());
                return Err(differs(reason));
            }
        }
        match sequence.next_element::<de::IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(differs(format!(
                "it has more than {}",
                counted(expected, "column")
            ))),
        }
    }
}

/// A row.
struct Row<'t, 'a> {
    intake: &'t mut Intake<'a>,
    failure: &'t Failure,
}

impl<'de> DeserializeSeed<'de> for Row<'_, '_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the array of row {}", self.intake.rows())
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let row = self.intake.rows() as usize;
        let fields: &[Field] = self.intake.schema().fields();
        if fields.is_empty() {
            return Err(de::Error::custom(
                "there is a row, and the table has no columns",
            ));
        }
        for (index, field) in fields.iter().enumerate() {
            let cell = Cell {
                inlet: &mut self.intake.columns[index],
                field,
                form: FORM,
                row,
                nulls: self.intake.nulls,
                failure: self.failure,
            };
            match sequence.next_element_seed(cell)? {
                Some(variable) => self.intake.add_variable(variable),
                None => {
                    let columns = fields.len();
                    let reason =
                        format!("row {row} has {}, not {columns}", counted(index, "value"));
                    return Err(de::Error::custom(reason));
                }
            }
        }
        expect_end(sequence, || {
            format!("row {row} has more than {}", counted(fields.len(), "value"))
        })?;
        self.intake
            .end_row()
            .map_err(|limit| self.failure.keep(limit))
    }
}
