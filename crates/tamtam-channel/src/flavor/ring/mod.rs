//! Bounded channels: a ring of cells.
//!
//! Senders claim a position by one compare-and-swap on the tail and then write the cell; the cell's
//! stamp says that it is written (after Dmitry Vyukov's bounded MPMC queue). Receivers take turns by
//! a lock bit in the head and publish the new head when the message is out. In contrast to the
//! usual design a receiver never writes a cell: a sender learns from the head that cells are free, and
//! looks at it only when the head it saw last says that the ring is full. So a cache line of cells
//! crosses between cores twice a lap instead of three times, and the head a few times a lap.
//!
//! A message is in the channel from the moment its position is claimed; a receiver that meets a
//! claimed and unwritten cell waits for its writer.

mod batch;
mod overflow;
mod reservation;

use core::mem::MaybeUninit;
use std::time::Instant;

use tamtam_wait::seam::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use tamtam_wait::seam::{self, CacheAligned, Mutex, UnsafeCell};
use tamtam_wait::{Context, Patience, Source, Token, Wait, WaitList};

use super::pace::{Pace, interval_for};
use super::queue::{Queue, Taken};
use super::{Nothing, Refusal};
use crate::overflow::Overflow;
use crate::source::in_list;

/// In the tail: closed. In the head: a receiver is at work. In a stamp: written.
const FLAG: usize = 1;
/// In the tail: permits are out (or the ring is `exact`), and a sender that claims has to take their lock.
const RESERVED: usize = 2;
/// What is no position in a tail.
const BITS: usize = FLAG | RESERVED;
/// How far up the index begins.
const SHIFT: u32 = 2;

/// Who sends or receives at a position without these bits says on which processor.
const MEETING: usize = 0xF << SHIFT;
/// So many positions lie between two of those, at most.
const BETWEEN_MEETINGS: usize = 16;

struct RingCell<T> {
    /// The position whose message is inside, with the flag; anything else: not yet written.
    stamp: AtomicUsize,
    message: UnsafeCell<MaybeUninit<T>>,
}

struct Tail {
    position: AtomicUsize,
    /// The head as a sender saw it last: not newer than the head itself.
    head_seen: AtomicUsize,
    /// How many messages were dropped for want of room.
    dropped: AtomicU64,
    /// For how many messages to come room is kept.
    permits: Mutex<usize>,
}

struct RingHead {
    position: AtomicUsize,
    pace: Pace,
}

/// A bounded channel of capacity one or more.
///
/// A *position* is lap and index in one word, above two bits for flags: the index in the low bits, and
/// the lap above it grows by one whenever the index goes back to zero.
pub(crate) struct Ring<T> {
    tail: CacheAligned<Tail>,
    head: CacheAligned<RingHead>,
    cells: Box<[RingCell<T>]>,
    /// What a lap adds to a position.
    lap: usize,
    overflow: Overflow,
    /// Each sender looks how many messages there are, for the high-water mark: then all of them claim as if
    /// permits were out.
    exact: bool,
    /// Discarding was cut short by a panic.
    abandoned: AtomicBool,
    receivers: WaitList,
    senders: WaitList,
}

// SAFETY: messages move through the ring from one thread to another; a claimed position gives its
// cell to one sender, the head's lock bit to one receiver.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: senders claim positions by atomic steps, and receivers take under the head's lock bit; messages only move.
unsafe impl<T: Send> Sync for Ring<T> {}

/// A position that a sender has claimed and must fill.
#[must_use = "receivers wait for a claimed cell to be written"]
pub(crate) struct Claim(usize);

