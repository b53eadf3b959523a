//! What serde writes, kept until it is known in which form.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Serialize;

use crate::fault::not_carried;
use crate::value::ClassNames;
use crate::{Fault, FaultKind, Value, WriteError};

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
/// # Ok::<(), tamtam_gateway::Fault>(())
/// ```
pub struct Typed(Box<dyn InEachForm>);

/// The forms of a type.
trait InEachForm: Send {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<(), Fault>;
    fn write_message_pack(&self, out: &mut Vec<u8>) -> Result<(), Fault>;
    fn to_value(&self, classes: Option<&ClassNames>) -> Result<Value, WriteError>;
}

impl<T: Serialize + Send> InEachForm for T {
    fn write_json(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        serde_json::to_writer(out, self).map_err(not_carried)
    }

    fn write_message_pack(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        rmp_serde::encode::write_named(out, self).map_err(not_carried)
    }

    fn to_value(&self, classes: Option<&ClassNames>) -> Result<Value, WriteError> {
        match classes {
            Some(classes) => Value::of_classes(self, classes),
            None => Value::of(self),
        }
    }
}

/// What the user's code writes; where it panics, what it panics with stays here.
pub(crate) fn guarded<W>(write: impl FnOnce() -> Result<W, Fault>) -> Result<W, Fault> {
    catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|_| {
        tracing::error!("what writes an answer panicked");
        Err(Fault::of(FaultKind::Internal, "the method failed"))
    })
}

impl Typed {
    /// Keeps it.
    pub fn new(value: impl Serialize + Send + 'static) -> Typed {
        Typed(Box::new(value))
    }

    /// Writes it as JSON behind what is in `out`; a part of it if it fails.
    pub(crate) fn write_json(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        guarded(|| self.0.write_json(out))
    }

    /// Writes it as MessagePack, structs with the names of their fields, behind what is in `out`; a part of it if it fails.
    pub(crate) fn write_message_pack(&self, out: &mut Vec<u8>) -> Result<(), Fault> {
        guarded(|| self.0.write_message_pack(out))
    }

    /// It as a value.
    ///
    /// # Errors
    /// If the type refuses or panics, a key is no text, or an integer has more than 64 bits.
    pub fn to_value(&self) -> Result<Value, Fault> {
        self.value_of(None)
    }

    /// It as a value; a struct of a class is an object of it.
    pub(crate) fn to_objects(&self, classes: &ClassNames) -> Result<Value, Fault> {
        self.value_of(Some(classes))
    }

    fn value_of(&self, classes: Option<&ClassNames>) -> Result<Value, Fault> {
        let value = || self.0.to_value(classes);
        guarded(|| value().map_err(|error| Fault::of(FaultKind::NotCarried, error.to_string())))
    }
}

impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Typed")
    }
}
