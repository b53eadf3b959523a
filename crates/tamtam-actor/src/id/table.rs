//! A table by the numbers of actors.

use core::hash::BuildHasherDefault;
use core::ops::{Deref, DerefMut};
use std::collections::HashMap;

use super::{ActorId, NumberHasher};

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

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "it takes minutes there, of safe code")]
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
}
