//! Rust types to and from AMF, by serde and without a tree.
//!
//! | Rust | AMF0 | AMF3 |
//! |---|---|---|
//! | integers | number | integer of 29 bits, else double |
//! | `f32`, `f64` | number | double |
//! | `bool`; `String`, `char` | boolean; string | boolean; string |
//! | `()`, `None` | null | null |
//! | [`Date`] | date | date |
//! | bytes, as by `serde_bytes` | byte array of AMF3 within AMF0 | byte array |
//! | sequences, tuples | strict array | array |
//! | maps | object | object without a class |
//! | structs | object, typed by a [`Mapping`] | sealed object, with a class by a [`Mapping`] |
//! | enums | text of a unit variant; else an object with the variant's name | as AMF0 |
//!
//! What is read may have more forms: undefined is read as null, XML as a text, a whole number as an integer, vectors and Flex's
//! collections as sequences, arrays with names and dictionaries as maps, an array with the names 0, 1, .. as a sequence, and an empty
//! array as a map or a struct, as PHP writes those.
//!
//! Texts can be borrowed from the bytes. Where a value is shared, it is read once more for each reference to it, by a tree;
//! it cannot be borrowed then.

/// Methods of a serializer that refuse what they are given.
macro_rules! refuse {
    ($error:expr; $($method:ident: $argument:ty),* $(,)?) => { $(
        #[inline]
        fn $method(self, _: $argument) -> Result<Self::Ok, Self::Error> {
            Err($error)
        }
    )* };
}

mod ahead;
mod deserializer;
mod entries;
mod error;
mod flatten;
mod items;
mod key;
mod mapping;
mod member_name;
mod members;
mod serializer;
mod sink;
mod struct_entries;
mod visit;

use serde::de::Deserialize;
use serde::{Deserializer, Serialize, Serializer};

pub use error::{DeserializeError, SerializeError};
pub use mapping::{Mapping, UnknownMembers};

use crate::Limits;

/// The one value of AMF0 that `bytes` hold.
///
/// # Errors
///
/// What is not AMF0, what exceeds the limits, what the type is not made of, a value that contains itself.
///
/// # Examples
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use tamtam_amf::typed::{from_amf0, to_amf0};
///
/// #[derive(Serialize, Deserialize, PartialEq, Debug)]
/// struct Tile<'a> {
///     x: i16,
///     colour: &'a str,
/// }
///
/// let tiles = vec![Tile { x: 5, colour: "red" }];
/// let bytes = to_amf0(&tiles)?;
/// assert_eq!(from_amf0::<Vec<Tile>>(&bytes, Default::default())?, tiles);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_amf0<'de, T: Deserialize<'de>>(
    bytes: &'de [u8],
    limits: Limits,
) -> Result<T, DeserializeError> {
    Mapping::default().from_amf0(bytes, limits)
}

/// The one value of AMF3 that `bytes` hold.
///
/// # Errors
///
/// What is not AMF3, what exceeds the limits, what the type is not made of, a value that contains itself.
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::from_amf3;
///
/// let list: Vec<Option<u8>> = from_amf3(b"\x09\x05\x01\x04\x05\x01", Default::default())?;
/// assert_eq!(list, [Some(5), None]);
///
/// let error = from_amf3::<Vec<u8>>(b"\x09\x03\x01\x04\x8f\x7f", Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "at byte 6: invalid value: integer `2047`, expected u8");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_amf3<'de, T: Deserialize<'de>>(
    bytes: &'de [u8],
    limits: Limits,
) -> Result<T, DeserializeError> {
    Mapping::default().from_amf3(bytes, limits)
}

/// The bytes of a value in AMF0.
///
/// # Errors
///
/// An integer that a double cannot tell from its neighbours, a map with keys that are no texts, a sequence of unknown
/// length, what AMF0 cannot carry: see [`amf0::encode`](crate::amf0::encode).
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::to_amf0;
///
/// assert_eq!(to_amf0("tam")?, b"\x02\0\x03tam");
/// assert!(to_amf0(&u64::MAX).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_amf0<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, SerializeError> {
    Mapping::default().to_amf0(value)
}

/// The bytes of a value in AMF3.
///
/// # Errors
///
/// An integer that a double cannot tell from its neighbours, a map with keys that are no texts, a sequence of unknown
/// length, what AMF3 cannot carry: see [`amf3::encode`](crate::amf3::encode).
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::to_amf3;
///
/// assert_eq!(to_amf3(&(5, "tam"))?, b"\x09\x05\x01\x04\x05\x06\x07tam");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_amf3<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, SerializeError> {
    Mapping::default().to_amf3(value)
}

/// A point in time, in milliseconds since 1970 in UTC. Other formats of serde have it as a number.
///
/// # Examples
///
/// ```
/// use tamtam_amf::typed::{Date, from_amf3, to_amf3};
///
/// let bytes = to_amf3(&Date(-1.0))?;
/// assert_eq!(bytes[0], 0x08);
/// assert_eq!(from_amf3::<Date>(&bytes, Default::default())?, Date(-1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Date(
    /// Milliseconds.
    pub f64,
);

/// The name by which a serializer of this crate knows a date.
const DATE: &str = "$tamtam_amf::Date";

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(DATE, &self.0)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self)
    }
}
