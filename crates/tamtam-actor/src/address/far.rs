//! The way to an actor in another process.

use core::marker::PhantomData;
use core::task::Waker;
use std::sync::{Arc, Weak};
use std::time::Instant;

use serde::Serialize;
use tamtam_wait::{Source, TaskWait, or_undo};

use super::recipient::{Recipient, WeakRecipient};
use super::{Address, Way};
use crate::cell::{AnyActor, AwaitedAnswer, Door, FarCell};
use crate::error::{AskError, LinkFailure, TellError};
use crate::id::ActorId;
use crate::mailbox::{Level, Loss, Receipt, Reserved, WhenNoRoom};
use crate::reply::{Answer, AskedBy, ThreadAnswer};
use crate::task::ThreadWait;
use crate::waits::{FIRST_PROBE, LONGEST_PAUSE, Waiting};
use crate::wire::Encoding;

/// An address of the actor, among others: when the last one is gone, the other process is told.
#[derive(Debug)]
#[doc(hidden)]
pub struct FarHold(Arc<FarCell>);

impl FarHold {
    /// The first of them.
    pub fn first(cell: Arc<FarCell>) -> Arc<Self> {
        Arc::new(FarHold(cell))
    }

    /// What stands here for the actor.
    pub fn cell(&self) -> &Arc<FarCell> {
        &self.0
    }
}

impl Drop for FarHold {
    fn drop(&mut self) {
        self.0.far().release();
    }
}

/// An answer, and the wait of a thread for it.
struct Awaited<R> {
    /// Until it is taken.
    answer: Option<ThreadAnswer<R>>,
    wait: TaskWait,
    deadline: Option<Instant>,
    answered: Option<Result<R, AskError>>,
}

impl<R> AwaitedAnswer for Awaited<R> {
    fn is_lent(&self) -> bool {
        self.answer.as_ref().is_some_and(ThreadAnswer::is_lent)
    }

    fn is_there(&self) -> bool {
        self.answer.as_ref().is_none_or(ThreadAnswer::is_there)
    }

    fn poll(&mut self, waker: &Waker) -> bool {
        let answer = self.answer.as_ref();
        answer.is_none_or(|answer| answer.poll(&mut self.wait, waker))
    }

    fn wait(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer.cancel(&mut self.wait);
            self.answered = Some(answer.wait_until(self.deadline));
        }
    }
}

impl<R> Drop for Awaited<R> {
    fn drop(&mut self) {
        // What is done meanwhile has panicked.
        if let Some(answer) = &self.answer {
            answer.cancel(&mut self.wait);
        }
    }
}

/// Waits for an answer of the actor; the link may have something for this thread to do meanwhile.
pub(super) fn wait_for<R>(
    hold: &FarHold,
    answer: ThreadAnswer<R>,
    deadline: Option<Instant>,
) -> Result<R, AskError> {
    let mut awaited = Awaited {
        answer: Some(answer),
        wait: TaskWait::new(),
        deadline,
        answered: None,
    };
    hold.0.far().while_waiting(&mut awaited, deadline);
    awaited.wait();
    match awaited.answered.take() {
        Some(answered) => answered,
        None => unreachable!("a wait is waited for"),
    }
}

/// Writes messages for an actor in another process.
struct Far<M> {
    hold: Arc<FarHold>,
    messages: PhantomData<fn(M)>,
}

/// The same as long as there are addresses of the actor.
struct WeakFar<M> {
    hold: Weak<FarHold>,
    messages: PhantomData<fn(M)>,
}

impl<M: Serialize + 'static> WeakRecipient<M> for WeakFar<M> {
    fn upgrade(&self) -> Option<Arc<dyn Recipient<M> + Send + Sync>> {
        Some(Arc::new(Far {
            hold: self.hold.upgrade()?,
            messages: PhantomData,
        }))
    }
}

impl<M: Serialize + 'static> Address<M> {
    /// The address of an actor in another process, which takes such messages.
    pub(crate) fn far(hold: Arc<FarHold>) -> Self {
        Address {
            way: Way::Through(Arc::new(Far {
                hold,
                messages: PhantomData,
            })),
        }
    }
}

impl<M> Address<M> {
    /// How many messages from another process may be on their way to the actor, or in its mailbox: if that is made for waiting.
    pub(crate) fn window(&self) -> u64 {
        if !self.waits() {
            return 0;
        }
        let level = self.level();
        level.and_then(|level| level.capacity).unwrap_or(0) as u64
    }

    /// As [`try_tell`](Address::try_tell), for a message whose sender waits at the other end of a link.
    pub(crate) fn tell_from_afar(&self, message: M) -> Result<(), TellError<M>> {
        self.push(message, WhenNoRoom::Above)
    }

