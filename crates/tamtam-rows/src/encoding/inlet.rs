//! A column into which a decoder puts value after value.

use crate::cell_text::{self, Integer};
use crate::{Column, Field, Kind, Nulls, ShapeError, Values};

/// Why a value was not taken.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refusal {
    /// It is not of the column's type.
    Kind,
    /// The column's text or bytes would exceed 4 GiB.
    TooLarge,
}

impl From<ShapeError> for Refusal {
    fn from(_: ShapeError) -> Refusal {
        Refusal::TooLarge
    }
}

/// How values of JSON are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// As what they are.
    Any,
    /// As they are written, with all their digits.
    Raw,
}

/// An integer of at most 32 bits.
pub(crate) trait Narrow: Copy
where
    f64: From<Self>,
{
    /// The one of the lowest bits.
    fn of_bits(bits: u64) -> Self;
}

macro_rules! narrow {
    ($($integer:ident)*) => {
        $(impl Narrow for $integer {
            #[inline]
            fn of_bits(bits: u64) -> Self {
                bits as Self
            }
        })*
    };
}

narrow!(i8 i16 i32 u8 u16 u32);

/// The integer that a double is.
#[inline]
pub(crate) fn exact<T: Narrow>(value: f64) -> Option<T>
where
    f64: From<T>,
{
    // Of an integer of up to 32 bits, a double of this size has the lowest bits in its own lowest bits. Of what is no such
    // integer these are bits that make another number, which is found below. A conversion that has a result for every double
    // takes longer.
    const SIZE: f64 = 1.5 * (1_u64 << 52) as f64;
    let narrowed = T::of_bits((value + SIZE).to_bits());
    (f64::from(narrowed).to_bits() == value.to_bits()).then_some(narrowed)
}

/// Whether a float of so many binary digits holds an integer exactly. Those of either width reach far enough.
#[inline]
pub(crate) fn is_held(magnitude: u128, digits: u32) -> bool {
    magnitude == 0 || (magnitude >> magnitude.trailing_zeros()) >> digits == 0
}

/// A column that grows.
pub(crate) struct Inlet {
    kind: Kind,
    is_nullable: bool,
    is_integer: bool,
    taking: Taking,
    wants_raw: bool,
    pub(crate) values: Values,
    /// From the first null on.
    nulls: Option<Nulls>,
    /// For what is decoded on its way.
    scratch: Vec<u8>,
}

impl Inlet {
    pub(crate) fn new(field: &Field) -> Inlet {
        Inlet {
            kind: field.kind().clone(),
            is_nullable: field.is_nullable(),
            is_integer: matches!(
                field.kind(),
                Kind::I8
                    | Kind::I16
                    | Kind::I32
                    | Kind::I64
                    | Kind::U8
                    | Kind::U16
                    | Kind::U32
                    | Kind::U64
            ),
            taking: match field.kind() {
                // Floats of 32 bits are rounded once, from the digits.
                Kind::F32 | Kind::Decimal { .. } => Taking::Raw,
                _ => Taking::Any,
            },
            wants_raw: false,
            values: Values::new(field.kind()),
            nulls: None,
            scratch: Vec::new(),
        }
    }

    #[allow(dead_code, reason = "structs need it")]
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    pub(crate) fn is_nullable(&self) -> bool {
        self.is_nullable
    }

    /// Whether it is one of integers that mean nothing else.
    pub(crate) fn is_integer(&self) -> bool {
        self.is_integer
    }

    /// To be called behind each value that was put into [`values`](Inlet::values) by hand.
    #[inline]
    pub(crate) fn was_pushed(&mut self) {
        if let Some(nulls) = &mut self.nulls {
            nulls.push(false);
        }
    }

    /// One more row that is null.
    pub(crate) fn push_null(&mut self) -> Result<(), Refusal> {
        if !self.is_nullable {
            return Err(Refusal::Kind);
        }
        let before = self.values.len();
        self.values.push_nothing();
        self.nulls
            .get_or_insert_with(|| Nulls::none(before))
            .push(true);
        Ok(())
    }

