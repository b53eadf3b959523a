//! Room at an actor in another process whose mailbox is made for waiting: so many messages to it may be on their way or in its mailbox.
//!
//! The owner says how many when it exports the actor. A sender takes a place; the owner confirms messages when they are done with,
//! and the places are free again (the credit of a window, as in TCP or in HTTP/2's flow control). A handler does not wait: its message
//! goes beyond the window, and its actor is muted until half of that is free, as with a mailbox of this process.
//!
//! Until the owner has said how many there are, each sender takes a place as well. So a message that finds its place before the window opens,
//! and is sent after that, has one to be given back.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tamtam_wait::WaitList;
use tamtam_wait::seam::atomic::{self, AtomicBool, AtomicU64, Ordering};

use super::mute::Sender;
use crate::id::ActorId;
use crate::mailbox::{Mute, MutedSenders, Reserved, Room, WhenNoRoom};

/// The owner has not said yet how many places there are.
const UNTOLD: u64 = u64::MAX;

/// The places at one actor.
pub(super) struct FarRoom {
    /// How many there are; zero where none are counted.
    window: AtomicU64,
    taken: AtomicU64,
    /// Whether a sender that finds no room waits.
    waits: AtomicBool,
    senders: WaitList,
    /// Actors that have sent more than there was room for.
    muted: Mutex<MutedSenders>,
}

impl FarRoom {
    pub(super) fn new() -> Self {
        FarRoom {
            window: AtomicU64::new(UNTOLD),
            taken: AtomicU64::new(0),
            waits: AtomicBool::new(true),
            senders: WaitList::new(),
            muted: Mutex::default(),
        }
    }

    /// Says how many places there are, which counts the first time. So many are taken beside those that senders have taken here. No two threads
    /// call this at the same time.
    pub(super) fn open(&self, window: u64, taken: u64, waits: bool) {
        self.waits.store(waits, Ordering::SeqCst);
        if self.window.load(Ordering::Relaxed) == UNTOLD {
            self.taken.fetch_add(taken, Ordering::SeqCst);
            self.window.store(window, Ordering::SeqCst);
        }
    }

    /// Whether places are counted here.
    pub(super) fn is_limited(&self) -> bool {
        !matches!(self.window.load(Ordering::SeqCst), 0 | UNTOLD)
    }

    /// Whether a sender may have to wait for room.
    pub(super) fn waits(&self) -> bool {
        self.is_limited() && self.waits.load(Ordering::SeqCst)
    }

    pub(super) fn has_room(&self) -> bool {
        let window = self.window.load(Ordering::SeqCst);
        window == 0 || self.taken.load(Ordering::SeqCst) < window
    }

