//! What an end of a link does for its users, its carrier and the addresses here: it writes what goes to the other side, under one lock, and ends.

mod parts;
mod sending;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::thread::ThreadId;
use std::time::Duration;

use smallvec::SmallVec;
use tamtam_actor::link::{
    Call, Encoding, FarCell, FarEnd, FarFailure, FarHold, Flush, Probe, ReadAnswers, call_after,
    flush_later, read_later,
};
use tamtam_actor::{EndReason, Time, Timer};
use tamtam_wait::seam::atomic::{AtomicBool, AtomicU64, Ordering};
use tamtam_wait::seam::{Mutex, MutexGuard};

use crate::attachments::Attachments;
use crate::descriptors::{Attached, Lent, Lot, Ways};
use crate::direct::DirectOutlet;
use crate::error::LinkEnd;
use crate::frame::{Frame, LEAST_FRAME, ROOT};
use crate::links::Links;
use crate::root_log::RootLog;
use crate::seats::{self, Seats};
use crate::tables::{Exports, Import, PendingReplies, Received, Unconfirmed, Unsent};
use crate::untrusted::{Untrusted, told_end, told_failure};

pub use parts::{AnswerReader, Supervised};
pub(crate) use parts::{Parts, SendAtOnce, WhileWaiting};

/// A thread keeps so many bytes for the next message.
const MOST_SCRATCH: usize = 64 << 10;
/// So many bytes are left to be sent with what follows, at most.
const MOST_LEFT: usize = 16 << 10;

/// Of a side without a root: how that has ended, and why a question to it has no answer.
pub(crate) const OFFERS_NONE: &str = "the other side offers no actor";

pub(crate) struct Core {
    pub(crate) this: Weak<Core>,
    pub(crate) longest_frame: usize,
    /// How messages and answers are written, here and there.
    pub(crate) encoding: Encoding,
    most_unread: usize,
    /// The other side, if it is not trusted.
    pub(crate) untrusted: Option<Untrusted>,
    pub(crate) time: Time,
    /// This side has offered an actor from the beginning.
    pub(crate) offers_root: bool,
    state: Mutex<State>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
    /// How what is waited for is sent by the thread that has written it: a question, or an answer.
    sender: Option<Box<dyn SendAtOnce>>,
    /// Called on each thread that is about to wait for an actor of the other side.
    pub(crate) before_wait: Option<Box<dyn Fn() + Send + Sync>>,
    /// Waits for an answer on a thread that asks.
    pub(crate) while_waiting: Option<WhileWaiting>,
    /// Reads answers on a thread that has asked in a turn, and has nothing else to do.
    answers: Option<Arc<dyn AnswerReader>>,
    /// What has the process of the other side's root, if a supervisor decides of it.
    pub(crate) supervised: Option<Arc<dyn Supervised>>,
    /// Of the other side's root, for people.
    root_name: FarName,
    last_reply: AtomicU64,
    /// The thread that asks can be told by the number of its question.
    has_seats: bool,
    /// What carries the link takes descriptors beside the frames.
    pub(crate) carries_descriptors: bool,
    pub(crate) ways: Arc<Ways>,
    /// What has come of the other side, and is open here.
    pub(crate) attachments: Attachments,
    /// The link has ended, or the root of this side has: for a look without the lock.
    pub(crate) is_over: AtomicBool,
    /// How many processes there were at the other side before this one.
    pub(crate) generation: AtomicU64,
    root: OnceLock<Root>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) outgoing: Vec<u8>,
    /// Descriptors that go with what is outgoing.
    pub(crate) attached: Vec<Attached>,
    /// What has descriptors that the other side has not read.
    pub(crate) lent: HashMap<u64, Arc<Lot>>,
    /// So many messages had descriptors; of 2^64 there are a thousand million a second for 500 years.
    last_lent: u64,
    /// The hello, before which nothing goes, is on its way.
    pub(crate) has_said_hello: bool,
    /// Messages in what is outgoing: their actors. They are surely not handled.
    pub(crate) unsent: Vec<Unsent>,
    /// Questions in what is outgoing: their replies.
    pub(crate) unasked: Vec<u64>,
    pub(crate) end: Option<LinkEnd>,
    /// Why the actors there have ended, once the link has.
    pub(crate) reason: Option<EndReason>,
    /// Why the process has ended whose place another one has taken.
    pub(crate) death: Option<EndReason>,
    /// The thread that tells what has become of messages and questions: the ends of actors come after that.
    pub(crate) teller: Option<ThreadId>,
    /// How the process there has broken the protocol, if that is for what begins another one.
    pub(crate) violation: Option<Arc<str>>,
    /// The longest frame that the other side takes, once it has said so.
    pub(crate) longest_there: Option<u64>,
    /// The other side has said that it offers no actor.
    pub(crate) is_rootless_there: bool,
    /// Ends the link if the other side has not said hello by then.
    pub(crate) hello_timer: Option<Timer>,
    pub(crate) exports: Exports,
    pub(crate) imports: HashMap<u64, Import>,
    /// Actors there whose end is of interest here.
    pub(crate) watched: HashMap<u64, Cells>,
    pub(crate) pending: PendingReplies,
    pub(crate) unconfirmed: HashMap<u64, Unconfirmed>,
    /// Actors there that are linked with others here.
    pub(crate) links: Links,
    /// Questions to the root before the other side has said whether it confirms them.
    pub(crate) early_questions: u64,
    /// What goes to the root, if that is kept until it is done with.
    pub(crate) log: Option<RootLog>,
    /// How the root has ended, if what goes to it is kept.
    pub(crate) root_end: Option<FarEnd>,
    /// How the root of this side has ended.
    pub(crate) own_root_end: Option<FarEnd>,
    /// What a timer has left to be done.
    pub(crate) later: Vec<Box<dyn FnOnce() + Send>>,
    /// For whom there are answers in what is outgoing.
    pub(crate) answered: Seats,
    /// What senders write to by themselves, while it is lent for that.
    direct: Option<Box<dyn DirectOutlet>>,
}