    /// Waits for an answer in a turn of an actor, and looks now and then whether the actor in the other process waits for that one
    /// in turn.
    pub(super) fn wait_afar<R: Send + 'static>(
        &self,
        waiting: &Waiting,
        answer: &Answer<R>,
        deadline: Option<Instant>,
    ) -> Result<R, AskError> {
        let (mut pause, mut next) = (FIRST_PROBE, FIRST_PROBE);
        loop {
            let look = Instant::now() + pause;
            let is_last = deadline.is_some_and(|deadline| deadline <= look);
            let until = if is_last { deadline } else { Some(look) };
            if let Some(answered) = self.wait_for(answer, until) {
                return answered;
            }
            if let Some(cycle) = waiting.found() {
                return Err(AskError::Cycle(cycle));
            }
            if is_last {
                return Err(AskError::TimedOut);
            }
            pause = waiting.probe(self.id()).unwrap_or_else(|| {
                let longer = (next * 2).min(LONGEST_PAUSE);
                core::mem::replace(&mut next, longer)
            });
        }
    }

    /// Whether the actor has no turn and none is due; one in another process counts as such.
    pub(crate) fn is_idle(&self) -> bool {
        match &self.way {
            Way::Here(held) => held.0.is_idle(),
            Way::Through(recipient) => recipient.is_idle(),
        }
    }

    /// Whether the actor handles no message until there is room for what it has sent; of one in another process that is not known here.
    pub(crate) fn is_muted(&self) -> bool {
        matches!(&self.way, Way::Here(held) if !held.0.is_unmuted())
    }

    /// Offers the actor messages, if it has its turns on this thread: see [`Cell::offer`](crate::cell::Cell::offer).
    pub(crate) fn offer(&self, next: &mut dyn FnMut() -> Option<M>, run: impl FnOnce()) {
        if let Way::Here(held) = &self.way
            && held.0.is_plain()
        {
            held.0.offer(next, run);
        }
    }

    /// See [`Recipient::when_gone`].
    pub(crate) fn when_gone(&self, then: Receipt) {
        match &self.way {
            Way::Here(held) => held.0.when_gone(then),
            Way::Through(recipient) => recipient.when_gone(then),
        }
    }

    /// See [`Recipient::push_receipt`].
    pub(crate) fn push_receipt(&self, receipt: Receipt) {
        match &self.way {
            Way::Here(held) => held.0.push_receipt(receipt),
            Way::Through(recipient) => recipient.push_receipt(receipt),
        }
    }

    /// What holds the actor in another process that this leads to, without a mapping in between.
    pub(crate) fn far_hold(&self) -> Option<&Arc<FarHold>> {
        match &self.way {
            Way::Here(_) => None,
            Way::Through(recipient) => recipient.far_hold(),
        }
    }

    /// What tells this way to the actor from others, as long as it is kept.
    pub(crate) fn key(&self) -> usize {
        match &self.way {
            Way::Here(held) => Arc::as_ptr(&held.0).addr(),
            Way::Through(recipient) => Arc::as_ptr(recipient).cast::<()>().addr(),
        }
    }
}

impl<M: Serialize + 'static> Recipient<M> for Far<M> {
    fn reserve(&self, when: WhenNoRoom) -> Reserved {
        self.hold.0.reserve(when)
    }

    fn fill(&self, message: M, _: Option<AskedBy>) -> Result<(), TellError<M>> {
        let mut encode = |encoding: Encoding, bytes: &mut Vec<u8>| encoding.encode(&message, bytes);
        let tell = || self.hold.0.far().tell(&self.hold.0, &mut encode);
        or_undo(tell, || self.release()).map_err(|(why, failure)| {
            self.release();
            TellError::not_sent(self.id(), message, why, failure)
        })
    }

    fn notes_askers(&self) -> bool {
        false
    }

    fn release(&self) {
        self.hold.0.confirmed(1);
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.hold.0.with_room(look);
    }

    fn note_lost(&self, message_type: &'static str, why: Loss) {
        self.hold.0.note_lost(message_type, why);
    }

    fn id(&self) -> ActorId {
        self.hold.0.id()
    }

    fn stop(&self) {
        self.hold.0.far().stop();
    }

    fn is_stopped(&self) -> bool {
        self.hold.0.is_stopped()
    }

    fn lost(&self) -> u64 {
        self.hold.0.lost()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        self.hold.0.far().before_wait();
        Some(ThreadWait::PLAIN)
    }

    fn outlet(&self) -> Arc<dyn Recipient<M> + Send + Sync> {
        Arc::new(Far {
            hold: Arc::clone(&self.hold),
            messages: PhantomData,
        })
    }

    fn downgrade(&self) -> Arc<dyn WeakRecipient<M> + Send + Sync> {
        Arc::new(WeakFar {
            hold: Arc::downgrade(&self.hold),
            messages: PhantomData,
        })
    }

    fn door(&self) -> Arc<dyn Door> {
        Arc::clone(&self.hold.0) as Arc<dyn Door>
    }

    fn waits(&self) -> bool {
        self.hold.0.waits()
    }

    fn level(&self) -> Option<Level> {
        None
    }

    fn place(&self) -> Arc<dyn AnyActor> {
        Arc::clone(&self.hold.0) as Arc<dyn AnyActor>
    }

    fn location(&self) -> usize {
        Arc::as_ptr(&self.hold.0).addr()
    }

    fn name(&self) -> Option<Arc<str>> {
        AnyActor::name(&*self.hold.0)
    }

    fn link_lost(&self) -> Option<LinkFailure> {
        self.hold.0.link_lost()
    }

    fn far_hold(&self) -> Option<&Arc<FarHold>> {
        Some(&self.hold)
    }
}
