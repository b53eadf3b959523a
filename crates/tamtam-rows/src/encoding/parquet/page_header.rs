//! The header of a page of a Parquet file, read before the page is: how large will it be?
//!
//! It is a structure of Thrift's compact protocol, of which only the sizes matter here. The names of fields and their
//! numbers are those of Parquet's published definition (`parquet.thrift`).

/// The sizes that a page's header declares.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// The bytes of the header itself.
    pub(super) length: usize,
    /// Those of the page as it lies there.
    pub(super) compressed: u32,
    /// Those of the page after decompression.
    pub(super) uncompressed: u32,
    /// Only of a dictionary.
    pub(super) dictionary_values: Option<u32>,
}

/// Why there is no header.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NoHeader {
    /// It does not end in these bytes.
    Longer,
    /// This is none.
    Wrong(&'static str),
}

const I32: u8 = 5;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// Structures in structures; the deepest that there is has two levels.
const DEPTH: usize = 8;

impl PageHeader {
    pub(super) fn read(bytes: &[u8]) -> Result<PageHeader, NoHeader> {
        let mut input = Input { bytes, at: 0 };
        let (mut compressed, mut uncompressed, mut dictionary_values) = (None, None, None);
        let mut last = 0;
        while let Some((id, kind)) = input.field(&mut last)? {
            let seen = match (id, kind) {
                (2, I32) => uncompressed.replace(input.size()?).is_some(),
                (3, I32) => compressed.replace(input.size()?).is_some(),
                (7, STRUCT) => {
                    let values = input.dictionary_values()?;
                    dictionary_values.replace(values).is_some()
                }
                (2 | 3 | 7, _) => return Err(NoHeader::Wrong("a size of another type")),
                _ => {
                    input.skip(kind, DEPTH)?;
                    false
                }
            };
            if seen {
                return Err(NoHeader::Wrong("a size that is there twice"));
            }
        }
        match (compressed, uncompressed) {
            (Some(compressed), Some(uncompressed)) => Ok(PageHeader {
                length: input.at,
                compressed,
                uncompressed,
                dictionary_values,
            }),
            _ => Err(NoHeader::Wrong("no size")),
        }
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn byte(&mut self) -> Result<u8, NoHeader> {
        let byte = self.bytes.get(self.at).ok_or(NoHeader::Longer)?;
        self.at += 1;
        Ok(*byte)
    }

    fn pass(&mut self, count: u64) -> Result<(), NoHeader> {
        let left = (self.bytes.len() - self.at) as u64;
        if count > left {
            return Err(NoHeader::Longer);
        }
        self.at += count as usize;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, NoHeader> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(NoHeader::Wrong("a number of more than 64 bits"))
    }

    fn signed(&mut self) -> Result<i64, NoHeader> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// A size is a signed number that is not negative.
    fn size(&mut self) -> Result<u32, NoHeader> {
        let size = i32::try_from(self.signed()?).ok();
        size.and_then(|size| u32::try_from(size).ok())
            .ok_or(NoHeader::Wrong("a size that is negative or too large"))
    }

    /// The number and type of the next field of a structure; `None` at its end.
    fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>, NoHeader> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        if kind == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.signed()?,
            delta => last.saturating_add(delta.into()),
        };
        Ok(Some((*last, kind)))
    }

    fn dictionary_values(&mut self) -> Result<u32, NoHeader> {
        let (mut last, mut values) = (0, None);
        while let Some((id, kind)) = self.field(&mut last)? {
            if (id, kind) == (1, I32) {
                let size = self.size()?;
                values = Some(values.map_or(size, |seen: u32| seen.max(size)));
            } else {
                self.skip(kind, DEPTH)?;
            }
        }
        values.ok_or(NoHeader::Wrong("a dictionary of unknown length"))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), NoHeader> {
        if depth == 0 {
            return Err(NoHeader::Wrong("too many structures in one another"));
        }
        match kind {
            // A truth value is in the type.
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            // A list, and a set.
            9 | 10 => {
                let byte = self.byte()?;
                let count = match byte >> 4 {
                    15 => self.varint()?,
                    count => count.into(),
                };
                self.skip_elements(byte & 0x0f, count, depth)
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
                    self.skip(kind, depth - 1)?;
                }
                Ok(())
            }
            _ => Err(NoHeader::Wrong("a field of an unknown type")),
        }
    }

    fn skip_elements(&mut self, kind: u8, count: u64, depth: usize) -> Result<(), NoHeader> {
        for _ in 0..count {
            match kind {
                // In a list a truth value is a byte.
                1 | 2 => self.pass(1)?,
                kind => self.skip(kind, depth - 1)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page: type 0, 300 bytes, 100 of them compressed, a checksum, 25 values and a text of statistics.
    const DATA: [u8; 22] = [
        0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0xc8, 0x01, 0x15, 0x07, 0x1c, 0x15, 0x32, 0x15, 0x00,
        0x18, 0x02, b'a', b'z', 0x11, 0x00, 0x00,
    ];

    #[test]
    fn sizes_are_found_among_other_fields() {
        let header = PageHeader {
            length: 22,
            compressed: 100,
            uncompressed: 300,
            dictionary_values: None,
        };
        assert_eq!(PageHeader::read(&DATA), Ok(header));
    }

    #[test]
    fn a_dictionary_says_how_many_values_it_has() {
        let bytes = [
            0x15, 0x04, 0x15, 0x10, 0x15, 0x10, 0x4c, 0x15, 0x06, 0x15, 0x00, 0x00, 0x00, 0xff,
        ];
        let header = PageHeader::read(&bytes).unwrap();
        assert_eq!((header.dictionary_values, header.length), (Some(3), 13));
    }

    #[test]
    fn a_header_that_is_cut_off_asks_for_more() {
        for length in 0..DATA.len() {
            assert_eq!(PageHeader::read(&DATA[..length]), Err(NoHeader::Longer));
        }
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let negative = [0x25, 0x01, 0x15, 0x02, 0x00];
        let twice = [0x25, 0x02, 0x05, 0x04, 0x04, 0x15, 0x02, 0x00];
        let without = [0x15, 0x00, 0x00];
        let unknown = [0x1f];
        let deep = [0x1c; 64];
        let endless = [0x15; 1].into_iter().chain([0xff; 12]).collect::<Vec<u8>>();
        for bytes in [&negative[..], &twice, &without, &unknown, &deep, &endless] {
            let error = PageHeader::read(bytes).unwrap_err();
            assert!(matches!(error, NoHeader::Wrong(_)), "{bytes:x?}: {error:?}");
        }
    }
}