impl<T> Ring<T> {
    pub(crate) fn new(capacity: usize, overflow: Overflow, exact: bool) -> Self {
        assert!(capacity > 0, "a ring has room for one message at least");
        // Two bits are flags and one more must be left for the lap.
        assert!(
            capacity <= usize::MAX >> 4,
            "capacity overflow: a channel cannot be bounded by {capacity}"
        );
        let mut cells = Vec::new();
        assert!(
            cells.try_reserve_exact(capacity).is_ok(),
            "out of memory: a channel cannot be bounded by {capacity}"
        );
        cells.extend((0..capacity).map(|_| RingCell {
            stamp: AtomicUsize::new(0),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        }));
        let lap = (capacity + 1).next_power_of_two() << SHIFT;
        // Positions wrap, so they may begin in any lap: a fresh cell's stamp is that of none. In builds that are
        // to see the wrap it is the last one before.
        let first = if cfg!(tamtam_near_wrap) {
            lap.wrapping_neg()
        } else {
            lap
        };
        Ring {
            tail: CacheAligned(Tail {
                position: AtomicUsize::new(first | if exact { RESERVED } else { 0 }),
                head_seen: AtomicUsize::new(first),
                dropped: AtomicU64::new(0),
                permits: Mutex::new(0),
            }),
            head: CacheAligned(RingHead {
                position: AtomicUsize::new(first),
                pace: Pace::new(interval_for(capacity)).holding::<T>(capacity),
            }),
            cells: cells.into_boxed_slice(),
            lap,
            overflow,
            exact,
            abandoned: AtomicBool::new(false),
            receivers: WaitList::new(),
            senders: WaitList::chained(),
        }
    }

    #[inline(always)]
    fn cell(&self, position: usize) -> &RingCell<T> {
        let index = (position & (self.lap - 1)) >> SHIFT;
        debug_assert!(index < self.cells.len());
        // SAFETY: positions are only made by `new` and `next`, whose indices are below the number of
        // cells.
        unsafe { self.cells.get_unchecked(index) }
    }

    #[inline(always)]
    fn next(&self, position: usize) -> usize {
        let index = (position & (self.lap - 1)) >> SHIFT;
        if index + 1 < self.cells.len() {
            position + (1 << SHIFT)
        } else {
            (position & !(self.lap - 1)).wrapping_add(self.lap)
        }
    }

    /// How many messages lie between a head and a tail of one moment.
    fn distance(&self, head: usize, tail: usize) -> usize {
        if tail.wrapping_sub(head) > self.lap {
            // Another sender is displacing the oldest message.
            return self.cells.len();
        }
        let mask = self.lap - 1;
        let (head_index, tail_index) = ((head & mask) >> SHIFT, (tail & mask) >> SHIFT);
        if tail == head {
            0
        } else if tail_index > head_index {
            tail_index - head_index
        } else {
            self.cells.len() - head_index + tail_index
        }
    }

    /// Claims the next position.
    #[inline]
    pub(crate) fn claim(&self) -> Result<Claim, Refusal> {
        let mut tail = self.tail.position.load(Ordering::Relaxed);
        loop {
            if tail & BITS != 0 {
                return self.claim_with_care();
            }
            // SYNC head-seen: the sender that stored it had acquired that head.
            let seen = self.tail.head_seen.load(Ordering::Acquire);
            if tail.wrapping_sub(seen) >= self.lap {
                // SYNC ring-head: the receiver is done with the cells before it.
                let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
                if head != seen {
                    // SYNC head-seen
                    self.tail.head_seen.store(head, Ordering::Release);
                }
                if tail.wrapping_sub(head) >= self.lap {
                    // Full, if the tail is still the one that was compared with this head.
                    let now = self.tail.position.load(Ordering::Relaxed);
                    if now == tail {
                        return Err(Refusal::Full);
                    }
                    tail = now;
                    continue;
                }
            }
            // Sequentially consistent: a receiver that registers and then looks at the tail must
            // see this claim, or we see it among those who wait.
            match self.tail.position.compare_exchange_weak(
                tail,
                self.next(tail),
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Ok(Claim(tail)),
                Err(now) => {
                    tail = now;
                    seam::spin_loop();
                }
            }
        }
    }

    /// Looks how many messages there are up to this position, for the high-water mark. The caller has
    /// just claimed up to it, or holds the receivers' lock.
    fn look(&self, tail: usize) {
        let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
        // If others were so fast that the claimed message is out, there is nothing to count.
        if tail.wrapping_sub(head) <= self.lap {
            self.head.pace.saw(self.distance(head, tail));
        }
    }

    /// Looks how many messages there are, for the high-water mark.
    #[cold]
    #[inline(never)]
    fn sample(&self) {
        // Not `len`, which would chase a fast sender's tail. With a newer head it is too low, if anything.
        self.look(self.tail.position.load(Ordering::Relaxed) & !BITS);
    }

