//! What is due when: a hierarchical timing wheel.
//!
//! After Varghese and Lauck, *Hashed and Hierarchical Timing Wheels* (1987), scheme 7. Time is counted in ticks. A
//! level has 64 slots; a slot of the lowest one is a tick, and one of the next is all slots of the level below. An
//! entry lies on the level of the highest digit, to base 64, in which its tick differs from now: so it is always
//! before the end of that level's turn, and the first slot in use on the lowest level in use comes first. When now
//! comes to a slot of a higher level, what is there moves down, at most once a level.
//!
//! So setting, cancelling and expiring cost the same however many entries there are; a word a level says which slots
//! are in use, and ticks without entries cost nothing. Entries come in the order of their ticks, and those of one
//! tick in the order in which they were set: what moves down to a slot comes there before anything can be set for it
//! directly.

use super::slab::{Key, Slab};

/// Slots of a level: as many as a word has bits.
const SLOTS: usize = 64;
const BITS: u32 = 6;
/// Enough for all ticks that there are.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// No entry.
const NONE: u32 = u32::MAX;
/// The place of an entry that is in no slot.
const NOWHERE: u16 = u16::MAX;

/// Entries, each with the tick at which it is due.
pub(crate) struct Wheel<T> {
    now: u64,
    /// A bit for each slot that is not empty, level by level.
    used: [u64; LEVELS],
    slots: Box<[[WheelSlot; SLOTS]; LEVELS]>,
    entries: Slab<TimerEntry<T>>,
    /// How many entries are in slots.
    waiting: usize,
}

/// A list of entries.
#[derive(Clone, Copy)]
struct WheelSlot {
    first: u32,
    last: u32,
}

struct TimerEntry<T> {
    due: u64,
    /// None for owners.
    what: Option<T>,
    /// The neighbours in the slot.
    before: u32,
    next: u32,
    /// The neighbours among the entries of the same owner, which is one of them: they are a ring. None if there is
    /// no owner.
    owned_before: u32,
    owned_next: u32,
    /// The level and the slot.
    place: u16,
    /// Whether the entry stays when it has been due, to be set again.
    stays: bool,
}

const EMPTY: WheelSlot = WheelSlot {
    first: NONE,
    last: NONE,
};

impl<T: Clone> Wheel<T> {
    pub(crate) fn new() -> Self {
        Wheel {
            now: 0,
            used: [0; LEVELS],
            slots: Box::new([[EMPTY; SLOTS]; LEVELS]),
            entries: Slab::new(),
            waiting: 0,
        }
    }

    /// How many entries wait for their tick.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    #[cfg(all(test, not(tamtam_loom)))]
    fn insert(&mut self, due: u64, what: T, stays: bool, owner: Option<Key>) -> Key {
        self.insert_with(due, stays, owner, |_| what)
    }

    /// Adds an entry, which may know its key; one of the past is due at once. If it `stays`, it is still there when it
    /// has been due, in no slot, until it is set again or removed.
    pub(crate) fn insert_with(
        &mut self,
        due: u64,
        stays: bool,
        owner: Option<Key>,
        what: impl FnOnce(Key) -> T,
    ) -> Key {
        let key = self.entries.insert(TimerEntry {
            due,
            what: None,
            before: NONE,
            next: NONE,
            owned_before: NONE,
            owned_next: NONE,
            place: NOWHERE,
            stays,
        });
        self.entries.at(key.place).what = Some(what(key));
        if let Some(owner) = owner.filter(|owner| self.entries.get(*owner).is_some()) {
            self.join(key.place, owner.place);
        }
        self.put(key.place);
        key
    }

    /// Sets an entry that stays, and that is in no slot, for another tick. `false` if it was removed.
    pub(crate) fn set_again(&mut self, key: Key, due: u64) -> bool {
        match self.entries.get_mut(key) {
            Some(entry) if entry.place == NOWHERE => {
                entry.due = due;
                self.put(key.place);
                true
            }
            _ => false,
        }
    }

