//! The encoder's table of strings. A string stays where it was written; the table knows its place there.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Strings that were written, by their content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    table: HashTable<Place>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u64,
    start: usize,
    length: usize,
    index: u32,
}

impl Strings {
    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }

    /// The number of the string if it was written, or its hash for [`insert`](Self::insert).
    pub(crate) fn find(&self, text: &str, out: &[u8]) -> Result<u32, u64> {
        let hash = self.hasher.hash_one(text);
        self.table
            .find(hash, |place| {
                place.length == text.len()
                    && out[place.start..place.start + place.length] == *text.as_bytes()
            })
            .map(|place| place.index)
            .ok_or(hash)
    }

    /// Takes note of a string of `length` bytes that is going to be written at `start`.
    pub(crate) fn insert(&mut self, hash: u64, start: usize, length: usize) {
        // A table this large would not fit into any memory; a wrapped number is never handed out, see `write_text`.
        let index = u32::try_from(self.table.len()).unwrap_or(u32::MAX);
        self.table.insert_unique(
            hash,
            Place {
                hash,
                start,
                length,
                index,
            },
            |place| place.hash,
        );
    }
}
