//! JSON: an array for each column.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Encoding;
use super::intake::Intake;
use super::json::{Cell, Failure, Name, Outlet, read, take_in, write_text};
use super::names::{Names, check_names};
use crate::{DecodeError, EncodeError, Field, Limits, Rows, Schema};

/// JSON: an object with an array for each column. Named `json-columns`.
///
/// Values are as in [`JsonArrays`](super::JsonArrays). Two columns of one name cannot be carried. A reader takes the
/// columns in any order.
///
/// ```
/// use tamtam_rows::encoding::JsonColumns;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::I16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_i16, 2]), Column::from_iter([Some("one"), None])])?;
/// let mut bytes = Vec::new();
/// JsonColumns.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, br#"{"n":[1,2],"name":["one",null]}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonColumns;

pub(super) const FORM: &str = "json-columns";

impl Encoding for JsonColumns {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_names(FORM, rows.schema())?;
        out.push(b'{');
        for (index, (field, column)) in rows.fields().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            write_text(field.name(), out);
            out.extend_from_slice(b":[");
            out.reserve(rows.len() * 4);
            let outlet = Outlet::new(field, column);
            for row in 0..rows.len() {
                if row > 0 {
                    out.push(b',');
                }
                outlet.write(FORM, row, out)?;
            }
            out.push(b']');
        }
        out.push(b'}');
        Ok(())
    }

    fn decode(
        &self,
        bytes: &[u8],
        schema: Option<&Schema>,
        limits: &Limits,
    ) -> Result<Rows, DecodeError> {
        let intake = || Intake::new(FORM, schema, limits);
        let read = |intake: &mut Intake<'_>| read_into(intake, bytes, limits);
        Ok(take_in(intake, &mut false, read)?.0)
    }
}

/// All columns.
pub(super) fn read_into(
    intake: &mut Intake<'_>,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(), DecodeError> {
    let failure = Failure::default();
    let seed = Table {
        names: Names::new(FORM, intake.schema())?,
        intake,
        limits,
        failure: &failure,
    };
    read(FORM, bytes, &failure, seed)
}

/// All of it.
struct Table<'t, 'a> {
    intake: &'t mut Intake<'a>,
    names: Names<'a>,
    limits: &'t Limits,
    failure: &'t Failure,
}

impl<'de> DeserializeSeed<'de> for Table<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Table<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of columns")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let fields = self.intake.schema().fields();
        let differs = |reason: String| DecodeError::Schema { form: FORM, reason };
        let mut is_seen = vec![false; fields.len()];
        let (mut expected, mut bytes) = (0, 0);
        // The first column says how many rows there are.
        let mut rows: Option<usize> = None;
        while let Some(index) = map.next_key_seed(Name {
            names: &mut self.names,
            expected,
            form: FORM,
            failure: self.failure,
        })? {
            let name = fields[index].name();
            if std::mem::replace(&mut is_seen[index], true) {
                return Err(de::Error::custom(format!(
                    "the column {name:?} is there twice"
                )));
            }
            map.next_value_seed(Values {
                table: &mut self,
                index,
                field: &fields[index],
                bytes: &mut bytes,
            })?;
            let found = self.intake.columns[index].values.len();
            let expected_rows = *rows.get_or_insert(found);
            if found != expected_rows {
                return Err(de::Error::custom(format!(
                    "the column {name:?} has {found} rows where the first has {expected_rows}"
                )));
            }
            expected = index + 1;
        }
        match is_seen.iter().position(|is_seen| !is_seen) {
            None => Ok(()),
            Some(index) => {
                let reason = format!("it has no column {:?}", fields[index].name());
                Err(self.failure.keep(differs(reason)))
            }
        }
    }
}

/// The values of a column.
struct Values<'v, 't, 'a> {
    table: &'v mut Table<'t, 'a>,
    index: usize,
    field: &'v Field,
    /// What the table takes so far.
    bytes: &'v mut u64,
}

impl<'de> DeserializeSeed<'de> for Values<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Values<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the array of column {:?}", self.field.name())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let Table {
            intake,
            limits,
            failure,
            ..
        } = self.table;
        let inlet = &mut intake.columns[self.index];
        let width = self.field.kind().width().unwrap_or(4) as u64;
        let mut row = 0;
        while let Some(variable) = sequence.next_element_seed(Cell {
            inlet: &mut *inlet,
            field: self.field,
            form: FORM,
            row,
            nulls: intake.nulls,
            failure,
        })? {
            row += 1;
            *self.bytes += width + variable as u64;
            let above = |what, declared, limit| {
                failure.keep(DecodeError::Limit {
                    form: FORM,
                    what,
                    declared,
                    limit,
                })
            };
            if row as u64 > limits.rows {
                return Err(above("rows", row as u64, limits.rows));
            }
            if *self.bytes > limits.bytes {
                return Err(above("bytes", *self.bytes, limits.bytes));
            }
        }
        Ok(())
    }
}