    /// Takes an entry out, wherever it is.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.entries.get(key)?;
        self.take(key.place);
        self.leave(key.place);
        self.entries.remove(key)?.what
    }

    /// What is due next at tick `until` or before; if there is nothing, then it is `until`.
    pub(crate) fn pop(&mut self, until: u64) -> Option<T> {
        loop {
            let (level, slot, start) = match self.first_slot() {
                Some(first) if first.2 <= until => first,
                _ => {
                    self.now = self.now.max(until);
                    return None;
                }
            };
            self.now = self.now.max(start);
            if level == 0 {
                let place = self.slots[0][slot].first;
                self.take(place);
                let entry = self.entries.at(place);
                if entry.stays {
                    return entry.what.clone();
                }
                self.leave(place);
                let key = self.entries.key_of(place);
                return self.entries.remove(key)?.what;
            }
            // What is in this slot moves down, in order.
            let mut place = core::mem::replace(&mut self.slots[level][slot], EMPTY).first;
            self.used[level] &= !(1 << slot);
            while place != NONE {
                let next = self.entries.at(place).next;
                self.waiting -= 1;
                self.put(place);
                place = next;
            }
        }
    }

    /// The tick at which there is something to do: to expire, or to move entries down. Not after the first one is due.
    pub(crate) fn next(&self) -> Option<u64> {
        self.first_slot().map(|(_, _, start)| start)
    }

    /// The tick at which the first one is due; looks at all entries of a slot.
    pub(crate) fn first_due(&mut self) -> Option<u64> {
        let (level, slot, _) = self.first_slot()?;
        let mut place = self.slots[level][slot].first;
        let mut first = u64::MAX;
        while place != NONE {
            let entry = self.entries.at(place);
            first = first.min(entry.due);
            place = entry.next;
        }
        Some(first)
    }

    /// An owner: entries that have it can be removed together.
    pub(crate) fn insert_owner(&mut self) -> Key {
        let key = self.entries.insert(TimerEntry {
            due: 0,
            what: None,
            before: NONE,
            next: NONE,
            owned_before: NONE,
            owned_next: NONE,
            place: NOWHERE,
            stays: true,
        });
        let owner = self.entries.at(key.place);
        (owner.owned_before, owner.owned_next) = (key.place, key.place);
        key
    }

    /// Removes an owner's next entry; when there is none any more, the owner.
    pub(crate) fn remove_owned(&mut self, owner: Key) -> Option<T> {
        let next = self.entries.get(owner)?.owned_next;
        if next == owner.place {
            self.entries.remove(owner);
            return None;
        }
        self.take(next);
        self.leave(next);
        let key = self.entries.key_of(next);
        self.entries.remove(key)?.what
    }

    /// The first slot in use: its level, its number, and the tick at which it begins, or now if that is later.
    #[inline]
    fn first_slot(&self) -> Option<(usize, usize, u64)> {
        let level = self.used.iter().position(|used| *used != 0)?;
        let slot = self.used[level].trailing_zeros();
        let shift = level as u32 * BITS;
        // The digits above this level's are those of now.
        let above = match self.now.checked_shr(shift + BITS) {
            Some(above) => above << (shift + BITS),
            None => 0,
        };
        let start = above | u64::from(slot) << shift;
        Some((level, slot as usize, start.max(self.now)))
    }

    /// Puts an entry into its slot, behind the others.
    #[inline]
    fn put(&mut self, place: u32) {
        let entry = self.entries.at(place);
        entry.due = entry.due.max(self.now);
        let due = entry.due;
        // The highest digit in which they differ; the lowest one if they do not.
        let level = ((due ^ self.now) | 1).ilog2() / BITS;
        let number = (due >> (level * BITS)) as usize % SLOTS;
        let level = level as usize;
        let slot = &mut self.slots[level][number];
        let before = core::mem::replace(&mut slot.last, place);
        if before == NONE {
            slot.first = place;
            self.used[level] |= 1 << number;
        }
        entry.before = before;
        entry.next = NONE;
        entry.place = (level * SLOTS + number) as u16;
        if before != NONE {
            self.entries.at(before).next = place;
        }
        self.waiting += 1;
    }

    /// Takes an entry out of its slot, if it is in one.
    #[inline]
    fn take(&mut self, place: u32) {
        let entry = self.entries.at(place);
        let (before, next) = (entry.before, entry.next);
        let at = core::mem::replace(&mut entry.place, NOWHERE) as usize;
        if at == NOWHERE as usize {
            return;
        }
        let slot = &mut self.slots[at / SLOTS][at % SLOTS];
        if before == NONE {
            slot.first = next;
        }
        if next == NONE {
            slot.last = before;
        }
        if slot.first == NONE {
            self.used[at / SLOTS] &= !(1 << (at % SLOTS));
        }
        if before != NONE {
            self.entries.at(before).next = next;
        }
        if next != NONE {
            self.entries.at(next).before = before;
        }
        self.waiting -= 1;
    }

    /// Adds an entry to those of an owner.
    fn join(&mut self, place: u32, owner: u32) {
        let next = core::mem::replace(&mut self.entries.at(owner).owned_next, place);
        self.entries.at(next).owned_before = place;
        let entry = self.entries.at(place);
        (entry.owned_before, entry.owned_next) = (owner, next);
    }

    /// Removes an entry from those of its owner, if it has one.
    #[inline]
    fn leave(&mut self, place: u32) {
        let entry = self.entries.at(place);
        let (before, next) = (entry.owned_before, entry.owned_next);
        if before == NONE {
            return;
        }
        (entry.owned_before, entry.owned_next) = (NONE, NONE);
        self.entries.at(before).owned_next = next;
        self.entries.at(next).owned_before = before;
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests;
