//! How an end of a link ends, or goes on with another process: who is told what.

use std::collections::HashMap;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use tamtam_actor::link::{FarCell, FarEnd, FarHold};
use tamtam_actor::{AskError, EndReason, Fate, LinkFailure, Loss};

use crate::core::{Core, State};
use crate::error::LinkEnd;
use crate::frame::{Body, Frame, ROOT};
use crate::root_log::RootLog;
use crate::tables::{PendingReplies, Unconfirmed, Unsent};

/// How the process at the other side has died, and how far it had got.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{EndReason, ProcessEnd};
/// use tamtam_link::Death;
///
/// let why = EndReason::ProcessEnded(ProcessEnd::Killed(9));
/// let death = Death { done: 7, begun: 8, why };
/// assert!(death.why.is_abnormal()); // at the eighth message
/// ```
#[derive(Clone, Debug)]
pub struct Death {
    /// So many of the messages to its root it was done with.
    pub done: u64,
    /// So many it had begun: one more than that, or as many.
    pub begun: u64,
    /// Why.
    pub why: EndReason,
}

impl Core {
    /// Ends the link, for the first reason that is given.
    pub(crate) fn end(&self, why: LinkEnd) {
        let reason = lost(&why);
        self.end_for(why, &reason);
    }

    /// As `end`; the actors of the other side have ended for this reason.
    pub(crate) fn end_for(&self, why: LinkEnd, reason: &EndReason) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let mut unsent = Vec::new();
        match &why {
            // What is outgoing still goes.
            LinkEnd::Closed => state.write(&Frame::Goodbye("it was closed")),
            LinkEnd::Protocol(text) | LinkEnd::Refused(text) => {
                state.write(&Frame::Goodbye(text));
            }
            LinkEnd::Unhandled(_) => {
                state.write(&Frame::Goodbye(
                    "what it sends is not handled, and an answer is awaited behind it",
                ));
            }
            LinkEnd::Silent(limit) => {
                let text = format!("no hello has come within {limit:?}");
                state.write(&Frame::Goodbye(&text));
            }
            LinkEnd::Goodbye(_) | LinkEnd::Lost(_) | LinkEnd::Unread(_) => {
                state.outgoing = Vec::new();
                unsent = take(&mut state.attached);
            }
        }
        let is_cut = !matches!(
            why,
            LinkEnd::Closed
                | LinkEnd::Protocol(_)
                | LinkEnd::Refused(_)
                | LinkEnd::Silent(_)
                | LinkEnd::Unhandled(_)
        );
        state.end = Some(why.clone());
        state.reason = Some(reason.clone());
        state.teller = Some(thread::current().id());
        self.is_over.store(true, Ordering::SeqCst);
        let timer = state.hello_timer.take();
        let lent = take(&mut state.lent);
        let links = take(&mut state.links);
        let exports = state.exports.take();
        let later = take(&mut state.later);
        let mut left = state.take_left(is_cut);
        let kept = state.log.as_mut().map(RootLog::take).unwrap_or_default();
        let actors = state.take_actors(|_| true);
        drop(state);
        if let Some(timer) = timer {
            timer.cancel();
        }
        (self.wake)();
        let root = self.root_if_known();
        if let Some(root) = root {
            for (place, message) in kept.iter().enumerate() {
                let loss = if place < kept.written() {
                    Loss::FateUnknown
                } else {
                    Loss::Unreachable
                };
                root.note_bytes_lost(loss, message.payload.into());
            }
        }
        left.not_begun(kept.iter().skip(kept.written()));
        left.tell(|fate| unanswered(reason, fate, &why));
        let mut state = self.lock();
        state.teller = None;
        let watched_meanwhile = state.take_actors(|_| true);
        drop(state);
        actors.end(reason);
        watched_meanwhile.end(reason);
        drop((exports, later, lent, unsent, links));
    }

    /// The process at the other side has died, and another one takes its place: what its root was sent and has not begun goes there;
    /// all else is over. `hello` is said to it.
    pub(crate) fn begin_again(&self, death: Death, hello: &Frame<'_>) -> Result<(), LinkEnd> {
        let root = Arc::clone(self.root());
        let mut state = self.lock();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        let state_now = &mut *state;
        let Some(log) = &mut state_now.log else {
            unreachable!("only links that keep what the root is sent begin again");
        };
        self.generation.fetch_add(1, Ordering::SeqCst);
        state_now.death = Some(death.why.clone());
        let over = log.take_over(death.done, death.begun);
        log.begin_again();
        let gone = state_now
            .exports
            .reset_to(log.iter().flat_map(|message| message.exports));
        let replies = log.iter().flat_map(|message| message.replies);
        let kept_pending: PendingReplies = replies
            .filter_map(|reply| Some((reply, state_now.pending.remove(&reply)?)))
            .collect();
        state_now.outgoing.clear();
        let unsent = take(&mut state_now.attached);
        // The next process is sent them once more.
        let kept_lent = log.lent().cloned();
        let kept_lent = kept_lent.map(|lent| (lent.number, lent.lot)).collect();
        let lent = std::mem::replace(&mut state_now.lent, kept_lent);
        let mut left = state_now.take_left(true);
        state_now.pending = kept_pending;
        state_now.violation = None;
        state_now.longest_there = None;
        state_now.root_end = None;
        let actors = state_now.take_actors(|number| number != ROOT);
        state_now.write(hello);
        if state_now.watched.contains_key(&ROOT) {
            state_now.write(&Frame::Watch(ROOT));
        }
        // It may have been said to the one that has died.
        if state_now.log.as_ref().is_some_and(RootLog::is_to_stop) {
            state_now.write(&Frame::Stop(ROOT));
        }
        let linked = state_now.link_again(&root);
        drop(state);
        drop(linked);
        root.confirmed(over.done + u64::from(over.begun.is_some()));
        if let Some(poison) = over.begun {
            let why = match &death.why {
                EndReason::ProcessEnded(end) => Loss::ProcessEnded(*end),
                EndReason::Panicked(_) | EndReason::GaveUp { .. } => Loss::Panicked,
                _ => Loss::FateUnknown,
            };
            root.note_bytes_lost(why, poison.into());
        }
        left.begun_by_root();
        left.tell(|fate| unanswered(&death.why, fate, &death.why));
        actors.end(&death.why);
        drop((gone, unsent, lent));
        (self.wake)();
        Ok(())
    }

    /// How the root of this side has ended.
    pub(crate) fn own_root_end(&self) -> Option<EndReason> {
        self.lock().own_root_end.clone().map(FarEnd::heard)
    }

    /// Whether the root was told to end, if what goes to it is kept.
    pub(crate) fn is_root_told_to_end(&self) -> bool {
        self.lock()
            .log
            .as_ref()
            .is_some_and(RootLog::is_told_to_end)
    }

    /// Why the root would end at once in another process, if what goes to it is kept and it would.
    pub(crate) fn root_end_at_once(&self) -> Option<EndReason> {
        self.lock().log.as_ref()?.end_at_once()
    }

    /// How the root has ended, if what goes to it is kept.
    pub(crate) fn root_end(&self) -> Option<EndReason> {
        self.lock().root_end.clone().map(FarEnd::heard)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end(LinkEnd::Lost("what carried the link has dropped it".into()));
    }
}

