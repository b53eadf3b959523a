//! A ring of slots in shared memory, from senders in several processes to one receiver: README.md has the states and the races.
//!
//! Every word here may be written by another process at any time. Each is loaded once, taken apart and compared with what it can be; what cannot
//! be is [`Corrupt`](Refusal::Corrupt). What a position leads to is an index below the capacity, whatever was read.

use std::cell::Cell;
use std::time::Instant;

use tamtam_wait::seam::ORIGIN;
use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::{Futex, Scope, TimedOut, Wait};

use crate::bell::Bell;

#[cfg(all(test, tamtam_loom))]
mod models;
#[cfg(all(test, not(tamtam_loom)))]
mod tests;

const LENGTH_SHIFT: u32 = 18;
const CLAIMANT: u64 = (1 << LENGTH_SHIFT) - 1;
const KIND_SHIFT: u32 = 21;
const POSITION_SHIFT: u32 = 23;
/// So many of a position's bits are in a word; they wrap, after two days at ten million messages a second, and only distances count.
const POSITION_BITS: u32 = u64::BITS - POSITION_SHIFT;
const POSITIONS: u64 = (1 << POSITION_BITS) - 1;
/// So many bits of how often a party's place was freed are in a claim.
pub(crate) const COUNT_BITS: u32 = 12;
/// No ring has more slots: 512 laps at least go by before positions wrap.
pub(crate) const MOST_SLOTS: u64 = 1 << 32;
/// So many slots are claimed by one step at most: a power of two, whose exponent is in a state.
pub(crate) const MOST_AT_ONCE: u64 = 32;
/// In one of so many laps each slot is claimed alone, which leaves a new position in it. So none has one that is so old that it seems to lie ahead.
const LAPS_BETWEEN: u64 = 64;
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
            place: place % (1 << (LENGTH_SHIFT - COUNT_BITS)),
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

/// Slots that were claimed by one step: a power of two of them, from a position on, all in one lap. The state of the first one stands for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: Position,
    exponent: u32,
}

impl Run {
    /// Of one slot.
    pub(crate) fn single(position: Position) -> Self {
        Run {
            first: position,
            exponent: 0,
        }
    }

    /// How many slots.
    #[inline]
    pub(crate) fn len(self) -> u64 {
        1 << self.exponent
    }

    /// Each of its positions, of which the last may be the greatest that there is.
    #[inline]
    pub(crate) fn positions(self) -> impl Iterator<Item = Position> {
        (0..self.len()).map(move |place| self.first.wrapping_add(place))
    }

    /// The state of its first slot.
    #[inline]
    fn state(self, kind: Kind) -> u64 {
        at(self.first) | (kind as u64) << KIND_SHIFT | u64::from(self.exponent) << LENGTH_SHIFT
    }

    #[inline]
    fn claimed(self, by: Claimant) -> u64 {
        self.state(Kind::Claimed) | by.bits()
    }
}

/// What the slots of a run are. Slots whose position is before the one that is looked for are free, as far as the receiver has given them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There is no message, and the receiver goes on.
    Void = 0,
    /// A sender writes into them.
    Claimed = 1,
    /// There is a message in each.
    Full = 2,
    /// Another process has written it.
    Impossible = 3,
}

/// A position where it stands in a word; of a higher number its low bits.
const fn at(position: Position) -> u64 {
    position << POSITION_SHIFT
}

