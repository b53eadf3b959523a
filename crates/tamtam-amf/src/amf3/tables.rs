//! The encoder's tables: what was written and can be referred to.

use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::integer::{self, MAX_LENGTH};
use super::traits::{Traits, TraitsId};

/// The greatest place in the table of traits.
pub(super) const MAX_TRAITS: u32 = (1 << 27) - 1;

/// The empty text: it has no place in the table, and ends lists of names.
pub(super) const EMPTY: u8 = 0x01;

/// What was written and can be referred to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    pub(super) strings: Strings,
    pub(super) defined: Vec<Defined>,
    pub(super) ids: HashMap<Arc<Traits>, usize>,
    /// The traits that were asked for last: mostly those of the next object, too.
    pub(super) last: Option<TraitsId>,
    /// Those of objects with properties alone.
    pub(super) anonymous: Option<TraitsId>,
    /// The places of externalizable classes that were written.
    external: HashMap<Box<str>, u32>,
    /// How many traits were written.
    pub(super) traits: u32,
    /// The marker of each value that can be referred to.
    pub(super) values: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) struct Defined {
    pub(super) traits: Arc<Traits>,
    /// Its place in the table, once it was written.
    pub(super) place: Option<u32>,
}

impl Tables {
    /// Writes a text whose length was checked, or refers to it if it was written before.
    pub(super) fn write_text(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() {
            out.push(EMPTY);
            return;
        }
        match self.strings.find(text, out) {
            Ok(index) if index as usize <= MAX_LENGTH => integer::write(out, index << 1),
            found => {
                // `length` is checked by all callers; the greatest one is never written.
                integer::write(out, u32::try_from(text.len()).unwrap_or(0) << 1 | 1);
                if let Err(hash) = found {
                    self.strings.insert(hash, out.len(), text.len());
                }
                out.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// Writes the traits of an externalizable class whose name was checked, or refers to them.
    pub(super) fn write_externalizable(&mut self, class: &str, out: &mut Vec<u8>) {
        if let Some(place) = self.external.get(class) {
            integer::write(out, place << 2 | 0b01);
            return;
        }
        integer::write(out, 0b0111);
        self.write_text(class, out);
        if self.traits <= MAX_TRAITS {
            self.external.insert(class.into(), self.traits);
        }
        self.traits = self.traits.saturating_add(1);
    }

    /// Forgets what was written; traits stay defined.
    pub(crate) fn clear(&mut self) {
        if !self.values.is_empty() || self.traits > 0 {
            self.values.clear();
            self.traits = 0;
            self.external.clear();
            for defined in &mut self.defined {
                defined.place = None;
            }
        }
        self.strings.clear();
    }
}

/// Strings that were written, by their content: each stays where it was written, and the table knows its place there.
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