/// Why a question gets no answer that had got so far, and whose actor has ended for this reason, in these words.
fn unanswered(reason: &EndReason, fate: Fate, words: &dyn std::fmt::Display) -> AskError {
    let said = match fate {
        Fate::NotBegun => "the question was not sent",
        Fate::Begun => "the question was begun",
        Fate::Unknown => "whether the question was handled is not known",
    };
    let text = format!("{words}; {said}");
    match reason {
        EndReason::ProcessEnded(end) if fate == Fate::Begun => AskError::ProcessEnded(*end),
        EndReason::ProcessEnded(end) => {
            AskError::Unreachable(LinkFailure::of_process(fate, text, *end))
        }
        _ => AskError::Unreachable(LinkFailure::new(fate, text)),
    }
}

/// Actors of the other side that have ended.
struct EndedActors {
    watched: Vec<Arc<FarCell>>,
    held: Vec<Arc<FarHold>>,
}

impl EndedActors {
    /// Tells those who watch them. Under no lock.
    fn end(self, reason: &EndReason) {
        let held = self.held.iter().map(|hold| hold.cell());
        for cell in self.watched.iter().chain(held) {
            cell.end(reason.clone());
        }
    }
}

/// Questions and messages of which it is not known what has become of them.
struct Left {
    pending: PendingReplies,
    /// Questions of which it is known how far they had got.
    fates: HashMap<u64, Fate>,
    unconfirmed: HashMap<u64, Unconfirmed>,
    /// So many of the messages to an actor were not sent.
    unsent: HashMap<u64, u64>,
}

