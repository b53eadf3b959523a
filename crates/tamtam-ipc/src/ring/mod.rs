//! A ring of slots in shared memory, from senders in several processes to one receiver: README.md has the states and the races.
//!
//! Every word here may be written by another process at any time. Each is loaded once, taken apart and compared with what it can be; what cannot
//! be is [`Corrupt`](Refusal::Corrupt). What a position leads to is an index below the capacity, whatever was read.

use std::time::Instant;

use tamtam_wait::seam::ORIGIN;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::{Futex, Scope, TimedOut, Wait};

use crate::bell::Bell;

#[cfg(all(test, tamtam_loom))]
mod models;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

const POSITION_BITS: u32 = 44;
/// Positions are numbers below this, plus one; they wrap, after 20 days at ten million messages a second, and only distances count.
const POSITIONS: u64 = (1 << POSITION_BITS) - 1;
const KIND_SHIFT: u32 = 18;
const CLAIMANT: u64 = (1 << KIND_SHIFT) - 1;
const POSITION_SHIFT: u32 = 20;
/// So many bits of how often a party's place was freed are in a claim.
pub(crate) const COUNT_BITS: u32 = 12;
/// No ring has more slots: 4096 laps at least go by before positions wrap.
pub(crate) const MOST_SLOTS: u64 = 1 << 32;
/// So much oftener than there are slots a claim goes on to the next one, at most.
const MORE_STEPS: u64 = if cfg!(tamtam_loom) { 8 } else { 1000 };
/// While a thread looks awake, whether the other side is there is asked at one of so many looks.
const LOOKS_PER_QUESTION: u32 = 64;

/// Where a message is in the order of all: the lap in the high bits, the slot in the low ones.
pub(crate) type Position = u64;

/// Who has claimed a slot: a party's place, and the low bits of how often that was freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claimant {
    pub(crate) place: u32,
    pub(crate) count: u32,
}

impl Claimant {
    /// Of a party in this place, which was freed so often before.
    pub(crate) fn new(place: u32, count: u32) -> Self {
        Claimant {
            place: place % (1 << (KIND_SHIFT - COUNT_BITS)),
            count: count % (1 << COUNT_BITS),
        }
    }

    fn bits(self) -> u64 {
        u64::from(self.place) << COUNT_BITS | u64::from(self.count)
    }

    fn of(state: u64) -> Self {
        let bits = (state & CLAIMANT) as u32;
        Claimant::new(bits >> COUNT_BITS, bits)
    }
}

/// What a slot is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A sender may claim it.
    Free = 0,
    /// A sender writes into it.
    Claimed = 1,
    /// There is a message.
    Full = 2,
    /// There is none, and the receiver goes on.
    Void = 3,
}

const fn free(position: Position) -> u64 {
    position << POSITION_SHIFT
}

fn claimed(position: Position, by: Claimant) -> u64 {
    free(position) | (Kind::Claimed as u64) << KIND_SHIFT | by.bits()
}

/// A slot's state, taken apart.
fn parts(state: u64) -> (Position, Kind) {
    let kind = match state >> KIND_SHIFT & 3 {
        0 => Kind::Free,
        1 => Kind::Claimed,
        2 => Kind::Full,
        _ => Kind::Void,
    };
    (state >> POSITION_SHIFT, kind)
}

/// How positions follow each other in a ring of so many slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Track {
    capacity: u64,
    /// From a position to that of the same slot in the next lap: a power of two.
    lap: u64,
}

impl Track {
    /// Of one to [`MOST_SLOTS`] slots.
    pub(crate) fn new(capacity: u64) -> Option<Self> {
        (1..=MOST_SLOTS).contains(&capacity).then(|| Track {
            capacity,
            lap: capacity.next_power_of_two(),
        })
    }

    pub(crate) fn capacity(self) -> u64 {
        self.capacity
    }

    /// The first position of all.
    pub(crate) fn first(self) -> Position {
        ORIGIN as u64 & POSITIONS & !(self.lap - 1)
    }

    /// The slot of a position, unless no slot has that.
    #[inline]
    pub(crate) fn index(self, position: Position) -> Option<usize> {
        let index = position & (self.lap - 1);
        (index < self.capacity).then_some(index as usize)
    }

    #[inline]
    pub(crate) fn next(self, position: Position) -> Position {
        let index = position & (self.lap - 1);
        if index + 1 < self.capacity {
            position + 1
        } else {
            (position - index).wrapping_add(self.lap) & POSITIONS
        }
    }

    fn next_lap(self, position: Position) -> Position {
        position.wrapping_add(self.lap) & POSITIONS
    }