/// What stands here for one actor there: more than one only if its address was given up and received again.
pub(crate) type Cells = SmallVec<[Arc<FarCell>; 1]>;

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

/// What an actor of the other side is called here, for people.
#[derive(Clone)]
pub(crate) struct FarName {
    pub(crate) name: Option<Arc<str>>,
    pub(crate) message_type: &'static str,
}

impl Core {
    pub(crate) fn new(parts: Parts, hello: &Frame<'_>) -> Arc<Self> {
        let mut state = State {
            log: parts.keeps_root.then(RootLog::default),
            exports: Exports::after(parts.predecessors),
            ..State::default()
        };
        state.write(hello);
        Arc::new_cyclic(|this| Core {
            this: Weak::clone(this),
            longest_frame: parts.longest_frame,
            encoding: parts.encoding,
            most_unread: parts.most_unread,
            untrusted: parts.untrusted,
            time: parts.time,
            offers_root: parts.offers_root,
            state: Mutex::new(state),
            wake: parts.wake,
            sender: parts.sender,
            before_wait: parts.before_wait,
            while_waiting: parts.while_waiting,
            answers: parts.answers,
            supervised: parts.supervised,
            root_name: parts.root_name,
            last_reply: AtomicU64::new(0),
            has_seats: parts.has_seats,
            carries_descriptors: parts.carries_descriptors,
            ways: Arc::default(),
            attachments: Attachments::new(parts.most_attached),
            is_over: AtomicBool::new(false),
            generation: AtomicU64::new(0),
            root: OnceLock::new(),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        // No user code runs under the lock.
        self.state.lock()
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
            let received = Arc::new(Received::new(1));
            let mut state = self.lock();
            let hold = self.new_hold(&mut state, ROOT, self.root_name.clone(), received);
            let reason = state.reason.clone();
            drop(state);
            if let Some(reason) = reason {
                hold.cell().end(reason);
            }
            Root {
                cell: Arc::clone(hold.cell()),
                hold: Mutex::new(Some(hold)),
            }
        })
    }

