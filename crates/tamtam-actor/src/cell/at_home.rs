//! What an actor gets from the very thread that it lives on, without a locked instruction.
//!
//! Such a message lies in the [lane](crate::mailbox::LaneLength), and a turn is due for it that no sender on another thread knows of: an
//! **own turn**. It may come while another one is due or on its way, for what other threads have sent: the queue's receiver was woken by one
//! of those, and is at work until that turn has come. An own turn is not the receiver: it leaves the queue as it is.
//! Where it has to keep senders off, since the actor stops or is parked, it becomes the receiver by waking it; if another one has, that one's turn does
//! the rest.

use std::sync::Arc;

use tamtam_wait::seam::atomic::{AtomicU8, Ordering};

use super::{Cell, Turn};
use crate::mailbox::Taking;
use crate::task::{Task, kept_home, make_due_here};

/// There is something special.
const SPECIAL: u8 = 1;
/// An own turn is due or under way.
const OWN_TURN: u8 = 2;
/// There may be messages in the lane.
const LANE: u8 = 4;
/// The actor has stopped in an own turn; the receiver's turn ends it.
const STOPPED: u8 = 8;

/// What a turn has to know that is not as it mostly is: one look says that all is. Changed on the actor's thread only, and nowhere if it has
/// several.
pub(super) struct TurnMarks(AtomicU8);

impl TurnMarks {
    pub(super) fn new(is_special: bool) -> Self {
        TurnMarks(AtomicU8::new(if is_special { SPECIAL } else { 0 }))
    }

    #[inline(always)]
    fn has(&self, any: u8) -> bool {
        self.0.load(Ordering::Relaxed) & any != 0
    }

    #[inline(always)]
    fn set(&self, marks: u8) {
        self.0.store(marks, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn are_none(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Whether messages may lie elsewhere than in the queue and the lane, or turns are observed.
    #[inline(always)]
    pub(super) fn is_special(&self) -> bool {
        self.has(SPECIAL)
    }

    /// Whether an own turn is due or under way.
    #[inline(always)]
    pub(super) fn is_own_turn(&self) -> bool {
        self.has(OWN_TURN)
    }

    /// Whether the actor has stopped in an own turn.
    #[inline(always)]
    pub(super) fn has_stopped(&self) -> bool {
        self.has(STOPPED)
    }
}

/// A place in the lane.
pub(super) struct OwnPlace<M> {
    /// Null if the message is to come into the queue.
    pub(super) place: *mut M,
    /// Once the message is there the own turn is to be [made due](Cell::make_due_own). Not before: that may call what is the user's.
    pub(super) is_to_be_made_due: bool,
}

impl<M> OwnPlace<M> {
    const NONE: Self = OwnPlace {
        place: core::ptr::null_mut(),
        is_to_be_made_due: false,
    };
}

impl<M> Cell<M> {
    /// Whether this thread is seen to be the one on which the actor has all its turns.
    #[inline(always)]
    pub(super) fn is_at_home(&self) -> bool {
        let kept = kept_home();
        // First, since no other thread is to look where the actor's own one changes things.
        !kept.is_null() && core::ptr::eq(Arc::as_ptr(&self.home).cast(), kept)
    }

    /// Whether this is the actor's thread, which sees that the queue is idle: then what it has for the actor need not come into the queue.
    #[inline(always)]
    pub(super) fn is_own_way_free(&self) -> bool {
        self.is_at_home() && self.tail.seems_idle()
    }

    /// A place for a message that this thread has for the actor, which is accepted by that. The caller puts the message there before it does
    /// anything else.
    #[inline(never)]
    pub(super) fn place_own(self: &Arc<Self>) -> OwnPlace<M> {
        if !self.is_own_way_free() || self.lane.is_full() {
            return OwnPlace::NONE;
        }
        // First, since a message that is counted is to be there, whatever else goes wrong.
        let is_to_be_made_due =
            !self.marks.is_own_turn() && make_due_here(self.begin_own_turn()).is_err();
        // SAFETY: this is the actor's thread, and the queue is idle.
        let place = unsafe { self.head.place_own(&self.lane) };
        OwnPlace {
            place,
            is_to_be_made_due,
        }
    }

    /// Sees to it that an own turn comes, where the message is that it is for.
    #[inline(never)]
    pub(super) fn make_due_own(self: &Arc<Self>) {
        if let Err(own_turn) = make_due_here(self.begin_own_turn()) {
            self.home.schedule(own_turn);
        }
    }

    /// An own turn for what comes before messages, which this thread has brought: `false` if that is not the way.
    pub(super) fn wake_own(self: &Arc<Self>) -> bool {
        let is_own = self.is_plain() && self.is_own_way_free();
        if is_own && !self.marks.is_own_turn() {
            self.make_due_own();
        }
        is_own
    }

    /// The own turn that is due now.
    #[inline(always)]
    fn begin_own_turn(self: &Arc<Self>) -> Task {
        debug_assert!(!self.marks.is_special(), "its turns may be observed");
        self.marks.set(OWN_TURN | LANE);
        let due = Self::location(self).cast();
        // SAFETY: the acts are this cell's. An own turn is due once, and until it has come the actor does not stop, so the cell keeps its own
        // reference.
        unsafe { Task::new(due, self.acts) }
    }

    /// The message that is next in the lane, which the caller [takes](Taking::take) before it does anything else.
    ///
    /// # Safety
    ///
    /// There is one, and this is the cell's turn, or the caller is alone with the cell.
    #[inline(always)]
    pub(crate) unsafe fn take_own(&self) -> Taking<M> {
        // SAFETY: all turns of an actor with a lane are on one thread; otherwise the caller is alone with it.
        unsafe { self.head.take_own(&self.lane) }
    }

    /// The message that is next in the lane, if there is one.
    ///
    /// # Safety
    ///
    /// The caller is alone with the cell.
    pub(super) unsafe fn pop_own(&self) -> Option<M> {
        // SAFETY: there is one, and the caller is alone with the cell.
        (self.lane.get() != 0).then(|| unsafe { self.take_own().take().0 })
    }

    /// In a turn: whether it is an own one. What lies in the queue is for the receiver's, which is due if anything does.
    #[inline(always)]
    pub(crate) fn is_in_own_turn(&self) -> bool {
        self.marks.is_own_turn()
    }

    /// How many messages are in the lane.
    #[inline(always)]
    pub(crate) fn own_messages(&self) -> u32 {
        self.lane.get()
    }

    /// An own turn has ended so: how it goes on, if it is not over with that.
    #[inline(always)]
    pub(super) fn after_own_turn(&self, turn: Turn) -> Option<Turn> {
        match turn {
            Turn::Done if self.lane.get() == 0 && !self.has_system() => {
                self.marks.set(0);
                None
            }
            Turn::Done | Turn::More => Some(Turn::More),
            Turn::Park | Turn::Stop => self.become_receiver(turn),
        }
    }

    #[cold]
    #[inline(never)]
    fn become_receiver(&self, turn: Turn) -> Option<Turn> {
        self.marks.set(LANE);
        if self.tail.wake() {
            return Some(turn);
        }
        // The turn comes for which another thread has woken the receiver.
        if turn == Turn::Stop {
            self.marks.set(STOPPED | LANE);
        }
        None
    }
}
