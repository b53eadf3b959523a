//! What senders do with a cell.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;
use std::sync::Arc;
use std::time::Instant;

use tamtam_wait::seam::atomic::Ordering;
use tamtam_wait::{Source, seam};

use super::mute::Sender;
use super::{Cell, PARKED_MUTED, System, UNPARKED, Waits};
use crate::error::TellError;
use crate::mailbox::{
    Level, LimitedMailbox, Linked, Open, Popped, Pushed, Reserved, Store, Streak, Things,
    WhenNoRoom, apart,
};
use crate::observe::Record;
use crate::task::{Task, ThreadWait, kept_home};

impl<M> Cell<M> {
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // SYNC cell-closed
        self.closed.load(Ordering::SeqCst)
    }

    #[inline]
    pub(super) fn limited(&self) -> Option<&dyn LimitedMailbox<M>> {
        match &self.special.as_ref()?.store {
            Store::Limited(limited) => Some(&**limited),
            Store::Queue | Store::Upstream(_) => None,
        }
    }

    /// Whether senders are to wait for room.
    pub(crate) fn waits(&self) -> bool {
        self.limited().is_some_and(LimitedMailbox::waits)
    }

    pub(crate) fn level(&self) -> Option<Level> {
        self.limited().map(LimitedMailbox::level)
    }

    #[inline]
    pub(crate) fn push(self: &Arc<Self>, message: M, when: WhenNoRoom) -> Result<(), TellError<M>> {
        if self.is_closed() {
            return Err(TellError::stopped(self.id, message));
        }
        if self.special.is_some() {
            return self.push_special(message, when);
        }
        self.push_plain(message)
    }

    /// Whether messages go into the mailbox without more ado.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.special.is_none() && !self.is_closed()
    }

    #[inline(always)]
    pub(crate) fn push_plain(self: &Arc<Self>, message: M) -> Result<(), TellError<M>> {
        // Who has sent to a busy actor is likely to find it busy again.
        let has_streak = self.tail.has_streak();
        // So that there is nothing to be dropped should a call panic: it would have to lie in memory for that.
        let message = ManuallyDrop::new(message);
        if !has_streak && !kept_home().is_null() {
            let own = self.place_own();
            if !own.place.is_null() {
                // SAFETY: the place was made for it, and nothing else was done since.
                unsafe { own.place.write(ManuallyDrop::into_inner(message)) };
                if own.is_to_be_made_due {
                    self.make_due_own();
                }
                return Ok(());
            }
        }
        self.push_into_queue(has_streak, ManuallyDrop::into_inner(apart(message)))
    }

    /// As `push_plain`, whose thread may be the actor's own one, where it is known whether there [is a streak](Tail::has_streak).
    #[inline(always)]
    fn push_into_queue(self: &Arc<Self>, has_streak: bool, message: M) -> Result<(), TellError<M>> {
        if self.tail.push_on(has_streak, message) {
            return self.schedule_message();
        }
        self.sent(false);
        Ok(())
    }

    /// As `push`, for another streak than the thread's.
    #[inline]
    pub(crate) fn push_in_streak(
        self: &Arc<Self>,
        streak: &Streak,
        message: M,
        when: WhenNoRoom,
    ) -> Result<(), TellError<M>> {
        if !self.is_plain() {
            return self.push(message, when);
        }
        if self.tail.push_in_streak_of(streak, message) {
            return self.schedule_message();
        }
        self.sent(false);
        Ok(())
    }

    /// Puts a message into the block that the streak has in the mailbox; it comes back if there is none. If the actor has
    /// closed since, the sender [looks after](Cell::look_after_end) that.
    #[inline(always)]
    pub(crate) fn push_into_block(&self, streak: &Streak, message: M) -> Result<(), M> {
        if !self.is_plain() {
            return Err(message);
        }
        self.tail.push_into_block(streak, message)
    }

    /// What a sender does that sees the actor closed after it has sent something.
    #[cold]
    pub(crate) fn look_after_end(self: &Arc<Self>) {
        self.sent(false);
    }

    /// As `push`, to an actor that has a limit, is observed or the like.
    #[inline(never)]
    pub(super) fn push_special(
        self: &Arc<Self>,
        message: M,
        when: WhenNoRoom,
    ) -> Result<(), TellError<M>> {
        if let Some(limited) = self.limited() {
            return self.push_limited(limited, message, when);
        }
        // Before it can be handled: no figure is to show more taken than put. If it comes back, that is taken back.
        self.count_put();
        // Own turns are not observed.
        self.push_into_queue(self.tail.has_streak(), message)
    }

    /// As `schedule`, for a message that has woken the receiver and may come back.
    #[inline(never)]
    pub(super) fn schedule_message(self: &Arc<Self>) -> Result<(), TellError<M>> {
        let due = Self::location(self).cast();
        // SAFETY: the acts are this cell's. This thread has woken the receiver, so it schedules it, once; and until that has run the
        // actor does not stop, so the cell keeps its own reference.
        let task = unsafe { Task::new(due, self.acts) };
        match self.home.schedule_or_refuse(task) {
            Ok(()) => Ok(()),
            Err(task) => self.take_back(task),
        }
    }

    /// The home takes no more messages from here: the first one in the queue is ours.
    #[cold]
    pub(super) fn take_back(self: &Arc<Self>, task: Task) -> Result<(), TellError<M>> {
        // SAFETY: this sender has woken the receiver, and no other thread has its turn.
        let message = match unsafe { self.head.pop(&self.tail, &self.seen) } {
            Popped::Message(message) => message,
            Popped::Woken | Popped::Empty => {
                unreachable!("whoever wakes is the first in the queue")
            }
        };
        if let Some(record) = self.record() {
            record.count_taken_back();
        }
        if self.home.has_closed() {
            task.abandon();
        // SAFETY: the actor was not scheduled, so the thread that has woken it has its turn. If nothing has come meanwhile
        // it is idle as before.
        } else if !unsafe { self.head.rest(&self.tail) } {
            self.home.schedule(task);
        }
        Err(TellError::stopped(self.id, message))
    }

    /// Where what this actor does is counted, if its home is observed.
    #[inline(always)]
    pub(crate) fn record(&self) -> Option<&Arc<Record>> {
        self.special.as_ref()?.record.as_ref()
    }

    /// The actor is begun again.
    pub(crate) fn note_restart(&self) {
        if let Some(upstream) = self.upstream() {
            return upstream.note_restart();
        }
        if let Some(record) = self.record() {
            record.count_restart();
        }
    }

    /// Tells those who observe the actor's name.
    pub(crate) fn show_name(&self, name: &Arc<str>) {
        if let Some(record) = self.record() {
            record.set_name(Arc::clone(name));
        }
    }

    /// A message has come into the mailbox.
    #[inline(always)]
    pub(super) fn count_put(&self) {
        if let Some(record) = self.record() {
            record.count_put();
        }
    }

    /// There is a counted message again. `true`: the actor in this cell is the one that is to have a turn for it, and has none.
    #[inline]
    fn wake_receiver(&self) -> bool {
        match self.downstream() {
            None => self.tail.wake(),
            Some(downstream) => {
                downstream.wake();
                false
            }
        }
    }

    /// Something was sent.
    #[inline(always)]
    pub(super) fn sent(self: &Arc<Self>, has_woken: bool) {
        if has_woken {
            self.schedule();
        } else if self.is_closed() {
            // It has closed since we looked. Who drains it has seen that we came, and waits for what we sent; or we
            // see that it is closed.
            self.drain();
        }
    }

    /// Where a cell is, with its count: a reference to it would not reach so far.
    pub(super) fn location(cell: &Arc<Self>) -> NonNull<Self> {
        // SAFETY: what is in an `Arc` is somewhere.
        unsafe { NonNull::new_unchecked(Arc::as_ptr(cell).cast_mut()) }
    }

    /// Where the actor's task lies when it is due.
    pub(crate) fn task_location(self: &Arc<Self>) -> usize {
        Self::location(self).addr().get()
    }

    #[inline]
    pub(super) fn schedule(self: &Arc<Self>) {
        let due = Self::location(self).cast();
        // SAFETY: the acts are this cell's. The thread that has woken the receiver schedules it once, and until it has run it
        // does not stop, so it keeps its own reference.
        self.home.schedule(unsafe { Task::new(due, self.acts) });
    }

    pub(super) fn push_limited(
        self: &Arc<Self>,
        limited: &dyn LimitedMailbox<M>,
        message: M,
        when: WhenNoRoom,
    ) -> Result<(), TellError<M>> {
        let pushed = match limited.push(message) {
            Pushed::Full(message) => match self.sender(limited, when) {
                Waits::Not => Pushed::Full(message),
                Waits::Until(deadline, wait) => {
                    self.push_waiting(limited, message, deadline, &wait)
                }
                Waits::Muted(mute) => limited.push_above(message, mute),
            },
            decided => decided,
        };
        match pushed {
            Pushed::In(wake) => {
                self.count_put();
                self.sent(wake && self.wake_receiver());
            }
            Pushed::InsteadOf(lost, why) => {
                // First, since the drop may panic.
                self.sent(false);
                self.lose(lost, why);
            }
            Pushed::Dropped(message, why) => self.lose(message, why),
            Pushed::Full(message) if self.is_closed() => {
                return Err(TellError::stopped(self.id, message));
            }
            Pushed::Full(message) => return Err(TellError::full(self.id, message)),
        }
        Ok(())
    }

    fn push_waiting(
        self: &Arc<Self>,
        limited: &dyn LimitedMailbox<M>,
        message: M,
        deadline: Option<Instant>,
        wait: &ThreadWait,
    ) -> Pushed<M> {
        wait.leave_work();
        let mut waiting = Some(message);
        let attempt = |deadline| {
            let message = waiting.take()?;
            match limited.push_waiting(message, deadline, &|| self.is_closed()) {
                Pushed::Full(message) if !self.is_closed() => {
                    waiting = Some(message);
                    None
                }
                decided => Some(decided),
            }
        };
        // Without a thread for the actor there will be no room.
        let decided = crate::task::wait_for(self.task_location(), deadline, attempt);
        match (decided.ok().flatten(), waiting) {
            (Some(decided), _) => decided,
            (None, Some(message)) => Pushed::Full(message),
            (None, None) => unreachable!("a message is either in hand or decided upon"),
        }
    }

    /// Keeps a place for a message that is still to be made.
    pub(crate) fn reserve(self: &Arc<Self>, when: WhenNoRoom) -> Reserved {
        if self.is_closed() {
            return Reserved::Full;
        }
        let Some(limited) = self.limited() else {
            return Reserved::Place;
        };
        match limited.reserve() {
            Reserved::Full => match self.sender(limited, when) {
                Waits::Not => Reserved::Full,
                Waits::Until(deadline, wait) => {
                    wait.leave_work();
                    let attempt =
                        |deadline| match limited.reserve_until(deadline, &|| self.is_closed()) {
                            Reserved::Full if !self.is_closed() => None,
                            decided => Some(decided),
                        };
                    let decided = crate::task::wait_for(self.task_location(), deadline, attempt);
                    // Without a thread for the actor there will be no room.
                    decided.ok().flatten().unwrap_or(Reserved::Full)
                }
                Waits::Muted(mute) => limited.reserve_above(mute),
            },
            decided => decided,
        }
    }

    /// What a sender does that finds no room.
    pub(super) fn sender(&self, limited: &dyn LimitedMailbox<M>, when: WhenNoRoom) -> Waits {
        match when {
            WhenNoRoom::WaitUntil(deadline) => self.waits_until(deadline),
            WhenNoRoom::AsMade if limited.waits() && !self.is_closed() => {
                match Sender::at_work(self.id()) {
                    Sender::Thread => self.waits_until(None),
                    Sender::Itself => Waits::Not,
                    Sender::Muted(mute) => Waits::Muted(Some(mute)),
                    Sender::Unmuted => Waits::Muted(None),
                }
            }
            WhenNoRoom::Above if limited.waits() && !self.is_closed() => Waits::Muted(None),
            WhenNoRoom::AsMade | WhenNoRoom::GiveBack | WhenNoRoom::Above => Waits::Not,
        }
    }

    /// This thread waits for room, unless no thread but this one would make any.
    fn waits_until(&self, deadline: Option<Instant>) -> Waits {
        match self.begin_wait() {
            Some(wait) => Waits::Until(deadline, wait),
            None => Waits::Not,
        }
    }

    /// Shows the room in the mailbox to one who waits for it, if it may be wanting.
    pub(crate) fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        if let Some(limited) = self.limited() {
            limited.with_room(&|| self.is_closed(), look);
        }
    }

    /// Sends a message to a place that was kept. Accepted in any case: if the actor has stopped meanwhile, it
    /// is lost and counted.
    pub(crate) fn push_reserved(self: &Arc<Self>, message: M) {
        match self.limited() {
            None => {
                let woken = self.tail.push(message);
                self.count_put();
                self.sent(woken);
            }
            Some(limited) => match limited.push_reserved(message) {
                Pushed::In(wake) => {
                    self.count_put();
                    self.sent(wake && self.wake_receiver());
                }
                Pushed::InsteadOf(lost, why) | Pushed::Dropped(lost, why) => {
                    // First, since the drop may panic.
                    self.sent(false);
                    self.lose(lost, why);
                }
                Pushed::Full(_) => unreachable!("there was a place"),
            },
        }
    }

    /// Sees to it that this is called when all is done with that was put into the mailbox before. Where messages do not come out in the
    /// order in which they went in, it is called when they are in.
    #[cfg(feature = "serde")]
    pub(crate) fn push_receipt(self: &Arc<Self>, receipt: crate::mailbox::Receipt) {
        if !self.is_in_order() {
            tamtam_wait::contain(receipt);
            return;
        }
        let woken = self.tail.push_receipt(receipt);
        self.sent(woken);
    }

    /// Sees to it that this is called when all that was put into the mailbox before has left it, in whatever order.
    #[cfg(feature = "serde")]
    pub(crate) fn when_gone(self: &Arc<Self>, then: crate::mailbox::Receipt) {
        match self.limited() {
            Some(limited) if !self.is_in_order() => limited.when_gone(then),
            _ => self.push_receipt(then),
        }
    }

    /// Whether messages are handled in the order in which they went in, and taken out by this cell's own turn.
    #[cfg(feature = "serde")]
    fn is_in_order(&self) -> bool {
        match self.special.as_ref().map(|special| &special.store) {
            _ if self.downstream().is_some() => false,
            None | Some(Store::Queue) => true,
            Some(Store::Limited(limited)) => limited.is_in_line(),
            Some(Store::Upstream(_)) => false,
        }
    }

    /// Whether the actor has no turn and none is due, or has ended.
    #[cfg(feature = "serde")]
    pub(crate) fn is_idle(&self) -> bool {
        self.tail.is_idle() && !self.marks.is_own_turn() || self.is_closed()
    }

    /// Gives a place back.
    pub(crate) fn release(&self) {
        if let Some(limited) = self.limited() {
            limited.release();
        }
    }

    /// As `push_system`, for something that brings its own place on the stack.
    pub(crate) fn push_continuation<W>(self: &Arc<Self>, continuation: Box<Linked<System, W>>)
    where
        W: Open<System> + Send,
    {
        self.urgent.push_linked(continuation);
        // SYNC cell-parked
        self.nudge();
    }

    /// Puts back what is left of what was taken by `take_system`, in the actor's turn.
    pub(crate) fn put_back(&self, left: Things<System>) {
        self.urgent.put_back(left, System::Left);
    }

    pub(crate) fn push_system(self: &Arc<Self>, system: System) {
        self.urgent.push(system);
        self.nudge();
    }

    /// Gives a parked actor a turn; `false` if it is not parked.
    pub(super) fn unpark(self: &Arc<Self>) -> bool {
        seam::model_fence();
        if self.parked.load(Ordering::SeqCst) == UNPARKED {
            return false;
        }
        // The thread that changes it is the one that schedules.
        let was = self.parked.swap(UNPARKED, Ordering::SeqCst);
        if was != UNPARKED {
            self.schedule();
        }
        if was == PARKED_MUTED {
            // After it: there is no time at which the home knows neither of the one nor of the other.
            self.home.note_unmuted();
        }
        was != UNPARKED
    }

    /// Gives the actor a turn, for whatever it may find to do.
    pub(crate) fn nudge(self: &Arc<Self>) {
        // SYNC cell-parked: either it is seen here that the actor is parked, or the one who parks it sees what came.
        if !self.unpark() && !self.wake_own() {
            self.sent(self.tail.wake());
        }
    }

    /// A thread is about to wait for this actor: see [`Home::begin_wait`].
    pub(crate) fn begin_wait(&self) -> Option<ThreadWait> {
        self.home.begin_wait()
    }
}
