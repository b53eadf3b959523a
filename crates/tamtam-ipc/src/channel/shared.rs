//! The memory of a channel, and its two kinds of ends, whatever the messages are.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tamtam_wait::{Futex, Scope, Source, Token, Wait};

use crate::arena::{Arena, ArenaPlace, Identity};
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::home::Home;
use crate::occupant::{NONE, ON_ITS_WAY, Occupant, Role};
use crate::party::{self, Stay};
use crate::ring::{
    COUNT_BITS, Claimant, Control, Cursor, MOST_AT_ONCE, MOST_SLOTS, Nothing, Position, Refusal,
    Ring, Run, Track,
};
use crate::segment::{LARGEST_SEGMENT, Segment};
use crate::tenancy::{MOST_HOLDERS, Tenancy};
use crate::wake::{Waiters, waits_at};

/// What the control takes, in front of the slots.
const CONTROL: usize = size_of::<Control>();
/// What is in front of the slots: who has the channel, and the control.
const FRONT: usize = size_of::<Tenancy>() + CONTROL;
/// What a slot's state takes, in front of the message.
const STATE: usize = size_of::<AtomicU64>();
/// Slots begin on cache lines of their own.
const LINE: usize = 64;

/// After so many messages of a batch the receiver is told of them, or they are given back.
const MESSAGES_PER_RING: usize = MOST_AT_ONCE as usize;

/// How many channels this process has had.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Another process has written what cannot be: nothing that comes from there is believed any more.
const CORRUPT: u8 = 1;
/// The receiving end of this process is in a message to another one.
pub(super) const AWAY: u8 = 2;

/// The control of a channel whose home is large enough for it.
fn control_of(home: &Home) -> &Control {
    let control = home.extent().0 + size_of::<Tenancy>();
    // SAFETY: `place` sees that it lies in the segment; zeroes and any other bytes are a control, and all access to it is atomic.
    unsafe { home.segment().place::<Control>(control).as_ref() }
}

/// A channel's memory as this process has it.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Tasks and selecting threads of this process that wait for a message.
    receiving: Waiters,
    /// Tasks and selecting threads of this process that wait for room.
    sending: Waiters,
    home: Home,
    /// The first slot.
    slots: NonNull<u8>,
    /// From a slot to the next one.
    stride: usize,
    track: Track,
    /// Bytes of a message at most.
    largest: usize,
    claimant: Claimant,
    /// What this process has last seen to be given back.
    seen: AtomicU64,
    pub(super) role: Role,
    /// [`CORRUPT`], [`AWAY`].
    pub(super) state: AtomicU8,
    /// It is counted among those that have the channel.
    holds: bool,
}

// SAFETY: the pointer leads into the segment, which is there as long as this is; the states say which end each slot belongs to, and messages are
// copied by functions that other processes may race with.
unsafe impl Send for Shared {}
// SAFETY: the pointer leads into the segment, which is there as long as this is; the states say which end each slot belongs to, and messages are
// copied by functions that other processes may race with.
unsafe impl Sync for Shared {}

/// From a slot to the next, for messages of so many bytes; and the bytes of all.
fn layout(track: Track, message: usize) -> Option<(usize, usize)> {
    let stride = message.checked_add(STATE)?.checked_next_multiple_of(LINE)?;
    let slots = usize::try_from(track.capacity())
        .ok()?
        .checked_mul(stride)?;
    Some((stride, slots.checked_add(FRONT)?))
}

impl Shared {
    /// New memory, or that of an arena, for so many messages of a shape, each of so many bytes at most, which lie in a slot behind so many more.
    pub(crate) fn create(
        arena: Option<&Arena>,
        shape: Shape,
        capacity: usize,
        before: usize,
        largest: usize,
    ) -> Result<(Arc<Self>, Cursor), CreateError> {
        let too_large = CreateError::TooLarge { bytes: usize::MAX };
        let Some(track) = Track::new(capacity.max(1) as u64) else {
            return Err(too_large);
        };
        let layout = largest
            .checked_add(before)
            .and_then(|message| layout(track, message));
        let Some((stride, bytes)) = layout else {
            return Err(too_large);
        };
        let capacity = track.capacity();
        let shape = Shape { capacity, ..shape };
        let home = match arena {
            None => Home::Segment(Segment::create(Kind::Channel, shape, bytes)?),
            Some(arena) => Home::Region(arena.take(Kind::Channel, shape, bytes)?),
        };
        let control = control_of(&home);
        control
            .seldom
            .largest
            .store(largest as u64, Ordering::Relaxed);
        control.seldom.receiver.store(NONE, Ordering::Relaxed);
        home.tenancy().begin(home.generation());
        let shared = Shared::new(home, track, stride, largest);
        if !shared.holds {
            // Another process has written into it already.
            shared.set_corrupt();
        }
        let cursor = shared.prepare(shared.claimant);
        shared.begin();
        Ok((Arc::new(shared), cursor))
    }

