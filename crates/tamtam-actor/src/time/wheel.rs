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

use core::num::NonZeroU64;

use super::slab::{Key, Numbered, Slab};

/// Slots of a level: as many as a word has bits.
const SLOTS: usize = 64;
const BITS: u32 = 6;
/// Enough for all ticks that there are.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// No entry.
const NONE: u32 = u32::MAX;
/// In the place of the neighbour before: the entry is in no slot.
const NOWHERE: u32 = u32::MAX - 1;

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

/// An entry: a cache line, with [`AnyAlarm`](super::alarm::AnyAlarm) in it.
#[repr(align(64))]
struct TimerEntry<T> {
    due: u64,
    number: NonZeroU64,
    /// Empty for owners, and while it happens.
    what: T,
    /// The neighbours in the slot.
    before: u32,
    next: u32,
    /// The neighbours among the entries of the same owner, which is one of them: they are a ring. None if there is
    /// no owner.
    owned_before: u32,
    owned_next: u32,
}

impl<T> Numbered for TimerEntry<T> {
    #[inline(always)]
    fn number(&self) -> NonZeroU64 {
        self.number
    }
}

const EMPTY: WheelSlot = WheelSlot {
    first: NONE,
    last: NONE,
};

impl<T: Default> Wheel<T> {
    /// One that `retains` keeps memory that it does not use until it is [told](Wheel::take_spare) not to.
    pub(crate) fn new(retains: bool) -> Self {
        Wheel {
            now: 0,
            used: [0; LEVELS],
            slots: Box::new([[EMPTY; SLOTS]; LEVELS]),
            entries: Slab::new(retains),
            waiting: 0,
        }
    }

    /// How many entries wait for their tick.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// How many pieces of memory are there for entries, and not used.
    pub(crate) fn spares(&self) -> usize {
        self.entries.spares()
    }

    /// How many of them were not used since this was asked last.
    pub(crate) fn long_spare(&mut self) -> usize {
        self.entries.long_spare()
    }

    /// One of them that was among the first `below`, and is the first one after that; to be dropped.
    pub(crate) fn take_spare(&mut self, below: &mut usize) -> Option<impl Send + use<T>>
    where
        T: Send,
    {
        self.entries.take_spare(below)
    }

    /// Adds an entry, and has it filled; one of the past is due at once.
    #[inline(always)]
    pub(crate) fn insert(
        &mut self,
        due: u64,
        owner: Option<Key>,
        fill: impl FnOnce(&mut T),
    ) -> Key {
        let due = due.max(self.now);
        let (level, number) = self.slot_of(due);
        let before = self.slots[level][number].last;
        let (key, entry) = self.add(due, before);
        // It is written where it is: what is written in parts and then copied as a whole keeps a processor waiting.
        fill(&mut entry.what);
        self.append(level, number, key.place);
        if let Some(owner) = owner {
            self.join(key.place, owner);
        }
        key
    }

    /// An entry in a slot behind `before`, or in none.
    #[inline(always)]
    fn add(&mut self, due: u64, before: u32) -> (Key, &mut TimerEntry<T>) {
        self.entries.insert(|number| TimerEntry {
            due,
            number,
            what: T::default(),
            before,
            next: NONE,
            owned_before: NONE,
            owned_next: NONE,
        })
    }

