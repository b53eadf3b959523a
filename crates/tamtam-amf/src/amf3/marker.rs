//! The byte before each value, which says its type.

pub(crate) const UNDEFINED: u8 = 0x00;
pub(crate) const NULL: u8 = 0x01;
pub(crate) const FALSE: u8 = 0x02;
pub(crate) const TRUE: u8 = 0x03;
pub(crate) const INTEGER: u8 = 0x04;
pub(crate) const DOUBLE: u8 = 0x05;
pub(crate) const STRING: u8 = 0x06;
pub(crate) const XML_DOCUMENT: u8 = 0x07;
pub(crate) const DATE: u8 = 0x08;
pub(crate) const ARRAY: u8 = 0x09;
pub(crate) const OBJECT: u8 = 0x0a;
pub(crate) const XML: u8 = 0x0b;
pub(crate) const BYTE_ARRAY: u8 = 0x0c;
pub(crate) const VECTOR_INT: u8 = 0x0d;
pub(crate) const VECTOR_UINT: u8 = 0x0e;
pub(crate) const VECTOR_DOUBLE: u8 = 0x0f;
pub(crate) const VECTOR_OBJECT: u8 = 0x10;
pub(crate) const DICTIONARY: u8 = 0x11;