    /// Memory that another process has made, in which messages lie in a slot behind so many bytes.
    pub(crate) fn attach(
        memory: OwnedFd,
        shape: Shape,
        before: usize,
    ) -> Result<Arc<Self>, AttachError> {
        let segment = Segment::attach(memory, Kind::Channel, &shape)?;
        Shared::found(Home::Segment(segment), before)
    }

    /// What is at a place of an arena, in which messages lie in a slot behind so many bytes.
    pub(crate) fn attach_at(
        arena: &Arena,
        place: ArenaPlace,
        shape: Shape,
        before: usize,
    ) -> Result<Arc<Self>, AttachError> {
        Shared::found(
            Home::Region(arena.region(place, Kind::Channel, &shape)?),
            before,
        )
    }

    /// What another process has made.
    fn found(home: Home, before: usize) -> Result<Arc<Self>, AttachError> {
        let track = Track::new(home.capacity()).ok_or(AttachError::NotOurs)?;
        let (_, bytes) = home.extent();
        if bytes < FRONT {
            return Err(AttachError::NotOurs);
        }
        let largest = control_of(&home).seldom.largest.load(Ordering::Relaxed);
        let largest = usize::try_from(largest).map_err(|_| AttachError::NotOurs)?;
        let layout = largest
            .checked_add(before)
            .and_then(|message| layout(track, message));
        match layout {
            Some((stride, needed)) if needed == bytes => {
                let shared = Shared::new(home, track, stride, largest);
                if shared.holds {
                    shared.begin();
                    Ok(Arc::new(shared))
                } else {
                    Err(AttachError::Over)
                }
            }
            _ => Err(AttachError::NotOurs),
        }
    }

    /// Of a home that was seen to be so large. It does not hold it if there is another channel by now.
    fn new(home: Home, track: Track, stride: usize, largest: usize) -> Self {
        let Stay { place, count } = home.segment().member().stay();
        let (begin, _) = home.extent();
        Shared {
            slots: home.segment().place(begin + FRONT),
            stride,
            track,
            largest,
            claimant: Claimant::new(place, count),
            seen: AtomicU64::new(0),
            receiving: Waiters::new(),
            sending: Waiters::new(),
            role: Role::new(place, count, SERIAL.fetch_add(1, Ordering::Relaxed)),
            state: AtomicU8::new(0),
            holds: home.enter(),
            home,
        }
    }

    /// Where it lies in its arena, if it lies in one.
    pub(crate) fn place(&self) -> Option<ArenaPlace> {
        self.home.place()
    }

    /// Which arena it lies in.
    pub(crate) fn arena(&self) -> Option<Identity> {
        self.home.arena()
    }

    /// How many bytes a message has at most.
    #[inline]
    pub(crate) fn largest(&self) -> usize {
        self.largest
    }

    pub(crate) fn capacity(&self) -> usize {
        self.track.capacity() as usize
    }