    /// Whether what the other side's root is sent is kept here.
    pub(crate) fn keeps_root(&self) -> bool {
        self.lock().log.is_some()
    }

    /// What stands here for the other side's root, if there was a use for it.
    pub(crate) fn root_if_known(&self) -> Option<&Arc<FarCell>> {
        self.root.get().map(|root| &root.cell)
    }

    /// What stands here for the other side's root.
    pub(crate) fn root(&self) -> &Arc<FarCell> {
        &self.known_root().cell
    }

    /// An address of the other side's root. One whose messages are kept ends with its last address, as actors here do.
    pub(crate) fn root_hold(&self) -> Arc<FarHold> {
        let root = self.known_root();
        let keeps = self.keeps_root();
        let mut hold = root.hold.lock();
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

    /// Whether the actors of that generation are there. The root outlives its process.
    pub(crate) fn is_there(&self, actor: u64, generation: u64) -> bool {
        actor == ROOT || generation == self.generation()
    }

    /// Writes a frame, unless the link has ended.
    pub(crate) fn write(&self, frame: &Frame<'_>) {
        self.say(|_| true, |state| state.write(frame));
    }

    /// Writes a frame to the process of that generation, unless that or the link has ended.
    pub(crate) fn write_of(&self, generation: u64, frame: &Frame<'_>) {
        let is_now = |core: &Self| core.generation() == generation;
        self.say(is_now, |state| state.write(frame));
    }

    /// Sends a probe along the waits of an actor there.
    pub(crate) fn send_probe(&self, actor: u64, generation: u64, probe: Probe) {
        let probe = match &self.untrusted {
            Some(untrusted) => untrusted.send_probe(probe),
            None => probe,
        };
        self.write_of(generation, &Frame::Probe(actor, probe));
    }

    /// Says something, if it is still of use and the link has not ended.
    pub(crate) fn say(&self, is_of_use: impl FnOnce(&Self) -> bool, say: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        if state.end.is_some() || !is_of_use(self) {
            return;
        }
        let had_outgoing = state.has_outgoing();
        say(&mut state);
        self.written(state, had_outgoing);
    }

    /// Sees to it that what was written goes, and ends the link if too much waits.
    pub(crate) fn written(&self, mut state: MutexGuard<'_, State>, had_outgoing: bool) {
        let sleeper = if had_outgoing {
            None
        } else {
            state.write_directly()
        };
        let waiting = state.outgoing.len();
        let has_outgoing = state.has_outgoing();
        drop(state);
        if let Some(wake) = sleeper {
            wake();
        }
        if !had_outgoing {
            if has_outgoing {
                (self.wake)();
            }
        } else if waiting > self.most_unread {
            self.end(LinkEnd::Unread(waiting));
        }
    }

    /// As `written`, of what is waited for: this thread sends it, with all that is before it, if that does not wait.
    fn written_now(&self, state: MutexGuard<'_, State>, had_outgoing: bool) {
        let Some(sender) = &self.sender else {
            return self.written(state, had_outgoing);
        };
        let waiting = state.outgoing.len();
        let has_outgoing = state.has_outgoing();
        drop(state);
        let may_wait = waiting <= MOST_LEFT.min(self.most_unread);
        if may_wait && has_outgoing && flush_later(self, || Some(self.this()?)) {
            // Otherwise the one who added the first of it has seen to it.
            if !had_outgoing {
                sender.send_soon();
            }
            return;
        }
        if has_outgoing
            && !sender.send_now(self, had_outgoing)
            && had_outgoing
            && waiting > self.most_unread
        {
            self.end(LinkEnd::Unread(waiting));
        }
    }

    /// A question was written: this thread reads the answer if it has nothing else to do until that comes.
    fn asked(&self) {
        if let Some(answers) = &self.answers
            && read_later(|| Some(self.this()?))
        {
            answers.asked();
        }
    }

    /// Lends what senders write to by themselves. What is outgoing by then is for the carrier, which is woken for it, and they add theirs to that.
    pub(crate) fn lend_direct(&self, direct: Box<dyn DirectOutlet>) {
        self.lock().direct = Some(direct);
    }

    /// Takes back what was lent.
    pub(crate) fn take_direct(&self) -> Option<Box<dyn DirectOutlet>> {
        self.lock().direct.take()
    }

    /// Takes what is to go, unless timers have left something to be done before.
    pub(crate) fn take_outgoing_now(
        &self,
        bytes: &mut Vec<u8>,
        attached: &mut Vec<Attached>,
    ) -> bool {
        let mut state = self.lock();
        let is_free = state.later.is_empty();
        if is_free {
            state.take_outgoing(bytes, attached);
        }
        is_free
    }

    /// Appends what is to go, and says for whom there are answers in it; or gives what is to be done before.
    pub(crate) fn take_outgoing(
        &self,
        bytes: &mut Vec<u8>,
        attached: &mut Vec<Attached>,
    ) -> Result<Seats, Vec<Box<dyn FnOnce() + Send>>> {
        let mut state = self.lock();
        if !state.later.is_empty() {
            return Err(std::mem::take(&mut state.later));
        }
        Ok(state.take_outgoing(bytes, attached))
    }

    pub(crate) fn next_reply(&self) -> u64 {
        // 2^64 questions are asked in 500 years at a thousand million a second, and 2^60 in 36.
        let count = self.last_reply.fetch_add(1, Ordering::Relaxed) + 1;
        if self.has_seats {
            seats::number_of_question(count)
        } else {
            count
        }
    }

    /// Says of a question from there that there will be no answer.
    pub(crate) fn fail(&self, reply: u64, failure: FarFailure) {
        let failure = self.failure_to_tell(failure);
        self.say(|_| true, |state| state.write_failed(reply, failure));
    }

    /// As `fail`, to the process of that generation.
    pub(crate) fn fail_of(&self, reply: u64, generation: u64, failure: FarFailure) {
        let failure = self.failure_to_tell(failure);
        let is_now = |core: &Self| core.generation() == generation;
        self.say(is_now, |state| state.write_failed(reply, failure));
    }

    fn failure_to_tell(&self, failure: FarFailure) -> FarFailure {
        match self.untrusted {
            Some(_) => told_failure(failure),
            None => failure,
        }
    }

    /// What the other side is told of why an actor here has ended.
    pub(crate) fn end_to_tell(&self, reason: &EndReason) -> FarEnd {
        let end = FarEnd::of(reason);
        match self.untrusted {
            Some(_) => told_end(end),
            None => end,
        }
    }

    /// Actors here are done with so many bytes of what the other side has sent, if those count.
    pub(crate) fn handled(&self, counted: usize) {
        if let Some(untrusted) = &self.untrusted {
            untrusted.handled(counted);
            // What carries the link may wait for that.
            (self.wake)();
        }
    }

    pub(crate) fn release_unused(&self, actor: u64, times: u64) {
        self.write(&Frame::Release(actor, times));
    }

    /// Ends the link unless the other side has said hello within this limit.
    pub(crate) fn expect_hello(&self, limit: Duration) {
        let this = Weak::clone(&self.this);
        let is_late = move || {
            if let Some(core) = Weak::upgrade(&this)
                && core.lock().longest_there.is_none()
            {
                core.end(LinkEnd::Silent(limit));
            }
        };
        let timer = call_after(&self.time, limit, Box::new(is_late));
        let mut state = self.lock();
        if state.longest_there.is_none() && state.end.is_none() {
            state.hello_timer = Some(timer);
            return;
        }
        drop(state);
        timer.cancel();
    }

    /// The other side has said hello.
    pub(crate) fn greeted(&self, longest: u64, root: Option<u64>) {
        let cell = Arc::clone(self.root());
        let timer = {
            let mut state = self.lock();
            state.longest_there = Some(longest);
            state.is_rootless_there = root.is_none();
            let early = std::mem::take(&mut state.early_questions);
            // Of one whose messages are kept here the room is here.
            if let Some(window) = root
                && state.log.is_none()
            {
                if window != 0 {
                    state.count_questions(ROOT, &cell, early);
                }
                // Under the lock: a question is counted as one of the early ones, or by the window. Each has a place already.
                cell.open_window(window, 0, true);
            }
            state.hello_timer.take()
        };
        if let Some(timer) = timer {
            timer.cancel();
        }
        if let Some(supervised) = &self.supervised {
            supervised.greeted();
        }
        if root.is_none() {
            cell.end(EndReason::LinkLost(OFFERS_NONE.into()));
        }
    }

    /// What decides over the process of an actor there, if it is the root and that is supervised.
    pub(crate) fn supervised(&self, actor: u64) -> Option<&dyn Supervised> {
        self.supervised.as_deref().filter(|_| actor == ROOT)
    }

    /// Lets an actor there stop at once.
    pub(crate) fn stop(&self, number: u64, generation: u64) {
        if self.supervised(number).is_some_and(Supervised::stop) {
            return;
        }
        // The root outlives its process.
        let is_there = |core: &Self| core.is_there(number, generation);
        self.say(is_there, |state| {
            if let Some(log) = state.log_of(number) {
                log.stop();
            }
            state.write(&Frame::Stop(number));
        });
        self.wake_for_end(number);
    }

    /// The root was told to end: where there is no process of it, what would begin the next one looks.
    fn wake_for_end(&self, number: u64) {
        if number == ROOT {
            (self.wake)();
        }
    }

    /// Lets an actor there finish, behind what it was sent.
    pub(crate) fn finish(&self, number: u64, generation: u64) {
        self.say(
            |core| core.is_there(number, generation),
            |state| match state.log_of(number) {
                Some(log) => log.finish(),
                None => state.write(&Frame::Finish(number)),
            },
        );
        self.wake_for_end(number);
    }

    /// The last address of an actor there is gone here; it had been received so often.
    pub(crate) fn release_there(
        &self,
        number: u64,
        generation: u64,
        received: &Arc<Received>,
        times: u64,
    ) {
        if self.supervised(number).is_some_and(Supervised::stop) {
            return;
        }
        self.say(
            |core| core.is_there(number, generation),
            |state| {
                // Its address may have been received again meanwhile.
                if let Some(import) = state.imports.get(&number)
                    && Arc::ptr_eq(&import.received, received)
                {
                    state.imports.remove(&number);
                }
                match state.log_of(number) {
                    Some(log) => log.release(times),
                    None => state.write(&Frame::Release(number, times)),
                }
            },
        );
        self.wake_for_end(number);
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
        for cell in watched.iter().flatten().chain(known) {
            cell.end(end.clone().heard());
        }
    }

    /// What has come is the end of the link. But where another process may take the place of the one there, it has failed by breaking the
    /// protocol: what follows from that is for its owner to say. One that has not said hello is of another build, as the next one would be.
    pub(crate) fn end_received(&self, end: &LinkEnd, is_greeted: bool) {
        let violation = match end {
            LinkEnd::Protocol(text) if is_greeted => Some(Arc::clone(text)),
            LinkEnd::Unhandled(_) => Some(end.to_string().into()),
            _ => None,
        };
        if let Some(violation) = violation {
            let mut state = self.lock();
            if state.log.is_some() && state.end.is_none() {
                state.violation.get_or_insert(violation);
                return;
            }
        }
        self.end(end.clone());
    }

    /// How the link has ended, if what has come ends it so: what is wrong with it may come of an end while it was read, by which the tables are empty.
    pub(crate) fn first_end(&self, end: LinkEnd) -> LinkEnd {
        self.lock().end.clone().unwrap_or(end)
    }

    /// Whether the link has ended, or the root of this side has.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

impl ReadAnswers for Core {
    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool) {
        if let Some(answers) = &self.answers
            && !self.lock().pending.is_empty()
        {
            answers.read_while(goes_on);
        }
    }
}

impl Flush for Core {
    fn flush(&self) {
        if let Some(sender) = &self.sender {
            sender.send_now(self, false);
        }
    }
}

impl State {
    /// What goes to an actor there, if it is the root and that is kept.
    fn log_of(&mut self, actor: u64) -> Option<&mut RootLog> {
        self.log.as_mut().filter(|_| actor == ROOT)
    }