    /// One more row of a column of texts. The bytes that it takes beyond the column's width.
    #[inline]
    pub(crate) fn push_string(&mut self, text: &str) -> Result<usize, Refusal> {
        let Values::Text(texts) = &mut self.values else {
            return Err(Refusal::Kind);
        };
        texts.push(text)?;
        self.was_pushed();
        Ok(text.len())
    }

    /// More rows of a column of texts, which lie one behind the other; `None` is the length of a null. The bytes that they
    /// take beyond the column's width. Where one is refused, some may have been taken, to be [forgotten](Self::truncate).
    #[cfg(feature = "amf")]
    pub(crate) fn push_joined(
        &mut self,
        joined: &str,
        lengths: &[Option<usize>],
    ) -> Result<usize, Refusal> {
        let Values::Text(texts) = &mut self.values else {
            return Err(Refusal::Kind);
        };
        let all = lengths.iter().map(|length| length.unwrap_or(0));
        texts.push_joined(joined, all).ok_or(Refusal::Kind)?;
        let null_rows: Vec<_> = lengths
            .iter()
            .enumerate()
            .filter_map(|(row, length)| length.is_none().then_some(row))
            .collect();
        if !self.were_pushed(lengths.len(), &null_rows) {
            return Err(Refusal::Kind);
        }
        Ok(joined.len())
    }

    /// To be called behind so many values that were put into [`values`](Inlet::values) by hand; those in some rows, counted from
    /// the first of them, stand for nulls. False where there may be none.
    #[cfg(feature = "amf")]
    pub(crate) fn were_pushed(&mut self, rows: usize, null_rows: &[usize]) -> bool {
        if !null_rows.is_empty() && !self.is_nullable {
            return false;
        }
        let before = self.values.len() - rows;
        if !null_rows.is_empty() {
            self.nulls.get_or_insert_with(|| Nulls::none(before));
        }
        if let Some(nulls) = &mut self.nulls {
            nulls.push_none(rows);
            null_rows.iter().for_each(|row| nulls.set(before + row));
        }
        true
    }

    /// Forgets the rows from this one on.
    #[cfg(feature = "amf")]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.values.truncate(len);
        if let Some(nulls) = &mut self.nulls {
            nulls.truncate(len);
        }
    }

    /// One more row, from its text as [`cell_text::write`] writes it. The bytes that it takes beyond the column's
    /// width.
    #[inline]
    pub(crate) fn push_text(&mut self, text: &str) -> Result<usize, Refusal> {
        fn some<T>(parsed: Option<T>) -> Result<T, Refusal> {
            parsed.ok_or(Refusal::Kind)
        }
        fn int<T: Integer>(text: &str) -> Result<T, Refusal> {
            some(cell_text::integer(text.as_bytes()))
        }
        let bytes = text.as_bytes();
        let mut variable = 0;
        match &mut self.values {
            Values::Bool(values) => values.push(some(cell_text::truth(bytes))?),
            Values::I8(values) => values.push(int(text)?),
            Values::I16(values) => values.push(int(text)?),
            Values::I32(values) if self.kind == Kind::Date => {
                let days = some(cell_text::date(bytes))?;
                values.push(some(days.try_into().ok())?);
            }
            Values::I32(values) => values.push(int(text)?),
            Values::I64(values) => values.push(some(match &self.kind {
                Kind::Time(unit) => cell_text::time(bytes, *unit),
                Kind::Timestamp(unit, zone) => cell_text::timestamp(bytes, *unit, zone),
                _ => cell_text::integer(bytes),
            })?),
            Values::U8(values) => values.push(int(text)?),
            Values::U16(values) => values.push(int(text)?),
            Values::U32(values) => values.push(int(text)?),
            Values::U64(values) => values.push(int(text)?),
            Values::I128(values) => {
                let (precision, scale) = match self.kind {
                    Kind::Decimal { precision, scale } => (precision, scale),
                    _ => (38, 0),
                };
                values.push(some(cell_text::decimal(bytes, precision, scale))?);
            }
            Values::F32(values) => values.push(some(cell_text::real(text))?),
            Values::F64(values) => values.push(some(cell_text::real(text))?),
            Values::Uuid(values) => values.push(some(cell_text::uuid(bytes))?),
            Values::Text(_) => return self.push_string(text),
            Values::Bytes(slices) => {
                if !cell_text::bytes(bytes, &mut self.scratch) {
                    return Err(Refusal::Kind);
                }
                slices.push(&self.scratch)?;
                variable = self.scratch.len();
            }
        }
        self.was_pushed();
        Ok(variable)
    }

    pub(crate) fn finish(self) -> Result<Column, ShapeError> {
        match self.nulls {
            Some(nulls) => Column::with_nulls(self.values, nulls),
            None => Ok(Column::new(self.values)),
        }
    }
}

