//! Places for values, each with a key that is good for one value only.
//!
//! Places lie in chunks, so that growing moves nothing, and the memory of a chunk without values is given back.

use core::num::NonZeroU64;

/// So many places have their memory together: no more than a word has bits.
const CHUNK: usize = if cfg!(test) { 4 } else { 64 };
/// The bits of a chunk all of whose places are free.
const ALL_FREE: u64 = u64::MAX >> (u64::BITS as usize - CHUNK);
/// No chunk.
const NONE: u32 = u32::MAX;

/// Where a value is. A key of one that is gone leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: u32,
    number: NonZeroU64,
}

impl Key {
    /// The key of the first value of a slab.
    #[cfg(all(test, not(tamtam_loom)))]
    pub(crate) const fn first() -> Self {
        Key {
            place: 0,
            number: NonZeroU64::MIN,
        }
    }
}

/// A value that keeps the number that it has in its slab.
pub(super) trait Numbered {
    fn number(&self) -> NonZeroU64;
}

/// Values in places.
pub(super) struct Slab<E> {
    chunks: Vec<Chunk<E>>,
    /// The first chunk with memory and free places; they are linked.
    open: u32,
    /// Chunks without memory. May name some that have got memory since, or are no more.
    bare: Vec<u32>,
    /// The chunk without values that has kept its memory, so that a single value that comes and goes costs none. Not used by
    /// one that retains.
    spare: u32,
    /// Whether chunks without values keep their memory until they are stripped.
    retains: bool,
    /// How many chunks without values have kept their memory.
    spares: usize,
    /// The fewest of them that there were since this was asked last.
    fewest_spares: usize,
    /// Counts the values that there ever were, so that keys differ. With a thousand million in each second that is enough for
    /// centuries.
    next_number: NonZeroU64,
}

struct Chunk<E> {
    /// None if the chunk has no memory.
    places: Box<[Option<E>]>,
    /// A bit for each place that is free.
    free: u64,
    /// The neighbours among the open ones.
    before: u32,
    next: u32,
}

impl<E: Numbered> Slab<E> {
    /// One that `retains` keeps the memory of chunks without values until that is [taken](Slab::take_spare) from it; another
    /// one gives it back at once, but for one chunk.
    pub(super) const fn new(retains: bool) -> Self {
        Slab {
            chunks: Vec::new(),
            open: NONE,
            bare: Vec::new(),
            spare: NONE,
            retains,
            spares: 0,
            fewest_spares: 0,
            next_number: NonZeroU64::MIN,
        }
    }

    /// Puts a value that has this number into a free place.
    ///
    /// # Panics
    ///
    /// With four thousand million values.
    #[inline(always)]
    pub(super) fn insert(&mut self, entry: impl FnOnce(NonZeroU64) -> E) -> (Key, &mut E) {
        if self.open == NONE {
            self.open_one();
        }
        let number = self.next_number;
        self.next_number = number.saturating_add(1);
        let at = self.open;
        let chunk = &mut self.chunks[at as usize];
        if chunk.free == ALL_FREE {
            self.spare = NONE;
            self.spares -= 1;
            self.fewest_spares = self.fewest_spares.min(self.spares);
        }
        let free = chunk.free.trailing_zeros();
        chunk.free &= chunk.free - 1;
        if chunk.free == 0 {
            self.close(at);
        }
        let place = &mut self.chunks[at as usize].places[free as usize];
        // There is nothing, and so nothing to look at: the line may be far away.
        core::mem::forget(place.replace(entry(number)));
        match place {
            Some(entry) => {
                let place = at * CHUNK as u32 + free;
                (Key { place, number }, entry)
            }
            None => unreachable!("it was put there just now"),
        }
    }

