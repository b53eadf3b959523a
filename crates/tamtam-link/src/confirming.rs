//! Which messages the other side is done with: what it says of them, and what is said of those here.

use std::mem::take;
use std::sync::Arc;

use tamtam_actor::Loss;
use tamtam_actor::link::FarCell;

use crate::core::{Core, State};
use crate::error::LinkEnd;
use crate::frame::{Frame, ROOT};
use crate::root_log::RootLog;
use crate::tables::{Pending, Unconfirmed, Unsent};

/// So many bytes are moved to make room before them.
const MOST_MOVED: usize = 4 << 10;

impl Core {
    /// So many more messages from there to this actor are done with.
    pub(crate) fn confirm(&self, actor: u64, generation: u64, count: u64) {
        self.write_of(generation, &Frame::Confirm(actor, count));
    }

    /// As `confirm`, ahead of what waits to go, unless that is much.
    pub(crate) fn confirm_ahead(&self, actor: u64, count: u64) {
        self.say(
            |_| true,
            |state| {
                let waiting = state.outgoing.len();
                state.write(&Frame::Confirm(actor, count));
                if waiting <= MOST_MOVED && state.has_said_hello {
                    let length = state.outgoing.len() - waiting;
                    state.outgoing.rotate_right(length);
                    for attached in &mut state.attached {
                        attached.shift(length);
                    }
                }
            },
        );
    }

    /// The other side is done with so many more of the messages to its actor.
    pub(crate) fn confirmed(&self, actor: u64, count: u64) -> Result<(), LinkEnd> {
        let mut state = self.lock();
        let had_outgoing = state.has_outgoing();
        if actor == ROOT
            && let Some(log) = &mut state.log
        {
            let done = log.confirm(count);
            // Others may have room by that.
            self.written(state, had_outgoing);
            drop(done.map_err(|sent| too_many_confirmed(actor, count, sent))?);
            self.root().confirmed(count);
            return Ok(());
        }
        state.count_unsent();
        let unconfirmed = state.unconfirmed.get_mut(&actor);
        let sent = unconfirmed.as_ref().map_or(0, |sent| sent.count);
        let cell = match unconfirmed {
            Some(unconfirmed) if count < sent => {
                unconfirmed.count -= count;
                Arc::clone(&unconfirmed.cell)
            }
            Some(_) if count == sent => match state.unconfirmed.remove(&actor) {
                Some(unconfirmed) => unconfirmed.cell,
                None => unreachable!("it was there"),
            },
            _ => return Err(too_many_confirmed(actor, count, sent)),
        };
        // They went before its hello had come.
        let is_lost = actor == ROOT && state.is_rootless_there;
        drop(state);
        cell.confirmed(count);
        if is_lost {
            cell.note_all_lost(count, Loss::Unreachable);
        }
        Ok(())
    }

    /// How many messages are not confirmed by the other side.
    pub(crate) fn unconfirmed(&self) -> u64 {
        self.lock().sum_of_unconfirmed()
    }

    /// How many messages are not known to be begun by the other side, and how many are not confirmed. They differ by those to the root up to the last of
    /// which a question was answered, on a link that keeps them.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        let mut state = self.lock();
        let unconfirmed = state.sum_of_unconfirmed();
        let begun = |log: &RootLog| log.len() as u64 - log.behind_answers();
        (
            unconfirmed - state.log.as_ref().map_or(0, begun),
            unconfirmed,
        )
    }
}

impl State {
    /// Counts a message to an actor there as one that is to be confirmed, if it is.
    pub(crate) fn count_sent(&mut self, actor: u64, cell: &Arc<FarCell>, has_no_replies: bool) {
        if has_no_replies || cell.has_window() {
            match self.unsent.last_mut() {
                Some(last) if last.actor == actor && Arc::ptr_eq(&last.cell, cell) => {
                    last.count += 1;
                    last.uncounted += 1;
                }
                _ => self.unsent.push(Unsent {
                    actor,
                    cell: Arc::clone(cell),
                    count: 1,
                    uncounted: 1,
                }),
            }
        } else if actor == ROOT && self.longest_there.is_none() {
            self.early_questions += 1;
        }
    }

    /// The question that this reply is for, which ends now; none if it was not asked.
    pub(crate) fn end_pending(&mut self, reply: u64) -> Option<Pending> {
        let pending = self.pending.remove(&reply)?;
        if let (Some(place), Some(log)) = (pending.root_message, &mut self.log) {
            log.answered(place);
        }
        Some(pending)
    }

    fn sum_of_unconfirmed(&mut self) -> u64 {
        self.count_unsent();
        let kept = self.log.as_ref().map_or(0, RootLog::len);
        let sent = self.unconfirmed.values().map(|sent| sent.count);
        sent.sum::<u64>() + kept as u64
    }

    /// Counts what is not sent as unconfirmed: before a look at that.
    pub(crate) fn count_unsent(&mut self) {
        let mut unsent = take(&mut self.unsent);
        for run in &mut unsent {
            self.count_questions(run.actor, &run.cell, take(&mut run.uncounted));
        }
        self.unsent = unsent;
    }

    pub(crate) fn count_questions(&mut self, actor: u64, cell: &Arc<FarCell>, count: u64) {
        if count == 0 {
            return;
        }
        let unconfirmed = self.unconfirmed.entry(actor);
        let unconfirmed = unconfirmed.or_insert_with(|| Unconfirmed {
            cell: Arc::clone(cell),
            count: 0,
        });
        unconfirmed.count += count;
    }
}

fn too_many_confirmed(actor: u64, count: u64, sent: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it confirms {count} messages to actor {actor}, to which {sent} are on their way"
    ))
}