    fn previous_lap(self, position: Position) -> Position {
        position.wrapping_sub(self.lap) & POSITIONS
    }

    /// How many messages lie between two positions, if the second is not before the first.
    pub(crate) fn between(self, from: Position, to: Position) -> u64 {
        let laps = (to.wrapping_sub(from) & POSITIONS) / self.lap;
        let (from, to) = (from & (self.lap - 1), to & (self.lap - 1));
        if to >= from {
            laps * self.capacity + (to - from)
        } else {
            (laps + 1) * self.capacity + to - from
        }
    }
}

/// Whether a position comes behind another, or is it.
fn is_not_before(position: Position, other: Position) -> bool {
    position.wrapping_sub(other) & POSITIONS <= POSITIONS / 2
}

/// What the processes share beside the slots.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(128)))]
pub(crate) struct Control {
    /// Where senders look for a free slot first. Never ahead of the first position that was not claimed yet; helped on by all.
    tail: AtomicU64,
    /// What a sender reads and hardly any process writes, on a cache line of its own.
    pub(crate) seldom: Seldom,
    /// The receiver, while it waits for a message.
    pub(crate) receiver: Bell,
    /// Senders that wait for room.
    pub(crate) senders: Bell,
}

/// What hardly ever changes.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(128)))]
pub(crate) struct Seldom {
    /// Who receives.
    pub(crate) receiver: AtomicU64,
    /// The longest message, in bytes; says the maker.
    pub(crate) largest: AtomicU64,
}

impl Control {
    #[cfg(any(test, tamtam_loom))]
    pub(crate) fn new(track: Track) -> Self {
        Control {
            tail: AtomicU64::new(track.first()),
            seldom: Seldom {
                receiver: AtomicU64::new(0),
                largest: AtomicU64::new(0),
            },
            receiver: Bell::new(),
            senders: Bell::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn set_tail(&self, tail: u64) {
        self.tail.store(tail, Ordering::SeqCst);
    }
}

/// Why a sender has no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is none now, or there was none until the deadline.
    Full,
    /// No process receives.
    Closed,
    /// Another process has written what cannot be.
    Corrupt,
}

/// Why a receiver has no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    /// There is none now, or there was none until the deadline.
    Empty,
    /// There is none, and no process has a sender.
    Closed,
    /// Another process has written what cannot be.
    Corrupt,
}

/// Where a receiver is.
#[derive(Debug)]
pub(crate) struct Cursor {
    pub(crate) head: Position,
    /// So many slots were passed over because the process that had claimed them is dead.
    pub(crate) abandoned: u64,
}

/// Slots, with what is shared beside them, as one process sees them.
pub(crate) trait Ring {
    fn control(&self) -> &Control;
    fn track(&self) -> Track;
    /// The state of a slot.
    ///
    /// # Panics
    ///
    /// If there is no such slot.
    fn state(&self, index: usize) -> &AtomicU64;
    /// Whether the process lives that has claimed a slot.
    fn is_alive(&self, claimant: Claimant) -> bool;
    /// Whether a process that lives receives.
    fn has_receiver(&self) -> bool;
    /// Whether any process that lives has a sender.
    fn has_senders(&self) -> bool;

    /// Makes zeroes an empty ring.
    fn prepare(&self) {
        let (control, track) = (self.control(), self.track());
        let mut position = track.first();
        control.tail.store(position, Ordering::Relaxed);
        control.receiver.prepare();
        control.senders.prepare();
        for index in 0..track.capacity() as usize {
            self.state(index).store(free(position), Ordering::Relaxed);
            position = track.next(position);
        }
    }

    /// Claims the next slot for a message.
    #[inline]
    fn claim(&self, claimant: Claimant) -> Result<Position, Refusal> {
        let track = self.track();
        let mut tail = self.control().tail.load(Ordering::SeqCst) & POSITIONS;
        // Each step goes on to a later position. Were this endless, another process could keep a thread here.
        for _ in 0..track.capacity() + MORE_STEPS {
            let slot = self.state(track.index(tail).ok_or(Refusal::Corrupt)?);
            // SYNC ring-free: what the receiver has read here may be written over.
            let mut state = slot.load(Ordering::SeqCst);
            if state == free(tail) {
                let claim = claimed(tail, claimant);
                match slot.compare_exchange(state, claim, Ordering::SeqCst, Ordering::SeqCst) {
                    Ok(_) => {
                        self.help_tail(tail);
                        return Ok(tail);
                    }
                    Err(now) => state = now,
                }
            }
            tail = self.behind(tail, state)?;
        }
        // Others were quicker each time.
        Err(Refusal::Full)
    }