    /// Takes the value in a place out, for those who know that there is one, and drops it there.
    #[inline]
    pub(super) fn remove(&mut self, place: u32) {
        let at = place / CHUNK as u32;
        let within = place % CHUNK as u32;
        let chunk = &mut self.chunks[at as usize];
        chunk.places[within as usize] = None;
        let was_full = chunk.free == 0;
        chunk.free |= 1 << within;
        let is_empty = chunk.free == ALL_FREE;
        if was_full {
            self.link(at);
        }
        if is_empty {
            self.emptied(at);
        }
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<&E> {
        let chunk = self.chunks.get(key.place as usize / CHUNK)?;
        let entry = chunk.places.get(key.place as usize % CHUNK)?.as_ref()?;
        (entry.number() == key.number).then_some(entry)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: Key) -> Option<&mut E> {
        let chunk = self.chunks.get_mut(key.place as usize / CHUNK)?;
        let entry = chunk.places.get_mut(key.place as usize % CHUNK)?.as_mut()?;
        (entry.number() == key.number).then_some(entry)
    }

    /// The key of the value in a place, for those who know that there is one.
    #[inline]
    pub(super) fn key_of(&mut self, place: u32) -> Key {
        let number = self.at(place).number();
        Key { place, number }
    }

    /// The value in a place, for those who know that there is one.
    #[inline]
    pub(super) fn at(&mut self, place: u32) -> &mut E {
        let chunk = &mut self.chunks[place as usize / CHUNK];
        match &mut chunk.places[place as usize % CHUNK] {
            Some(entry) => entry,
            None => unreachable!("a link leads to a place in use"),
        }
    }

    /// Sees to it that there is an open chunk.
    #[cold]
    fn open_one(&mut self) {
        let bare = loop {
            match self.bare.pop() {
                Some(at)
                    if self
                        .chunks
                        .get(at as usize)
                        .is_some_and(|chunk| chunk.places.is_empty()) =>
                {
                    break at;
                }
                Some(_) => {}
                None => {
                    self.chunks.push(Chunk {
                        places: Box::default(),
                        free: 0,
                        before: NONE,
                        next: NONE,
                    });
                    break (self.chunks.len() - 1) as u32;
                }
            }
        };
        assert!(bare < NONE / CHUNK as u32, "too many timers");
        let chunk = &mut self.chunks[bare as usize];
        chunk.places = (0..CHUNK).map(|_| None).collect();
        chunk.free = ALL_FREE;
        // It is about to be used; until then it counts as the spare one.
        self.spare = bare;
        self.spares += 1;
        self.link(bare);
    }

    /// Adds a chunk to the open ones.
    fn link(&mut self, at: u32) {
        let next = core::mem::replace(&mut self.open, at);
        let chunk = &mut self.chunks[at as usize];
        chunk.before = NONE;
        chunk.next = next;
        if next != NONE {
            self.chunks[next as usize].before = at;
        }
    }

    /// Removes a chunk from the open ones.
    fn close(&mut self, at: u32) {
        let (before, next) = {
            let chunk = &self.chunks[at as usize];
            (chunk.before, chunk.next)
        };
        match before {
            NONE => self.open = next,
            before => self.chunks[before as usize].next = next,
        }
        if next != NONE {
            self.chunks[next as usize].before = before;
        }
    }

    /// A chunk has no values any more.
    fn emptied(&mut self, at: u32) {
        self.spares += 1;
        if self.retains {
            return;
        }
        match self.spare {
            NONE => self.spare = at,
            // Of two the one nearer to the end gives its memory back, so that chunks go from there.
            spare => {
                self.spare = spare.min(at);
                drop(self.strip(spare.max(at)));
            }
        }
    }

    /// How many chunks without values have kept their memory.
    pub(super) fn spares(&self) -> usize {
        self.spares
    }

    /// How many of them were there all the time since this was asked last.
    pub(super) fn long_spare(&mut self) -> usize {
        core::mem::replace(&mut self.fewest_spares, self.spares)
    }

    /// The memory of the last chunk without values among the first `below`, which is then where that was.
    pub(super) fn take_spare(&mut self, below: &mut usize) -> Option<SpareMemory<E>> {
        let chunks = &self.chunks[..(*below).min(self.chunks.len())];
        *below = chunks.iter().rposition(|chunk| chunk.free == ALL_FREE)?;
        self.spare = NONE;
        Some(self.strip(*below as u32))
    }

    /// Takes a chunk's memory away, to be given back.
    #[cold]
    fn strip(&mut self, at: u32) -> SpareMemory<E> {
        self.close(at);
        self.spares -= 1;
        self.fewest_spares = self.fewest_spares.min(self.spares);
        let chunk = &mut self.chunks[at as usize];
        let memory = core::mem::take(&mut chunk.places);
        chunk.free = 0;
        self.bare.push(at);
        while self
            .chunks
            .last()
            .is_some_and(|chunk| chunk.places.is_empty())
        {
            self.chunks.pop();
        }
        // Those that are no more are at the end, if chunks went in order; others are passed over when their turn comes.
        while self
            .bare
            .last()
            .is_some_and(|at| *at as usize >= self.chunks.len())
        {
            self.bare.pop();
        }
        if self.chunks.len() < self.chunks.capacity() / 4 {
            let most = self.chunks.len() * 2;
            self.chunks.shrink_to(most);
            let len = self.chunks.len();
            self.bare.retain(|at| (*at as usize) < len);
            self.bare.shrink_to(most);
        }
        SpareMemory { _places: memory }
    }
}

/// The memory of a chunk without values. Dropping it gives it back.
pub(super) struct SpareMemory<E> {
    _places: Box<[Option<E>]>,
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// A value with its number.
    #[derive(Debug, PartialEq)]
    struct Numbering<T>(T, NonZeroU64);