    pub(crate) fn memory(&self) -> BorrowedFd<'_> {
        self.home.segment().memory()
    }

    pub(crate) fn is_corrupt(&self) -> bool {
        self.state.load(Ordering::Relaxed) & CORRUPT != 0
    }

    #[cold]
    pub(crate) fn set_corrupt(&self) {
        self.state.fetch_or(CORRUPT, Ordering::Relaxed);
    }

    /// Where a slot begins.
    #[inline]
    fn slot(&self, index: usize) -> NonNull<u8> {
        assert!((index as u64) < self.track.capacity());
        // SAFETY: the segment has so many slots with this stride, as was seen when it was made or attached.
        unsafe { self.slots.add(index * self.stride) }
    }

    /// Where the message of a position lies, with what is before it: in a slot of this channel whatever the position is. Aligned to eight bytes.
    #[inline]
    pub(crate) fn message(&self, position: Position) -> NonNull<u8> {
        let index = self.track.index(position).unwrap_or(0);
        // SAFETY: the state is followed by the message, in the same slot.
        unsafe { self.slot(index).add(STATE) }
    }

    /// Those who sleep look again, and then sleep on the life of this process, too.
    fn ring_all(&self) {
        self.control().receiver.ring();
        self.control().senders.ring();
    }

    /// The lives of all other processes, to sleep on. The kernel wakes one sleeper only, who wakes the rest when it looks; and that one may be
    /// dying, too, which then ends the sleep of another.
    fn lives(&self) -> impl Iterator<Item = (&Futex, u32, Scope)> {
        let segment = self.home.segment();
        party::lives(segment.parties(), segment.member().stay())
    }

    /// Whether a party lives that was in this place when it had been freed so often.
    fn lives_there(&self, place: u32, count: u32) -> bool {
        party::is_alive(self.home.segment().parties(), Stay { place, count })
    }

    pub(super) fn occupant(&self) -> &AtomicU64 {
        &self.control().seldom.receiver
    }

    /// This process receives from now on, if no other one does.
    fn occupy(&self) -> Result<(), AttachError> {
        let is_alive = |place, count| self.lives_there(place, count);
        // A process that writes here all the time is not waited for.
        let most = party::PARTIES;
        if self.role.occupy(self.occupant(), is_alive, most) {
            Ok(())
        } else {
            Err(AttachError::HasReceiver)
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.holds {
            self.home.tenancy().leave(self.home.tenant());
        }
    }
}

impl Ring for Shared {
    #[inline]
    fn control(&self) -> &Control {
        // SAFETY: the control lies right before the slots, in the same segment, and all access to it is atomic.
        unsafe { self.slots.sub(CONTROL).cast::<Control>().as_ref() }
    }

    #[inline]
    fn track(&self) -> Track {
        self.track
    }

    #[inline]
    fn state(&self, index: usize) -> &AtomicU64 {
        // SAFETY: a slot begins with its state, aligned to a cache line, and all access to it is atomic.
        unsafe { self.slot(index).cast::<AtomicU64>().as_ref() }
    }

    #[inline]
    fn seen(&self) -> &AtomicU64 {
        &self.seen
    }

    fn is_alive(&self, claimant: Claimant) -> bool {
        let party = self.home.segment().parties().get(claimant.place as usize);
        let life = party.and_then(|party| party.look());
        life.is_some_and(|(_, count)| count % (1 << COUNT_BITS) == claimant.count)
    }

    #[inline]
    fn has_receiver(&self) -> bool {
        match Occupant::of(self.occupant().load(Ordering::SeqCst)) {
            Occupant::None => false,
            Occupant::OnItsWay => true,
            Occupant::Receives(place, count) | Occupant::Sent(place, count) => {
                self.lives_there(place, count)
            }
        }
    }

    fn has_senders(&self) -> bool {
        let segment = self.home.segment();
        let stays = |place, count| segment.stays(place, count);
        self.home.tenancy().has_senders(stays)
    }
}