    /// Appends a frame that is no message and no answer.
    pub(crate) fn write(&mut self, frame: &Frame<'_>) {
        let most = self.longest_there.map(usize::try_from);
        let most = most.map_or(LEAST_FRAME, |most| most.unwrap_or(usize::MAX));
        frame.write_within(most, &mut self.outgoing);
    }

    fn write_failed(&mut self, reply: u64, failure: FarFailure) {
        self.write(&Frame::Failed(reply, failure));
        self.answered |= seats::seat_of(reply);
    }

    /// Appends what is to go; says for whom there are answers in it.
    fn take_outgoing(&mut self, bytes: &mut Vec<u8>, attached: &mut Vec<Attached>) -> Seats {
        let before = bytes.len();
        for it in &mut self.attached {
            it.shift(before);
        }
        attached.append(&mut self.attached);
        if bytes.is_empty() {
            std::mem::swap(&mut self.outgoing, bytes);
        } else {
            bytes.append(&mut self.outgoing);
        }
        self.note_sent();
        if let Some(log) = &mut self.log {
            log.write(bytes, attached);
        }
        std::mem::take(&mut self.answered)
    }

    /// What was outgoing is on its way.
    fn note_sent(&mut self) {
        self.has_said_hello = true;
        self.count_unsent();
        self.unsent.clear();
        self.unasked.clear();
    }

