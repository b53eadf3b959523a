//! How an actor ends: what is in its mailbox is lost, and those who watch are told.

use core::ptr::NonNull;
use std::sync::Arc;

use tamtam_wait::seam::atomic::Ordering;
use tamtam_wait::{Backoff, contain, seam};

use super::at_work::AtWork;
use super::dropped::{dropping_for, dropping_for_itself};
use super::owed::settle;
use super::{Behavior, Cell, DRAIN_AGAIN, DRAINING, Turn, UNDRAINED};
use crate::ended::{EndReason, Ended};
use crate::error::panic_of;
use crate::mailbox::{LimitedMailbox, Loss, Popped};
use crate::observe::told;
use crate::task::Task;

impl<M> Cell<M> {
    /// What becomes of an actor whose turn has ended by a panic.
    #[cold]
    #[inline(never)]
    pub(super) fn after_panic(&self, behavior: &mut dyn Behavior<M>, why: EndReason) -> Turn {
        told::panicked(self.id, behavior.actor_type(), self.name(), &why);
        let told = panic_of(self.id, &why);
        contain(|| settle(self.id, told.clone()));
        // With the instance, if another one is to come, goes what it has kept of questions.
        let after = contain(|| match told {
            Some(told) => dropping_for(told, || behavior.panicked(why)),
            None => behavior.panicked(why),
        });
        after.unwrap_or(Turn::Stop)
    }

    /// Tells those who watch.
    pub(super) fn tell_of_end(&self, reason: EndReason) {
        let concerned = self.life.end(reason);
        if self.upstream().is_none() {
            // Otherwise only an instance ends: the actor is the cell to which others send.
            told::ended(
                self.id,
                self.message_type(),
                self.life.name(),
                self.lost(),
                &concerned.reason,
            );
        }
        if !concerned.is_empty() {
            let ended = self.ended(concerned.reason.clone());
            concerned.tell(&ended);
        }
    }

    pub(super) fn ended(&self, reason: EndReason) -> Ended {
        Ended {
            id: self.id,
            name: self.life.name(),
            reason,
        }
    }

    /// Sees to it that what is in the mailbox of an actor that has stopped is lost.
    #[cold]
    pub(super) fn drain(&self) {
        // SYNC cell-draining
        if self.draining.swap(DRAIN_AGAIN, Ordering::AcqRel) == UNDRAINED {
            dropping_for_itself(|| {
                // SAFETY: this thread has set `DRAINING`, so no other one is at the mailbox.
                unsafe { self.lose_all() };
            });
        }
        // Otherwise the thread that drains looks once more.
    }

    /// Loses what is in the mailbox of an actor that has stopped, and what comes there meanwhile.
    ///
    /// # Safety
    ///
    /// The caller has changed `draining` from `UNDRAINED`.
    pub(super) unsafe fn lose_all(&self) {
        loop {
            // SYNC cell-draining: what those who asked have sent.
            self.draining.swap(DRAINING, Ordering::AcqRel);
            let mut backoff = Backoff::new();
            loop {
                // SAFETY: the actor has stopped, so it has no turns; who drains is alone with the queue.
                while let Some(message) = unsafe { self.next_to_lose() } {
                    contain(move || self.lose(message, Loss::Stopped));
                }
                if self.has_reached_end() {
                    break;
                }
                // A sender is between its two steps, and may have looked whether the actor is closed, which its
                // processor may do before others see its second step. So it is for us to wait.
                backoff.pause();
            }
            drop(self.take_system());
            // SYNC cell-draining
            let done = self.draining.compare_exchange(
                DRAINING,
                UNDRAINED,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if done.is_ok() {
                return;
            }
            // A message has come since, and its sender relies on this thread.
        }
    }

    /// # Safety
    ///
    /// The caller drains the mailbox.
    pub(super) unsafe fn next_to_lose(&self) -> Option<M> {
        loop {
            // What lies in another cell's mailbox is not lost with this one.
            if let Some(message) = self.limited().and_then(LimitedMailbox::pop) {
                return Some(message);
            }
            // SAFETY: the caller drains the mailbox, so it is alone with it.
            if let Some(message) = unsafe { self.pop_own() } {
                return Some(message);
            }
            // SAFETY: the caller drains the mailbox, so this is the only thread at the head.
            match unsafe { self.head.pop(&self.tail, &self.seen) } {
                Popped::Message(message) => return Some(message),
                Popped::Woken => {}
                Popped::Empty => return None,
            }
        }
    }
}

impl<M: Send + 'static> Cell<M> {
    /// Ends an actor whose home has ended before its birth, on this thread. There is no address of it yet.
    #[cold]
    pub(crate) fn end_at_birth(self: &Arc<Self>) {
        if self.tail.wake() {
            // SAFETY: the acts are this cell's, which keeps its own reference until then, and we are the one who has
            // woken it.
            let task = unsafe { Task::new(Self::location(self).cast(), self.acts) };
            task.abandon();
        }
    }

    /// Stops the actor, for this reason unless another one was noted, and loses what is in its mailbox.
    ///
    /// # Safety
    ///
    /// This is the cell's turn, and the last one; nothing of the cell is used afterwards. Its actor is one of those that
    /// `boxed` takes.
    pub(super) unsafe fn bury(
        this: NonNull<Self>,
        reason: EndReason,
        boxed: unsafe fn(NonNull<()>) -> Box<dyn Behavior<M>>,
    ) {
        // SAFETY: it lives until its own reference is given up below.
        let cell = unsafe { this.as_ref() };
        // It is we who drain, once the actor is gone. Those who see that it is closed see this.
        cell.draining.store(DRAINING, Ordering::Relaxed);
        // SYNC cell-closed: sequentially consistent, for those who look after they have sent.
        cell.closed.store(true, Ordering::SeqCst);
        seam::model_fence();
        // SAFETY: this is the cell's turn, its last one: no other thread touches the actor.
        let behavior = cell.behavior.with_mut(|place| unsafe { (*place).take() });
        let panic = cell
            .life
            .noted()
            .and_then(|noted| panic_of(cell.id, &noted));
        let drops = || {
            if let Some(behavior) = behavior {
                // SAFETY: of this type by the caller's promise, put there as a box's own, and taken out.
                let mut behavior = unsafe { boxed(behavior) };
                // It is still this actor that is at work: what it sends now to one that has no room keeps no thread, which
                // that one may need.
                // SAFETY: `this` is the cell of an actor with this behavior, and alive until its own reference is given up below.
                let at_work = unsafe { AtWork::begin(this.cast(), Self::KIND) };
                // What the actor's own hook or drop does wrong is its own business.
                contain(|| behavior.stopped());
                contain(move || drop(behavior));
                drop(at_work);
            }
            if let Some(record) = cell.record() {
                record.end();
            }
            if let Some(limited) = cell.limited() {
                limited.close();
            }
            // SAFETY: this thread has changed `draining` from `UNDRAINED`, so no other one is at the mailbox.
            unsafe { cell.lose_all() };
        };
        match panic {
            // What it kept of questions, and what was in its mailbox.
            Some(panic) => dropping_for(panic, drops),
            None => dropping_for_itself(drops),
        }
        cell.tell_of_end(reason);
        // SAFETY: the actor's own reference; those who still use the cell have theirs.
        unsafe { Arc::decrement_strong_count(this.as_ptr()) };
    }
}
