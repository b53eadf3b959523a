//! What a serializer writes into: an encoder of either format.

use crate::{EncodeError, amf0, amf3};

type Result<T = (), E = EncodeError> = std::result::Result<T, E>;

/// An encoder, as a serializer uses it.
pub(super) trait Sink {
    fn null(&mut self) -> Result;
    fn boolean(&mut self, boolean: bool) -> Result;
    fn number(&mut self, number: f64) -> Result;
    /// An integer that fits in 32 bits.
    fn integer(&mut self, number: i32) -> Result;
    fn text(&mut self, text: &str) -> Result;
    fn bytes(&mut self, bytes: &[u8]) -> Result;
    fn date(&mut self, milliseconds: f64) -> Result;
    fn begin_list(&mut self, length: usize) -> Result;
    fn begin_map(&mut self) -> Result;
    /// A struct of these members; whether their names are written now.
    fn begin_struct(&mut self, class: &str, members: &[&'static str]) -> Result<bool>;
    fn name(&mut self, name: &str) -> Result;
    fn end(&mut self) -> Result;
}

/// The double that an integer without a sign is, if it is one.
pub(super) fn exact(magnitude: u128) -> Option<f64> {
    // A double has 53 digits in base 2, which may stand far before the point.
    let zeros = magnitude.trailing_zeros().min(u128::BITS - 1);
    // Exact, by what was asked.
    #[allow(clippy::cast_precision_loss)]
    let double = magnitude as f64;
    (magnitude >> zeros >> f64::MANTISSA_DIGITS == 0).then_some(double)
}

impl Sink for amf0::Encoder<'_> {
    fn null(&mut self) -> Result {
        self.write_null()
    }

    fn boolean(&mut self, boolean: bool) -> Result {
        self.write_boolean(boolean)
    }

    #[inline]
    fn number(&mut self, number: f64) -> Result {
        self.write_number(number)
    }

    #[inline]
    fn integer(&mut self, number: i32) -> Result {
        self.write_number(f64::from(number))
    }

    #[inline]
    fn text(&mut self, text: &str) -> Result {
        self.write_string(text)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result {
        self.avmplus(|within| within.write_byte_array(bytes))
    }

    fn date(&mut self, milliseconds: f64) -> Result {
        self.write_date(milliseconds, 0)
    }

    fn begin_list(&mut self, length: usize) -> Result {
        self.begin_strict_array(amf0::length_of("values", length)?)
    }

    fn begin_map(&mut self) -> Result {
        self.begin_object()
    }

    fn begin_struct(&mut self, class: &str, _: &[&'static str]) -> Result<bool> {
        if class.is_empty() {
            self.begin_object()?;
        } else {
            self.begin_typed_object(class)?;
        }
        Ok(false)
    }

    #[inline]
    fn name(&mut self, name: &str) -> Result {
        self.property(name)
    }

    fn end(&mut self) -> Result {
        amf0::Encoder::end(self)
    }
}

impl Sink for amf3::Encoder<'_> {
    fn null(&mut self) -> Result {
        self.write_null()
    }

    fn boolean(&mut self, boolean: bool) -> Result {
        self.write_boolean(boolean)
    }

    #[inline]
    fn number(&mut self, number: f64) -> Result {
        self.write_double(number)
    }

    #[inline]
    fn integer(&mut self, number: i32) -> Result {
        self.write_integer(number)
    }

    #[inline]
    fn text(&mut self, text: &str) -> Result {
        self.write_string(text)
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result {
        self.write_byte_array(bytes)
    }

    fn date(&mut self, milliseconds: f64) -> Result {
        self.write_date(milliseconds)
    }

    fn begin_list(&mut self, length: usize) -> Result {
        self.begin_array(length)
    }

    fn begin_map(&mut self) -> Result {
        self.begin_anonymous_object()
    }

    fn begin_struct(&mut self, class: &str, members: &[&'static str]) -> Result<bool> {
        let traits = self.traits_of(class, members)?;
        self.begin_object(traits)?;
        Ok(true)
    }

    #[inline]
    fn name(&mut self, name: &str) -> Result {
        self.property(name)
    }

    fn end(&mut self) -> Result {
        amf3::Encoder::end(self)
    }
}
