//! The form and the types of JSON that is not described.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::guess::Guess;
use super::{Inferred, Options};
use crate::encoding::json::{Failure, nested, read};
use crate::encoding::json_blocks::JsonBlocks;
use crate::encoding::{JsonArrays, JsonColumns, JsonObjects};
use crate::error::counted;
use crate::{DecodeError, Encoding, Limits, NullTexts, Schema};

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
    let options = Options::exact(*limits);
    let mut columns = Columns::new(&options, &failure);
    columns.begin = bytes.as_ptr().addr();
    read("json", bytes, &failure, Document(&mut columns))?;
    let form: &'static dyn Encoding = match columns.shape {
        Shape::Arrays => &JsonArrays,
        Shape::Columns => &JsonColumns,
        // An empty array is a table of objects, too.
        Shape::Unknown | Shape::Objects => &JsonObjects,
    };
    Ok((form, columns.finish()?.schema))
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
    Ok(Options::exact(*limits).json(source)?.schema)
}

pub(super) fn look_at_json(source: impl Read, options: &Options) -> Result<Inferred, DecodeError> {
    let failure = Failure::default();
    let mut columns = Columns::new(options, &failure);
    let mut blocks = JsonBlocks::new(source, &options.limits);
    while columns.rows <= options.rows
        && let Some(block) = blocks.next()?
    {
        columns.begin = block.bytes.as_ptr().addr();
        read("json", block.bytes, &failure, Document(&mut columns))
            .map_err(|error| block.in_all(error))?;
        for (_, guess, _) in &mut columns.guesses {
            guess.end_block(&mut |at| block.line(at));
        }
    }
    columns.finish()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Unknown,
    Arrays,
    Objects,
    Columns,
}

struct Columns<'b> {
    /// Name, guess, and in how many rows it was there.
    guesses: Vec<(String, Guess, u64)>,
    index: HashMap<String, usize>,
    rows: u64,
    shape: Shape,
    options: &'b Options,
    failure: &'b Failure,
    /// Where in memory lies what is read, to know where in it a value stands.
    begin: usize,
}

impl<'b> Columns<'b> {
    fn new(options: &'b Options, failure: &'b Failure) -> Columns<'b> {
        Columns {
            guesses: Vec::new(),
            index: HashMap::new(),
            rows: 0,
            shape: Shape::Unknown,
            options,
            failure,
            begin: 0,
        }
    }

    fn finish(mut self) -> Result<Inferred, DecodeError> {
        let (rows, is_objects) = (self.rows, self.shape == Shape::Objects);
        let columns = std::mem::take(&mut self.guesses).into_iter();
        let columns = columns.map(|(name, mut guess, seen)| {
            if seen < rows && is_objects {
                guess.null();
            }
            (name, guess)
        });
        self.options.finish("json", columns.collect())
    }

    fn add<E: de::Error>(&mut self, name: String) -> Result<usize, E> {
        let index = self.guesses.len();
        let limit = self.options.limits.columns;
        if index >= limit {
            return Err(self.failure.keep(DecodeError::Limit {
                form: "json",
                what: "columns",
                declared: index as u64 + 1,
                limit: limit as u64,
            }));
        }
        if self.shape != Shape::Arrays {
            self.index.insert(name.clone(), index);
        }
        let guess = Guess::new(self.options.told(&name));
        self.guesses.push((name, guess, 0));
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
            let look = Look::of(self.0);
            map.next_value_seed(Values(&mut self.0.guesses[index], look))?;
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
        let look = Look::of(self.0);
        for (found, column) in self.0.guesses.iter_mut().enumerate() {
            if sequence.next_element_seed(Value(column, look))?.is_none() {
                return Err(de::Error::custom(format!(
                    "row {row} has {}, not {expected}",
                    counted(found, "value")
                )));
            }
        }
        if sequence.next_element::<de::IgnoredAny>()?.is_some() {
            return Err(de::Error::custom(format!(
                "row {row} has more than {}",
                counted(expected, "value")
            )));
        }
        self.0.rows += 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.shape = Shape::Objects;
        let look = Look::of(self.0);
        let mut expected = 0;
        while let Some(name) = map.next_key::<String>()? {
            let index = self.0.find(name, expected)?;
            map.next_value_seed(Value(&mut self.0.guesses[index], look))?;
            expected = index + 1;
        }
        self.0.rows += 1;
        Ok(())
    }
}

/// What is needed to look at a value.
#[derive(Clone, Copy)]
struct Look<'b> {
    nulls: &'b NullTexts,
    begin: usize,
    failure: &'b Failure,
    row: u64,
}

impl<'b> Look<'b> {
    fn of(columns: &Columns<'b>) -> Look<'b> {
        Look {
            nulls: &columns.options.nulls,
            begin: columns.begin,
            failure: columns.failure,
            row: columns.rows,
        }
    }
}

/// The array of a column.
struct Values<'c, 'b>(&'c mut (String, Guess, u64), Look<'b>);

impl<'de> DeserializeSeed<'de> for Values<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Values<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the array of column {:?}", self.0.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        let mut look = self.1;
        while sequence
            .next_element_seed(Value(&mut *self.0, look))?
            .is_some()
        {
            look.row += 1;
        }
        Ok(())
    }
}

/// One value, as it is written: a number has all its digits.
struct Value<'c, 'b>(&'c mut (String, Guess, u64), Look<'b>);

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        let (name, guess, seen) = self.0;
        let look = self.1;
        let at = text.as_ptr().addr().saturating_sub(look.begin);
        *seen += 1;
        match text.as_bytes() {
            [b'n', ..] => guess.null(),
            [b't', ..] => guess.truth(true, at),
            [b'f', ..] => guess.truth(false, at),
            [b'{' | b'[', ..] => return Err(look.failure.keep(nested("json", name, look.row))),
            [b'"', inside @ .., b'"'] if !inside.contains(&b'\\') => {
                guess.notation(&text[1..text.len() - 1], at, look.nulls);
            }
            [b'"', ..] => {
                let text: String = serde_json::from_str(text).map_err(de::Error::custom)?;
                guess.notation(&text, at, look.nulls);
            }
            _ => guess.number(text, at, look.nulls),
        }
        Ok(())
    }
}