    /// What is in an entry, unless it is gone.
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        self.entries.get(key).map(|entry| &entry.what)
    }

    /// An entry that has been due is emptied by `begin`, which has nothing if that was done before, and says whether the entry
    /// stays, to be set again.
    pub(crate) fn begin<R>(
        &mut self,
        key: Key,
        begin: impl FnOnce(&mut T) -> Option<(R, bool)>,
    ) -> Option<R> {
        let entry = self.entries.get_mut(key)?;
        if entry.before != NOWHERE {
            return None;
        }
        let (begun, stays) = begin(&mut entry.what)?;
        if !stays {
            self.leave(key.place);
            self.entries.remove(key.place);
        }
        Some(begun)
    }

    /// Sets an entry that has [begun](Wheel::begin) for another tick, and has it filled again. `false` if it was removed.
    pub(crate) fn set_again(&mut self, key: Key, due: u64, fill: impl FnOnce(&mut T)) -> bool {
        match self.entries.get_mut(key) {
            Some(entry) if entry.before == NOWHERE => {
                entry.due = due;
                fill(&mut entry.what);
                self.put(key.place);
                true
            }
            _ => false,
        }
    }

    /// Takes an entry out, wherever it is, and what is in it by `empty`. `false` if it is gone.
    #[inline]
    pub(crate) fn remove(&mut self, key: Key, empty: impl FnOnce(&mut T)) -> bool {
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        empty(&mut entry.what);
        self.remove_at(key.place);
        true
    }

    /// Removes an entry that is there, and empty.
    #[inline]
    fn remove_at(&mut self, place: u32) {
        self.take(place);
        self.leave(place);
        self.entries.remove(place);
    }

    /// Has what is due next at tick `until` or before taken out of its entry, unless that `stays`, then in no slot. `false` if
    /// nothing is due; then it is `until`.
    #[inline]
    pub(crate) fn pop(&mut self, until: u64, stays: impl FnOnce(Key, &mut T) -> bool) -> bool {
        let Some(place) = self.pop_place(until) else {
            return false;
        };
        self.take(place);
        let key = self.entries.key_of(place);
        if !stays(key, &mut self.entries.at(place).what) {
            self.leave(place);
            self.entries.remove(place);
        }
        true
    }

    /// The entry that is due next at tick `until` or before; if there is none, then it is `until`.
    fn pop_place(&mut self, until: u64) -> Option<u32> {
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
                return Some(self.slots[0][slot].first);
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
        let (key, owner) = self.add(0, NOWHERE);
        (owner.owned_before, owner.owned_next) = (key.place, key.place);
        key
    }

    /// Removes an owner's next entry, and takes what is in it by `empty`; `false` if there was none any more: then the owner is
    /// removed.
    pub(crate) fn remove_owned(&mut self, owner: Key, empty: impl FnOnce(&mut T)) -> bool {
        let Some(next) = self.entries.get(owner).map(|owner| owner.owned_next) else {
            return false;
        };
        if next == owner.place {
            self.entries.remove(next);
            return false;
        }
        empty(&mut self.entries.at(next).what);
        self.remove_at(next);
        true
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

    /// The level and the number of the slot for this tick, which is not before now. It is the same until now has come to that
    /// slot, when what is there moves down.
    #[inline]
    fn slot_of(&self, due: u64) -> (usize, usize) {
        // The highest digit in which they differ; the lowest one if they do not.
        let level = ((due ^ self.now) | 1).ilog2() / BITS;
        ((level as usize), (due >> (level * BITS)) as usize % SLOTS)
    }

    /// Puts an entry into its slot, behind the others.
    fn put(&mut self, place: u32) {
        let now = self.now;
        let entry = self.entries.at(place);
        let due = entry.due.max(now);
        entry.due = due;
        let (level, number) = self.slot_of(due);
        let before = self.slots[level][number].last;
        let entry = self.entries.at(place);
        (entry.before, entry.next) = (before, NONE);
        self.append(level, number, place);
    }

    /// Makes an entry the last one of a slot; it knows that.
    #[inline(always)]
    fn append(&mut self, level: usize, number: usize, place: u32) {
        let slot = &mut self.slots[level][number];
        let before = core::mem::replace(&mut slot.last, place);
        if before == NONE {
            slot.first = place;
            self.used[level] |= 1 << number;
        } else {
            self.entries.at(before).next = place;
        }
        self.waiting += 1;
    }

    /// Takes an entry out of its slot, if it is in one.
    #[inline]
    fn take(&mut self, place: u32) {
        let entry = self.entries.at(place);
        let (due, next) = (entry.due, entry.next);
        let before = core::mem::replace(&mut entry.before, NOWHERE);
        if before == NOWHERE {
            return;
        }
        if before == NONE || next == NONE {
            let (level, number) = self.slot_of(due);
            let slot = &mut self.slots[level][number];
            if before == NONE {
                slot.first = next;
            }
            if next == NONE {
                slot.last = before;
            }
            if slot.first == NONE {
                self.used[level] &= !(1 << number);
            }
        }
        if before != NONE {
            self.entries.at(before).next = next;
        }
        if next != NONE {
            self.entries.at(next).before = before;
        }
        self.waiting -= 1;
    }

    /// Adds an entry to those of an owner, if there is one.
    fn join(&mut self, place: u32, owner: Key) {
        let Some(entry) = self.entries.get_mut(owner) else {
            return;
        };
        let next = core::mem::replace(&mut entry.owned_next, place);
        self.entries.at(next).owned_before = place;
        let entry = self.entries.at(place);
        (entry.owned_before, entry.owned_next) = (owner.place, next);
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
