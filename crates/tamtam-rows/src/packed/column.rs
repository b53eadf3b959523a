//! One column: which rows are null, and the values of the others.

use super::Mode;
use super::bits;
use super::bytes::{FORM, Input, Met, Output, Result};
use super::floats;
use super::integers::{self, Effort};
use super::texts::{self, Texts};
use crate::ends::Ends;
use crate::kernels::{bits_of, vectorised};
use crate::{Column, DecodeError, Kind, Nulls, Slices, Strings, Values};

/// No row is null.
pub(super) const NONE: u8 = 0;
/// Which rows are null comes first, and only the others have values.
const DENSE: u8 = 1;
/// Which rows are null comes first; every row has a value, that of a null row being zero or nothing.
pub(super) const IN_PLACE: u8 = 2;

pub(super) fn encode(column: &Column, nullable: bool, mode: Mode, out: &mut Output<'_>) {
    let effort = Effort::new(mode);
    let nulls = column.nulls();
    if nullable {
        match nulls {
            None => out.byte(NONE),
            Some(nulls) => {
                let in_place = effort.mode == Mode::Plain;
                out.byte(if in_place { IN_PLACE } else { DENSE });
                bits::encode(nulls.words(), nulls.len(), effort, out);
                if !in_place {
                    return values(&without(column.values(), nulls), effort, out);
                }
            }
        }
    }
    values(column.values(), effort, out);
}