#[allow(dead_code, reason = "each form needs some of them")]
impl Inlet {
    pub(crate) fn taking(&self) -> Taking {
        self.taking
    }

    pub(crate) fn take_raw(&mut self) {
        self.taking = Taking::Raw;
    }

    /// A value came that is to be taken as it is written.
    pub(crate) fn want_raw(&mut self) {
        self.wants_raw = true;
    }

    pub(crate) fn wants_raw(&self) -> bool {
        self.wants_raw
    }

    /// One more row with a truth value.
    pub(crate) fn push_bool(&mut self, value: bool) -> Result<(), Refusal> {
        match &mut self.values {
            Values::Bool(values) => values.push(value),
            _ => return Err(Refusal::Kind),
        }
        self.was_pushed();
        Ok(())
    }

    /// One more row with a double, or the integer of up to 32 bits that it is, if the column has such; `false` if the row was
    /// not taken, which may have another way in.
    #[inline]
    pub(crate) fn push_exact(&mut self, value: f64) -> bool {
        #[inline]
        fn push<T: Narrow>(values: &mut Vec<T>, value: f64) -> bool
        where
            f64: From<T>,
        {
            let narrowed = exact(value);
            narrowed.map(|narrowed| values.push(narrowed)).is_some()
        }
        let was_pushed = match &mut self.values {
            Values::I8(values) => push(values, value),
            Values::I16(values) => push(values, value),
            Values::I32(values) if self.is_integer => push(values, value),
            Values::U8(values) => push(values, value),
            Values::U16(values) => push(values, value),
            Values::U32(values) => push(values, value),
            Values::F64(values) => {
                values.push(value);
                true
            }
            _ => return false,
        };
        if was_pushed {
            self.was_pushed();
        }
        was_pushed
    }

    /// One more row with an integer, which a column of floats or decimals takes, too; one of floats rounds it.
    #[inline]
    pub(crate) fn push_integer(
        &mut self,
        is_negative: bool,
        magnitude: u64,
    ) -> Result<(), Refusal> {
        self.push_integer_if(is_negative, magnitude, |_, _| true)
    }

    /// One more row with an integer, which a column of floats takes if it holds it exactly, and one of decimals.
    #[inline]
    pub(crate) fn push_exact_integer(
        &mut self,
        is_negative: bool,
        magnitude: u64,
    ) -> Result<(), Refusal> {
        self.push_integer_if(is_negative, magnitude, |magnitude, digits| {
            is_held(magnitude.into(), digits)
        })
    }