    /// Fills a claimed cell and wakes a receiver if one sleeps.
    #[inline]
    pub(crate) fn write(&self, claim: Claim, message: T) {
        let cell = self.cell(claim.0);
        cell.message.with_mut(|place| {
            // SAFETY: the position was claimed by this thread alone, and the head that allowed the
            // claim says that the cell's last message is out.
            unsafe { (*place).write(message) };
        });
        // SYNC ring-stamp: the message is written.
        cell.stamp.store(claim.0 | FLAG, Ordering::Release);
        if claim.0 & MEETING == 0 {
            self.receivers.habit().meet();
        }
        self.receivers.notify_one();
    }

    /// Takes the receivers' lock if the oldest message is there to be taken: its position and cell.
    #[inline(always)]
    fn lock_mail(&self) -> Result<(usize, &RingCell<T>), Nothing> {
        let head = self.head.position.load(Ordering::Relaxed);
        if head & FLAG != 0 {
            return Err(Nothing::Busy);
        }
        let cell = self.cell(head);
        // SYNC ring-stamp. Looking before locking keeps waiting receivers out of each other's way. A
        // stamp that is right stays right until the head moves on, and then locking it fails.
        if cell.stamp.load(Ordering::Acquire) != head | FLAG {
            return Err(Nothing::Busy);
        }
        if self.lock_head(head) {
            Ok((head, cell))
        } else {
            Err(Nothing::Busy)
        }
    }