/// The moment that lies so far ahead; none if the clock does not reach it.
pub(crate) fn after(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// Memory with two ends in this process.
pub(crate) fn ends((shared, cursor): (Arc<Shared>, Cursor)) -> (SendingEnd, ReceivingEnd) {
    shared.role.begin(shared.occupant());
    (
        SendingEnd::new(Arc::clone(&shared)),
        ReceivingEnd::new(shared, cursor),
    )
}

/// One that sends: counted among those of its party.
#[derive(Debug)]
pub(crate) struct SendingEnd {
    pub(super) shared: Arc<Shared>,
    pub(crate) wait: Wait,
}

impl SendingEnd {
    fn new(shared: Arc<Shared>) -> Self {
        shared.home.tenancy().add_sender(shared.home.tenant());
        SendingEnd {
            shared,
            wait: Wait::Adaptive,
        }
    }

    pub(crate) fn attach(shared: Arc<Shared>) -> Self {
        let end = SendingEnd::new(shared);
        end.shared.ring_all();
        end
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Whether a process receives, or will soon.
    pub(crate) fn is_open(&self) -> bool {
        !self.shared.is_corrupt() && self.shared.has_receiver()
    }

    /// A slot for a message, if one is free.
    #[inline]
    pub(crate) fn try_claim(&self) -> Result<Position, Refusal> {
        Ok(self.try_claim_run(1)?.first)
    }

    /// As many slots as are free for `most` messages, by one step, if one is free.
    #[inline(never)]
    fn try_claim_several(&self, most: u64) -> Result<Run, Refusal> {
        self.try_claim_run(most)
    }

    #[inline]
    fn try_claim_run(&self, most: u64) -> Result<Run, Refusal> {
        if !self.is_open() {
            return Err(Refusal::Closed);
        }
        let claim = self.shared.claim(self.shared.claimant, most);
        claim.map_err(|refusal| self.refused(refusal))
    }

    /// A slot for a message, after waiting for one.
    #[inline]
    pub(crate) fn claim(&self, deadline: Option<Instant>) -> Result<Position, Refusal> {
        match self.try_claim() {
            Err(Refusal::Full) => Ok(self.wait_to_claim(1, deadline)?.first),
            claim => claim,
        }
    }

    #[cold]
    fn wait_to_claim(&self, most: u64, deadline: Option<Instant>) -> Result<Run, Refusal> {
        let shared = &*self.shared;
        let lives = || shared.lives();
        let claim = shared.wait_to_claim(shared.claimant, most, self.wait, deadline, lives);
        claim.map_err(|refusal| self.refused(refusal))
    }

    fn refused(&self, refusal: Refusal) -> Refusal {
        if refusal == Refusal::Corrupt {
            self.shared.set_corrupt();
        }
        refusal
    }

    /// The message of a claimed slot is written, or there will be none; whether it went that way.
    #[inline]
    pub(crate) fn publish(&self, position: Position, has_message: bool) -> bool {
        self.publish_run(Run::single(position), has_message)
    }

    /// As [`publish`](SendingEnd::publish), of slots that were claimed by one step.
    #[inline]
    pub(crate) fn publish_run(&self, run: Run, has_message: bool) -> bool {
        let shared = &*self.shared;
        let is_done = shared.publish(run, shared.claimant, has_message);
        if !is_done {
            shared.set_corrupt();
        }
        is_done
    }

    /// Messages were published: wakes the receiver if it sleeps.
    #[inline]
    pub(crate) fn ring(&self) {
        self.shared.control().receiver.ring();
    }

    /// Begins to send many, of which the receiver is told together.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch {
            end: self,
            untold: 0,
        }
    }
}

/// Many messages one after another: wakes the receiver for what it was not woken for yet, also if what makes the messages panics.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    end: &'a SendingEnd,
    untold: usize,
}

