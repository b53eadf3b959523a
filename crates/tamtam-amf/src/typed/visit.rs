//! What a type is given for a value without others in it.

use serde::de::value::SeqDeserializer;
use serde::de::{IntoDeserializer, Visitor};

use super::error::Failure;
use super::items::{Bytes, Element};
use crate::scalar::Scalar;

type Result<T, E = Failure> = std::result::Result<T, E>;

/// A value that stands for itself.
#[inline(always)]
pub(super) fn visit_scalar<'de, V: Visitor<'de>>(
    scalar: Scalar<'de>,
    visitor: V,
) -> Result<V::Value> {
    match scalar {
        Scalar::Null => visitor.visit_unit(),
        Scalar::Boolean(boolean) => visitor.visit_bool(boolean),
        Scalar::Integer(number) => visitor.visit_i32(number),
        Scalar::Number(number) => visit_number(number, visitor),
        Scalar::Text(text) => visitor.visit_borrowed_str(text),
    }
}

/// A number as the integer that it is, if it is one: what asks for a double takes that as well.
#[inline]
pub(super) fn visit_number<'de, V: Visitor<'de>>(number: f64, visitor: V) -> Result<V::Value> {
    // Saturated where it does not fit, and then it is not equal.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    let integer = number as i64;
    #[allow(clippy::cast_precision_loss)]
    let back = integer as f64;
    if back.to_bits() == number.to_bits() && integer != i64::MAX {
        return visitor.visit_i64(integer);
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss
    )]
    let (unsigned, back) = (number as u64, number as u64 as f64);
    if back.to_bits() == number.to_bits() && unsigned != u64::MAX && unsigned > 0 {
        return visitor.visit_u64(unsigned);
    }
    visitor.visit_f64(number)
}

pub(super) fn visit_vector<'de, V: Visitor<'de>>(
    element: Element,
    bytes: &Bytes<'_>,
    visitor: V,
) -> Result<V::Value> {
    let bytes = match bytes {
        Bytes::Borrowed(bytes) => bytes,
        Bytes::Owned(bytes) => &bytes[..],
    };
    match element {
        Element::Int => {
            let values = bytes.as_chunks().0.iter().map(|b| i32::from_be_bytes(*b));
            visit_values(values, visitor)
        }
        Element::Uint => {
            let values = bytes.as_chunks().0.iter().map(|b| u32::from_be_bytes(*b));
            visit_values(values, visitor)
        }
        Element::Double => {
            let values = bytes.as_chunks().0.iter().map(|b| f64::from_be_bytes(*b));
            visit_values(values, visitor)
        }
    }
}

/// A sequence of these values, all of which the type must take.
pub(super) fn visit_values<'de, T, V: Visitor<'de>>(
    values: impl Iterator<Item = T>,
    visitor: V,
) -> Result<V::Value>
where
    T: IntoDeserializer<'de, Failure>,
{
    let mut values = SeqDeserializer::new(values);
    let value = visitor.visit_seq(&mut values)?;
    values.end()?;
    Ok(value)
}
