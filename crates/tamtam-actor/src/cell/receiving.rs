//! What the one who has the cell's turn takes out of it.

use core::mem::MaybeUninit;

use super::{Cell, System};
use crate::mailbox::{Mark, Popped, Taking, Things};
use crate::observe::MeasuredTurn;

impl<M> Cell<M> {
    /// How many messages lie where they are counted; 0 where they are not.
    #[inline]
    pub(crate) fn counted(&self) -> usize {
        if self.marks.are_none() {
            0
        } else if self.marks.is_special() {
            self.special.as_ref().map_or(0, |special| special.len())
        } else {
            self.own_messages() as usize
        }
    }

    /// Finds the next message, which the caller [takes](Taking::take) before it does anything else: it may lie in `place`. Of those that
    /// are counted only if `counted` says so. `AT_HOME`: whether the actor may have a lane.
    ///
    /// # Safety
    ///
    /// This is the cell's turn.
    #[inline(always)]
    pub(crate) unsafe fn find<const AT_HOME: bool>(
        &self,
        counted: bool,
        place: &mut MaybeUninit<M>,
    ) -> Popped<Taking<M>> {
        if !self.marks.are_none() {
            if self.marks.is_special() {
                // SAFETY: the caller has the cell's turn, which is what `find_special` asks for.
                return unsafe { self.find_special(counted, place) };
            }
            if AT_HOME && self.own_messages() != 0 {
                // What is in the queue comes behind them.
                return match counted {
                    // SAFETY: there is one, and this is the cell's turn.
                    true => Popped::Message(unsafe { self.take_own() }),
                    false => Popped::Empty,
                };
            }
        }
        // SAFETY: the caller has the cell's turn, so this is the only thread at the head.
        unsafe { self.find_in_queue() }
    }

    /// As `find`, in the queue.
    ///
    /// # Safety
    ///
    /// As for `find`.
    #[inline(always)]
    unsafe fn find_in_queue(&self) -> Popped<Taking<M>> {
        // SAFETY: the caller has the cell's turn, so this is the only thread at the head.
        match unsafe { self.head.find(&self.tail, &self.seen) } {
            Popped::Message(message) => Popped::Message(Taking::new(message)),
            Popped::Woken => Popped::Woken,
            Popped::Empty => Popped::Empty,
        }
    }

    /// As `find`, for an actor that has a limit, is observed or the like.
    ///
    /// # Safety
    ///
    /// As for `find`.
    #[inline(never)]
    unsafe fn find_special(&self, counted: bool, place: &mut MaybeUninit<M>) -> Popped<Taking<M>> {
        let found = match counted.then(|| self.pop_counted()).flatten() {
            Some(message) => Popped::Message(Taking::new(place.write(message))),
            // SAFETY: the caller has the cell's turn, which is what `find_in_queue` asks for.
            None => unsafe { self.find_in_queue() },
        };
        if let (Popped::Message(_), Some(record)) = (&found, self.record()) {
            record.count_taken();
        }
        found
    }

    /// Takes the next of the messages that are counted.
    #[inline]
    fn pop_counted(&self) -> Option<M> {
        self.special.as_ref()?.pop()
    }

    /// At the end of a turn: whether no message is left where they are counted. Then the next one wakes the receiver, which
    /// is seen by the one who is about to become idle.
    #[inline(always)]
    pub(super) fn has_none_counted(&self) -> bool {
        !self.marks.is_special() || self.rest_special()
    }

    #[inline(never)]
    fn rest_special(&self) -> bool {
        self.special.as_ref().is_none_or(|special| special.rest())
    }

    /// Measures a turn of an actor that may be observed.
    #[inline(never)]
    pub(super) fn measure_special(&self) -> Option<MeasuredTurn<'_>> {
        // If others take its messages, it is another cell whose turns are measured.
        let record = self.record().filter(|_| self.downstream().is_none())?;
        Some(record.measure())
    }

    /// Marks the youngest message.
    #[inline]
    pub(crate) fn mark(&self) -> Mark {
        self.tail.mark()
    }

    /// Whether the message that was taken last is the marked one.
    #[inline]
    pub(crate) fn is_at(&self, mark: Mark) -> bool {
        self.head.is_at(mark)
    }

    /// Whether there is nothing that comes before messages, and nothing that keeps the actor from them.
    #[inline(always)]
    pub(crate) fn is_as_usual(&self) -> bool {
        self.state.is_clear() && !self.has_system()
    }

    /// Whether there is something that comes before messages.
    #[inline]
    pub(crate) fn has_system(&self) -> bool {
        !self.urgent.is_empty()
    }

    /// Takes what comes before messages.
    pub(crate) fn take_system(&self) -> Things<System> {
        self.urgent.take_all()
    }
}
