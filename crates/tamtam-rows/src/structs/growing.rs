//! A table that grows by rows whose columns may not be known yet.

use std::collections::HashMap;

use super::{Reason, StructError};
use crate::encoding::inlet::{Inlet, Refusal};
use crate::shortened::shortened;
use crate::{Field, Kind, Rows, Schema};

/// A table that grows by rows whose columns may not be known yet.
pub(super) struct Growing {
    columns: Vec<Place>,
    index: HashMap<String, usize>,
    /// Whether the columns are found on the way.
    is_inferred: bool,
    rows: usize,
    failed_at: Option<usize>,
}

/// A column, or the place for one.
pub(super) struct Place {
    name: String,
    /// `None` while all its values are null.
    inlet: Option<Inlet>,
    /// Whether it may hold nulls.
    is_nullable: bool,
    /// How many values there are.
    len: usize,
    is_inferred: bool,
}

impl Growing {
    pub(super) fn inferred() -> Growing {
        Growing {
            columns: Vec::new(),
            index: HashMap::new(),
            is_inferred: true,
            rows: 0,
            failed_at: None,
        }
    }

    pub(super) fn with(schema: Schema) -> Growing {
        let mut growing = Growing::inferred();
        growing.is_inferred = false;
        for field in schema.fields() {
            let index = growing.columns.len();
            // Of two columns of one name the first is the one that has it.
            growing
                .index
                .entry(field.name().to_owned())
                .or_insert(index);
            growing.columns.push(Place {
                name: field.name().to_owned(),
                inlet: Some(Inlet::new(field)),
                is_nullable: field.is_nullable(),
                len: 0,
                is_inferred: false,
            });
        }
        growing
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The name of the column whose value failed.
    pub(super) fn failed_at(&self) -> Option<String> {
        self.failed_at.map(|index| self.columns[index].name.clone())
    }

    /// The column of a name, most likely this one.
    #[inline]
    pub(super) fn named(&mut self, name: &str, expected: usize) -> Result<usize, Reason> {
        let is_expected = |place: &Place| place.name == name;
        if self.columns.get(expected).is_some_and(is_expected) {
            return Ok(expected);
        }
        match self.index.get(name) {
            Some(&index) => Ok(index),
            None => self.add(name.to_owned()),
        }
    }

    /// The column of a place in a tuple.
    pub(super) fn numbered(&mut self, index: usize) -> Result<usize, Reason> {
        if index < self.columns.len() {
            return Ok(index);
        }
        if self.is_inferred && self.rows > 0 {
            let reason = format!("it has more than the {index} values that the rows before have");
            return Err(Reason(reason));
        }
        self.add(format!("column {}", index + 1))
    }

    fn add(&mut self, name: String) -> Result<usize, Reason> {
        if !self.is_inferred {
            let reason = format!("it has a field {name:?}, which the schema does not have");
            return Err(Reason(reason));
        }
        let index = self.columns.len();
        self.index.insert(name.clone(), index);
        self.columns.push(Place {
            name,
            inlet: None,
            // It was missing in the rows before.
            is_nullable: self.rows > 0,
            len: self.rows,
            is_inferred: true,
        });
        Ok(index)
    }

    /// Puts a value into a column by this.
    #[inline]
    pub(super) fn put(
        &mut self,
        index: usize,
        write: impl FnOnce(&mut Place) -> Result<(), Reason>,
    ) -> Result<(), Reason> {
        let place = &mut self.columns[index];
        if place.len > self.rows {
            return Err(Reason(format!("it has {:?} twice", place.name)));
        }
        let result = write(place);
        match result {
            Ok(()) => place.len += 1,
            Err(_) => self.failed_at = Some(index),
        }
        result
    }

    /// Null for what the row did not have.
    pub(super) fn end_row(&mut self) -> Result<(), Reason> {
        if self.columns.is_empty() {
            return Err(Reason("a row without any field is none".into()));
        }
        for place in &mut self.columns {
            if place.len == self.rows {
                let name = &place.name;
                let missing = || Reason(format!("it has no {name:?}, a column without nulls"));
                if place.is_inferred {
                    place.is_nullable = true;
                } else if !place.is_nullable {
                    return Err(missing());
                }
                if let Some(inlet) = &mut place.inlet {
                    inlet.push_null().map_err(|_| missing())?;
                }
                place.len += 1;
            }
        }
        self.rows += 1;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Rows, StructError> {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for mut place in self.columns {
            let inlet = match place.inlet.take() {
                Some(inlet) => inlet,
                None => place.known(Kind::Text),
            };
            let kind = inlet.kind().clone();
            fields.push(if place.is_nullable {
                Field::nullable(place.name, kind)
            } else {
                Field::new(place.name, kind)
            });
            columns.push(inlet.finish()?);
        }
        Ok(Rows::new(Schema::new(fields)?, columns)?)
    }
}

impl Place {
    /// A column of this type, null in the rows so far.
    fn known(&self, kind: Kind) -> Inlet {
        // Nulls are counted here: the column takes those that come.
        let mut inlet = Inlet::new(&Field::nullable(self.name.as_str(), kind));
        for _ in 0..self.len {
            // A column that takes nulls has room for one more: they add no text.
            let _ = inlet.push_null();
        }
        inlet
    }

    /// The column; of this type, if none is known yet.
    #[inline]
    pub(super) fn inlet(&mut self, kind: impl FnOnce() -> Kind) -> &mut Inlet {
        if self.inlet.is_none() {
            self.inlet = Some(self.known(kind()));
        }
        self.inlet.as_mut().expect("made above")
    }

    /// The values are `Option`s.
    pub(super) fn becomes_nullable(&mut self) {
        if self.is_inferred {
            self.is_nullable = true;
        }
    }

    pub(super) fn null(&mut self) -> Result<(), Reason> {
        self.becomes_nullable();
        if !self.is_nullable {
            return Err(Reason("it is null, and the column holds no nulls".into()));
        }
        match &mut self.inlet {
            None => Ok(()),
            Some(inlet) => inlet
                .push_null()
                .map_err(|refusal| refused(inlet, refusal, "null")),
        }
    }
}

/// Why a value was not taken.
#[cold]
pub(super) fn refused(inlet: &Inlet, refusal: Refusal, value: &str) -> Reason {
    Reason(match refusal {
        Refusal::TooLarge => crate::ShapeError::TooLarge.to_string(),
        Refusal::Kind => {
            let value = shortened(value);
            format!("{value} is not of type {}", inlet.kind())
        }
    })
}
