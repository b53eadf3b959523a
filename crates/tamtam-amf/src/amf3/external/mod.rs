//! Objects of externalizable classes, whose form only the class knows: which classes there are, and what is read of
//! them.

mod flex;
mod reading;
mod writing;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "serde")]
pub(crate) use flex::is_collection;
pub use reading::ExternalInput;
pub(crate) use reading::Flags;

use super::encoder::Encoder;
use super::value::{Properties, Value};
use crate::{DecodeError, EncodeError};

/// The most objects of classes of one's own within each other, whatever [`Limits::depth`](crate::Limits::depth) says:
/// their functions call each other, within the two mebibytes of a thread's stack.
pub const MAX_OWN_DEPTH: usize = 128;

/// An object of an externalizable class: what its class has read of it.
///
/// Of the classes of Flex: [`ArrayCollection`](Classes::flex) and `ArrayList` have the one member `source`, `ObjectProxy`
/// has `object`, and the small messages (`DSK`, `DSA`, `DSC`) have those members of an `AcknowledgeMessage`,
/// `AsyncMessage` or `CommandMessage` that were sent.
///
/// # Examples
///
/// ```
/// use tamtam_amf::amf3::{Externalizable, Value, decode, encode};
///
/// let list = Value::from(Externalizable {
///     class: "flex.messaging.io.ArrayCollection".into(),
///     members: vec![("source".into(), vec![Value::Integer(1)].into())],
/// });
/// let there = decode(&encode(&list)?, Default::default())?;
/// assert_eq!(there.get("source"), Some(&vec![Value::Integer(1)].into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Externalizable {
    /// The name of the class.
    pub class: Arc<str>,
    /// Names and values, in the order in which they are written.
    pub members: Properties,
}

impl Externalizable {
    /// The member of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        let found = self.members.iter().find(|(known, _)| &**known == name);
        found.map(|(_, value)| value)
    }
}

/// The externalizable classes that a decoder and an encoder know; an object of any other one is an error that names
/// the class.
///
/// # Examples
///
/// A class of one's own by a pair of functions, for what in ActionScript is `output.writeInt(x); output.writeObject(label)`:
///
/// ```
/// use tamtam_amf::EncodeError;
/// use tamtam_amf::amf3::{Classes, Decoder, Encoder, Externalizable, Value};
///
/// let classes = Classes::flex().with(
///     "com.example.Place",
///     |input| {
///         let x = i32::from_be_bytes(input.array()?);
///         input.set("x", x.into())?;
///         input.value("label")
///     },
///     |object, encoder| match (object.get("x"), object.get("label")) {
///         (Some(Value::Integer(x)), Some(label)) => {
///             encoder.write_raw(&x.to_be_bytes())?;
///             encoder.write_value(label)
///         }
///         _ => Err(EncodeError::Refused("a Place has an integer x and a label".into())),
///     },
/// );
/// let place = Value::from(Externalizable {
///     class: "com.example.Place".into(),
///     members: vec![("x".into(), 5.into()), ("label".into(), "here".into())],
/// });
/// let mut bytes = Vec::new();
/// let mut encoder = Encoder::new(&mut bytes).with_classes(&classes);
/// encoder.write_value(&place)?;
/// encoder.finish()?;
///
/// let mut decoder = Decoder::new(&bytes, Default::default()).with_classes(&classes);
/// assert_eq!(decoder.value()?, place);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Classes {
    flex: bool,
    own: Option<Arc<HashMap<Box<str>, Arc<Own>>>>,
}

type Read = dyn Fn(&mut ExternalInput<'_, '_>) -> Result<(), DecodeError> + Send + Sync;
type Write =
    dyn for<'e> Fn(&Externalizable, &mut Encoder<'e>) -> Result<(), EncodeError> + Send + Sync;

/// A class by a pair of functions.
pub(crate) struct Own {
    read: Box<Read>,
    write: Box<Write>,
}

/// What follows the traits of an object of an externalizable class.
#[derive(Clone)]
pub(crate) enum Form {
    /// Values that flags name.
    Flags(flex::Members),
    /// What functions know.
    Own(Arc<Own>),
}

impl Classes {
    /// Those that Flex has in its own library: `flex.messaging.io.ArrayCollection`, `flex.messaging.io.ArrayList`,
    /// `flex.messaging.io.ObjectProxy` and the small messages `DSK`, `DSA` and `DSC`. Decoders and encoders know these
    /// unless they are told others.
    #[must_use]
    pub fn flex() -> Self {
        Self {
            flex: true,
            own: None,
        }
    }

    /// None: each object of an externalizable class is an error.
    #[must_use]
    pub fn none() -> Self {
        Self {
            flex: false,
            own: None,
        }
    }

    /// These and one more, by the functions that read and write its objects. A class of the same name is replaced.
    ///
    /// `read` is to read what the class wrote, no less and no more: nothing else says where an object ends. It is
    /// called for input that is not trusted. `write` is to write the members in the order of `read`.
    #[must_use]
    pub fn with(
        mut self,
        class: &str,
        read: impl Fn(&mut ExternalInput<'_, '_>) -> Result<(), DecodeError> + Send + Sync + 'static,
        write: impl for<'e> Fn(&Externalizable, &mut Encoder<'e>) -> Result<(), EncodeError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let own = Own {
            read: Box::new(read),
            write: Box::new(write),
        };
        let known = self.own.get_or_insert_default();
        Arc::make_mut(known).insert(class.into(), Arc::new(own));
        self
    }

    pub(super) fn find(&self, class: &str) -> Option<Form> {
        if let Some(own) = self.own.as_ref().and_then(|own| own.get(class)) {
            return Some(Form::Own(Arc::clone(own)));
        }
        if self.flex {
            flex::members(class).map(Form::Flags)
        } else {
            None
        }
    }
}

/// Those of Flex.
impl Default for Classes {
    fn default() -> Self {
        Self::flex()
    }
}

impl fmt::Debug for Classes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.own.iter().flat_map(|own| own.keys());
        f.debug_struct("Classes")
            .field("flex", &self.flex)
            .field("own", &own.collect::<Vec<_>>())
            .finish()
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Flags(members) => f.debug_tuple("Flags").field(members).finish(),
            Form::Own(_) => f.write_str("Own"),
        }
    }
}
