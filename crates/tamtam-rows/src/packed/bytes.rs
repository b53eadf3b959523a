//! The primitives of the format, and the positions that errors name.

use crate::{DecodeError, Limits};

pub(crate) const FORM: &str = "packed";

/// What lists inside others may take beside twice the limit: more than those of a chunk's rows do, however they are nested.
const ALWAYS_HELD: u64 = 16 << 20;

/// What is written.
#[derive(Debug)]
pub(crate) struct Output<'a> {
    pub(crate) bytes: &'a mut Vec<u8>,
    /// Where in the stream the first byte of `bytes` will lie, modulo 2 to the power of 64: it may lie before it.
    pub(crate) origin: u64,
    /// How many more bytes the lists that were written in the mode small may take at most in the mode packed.
    pub(crate) slack: usize,
}

impl Output<'_> {
    /// Keeps what was written from `start` on or what from `behind` on, whichever is smaller.
    pub(crate) fn keep_smaller(&mut self, start: usize, behind: usize) {
        if self.bytes.len() - behind < behind - start {
            self.bytes.drain(start..behind);
        } else {
            self.bytes.truncate(behind);
        }
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn varint(&mut self, value: u64) {
        write_varint(self.bytes, value);
    }

    pub(crate) fn zigzag(&mut self, value: u64) {
        let signed = value as i64;
        self.varint(((signed << 1) ^ (signed >> 63)) as u64);
    }

    /// Zero bytes, so that the next one lies at a multiple of 8 in the stream; their number first.
    pub(crate) fn align(&mut self) {
        let behind = self.origin.wrapping_add(self.bytes.len() as u64 + 1);
        let padding = (8 - behind % 8) % 8;
        self.byte(padding as u8);
        self.bytes.resize(self.bytes.len() + padding as usize, 0);
    }
}

/// An unsigned integer, seven bits a byte, the lowest first; the highest bit of a byte says that more follow (LEB128).
pub(crate) fn write_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// One coded part, as it was met while decoding.
#[derive(Clone, Debug)]
pub(crate) struct Met {
    pub(crate) depth: u8,
    pub(crate) codec: &'static str,
    pub(crate) bytes: usize,
}

/// What is read.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where what may be read ends. What lies behind is never looked at, but kernels may load it beside.
    end: usize,
    /// Where in the stream `bytes` begins.
    origin: u64,
    /// The codecs met, if they are asked for.
    pub(crate) met: Option<Vec<Met>>,
    /// How many more bytes of columns may be made.
    pub(crate) budget: u64,
    limit: u64,
    /// How many bytes the lists take that are needed for a while only.
    held: u64,
}

pub(crate) type Result<T> = std::result::Result<T, DecodeError>;

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8], origin: u64, limits: &Limits) -> Input<'a> {
        Input {
            bytes,
            at: 0,
            end: bytes.len(),
            origin,
            met: None,
            budget: limits.bytes,
            limit: limits.bytes,
            held: 0,
        }
    }

    /// Where the next byte lies in the stream.
    pub(crate) fn position(&self) -> u64 {
        self.origin + self.at as u64
    }

    pub(crate) fn left(&self) -> usize {
        self.end - self.at
    }

    pub(crate) fn malformed(&self, reason: impl Into<String>) -> DecodeError {
        DecodeError::Malformed {
            form: FORM,
            at: self.position(),
            reason: reason.into(),
        }
    }

    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        if count > self.left() {
            return Err(DecodeError::Truncated {
                form: FORM,
                what,
                at: self.origin + self.end as u64,
            });
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    /// The same bytes and all that lie behind them.
    pub(crate) fn take_with_rest(&mut self, count: usize, what: &'static str) -> Result<&'a [u8]> {
        let from = self.at;
        self.take(count, what)?;
        Ok(&self.bytes[from..])
    }

    /// A part of what is to be read, to be read on its own.
    pub(crate) fn part(&mut self, count: usize, what: &'static str) -> Result<Input<'a>> {
        let at = self.at;
        self.take(count, what)?;
        Ok(Input {
            bytes: self.bytes,
            at,
            end: self.at,
            origin: self.origin,
            met: None,
            ..*self
        })
    }

    pub(crate) fn byte(&mut self, what: &'static str) -> Result<u8> {
        Ok(self.take(1, what)?[0])
    }

    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(what)?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.malformed(format!("{what} is a number of more than 64 bits")))
    }

    pub(crate) fn zigzag(&mut self, what: &'static str) -> Result<u64> {
        let value = self.varint(what)?;
        Ok((value >> 1) ^ (value & 1).wrapping_neg())
    }

    /// A count that may not exceed `most`.
    pub(crate) fn count(&mut self, most: usize, what: &'static str) -> Result<usize> {
        let count = self.varint(what)?;
        if count > most as u64 {
            return Err(self.malformed(format!("{what} is {count}, which cannot exceed {most}")));
        }
        Ok(count as usize)
    }

    /// Skips what [`Output::align`] wrote.
    pub(crate) fn align(&mut self) -> Result<()> {
        let padding = self.byte("padding")?;
        if padding > 7 {
            return Err(self.malformed("a padding of more than 7 bytes"));
        }
        self.take(padding.into(), "padding")?;
        Ok(())
    }

    /// Asks for room for that many bytes of columns.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<()> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(DecodeError::Limit {
                form: FORM,
                what: "bytes",
                declared: bytes.saturating_add(self.limit - self.budget),
                limit: self.limit,
            }),
        }
    }

    /// Counts as many bytes of a list that is needed for a while only.
    pub(crate) fn hold(&mut self, bytes: u64) -> Result<()> {
        let held = self.held.saturating_add(bytes);
        let most = self.limit.saturating_mul(2).saturating_add(ALWAYS_HELD);
        if held > most {
            return Err(DecodeError::Limit {
                form: FORM,
                what: "bytes of lists inside others",
                declared: held,
                limit: most,
            });
        }
        self.held = held;
        Ok(())
    }

    /// How many bytes are held.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Says that what was held since [`held`](Self::held) gave this number is gone.
    pub(crate) fn release_to(&mut self, held: u64) {
        debug_assert!(held <= self.held);
        self.held = held;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut bytes = Vec::new();
        let mut out = Output {
            bytes: &mut bytes,
            origin: 3,
            slack: 0,
        };
        let numbers = [
            0,
            1,
            127,
            128,
            300,
            u64::from(u32::MAX),
            i64::MAX as u64,
            1 << 63,
            u64::MAX,
        ];
        for number in numbers {
            out.varint(number);
            out.zigzag(number);
            out.align();
            assert_eq!((out.bytes.len() + 3) % 8, 0);
        }
        let mut input = Input::new(&bytes, 3, &Limits::default());
        for number in numbers {
            assert_eq!(input.varint("n").unwrap(), number);
            assert_eq!(input.zigzag("n").unwrap(), number);
            input.align().unwrap();
        }
        assert_eq!(input.left(), 0);
        input.byte("more").unwrap_err();
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused() {
        let mut input = Input::new(&[0xff; 12], 0, &Limits::default());
        assert!(matches!(
            input.varint("n"),
            Err(DecodeError::Malformed { .. })
        ));
        let mut input = Input::new(&[0xff; 4], 0, &Limits::default());
        assert!(matches!(
            input.varint("n"),
            Err(DecodeError::Truncated { at: 4, .. })
        ));
    }
}
