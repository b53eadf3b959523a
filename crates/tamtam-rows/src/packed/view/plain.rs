//! The checks after which the bytes of a plain column may be used as values.

use std::borrow::Cow;

use bytemuck::AnyBitPattern;

use super::column::{Places, Plain, ViewColumn};
use crate::packed::bytes::Input;
use crate::packed::integers::Codec;
use crate::packed::{bits, column, floats, texts};
use crate::{DecodeError, Field, Kind};

/// Why a column cannot be used where it lies.
pub(super) enum Refused {
    Damaged(DecodeError),
    NotPlain,
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Refused {
        Refused::Damaged(error)
    }
}

type Result<T> = std::result::Result<T, Refused>;

/// Finds the values of a column of as many rows.
pub(super) fn column<'a>(
    input: &mut Input<'a>,
    field: &Field,
    rows: usize,
) -> Result<ViewColumn<'a>> {
    let mut nulls = None;
    if field.is_nullable() {
        match input.byte("whether rows are null")? {
            column::NONE => {}
            column::IN_PLACE => nulls = Some(bits(input, rows)?),
            _ => return Err(Refused::NotPlain),
        }
    }
    let kind = field.kind().clone();
    let values = match kind {
        Kind::Bool => Plain::Bool(bits(input, rows)?),
        Kind::I8 => Plain::I8(integers(input, rows)?),
        Kind::I16 => Plain::I16(integers(input, rows)?),
        Kind::I32 | Kind::Date => Plain::I32(integers(input, rows)?),
        Kind::I64 | Kind::Time(_) | Kind::Timestamp(..) => Plain::I64(integers(input, rows)?),
        Kind::U8 => Plain::U8(integers(input, rows)?),
        Kind::U16 => Plain::U16(integers(input, rows)?),
        Kind::U32 => Plain::U32(integers(input, rows)?),
        Kind::U64 => Plain::U64(integers(input, rows)?),
        Kind::F32 => Plain::F32(real(input, rows)?),
        Kind::F64 => Plain::F64(real(input, rows)?),
        Kind::Decimal { .. } => match input.byte("how decimals are coded")? {
            column::NARROW => Plain::I64(integers(input, rows)?),
            column::WIDE => Plain::Sixteen(sixteen(input, rows)?),
            other => {
                return Err(input
                    .malformed(format!("no coding of decimals is numbered {other}"))
                    .into());
            }
        },
        Kind::Uuid => Plain::Sixteen(sixteen(input, rows)?),
        Kind::Text => {
            let (bytes, places) = slices(input, rows)?;
            let text = std::str::from_utf8(bytes)
                .map_err(|error| input.malformed(format!("text that is not UTF-8: {error}")))?;
            if !divide(text, &places, rows) {
                return Err(input
                    .malformed("a value that ends inside a character")
                    .into());
            }
            Plain::Text(text, places)
        }
        Kind::Bytes => {
            let (bytes, places) = slices(input, rows)?;
            Plain::Bytes(bytes, places)
        }
    };
    Ok(ViewColumn {
        kind,
        rows,
        nulls,
        values,
    })
}

/// Numbers, whose bytes are as the format has them.
trait Number: AnyBitPattern {
    fn of_le_bytes(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn of_le_bytes(bytes: &[u8]) -> $type {
                <$type>::from_le_bytes(bytes.try_into().expect("as many bytes as it has"))
            }
        }
    )*};
}
numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// The next numbers, behind padding. They are copied where they cannot be used in place.
fn numbers<'a, T: Number>(
    input: &mut Input<'a>,
    count: usize,
    what: &'static str,
) -> Result<Cow<'a, [T]>> {
    input.align()?;
    let bytes = input.take(count.saturating_mul(size_of::<T>()), what)?;
    if cfg!(target_endian = "little")
        && let Ok(values) = bytemuck::try_cast_slice(bytes)
    {
        return Ok(Cow::Borrowed(values));
    }
    input.reserve(bytes.len() as u64)?;
    Ok(Cow::Owned(
        bytes
            .chunks_exact(size_of::<T>())
            .map(T::of_le_bytes)
            .collect(),
    ))
}

fn integers<'a, T: Number>(input: &mut Input<'a>, count: usize) -> Result<Cow<'a, [T]>> {
    if input.byte("a codec")? != Codec::Plain as u8
        || usize::from(input.byte("the width of values")?) != size_of::<T>()
    {
        return Err(Refused::NotPlain);
    }
    numbers(input, count, "plain values")
}

fn real<'a, T: Number>(input: &mut Input<'a>, count: usize) -> Result<Cow<'a, [T]>> {
    if input.byte("how floats are coded")? != floats::PLAIN {
        return Err(Refused::NotPlain);
    }
    numbers(input, count, "plain floats")
}

/// Bytes of eight bits each.
fn bits<'a>(input: &mut Input<'a>, count: usize) -> Result<&'a [u8]> {
    if input.byte("how bits are coded")? != bits::BYTES
        || input.byte("a codec")? != Codec::Plain as u8
        || input.byte("the width of values")? != 1
    {
        return Err(Refused::NotPlain);
    }
    input.align()?;
    Ok(input.take(count.div_ceil(8), "plain bits")?)
}

fn sixteen<'a>(input: &mut Input<'a>, count: usize) -> Result<&'a [[u8; 16]]> {
    match slices(input, count)? {
        (bytes, Places::Fixed(16)) => Ok(bytes.as_chunks().0),
        _ => Err(Refused::NotPlain),
    }
}

/// Values that lie one behind the other.
fn slices<'a>(input: &mut Input<'a>, count: usize) -> Result<(&'a [u8], Places<'a>)> {
    match input.byte("how text is coded")? {
        texts::FIXED => {
            let width = input.count(u32::MAX as usize, "the length of values")?;
            let bytes = input.take(width.saturating_mul(count), "text")?;
            Ok((bytes, Places::Fixed(width)))
        }
        texts::OFFSETS => {
            let offsets: Cow<'a, [u32]> = numbers(
                input,
                count.saturating_add(1),
                "the places where values begin",
            )?;
            if offsets[0] != 0 || !offsets.is_sorted() {
                return Err(input.malformed("values that end before they begin").into());
            }
            let bytes = input.take(offsets[count] as usize, "text")?;
            Ok((bytes, Places::Each(offsets)))
        }
        _ => Err(Refused::NotPlain),
    }
}

/// Whether each value begins and ends between characters.
fn divide(text: &str, places: &Places<'_>, rows: usize) -> bool {
    text.is_ascii()
        || match places {
            Places::Fixed(width) => (1..rows).all(|row| text.is_char_boundary(row * width)),
            Places::Each(offsets) => offsets
                .iter()
                .all(|&offset| text.is_char_boundary(offset as usize)),
        }
}