    /// Where to look for a free slot if the one at this position is in this state, and helps the tail to get there.
    fn behind(&self, tail: Position, state: u64) -> Result<Position, Refusal> {
        let track = self.track();
        let (position, kind) = parts(state);
        if position == track.previous_lap(tail) && kind != Kind::Free {
            return Err(Refusal::Full);
        }
        // A free slot had its turn in the lap before.
        let passed = match kind {
            Kind::Free => track.previous_lap(position),
            Kind::Claimed | Kind::Full | Kind::Void => position,
        };
        // Both are positions of one slot, or the state cannot be.
        let is_of_slot = position & (track.lap - 1) == tail & (track.lap - 1);
        if !is_of_slot || !is_not_before(passed, tail) {
            return Err(Refusal::Corrupt);
        }
        let next = track.next(passed);
        let tail_word = &self.control().tail;
        let _ = tail_word.compare_exchange(tail, next, Ordering::SeqCst, Ordering::Relaxed);
        Ok(next)
    }

    /// This position is claimed: others look behind it.
    #[inline]
    fn help_tail(&self, claimed: Position) {
        let next = self.track().next(claimed);
        let tail = &self.control().tail;
        let _ = tail.compare_exchange(claimed, next, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// The message is written: the receiver may read it. It is not woken: [`Bell::ring`] does that, for one message or many. `false` if another
    /// process has written something else there.
    ///
    /// A slot whose process counts as dead was given to others. So this is no blind exchange: a thread that runs on for a moment when the kernel
    /// has marked its process changes nothing.
    #[inline]
    fn publish(&self, position: Position, by: Claimant, has_message: bool) -> bool {
        let Some(index) = self.track().index(position) else {
            return false;
        };
        let kind = if has_message { Kind::Full } else { Kind::Void };
        let published = free(position) | (kind as u64) << KIND_SHIFT;
        let claim = claimed(position, by);
        // SYNC ring-full, and the bell's.
        let slot = self.state(index);
        slot.compare_exchange(claim, published, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// The next message, if one is there; passes over slots in which none will be.
    #[inline]
    fn take(&self, cursor: &mut Cursor) -> Result<Position, Nothing> {
        let track = self.track();
        let head = cursor.head;
        let index = track.index(head).ok_or(Nothing::Corrupt)?;
        // SYNC ring-full: the message is there.
        let state = self.state(index).load(Ordering::SeqCst);
        if state == free(head) | (Kind::Full as u64) << KIND_SHIFT {
            cursor.head = track.next(head);
            return Ok(head);
        }
        if state == free(head) {
            return Err(Nothing::Empty);
        }
        self.pass_over(cursor)
    }

    /// As [`take`](Ring::take), where the slot at the head is neither free nor full.
    #[cold]
    fn pass_over(&self, cursor: &mut Cursor) -> Result<Position, Nothing> {
        let track = self.track();
        let mut is_passed = false;
        let mut outcome = Err(Nothing::Empty);
        for _ in 0..track.capacity() {
            let head = cursor.head;
            let slot = self.state(track.index(head).ok_or(Nothing::Corrupt)?);
            // SYNC ring-full: the message is there.
            let state = slot.load(Ordering::SeqCst);
            let (position, kind) = parts(state);
            if position == track.next_lap(head) {
                // A receiver before this one has died while it used an older message, which is received again, and had given this one back.
                cursor.head = track.next(head);
                continue;
            }
            if position != head {
                outcome = Err(Nothing::Corrupt);
                break;
            }
            match kind {
                Kind::Free => break,
                Kind::Full => {
                    outcome = Ok(head);
                    cursor.head = track.next(head);
                    break;
                }
                Kind::Claimed if self.is_alive(Claimant::of(state)) => break,
                Kind::Claimed | Kind::Void => {}
            }
            let freed = free(track.next_lap(head));
            // What was published a moment before the process died is a message: the next look finds it.
            // SYNC ring-free
            let step = slot.compare_exchange(state, freed, Ordering::SeqCst, Ordering::SeqCst);
            if step.is_ok() {
                cursor.abandoned += u64::from(kind == Kind::Claimed);
                cursor.head = track.next(head);
                is_passed = true;
            }
        }
        if is_passed {
            self.control().senders.ring();
        }
        outcome
    }

    /// The message was read: its slot is free for the next lap, and a sender that waits is woken.
    #[inline]
    fn free(&self, position: Position) {
        self.free_one_of_several(position);
        self.freed_several();
    }

    /// As [`free`](Ring::free), for one of several: [`freed_several`](Ring::freed_several) wakes.
    #[inline]
    fn free_one_of_several(&self, position: Position) {
        let track = self.track();
        if let Some(index) = track.index(position) {
            let freed = free(track.next_lap(position));
            let full = free(position) | (Kind::Full as u64) << KIND_SHIFT;
            // A thread that its process' end overtakes may come so late that the next receiver has given it back, and a sender has it: then it is no
            // more full at this position.
            // SYNC ring-free, and the bell's.
            let slot = self.state(index);
            let _ = slot.compare_exchange(full, freed, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// Slots were freed: wakes senders that wait.
    #[inline]
    fn freed_several(&self) {
        self.control().senders.ring();
    }

    /// Whether a slot could be claimed now, or something is wrong, which a claim would tell.
    fn has_room(&self) -> bool {
        let track = self.track();
        let mut tail = self.control().tail.load(Ordering::SeqCst) & POSITIONS;
        for _ in 0..track.capacity() + MORE_STEPS {
            let Some(index) = track.index(tail) else {
                return true;
            };
            let state = self.state(index).load(Ordering::SeqCst);
            if state == free(tail) {
                return true;
            }
            tail = match self.behind(tail, state) {
                Ok(next) => next,
                Err(refusal) => return refusal != Refusal::Full,
            };
        }
        // Others were quicker each time.
        true
    }

    /// Claims the next slot, after waiting for one. `others` are further words that end a sleep.
    fn wait_to_claim<'a, Others>(
        &'a self,
        claimant: Claimant,
        wait: Wait,
        deadline: Option<Instant>,
        others: impl Fn() -> Others,
    ) -> Result<Position, Refusal>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        let mut outcome = Err(Refusal::Full);
        let is_there = || {
            outcome = if self.has_receiver() {
                self.claim(claimant)
            } else {
                Err(Refusal::Closed)
            };
            outcome != Err(Refusal::Full)
        };
        let senders = &self.control().senders;
        match senders.wait(wait, deadline, is_there, others) {
            Ok(()) => outcome,
            Err(TimedOut) => Err(Refusal::Full),
        }
    }

    /// As [`take`](Ring::take), and says if there will be no more.
    fn take_or_end(&self, cursor: &mut Cursor) -> Result<Position, Nothing> {
        match self.take(cursor) {
            Err(Nothing::Empty) if !self.has_senders() => match self.take(cursor) {
                // The last sender has ended before this second look: what it had published was seen.
                Err(Nothing::Empty) => Err(Nothing::Closed),
                found => found,
            },
            found => found,
        }
    }

    /// The next message, after waiting for it. `others` are further words that end a sleep.
    fn wait_to_take<'a, Others>(
        &'a self,
        cursor: &mut Cursor,
        wait: Wait,
        deadline: Option<Instant>,
        others: impl Fn() -> Others,
    ) -> Result<Position, Nothing>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        let mut outcome = Err(Nothing::Empty);
        let mut looks = 0_u32;
        // Set before each sleep, for the look that decides it.
        let is_about_to_sleep = core::cell::Cell::new(false);
        let is_there = || {
            let asks = is_about_to_sleep.take() || looks.is_multiple_of(LOOKS_PER_QUESTION);
            looks = looks.wrapping_add(1);
            outcome = if asks {
                self.take_or_end(cursor)
            } else {
                self.take(cursor)
            };
            outcome != Err(Nothing::Empty)
        };
        let others = || {
            is_about_to_sleep.set(true);
            others()
        };
        let receiver = &self.control().receiver;
        match receiver.wait(wait, deadline, is_there, others) {
            Ok(()) => outcome,
            Err(TimedOut) => Err(Nothing::Empty),
        }
    }

    /// Where a receiver goes on that has come after another: at the oldest position of all slots. Senders do not change positions, and a
    /// receiver is alone.
    fn head_of_another(&self) -> Option<Position> {
        let track = self.track();
        let mut head: Option<Position> = None;
        for index in 0..track.capacity() as usize {
            let (position, _) = parts(self.state(index).load(Ordering::SeqCst));
            if track.index(position) != Some(index) {
                return None;
            }
            head = match head {
                Some(head) if is_not_before(position, head) => Some(head),
                _ => Some(position),
            };
        }
        head
    }

    /// How many slots are claimed or full from this position on, as far as the tail tells.
    fn len_from(&self, head: Position) -> u64 {
        let tail = self.control().tail.load(Ordering::SeqCst) & POSITIONS;
        if !is_not_before(tail, head) {
            return 0;
        }
        let track = self.track();
        track.between(head, tail).min(track.capacity())
    }
}