/// A slot's state, taken apart: the position has its low bits only.
#[inline]
fn parts(state: u64) -> (Run, Kind) {
    let kind = match state >> KIND_SHIFT & 3 {
        0 => Kind::Void,
        1 => Kind::Claimed,
        2 => Kind::Full,
        _ => Kind::Impossible,
    };
    let run = Run {
        first: state >> POSITION_SHIFT,
        exponent: (state >> LENGTH_SHIFT & 7) as u32,
    };
    (run, kind)
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
        ORIGIN as u64 & !(self.lap - 1)
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
            (position - index).wrapping_add(self.lap)
        }
    }

    /// Behind the last slot of a run, unless that reaches beyond its lap, or is longer than any.
    #[inline]
    fn behind(self, run: Run) -> Option<Position> {
        let index = run.first & (self.lap - 1);
        let end = index + run.len();
        (end <= self.capacity && run.len() <= MOST_AT_ONCE)
            .then(|| self.next(run.first + (run.len() - 1)))
    }

    /// How many slots are free from a position on, in its lap, where the receiver has given back all before `head`; none if the ring is full, and
    /// `None` if the position lies outside of what can be free.
    #[inline]
    fn room(self, head: Position, position: Position) -> Option<u64> {
        let distance = position.wrapping_sub(head);
        if distance >= self.lap {
            return (distance == self.lap).then_some(0);
        }
        let index = position & (self.lap - 1);
        let head = head & (self.lap - 1);
        let end = if index < head { head } else { self.capacity };
        Some(end.min(self.capacity) - index)
    }

    /// In this lap each slot is claimed alone.
    fn is_by_one(self, position: Position) -> bool {
        position & (self.lap * (LAPS_BETWEEN - 1)) == self.lap * (LAPS_BETWEEN / 2)
    }

    /// Whether two positions are of the same slot.
    fn is_same_slot(self, position: Position, other: Position) -> bool {
        (position ^ other) & (self.lap - 1) == 0
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
#[inline]
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
    given: Given,
}

/// What the receiver has given back, on a cache line of its own, which senders read about once in a lap.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(64)))]
struct Given {
    /// The position before which all slots are given back, how many messages from there on are the rest of a run, whose first slot tells of them no more,
    /// and the party that receives: a late step of the one before it finds another word, and does nothing.
    head: AtomicU64,
}

impl Control {
    #[cfg(any(test, tamtam_loom))]
    pub(crate) fn new(track: Track) -> Self {
        Control {
            tail: AtomicU64::new(track.first()),
            seldom: Seldom {
                receiver: AtomicU64::new(0),
                largest: AtomicU64::new(0),
                given: Given {
                    head: AtomicU64::new(0),
                },
            },
            receiver: Bell::new(),
            senders: Bell::new(),
        }
    }

    #[cfg(test)]
    pub(crate) fn set_tail(&self, tail: u64) {
        self.tail.store(tail, Ordering::SeqCst);
    }

