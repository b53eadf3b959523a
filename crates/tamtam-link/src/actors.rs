//! Which actors each side knows of the other: those that are exported from here, and those that were received.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use tamtam_actor::link::{Exported, FarActor, FarCell, FarEnd, FarHold};
use tamtam_actor::{EndReason, Ended, ProcessEnd};

use crate::core::{Core, FarName, State};
use crate::far_peer::FarPeer;
use crate::frame::{Frame, ROOT};
use crate::in_hand::Noted;
use crate::tables::{Import, Received};

/// The generation of what is not there any more.
const NEVER: u64 = u64::MAX;

mod linking;
#[cfg(all(test, tamtam_loom))]
mod loom_tests;

impl Core {
    /// Counts an actor as sent once more; the number under which the other side knows it, and the generation for which it is counted.
    pub(crate) fn export_actor(&self, actor: Arc<dyn Exported>) -> (u64, u64) {
        let mut state = self.lock();
        let linked = state.links.number_of(actor.id());
        (state.exports.add(actor, linked), self.generation())
    }

    /// The actor that the other side may reach from the beginning.
    pub(crate) fn offer_root(&self, root: Arc<dyn Exported>) {
        self.lock().exports.add_as(ROOT, Arc::clone(&root));
        self.watch_export(ROOT, &root);
    }

    /// Sees to it that the other side hears of the actor's end.
    pub(crate) fn watch_export(&self, number: u64, actor: &Arc<dyn Exported>) {
        let is_to_be_watched = |state: &State| {
            let export = state.exports.get(number);
            export.is_some_and(|export| export.watching.is_none())
        };
        if !is_to_be_watched(&self.lock()) {
            return;
        }
        let link = Weak::clone(&self.this);
        let watching = actor.watch(Box::new(move |ended: &Ended| {
            if let Some(core) = link.upgrade() {
                core.has_ended(number, core.end_to_tell(&ended.reason));
            }
        }));
        let unused = match self.lock().exports.get_mut(number) {
            Some(export) => export.watching.replace(watching),
            None => Some(watching),
        };
        drop(unused);
    }

    /// Tells the end of an actor of this side once more: it may have ended already.
    pub(crate) fn watch_again(&self, number: u64) {
        let before = self.lock().exports.begin_watch(number);
        if let Some((actor, watching)) = before {
            drop(watching);
            self.watch_export(number, &actor);
        }
    }

    /// An actor of this side has ended.
    fn has_ended(&self, number: u64, end: FarEnd) {
        let mut state = self.lock();
        if number == ROOT {
            state.own_root_end.get_or_insert_with(|| end.clone());
            self.is_over.store(true, Ordering::SeqCst);
        }
        let orphan = state.exports.take_orphan(number);
        // One of which only a process knew that is gone is known to none.
        let is_news = orphan.is_some() || state.exports.tell_once(number) == Some(true);
        if state.end.is_none() && is_news {
            let had_outgoing = state.has_outgoing();
            state.write(&Frame::Ended(number, end));
            self.written(state, had_outgoing);
        } else {
            drop(state);
        }
        drop(orphan);
    }

    /// What was counted for a message that was not sent, as far as it is counted still.
    pub(crate) fn take_back(&self, noted: &Noted) {
        let (generation, before) = noted.counted;
        for offer in noted.exports.iter().skip(before) {
            let mut state = self.lock();
            if self.generation() != generation {
                // What another process is owed was counted anew.
                return;
            }
            let gone = state.exports.release(offer.actor, 1);
            drop(state);
            drop(gone);
        }
    }

    /// An address of an actor there, which was received so often now; `None` if it was not, and there is none.
    pub(crate) fn import_actor(
        &self,
        number: u64,
        times: u64,
        window: u64,
        message_type: &'static str,
    ) -> Option<Arc<FarHold>> {
        let mut state = self.lock();
        let known = state.imports.get(&number);
        if let Some(hold) = known.and_then(|import| import.received_again(times)) {
            return Some(hold);
        }
        if times == 0 || state.end.is_some() {
            return None;
        }
        let received = Arc::new(Received::new(times));
        let name = FarName {
            name: None,
            message_type,
        };
        let hold = self.new_hold(&mut state, number, name, received);
        // Its last address may have gone while messages were on their way.
        state.count_unsent();
        let sent = state.unconfirmed.get_mut(&number).map_or(0, |sent| {
            sent.cell = Arc::clone(hold.cell());
            sent.count
        });
        hold.cell().open_window(window, sent, true);
        Some(hold)
    }

    pub(crate) fn new_hold(
        &self,
        state: &mut State,
        number: u64,
        name: FarName,
        received: Arc<Received>,
    ) -> Arc<FarHold> {
        let cell = self.new_cell(number, name, Arc::clone(&received));
        let hold = FarHold::first(cell);
        let import = Import {
            hold: Arc::downgrade(&hold),
            received,
        };
        state.imports.insert(number, import);
        hold
    }

    /// What stands here for an actor there, whose address was received so often.
    pub(crate) fn new_cell(
        &self,
        number: u64,
        name: FarName,
        received: Arc<Received>,
    ) -> Arc<FarCell> {
        let peer: Box<dyn FarActor> = Box::new(FarPeer {
            core: Weak::clone(&self.this),
            number,
            generation: self.generation(),
            received,
        });
        FarCell::new(name.name, name.message_type, self.time.clone(), peer)
    }

    /// What stands here for an actor of a process that had the link before, if this was the number of one: it has ended.
    pub(crate) fn of_predecessor(
        &self,
        number: u64,
        message_type: &'static str,
    ) -> Option<Arc<FarHold>> {
        if !self.lock().exports.was_of_predecessor(number) {
            return None;
        }
        let peer: Box<dyn FarActor> = Box::new(FarPeer {
            core: Weak::clone(&self.this),
            number,
            generation: NEVER,
            received: Arc::new(Received::new(0)),
        });
        let cell = FarCell::new(None, message_type, self.time.clone(), peer);
        cell.end(EndReason::ProcessEnded(ProcessEnd::Unknown));
        Some(FarHold::first(cell))
    }

    /// The actor of this side that the other one knows by this number.
    pub(crate) fn exported(&self, number: u64) -> Option<Arc<dyn Exported>> {
        let state = self.lock();
        let export = state.exports.get(number)?;
        Some(Arc::clone(&export.actor))
    }
}