    impl<T> Numbered for Numbering<T> {
        fn number(&self) -> NonZeroU64 {
            self.1
        }
    }

    fn insert<T>(slab: &mut Slab<Numbering<T>>, value: T) -> Key {
        slab.insert(|number| Numbering(value, number)).0
    }

    fn remove<T: Copy>(slab: &mut Slab<Numbering<T>>, key: Key) -> Option<T> {
        let value = slab.get(key)?.0;
        slab.remove(key.place);
        Some(value)
    }

    #[test]
    fn a_key_is_good_for_one_value() {
        let mut slab = Slab::new(false);
        let first = insert(&mut slab, "first");
        assert_eq!(first, Key::first());
        assert_eq!(remove(&mut slab, first), Some("first"));
        assert_eq!(remove(&mut slab, first), None);
        let second = insert(&mut slab, "second");
        assert_eq!(first.place, second.place);
        let found = slab.get(second).map(|entry| entry.0);
        assert_eq!((slab.get(first), found), (None, Some("second")));
    }

    #[test]
    fn memory_is_given_back_but_for_one_chunk() {
        // Miri takes long.
        let places = if cfg!(miri) { 100 } else { 1_000 };
        let mut slab = Slab::new(false);
        let keys: Vec<_> = (0..places)
            .map(|number| insert(&mut slab, number))
            .collect();
        // In an order that empties chunks here and there.
        for (number, key) in keys
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 7 != 0)
        {
            assert_eq!(remove(&mut slab, *key), Some(number));
        }
        for (number, key) in keys
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 7 == 0)
        {
            assert_eq!(slab.get(*key).map(|entry| entry.0), Some(number));
            assert_eq!(remove(&mut slab, *key), Some(number));
        }
        let kept = slab.chunks.iter().filter(|chunk| !chunk.places.is_empty());
        assert_eq!(kept.count(), 1);
        let again: Vec<_> = (0..places)
            .map(|number| insert(&mut slab, number))
            .collect();
        assert_eq!(slab.chunks.len(), places / CHUNK);
        for (number, key) in again.into_iter().enumerate().rev() {
            assert_eq!(remove(&mut slab, key), Some(number));
        }
        assert_eq!(slab.chunks.len(), 1);
        assert!(slab.chunks.capacity() <= 8 && slab.bare.capacity() <= 8);
    }

    #[test]
    fn what_is_retained_is_taken_when_it_was_spare_for_long() {
        let mut slab = Slab::new(true);
        let fill = |slab: &mut Slab<_>| -> Vec<_> {
            (0..100).map(|number| insert(slab, number)).collect()
        };
        let empty = |slab: &mut Slab<_>, keys: Vec<Key>| {
            for key in keys {
                assert!(remove(slab, key).is_some());
            }
        };
        let chunks = 100 / CHUNK;
        let keys = fill(&mut slab);
        empty(&mut slab, keys);
        assert_eq!((slab.spares(), slab.long_spare()), (chunks, 0));
        // All but two are needed in between.
        let mut keys = fill(&mut slab);
        let rest = keys.split_off(100 - 2 * CHUNK);
        empty(&mut slab, rest);
        assert_eq!((slab.spares(), slab.long_spare()), (2, 0));
        assert_eq!(slab.long_spare(), 2);
        let mut below = usize::MAX;
        while slab.take_spare(&mut below).is_some() {}
        assert_eq!((slab.spares(), slab.long_spare()), (0, 0));
        empty(&mut slab, keys);
        assert_eq!(slab.spares(), chunks - 2);
        let mut below = usize::MAX;
        while slab.take_spare(&mut below).is_some() {}
        assert_eq!((slab.spares(), slab.chunks.len(), slab.open), (0, 0, NONE));
    }
}
