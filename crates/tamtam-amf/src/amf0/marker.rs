//! The byte before each value, which says its type.

pub(crate) const NUMBER: u8 = 0x00;
pub(crate) const BOOLEAN: u8 = 0x01;
pub(crate) const STRING: u8 = 0x02;
pub(crate) const OBJECT: u8 = 0x03;
pub(crate) const MOVIE_CLIP: u8 = 0x04;
pub(crate) const NULL: u8 = 0x05;
pub(crate) const UNDEFINED: u8 = 0x06;
pub(crate) const REFERENCE: u8 = 0x07;
pub(crate) const ECMA_ARRAY: u8 = 0x08;
pub(crate) const OBJECT_END: u8 = 0x09;
pub(crate) const STRICT_ARRAY: u8 = 0x0a;
pub(crate) const DATE: u8 = 0x0b;
pub(crate) const LONG_STRING: u8 = 0x0c;
pub(crate) const UNSUPPORTED: u8 = 0x0d;
pub(crate) const RECORD_SET: u8 = 0x0e;
pub(crate) const XML_DOCUMENT: u8 = 0x0f;
pub(crate) const TYPED_OBJECT: u8 = 0x10;
pub(crate) const AVMPLUS: u8 = 0x11;
