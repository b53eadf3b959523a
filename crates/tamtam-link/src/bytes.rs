//! Numbers and texts in a frame.

use crate::error::LinkEnd;

/// What is read of a frame, whatever was sent.
pub(crate) type Result<T> = std::result::Result<T, LinkEnd>;

/// A number takes no more bytes.
pub(crate) const LONGEST_NUMBER: usize = 10;

/// Appends a number: seven bits a byte, the lowest first, the highest bit set where more follow.
#[inline]
pub(crate) fn put_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends a text: its length in bytes, and itself in UTF-8.
pub(crate) fn put_text(text: &str, bytes: &mut Vec<u8>) {
    put_number(text.len() as u64, bytes);
    bytes.extend_from_slice(text.as_bytes());
}

/// What is left of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    #[inline]
    pub(crate) fn byte(&mut self, what: &str) -> Result<u8> {
        let (first, rest) = self.0.split_first().ok_or_else(|| missing(what))?;
        self.0 = rest;
        Ok(*first)
    }

    #[inline]
    pub(crate) fn number(&mut self, what: &str) -> Result<u64> {
        // Most of them take one byte.
        match self.0 {
            [byte @ ..=0x7f, rest @ ..] => {
                self.0 = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_number(what),
        }
    }

    fn long_number(&mut self, what: &str) -> Result<u64> {
        let mut number = 0;
        for (place, byte) in self.0.iter().take(LONGEST_NUMBER).enumerate() {
            let bits = u64::from(byte & 0x7f);
            if place == LONGEST_NUMBER - 1 && bits > 1 {
                break;
            }
            number |= bits << (7 * place);
            if byte & 0x80 == 0 {
                self.0 = &self.0[place + 1..];
                return Ok(number);
            }
        }
        Err(if self.0.len() < LONGEST_NUMBER {
            missing(what)
        } else {
            LinkEnd::protocol(format!("{what} has more than 64 bits"))
        })
    }

    pub(crate) fn take(&mut self, count: usize, what: &str) -> Result<&'a [u8]> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| missing(what))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn text(&mut self, what: &str) -> Result<&'a str> {
        let length = self.number(what)?;
        let length = usize::try_from(length).map_err(|_| missing(what))?;
        std::str::from_utf8(self.take(length, what)?)
            .map_err(|error| LinkEnd::protocol(format!("{what} is not UTF-8: {error}")))
    }

    /// How many things follow, each of which takes so many bytes at least: so no more memory is taken than was sent.
    #[inline]
    pub(crate) fn count(&mut self, least: u64, what: &str) -> Result<u64> {
        let count = self.number(what)?;
        if count > self.0.len() as u64 / least {
            return Err(missing(what));
        }
        Ok(count)
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.0
    }

    /// That nothing is left.
    pub(crate) fn end(self, what: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(LinkEnd::protocol(format!(
            "{} bytes too many in {what}",
            self.0.len()
        )))
    }
}

fn missing(what: &str) -> LinkEnd {
    LinkEnd::protocol(format!("the frame ends before {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::MAX - 1, u64::MAX] {
            let mut bytes = Vec::new();
            put_number(number, &mut bytes);
            let mut input = Input::new(&bytes);
            assert_eq!(input.number("it"), Ok(number));
            assert_eq!(input.end("it"), Ok(()));
        }
    }

    #[test]
    fn a_number_beyond_64_bits_is_an_error() {
        let mut bytes = vec![0xff; 9];
        bytes.push(2);
        let error = Input::new(&bytes).number("a reply").unwrap_err();
        assert_eq!(
            error,
            LinkEnd::protocol("a reply has more than 64 bits".to_owned())
        );
        let error = Input::new(&[0xff; 9]).number("a reply").unwrap_err();
        assert_eq!(
            error,
            LinkEnd::protocol("the frame ends before a reply".to_owned())
        );
    }

    #[test]
    fn a_list_takes_no_more_memory_than_was_sent() {
        let mut bytes = Vec::new();
        put_number(u64::MAX, &mut bytes);
        assert!(Input::new(&bytes).count(1, "replies").is_err());
    }
}