    fn try_take(&self) -> bool {
        let window = self.window.load(Ordering::SeqCst);
        if window == 0 {
            return true;
        }
        let taken = self
            .taken
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |taken| {
                (taken < window).then_some(taken + 1)
            });
        taken.is_ok()
    }

    /// Takes a place for a message to this actor. `closed` tells that it takes none any more; `before_wait` is called before a wait.
    pub(super) fn reserve(
        &self,
        actor: ActorId,
        when: WhenNoRoom,
        closed: &impl Fn() -> bool,
        before_wait: &impl Fn(),
    ) -> Reserved {
        if self.try_take() {
            return Reserved::Place;
        }
        match when {
            WhenNoRoom::GiveBack => Reserved::Full,
            WhenNoRoom::AsMade | WhenNoRoom::Above if !self.waits.load(Ordering::SeqCst) => {
                Reserved::Full
            }
            WhenNoRoom::WaitUntil(deadline) => {
                before_wait();
                self.wait(deadline, closed)
            }
            WhenNoRoom::AsMade | WhenNoRoom::Above => match Sender::at_work(actor) {
                Sender::Thread => {
                    before_wait();
                    self.wait(None, closed)
                }
                Sender::Itself => Reserved::Full,
                Sender::Muted(mute) => self.take_above(Some(mute), closed),
                Sender::Unmuted => self.take_above(None, closed),
            },
        }
    }

    /// The room, for senders that wait for it; `closed` tells that the actor takes no more messages.
    pub(super) fn room(&self, closed: impl Fn() -> bool) -> Room<'_, impl Fn() -> bool> {
        Room {
            senders: &self.senders,
            ready: move || closed() || self.has_room(),
        }
    }

    fn wait(&self, deadline: Option<Instant>, closed: &impl Fn() -> bool) -> Reserved {
        let attempt = || (closed() || self.try_take()).then_some(());
        let got = crate::task::while_blocked(|| self.room(closed).wait_until(deadline, attempt));
        match got {
            Some(()) if !closed() => Reserved::Place,
            // The place that may have been taken is of no use to others, either.
            _ => Reserved::Full,
        }
    }

    fn take_above(&self, mute: Option<Mute>, closed: &impl Fn() -> bool) -> Reserved {
        self.taken.fetch_add(1, Ordering::SeqCst);
        let Some(mute) = mute else {
            return Reserved::Place;
        };
        let superfluous = {
            let mut muted = self.muted.lock().unwrap_or_else(PoisonError::into_inner);
            muted.keep(mute)
        };
        drop(superfluous);
        // All places may have become free before it was kept, or the actor have ended, after which none does.
        self.unmute_if(|| closed() || self.is_half_free());
        Reserved::Place
    }

    /// Lets the muted actors go on where that holds, which is asked when no other one can be added.
    fn unmute_if(&self, holds: impl FnOnce() -> bool) {
        let unmuted = {
            let mut muted = self.muted.lock().unwrap_or_else(PoisonError::into_inner);
            if muted.is_empty() || !holds() {
                return;
            }
            core::mem::take(&mut *muted)
        };
        // Each gets a turn by that.
        drop(unmuted);
    }

    fn is_half_free(&self) -> bool {
        self.taken.load(Ordering::SeqCst) <= self.window.load(Ordering::SeqCst) / 2
    }

    /// So many places are free again.
    pub(super) fn give_back(&self, places: u64) {
        if self.window.load(Ordering::SeqCst) == 0 {
            return;
        }
        let _ = self
            .taken
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |taken| {
                Some(taken.saturating_sub(places))
            });
        self.unmute_if(|| self.is_half_free());
        // A sender that waits for room registers and then looks.
        atomic::fence(Ordering::SeqCst);
        self.senders
            .notify_many(usize::try_from(places).unwrap_or(usize::MAX));
    }

    /// The actor takes no more messages: those who wait have to learn it.
    pub(super) fn close(&self) {
        self.unmute_if(|| true);
        self.senders.notify_all();
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    /// Whether a place was taken by a sender of no actor.
    fn takes(room: &FarRoom, when: WhenNoRoom, is_closed: bool) -> bool {
        let reserved = room.reserve(ActorId::next(), when, &|| is_closed, &|| {});
        matches!(reserved, Reserved::Place)
    }

    #[test]
    fn without_a_window_no_places_are_counted() {
        let room = FarRoom::new();
        room.open(0, 7, true);
        assert!(!room.is_limited() && !room.waits() && room.has_room());
        for _ in 0..3 {
            assert!(takes(&room, WhenNoRoom::GiveBack, false));
        }
        room.give_back(1);
        room.open(1, 1, true);
        assert!(!room.is_limited() && room.has_room(), "it is told once");
    }

    #[test]
    fn a_place_that_is_taken_before_it_is_told_how_many_there_are_is_one_of_them() {
        let room = FarRoom::new();
        assert!(!room.is_limited() && !room.waits() && room.has_room());
        for _ in 0..3 {
            assert!(takes(&room, WhenNoRoom::GiveBack, false));
        }
        // It was not sent.
        room.give_back(1);
        room.open(2, 0, true);
        assert!(room.is_limited() && !room.has_room());
        room.give_back(1);
        assert!(takes(&room, WhenNoRoom::GiveBack, false));
        assert!(!room.has_room());
    }

    #[test]
    fn as_many_places_can_be_taken_as_are_free_and_again_when_they_are_given_back() {
        let room = FarRoom::new();
        room.open(3, 1, true);
        assert!(room.is_limited() && room.waits());
        for _ in 0..2 {
            assert!(room.has_room());
            assert!(takes(&room, WhenNoRoom::GiveBack, false));
        }
        assert!(!room.has_room());
        assert!(!takes(&room, WhenNoRoom::GiveBack, false));
        room.give_back(1);
        assert!(room.has_room());
        assert!(takes(&room, WhenNoRoom::AsMade, false));
        assert!(!room.has_room());
        // No more than there are, whatever comes back.
        room.give_back(100);
        for _ in 0..3 {
            assert!(takes(&room, WhenNoRoom::GiveBack, false));
        }
        assert!(!takes(&room, WhenNoRoom::GiveBack, false));
    }

    #[test]
    fn a_window_is_opened_once_and_whether_senders_wait_may_change() {
        let room = FarRoom::new();
        room.open(1, 1, true);
        room.open(5, 0, false);
        assert!(room.is_limited() && !room.waits() && !room.has_room());
        // Where senders do not wait, they are refused.
        assert!(!takes(&room, WhenNoRoom::AsMade, false));
        assert!(!takes(&room, WhenNoRoom::Above, false));
        room.give_back(1);
        assert!(takes(&room, WhenNoRoom::AsMade, false));
        assert!(!room.has_room());
    }

    #[test]
    fn a_wait_for_a_place_ends_at_its_deadline_or_with_the_actor() {
        let room = FarRoom::new();
        room.open(1, 1, true);
        let before = core::cell::Cell::new(0);
        for is_closed in [false, true] {
            let reserved = room.reserve(
                ActorId::next(),
                WhenNoRoom::WaitUntil(Some(Instant::now())),
                &|| is_closed,
                &|| before.set(before.get() + 1),
            );
            assert!(matches!(reserved, Reserved::Full));
        }
        assert_eq!(before.get(), 2, "the link is told before each wait");
        assert!(!takes(&room, WhenNoRoom::WaitUntil(None), true));
        assert!(!takes(&room, WhenNoRoom::AsMade, true));
    }
}
