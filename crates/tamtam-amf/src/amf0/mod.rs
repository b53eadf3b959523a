//! AMF0, the format of Flash 6: each name and text in full, references to containers alone.
//!
//! [`encode`] and [`decode`] translate a [`Value`], a tree. [`Encoder`] writes and [`Decoder`] reads item by item,
//! without a tree, which is many times faster for a table.
//!
//! After the *AMF 0 Specification* of Adobe Systems (December 2007).

mod bytes;
mod decoder;
mod encoder;
mod marker;
mod members;
mod numbering;
mod scalars;
#[cfg(feature = "serde")]
mod shortcuts;
mod tree;
mod value;

pub use decoder::{Decoder, Event};
pub use encoder::{Encoder, Name};
pub use numbering::Numbering;
pub use tree::{decode, encode};
pub use value::{Properties, TypedObject, Value};

pub(crate) use bytes::{
    ARRAY_HEAD_BYTES, BOOLEAN_BYTES, NUMBER_BYTES, OBJECT_TAIL, array_head, boolean_at, number_at,
    push_boolean, push_bytes, push_date, push_null, push_number, push_string, put_bytes,
    put_string, string_bytes, string_bytes_at,
};
#[cfg(feature = "serde")]
pub(crate) use decoder::Streamed;
pub(crate) use encoder::{length_of, name_length};
pub(crate) use marker::{BOOLEAN, NULL, NUMBER, OBJECT, STRING};
#[cfg(feature = "serde")]
pub(crate) use members::MembersAhead;
#[cfg(feature = "serde")]
pub(crate) use shortcuts::Member;
