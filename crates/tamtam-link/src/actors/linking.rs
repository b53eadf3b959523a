//! Watches, and links between actors of the two sides: how they are made and taken back, and what the other side hears of an actor's end.
//!
//! An actor that is linked with one of the other side has a number there, as one that is exported; its address is not, so that no actor there
//! can send to it. The side that has made the link says so, and how its actor ends; so does the other one of its actor.

use std::sync::Arc;
use std::thread;

use tamtam_actor::link::{FarCell, FarEnd, KeptActor, LinkTie};
use tamtam_actor::{EndReason, Ended};

use crate::core::{Core, FarName, State};
use crate::error::LinkEnd;
use crate::frame::{Frame, LinkMade, ROOT, cut_name};
use crate::tables::Received;

impl Core {
    /// Whether the end of an actor there is of interest here may have changed.
    pub(crate) fn watchers_changed(&self, number: u64, generation: u64, cell: &Arc<FarCell>) {
        let mut state = self.lock();
        // Looked at under the lock, so that who comes last has seen all.
        let is_watched = cell.is_watched();
        if let Some(reason) = state.reason.clone() {
            let is_being_told = state.teller.is_some_and(|it| it != thread::current().id());
            if is_watched && is_being_told {
                state
                    .watched
                    .entry(number)
                    .or_default()
                    .push(Arc::clone(cell));
            } else if is_watched {
                drop(state);
                cell.end(reason);
            }
            return;
        }
        if !self.is_there(number, generation) {
            let death = state.death.clone();
            drop(state);
            if is_watched {
                cell.end(
                    death.unwrap_or_else(|| EndReason::LinkLost("its process has ended".into())),
                );
            }
            return;
        }
        let had_outgoing = state.has_outgoing();
        if is_watched {
            let cells = state.watched.entry(number).or_default();
            if cells.iter().all(|known| !Arc::ptr_eq(known, cell)) {
                cells.push(Arc::clone(cell));
                if cells.len() == 1 {
                    state.write(&Frame::Watch(number));
                }
            }
        } else if let Some(cells) = state.watched.get_mut(&number) {
            // The caller has the cell, too.
            cells.retain(|known| !Arc::ptr_eq(known, cell));
            if cells.is_empty() {
                state.watched.remove(&number);
                state.write(&Frame::Unwatch(number));
            }
        }
        self.written(state, had_outgoing);
    }

    /// An actor there is linked with one of this side.
    pub(crate) fn linked_here(&self, number: u64, generation: u64, tie: LinkTie) {
        let name = tie.name();
        self.say(
            |core| core.is_there(number, generation),
            |state| state.say_link(number, tie, name.as_deref()),
        );
    }

    /// The other side has linked an actor of its own with one of this side.
    pub(crate) fn linked_there(&self, made: &LinkMade<'_>) -> Result<(), LinkEnd> {
        let may_be_made = self.lock().links.may_be_made(made.number);
        may_be_made.map_err(LinkEnd::protocol)?;
        let Some(exported) = self.exported(made.actor) else {
            self.say_unknown(made.actor);
            return Ok(());
        };
        let cell = self.cell_of(made.linker, made.name);
        let tie = exported.tie_with(&cell);
        let mut state = self.lock();
        if state.end.is_none() {
            // Before the two are linked: then the actor may take that back on another thread, and the other side is to hear of it.
            state.links.add(tie.clone(), made.actor, Some(made.number));
        }
        drop(state);
        if !tie.tie() {
            // One of them had ended, and that is told.
            let over = self.lock().links.remove(tie.key());
            drop(over);
        }
        Ok(())
    }

    /// What stands here for an actor there of which an address may be here, or not.
    fn cell_of(&self, number: u64, name: &str) -> Arc<FarCell> {
        let known = {
            let state = self.lock();
            let import = state.imports.get(&number);
            let hold = import.and_then(|import| import.hold.upgrade());
            let watched = state.watched.get(&number).and_then(|cells| cells.first());
            // The hold is given up without the lock.
            (hold, watched.map(Arc::clone))
        };
        let cell = match known {
            (Some(hold), _) => Arc::clone(hold.cell()),
            (None, Some(cell)) => cell,
            (None, None) if number == ROOT && self.keeps_root() => Arc::clone(self.root()),
            (None, None) => {
                let of = FarName {
                    name: None,
                    message_type: "a message to an actor that is linked",
                };
                self.new_cell(number, of, Arc::new(Received::new(0)))
            }
        };
        if !name.is_empty() {
            cell.call(name);
        }
        cell
    }

    /// A link was taken back here.
    pub(crate) fn unlinked_here(&self, key: u64) {
        self.say(
            |_| true,
            |state| {
                if let Some(linked) = state.links.remove(key) {
                    let (maker, number) = linked.name();
                    state.write(&Frame::Unlink(maker, number));
                }
            },
        );
    }

