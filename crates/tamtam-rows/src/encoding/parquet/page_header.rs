//! The header of a page of a Parquet file, read before the page is: how large will it be?
//!
//! It is a structure of Thrift's compact protocol, of which only the sizes matter here.

use super::thrift::{I32, Input, STRUCT, Unread};

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

impl PageHeader {
    pub(super) fn read(bytes: &[u8]) -> Result<PageHeader, Unread> {
        let mut input = Input::new(bytes);
        let (mut compressed, mut uncompressed, mut dictionary_values) = (None, None, None);
        let mut last = 0;
        while let Some((id, kind)) = input.field(&mut last)? {
            let seen = match (id, kind) {
                (2, I32) => uncompressed.replace(input.size()?).is_some(),
                (3, I32) => compressed.replace(input.size()?).is_some(),
                (7, STRUCT) => {
                    let values = read_dictionary_values(&mut input)?;
                    dictionary_values.replace(values).is_some()
                }
                (2 | 3 | 7, _) => return Err(Unread::Wrong("a size of another type")),
                _ => {
                    input.skip(kind)?;
                    false
                }
            };
            if seen {
                return Err(Unread::Wrong("a size that is there twice"));
            }
        }
        match (compressed, uncompressed) {
            (Some(compressed), Some(uncompressed)) => Ok(PageHeader {
                length: input.position(),
                compressed,
                uncompressed,
                dictionary_values,
            }),
            _ => Err(Unread::Wrong("no size")),
        }
    }
}

fn read_dictionary_values(input: &mut Input<'_>) -> Result<u32, Unread> {
    let (mut last, mut values) = (0, None);
    while let Some((id, kind)) = input.field(&mut last)? {
        if (id, kind) == (1, I32) {
            let size = input.size()?;
            values = Some(values.map_or(size, |seen: u32| seen.max(size)));
        } else {
            input.skip(kind)?;
        }
    }
    values.ok_or(Unread::Wrong("a dictionary of unknown length"))
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
            assert_eq!(PageHeader::read(&DATA[..length]), Err(Unread::Longer));
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
            assert!(matches!(error, Unread::Wrong(_)), "{bytes:x?}: {error:?}");
        }
    }
}
