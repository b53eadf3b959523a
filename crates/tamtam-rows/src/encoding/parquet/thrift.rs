//! Thrift's compact protocol, in which Parquet describes itself: as much of it as is read before the library reads it.
//!
//! The names of fields and their numbers are those of Parquet's published definition (`parquet.thrift`).

/// Why a structure cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// It does not end in these bytes.
    Longer,
    /// This is none.
    Wrong(&'static str),
}

pub(super) const I8: u8 = 3;
pub(super) const I32: u8 = 5;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// Structures in structures; the deepest that there is has two levels.
const DEPTH: usize = 8;

pub(super) struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Input<'a> {
        Input { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn byte(&mut self) -> Result<u8, Unread> {
        let byte = self.bytes.get(self.at).ok_or(Unread::Longer)?;
        self.at += 1;
        Ok(*byte)
    }

    fn pass(&mut self, count: u64) -> Result<(), Unread> {
        let left = (self.bytes.len() - self.at) as u64;
        if count > left {
            return Err(Unread::Longer);
        }
        self.at += count as usize;
        Ok(())
    }

    pub(super) fn varint(&mut self) -> Result<u64, Unread> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Unread::Wrong("a number of more than 64 bits"))
    }

    fn signed(&mut self) -> Result<i64, Unread> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// A size is a signed number that is not negative.
    pub(super) fn size(&mut self) -> Result<u32, Unread> {
        let size = i32::try_from(self.signed()?).ok();
        size.and_then(|size| u32::try_from(size).ok())
            .ok_or(Unread::Wrong("a size that is negative or too large"))
    }

    /// The number and type of the next field of a structure; `None` at its end.
    pub(super) fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>, Unread> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        if kind == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => i16::try_from(self.signed()?)
                .map_err(|_| Unread::Wrong("a field of a number that none has"))?
                .into(),
            delta => last.saturating_add(delta.into()),
        };
        Ok(Some((*last, kind)))
    }

    /// The type of a list's elements, and how many they are.
    pub(super) fn list(&mut self) -> Result<(u8, u64), Unread> {
        let byte = self.byte()?;
        let count = match byte >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Ok((byte & 0x0f, count))
    }

    /// Reads over a field of this type.
    pub(super) fn skip(&mut self, kind: u8) -> Result<(), Unread> {
        self.skip_within(kind, DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: usize) -> Result<(), Unread> {
        if depth == 0 {
            return Err(Unread::Wrong("too many structures in one another"));
        }
        match kind {
            // A truth value is in the type.
            1 | 2 => Ok(()),
            I8 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            // A list, and a set.
            LIST | 10 => {
                let (kind, count) = self.list()?;
                self.skip_elements(kind, count, depth)
            }
            // A map.
            11 => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    for _ in 0..count {
                        self.skip_elements(kinds >> 4, 1, depth)?;
                        self.skip_elements(kinds & 0x0f, 1, depth)?;
                    }
                    Ok(())
                }
            },
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_within(kind, depth - 1)?;
                }
                Ok(())
            }
            _ => Err(Unread::Wrong("a field of an unknown type")),
        }
    }

    fn skip_elements(&mut self, kind: u8, count: u64, depth: usize) -> Result<(), Unread> {
        for _ in 0..count {
            match kind {
                // In a list a truth value is a byte.
                1 | 2 => self.pass(1)?,
                kind => self.skip_within(kind, depth - 1)?,
            }
        }
        Ok(())
    }
}
