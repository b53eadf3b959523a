//! How an end of a link ends, or goes on with another process: who is told what.

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tamtam_actor::link::{FarCell, FarHold};
use tamtam_actor::{AskError, EndReason, LinkFailure, Loss};

use crate::core::{Core, State};
use crate::error::LinkEnd;
use crate::frame::{Frame, ROOT};
use crate::root_log::RootLog;
use crate::tables::{Pending, Unconfirmed};

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
            LinkEnd::Closed => Frame::Goodbye("it was closed").write(&mut state.outgoing),
            LinkEnd::Protocol(text) | LinkEnd::Refused(text) => {
                Frame::Goodbye(text).write(&mut state.outgoing);
            }
            LinkEnd::Goodbye(_) | LinkEnd::Lost(_) | LinkEnd::Unread(_) => {
                state.outgoing = Vec::new();
                unsent = take(&mut state.attached);
            }
        }
        let is_cut = !matches!(
            why,
            LinkEnd::Closed | LinkEnd::Protocol(_) | LinkEnd::Refused(_)
        );
        state.end = Some(why.clone());
        self.is_over.store(true, Ordering::SeqCst);
        let lent = take(&mut state.lent);
        let exports = state.exports.take();
        let later = take(&mut state.later);
        let left = state.take_left(is_cut);
        let kept = state.log.as_mut().map(RootLog::take).unwrap_or_default();
        let actors = state.take_actors(|_| true);
        drop(state);
        (self.wake)();
        let root = self.root_if_known();
        if let Some(root) = root {
            for message in kept.iter() {
                root.note_bytes_lost(Loss::Unreachable, message.payload.into());
            }
        }
        left.tell(|is_unasked| {
            let fate = if is_unasked {
                "the question was not sent"
            } else {
                "whether the question was handled is not known"
            };
            unanswered(reason, || format!("{why}; {fate}"))
        });
        actors.end(reason);
        drop((exports, later, lent, unsent));
    }

    /// The process at the other side has died, and another one takes its place: what its root was sent and has not begun goes there;
    /// all else is over. `hello` is said to it.
    pub(crate) fn begin_again(&self, death: Death, hello: &Frame<'_>) -> Result<(), LinkEnd> {
        let mut state = self.lock();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        let state_now = &mut *state;
        let Some(log) = &mut state_now.log else {
            unreachable!("only links that keep what the root is sent begin again");
        };
        self.generation.fetch_add(1, Ordering::SeqCst);
        let over = log.take_over(death.done, death.begun);
        log.begin_again();
        let gone = state_now
            .exports
            .reset_to(log.iter().flat_map(|message| message.exports.into_owned()));
        let replies = log.iter().flat_map(|message| message.replies.into_owned());
        let kept_pending: HashMap<u64, Pending> = replies
            .filter_map(|reply| Some((reply, state_now.pending.remove(&reply)?)))
            .collect();
        state_now.outgoing.clear();
        let unsent = take(&mut state_now.attached);
        // The next process is sent them once more.
        let kept_lent = log.lent().cloned();
        let kept_lent = kept_lent.map(|lent| (lent.number, lent.lot)).collect();
        let lent = std::mem::replace(&mut state_now.lent, kept_lent);
        let left = state_now.take_left(false);
        state_now.pending = kept_pending;
        state_now.longest_there = None;
        state_now.root_end = None;
        let actors = state_now.take_actors(|number| number != ROOT);
        hello.write(&mut state_now.outgoing);
        if state_now.watched.contains_key(&ROOT) {
            Frame::Watch(ROOT).write(&mut state_now.outgoing);
        }
        // It may have been said to the one that has died.
        if state_now.log.as_ref().is_some_and(RootLog::is_to_stop) {
            Frame::Stop(ROOT).write(&mut state_now.outgoing);
        }
        drop(state);
        let root = Arc::clone(self.root());
        root.confirmed(over.done + u64::from(over.begun.is_some()));
        if let Some(poison) = over.begun {
            let why = match &death.why {
                EndReason::ProcessEnded(end) => Loss::ProcessEnded(*end),
                EndReason::Panicked(_) | EndReason::GaveUp { .. } => Loss::Panicked,
                _ => Loss::FateUnknown,
            };
            root.note_bytes_lost(why, poison.into());
        }
        left.tell(|_| unanswered(&death.why, || death.why.to_string()));
        actors.end(&death.why);
        drop((gone, unsent, lent));
        (self.wake)();
        Ok(())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end(LinkEnd::Lost("what carried the link has dropped it".into()));
    }
}

/// Why a question gets no answer whose actor has ended for this reason.
fn unanswered(reason: &EndReason, text: impl FnOnce() -> String) -> AskError {
    match reason {
        EndReason::ProcessEnded(end) => AskError::ProcessEnded(*end),
        _ => AskError::Unreachable(LinkFailure::new(text())),
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
    pending: HashMap<u64, Pending>,
    /// Questions that were not sent.
    unasked: HashSet<u64>,
    unconfirmed: HashMap<u64, Unconfirmed>,
    /// So many of the messages to an actor were not sent.
    unsent: HashMap<u64, u64>,
}

impl Left {
    /// Tells those who wait for answers why there are none, and of messages that they may be lost.
    fn tell(self, why: impl Fn(bool) -> AskError) {
        for (number, pending) in self.pending {
            let is_unasked = self.unasked.contains(&number);
            // What is done with an answer is the user's.
            let fail = || pending.reply.fail(why(is_unasked));
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
    /// What is not answered and not confirmed. If the link was cut, what is outgoing was not sent.
    fn take_left(&mut self, is_cut: bool) -> Left {
        let mut left = Left {
            pending: take(&mut self.pending),
            unasked: HashSet::new(),
            unconfirmed: take(&mut self.unconfirmed),
            unsent: HashMap::new(),
        };
        let (unasked, unsent) = (take(&mut self.unasked), take(&mut self.unsent));
        if is_cut {
            left.unasked.extend(unasked);
            for actor in unsent {
                *left.unsent.entry(actor).or_default() += 1;
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
            watched: watched.map(|(_, cell)| cell).collect(),
            held,
        }
    }
}

pub(crate) fn lost(why: &LinkEnd) -> EndReason {
    EndReason::LinkLost(why.to_string().into())
}
