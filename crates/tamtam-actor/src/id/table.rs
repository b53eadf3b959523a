//! A table by the numbers of actors; and how numbers are spread in tables.

use core::hash::{BuildHasherDefault, Hasher};
use core::ops::{Deref, DerefMut};
use std::collections::HashMap;

use super::ActorId;

/// What there is about some actors, by their numbers. What is [taken out](Self::take) of it gives the memory of a rush back.
#[derive(Debug)]
pub(crate) struct ActorTable<V>(HashMap<ActorId, V, BuildHasherDefault<NumberHasher>>);

impl<V> ActorTable<V> {
    pub(crate) const fn new() -> Self {
        ActorTable(HashMap::with_hasher(BuildHasherDefault::new()))
    }

    /// Takes out what there is about an actor.
    pub(crate) fn take(&mut self, id: ActorId) -> Option<V> {
        let taken = self.0.remove(&id)?;
        if self.0.len() < self.0.capacity() / 4 {
            self.0.shrink_to(2 * self.0.len());
        }
        Some(taken)
    }
}

impl<V> Default for ActorTable<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> Deref for ActorTable<V> {
    type Target = HashMap<ActorId, V, BuildHasherDefault<NumberHasher>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<V> DerefMut for ActorTable<V> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Spreads numbers that are counted up, and that no input chooses: by one multiplication, with the odd number nearest to 2⁶⁴ over the
/// golden ratio (Knuth, The Art of Computer Programming, 6.4), which no two of them have the same result of.
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use core::hash::BuildHasher;
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_taken_out_is_gone_and_the_memory_of_a_rush_with_it() {
        let mut table = ActorTable::new();
        let ids: Vec<ActorId> = (0..10_000).map(|_| ActorId::next()).collect();
        for (place, &id) in ids.iter().enumerate() {
            assert_eq!(table.insert(id, place), None);
        }
        for (place, &id) in ids.iter().enumerate().skip(10) {
            assert_eq!(table.take(id), Some(place));
            assert_eq!(table.take(id), None);
        }
        assert_eq!(table.len(), 10);
        assert!(table.capacity() < 200, "{}", table.capacity());
        assert!(
            ids.iter()
                .take(10)
                .enumerate()
                .all(|(place, id)| table.get(id) == Some(&place))
        );
    }

    /// The table takes seven bits from the top, and places from the bottom.
    #[test]
    fn numbers_that_follow_each_other_are_spread() {
        let spread = BuildHasherDefault::<NumberHasher>::new();
        let hashes: Vec<u64> = (0..1024)
            .map(|_| spread.hash_one(ActorId::next()))
            .collect();
        let top: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        let bottom: BTreeSet<u64> = hashes.iter().map(|hash| hash & 1023).collect();
        assert_eq!(top.len(), 128);
        assert!(bottom.len() > 600, "{}", bottom.len());
    }
}
