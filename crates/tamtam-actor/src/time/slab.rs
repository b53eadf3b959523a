//! Places for values, each with a key that is good for one value only.
//!
//! Places lie in chunks, so that growing moves nothing, and the memory of a chunk without values is given back.

/// So many places have their memory together.
const CHUNK: usize = if cfg!(test) { 4 } else { 128 };
/// No place, or no chunk.
const NONE: u32 = u32::MAX;

/// Where a value is. A key of one that is gone leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) place: u32,
    number: u32,
}

/// Values in places.
pub(crate) struct Slab<E> {
    chunks: Vec<Chunk<E>>,
    /// The first chunk with memory and free places; they are linked.
    open: u32,
    /// Chunks without memory. May name some that have got memory since, or are no more.
    bare: Vec<u32>,
    /// The chunk without values that has kept its memory, so that a single value that comes and goes costs none.
    spare: u32,
    /// Counts the values that there ever were, so that keys differ. After 2³² of them they repeat; a holder that keeps a
    /// key for so long knows from elsewhere that its value is gone.
    next_number: u32,
}

struct Chunk<E> {
    /// None if the chunk has no memory.
    places: Vec<SlabPlace<E>>,
    used: u32,
    /// The first free place, within this chunk.
    free: u32,
    /// The neighbours among the open ones.
    before: u32,
    next: u32,
}

struct SlabPlace<E> {
    number: u32,
    content: Content<E>,
}

enum Content<E> {
    /// The next free place, within the chunk.
    Free(u32),
    Used(E),
}

impl<E> Slab<E> {
    pub(crate) const fn new() -> Self {
        Slab {
            chunks: Vec::new(),
            open: NONE,
            bare: Vec::new(),
            spare: NONE,
            next_number: 0,
        }
    }

    /// Puts a value into a free place.
    ///
    /// # Panics
    ///
    /// With four thousand million values.
    pub(crate) fn insert(&mut self, entry: E) -> Key {
        if self.open == NONE {
            self.open_one();
        }
        let number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        let at = self.open;
        let chunk = &mut self.chunks[at as usize];
        if chunk.used == 0 {
            self.spare = NONE;
        }
        let free = chunk.free;
        let place = &mut chunk.places[free as usize];
        if let Content::Free(next) = place.content {
            chunk.free = next;
        }
        *place = SlabPlace {
            number,
            content: Content::Used(entry),
        };
        chunk.used += 1;
        if chunk.free == NONE {
            self.close(at);
        }
        Key {
            place: at * CHUNK as u32 + free,
            number,
        }
    }

    /// Takes a value out.
    pub(crate) fn remove(&mut self, key: Key) -> Option<E> {
        self.get(key)?;
        let at = key.place / CHUNK as u32;
        let within = key.place % CHUNK as u32;
        let chunk = &mut self.chunks[at as usize];
        let was_full = chunk.free == NONE;
        let place = &mut chunk.places[within as usize];
        let content = core::mem::replace(&mut place.content, Content::Free(chunk.free));
        chunk.free = within;
        chunk.used -= 1;
        let is_empty = chunk.used == 0;
        if was_full {
            self.link(at);
        }
        if is_empty {
            match self.spare {
                NONE => self.spare = at,
                // Of two the one nearer to the end gives its memory back, so that chunks go from there.
                spare => {
                    self.spare = spare.min(at);
                    self.strip(spare.max(at));
                }
            }
        }
        match content {
            Content::Used(entry) => Some(entry),
            Content::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&E> {
        let chunk = self.chunks.get(key.place as usize / CHUNK)?;
        match chunk.places.get(key.place as usize % CHUNK)? {
            SlabPlace {
                number,
                content: Content::Used(entry),
            } if *number == key.number => Some(entry),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut E> {
        let chunk = self.chunks.get_mut(key.place as usize / CHUNK)?;
        match chunk.places.get_mut(key.place as usize % CHUNK)? {
            SlabPlace {
                number,
                content: Content::Used(entry),
            } if *number == key.number => Some(entry),
            _ => None,
        }
    }

    /// The key of the value in a place, for those who know that there is one.
    #[inline]
    pub(crate) fn key_of(&self, place: u32) -> Key {
        Key {
            place,
            number: self.chunks[place as usize / CHUNK].places[place as usize % CHUNK].number,
        }
    }

    /// The value in a place, for those who know that there is one.
    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut E {
        let chunk = &mut self.chunks[place as usize / CHUNK];
        match &mut chunk.places[place as usize % CHUNK].content {
            Content::Used(entry) => entry,
            Content::Free(_) => unreachable!("a link leads to a place in use"),
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
                        places: Vec::new(),
                        used: 0,
                        free: NONE,
                        before: NONE,
                        next: NONE,
                    });
                    break (self.chunks.len() - 1) as u32;
                }
            }
        };
        assert!(bare < NONE / CHUNK as u32, "too many timers");
        let chunk = &mut self.chunks[bare as usize];
        chunk.places.reserve_exact(CHUNK);
        chunk
            .places
            .extend((1..=CHUNK as u32).map(|next| SlabPlace {
                number: 0,
                content: Content::Free(if next == CHUNK as u32 { NONE } else { next }),
            }));
        chunk.free = 0;
        // It is about to be used; until then it counts as the spare one.
        self.spare = bare;
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

    /// Gives a chunk's memory back.
    #[cold]
    fn strip(&mut self, at: u32) {
        self.close(at);
        let chunk = &mut self.chunks[at as usize];
        chunk.places = Vec::new();
        chunk.free = NONE;
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
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_good_for_one_value() {
        let mut slab = Slab::new();
        let first = slab.insert("first");
        assert_eq!(slab.remove(first), Some("first"));
        assert_eq!(slab.remove(first), None);
        let second = slab.insert("second");
        assert_eq!(first.place, second.place);
        assert_eq!((slab.get(first), slab.get(second)), (None, Some(&"second")));
    }

    #[test]
    fn memory_is_given_back_but_for_one_chunk() {
        let mut slab = Slab::new();
        let keys: Vec<_> = (0..1_000).map(|number| slab.insert(number)).collect();
        // In an order that empties chunks here and there.
        for (number, key) in keys
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 7 != 0)
        {
            assert_eq!(slab.remove(*key), Some(number));
        }
        for (number, key) in keys
            .iter()
            .enumerate()
            .filter(|(number, _)| number % 7 == 0)
        {
            assert_eq!(slab.get(*key), Some(&number));
            assert_eq!(slab.remove(*key), Some(number));
        }
        let kept = slab.chunks.iter().filter(|chunk| !chunk.places.is_empty());
        assert_eq!(kept.count(), 1);
        let again: Vec<_> = (0..1_000).map(|number| slab.insert(number)).collect();
        assert_eq!(slab.chunks.len(), 1_000 / CHUNK);
        for (number, key) in again.into_iter().enumerate().rev() {
            assert_eq!(slab.remove(key), Some(number));
        }
        assert_eq!(slab.chunks.len(), 1);
        assert!(slab.chunks.capacity() <= 8 && slab.bare.capacity() <= 8);
    }
}