    /// Puts what is outgoing, as far as it may go now, to where senders write by themselves, if that is lent. What wakes the other side if it
    /// sleeps.
    fn write_directly(&mut self) -> Option<Call> {
        let mut direct = self.direct.take()?;
        if !self.put_directly(&mut *direct) {
            // To show the other side nothing new would only take the line from it at which it looks.
            self.direct = Some(direct);
            return None;
        }
        // What stays is taken by the carrier, with those for whom it is.
        let answered = if self.outgoing.is_empty() {
            std::mem::take(&mut self.answered)
        } else {
            0
        };
        let sleeper = direct.show(answered);
        self.direct = Some(direct);
        sleeper
    }

    /// Whether something was put there.
    fn put_directly(&mut self, direct: &mut dyn DirectOutlet) -> bool {
        let has_outgoing = !self.outgoing.is_empty();
        if has_outgoing {
            if !self.attached.is_empty() || !direct.put(&self.outgoing) {
                return false;
            }
            self.outgoing.clear();
            // What a burst has taken is given back.
            self.outgoing.shrink_to(MOST_SCRATCH);
            self.note_sent();
        }
        let written = match &mut self.log {
            Some(log) => log.write_directly(direct),
            None => 0,
        };
        has_outgoing || written > 0
    }

    /// Counts descriptors as lent.
    fn lend(&mut self, lot: Arc<Lot>) -> Lent {
        self.last_lent += 1;
        let number = self.last_lent;
        self.lent.insert(number, Arc::clone(&lot));
        Lent { number, lot }
    }

    /// Whether there is something to send.
    pub(crate) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty() || self.log.as_ref().is_some_and(RootLog::may_write)
    }
}
