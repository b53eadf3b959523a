//! What an end of a link does for its users, its carrier and the addresses here: it writes what goes to the other side, under one lock, and ends.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Instant;

use tamtam_actor::link::{Encode, Exported, FarActor, FarCell, FarEnd, FarFailure, FarHold};
use tamtam_actor::{AskError, EndReason, Ended, LinkFailure, Loss, Refusal, Time};

use crate::error::LinkEnd;
use crate::far_peer::{FarPeer, gone};
use crate::frame::{Body, Frame, Offer, ROOT};
use crate::in_hand;
use crate::root_log::{Kept, RootLog};
use crate::tables::{Exports, Import, Pending, Unconfirmed};

thread_local! {
    /// Where this thread writes messages.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A thread keeps so many bytes for the next message.
const MOST_SCRATCH: usize = 64 << 10;

pub(crate) struct Core {
    this: Weak<Core>,
    pub(crate) longest_frame: usize,
    most_unread: usize,
    time: Time,
    state: Mutex<State>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
    /// Called on each thread that is about to wait for an actor of the other side.
    pub(crate) before_wait: Option<Box<dyn Fn() + Send + Sync>>,
    /// Waits for an answer on a thread that asks.
    pub(crate) while_waiting: Option<WhileWaiting>,
    /// Of the other side's root, for people.
    root_name: FarName,
    last_reply: AtomicU64,
    /// The link has ended, or the root of this side has: for a look without the lock.
    is_over: AtomicBool,
    /// How many processes there were at the other side before this one.
    generation: AtomicU64,
    root: OnceLock<Root>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) outgoing: Vec<u8>,
    /// Messages in what is outgoing: their actors. They are surely not handled.
    unsent: Vec<u64>,
    /// Questions in what is outgoing: their replies.
    unasked: Vec<u64>,
    pub(crate) end: Option<LinkEnd>,
    /// The longest frame that the other side takes, once it has said so.
    pub(crate) longest_there: Option<u64>,
    pub(crate) exports: Exports,
    pub(crate) imports: HashMap<u64, Import>,
    /// Actors there whose end is of interest here.
    pub(crate) watched: HashMap<u64, Arc<FarCell>>,
    pub(crate) pending: HashMap<u64, Pending>,
    unconfirmed: HashMap<u64, Unconfirmed>,
    /// Questions to the root before the other side has said whether it confirms them.
    early_questions: u64,
    /// What goes to the root, if that is kept until it is done with.
    log: Option<RootLog>,
    /// How the root has ended, if what goes to it is kept.
    root_end: Option<FarEnd>,
    /// How the root of this side has ended.
    own_root_end: Option<FarEnd>,
    /// What a timer has left to be done.
    later: Vec<Box<dyn FnOnce() + Send>>,
}

/// The other side's root.
struct Root {
    cell: Arc<FarCell>,
    /// Held as long as the link lasts; or, if what it is sent is kept, until there is an address.
    hold: Mutex<Option<Arc<FarHold>>>,
}

/// Whether something is for an actor of a process, or for the process that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyKind {
    Tell(u64, u64),
    Answer(u64, u64),
}

/// What an end of a link is made with.
pub(crate) struct Parts {
    pub(crate) longest_frame: usize,
    pub(crate) most_unread: usize,
    pub(crate) time: Time,
    pub(crate) keeps_root: bool,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
    pub(crate) before_wait: Option<Box<dyn Fn() + Send + Sync>>,
    pub(crate) while_waiting: Option<WhileWaiting>,
    pub(crate) root_name: FarName,
}

/// What a thread does while it waits for an answer: see [`FarActor::while_waiting`].
pub(crate) type WhileWaiting =
    Box<dyn Fn(&dyn Fn() -> bool, Option<Instant>, &mut dyn FnMut()) + Send + Sync>;

