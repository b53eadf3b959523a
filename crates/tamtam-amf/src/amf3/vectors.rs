//! Writes vectors of numbers.

use super::encoder::Encoder;
use super::integer::length_of;
use super::marker::{VECTOR_DOUBLE, VECTOR_INT, VECTOR_UINT};
use crate::EncodeError;

impl Encoder<'_> {
    /// Writes integers of 32 bits with a sign; `fixed` says that the receiver's vector does not grow.
    ///
    /// # Errors
    ///
    /// Not the place for a value; more than 2²⁸ − 1 of them.
    pub fn write_vector_int(&mut self, fixed: bool, values: &[i32]) -> Result<(), EncodeError> {
        self.write_vector(VECTOR_INT, fixed, values, |value| value.to_be_bytes())
    }

    /// Writes integers of 32 bits without a sign; `fixed` says that the receiver's vector does not grow.
    ///
    /// # Errors
    ///
    /// Not the place for a value; more than 2²⁸ − 1 of them.
    pub fn write_vector_uint(&mut self, fixed: bool, values: &[u32]) -> Result<(), EncodeError> {
        self.write_vector(VECTOR_UINT, fixed, values, |value| value.to_be_bytes())
    }

    /// Writes doubles; `fixed` says that the receiver's vector does not grow.
    ///
    /// # Errors
    ///
    /// Not the place for a value; more than 2²⁸ − 1 of them.
    pub fn write_vector_double(&mut self, fixed: bool, values: &[f64]) -> Result<(), EncodeError> {
        self.write_vector(VECTOR_DOUBLE, fixed, values, |value| value.to_be_bytes())
    }

    fn write_vector<T: Copy, const N: usize>(
        &mut self,
        marker: u8,
        fixed: bool,
        values: &[T],
        bytes: impl Fn(T) -> [u8; N],
    ) -> Result<(), EncodeError> {
        let length = length_of("values", values.len())?;
        self.begin_referable(marker)?;
        self.write_length(length);
        self.out.push(u8::from(fixed));
        self.out.reserve(N * values.len());
        for &value in values {
            self.out.extend_from_slice(&bytes(value));
        }
        Ok(())
    }
}