impl Batch<'_> {
    /// A slot for the next message, after waiting for one; before a wait the receiver is told of those before.
    #[inline]
    pub(crate) fn claim(&mut self) -> Result<Position, Refusal> {
        match self.end.try_claim() {
            Err(Refusal::Full) => {
                self.tell();
                Ok(self.end.wait_to_claim(1, None)?.first)
            }
            claim => claim,
        }
    }

    /// As many slots as are free for `most` messages, by one step, after waiting for one.
    #[inline]
    pub(crate) fn claim_several(&mut self, most: u64) -> Result<Run, Refusal> {
        match self.end.try_claim_several(most) {
            Err(Refusal::Full) => {
                self.tell();
                self.end.wait_to_claim(most, None)
            }
            claim => claim,
        }
    }

    /// So many more are published.
    #[inline]
    pub(crate) fn sent(&mut self, count: usize) {
        self.untold += count;
        if self.untold >= MESSAGES_PER_RING {
            self.tell();
        }
    }

    fn tell(&mut self) {
        if std::mem::take(&mut self.untold) > 0 {
            self.end.ring();
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

/// Ready when a slot can be claimed, or no process receives: a claim may still fail, where another thread is quicker.
impl Source for SendingEnd {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    waits_at!(this => this.shared.sending, this.shared.home.segment(), &this.shared.control().senders);

    fn is_ready(&self) -> bool {
        !self.is_open() || self.shared.has_room()
    }
}

impl Clone for SendingEnd {
    fn clone(&self) -> Self {
        let mut end = SendingEnd::new(Arc::clone(&self.shared));
        end.wait = self.wait;
        end
    }
}

impl Drop for SendingEnd {
    fn drop(&mut self) {
        let home = &self.shared.home;
        home.tenancy().remove_sender(home.tenant());
        self.ring();
    }
}

/// The one that receives.
#[derive(Debug)]
pub(crate) struct ReceivingEnd {
    pub(super) shared: Arc<Shared>,
    cursor: Cursor,
    pub(crate) wait: Wait,
    /// What stands for the receiver when this end is gone.
    leaves: u64,
}

impl ReceivingEnd {
    fn new(shared: Arc<Shared>, cursor: Cursor) -> Self {
        ReceivingEnd {
            shared,
            cursor,
            wait: Wait::Adaptive,
            leaves: NONE,
        }
    }

    pub(crate) fn attach(shared: Arc<Shared>) -> Result<Self, AttachError> {
        shared.occupy()?;
        let Some(cursor) = shared.take_over(shared.claimant) else {
            shared.role.leave(shared.occupant(), NONE);
            shared.control().senders.ring();
            return Err(AttachError::NotOurs);
        };
        let end = ReceivingEnd::new(shared, cursor);
        end.shared.ring_all();
        Ok(end)
    }

    /// Gives this end up for another process, which may take its time.
    pub(crate) fn hand_over(mut self) -> io::Result<OwnedFd> {
        let memory = self.shared.memory().try_clone_to_owned()?;
        self.leaves = ON_ITS_WAY;
        Ok(memory)
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn abandoned(&self) -> u64 {
        self.cursor.abandoned()
    }

    pub(crate) fn len(&self) -> usize {
        self.shared.len_from(self.cursor.head()) as usize
    }

    /// What `look` finds, unless this end receives no more.
    #[inline]
    fn looked_at<R>(&self, look: impl FnOnce(&Cursor) -> Result<R, Nothing>) -> Result<R, Nothing> {
        match self.shared.state.load(Ordering::Relaxed) {
            0 => {}
            AWAY => return Err(Nothing::Closed),
            _ => return Err(Nothing::Corrupt),
        }
        let found = look(&self.cursor);
        if matches!(found, Err(Nothing::Corrupt)) {
            self.shared.set_corrupt();
        }
        found
    }

    /// The next message, if it is there, and no word on whether there will be more.
    #[inline]
    pub(crate) fn take_there(&self) -> Result<Position, Nothing> {
        self.looked_at(|cursor| self.shared.take(cursor))
    }

    /// Whether the next message is there.
    fn find(&self) -> Result<(), Nothing> {
        self.looked_at(|cursor| self.shared.find_or_end(cursor))
    }

    /// The next message, if it is there.
    #[inline]
    pub(crate) fn try_take(&self) -> Result<Position, Nothing> {
        match self.take_there() {
            Err(Nothing::Empty) => {
                self.find()?;
                self.take_there()
            }
            taken => taken,
        }
    }

    /// The next message, after waiting for it.
    #[inline]
    pub(crate) fn take(&self, deadline: Option<Instant>) -> Result<Position, Nothing> {
        match self.take_there() {
            Err(Nothing::Empty) => self.wait_to_take(deadline),
            taken => taken,
        }
    }

    #[cold]
    fn wait_to_take(&self, deadline: Option<Instant>) -> Result<Position, Nothing> {
        let shared = &*self.shared;
        let lives = || shared.lives();
        self.looked_at(|cursor| shared.wait_to_find(cursor, self.wait, deadline, lives))?;
        self.take_there()
    }

    /// A message that was taken is read: its slot is given back, unless one before it is still in use, and senders that wait are told.
    #[inline]
    pub(crate) fn free(&self, position: Position) {
        self.free_one_of_several(position);
        self.shared.freed();
    }

    /// The same, and no sender is told.
    #[inline]
    pub(crate) fn free_one_of_several(&self, position: Position) {
        self.given_back(self.shared.free_at(&self.cursor, position));
    }

    /// So many that were taken are read. No sender is told.
    #[inline]
    fn free_several(&self, count: u32) {
        self.given_back(self.shared.free(&self.cursor, count));
    }

    #[inline]
    fn given_back(&self, is_done: bool) {
        // Where this end is on its way to another process, that one may have it, and receives these again.
        if !is_done && self.shared.state.load(Ordering::Relaxed) & AWAY == 0 {
            self.shared.set_corrupt();
        }
    }

    /// Receives what is there, up to `limit` messages, from one on that was taken: how many. `receive` gets the place of each, which it
    /// [frees](ReceivingEnd::free_one_of_several) or says to be [read](Several::is_read), and ends this where there was no message. Senders that wait are told at
    /// the end, also by a panic.
    #[inline]
    pub(crate) fn receive_several(
        &self,
        first: Position,
        limit: usize,
        mut receive: impl FnMut(Position, &mut Several<'_>) -> bool,
    ) -> usize {
        let mut several = Several { end: self, read: 0 };
        // A sender that is as quick would otherwise keep a batch of any limit going, and others waiting.
        let limit = limit.min(self.shared.capacity());
        let mut position = first;
        let mut count = 0;
        while receive(position, &mut several) {
            count += 1;
            if count == limit {
                break;
            }
            match self.take_there() {
                Ok(next) => position = next,
                Err(_) => break,
            }
        }
        count
    }
}

/// What is received of a batch: what is read is given back by one step for up to 32, and at the end the senders that wait are told.
pub(crate) struct Several<'a> {
    end: &'a ReceivingEnd,
    read: u32,
}

impl Several<'_> {
    /// The message that was taken last is read.
    #[inline]
    pub(crate) fn is_read(&mut self) {
        self.read += 1;
        if self.read as usize == MESSAGES_PER_RING {
            self.give_back();
        }
    }

    fn give_back(&mut self) {
        let read = std::mem::take(&mut self.read);
        if read > 0 {
            self.end.free_several(read);
        }
    }
}

impl Drop for Several<'_> {
    fn drop(&mut self) {
        self.give_back();
        self.end.shared.freed();
    }
}

/// Ready when a message is there, or there will be none. Since there is one receiver, it stays ready.
impl Source for ReceivingEnd {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    waits_at!(this => this.shared.receiving, this.shared.home.segment(), &this.shared.control().receiver);

    fn is_ready(&self) -> bool {
        self.find() != Err(Nothing::Empty)
    }
}

impl Drop for ReceivingEnd {
    fn drop(&mut self) {
        self.shared.role.leave(self.shared.occupant(), self.leaves);
        self.shared.control().senders.ring();
    }
}

const _: () = assert!(MOST_SLOTS.checked_mul(LINE as u64).is_some() && LARGEST_SEGMENT > FRONT);
const _: () = assert!(MOST_HOLDERS == party::PARTIES);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_message_shares_its_line_with_its_state() {
        let track = Track::new(10).unwrap();
        for (message, stride) in [(0, 64), (16, 64), (56, 64), (57, 128), (1024, 1088)] {
            assert_eq!(
                layout(track, message),
                Some((stride, 640 + 512 + 10 * stride))
            );
        }
        assert_eq!(layout(track, usize::MAX), None);
        assert_eq!(layout(track, usize::MAX / 10), None);
    }

    #[test]
    fn ends_are_small() {
        assert_eq!(
            (size_of::<SendingEnd>(), size_of::<ReceivingEnd>()),
            (16, 64)
        );
    }

    #[test]
    fn more_than_can_be_is_refused_before_there_is_memory() {
        let shape = || Shape::of::<u8>(0);
        for (capacity, largest) in [
            (usize::MAX, 1),
            (1 << 33, 1),
            (1 << 32, 1 << 20),
            (1, usize::MAX),
        ] {
            let refused = Shared::create(None, shape(), capacity, 0, largest);
            assert!(matches!(refused, Err(CreateError::TooLarge { .. })));
        }
        // Miri has no memory that processes share.
        if !cfg!(miri) {
            assert_eq!(
                Shared::create(None, shape(), 0, 0, 1).unwrap().0.capacity(),
                1
            );
        }
    }
}