    /// `is_held` says whether a float of so many binary digits may stand for the integer.
    #[inline]
    fn push_integer_if(
        &mut self,
        is_negative: bool,
        magnitude: u64,
        is_held: impl Fn(u64, u32) -> bool,
    ) -> Result<(), Refusal> {
        fn of<T: Integer>(is_negative: bool, magnitude: u64) -> Result<T, Refusal> {
            T::of(is_negative, magnitude).ok_or(Refusal::Kind)
        }
        match &mut self.values {
            Values::I8(values) => values.push(of(is_negative, magnitude)?),
            Values::I16(values) => values.push(of(is_negative, magnitude)?),
            Values::I32(values) if self.is_integer => values.push(of(is_negative, magnitude)?),
            Values::I64(values) if self.is_integer => values.push(of(is_negative, magnitude)?),
            Values::U8(values) => values.push(of(is_negative, magnitude)?),
            Values::U16(values) => values.push(of(is_negative, magnitude)?),
            Values::U32(values) => values.push(of(is_negative, magnitude)?),
            Values::U64(values) => values.push(of(is_negative, magnitude)?),
            Values::F64(values) => {
                if !is_held(magnitude, f64::MANTISSA_DIGITS) {
                    return Err(Refusal::Kind);
                }
                let value = magnitude as f64;
                values.push(if is_negative { -value } else { value });
            }
            Values::F32(values) => {
                if !is_held(magnitude, f32::MANTISSA_DIGITS) {
                    return Err(Refusal::Kind);
                }
                let value = magnitude as f32;
                values.push(if is_negative { -value } else { value });
            }
            Values::I128(values) => {
                let (precision, scale) = match self.kind {
                    Kind::Decimal { precision, scale } => (precision, scale),
                    _ => (38, 0),
                };
                let value = 10_i128
                    .pow(scale.into())
                    .checked_mul(magnitude.into())
                    .filter(|&value| value < 10_i128.pow(precision.into()))
                    .ok_or(Refusal::Kind)?;
                values.push(if is_negative { -value } else { value });
            }
            _ => return Err(Refusal::Kind),
        }
        self.was_pushed();
        Ok(())
    }

    /// One more row with a float of 64 bits.
    #[inline]
    pub(crate) fn push_f64(&mut self, value: f64) -> Result<(), Refusal> {
        match &mut self.values {
            Values::F64(values) => values.push(value),
            _ => return Err(Refusal::Kind),
        }
        self.was_pushed();
        Ok(())
    }

    /// One more row with a float of 32 bits, which a column of 64 bits takes, too.
    #[inline]
    pub(crate) fn push_f32(&mut self, value: f32) -> Result<(), Refusal> {
        match &mut self.values {
            Values::F32(values) => values.push(value),
            Values::F64(values) => values.push(value.into()),
            _ => return Err(Refusal::Kind),
        }
        self.was_pushed();
        Ok(())
    }

    /// One more row with the integer that counts its days or units.
    pub(crate) fn push_count(&mut self, is_negative: bool, magnitude: u64) -> Result<(), Refusal> {
        match &mut self.values {
            Values::I32(values) => {
                values.push(Integer::of(is_negative, magnitude).ok_or(Refusal::Kind)?);
            }
            Values::I64(values) => {
                values.push(Integer::of(is_negative, magnitude).ok_or(Refusal::Kind)?);
            }
            _ => return Err(Refusal::Kind),
        }
        self.was_pushed();
        Ok(())
    }

    /// One more row with bytes: of a column of bytes, or the 16 of a UUID. How many they are beyond the column's
    /// width.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) -> Result<usize, Refusal> {
        let variable = match &mut self.values {
            Values::Bytes(slices) => {
                slices.push(bytes)?;
                bytes.len()
            }
            Values::Uuid(values) => {
                values.push(bytes.try_into().map_err(|_| Refusal::Kind)?);
                0
            }
            _ => return Err(Refusal::Kind),
        };
        self.was_pushed();
        Ok(variable)
    }

    /// Whether what it holds is written as text: text itself, and what has a notation of its own.
    pub(crate) fn is_written_as_text(&self) -> bool {
        matches!(
            self.kind,
            Kind::Text
                | Kind::Bytes
                | Kind::Uuid
                | Kind::Date
                | Kind::Time(_)
                | Kind::Timestamp(..)
                | Kind::Decimal { .. }
        )
    }
}