    /// Takes the receivers' lock if this is still the head.
    #[inline(always)]
    fn lock_head(&self, head: usize) -> bool {
        // Sequentially consistent: a sender that registers and then looks at the head must see the
        // lock bit, or we see it among those who wait.
        self.head
            .position
            .compare_exchange(head, head | FLAG, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// Takes the message at the head, which goes on behind it. Its only local of the message's size is the result: so it is that place
    /// into which the message is copied.
    ///
    /// # Safety
    ///
    /// [`lock_mail`](Self::lock_mail) has returned this position and cell.
    #[inline(always)]
    unsafe fn take_locked<R>(
        &self,
        head: usize,
        cell: &RingCell<T>,
        received: impl FnOnce(T) -> R,
    ) -> R {
        let message = cell.message.with_mut(|place| {
            // SAFETY: the stamp says that the message of this very position is written, and the
            // lock bit that no other thread takes it.
            received(unsafe { (*place).assume_init_read() })
        });
        self.head.pace.count(1);
        // SYNC ring-head: the cell may be written again.
        self.head.position.store(self.next(head), Ordering::Release);
        if head & MEETING == 0 {
            self.senders.habit().meet();
            // Not before the new head is out: what is put between slows a stream down by half.
            if self.head.pace.is_due(BETWEEN_MEETINGS) {
                self.sample();
            }
        }
        self.senders.notify_one();
        message
    }

    /// Closes the ring for senders; `false` if it was closed. Messages that are in it can still be
    /// received.
    pub(crate) fn close(&self) -> bool {
        let before = self.tail.position.fetch_or(FLAG, Ordering::SeqCst);
        self.head.pace.note_closed();
        self.senders.notify_all();
        self.receivers.notify_all();
        before & FLAG == 0
    }

    /// Sends the message, if there is room for it; else leaves it.
    pub(crate) fn send_from(&self, message: &mut Option<T>) -> Result<(), Refusal> {
        let claim = self.claim()?;
        match message.take() {
            Some(message) => self.write(claim, message),
            None => unreachable!("a message is sent once"),
        }
        Ok(())
    }

    /// Sends the message into a ring that had no room just now, after waiting for some.
    ///
    /// It is the attempt that writes: one that was chosen tells the next sender of room that is left, which may be a task and so user code, and of that none
    /// runs between a claim and its message.
    #[inline(never)]
    pub(crate) fn wait_to_send(
        &self,
        message: T,
        wait: Wait,
        deadline: Option<Instant>,
    ) -> Result<(), (T, Refusal)> {
        let mut message = Some(message);
        let sent = self.wait_for_room(wait, deadline, || self.send_from(&mut message));
        match (sent, message) {
            (Err(refusal), Some(message)) => Err((message, refusal)),
            _ => Ok(()),
        }
    }

    /// Attempts something until it is not refused for want of room, or until the deadline.
    fn wait_for_room<R>(
        &self,
        wait: Wait,
        deadline: Option<Instant>,
        mut attempt: impl FnMut() -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        // Where many messages fit, a sender that finds it full may as well leave the receivers alone for
        // a while: its message has to wait for all of those anyway.
        let rest = Patience::REST * (self.cells.len() / 16).clamp(1, 8) as u32;
        self.senders
            .wait_resting_until(
                rest,
                wait,
                deadline,
                |_| match attempt() {
                    Err(Refusal::Full) => None,
                    decided => Some(decided),
                },
                || self.has_room(),
            )
            .unwrap_or(Err(Refusal::Full))
    }

    /// A waiting sender's second look. A receiver at work counts: it may have looked for waiting
    /// senders already.
    fn has_room(&self) -> bool {
        seam::model_fence();
        let tail = self.tail.position.load(Ordering::SeqCst);
        let head = self.head.position.load(Ordering::SeqCst);
        if (tail | head) & FLAG != 0 {
            true
        } else if tail & RESERVED != 0 {
            self.has_room_beside_permits()
        } else {
            tail.wrapping_sub(head) != self.lap
        }
    }

    /// Whether a sender would find room now, or learn that the ring is closed.
    fn is_ready(&self) -> bool {
        let tail = self.tail.position.load(Ordering::SeqCst);
        match tail & BITS {
            0 => !self.is_full(),
            RESERVED => self.has_room_beside_permits(),
            _ => true,
        }
    }

    /// The place that the next message to be received has, if the ring is full, and open: two calls with the same place say that it was full between
    /// them. None where that cannot be told at once.
    fn full_since(&self) -> Option<u64> {
        // Tail first: if it is a lap ahead, the ring was full when the head was read. Permits that are given back make room, too.
        let tail = seam::load_of_its_own(&self.tail.position);
        let head = seam::load_of_its_own(&self.head.position);
        let is_full = tail & BITS == 0 && head & FLAG == 0 && tail.wrapping_sub(head) == self.lap;
        is_full.then_some(head as u64)
    }

    pub(crate) fn is_full(&self) -> bool {
        let tail = self.tail.position.load(Ordering::SeqCst) & !BITS;
        let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
        // A lap ahead, or one position more while the oldest message is being displaced. If the head is
        // newer than the tail, the difference is huge.
        (self.lap..=2 * self.lap).contains(&tail.wrapping_sub(head))
    }

    /// One who was chosen to get room has arrived, and attempts to take it.
    pub(crate) fn arrive<R>(
        &self,
        context: &Context,
        attempt: impl FnOnce() -> Option<R>,
    ) -> Option<R> {
        let passes_on = self.senders.arrive_as(context);
        let begun = attempt();
        if begun.is_some() && passes_on {
            self.senders.pass_on(|| self.has_room());
        }
        begun
    }

    pub(crate) fn capacity(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn sending(&self) -> RingSending<'_, T> {
        RingSending(self)
    }
}

impl<T> Queue for Ring<T> {
    type Message = T;

    #[inline]
    fn receive_as<R>(&self, received: impl FnOnce(T) -> R, otherwise: impl FnOnce() -> R) -> R {
        match self.lock_mail() {
            // SAFETY: the head is locked, and the message of its cell is written.
            Ok((head, cell)) => unsafe { self.take_locked(head, cell, received) },
            Err(_) => otherwise(),
        }
    }

    fn receive_many(&self, messages: &mut Vec<T>, room: usize) -> Result<Taken, Nothing> {
        self.take_batch(messages, room)
    }

    fn why_nothing(&self) -> Nothing {
        // Head first: if the tail is not ahead of it, the ring was empty then.
        let head = self.head.position.load(Ordering::SeqCst);
        let tail = self.tail.position.load(Ordering::SeqCst);
        if tail & !BITS != head {
            Nothing::Busy
        } else if tail & FLAG != 0 {
            Nothing::Closed
        } else {
            Nothing::Empty
        }
    }

    fn len(&self) -> usize {
        loop {
            let tail = self.tail.position.load(Ordering::SeqCst);
            let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
            if self.tail.position.load(Ordering::SeqCst) == tail {
                return self.distance(head, tail & !BITS);
            }
        }
    }

    fn has_mail(&self) -> bool {
        seam::model_fence();
        let head = self.head.position.load(Ordering::SeqCst);
        // A closed tail counts, too.
        self.tail.position.load(Ordering::SeqCst) & !RESERVED != head & !FLAG
    }

    fn is_empty(&self) -> bool {
        let head = self.head.position.load(Ordering::SeqCst) & !FLAG;
        let tail = self.tail.position.load(Ordering::SeqCst) & !BITS;
        head == tail
    }

    fn is_closed(&self) -> bool {
        self.tail.position.load(Ordering::SeqCst) & FLAG != 0
    }

    fn empty_since(&self) -> Option<u64> {
        // Head first, as in `why_nothing`. A receiver at work is about to move it.
        let head = seam::load_of_its_own(&self.head.position);
        let tail = seam::load_of_its_own(&self.tail.position);
        let is_empty = (head | tail) & FLAG == 0 && tail & !RESERVED == head;
        is_empty.then_some(head as u64)
    }

    fn receivers(&self) -> &WaitList {
        &self.receivers
    }

    fn pace(&self) -> &Pace {
        &self.head.pace
    }

    fn abandoned(&self) -> &AtomicBool {
        &self.abandoned
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // No other thread is left. A cell that was claimed and never written is passed over.
        let abandoned = self.abandoned.load(Ordering::Relaxed);
        let tail = self.tail.position.load(Ordering::Relaxed) & !BITS;
        let mut head = self.head.position.load(Ordering::Relaxed) & !FLAG;
        while head != tail {
            let cell = self.cell(head);
            let next = self.next(head);
            // First the head, so that a panic in a message's drop does not make us drop it twice.
            self.head.position.store(next, Ordering::Relaxed);
            if !abandoned && cell.stamp.load(Ordering::Relaxed) == head | FLAG {
                drop(cell.message.with_mut(|place| {
                    // SAFETY: the stamp says that it is written, and it was not received.
                    unsafe { (*place).assume_init_read() }
                }));
            }
            head = next;
        }
    }
}

/// Sending into a ring, as something to wait for.
pub(crate) struct RingSending<'a, T>(&'a Ring<T>);

impl<T> Source for RingSending<'_, T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        match self.0.claim() {
            Err(Refusal::Full) => false,
            decided => {
                token.put(decided);
                true
            }
        }
    }

    in_list!(this => this.0.senders, this.0.has_room());

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        self.0
            .arrive(context, || self.try_begin(token).then_some(()))
            .is_some()
    }

    fn decline(&self, _: &Context) {
        self.0.senders.decline(|| self.0.has_room());
    }

    unsafe fn abandon(&self, _: &mut Token) {
        unreachable!("a future fills the position that it has claimed at once")
    }

    fn is_ready(&self) -> bool {
        self.0.is_ready()
    }

    fn unready_since(&self) -> Option<u64> {
        self.0.full_since()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// A sender sleeps only where this says no, so it says yes beside a receiver that is just taking, after whose look for
    /// sleepers the sender may have come, and of a closed ring, full or not.
    #[test]
    fn a_sender_about_to_sleep_looks_again_beside_a_receiver_at_work_and_when_it_is_closed() {
        let full = || {
            let ring = Ring::new(1, Overflow::Wait, false);
            assert!(ring.has_room());
            let claim = ring.claim().expect("it is empty");
            ring.write(claim, 7);
            assert!(!ring.has_room());
            ring
        };
        let ring = full();
        let (head, cell) = ring.lock_mail().expect("it has a message");
        assert!(ring.has_room(), "a receiver is at work");
        assert!(ring.close());
        assert!(ring.has_room(), "closed, and a receiver is at work");
        // SAFETY: the position and the cell are those that `lock_mail` has returned.
        let taken = unsafe { ring.take_locked(head, cell, |message| message) };
        assert_eq!(taken, 7);
        assert!(ring.has_room(), "closed and empty");

        let ring = full();
        assert!(ring.close());
        assert!(ring.has_room(), "closed and full");
    }
}