/// What an actor of the other side is called here, for people.
#[derive(Clone)]
pub(crate) struct FarName {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) message_type: &'static str,
}

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
    pub(crate) fn new(parts: Parts, hello: &Frame<'_>) -> Arc<Self> {
        let mut state = State {
            log: parts.keeps_root.then(RootLog::default),
            ..State::default()
        };
        hello.write(&mut state.outgoing);
        Arc::new_cyclic(|this| Core {
            this: Weak::clone(this),
            longest_frame: parts.longest_frame,
            most_unread: parts.most_unread,
            time: parts.time,
            state: Mutex::new(state),
            wake: parts.wake,
            before_wait: parts.before_wait,
            while_waiting: parts.while_waiting,
            root_name: parts.root_name,
            last_reply: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            root: OnceLock::new(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // No user code runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn this(&self) -> Option<Arc<Self>> {
        self.this.upgrade()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lock().end.is_none()
    }

    fn known_root(&self) -> &Root {
        self.root.get_or_init(|| {
            let received = Arc::new(AtomicU64::new(1));
            let mut state = self.lock();
            let hold = self.new_hold(&mut state, ROOT, self.root_name.clone(), received);
            let end = state.end.clone();
            drop(state);
            if let Some(end) = end {
                hold.cell().end(lost(&end));
            }
            Root {
                cell: Arc::clone(hold.cell()),
                hold: Mutex::new(Some(hold)),
            }
        })
    }

    /// What stands here for the other side's root.
    pub(crate) fn root(&self) -> &Arc<FarCell> {
        &self.known_root().cell
    }

    /// An address of the other side's root. One whose messages are kept ends with its last address, as actors here do.
    pub(crate) fn root_hold(&self) -> Arc<FarHold> {
        let root = self.known_root();
        let keeps = self.lock().log.is_some();
        let mut hold = root.hold.lock().unwrap_or_else(PoisonError::into_inner);
        let first = if keeps { hold.take() } else { hold.clone() };
        drop(hold);
        let again = || {
            let state = self.lock();
            state.imports.get(&ROOT)?.hold.upgrade()
        };
        first
            .or_else(again)
            .unwrap_or_else(|| FarHold::first(Arc::clone(&root.cell)))
    }

    /// Writes a frame, unless the link has ended.
    pub(crate) fn write(&self, frame: &Frame<'_>) {
        self.write_if(|_| true, frame);
    }

    /// Writes a frame to the process of that generation, unless that or the link has ended.
    pub(crate) fn write_of(&self, generation: u64, frame: &Frame<'_>) {
        self.write_if(|core| core.generation() == generation, frame);
    }

    fn write_if(&self, is_to: impl FnOnce(&Self) -> bool, frame: &Frame<'_>) {
        let mut state = self.lock();
        if state.end.is_some() || !is_to(self) {
            return;
        }
        let had_outgoing = state.has_outgoing();
        frame.write(&mut state.outgoing);
        self.written(state, had_outgoing);
    }

    /// Sees to it that what was written goes, and ends the link if too much waits.
    fn written(&self, state: MutexGuard<'_, State>, had_outgoing: bool) {
        let waiting = state.outgoing.len();
        let has_outgoing = state.has_outgoing();
        drop(state);
        if !had_outgoing {
            if has_outgoing {
                (self.wake)();
            }
        } else if waiting > self.most_unread {
            self.end(LinkEnd::Unread(waiting));
        }
    }

    /// Appends what is to go.
    pub(crate) fn take_outgoing(&self, bytes: &mut Vec<u8>) -> Vec<Box<dyn FnOnce() + Send>> {
        let mut state = self.lock();
        if !state.later.is_empty() {
            return std::mem::take(&mut state.later);
        }
        if bytes.is_empty() {
            std::mem::swap(&mut state.outgoing, bytes);
        } else {
            bytes.append(&mut state.outgoing);
        }
        state.unsent.clear();
        state.unasked.clear();
        if let Some(log) = &mut state.log {
            log.write(bytes);
        }
        Vec::new()
    }

    /// Sends a message or an answer, with all that is in it.
    pub(crate) fn send(
        &self,
        kind: BodyKind,
        asked: &Arc<FarCell>,
        encode: Encode<'_>,
    ) -> Result<(), (Refusal, LinkFailure)> {
        let Some(this) = self.this() else {
            return Err(gone());
        };
        // A thread writes one message after the other into the same memory.
        let mut payload = SCRATCH.take();
        payload.clear();
        let sent = self.send_written(&this, kind, asked, encode, &mut payload);
        if payload.capacity() <= MOST_SCRATCH {
            SCRATCH.set(payload);
        }
        sent
    }

    fn send_written(
        &self,
        this: &Arc<Self>,
        kind: BodyKind,
        asked: &Arc<FarCell>,
        encode: Encode<'_>,
        payload: &mut Vec<u8>,
    ) -> Result<(), (Refusal, LinkFailure)> {
        let noted = in_hand::write(this, encode, payload)
            .map_err(|error| (Refusal::NotEncodable, LinkFailure::new(error)))?;
        let replies: Vec<u64> = noted.replies.iter().map(|(number, _)| *number).collect();
        // A kind, and numbers of ten bytes at most.
        let numbers = 3 + replies.len() + 2 * noted.exports.len();
        let length = payload.len() + 1 + 10 * numbers;
        let mut state = self.lock();
        if let Some(refused) = self.refuses(&state, kind, length) {
            drop(state);
            self.take_back(&noted.exports);
            return Err(refused);
        }
        let had_outgoing = state.has_outgoing();
        for (number, reply) in noted.replies {
            // Before the answer can come.
            reply.sent();
            let asked = asked.id();
            state.pending.insert(number, Pending { reply, asked });
        }
        match kind {
            BodyKind::Tell(ROOT, _) if state.log.is_some() => {
                if let Some(log) = &mut state.log {
                    log.push(Kept {
                        replies,
                        exports: noted.exports,
                        payload: payload.to_vec(),
                    });
                }
            }
            BodyKind::Tell(actor, _) => {
                state.count_sent(actor, asked, replies.is_empty());
                state.unasked.extend_from_slice(&replies);
                let body = Body {
                    replies: replies.into(),
                    exports: noted.exports.into(),
                    payload,
                };
                Frame::Tell(actor, body).write(&mut state.outgoing);
            }
            BodyKind::Answer(reply, _) => {
                let body = Body {
                    replies: replies.into(),
                    exports: noted.exports.into(),
                    payload,
                };
                Frame::Answer(reply, body).write(&mut state.outgoing);
            }
        }
        self.written(state, had_outgoing);
        Ok(())
    }

    /// Why what takes so many bytes is not sent, if it is not.
    fn refuses(
        &self,
        state: &State,
        kind: BodyKind,
        length: usize,
    ) -> Option<(Refusal, LinkFailure)> {
        let (BodyKind::Tell(number, generation) | BodyKind::Answer(number, generation)) = kind;
        if let Some(end) = &state.end {
            let text = format!("the link has ended before: {end}");
            return Some((Refusal::Unreachable, LinkFailure::new(text)));
        }
        // The root outlives its process.
        let is_root = matches!(kind, BodyKind::Tell(..)) && number == ROOT;
        if !is_root && generation != self.generation() {
            let text = "the process has ended before";
            return Some((Refusal::Unreachable, LinkFailure::new(text)));
        }
        let there = state.longest_there.unwrap_or(u64::MAX);
        let most = there.min(self.longest_frame as u64);
        (length as u64 > most).then(|| {
            let text = format!("it takes {length} bytes, and the link carries {most} at once");
            (Refusal::TooLarge, LinkFailure::new(text))
        })
    }

    /// Sends an answer; if that cannot be, what the other side is to be told.
    pub(crate) fn answer(
        &self,
        reply: u64,
        generation: u64,
        encode: Encode<'_>,
    ) -> Result<(), FarFailure> {
        // What is asked by the way is asked of the other side as a whole.
        let asked = Arc::clone(self.root());
        let sent = self.send(BodyKind::Answer(reply, generation), &asked, encode);
        sent.map_err(|(why, failure)| {
            let text = format!("the answer was not sent: {failure}");
            match why {
                Refusal::NotEncodable => FarFailure::NotEncodable(text),
                Refusal::TooLarge => FarFailure::TooLarge(text),
                _ => FarFailure::Other(text),
            }
        })
    }

    pub(crate) fn next_reply(&self) -> u64 {
        // 2^64 questions are asked in 500 years at a thousand million a second.
        self.last_reply.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Says of a question from there that there will be no answer.
    pub(crate) fn fail(&self, reply: u64, failure: FarFailure) {
        self.write(&Frame::Failed(reply, failure));
    }

    /// As `fail`, to the process of that generation.
    pub(crate) fn fail_of(&self, reply: u64, generation: u64, failure: FarFailure) {
        self.write_of(generation, &Frame::Failed(reply, failure));
    }

    pub(crate) fn release_unused(&self, actor: u64, times: u64) {
        self.write(&Frame::Release(actor, times));
    }

    /// So many more messages from there to this actor are done with.
    pub(crate) fn confirm(&self, actor: u64, generation: u64, count: u64) {
        self.write_of(generation, &Frame::Confirm(actor, count));
    }

    /// The other side is done with so many more of the messages to its actor.
    pub(crate) fn confirmed(&self, actor: u64, count: u64) -> Result<(), LinkEnd> {
        let mut state = self.lock();
        if actor == ROOT
            && let Some(log) = &mut state.log
        {
            let had_outgoing = log.may_write();
            let done = log.confirm(count);
            let has_outgoing = log.may_write();
            drop(state);
            let done = done.map_err(|sent| too_many_confirmed(actor, count, sent))?;
            drop(done);
            self.root().confirmed(count);
            if has_outgoing && !had_outgoing {
                (self.wake)();
            }
            return Ok(());
        }
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
        drop(state);
        cell.confirmed(count);
        Ok(())
    }

    /// Counts an actor as sent once more; the number under which the other side knows it.
    pub(crate) fn export_actor(&self, actor: Arc<dyn Exported>) -> u64 {
        self.lock().exports.add(actor)
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
                core.has_ended(number, FarEnd::of(&ended.reason));
            }
        }));
        let unused = match self.lock().exports.get_mut(number) {
            Some(export) => export.watching.replace(watching),
            None => Some(watching),
        };
        drop(unused);
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
        let is_known = orphan.is_some() || state.exports.get(number).is_some();
        if state.end.is_none() && is_known {
            let had_outgoing = state.has_outgoing();
            Frame::Ended(number, end).write(&mut state.outgoing);
            self.written(state, had_outgoing);
        } else {
            drop(state);
        }
        drop(orphan);
    }

    /// What was counted for a message that was not sent.
    pub(crate) fn take_back(&self, exports: &[Offer]) {
        for offer in exports {
            let gone = self.lock().exports.release(offer.actor, 1);
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
        let received = Arc::new(AtomicU64::new(times));
        let name = FarName {
            name: None,
            message_type,
        };
        let hold = self.new_hold(&mut state, number, name, received);
        // Its last address may have gone while messages were on their way.
        let sent = state.unconfirmed.get_mut(&number).map_or(0, |sent| {
            sent.cell = Arc::clone(hold.cell());
            sent.count
        });
        hold.cell().open_window(window, sent, true);
        Some(hold)
    }

    fn new_hold(
        &self,
        state: &mut State,
        number: u64,
        name: FarName,
        received: Arc<AtomicU64>,
    ) -> Arc<FarHold> {
        let peer: Box<dyn FarActor> = Box::new(FarPeer {
            core: Weak::clone(&self.this),
            number,
            generation: self.generation(),
            received: Arc::clone(&received),
        });
        let cell = FarCell::new(name.name, name.message_type, self.time.clone(), peer);
        let hold = FarHold::first(cell);
        let import = Import {
            hold: Arc::downgrade(&hold),
            received,
        };
        state.imports.insert(number, import);
        hold
    }

    /// The actor of this side that the other one knows by this number.
    pub(crate) fn exported(&self, number: u64) -> Option<Arc<dyn Exported>> {
        let state = self.lock();
        let export = state.exports.get(number)?;
        Some(Arc::clone(&export.actor))
    }

    /// The other side has said hello.
    pub(crate) fn greeted(&self, longest: u64, root: Option<u64>) {
        let (is_kept, early) = {
            let mut state = self.lock();
            state.longest_there = Some(longest);
            (
                state.log.is_some(),
                std::mem::take(&mut state.early_questions),
            )
        };
        let cell = Arc::clone(self.root());
        match root {
            None => {
                let text = "the other side offers no actor".into();
                cell.end(EndReason::LinkLost(text));
            }
            // Whose messages are kept here has its room here.
            Some(0) => {}
            Some(_) if is_kept => {}
            Some(window) => {
                let taken = {
                    let mut state = self.lock();
                    state.count_questions(ROOT, &cell, early);
                    let unconfirmed = state.unconfirmed.get(&ROOT);
                    unconfirmed.map_or(0, |sent| sent.count)
                };
                cell.open_window(window, taken, true);
            }
        }
    }

    /// Lets an actor there finish, behind what it was sent.
    pub(crate) fn finish(&self, number: u64, generation: u64) {
        let mut state = self.lock();
        if state.end.is_some() || (number != ROOT && generation != self.generation()) {
            return;
        }
        let had_outgoing = state.has_outgoing();
        match &mut state.log {
            Some(log) if number == ROOT => log.finish(),
            _ => Frame::Finish(number).write(&mut state.outgoing),
        }
        self.written(state, had_outgoing);
    }

    /// The end of an actor there is of interest here.
    pub(crate) fn watch_there(&self, number: u64, generation: u64, cell: Arc<FarCell>) {
        let mut state = self.lock();
        if let Some(end) = &state.end {
            let reason = lost(end);
            drop(state);
            return cell.end(reason);
        }
        if number != ROOT && generation != self.generation() {
            drop(state);
            let text = "its process has ended".into();
            return cell.end(EndReason::LinkLost(text));
        }
        let had_outgoing = state.has_outgoing();
        state.watched.insert(number, cell);
        Frame::Watch(number).write(&mut state.outgoing);
        self.written(state, had_outgoing);
    }

    /// The last address of an actor there is gone here; it had been received so often.
    pub(crate) fn release_there(
        &self,
        number: u64,
        generation: u64,
        received: &Arc<AtomicU64>,
        times: u64,
    ) {
        let mut state = self.lock();
        if state.end.is_some() || (number != ROOT && generation != self.generation()) {
            return;
        }
        // Its address may have been received again meanwhile.
        if let Some(import) = state.imports.get(&number)
            && Arc::ptr_eq(&import.received, received)
        {
            state.imports.remove(&number);
        }
        let had_outgoing = state.has_outgoing();
        match &mut state.log {
            Some(log) if number == ROOT => log.release(times),
            _ => Frame::Release(number, times).write(&mut state.outgoing),
        }
        self.written(state, had_outgoing);
    }

    /// Does something when the carrier takes what is to go; gives it back if the link has ended.
    pub(crate) fn later(&self, what: Box<dyn FnOnce() + Send>) -> Option<Box<dyn FnOnce() + Send>> {
        let mut state = self.lock();
        if state.end.is_some() {
            return Some(what);
        }
        state.later.push(what);
        drop(state);
        (self.wake)();
        None
    }

    /// How many messages are not confirmed by the other side.
    pub(crate) fn unconfirmed(&self) -> u64 {
        let state = self.lock();
        let kept = state.log.as_ref().map_or(0, RootLog::len);
        let sent = state.unconfirmed.values().map(|sent| sent.count);
        sent.sum::<u64>() + kept as u64
    }

    /// An actor there has ended. One whose messages are kept may be begun again: that is for its owner to say.
    pub(crate) fn ended_there(&self, actor: u64, end: FarEnd) {
        let mut state = self.lock();
        if actor == ROOT && state.log.is_some() {
            state.root_end = Some(end);
            return;
        }
        let watched = state.watched.remove(&actor);
        let hold = state
            .imports
            .get(&actor)
            .and_then(|import| import.hold.upgrade());
        drop(state);
        let known = hold.as_ref().map(|hold| hold.cell());
        for cell in watched.iter().chain(known) {
            cell.end(end.clone().heard());
        }
    }

    /// Whether the link has ended, or the root of this side has.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }

    /// How the root of this side has ended.
    pub(crate) fn own_root_end(&self) -> Option<EndReason> {
        self.lock().own_root_end.clone().map(FarEnd::heard)
    }

    /// How the root has ended, if what goes to it is kept.
    pub(crate) fn root_end(&self) -> Option<EndReason> {
        self.lock().root_end.clone().map(FarEnd::heard)
    }

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
        match &why {
            // What is outgoing still goes.
            LinkEnd::Closed => Frame::Goodbye("it was closed").write(&mut state.outgoing),
            LinkEnd::Protocol(text) | LinkEnd::Refused(text) => {
                Frame::Goodbye(text).write(&mut state.outgoing);
            }
            LinkEnd::Goodbye(_) | LinkEnd::Lost(_) | LinkEnd::Unread(_) => {
                state.outgoing = Vec::new();
            }
        }
        let is_cut = !matches!(
            why,
            LinkEnd::Closed | LinkEnd::Protocol(_) | LinkEnd::Refused(_)
        );
        state.end = Some(why.clone());
        self.is_over.store(true, Ordering::SeqCst);
        let exports = state.exports.take();
        let later = std::mem::take(&mut state.later);
        let left = state.take_left(is_cut);
        let kept = state.log.as_mut().map(RootLog::take).unwrap_or_default();
        let mut cells: Vec<_> = state.watched.drain().map(|(_, cell)| cell).collect();
        let holds: Vec<_> = state
            .imports
            .drain()
            .filter_map(|(_, import)| import.hold.upgrade())
            .collect();
        drop(state);
        (self.wake)();
        let root = self.root.get().map(|root| &root.cell);
        for kept in kept {
            if let Some(root) = root {
                root.note_bytes_lost(Loss::Unreachable, kept.payload.into());
            }
        }
        left.tell(|is_unasked| {
            let text = if is_unasked {
                format!("{why}; the question was not sent")
            } else {
                format!("{why}; whether the question was handled is not known")
            };
            match reason {
                EndReason::ProcessEnded(end) => AskError::ProcessEnded(*end),
                _ => AskError::Unreachable(LinkFailure::new(text)),
            }
        });
        cells.extend(holds.iter().map(|hold| Arc::clone(hold.cell())));
        for cell in cells {
            cell.end(reason.clone());
        }
        drop((exports, later));
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
        let replies: Vec<u64> = log
            .iter()
            .flat_map(|kept| kept.replies.iter().copied())
            .collect();
        let gone = state_now
            .exports
            .reset_to(log.iter().flat_map(|kept| &kept.exports));
        let kept_pending: HashMap<u64, Pending> = replies
            .iter()
            .filter_map(|reply| Some((*reply, state_now.pending.remove(reply)?)))
            .collect();
        state_now.outgoing.clear();
        let left = state_now.take_left(false);
        state_now.pending = kept_pending;
        state_now.longest_there = None;
        state_now.root_end = None;
        let mut cells: Vec<_> = Vec::new();
        let watched = std::mem::take(&mut state_now.watched);
        for (number, cell) in watched {
            if number == ROOT {
                state_now.watched.insert(number, cell);
            } else {
                cells.push(cell);
            }
        }
        let imports = std::mem::take(&mut state_now.imports);
        let mut holds = Vec::new();
        for (number, import) in imports {
            if number == ROOT {
                state_now.imports.insert(number, import);
            } else {
                holds.extend(import.hold.upgrade());
            }
        }
        hello.write(&mut state_now.outgoing);
        if state_now.watched.contains_key(&ROOT) {
            Frame::Watch(ROOT).write(&mut state_now.outgoing);
        }
        drop(state);
        let root = Arc::clone(self.root());
        root.confirmed(over.done.len() as u64 + u64::from(over.begun.is_some()));
        if let Some(poison) = over.begun {
            let why = match &death.why {
                EndReason::ProcessEnded(end) => Loss::ProcessEnded(*end),
                EndReason::Panicked(_) | EndReason::GaveUp { .. } => Loss::Panicked,
                _ => Loss::FateUnknown,
            };
            root.note_bytes_lost(why, poison.payload.into());
        }
        left.tell(|_| match &death.why {
            EndReason::ProcessEnded(end) => AskError::ProcessEnded(*end),
            other => AskError::Unreachable(LinkFailure::new(other.to_string())),
        });
        cells.extend(holds.iter().map(|hold| Arc::clone(hold.cell())));
        for cell in cells {
            cell.end(death.why.clone());
        }
        drop((gone, over.done));
        (self.wake)();
        Ok(())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end(LinkEnd::Lost("what carried the link has dropped it".into()));
    }
}

