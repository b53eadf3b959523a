//! The bytes of values, at the end of a vector: whether a value may stand there was asked before.

use super::encoder::length_of;
use super::marker::{BOOLEAN, DATE, LONG_STRING, NULL, NUMBER, STRICT_ARRAY, STRING};
use crate::EncodeError;

#[inline]
pub(super) fn array_head(length: u32) -> [u8; 5] {
    let mut bytes = [STRICT_ARRAY; 5];
    bytes[1..].copy_from_slice(&length.to_be_bytes());
    bytes
}

#[inline]
pub(crate) fn push_number(out: &mut Vec<u8>, number: f64) {
    let mut bytes = [NUMBER; 9];
    bytes[1..].copy_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&bytes);
}

#[inline]
pub(crate) fn push_boolean(out: &mut Vec<u8>, boolean: bool) {
    out.extend_from_slice(&[BOOLEAN, u8::from(boolean)]);
}

#[inline]
pub(crate) fn push_null(out: &mut Vec<u8>) {
    out.push(NULL);
}

#[inline]
pub(crate) fn push_date(out: &mut Vec<u8>, milliseconds: f64, time_zone: i16) {
    out.push(DATE);
    out.extend_from_slice(&milliseconds.to_be_bytes());
    out.extend_from_slice(&time_zone.to_be_bytes());
}

/// A text: as a string, or from 65,536 bytes on as a long string.
#[inline]
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) -> Result<(), EncodeError> {
    let Ok(length) = u16::try_from(text.len()) else {
        let length = length_of("bytes of text", text.len())?;
        push_long_text(out, LONG_STRING, length, text);
        return Ok(());
    };
    let [high, low] = length.to_be_bytes();
    if let Some(letters) = short(text.as_bytes()) {
        // As one piece of a fixed length, of which what is too much is cut off: a call that copies a few bytes takes
        // longer.
        let end = out.len() + 3 + text.len();
        let head = u128::from(u32::from_le_bytes([STRING, high, low, 0]));
        out.extend_from_slice(&(head | letters << 24).to_le_bytes());
        out.truncate(end);
        return Ok(());
    }
    out.reserve(3 + text.len());
    out.extend_from_slice(&[STRING, high, low]);
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

/// Four to thirteen bytes as the lowest ones of a number; the others are 0.
#[inline]
fn short(bytes: &[u8]) -> Option<u128> {
    let length = bytes.len();
    match length {
        4..8 => {
            let first = u32::from_le_bytes(*bytes.first_chunk()?);
            let last = u32::from_le_bytes(*bytes.last_chunk()?);
            Some(u128::from(
                u64::from(first) | u64::from(last) << (8 * (length - 4)),
            ))
        }
        8..14 => {
            let first = u64::from_le_bytes(*bytes.first_chunk()?);
            let last = u64::from_le_bytes(*bytes.last_chunk()?);
            Some(u128::from(first) | u128::from(last) << (8 * (length - 8)))
        }
        _ => None,
    }
}

pub(super) fn push_long_text(out: &mut Vec<u8>, marker: u8, length: u32, text: &str) {
    out.reserve(5 + text.len());
    out.push(marker);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}