impl Left {
    /// These messages were not sent.
    fn not_begun<'a>(&mut self, messages: impl Iterator<Item = Body<'a>>) {
        for message in messages {
            let replies = message.replies.iter();
            self.fates
                .extend(replies.map(|reply| (*reply, Fate::NotBegun)));
        }
    }

    /// Those that the root was asked were begun: others go to the next process.
    fn begun_by_root(&mut self) {
        let of_root = self
            .pending
            .iter()
            .filter(|(_, it)| it.root_message.is_some());
        self.fates
            .extend(of_root.map(|(number, _)| (*number, Fate::Begun)));
    }

    /// Tells those who wait for answers why there are none, and of messages that they may be lost.
    fn tell(self, why: impl Fn(Fate) -> AskError) {
        for (number, pending) in self.pending {
            let fate = self.fates.get(&number).copied();
            let fate = fate.unwrap_or(Fate::Unknown);
            // What is done with an answer is the user's.
            let fail = || pending.reply.fail(why(fate));
            drop(catch_unwind(AssertUnwindSafe(fail)));
        }
        for (number, Unconfirmed { cell, count }) in self.unconfirmed {
            let unsent = self
                .unsent
                .get(&number)
                .map_or(0, |&unsent| unsent.min(count));
            cell.note_all_lost(count - unsent, Loss::FateUnknown);
            cell.note_all_lost(unsent, Loss::Unreachable);
        }
    }
}

impl State {
    /// What is not answered and not confirmed. If the link was cut, what is outgoing was not sent, and will not be.
    fn take_left(&mut self, is_cut: bool) -> Left {
        self.count_unsent();
        let mut left = Left {
            pending: take(&mut self.pending),
            fates: HashMap::new(),
            unconfirmed: take(&mut self.unconfirmed),
            unsent: HashMap::new(),
        };
        let (unasked, unsent) = (take(&mut self.unasked), take(&mut self.unsent));
        if is_cut {
            let unasked = unasked.into_iter();
            left.fates.extend(unasked.map(|it| (it, Fate::NotBegun)));
            for Unsent { actor, count, .. } in unsent {
                *left.unsent.entry(actor).or_default() += count;
            }
        }
        left
    }

    /// The actors there that are known here, of those with these numbers.
    fn take_actors(&mut self, which: impl Fn(u64) -> bool) -> EndedActors {
        let imports = self.imports.extract_if(|number, _| which(*number));
        let held = imports.filter_map(|(_, import)| import.hold.upgrade());
        let held = held.collect();
        let watched = self.watched.extract_if(|number, _| which(*number));
        EndedActors {
            watched: watched.flat_map(|(_, cells)| cells).collect(),
            held,
        }
    }
}

pub(crate) fn lost(why: &LinkEnd) -> EndReason {
    EndReason::LinkLost(why.to_string().into())
}