/// The values of the rows that are not null.
fn without(values: &Values, nulls: &Nulls) -> Values {
    fn kept<T: Copy>(values: &[T], nulls: &Nulls) -> Vec<T> {
        let mut kept = Vec::with_capacity(values.len() - nulls.count());
        // The zero bits of the words are what is kept.
        for (index, &word) in nulls.words().iter().enumerate() {
            let part = &values[index * 64..values.len().min(index * 64 + 64)];
            let mut left = !word & crate::kernels::mask(part.len() as u32);
            // Where few are null, what lies between two of them is copied at once.
            if word.count_ones() <= 6 {
                let mut at = 0;
                while left != 0 {
                    let from = at + left.trailing_zeros() as usize;
                    left >>= left.trailing_zeros();
                    let run = left.trailing_ones() as usize;
                    left = left.checked_shr(run as u32).unwrap_or(0);
                    at = from + run;
                    kept.extend_from_slice(&part[from..at]);
                }
            }
            while left != 0 {
                kept.push(part[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
        kept
    }
    match values {
        Values::Bool(values) => Values::Bool(kept(values, nulls)),
        Values::I8(values) => Values::I8(kept(values, nulls)),
        Values::I16(values) => Values::I16(kept(values, nulls)),
        Values::I32(values) => Values::I32(kept(values, nulls)),
        Values::I64(values) => Values::I64(kept(values, nulls)),
        Values::I128(values) => Values::I128(kept(values, nulls)),
        Values::U8(values) => Values::U8(kept(values, nulls)),
        Values::U16(values) => Values::U16(kept(values, nulls)),
        Values::U32(values) => Values::U32(kept(values, nulls)),
        Values::U64(values) => Values::U64(kept(values, nulls)),
        Values::F32(values) => Values::F32(kept(values, nulls)),
        Values::F64(values) => Values::F64(kept(values, nulls)),
        Values::Uuid(values) => Values::Uuid(kept(values, nulls)),
        Values::Text(texts) => Values::Text(present(nulls).map(|row| texts.get(row)).collect()),
        Values::Bytes(slices) => Values::Bytes(present(nulls).map(|row| slices.get(row)).collect()),
    }
}

/// The rows that are not null.
fn present(nulls: &Nulls) -> impl Iterator<Item = usize> + '_ {
    let words = (0..).step_by(64).zip(nulls.words());
    words.flat_map(|(from, &word)| {
        let rows = (nulls.len() - from).min(64);
        let mut left = !word & crate::kernels::mask(rows as u32);
        std::iter::from_fn(move || {
            let row = (left != 0).then(|| from + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            row
        })
    })
}

/// All integers of a decimal fit 64 bits.
pub(super) const NARROW: u8 = 0;
/// They take 16 bytes each, as text of that length.
pub(super) const WIDE: u8 = 1;

fn values(values: &Values, effort: Effort, out: &mut Output<'_>) {
    match values {
        Values::Bool(values) => {
            let words: Vec<u64> = values.chunks(64).map(bits_of).collect();
            bits::encode(&words, values.len(), effort, out);
        }
        Values::I8(values) => integers::encode(values, effort, out),
        Values::I16(values) => integers::encode(values, effort, out),
        Values::I32(values) => integers::encode(values, effort, out),
        Values::I64(values) => integers::encode(values, effort, out),
        Values::U8(values) => integers::encode(values, effort, out),
        Values::U16(values) => integers::encode(values, effort, out),
        Values::U32(values) => integers::encode(values, effort, out),
        Values::U64(values) => integers::encode(values, effort, out),
        Values::I128(values) => match narrow(values) {
            Some(narrow) => {
                out.byte(NARROW);
                integers::encode(&narrow, effort, out);
            }
            None => {
                out.byte(WIDE);
                let all: Vec<u8> = values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect();
                sixteen(&all, effort, out);
            }
        },
        Values::F32(values) => floats::encode(values, effort, out),
        Values::F64(values) => floats::encode(values, effort, out),
        Values::Uuid(values) => sixteen(values.as_flattened(), effort, out),
        Values::Text(texts) => {
            texts::encode(
                Texts {
                    all: texts.all().as_bytes(),
                    ends: texts.ends(),
                },
                effort,
                out,
            );
        }
        Values::Bytes(slices) => texts::encode(
            Texts {
                all: slices.all(),
                ends: slices.ends(),
            },
            effort,
            out,
        ),
    }
}

/// All of them in 64 bits each.
fn narrow(values: &[i128]) -> Option<Vec<i64>> {
    let mut low = vec![0; values.len()];
    // Without a branch for each: the upper halves are looked at together.
    let differ = vectorised(|| {
        let mut differ = 0;
        for (place, &value) in low.iter_mut().zip(values) {
            *place = value as i64;
            differ |= (value >> 64) as i64 ^ (*place >> 63);
        }
        differ
    });
    (differ == 0).then_some(low)
}

fn sixteen(all: &[u8], effort: Effort, out: &mut Output<'_>) {
    let ends = Ends::Fixed {
        width: 16,
        count: all.len() / 16,
    };
    texts::encode(Texts { all, ends: &ends }, effort, out);
}

pub(super) fn decode(
    input: &mut Input<'_>,
    kind: &Kind,
    nullable: bool,
    count: usize,
) -> Result<Column> {
    let at = input.position();
    let how = if nullable {
        input.byte("whether rows are null")?
    } else {
        NONE
    };
    if how == NONE {
        return Ok(Column::new(decode_values(input, kind, count, at)?));
    }
    if how != DENSE && how != IN_PLACE {
        return Err(input.malformed(format!("no way to be null is numbered {how}")));
    }
    if let Some(met) = &mut input.met {
        met.push(Met {
            depth: 0,
            codec: "nulls",
            bytes: 0,
        });
    }
    let words = bits::decode(input, count)?;
    let nulls = Nulls::from_words(words, count).expect("as many words as the rows need");
    if how == IN_PLACE {
        let values = decode_values(input, kind, count, at)?;
        return Ok(Column::with_nulls(values, nulls)?);
    }
    let dense = decode_values(input, kind, count - nulls.count(), at)?;
    input.reserve((nulls.count() * kind.width().unwrap_or(4)) as u64)?;
    Ok(Column::with_nulls(spread(dense, &nulls), nulls)?)
}

/// Puts the values where rows are not null.
fn spread(values: Values, nulls: &Nulls) -> Values {
    fn spread<T: Copy + Default>(dense: &[T], nulls: &Nulls) -> Vec<T> {
        let mut values = vec![T::default(); nulls.len()];
        let mut dense = dense.iter();
        for (index, &word) in nulls.words().iter().enumerate() {
            let end = nulls.len().min(index * 64 + 64);
            let part = &mut values[index * 64..end];
            let mut left = !word & crate::kernels::mask(part.len() as u32);
            while left != 0 {
                if let Some(&value) = dense.next() {
                    part[left.trailing_zeros() as usize] = value;
                }
                left &= left - 1;
            }
        }
        values
    }
    /// Where values end; null ones where they begin.
    fn ends(dense: &Ends, nulls: &Nulls) -> Ends {
        let mut lengths = dense.lengths();
        let mut offsets = Vec::with_capacity(nulls.len() + 1);
        let mut end = 0;
        offsets.push(0);
        for is_null in nulls.iter() {
            end += if is_null {
                0
            } else {
                lengths.next().unwrap_or(0)
            };
            offsets.push(end);
        }
        Ends::Each(offsets)
    }
    match values {
        Values::Bool(values) => Values::Bool(spread(&values, nulls)),
        Values::I8(values) => Values::I8(spread(&values, nulls)),
        Values::I16(values) => Values::I16(spread(&values, nulls)),
        Values::I32(values) => Values::I32(spread(&values, nulls)),
        Values::I64(values) => Values::I64(spread(&values, nulls)),
        Values::I128(values) => Values::I128(spread(&values, nulls)),
        Values::U8(values) => Values::U8(spread(&values, nulls)),
        Values::U16(values) => Values::U16(spread(&values, nulls)),
        Values::U32(values) => Values::U32(spread(&values, nulls)),
        Values::U64(values) => Values::U64(spread(&values, nulls)),
        Values::F32(values) => Values::F32(spread(&values, nulls)),
        Values::F64(values) => Values::F64(spread(&values, nulls)),
        Values::Uuid(values) => Values::Uuid(spread(&values, nulls)),
        Values::Text(texts) => {
            let (text, dense) = texts.into_parts();
            Values::Text(Strings::from_parts(text, ends(&dense, nulls)))
        }
        Values::Bytes(slices) => {
            let (bytes, dense) = slices.into_parts();
            Values::Bytes(Slices::from_parts(bytes, ends(&dense, nulls)))
        }
    }
}

fn decode_values(input: &mut Input<'_>, kind: &Kind, count: usize, at: u64) -> Result<Values> {
    Ok(match kind {
        Kind::Bool => {
            let words = bits::decode(input, count)?;
            input.reserve(count as u64)?;
            Values::Bool(
                (0..count)
                    .map(|row| words[row / 64] >> (row % 64) & 1 == 1)
                    .collect(),
            )
        }
        Kind::I8 => Values::I8(integers::decode(input, count, 0)?),
        Kind::I16 => Values::I16(integers::decode(input, count, 0)?),
        Kind::I32 | Kind::Date => Values::I32(integers::decode(input, count, 0)?),
        Kind::I64 | Kind::Time(_) | Kind::Timestamp(..) => {
            Values::I64(integers::decode(input, count, 0)?)
        }
        Kind::U8 => Values::U8(integers::decode(input, count, 0)?),
        Kind::U16 => Values::U16(integers::decode(input, count, 0)?),
        Kind::U32 => Values::U32(integers::decode(input, count, 0)?),
        Kind::U64 => Values::U64(integers::decode(input, count, 0)?),
        Kind::F32 => Values::F32(floats::decode(input, count)?),
        Kind::F64 => Values::F64(floats::decode(input, count)?),
        Kind::Decimal { .. } => match input.byte("how decimals are coded")? {
            NARROW => {
                let narrow: Vec<i64> = integers::decode(input, count, 0)?;
                input.reserve(count as u64 * 8)?;
                Values::I128(narrow.into_iter().map(i128::from).collect())
            }
            WIDE => Values::I128(
                decode_sixteen(input, count)?
                    .into_iter()
                    .map(i128::from_le_bytes)
                    .collect(),
            ),
            other => {
                return Err(input.malformed(format!("no coding of decimals is numbered {other}")));
            }
        },
        Kind::Uuid => Values::Uuid(decode_sixteen(input, count)?),
        Kind::Text => {
            let damaged = |reason: String| DecodeError::Malformed {
                form: FORM,
                at,
                reason,
            };
            let (bytes, ends) = texts::decode_text(input, count)?;
            let text = match bytes {
                // Values between digits end between characters.
                texts::Bytes::Ascii(text) => {
                    return Ok(Values::Text(Strings::from_parts(text, ends)));
                }
                texts::Bytes::Any(bytes) => String::from_utf8(bytes)
                    .map_err(|error| damaged(format!("text that is not UTF-8: {error}")))?,
            };
            if !ends.divide(&text) {
                return Err(damaged("a value that ends inside a character".into()));
            }
            Values::Text(Strings::from_parts(text, ends))
        }
        Kind::Bytes => {
            let (all, ends) = texts::decode(input, count)?;
            Values::Bytes(Slices::from_parts(all, ends))
        }
    })
}

fn decode_sixteen(input: &mut Input<'_>, count: usize) -> Result<Vec<[u8; 16]>> {
    let (all, ends) = texts::decode(input, count)?;
    if count > 0 && ends.lengths().any(|length| length != 16) {
        return Err(input.malformed("a value that is not 16 bytes long"));
    }
    Ok(all
        .chunks_exact(16)
        .map(|bytes| bytes.try_into().expect("16 bytes"))
        .collect())
}
