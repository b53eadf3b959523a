//! JSON: an object for each row.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Encoding;
use super::intake::Intake;
use super::json::{Cell, Failure, Name, Outlet, read, take_in, write_text};
use super::names::{Names, check_names};
use crate::{DecodeError, EncodeError, Limits, Rows, Schema};

/// JSON: an array of objects, each a row with its columns by name. Named `json-objects`.
///
/// Values are as in [`JsonArrays`](super::JsonArrays). Two columns of one name cannot be carried. A reader takes the
/// names in any order, and takes one that is missing for null.
///
/// ```
/// use tamtam_rows::encoding::JsonObjects;
/// use tamtam_rows::{Column, Encoding, Field, Kind, Limits, Rows, Schema};
///
/// let schema = Schema::new([Field::new("n", Kind::I16), Field::nullable("name", Kind::Text)])?;
/// let rows = Rows::new(schema, [Column::from(vec![1_i16, 2]), Column::from_iter([Some("one"), None])])?;
/// let mut bytes = Vec::new();
/// JsonObjects.encode(&rows, &mut bytes)?;
/// assert_eq!(bytes, br#"[{"n":1,"name":"one"},{"n":2,"name":null}]"#);
///
/// let sparse = br#"[{"name": "one", "n": 1}, {"n": 2}]"#;
/// assert_eq!(JsonObjects.decode(sparse, Some(rows.schema()), &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonObjects;

pub(super) const FORM: &str = "json-objects";

impl Encoding for JsonObjects {
    fn name(&self) -> &'static str {
        FORM
    }

    fn describes_itself(&self) -> bool {
        false
    }

    fn encode(&self, rows: &Rows, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        check_names(FORM, rows.schema())?;
        // What stands before each value: the name, and what divides it from what was before.
        let mut names = Vec::new();
        let mut outlets: Vec<(Outlet<'_>, std::ops::Range<usize>)> = Vec::new();
        for (field, column) in rows.fields() {
            let start = names.len();
            names.push(if outlets.is_empty() { b'{' } else { b',' });
            write_text(field.name(), &mut names);
            names.push(b':');
            outlets.push((Outlet::new(field, column), start..names.len()));
        }
        out.push(b'[');
        out.reserve(rows.len() * (2 + names.len() + outlets.len() * 3));
        for row in 0..rows.len() {
            if row > 0 {
                out.push(b',');
            }
            for (outlet, name) in &outlets {
                out.extend_from_slice(&names[name.clone()]);
                outlet.write(FORM, row, out)?;
            }
            out.push(b'}');
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
        let read = |intake: &mut Intake<'_>| read_into(intake, bytes);
        Ok(take_in(intake, &mut false, read)?.0)
    }
}

/// All rows of an array.
pub(super) fn read_into(intake: &mut Intake<'_>, bytes: &[u8]) -> Result<(), DecodeError> {
    let failure = Failure::default();
    let seed = Table {
        names: Names::new(FORM, intake.schema())?,
        last_row: vec![0; intake.schema().len()],
        intake,
        failure: &failure,
    };
    read(FORM, bytes, &failure, seed)
}

/// All of it.
struct Table<'t, 'a> {
    intake: &'t mut Intake<'a>,
    names: Names<'a>,
    /// Of each column the row, counted from 1, in which it was seen last.
    last_row: Vec<u64>,
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
        formatter.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut sequence: A) -> Result<(), A::Error> {
        while sequence
            .next_element_seed(Row { table: &mut self })?
            .is_some()
        {}
        Ok(())
    }
}

/// A row.
struct Row<'r, 't, 'a> {
    table: &'r mut Table<'t, 'a>,
}

impl<'de> DeserializeSeed<'de> for Row<'_, '_, '_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Row<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the object of row {}", self.table.intake.rows())
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Table {
            intake,
            names,
            last_row,
            failure,
        } = self.table;
        let row = intake.rows() as usize;
        let fields = intake.schema().fields();
        if fields.is_empty() {
            return Err(de::Error::custom(
                "there is a row, and the table has no columns",
            ));
        }
        let (mut expected, mut seen) = (0, 0);
        while let Some(index) = map.next_key_seed(Name {
            names: &mut *names,
            expected,
            form: FORM,
            failure,
        })? {
            if last_row[index] == row as u64 + 1 {
                let name = fields[index].name();
                return Err(de::Error::custom(format!("row {row} has {name:?} twice")));
            }
            last_row[index] = row as u64 + 1;
            let variable = map.next_value_seed(Cell {
                inlet: &mut intake.columns[index],
                field: &fields[index],
                form: FORM,
                row,
                nulls: intake.nulls,
                failure,
            })?;
            intake.add_variable(variable);
            expected = index + 1;
            seen += 1;
        }
        if seen < fields.len() {
            for (index, inlet) in intake.columns.iter_mut().enumerate() {
                if last_row[index] != row as u64 + 1 && inlet.push_null().is_err() {
                    return Err(failure.keep(DecodeError::Schema {
                        form: FORM,
                        reason: format!(
                            "row {row} has no {:?}, a column without nulls",
                            fields[index].name()
                        ),
                    }));
                }
            }
        }
        intake.end_row().map_err(|limit| failure.keep(limit))
    }
}