/// Questions and messages of which it is not known what has become of them.
struct Left {
    pending: Vec<Pending>,
    /// Questions that were not sent.
    unasked: Vec<Pending>,
    unconfirmed: Vec<Unconfirmed>,
    /// So many of the messages to this actor were not sent.
    unsent: HashMap<u64, u64>,
    numbers: Vec<u64>,
}

impl Left {
    /// Tells those who wait for answers why there are none, and of messages that they may be lost.
    fn tell(self, why: impl Fn(bool) -> AskError) {
        let asked = self.pending.into_iter().map(|pending| (pending, false));
        let unasked = self.unasked.into_iter().map(|pending| (pending, true));
        for (pending, is_unasked) in asked.chain(unasked) {
            // What is done with an answer is the user's.
            let fail = || pending.reply.fail(why(is_unasked));
            drop(catch_unwind(AssertUnwindSafe(fail)));
        }
        for (number, unconfirmed) in self.numbers.into_iter().zip(self.unconfirmed) {
            let unsent = self.unsent.get(&number).copied().unwrap_or(0);
            let unsent = unsent.min(unconfirmed.count);
            let cell = &unconfirmed.cell;
            cell.note_all_lost(unconfirmed.count - unsent, Loss::FateUnknown);
            cell.note_all_lost(unsent, Loss::Unreachable);
        }
    }
}

