//! The bytes of values, at the end of a vector or in a place: whether a value may stand there was asked before.

use super::encoder::length_of;
use super::marker::{BOOLEAN, DATE, LONG_STRING, NULL, NUMBER, OBJECT_END, STRICT_ARRAY, STRING};
use crate::EncodeError;

/// The bytes of a number with its marker.
pub(crate) const NUMBER_BYTES: usize = 9;
/// The bytes of a boolean with its marker.
pub(crate) const BOOLEAN_BYTES: usize = 2;
/// The bytes of an array's marker and its length.
pub(crate) const ARRAY_HEAD_BYTES: usize = 5;

/// What ends an object: no name, and its marker.
pub(crate) const OBJECT_TAIL: [u8; 3] = [0, 0, OBJECT_END];

#[inline]
pub(crate) fn array_head(length: u32) -> [u8; ARRAY_HEAD_BYTES] {
    let mut bytes = [STRICT_ARRAY; ARRAY_HEAD_BYTES];
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

/// The bytes of a text of this length with its marker and its length.
#[inline]
pub(crate) fn string_bytes(length: usize) -> Result<usize, EncodeError> {
    match length <= usize::from(u16::MAX) {
        true => Ok(3 + length),
        false => length_of("bytes of text", length).map(|length| 5 + length as usize),
    }
}

/// Puts a text at the beginning of bytes that have room for it, as was [counted](string_bytes).
#[inline]
pub(crate) fn put_string(out: &mut [u8], text: &[u8]) {
    let Ok(length) = u16::try_from(text.len()) else {
        return put_long_text(out, text);
    };
    let cell = &mut out[..3 + text.len()];
    let [high, low] = length.to_be_bytes();
    cell[..3].copy_from_slice(&[STRING, high, low]);
    put_bytes(&mut cell[3..], text);
}

/// The number that bytes begin with, if they do.
#[inline]
pub(crate) fn number_at(bytes: &[u8]) -> Option<f64> {
    match bytes.first_chunk() {
        Some(&[NUMBER, a, b, c, d, e, f, g, h]) => {
            Some(f64::from_be_bytes([a, b, c, d, e, f, g, h]))
        }
        _ => None,
    }
}

/// The boolean that bytes begin with, if they do.
#[inline]
pub(crate) fn boolean_at(bytes: &[u8]) -> Option<bool> {
    match bytes.first_chunk() {
        Some(&[BOOLEAN, boolean]) => Some(boolean != 0),
        _ => None,
    }
}

/// The bytes of the text that these begin with, if it is a string.
#[inline]
pub(crate) fn string_bytes_at(bytes: &[u8]) -> Option<&[u8]> {
    match bytes.split_first_chunk() {
        Some((&[STRING, high, low], rest)) => rest.get(..u16::from_be_bytes([high, low]).into()),
        _ => None,
    }
}

#[cold]
fn put_long_text(out: &mut [u8], text: &[u8]) {
    // It was counted: the format has no text of which it has not the length.
    #[allow(clippy::cast_possible_truncation)]
    let [a, b, c, d] = (text.len() as u32).to_be_bytes();
    out[..5].copy_from_slice(&[LONG_STRING, a, b, c, d]);
    out[5..][..text.len()].copy_from_slice(text);
}

/// Copies bytes into a slice of their length. A few are copied as two pieces that overlap: a call takes longer.
#[inline]
pub(crate) fn put_bytes(place: &mut [u8], bytes: &[u8]) {
    macro_rules! by_pieces_of {
        ($piece:literal) => {
            if let (Some(first), Some(last)) =
                (bytes.first_chunk::<$piece>(), bytes.last_chunk::<$piece>())
            {
                if let Some(place) = place.first_chunk_mut::<$piece>() {
                    *place = *first;
                }
                if let Some(place) = place.last_chunk_mut::<$piece>() {
                    *place = *last;
                }
                return;
            }
        };
    }
    match bytes.len() {
        4..8 => by_pieces_of!(4),
        8..=16 => by_pieces_of!(8),
        17..=32 => by_pieces_of!(16),
        _ => {}
    }
    place.copy_from_slice(bytes);
}

/// Appends bytes. A few are appended as one piece of a fixed length, of which what is too much is cut off: a call that copies them
/// takes longer.
#[inline]
pub(crate) fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let Some(letters) = short(bytes) else {
        return out.extend_from_slice(bytes);
    };
    let end = out.len() + bytes.len();
    out.extend_from_slice(&letters.to_le_bytes());
    out.truncate(end);
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
