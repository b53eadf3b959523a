//! The arguments of a call.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::value::{ClassNames, Members, Reading, read_arguments};
use crate::{Fault, Value};

/// The arguments of a call, by their places or by their names.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Arguments, Value};
///
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct ListArgs { set: String, limit: Option<u32> }
///
/// let wanted = ListArgs { set: "palette".into(), limit: None };
/// let by_place = Arguments::positional([Value::from("palette")]);
/// assert_eq!(by_place.read::<ListArgs>()?, wanted);
/// let by_name = Arguments::named([("set".to_owned(), Value::from("palette"))]);
/// assert_eq!(by_name.read::<ListArgs>()?, wanted);
/// # Ok::<(), tamtam_gateway::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Value,
    /// A text may be the number that it spells.
    of_texts: bool,
    /// The types that are classes, where the protocol has those.
    classes: Option<Arc<ClassNames>>,
}

impl Arguments {
    /// By their places.
    pub fn positional(values: impl IntoIterator<Item = Value>) -> Arguments {
        Arguments {
            values: Value::List(values.into_iter().collect()),
            of_texts: false,
            classes: None,
        }
    }

    /// By their names.
    pub fn named(values: impl IntoIterator<Item = (String, Value)>) -> Arguments {
        Arguments {
            values: Value::Map(values.into_iter().collect()),
            of_texts: false,
            classes: None,
        }
    }

    /// None at all.
    pub fn none() -> Arguments {
        Arguments::positional([])
    }

    /// By their names, out of the query of a URL: a text may be the number that it spells.
    pub(crate) fn of_query(values: Members) -> Arguments {
        Arguments {
            values: Value::Map(values),
            of_texts: true,
            classes: None,
        }
    }

    /// The same, where structs are classes.
    pub(crate) fn with_classes(self, classes: &Arc<ClassNames>) -> Arguments {
        let classes = Some(Arc::clone(classes));
        Arguments { classes, ..self }
    }

    /// The same, those by their places by these names.
    ///
    /// # Errors
    /// If there are more than names.
    pub(crate) fn by_names(self, names: &[&'static str]) -> Result<Arguments, Fault> {
        let Value::List(values) = self.values else {
            return Ok(self);
        };
        if values.len() > names.len() {
            let (came, known) = (values.len(), names.len());
            let reason = format!(
                "the arguments: {came} values came for {known} fields ({})",
                names.join(", ")
            );
            return Err(Fault::arguments(reason));
        }
        let names = names.iter().map(|&name| name.to_owned());
        Ok(Arguments {
            values: Value::Map(names.zip(values).collect()),
            ..self
        })
    }

    /// Takes the argument of this name out, or the first one if they have no names.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        match &mut self.values {
            Value::Map(members) => {
                let place = members.iter().position(|(known, _)| known == name)?;
                Some(members.remove(place).1)
            }
            Value::List(values) if !values.is_empty() => Some(values.remove(0)),
            _ => None,
        }
    }

    /// A list or a map.
    pub(crate) fn into_value(self) -> Value {
        self.values
    }

    /// The arguments as the type that a method takes: a struct by its fields' names or places, a tuple by its places.
    ///
    /// # Errors
    /// If they are not of that type.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Fault> {
        let reading = Reading {
            of_texts: self.of_texts,
            classes: self.classes.as_deref(),
        };
        read_arguments(self.values, reading)
            .map_err(|error| Fault::arguments(format!("the arguments: {error}")))
    }
}
