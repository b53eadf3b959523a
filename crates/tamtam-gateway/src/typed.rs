//! What serde writes, kept until it is known in which form.

use std::fmt;

use serde::Serialize;

use crate::{Value, WriteError};

/// What serde writes, kept until it is known in which form.
///
/// Each form is compiled for the type, so that a call costs one jump to it, and not one for each field: by
/// `erased-serde` an answer of 330 fields took half as much again.
///
/// # Examples
///
/// ```
/// use tamtam_gateway::{Typed, Value};
///
/// let typed = Typed::new(vec![1, 2]);
/// assert_eq!(typed.to_value()?, Value::List(vec![Value::Int(1), Value::Int(2)]));
/// # Ok::<(), tamtam_gateway::WriteError>(())
/// ```
pub struct Typed(Box<dyn InEachForm>);

/// The forms of a type.
trait InEachForm: Send {
    fn write_json(&self, out: &mut Vec<u8>) -> serde_json::Result<()>;
    fn write_message_pack(&self, out: &mut Vec<u8>) -> Result<(), rmp_serde::encode::Error>;
    fn to_value(&self) -> Result<Value, WriteError>;
}

impl<T: Serialize + Send> InEachForm for T {
    fn write_json(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        serde_json::to_writer(out, self)
    }

    fn write_message_pack(&self, out: &mut Vec<u8>) -> Result<(), rmp_serde::encode::Error> {
        rmp_serde::encode::write_named(out, self)
    }

    fn to_value(&self) -> Result<Value, WriteError> {
        Value::of(self)
    }
}

impl Typed {
    /// Keeps it.
    pub fn new(value: impl Serialize + Send + 'static) -> Typed {
        Typed(Box::new(value))
    }

    /// Writes it as JSON behind what is in `out`.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        self.0.write_json(out)
    }

    /// Writes it as MessagePack, structs with the names of their fields, behind what is in `out`.
    pub(crate) fn write_message_pack(
        &self,
        out: &mut Vec<u8>,
    ) -> Result<(), rmp_serde::encode::Error> {
        self.0.write_message_pack(out)
    }

    /// It as a value.
    ///
    /// # Errors
    /// If the type refuses, a key is no text, or an integer has more than 64 bits.
    pub fn to_value(&self) -> Result<Value, WriteError> {
        self.0.to_value()
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}