    #[cfg(all(test, not(tamtam_loom)))]
    fn set_given(&self, before: Position, by: Claimant) {
        let word = given(before, 0, by);
        self.seldom.given.head.store(word, Ordering::SeqCst);
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

/// Where a receiver is. In cells, each by itself: as a whole it would be copied about, at twice the price of a message.
#[derive(Debug)]
pub(crate) struct Cursor {
    /// The next message.
    head: Cell<Position>,
    /// So many messages from there on were seen to be published.
    ready: Cell<u32>,
    /// So many were taken and not freed.
    held: Cell<u32>,
    /// What this receiver has written to [`Given`] last: all before `head` is given back, but for what is held, and what was taken since.
    given: Cell<u64>,
    abandoned: Cell<u64>,
    by: Claimant,
}

impl Cursor {
    /// Of the party that receives, where all before a position is given back, and so many behind it are the rest of a run.
    fn new(head: Position, ready: u32, by: Claimant) -> Self {
        Cursor {
            head: Cell::new(head),
            ready: Cell::new(ready),
            held: Cell::new(0),
            given: Cell::new(given(head, ready, by)),
            abandoned: Cell::new(0),
            by,
        }
    }

    /// Where the next message is.
    pub(crate) fn head(&self) -> Position {
        self.head.get()
    }

    /// So many messages were passed over because the process that had claimed their slots is dead.
    pub(crate) fn abandoned(&self) -> u64 {
        self.abandoned.get()
    }
}

/// The word that says what is given back. A whole run of the greatest length counts as none: its first slot tells of it.
#[inline]
fn given(before: Position, ready: u32, by: Claimant) -> u64 {
    at(before) | (u64::from(ready) % MOST_AT_ONCE) << LENGTH_SHIFT | by.bits()
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

    /// What this process has last seen given back: a position, with all its bits. Its own, so that no other process makes it wrong.
    fn seen(&self) -> &AtomicU64;

    /// Makes zeroes an empty ring, of which a party receives.
    fn prepare(&self, by: Claimant) -> Cursor {
        let (control, track) = (self.control(), self.track());
        let first = track.first();
        control.tail.store(first, Ordering::Relaxed);
        let word = given(first, 0, by);
        control.seldom.given.head.store(word, Ordering::Relaxed);
        control.receiver.prepare();
        control.senders.prepare();
        let mut position = first.wrapping_sub(track.lap);
        for index in 0..track.capacity() as usize {
            let used = Run::single(position).state(Kind::Void);
            self.state(index).store(used, Ordering::Relaxed);
            position = track.next(position);
        }
        Cursor::new(first, 0, by)
    }

    /// Claims the next slot for a message, or as many as are free for `most` of them, by one step.
    #[inline]
    fn claim(&self, claimant: Claimant, most: u64) -> Result<Run, Refusal> {
        let track = self.track();
        let mut tail = self.control().tail.load(Ordering::SeqCst);
        // Each step goes on to a later position. Were this endless, another process could keep a thread here.
        for _ in 0..track.capacity() + MORE_STEPS {
            let slot = self.state(track.index(tail).ok_or(Refusal::Corrupt)?);
            let mut state = slot.load(Ordering::SeqCst);
            if !is_not_before(state >> POSITION_SHIFT, tail) {
                match self.room(tail, most) {
                    Some(0) => return Err(Refusal::Full),
                    Some(room) => {
                        let run = Run {
                            first: tail,
                            exponent: room.min(most).ilog2(),
                        };
                        let claim = run.claimed(claimant);
                        let step =
                            slot.compare_exchange(state, claim, Ordering::SeqCst, Ordering::SeqCst);
                        match step {
                            Ok(_) => {
                                self.help_tail(run);
                                return Ok(run);
                            }
                            Err(now) => state = now,
                        }
                    }
                    None => state = passed_since(slot, state)?,
                }
            }
            // What lay there before was published or passed over since it was looked at, or was claimed.
            if is_not_before(state >> POSITION_SHIFT, tail) {
                tail = self.behind(tail, state)?;
            }
        }
        // Others were quicker each time.
        Err(Refusal::Full)
    }

    /// How many slots from a position on may be claimed by one step, for `most` messages; `None` if the receiver has passed it.
    #[inline]
    fn room(&self, tail: Position, most: u64) -> Option<u64> {
        let track = self.track();
        let most = if most > 1 && track.is_by_one(tail) {
            1
        } else {
            most.min(MOST_AT_ONCE)
        };
        // SYNC ring-seen: another thread of this process has seen it.
        let seen = self.seen().load(Ordering::Acquire);
        if most == 1 && tail.wrapping_sub(seen) < track.lap {
            return Some(1);
        }
        match track.room(seen, tail) {
            Some(room) if room >= most => Some(most),
            _ => self.room_now(tail).map(|room| room.min(most)),
        }
    }

    /// As [`room`](Ring::room), by what is given back now.
    #[cold]
    fn room_now(&self, tail: Position) -> Option<u64> {
        // SYNC ring-free: what the receiver has read may be written over.
        let word = self.control().seldom.given.head.load(Ordering::SeqCst);
        // Of what it has not yet passed, this has the higher bits of the tail.
        let head = tail.wrapping_sub(tail.wrapping_sub(word >> POSITION_SHIFT) & POSITIONS);
        let room = self.track().room(head, tail)?;
        // SYNC ring-seen
        self.seen().store(head, Ordering::Release);
        Some(room)
    }

    /// Where to look for a free slot if the one at this position is in this state, and helps the tail to get there.
    fn behind(&self, tail: Position, state: u64) -> Result<Position, Refusal> {
        let track = self.track();
        let (mut run, kind) = parts(state);
        let is_of_slot = track.is_same_slot(run.first, tail);
        if !is_of_slot || !is_not_before(run.first, tail) || kind == Kind::Impossible {
            return Err(Refusal::Corrupt);
        }
        // With the bits that the state has not.
        run.first = tail.wrapping_add(run.first.wrapping_sub(tail) & POSITIONS);
        let next = track.behind(run).ok_or(Refusal::Corrupt)?;
        let tail_word = &self.control().tail;
        let _ = tail_word.compare_exchange(tail, next, Ordering::SeqCst, Ordering::Relaxed);
        Ok(next)
    }

    /// These slots are claimed: others look behind them.
    #[inline]
    fn help_tail(&self, claimed: Run) {
        let next = self.track().next(claimed.first + (claimed.len() - 1));
        let tail = &self.control().tail;
        let _ = tail.compare_exchange(claimed.first, next, Ordering::SeqCst, Ordering::Relaxed);
    }

    /// The messages of a run are written: the receiver may read them. It is not woken: [`Bell::ring`] does that, for one message or many. `false` if
    /// another process has written something else there.
    ///
    /// Slots whose process counts as dead were given to others. So this is no blind exchange: a thread that runs on for a moment when the kernel
    /// has marked its process changes nothing.
    #[inline]
    fn publish(&self, run: Run, by: Claimant, has_message: bool) -> bool {
        let Some(index) = self.track().index(run.first) else {
            return false;
        };
        let kind = if has_message { Kind::Full } else { Kind::Void };
        // SYNC ring-full, and the bell's.
        let slot = self.state(index);
        slot.compare_exchange(
            run.claimed(by),
            run.state(kind),
            Ordering::SeqCst,
            Ordering::Relaxed,
        )
        .is_ok()
    }

    /// The next message, if one is there; passes over slots in which none will be.
    #[inline]
    fn take(&self, cursor: &Cursor) -> Result<Position, Nothing> {
        self.find(cursor)?;
        let position = cursor.head.get();
        cursor.head.set(self.track().next(position));
        cursor.ready.set(cursor.ready.get() - 1);
        cursor.held.set(cursor.held.get() + 1);
        Ok(position)
    }

    /// Whether the next message is there; passes over slots in which none will be.
    #[inline]
    fn find(&self, cursor: &Cursor) -> Result<(), Nothing> {
        if cursor.ready.get() > 0 {
            return Ok(());
        }
        let track = self.track();
        let head = cursor.head.get();
        let index = track.index(head).ok_or(Nothing::Corrupt)?;
        // SYNC ring-full: the messages are there.
        let state = self.state(index).load(Ordering::SeqCst);
        if state == Run::single(head).state(Kind::Full) {
            cursor.ready.set(1);
            return Ok(());
        }
        if !is_not_before(state >> POSITION_SHIFT, head) {
            let is_of_slot = track.is_same_slot(state >> POSITION_SHIFT, head);
            return Err(if is_of_slot {
                Nothing::Empty
            } else {
                Nothing::Corrupt
            });
        }
        self.pass_over(cursor)
    }

    /// As [`find`](Ring::find), where something is at the head.
    #[inline(never)]
    fn pass_over(&self, cursor: &Cursor) -> Result<(), Nothing> {
        let track = self.track();
        let mut is_passed = false;
        let mut outcome = Err(Nothing::Empty);
        for _ in 0..track.capacity() {
            let head = cursor.head.get();
            let slot = self.state(track.index(head).ok_or(Nothing::Corrupt)?);
            // SYNC ring-full: the messages are there.
            let state = slot.load(Ordering::SeqCst);
            let (mut run, kind) = parts(state);
            if !is_not_before(run.first, head) {
                break;
            }
            let is_here = run.first == head & POSITIONS;
            run.first = head;
            let Some(behind) = track.behind(run).filter(|_| is_here) else {
                outcome = Err(Nothing::Corrupt);
                break;
            };
            match kind {
                Kind::Full => {
                    cursor.ready.set(run.len() as u32);
                    outcome = Ok(());
                    break;
                }
                Kind::Void => {}
                Kind::Claimed if self.is_alive(Claimant::of(state)) => break,
                Kind::Claimed => {
                    // What was published a moment before the process died is a message: the next look finds it.
                    let void = run.state(Kind::Void);
                    let step =
                        slot.compare_exchange(state, void, Ordering::SeqCst, Ordering::SeqCst);
                    if step.is_err() {
                        continue;
                    }
                    cursor.abandoned.set(cursor.abandoned.get() + run.len());
                }
                Kind::Impossible => {
                    outcome = Err(Nothing::Corrupt);
                    break;
                }
            }
            cursor.head.set(behind);
            is_passed = true;
        }
        if is_passed && cursor.held.get() == 0 {
            if !self.give_back(cursor) {
                outcome = Err(Nothing::Corrupt);
            }
            self.freed();
        }
        outcome
    }

    /// So many messages that were taken are read. When no other one is held, all slots before the head are free for the next lap, by one step; senders
    /// that wait are not told: [`freed`](Ring::freed) does that, for one or many. `false` if another process has written something else there.
    #[inline]
    fn free(&self, cursor: &Cursor, count: u32) -> bool {
        let held = cursor.held.get() - count;
        cursor.held.set(held);
        held > 0 || self.give_back(cursor)
    }

    /// As [`free`](Ring::free), of one that was taken while another one is in use: the next receiver passes over it, if this one dies before that is given
    /// back, too.
    #[cold]
    fn free_before_another(&self, position: Position) {
        let run = Run::single(position);
        if let Some(index) = self.track().index(position) {
            let (full, void) = (run.state(Kind::Full), run.state(Kind::Void));
            let slot = self.state(index);
            let _ = slot.compare_exchange(full, void, Ordering::SeqCst, Ordering::Relaxed);
        }
    }

    /// The message at this position, which was taken, is read: as [`free`](Ring::free).
    #[inline]
    fn free_at(&self, cursor: &Cursor, position: Position) -> bool {
        if cursor.held.get() > 1 {
            self.free_before_another(position);
        }
        self.free(cursor, 1)
    }

    /// A receiver whose process counts as dead may come so late that the next one has received again what it had taken, and this is no blind exchange
    /// for that.
    #[inline]
    fn give_back(&self, cursor: &Cursor) -> bool {
        let now = given(cursor.head.get(), cursor.ready.get(), cursor.by);
        let before = cursor.given.replace(now);
        // SYNC ring-free, and the bell's.
        let head = &self.control().seldom.given.head;
        head.compare_exchange(before, now, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// Slots were freed: wakes senders that wait.
    #[inline]
    fn freed(&self) {
        self.control().senders.ring();
    }

    /// Whether a slot could be claimed now, or something is wrong, which a claim would tell.
    fn has_room(&self) -> bool {
        let track = self.track();
        let mut tail = self.control().tail.load(Ordering::SeqCst);
        for _ in 0..track.capacity() + MORE_STEPS {
            let Some(index) = track.index(tail) else {
                return true;
            };
            let slot = self.state(index);
            let mut state = slot.load(Ordering::SeqCst);
            if !is_not_before(state >> POSITION_SHIFT, tail) {
                match self.room(tail, 1) {
                    Some(room) => return room > 0,
                    None => match passed_since(slot, state) {
                        Ok(now) => state = now,
                        Err(_) => return true,
                    },
                }
            }
            if is_not_before(state >> POSITION_SHIFT, tail) {
                tail = match self.behind(tail, state) {
                    Ok(next) => next,
                    Err(_) => return true,
                };
            }
        }
        // Others were quicker each time.
        true
    }

    /// As [`claim`](Ring::claim), after waiting for a slot. `others` are further words that end a sleep.
    fn wait_to_claim<'a, Others>(
        &'a self,
        claimant: Claimant,
        most: u64,
        wait: Wait,
        deadline: Option<Instant>,
        others: impl Fn() -> Others,
    ) -> Result<Run, Refusal>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        let mut outcome = Err(Refusal::Full);
        let is_there = || {
            outcome = if self.has_receiver() {
                self.claim(claimant, most)
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

    /// As [`find`](Ring::find), and says if there will be no more.
    fn find_or_end(&self, cursor: &Cursor) -> Result<(), Nothing> {
        match self.find(cursor) {
            Err(Nothing::Empty) if !self.has_senders() => match self.find(cursor) {
                // The last sender has ended before this second look: what it had published was seen.
                Err(Nothing::Empty) => Err(Nothing::Closed),
                found => found,
            },
            found => found,
        }
    }

    /// Waits until the next message is there. `others` are further words that end a sleep.
    fn wait_to_find<'a, Others>(
        &'a self,
        cursor: &Cursor,
        wait: Wait,
        deadline: Option<Instant>,
        others: impl Fn() -> Others,
    ) -> Result<(), Nothing>
    where
        Others: Iterator<Item = (&'a Futex, u32, Scope)>,
    {
        let mut outcome = Err(Nothing::Empty);
        let mut looks = 0_u32;
        // Set before each sleep, for the look that decides it.
        let is_about_to_sleep = Cell::new(false);
        let is_there = || {
            let asks = is_about_to_sleep.take() || looks.is_multiple_of(LOOKS_PER_QUESTION);
            looks = looks.wrapping_add(1);
            outcome = if asks {
                self.find_or_end(cursor)
            } else {
                self.find(cursor)
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

    /// Where a receiver goes on that has come after another: at what that had not given back. From here on that one gives back nothing.
    fn take_over(&self, by: Claimant) -> Option<Cursor> {
        let head = &self.control().seldom.given.head;
        // A process that writes here all the time is not waited for.
        for _ in 0..MORE_STEPS {
            // SYNC ring-free
            let word = head.load(Ordering::SeqCst);
            let position = word >> POSITION_SHIFT;
            let ready = (word >> LENGTH_SHIFT) as u32 % MOST_AT_ONCE as u32;
            let index = self.track().index(position)? as u64;
            if index + u64::from(ready) > self.track().capacity() {
                return None;
            }
            let taken = given(position, ready, by);
            let step = head.compare_exchange(word, taken, Ordering::SeqCst, Ordering::SeqCst);
            if step.is_ok() {
                return Some(Cursor::new(position, ready, by));
            }
        }
        None
    }

    /// Looks at what is given back, before the first claim of a process.
    fn begin(&self) {
        let tail = self.control().tail.load(Ordering::SeqCst);
        // A full ring, until that is known better.
        let before = tail.wrapping_sub(self.track().lap);
        self.seen().store(before, Ordering::Release);
    }

    /// How many slots are claimed or full from this position on, as far as the tail tells.
    fn len_from(&self, head: Position) -> u64 {
        let tail = self.control().tail.load(Ordering::SeqCst);
        if !is_not_before(tail, head) {
            return 0;
        }
        let track = self.track();
        track.between(head, tail).min(track.capacity())
    }
}

/// What a slot holds now that the receiver has passed a position at which it did not look claimed: it was claimed since.
#[cold]
fn passed_since(slot: &AtomicU64, state: u64) -> Result<u64, Refusal> {
    match slot.load(Ordering::SeqCst) {
        now if now == state => Err(Refusal::Corrupt),
        now => Ok(now),
    }
}
