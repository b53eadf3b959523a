//! References in values that have only places for them: what is shared, and what holds itself.

use std::slice;

use tamtam_amf::{amf0, amf3};

/// References in one value at most: what is told of a value repeats what is shared.
const MOST_REFERENCES: u32 = 4;

/// How a witness counts, and what it cannot read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Manner {
    /// Whether dates and XML of AMF0 have places.
    pub(super) counts_leaves: bool,
    /// Whether the array of arguments has none.
    pub(super) skips_arguments: bool,
    /// Whether nothing is shared beside AMF3 within AMF0.
    pub(super) shares_no_amf3: bool,
}

/// A value that has begun.
#[derive(Clone, Copy)]
struct Begun {
    is_open: bool,
    /// The references that were made before it.
    before: u32,
    has_references: bool,
}

/// Whose values are meant.
enum Table {
    Amf0,
    Amf3,
}

/// Ties the references of one value, or of one body of a packet.
#[derive(Default)]
pub(super) struct Ties {
    manner: Manner,
    amf0: Vec<Begun>,
    amf3: Vec<Begun>,
    made: u32,
}

impl Ties {
    pub(super) fn new(manner: Manner) -> Self {
        Self {
            manner,
            ..Self::default()
        }
    }

    fn begin(table: &mut Vec<Begun>, made: u32) -> usize {
        table.push(Begun {
            is_open: true,
            before: made,
            has_references: false,
        });
        table.len() - 1
    }

    fn end(table: &mut [Begun], place: usize, made: u32) {
        let begun = &mut table[place];
        begun.is_open = false;
        begun.has_references = made > begun.before;
    }

    /// The place in a table that a wish comes to, if there is any that may be meant.
    fn place(&mut self, table: Table, wish: usize, may: impl Fn(&Begun) -> bool) -> Option<usize> {
        let table = match table {
            Table::Amf0 => &self.amf0,
            Table::Amf3 => &self.amf3,
        };
        let places = (0..table.len()).filter(|place| may(&table[*place]));
        let places: Vec<_> = places.collect();
        if places.is_empty() || self.made == MOST_REFERENCES {
            return None;
        }
        self.made += 1;
        Some(places[wish % places.len()])
    }

    /// Ties the value of a header.
    pub(super) fn header(mut self, mut value: amf0::Value) -> amf0::Value {
        self.mind_amf3(slice::from_ref(&value));
        self.amf0(&mut value);
        value
    }

    /// Ties the arguments of a message.
    pub(super) fn arguments(mut self, mut values: Vec<amf0::Value>) -> amf0::Value {
        self.mind_amf3(&values);
        if self.manner.skips_arguments {
            values.iter_mut().for_each(|value| self.amf0(value));
            return values.into();
        }
        let mut value = values.into();
        self.amf0(&mut value);
        value
    }

    fn mind_amf3(&mut self, values: &[amf0::Value]) {
        let mut values = values.iter();
        let has_amf3 = values.any(|value| matches!(value, amf0::Value::Avmplus(_)));
        if self.manner.shares_no_amf3 && has_amf3 {
            self.made = MOST_REFERENCES;
        }
    }

    pub(super) fn amf0(&mut self, value: &mut amf0::Value) {
        use amf0::Value;
        if let Value::Reference(wish) = *value {
            *value = match self.place(Table::Amf0, usize::from(wish), |_| true) {
                Some(place) => Value::Reference(u16::try_from(place).expect("it is small")),
                None => Value::Boolean(true),
            };
            return;
        }
        let numbered = match value {
            Value::Date { .. } | Value::XmlDocument(_) => self.manner.counts_leaves,
            Value::Object(_)
            | Value::EcmaArray(_)
            | Value::TypedObject(_)
            | Value::StrictArray(_) => true,
            _ => false,
        };
        let place = numbered.then(|| Self::begin(&mut self.amf0, self.made));
        match value {
            Value::Object(properties) | Value::EcmaArray(properties) => {
                for (_, value) in properties {
                    self.amf0(value);
                }
            }
            Value::TypedObject(object) => {
                for (_, value) in &mut object.properties {
                    self.amf0(value);
                }
            }
            Value::StrictArray(values) => {
                for value in values {
                    self.amf0(value);
                }
            }
            Value::Avmplus(value) => self.amf3(value),
            _ => {}
        }
        if let Some(place) = place {
            Self::end(&mut self.amf0, place, self.made);
        }
    }

    pub(super) fn amf3(&mut self, value: &mut amf3::Value) {
        use amf3::Value;
        if let Value::Reference(wish) = *value {
            *value = match self.place(Table::Amf3, wish as usize, |_| true) {
                Some(place) => Value::Reference(u32::try_from(place).expect("it is small")),
                None => Value::Boolean(true),
            };
            return;
        }
        if !is_numbered(value) {
            return;
        }
        let place = Self::begin(&mut self.amf3, self.made);
        match value {
            Value::Array(array) => {
                for (_, value) in &mut array.associative {
                    self.amf3(value);
                }
                for value in &mut array.dense {
                    self.amf3(value);
                }
            }
            Value::Object(object) => {
                for value in &mut object.sealed {
                    self.amf3(value);
                }
                for (_, value) in &mut object.dynamic {
                    self.amf3(value);
                }
            }
            Value::Externalizable(object) => {
                for (_, value) in &mut object.members {
                    self.amf3(value);
                }
            }
            Value::VectorObject { vector, .. } => {
                for value in &mut vector.values {
                    self.amf3(value);
                }
            }
            Value::Dictionary(dictionary) => {
                for (key, value) in &mut dictionary.entries {
                    match key {
                        Value::Reference(_) => self.key(key),
                        _ => self.amf3(key),
                    }
                    self.amf3(value);
                }
            }
            _ => {}
        }
        Self::end(&mut self.amf3, place, self.made);
    }

    /// A key is what has ended and refers to nothing: BlazeDS looks for a key by what is in it.
    fn key(&mut self, key: &mut amf3::Value) {
        let amf3::Value::Reference(wish) = *key else {
            return;
        };
        let may = |begun: &Begun| !begun.is_open && !begun.has_references;
        *key = match self.place(Table::Amf3, wish as usize, may) {
            Some(place) => amf3::Value::Reference(u32::try_from(place).expect("it is small")),
            None => amf3::Value::Boolean(true),
        };
    }
}

/// Whether a value of AMF3 has a place in the table of references.
pub(super) fn is_numbered(value: &amf3::Value) -> bool {
    use amf3::Value;
    !matches!(
        value,
        Value::Undefined
            | Value::Null
            | Value::Boolean(_)
            | Value::Integer(_)
            | Value::Double(_)
            | Value::String(_)
            | Value::Reference(_)
    )
}

/// A value with its references tied.
pub(super) fn tied_amf0(mut value: amf0::Value, manner: Manner) -> amf0::Value {
    Ties::new(manner).amf0(&mut value);
    value
}

/// A value with its references tied.
pub(super) fn tied_amf3(mut value: amf3::Value) -> amf3::Value {
    Ties::new(Manner::default()).amf3(&mut value);
    value
}
