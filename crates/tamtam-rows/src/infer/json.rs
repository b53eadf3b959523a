use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::field;
use super::guess::Guess;
use crate::encoding::json::{Failure, read};
use crate::encoding::json_blocks::JsonBlocks;
use crate::encoding::{JsonArrays, JsonColumns, JsonObjects};
use crate::{DecodeError, Encoding, Limits, Schema};

/// Which of the three forms of JSON this is, and the columns that it has. In an array of objects the columns are all
/// names that occur, in the order in which they do first; one that is missing in a row is null there.
///
/// ```
/// use tamtam_rows::{Field, Kind, Limits, infer};
///
/// let text = br#"[{"n": 1, "day": "2024-02-29"}, {"n": 2.5}]"#;
/// let (form, schema) = infer::json(text, &Limits::default())?;
/// assert_eq!(form.name(), "json-objects");
/// assert_eq!(schema.fields(), [Field::new("n", Kind::F64), Field::nullable("day", Kind::Date)]);
/// let rows = form.decode(text, Some(&schema), &Limits::default())?;
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
///
/// # Errors
/// If it is no JSON, or has none of these shapes: an array or an object inside a value is no column.
pub fn json(bytes: &[u8], limits: &Limits) -> Result<(&'static dyn Encoding, Schema), DecodeError> {
    let failure = Failure::default();
    let mut columns = Columns::new(limits, &failure);
    read("json", bytes, &failure, Document(&mut columns))?;
    let form: &'static dyn Encoding = match columns.shape {
        Shape::Arrays => &JsonArrays,
        Shape::Columns => &JsonColumns,
        // An empty array is a table of objects, too.
        Shape::Unknown | Shape::Objects => &JsonObjects,
    };
    Ok((form, columns.schema()?))
}

/// The columns of JSON that is read once, to its end, about a megabyte at a time;
/// [`JsonReader`](crate::encoding::JsonReader) then reads it a second time, as rows. It has one of the three forms, or
/// rows one behind the other, usually a line each.
///
/// ```
/// use tamtam_rows::{Field, Kind, Limits, infer};
///
/// let schema = infer::json_parts(&b"{\"n\": 1}\n{\"n\": -300}\n"[..], &Limits::default())?;
/// assert_eq!(schema.fields(), [Field::new("n", Kind::I16)]);
/// # Ok::<(), tamtam_rows::DecodeError>(())
/// ```
///
/// # Errors
/// As [`json`]; if reading fails; and if a row, or an object of columns, is larger than the limit on bytes.
pub fn json_parts(source: impl Read, limits: &Limits) -> Result<Schema, DecodeError> {
    let failure = Failure::default();
    let mut columns = Columns::new(limits, &failure);
    let mut blocks = JsonBlocks::new(source, limits);
    while let Some(block) = blocks.next()? {
        read("json", block.bytes, &failure, Document(&mut columns))
            .map_err(|error| block.in_all(error))?;
    }
    columns.schema()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Unknown,
    Arrays,
    Objects,
    Columns,
}

struct Columns<'f> {
    /// Name, guess, and in how many rows it was there.
    guesses: Vec<(String, Guess, u64)>,
    index: HashMap<String, usize>,
    rows: u64,
    shape: Shape,
    limit: usize,
    failure: &'f Failure,
}

impl<'f> Columns<'f> {
    fn new(limits: &Limits, failure: &'f Failure) -> Columns<'f> {
        Columns {
            guesses: Vec::new(),
            index: HashMap::new(),
            rows: 0,
            shape: Shape::Unknown,
            limit: limits.columns,
            failure,
        }
    }

    fn schema(mut self) -> Result<Schema, DecodeError> {
        let fields = self.guesses.iter_mut().map(|(name, guess, seen)| {
            if *seen < self.rows && self.shape == Shape::Objects {
                guess.null();
            }
            field(name, guess)
        });
        Ok(Schema::new(fields)?)
    }

    fn add<E: de::Error>(&mut self, name: String) -> Result<usize, E> {
        let index = self.guesses.len();
        if index >= self.limit {
            return Err(self.failure.keep(DecodeError::Limit {
                form: "json",
                what: "columns",
                declared: index as u64 + 1,
                limit: self.limit as u64,
            }));
        }
        if self.shape != Shape::Arrays {
            self.index.insert(name.clone(), index);
        }
        self.guesses.push((name, Guess::new(), 0));
        Ok(index)
    }

    /// The column of a name, most likely this one.
    fn find<E: de::Error>(&mut self, name: String, expected: usize) -> Result<usize, E> {
        let is_expected = |column: &(String, Guess, u64)| column.0 == name;
        if self.guesses.get(expected).is_some_and(is_expected) {
            return Ok(expected);
        }
        match self.index.get(&name) {
            Some(&index) => Ok(index),
            None => self.add(name),
        }
    }
}

struct Document<'c, 'f>(&'c mut Columns<'f>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects, an array of arrays, or an object of arrays")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element_seed(Row(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.shape = Shape::Columns;
        while let Some(name) = map.next_key::<String>()? {
            let index = self.0.add(name)?;
            map.next_value_seed(Values(&mut self.0.guesses[index]))?;
        }
        Ok(())
    }
}

/// An element of the outer array.
struct Row<'c, 'f>(&'c mut Columns<'f>);

impl<'de> DeserializeSeed<'de> for Row<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0.shape {
            Shape::Arrays => deserializer.deserialize_seq(self),
            Shape::Objects => deserializer.deserialize_map(self),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Row<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0.shape {
            Shape::Arrays => "the array of a row",
            Shape::Objects => "the object of a row",
            _ => "an object, or the array of names",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        if self.0.shape == Shape::Unknown {
            self.0.shape = Shape::Arrays;
            while let Some(name) = sequence.next_element::<String>()? {
                self.0.add(name)?;
            }
            return Ok(());
        }
        let (row, expected) = (self.0.rows, self.0.guesses.len());
        for (found, column) in self.0.guesses.iter_mut().enumerate() {
            if sequence.next_element_seed(Value(column))?.is_none() {
                return Err(de::Error::custom(format!(
                    "row {row} has {found} values, not {expected}"
                )));
            }
        }
        if sequence.next_element::<de::IgnoredAny>()?.is_some() {
            return Err(de::Error::custom(format!(
                "row {row} has more than {expected} values"
            )));
        }
        self.0.rows += 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.shape = Shape::Objects;
        let mut expected = 0;
        while let Some(name) = map.next_key::<String>()? {
            let index = self.0.find(name, expected)?;
            map.next_value_seed(Value(&mut self.0.guesses[index]))?;
            expected = index + 1;
        }
        self.0.rows += 1;
        Ok(())
    }
}

/// The array of a column.
struct Values<'c>(&'c mut (String, Guess, u64));

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the array of column {:?}", self.0.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element_seed(Value(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// One value.
struct Value<'c>(&'c mut (String, Guess, u64));

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.0.2 += 1;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "a number, a text, true, false or null in column {:?}, for tables are flat",
            self.0.0
        )
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.1.null();
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.0.1.truth();
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.0.1.number(itoa::Buffer::new().format(value));
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.0.1.number(itoa::Buffer::new().format(value));
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.0.1.real();
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.0.1.notation(text);
        Ok(())
    }
}
