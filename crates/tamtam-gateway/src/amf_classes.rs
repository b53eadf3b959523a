//! The classes of AMF that a program has for its types, and those that write themselves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tamtam_amf::amf3::{Classes, Encoder, ExternalInput, Externalizable};
use tamtam_amf::{DecodeError, EncodeError};

use crate::value::ClassNames;

/// The classes of AMF that a program has for its types, and those that write themselves (`IExternalizable` in ActionScript,
/// `Externalizable` in Java).
///
/// A type goes by the name that serde knows it by: its own, or that of `#[serde(rename = "..")]`. What a method gives goes out as
/// an object of the type's class, in AMF0, AMF3 and the messages of Flex. What it takes is an object of that class, or of none;
/// one of another class is a fault. In other protocols types are what they are without classes.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tamtam_gateway::amf::EncodeError;
/// use tamtam_gateway::amf::amf3::Value;
/// use tamtam_gateway::{AmfClasses, Fault, Gateway, Service};
///
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// struct Circle { radius: f64 }
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// struct Square { side: f64 }
///
/// // Objects of several classes are an enum whose variants have classes.
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// enum Shape { Circle(Circle), Square(Square) }
///
/// // In ActionScript: output.writeInt(x); output.writeObject(label);
/// #[derive(Serialize, Deserialize, schemars::JsonSchema)]
/// struct Place { x: i32, label: String }
///
/// let classes = AmfClasses::new()
///     .class("Circle", "com.example.Circle")
///     .class("Square", "com.example.Square")
///     .class("Shape::Circle", "com.example.Circle")
///     .class("Shape::Square", "com.example.Square")
///     .class("Place", "com.example.Place")
///     .externalizable(
///         "com.example.Place",
///         |input| {
///             let x = i32::from_be_bytes(input.array()?);
///             input.set("x", x.into())?;
///             input.value("label")
///         },
///         |place, encoder| {
///             let x = match place.get("x") {
///                 Some(Value::Integer(x)) => *x,
///                 // An integer of more than 29 bits.
///                 Some(Value::Double(x)) => *x as i32,
///                 _ => return Err(EncodeError::Refused("a Place has a number x".into())),
///             };
///             encoder.write_raw(&x.to_be_bytes())?;
///             encoder.write_value(place.get("label").unwrap_or(&Value::Null))
///         },
///     );
/// let turned = |(shape,): (Shape,)| Ok::<Shape, Fault>(shape);
/// let gateway = Gateway::new()
///     .service(Service::new("Shapes").blocking("turned", turned))
///     .amf_classes(classes);
/// # drop(gateway);
/// ```
#[derive(Clone, Debug, Default)]
pub struct AmfClasses {
    names: Arc<ClassNames>,
    external: Classes,
}

impl AmfClasses {
    /// Of no types, and none that write themselves but those of Flex.
    #[must_use]
    pub fn new() -> AmfClasses {
        AmfClasses::default()
    }

    /// Objects of the type of this name have this class. Variants of an enum are types here, `Enum::Variant`: such a variant is
    /// the object itself, which otherwise would be in another one by the variant's name.
    #[must_use]
    pub fn class(mut self, name: &str, class: &str) -> AmfClasses {
        Arc::make_mut(&mut self.names).add(name, class);
        self
    }

    /// Objects of this class write themselves, and only these functions know how: `read` gives an object its members, and `write`
    /// is to write them in the same order. A type whose class it is ([`class`](AmfClasses::class)) has these members; a method
    /// that takes a [`Value`](crate::Value) gets an [`Object`](crate::Object) with them.
    ///
    /// `read` is to read what the class wrote, no less and no more: nothing else says where an object ends. It is called for
    /// whatever comes, within [`Limits`](crate::Limits), and before it is asked who may call. An error of `read` is the packet's,
    /// as of one that is malformed; one of `write` is the call's. A panic is such an error, and its words stay here.
    #[must_use]
    pub fn externalizable(
        mut self,
        class: &str,
        read: impl Fn(&mut ExternalInput<'_, '_>) -> Result<(), DecodeError> + Send + Sync + 'static,
        write: impl for<'e> Fn(&Externalizable, &mut Encoder<'e>) -> Result<(), EncodeError>
        + Send
        + Sync
        + 'static,
    ) -> AmfClasses {
        Arc::make_mut(&mut self.names).add_external(class);
        let read = move |input: &mut ExternalInput<'_, '_>| {
            let reading = AssertUnwindSafe(|| read(input));
            catch_unwind(reading).unwrap_or_else(|_| Err(input.refuse(FAILED)))
        };
        let write = move |object: &Externalizable, encoder: &mut Encoder<'_>| {
            let writing = AssertUnwindSafe(|| write(object, encoder));
            catch_unwind(writing).unwrap_or_else(|_| Err(EncodeError::Refused(FAILED.into())))
        };
        self.external = self.external.with(class, read, write);
        self
    }

    pub(crate) fn names(&self) -> &Arc<ClassNames> {
        &self.names
    }

    pub(crate) fn external(&self) -> &Classes {
        &self.external
    }
}

/// What is said of a function that panicked.
const FAILED: &str = "the class failed";