impl State {
    /// Whether there is something to send.
    fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty() || self.log.as_ref().is_some_and(RootLog::may_write)
    }

    /// Counts a message to an actor there as one that is to be confirmed, if it is.
    fn count_sent(&mut self, actor: u64, cell: &Arc<FarCell>, has_no_replies: bool) {
        if has_no_replies || cell.has_window() {
            self.unsent.push(actor);
            self.count_questions(actor, cell, 1);
        } else if actor == ROOT && self.longest_there.is_none() {
            self.early_questions += 1;
        }
    }

    fn count_questions(&mut self, actor: u64, cell: &Arc<FarCell>, count: u64) {
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

    /// What is not answered and not confirmed. If the link was cut, what is outgoing was not sent.
    fn take_left(&mut self, is_cut: bool) -> Left {
        let unasked = std::mem::take(&mut self.unasked);
        let unsent = std::mem::take(&mut self.unsent);
        let mut left = Left {
            pending: Vec::new(),
            unasked: Vec::new(),
            unconfirmed: Vec::new(),
            unsent: HashMap::new(),
            numbers: Vec::new(),
        };
        if is_cut {
            left.unasked = unasked
                .iter()
                .filter_map(|reply| self.pending.remove(reply))
                .collect();
            for actor in unsent {
                *left.unsent.entry(actor).or_default() += 1;
            }
        }
        left.pending = self.pending.drain().map(|(_, pending)| pending).collect();
        for (number, unconfirmed) in self.unconfirmed.drain() {
            left.numbers.push(number);
            left.unconfirmed.push(unconfirmed);
        }
        left
    }
}

fn too_many_confirmed(actor: u64, count: u64, sent: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it confirms {count} messages to actor {actor}, to which {sent} are on their way"
    ))
}

pub(crate) fn lost(why: &LinkEnd) -> EndReason {
    EndReason::LinkLost(why.to_string().into())
}
