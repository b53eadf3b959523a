//! Messages and answers on their way to the other side, with all that is in them.

use std::cell::Cell;
use std::sync::Arc;

use tamtam_actor::link::{Encode, FarCell, FarFailure};
use tamtam_actor::{Fate, LinkFailure, Refusal};
use tamtam_wait::seam::MutexGuard;

use super::{BodyKind, Core, MOST_SCRATCH, State};
use crate::descriptors::Lent;
use crate::error::LinkEnd;
use crate::frame::{Body, Frame, ROOT, Replies, most_of_body};
use crate::in_hand::{self, Noted};
use crate::root_log::{RootLog, attach};
use crate::seats::seat_of;
use crate::tables::{GivenBack, Pending};

thread_local! {
    /// Where this thread writes messages.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Core {
    /// Sends a message or an answer, with all that is in it.
    pub(crate) fn send(
        &self,
        kind: BodyKind,
        asked: &Arc<FarCell>,
        encode: Encode<'_>,
    ) -> Result<(), (Refusal, LinkFailure)> {
        // A thread writes one message after the other into the same memory.
        let mut payload = SCRATCH.take();
        let sent = loop {
            payload.clear();
            // It is written once more where another process has begun meanwhile.
            if let Some(sent) = self.send_written(kind, asked, &mut *encode, &mut payload) {
                break sent;
            }
        };
        if payload.capacity() <= MOST_SCRATCH {
            SCRATCH.set(payload);
        }
        sent
    }

    /// `None` if the addresses in it were counted for a process that is gone.
    fn send_written(
        &self,
        kind: BodyKind,
        asked: &Arc<FarCell>,
        encode: Encode<'_>,
        payload: &mut Vec<u8>,
    ) -> Option<Result<(), (Refusal, LinkFailure)>> {
        let noted = match in_hand::write(self, encode, payload) {
            Ok(noted) => noted,
            Err(error) => {
                let why = LinkFailure::new(Fate::NotBegun, error);
                return Some(Err((Refusal::NotEncodable, why)));
            }
        };
        let Some(noted) = noted else {
            let length = most_of_body(0, 0, payload.len());
            let mut state = self.lock();
            if let Some(refused) = self.refuses(&state, kind, length) {
                return Some(Err(refused));
            }
            let had_outgoing = state.has_outgoing();
            match (kind, &mut state.log) {
                // Most messages to a process are these.
                (BodyKind::Tell(ROOT, _), Some(log)) => {
                    log.push_plain(payload);
                    self.written(state, had_outgoing);
                }
                _ => {
                    let nothing = GivenBack::new();
                    self.put(state, kind, asked, Body::plain(payload), None, nothing);
                }
            }
            return Some(Ok(()));
        };
        let length = most_of_body(noted.replies.len(), noted.exports.len(), payload.len());
        let mut state = self.lock();
        if let Some(refused) = self.refuses(&state, kind, length) {
            drop(state);
            self.take_back(&noted);
            return Some(Err(refused));
        }
        if !noted.exports.is_empty() && noted.counted != (self.generation(), 0) {
            drop(state);
            self.take_back(&noted);
            return None;
        }
        let Noted {
            replies,
            exports,
            lot,
            given_back,
            ..
        } = noted;
        let numbers: Replies = replies.iter().map(|(number, _)| *number).collect();
        let lot = lot.map(Arc::new);
        let root_message = matches!(kind, BodyKind::Tell(ROOT, _))
            .then(|| state.log.as_ref().map_or(0, RootLog::next_place));
        for (number, reply) in replies {
            // Before the answer can come.
            reply.sent();
            let pending = Pending {
                reply,
                asked: asked.id(),
                root_message,
            };
            state.pending.insert(number, pending);
        }
        let lent = lot.map(|lot| state.lend(lot));
        let body = Body {
            replies: numbers,
            exports,
            payload,
        };
        self.put(state, kind, asked, body, lent, given_back);
        Some(Ok(()))
    }

    /// Puts a message or an answer behind what is outgoing, and sees to it that it goes.
    fn put(
        &self,
        mut state: MutexGuard<'_, State>,
        kind: BodyKind,
        asked: &Arc<FarCell>,
        body: Body<'_>,
        lent: Option<Lent>,
        given_back: GivenBack,
    ) {
        let had_outgoing = state.has_outgoing();
        let is_waited_for = matches!(kind, BodyKind::Answer(..)) || !body.replies.is_empty();
        let state_now = &mut *state;
        match (kind, &mut state_now.log) {
            (BodyKind::Tell(ROOT, _), Some(log)) => {
                log.push(&body, lent, given_back);
            }
            (kind, _) => {
                if let Some(lent) = &lent {
                    attach(lent, &mut state_now.outgoing, &mut state_now.attached);
                }
                let frame = match kind {
                    BodyKind::Tell(actor, _) => {
                        state_now.count_sent(actor, asked, body.replies.is_empty());
                        state_now.unasked.extend_from_slice(&body.replies);
                        Frame::Tell(actor, body)
                    }
                    BodyKind::Answer(reply, _) => {
                        state_now.answered |= seat_of(reply);
                        Frame::Answer(reply, body)
                    }
                };
                frame.write(&mut state_now.outgoing);
            }
        }
        if !is_waited_for {
            return self.written(state, had_outgoing);
        }
        self.written_now(state, had_outgoing);
        if matches!(kind, BodyKind::Tell(..)) {
            self.asked();
        }
    }

    /// The other side has read what has these descriptors, or will not.
    pub(crate) fn received(&self, number: u64) -> Result<(), LinkEnd> {
        // What is lent is given up without the lock.
        let lot = self.lock().lent.remove(&number);
        lot.map(drop).ok_or_else(|| {
            LinkEnd::protocol(format!(
                "it has received descriptors of number {number}, which were not sent"
            ))
        })
    }

    /// Why what takes so many bytes is not sent, if it is not.
    fn refuses(
        &self,
        state: &State,
        kind: BodyKind,
        length: usize,
    ) -> Option<(Refusal, LinkFailure)> {
        if let Some(end) = &state.end {
            let text = format!("the link has ended before: {end}");
            return Some((Refusal::Unreachable, LinkFailure::new(Fate::NotBegun, text)));
        }
        let is_there = match kind {
            BodyKind::Tell(actor, generation) => self.is_there(actor, generation),
            BodyKind::Answer(_, generation) => generation == self.generation(),
        };
        if !is_there {
            let text = "the process has ended before";
            return Some((Refusal::Unreachable, LinkFailure::new(Fate::NotBegun, text)));
        }
        let there = state.longest_there.unwrap_or(u64::MAX);
        let most = there.min(self.longest_frame as u64);
        (length as u64 > most).then(|| {
            let text = format!("it takes {length} bytes, and the link carries {most} at once");
            (Refusal::TooLarge, LinkFailure::new(Fate::NotBegun, text))
        })
    }

    /// Sends an answer; if that cannot be, what the other side is to be told.
    pub(crate) fn answer_to(
        &self,
        reply: u64,
        generation: u64,
        encode: Encode<'_>,
    ) -> Result<(), FarFailure> {
        // What is asked by the way is asked of the other side as a whole.
        let sent = self.send(BodyKind::Answer(reply, generation), self.root(), encode);
        sent.map_err(|(why, failure)| {
            let text = format!("the answer was not sent: {failure}");
            match why {
                Refusal::NotEncodable => FarFailure::NotEncodable(Fate::Begun, text),
                Refusal::TooLarge => FarFailure::TooLarge(Fate::Begun, text),
                _ => FarFailure::Other(Fate::Begun, text),
            }
        })
    }
}