    /// An actor there has ended, and its link with that.
    pub(crate) fn link_over(&self, key: u64) {
        let linked = self.lock().links.remove(key);
        drop(linked);
    }

    /// An actor of this side has ended that was linked with one there.
    pub(crate) fn partner_ended(&self, number: u64, key: u64, ended: &Ended) {
        let end = self.end_to_tell(&ended.reason);
        let name = ended.name.as_deref().map(cut_name).unwrap_or_default();
        self.say(
            |_| true,
            |state| {
                if state.links.is_untying(key) {
                    return;
                }
                let log = state.log.as_mut();
                let log = log.filter(|_| number == ROOT && ended.reason.is_abnormal());
                let is_kept = log.is_some();
                if let Some(log) = log {
                    // Whichever process has it, if this one dies before it hears of it.
                    log.end_with(name, &end);
                }
                let Some(own) = state.links.by_key(key).map(|linked| linked.own) else {
                    if is_kept {
                        // To a process that has begun since this one ended the link was not said.
                        state.say_partner_ended(ROOT, name, &end);
                    }
                    return;
                };
                let is_news = match state.exports.tell_once(own) {
                    Some(is_news) => is_news,
                    // What watches it tells of it.
                    None if state.exports.knows(own) => false,
                    None => state.links.tell_once(own),
                };
                state.links.remove(key);
                if is_news {
                    state.write(&Frame::Ended(own, end));
                }
            },
        );
    }

    /// Ends an actor there as one that is linked with an actor that has ended so.
    pub(crate) fn end_there(&self, number: u64, generation: u64, ended: &Ended) {
        if !ended.reason.is_abnormal() {
            return;
        }
        let end = self.end_to_tell(&ended.reason);
        let name = ended.name.as_deref().map(cut_name).unwrap_or_default();
        self.say(
            |core| core.is_there(number, generation),
            |state| {
                if number == ROOT
                    && let Some(log) = &mut state.log
                {
                    log.end_with(name, &end);
                }
                state.say_partner_ended(number, name, &end);
            },
        );
    }

    /// Says of an actor of this side that it is not known any more, unless its end will be told.
    pub(crate) fn say_unknown(&self, actor: u64) {
        self.say(
            |_| true,
            |state| {
                if !state.exports.knows(actor) && !state.links.knows(actor) {
                    let text = "its last address was given up before its end was asked for";
                    let end = FarEnd::LinkLost(text.to_owned());
                    state.write(&Frame::Ended(actor, end));
                }
            },
        );
    }
}

impl State {
    /// Says that an actor there is linked with one of this side, of this name, if it is.
    fn say_link(&mut self, actor: u64, tie: LinkTie, name: Option<&str>) {
        // One with a root was said to the next process, if that was begun since the two were linked.
        if !tie.is_in_place() || self.links.by_key(tie.key()).is_some() {
            return;
        }
        let own = self.number_of_linker(&tie);
        let made = LinkMade {
            number: tie.key(),
            actor,
            linker: own,
            name: name.map(cut_name).unwrap_or_default(),
        };
        self.write(&Frame::Link(made));
        self.links.add(tie, own, None);
    }

    /// The number that an actor of this side has, or gets, at the other one.
    fn number_of_linker(&mut self, tie: &LinkTie) -> u64 {
        let actor = tie.actor();
        let linked = self.links.number_of(actor);
        let known = linked.or_else(|| self.exports.number_of(actor));
        known.unwrap_or_else(|| self.exports.next())
    }

    /// Says that an actor has ended which was linked with one there, and is known there by nothing else.
    fn say_partner_ended(&mut self, actor: u64, name: &str, end: &FarEnd) {
        let linker = self.exports.next();
        let made = LinkMade {
            // No key is as large.
            number: u64::MAX - linker,
            actor,
            linker,
            name,
        };
        self.write(&Frame::Link(made));
        self.write(&Frame::Ended(linker, end.clone()));
    }

    /// Says to another process with what its root is linked; what was linked with others of the last process is no more. What is kept is
    /// for the caller to drop without the lock.
    pub(crate) fn link_again(&mut self, root: &Arc<FarCell>) -> Vec<KeptActor> {
        drop(std::mem::take(&mut self.links));
        let mut kept = Vec::new();
        for (tie, near) in root.ties() {
            let name = tie.name();
            self.say_link(ROOT, tie, name.as_deref());
            kept.push(near);
        }
        let ends_with = self.log.as_ref().and_then(|log| log.ends_with());
        if let Some((name, end)) = ends_with.cloned() {
            self.say_partner_ended(ROOT, &name, &end);
        }
        kept
    }
}
