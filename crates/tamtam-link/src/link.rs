//! One end of a link: what it has told the other one, what it owes it, and what it waits for.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tamtam_actor::link::{
    self, Encode, Exported, FarActor, FarCell, FarEnd, FarFailure, FarHold, PendingReply, Watching,
};
use tamtam_actor::{ActorId, Address, AskError, Ended, LinkFailure, Refusal, Time};

use crate::error::LinkEnd;
use crate::frame::{Body, Frame, Hello, LENGTH};
use crate::outbox::Outbox;

/// The number of the actor that each side may offer from the beginning.
const ROOT: u64 = 0;

/// One end of a link to another process. Clones are the same end.
///
/// It does no input or output: a carrier, such as those of [`carrier`](crate::carrier), gives its [`Inbound`] half what has come
/// and takes from it what is to go.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Address, Pool, Reply};
/// use tamtam_link::Link;
///
/// let pool = Pool::new();
/// let doubler = pool.spawn_fn(|(n, reply): (u32, Reply<u32>), _| reply.send(2 * n));
///
/// // Here the two ends are in one process.
/// let (there, mut inbound_there) = Link::builder().root(&doubler).build(|| {});
/// let (here, mut inbound_here) = Link::builder().build(|| {});
/// let far: Address<(u32, Reply<u32>)> = here.root();
/// let answer = std::thread::spawn(move || far.ask(|reply| (21, reply)));
/// while !answer.is_finished() {
///     let mut bytes = Vec::new();
///     here.take_outgoing(&mut bytes);
///     inbound_there.receive(&bytes)?;
///     bytes.clear();
///     there.take_outgoing(&mut bytes);
///     inbound_here.receive(&bytes)?;
/// }
/// assert_eq!(answer.join().unwrap(), Ok(42));
/// # Ok::<(), tamtam_link::LinkEnd>(())
/// ```
#[derive(Clone)]
pub struct Link {
    core: Arc<Core>,
}

/// What a link is to be like: see [`Link::builder`].
///
/// # Examples
///
/// ```
/// use tamtam_link::Link;
///
/// let (link, inbound) = Link::builder().program("resizer").longest_frame(1 << 20).build(|| {});
/// # drop((link, inbound));
/// ```
#[must_use = "a builder makes nothing before `build`"]
pub struct LinkBuilder {
    program: String,
    longest_frame: usize,
    most_unread: usize,
    time: Time,
    root: Option<Arc<dyn Exported>>,
}

/// The half of a link's end to which a carrier gives what has come.
///
/// # Examples
///
/// ```
/// use tamtam_link::Link;
///
/// let (here, mut to_here) = Link::builder().build(|| {});
/// let end = to_here.receive(b"GET / HTTP/1.1").unwrap_err();
/// assert_eq!(here.ended(), Some(end));
/// ```
pub struct Inbound {
    core: Arc<Core>,
    /// The beginning of a frame that has not come as a whole.
    partial: Vec<u8>,
    is_greeted: bool,
}

pub(crate) struct Core {
    this: Weak<Core>,
    longest_frame: usize,
    most_unread: usize,
    time: Time,
    state: Mutex<State>,
    wake: Box<dyn Fn() + Send + Sync>,
    last_reply: AtomicU64,
    /// The other side's root, as long as the link lasts.
    root: OnceLock<Arc<FarHold>>,
}

#[derive(Default)]
struct State {
    outgoing: Vec<u8>,
    end: Option<LinkEnd>,
    /// The longest frame that the other side takes, once it has said so.
    longest_there: Option<u64>,
    exports: HashMap<u64, Export>,
    /// The numbers of what is exported.
    numbers: HashMap<(usize, TypeId), u64>,
    last_export: u64,
    /// Actors whose end is of interest there, where no address of them is left.
    orphans: HashMap<u64, Watching>,
    imports: HashMap<u64, Import>,
    /// Actors there whose end is of interest here.
    watched: HashMap<u64, Arc<FarCell>>,
    pending: HashMap<u64, Pending>,
    /// What a timer has left to be done.
    later: Vec<Box<dyn FnOnce() + Send>>,
}

/// An actor of which the other side has addresses.
struct Export {
    actor: Arc<dyn Exported>,
    /// How often it was sent, less how often that was released.
    sent: u64,
    watching: Option<Watching>,
    /// Its end is of interest there also when no address is left.
    is_watched: bool,
}

/// An actor of the other side.
struct Import {
    hold: Weak<FarHold>,
    received: Arc<AtomicU64>,
}

/// A question that the other side has.
struct Pending {
    reply: Arc<dyn PendingReply>,
    asked: ActorId,
}

impl Link {
    /// What a link is to be like.
    pub fn builder() -> LinkBuilder {
        LinkBuilder {
            program: String::new(),
            longest_frame: 16 << 20,
            most_unread: 64 << 20,
            time: Time::system(),
            root: None,
        }
    }

    /// The address of the actor that the other side offers. If it offers none, those who ask it are told.
    ///
    /// The messages' type has to be the one that the actor there has: other bytes are
    /// [`NotDecodable`](AskError::NotDecodable).
    #[must_use]
    pub fn root<M: Serialize + 'static>(&self) -> Address<M> {
        link::address(Arc::clone(self.core.root()))
    }

    /// Appends what is to go to the other side, in order. Empty if there is nothing; then the closure given to
    /// [`build`](LinkBuilder::build) is called when there is.
    ///
    /// What timers have for actors at the other side is done here first, on this thread.
    pub fn take_outgoing(&self, bytes: &mut Vec<u8>) {
        loop {
            let later = {
                let mut state = self.core.lock();
                if state.later.is_empty() {
                    if bytes.is_empty() {
                        std::mem::swap(&mut state.outgoing, bytes);
                    } else {
                        bytes.append(&mut state.outgoing);
                    }
                    return;
                }
                std::mem::take(&mut state.later)
            };
            for what in later {
                // A message of the user's may be encoded.
                drop(catch_unwind(AssertUnwindSafe(what)));
            }
        }
    }

    /// Why the link has ended, if it has.
    #[must_use]
    pub fn ended(&self) -> Option<LinkEnd> {
        self.core.lock().end.clone()
    }

    /// Ends the link from this side: says goodbye, fails what is asked, and tells those who watch actors there. Only the first
    /// end counts.
    pub fn close(&self) {
        self.core.end(LinkEnd::Closed);
    }

    /// The carrier has lost the other side, as this says.
    pub fn lose(&self, why: &str) {
        self.core.end(LinkEnd::Lost(why.into()));
    }

    /// How many of the other side's actors have an address here, and how many of this side's have one there.
    #[must_use]
    pub fn addresses(&self) -> (usize, usize) {
        let state = self.core.lock();
        (state.imports.len(), state.exports.len())
    }

    /// How many answers are awaited from the other side.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.core.lock().pending.len()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

impl LinkBuilder {
    /// What this program is called, for people at the other side.
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = name.into();
        self
    }

    /// The longest frame, in bytes, that is taken and sent: 16 MiB unless it is said. A message that would take more is
    /// refused with [`TooLarge`](Refusal::TooLarge); one that comes nevertheless ends the link.
    pub fn longest_frame(mut self, bytes: usize) -> Self {
        self.longest_frame = bytes.clamp(1 << 10, u32::MAX as usize);
        self
    }

    /// How many bytes may wait for an other side that does not read them, before the link ends: 64 MiB unless it is said.
    pub fn most_unread(mut self, bytes: usize) -> Self {
        self.most_unread = bytes;
        self
    }

    /// The time by which messages are sent later to actors at the other side: the system's unless it is said.
    pub fn time(mut self, time: Time) -> Self {
        self.time = time;
        self
    }

    /// The actor that the other side may reach from the beginning. It reaches no other one unless it is sent its address.
    pub fn root<M: DeserializeOwned + Send + 'static>(mut self, address: &Address<M>) -> Self {
        self.root = Some(link::export(address));
        self
    }

    /// An end of a link. `wake` is called, on any thread and under no lock, when there is something to send and there was
    /// nothing before, and when the link has ended.
    pub fn build(self, wake: impl Fn() + Send + Sync + 'static) -> (Link, Inbound) {
        let mut state = State::default();
        let hello = Hello {
            program: &self.program,
            most: self.longest_frame as u64,
            root: self.root.as_ref().map(|root| root.message_type()),
        };
        Frame::Hello(hello).write(&mut state.outgoing);
        let core = Arc::new_cyclic(|this| Core {
            this: Weak::clone(this),
            longest_frame: self.longest_frame,
            most_unread: self.most_unread,
            time: self.time,
            state: Mutex::new(state),
            wake: Box::new(wake),
            last_reply: AtomicU64::new(0),
            root: OnceLock::new(),
        });
        if let Some(root) = self.root {
            core.add_export(&mut core.lock(), ROOT, Arc::clone(&root));
            core.watch_export(ROOT, &root);
        }
        let inbound = Inbound {
            core: Arc::clone(&core),
            partial: Vec::new(),
            is_greeted: false,
        };
        (Link { core }, inbound)
    }
}

impl fmt::Debug for LinkBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkBuilder")
            .field("program", &self.program)
            .field("longest_frame", &self.longest_frame)
            .finish_non_exhaustive()
    }
}

impl Core {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No user code runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn root(&self) -> &Arc<FarHold> {
        self.root.get_or_init(|| {
            let received = Arc::new(AtomicU64::new(1));
            let mut state = self.lock();
            let hold = self.new_hold(&mut state, ROOT, "a message to the root", received);
            let end = state.end.clone();
            drop(state);
            if let Some(end) = end {
                hold.cell().end(lost(&end));
            }
            hold
        })
    }

    /// Writes a frame, unless the link has ended.
    fn write(&self, frame: &Frame<'_>) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let is_first = state.outgoing.is_empty();
        frame.write(&mut state.outgoing);
        self.written(state, is_first);
    }

    /// Sees to it that what was written goes, and ends the link if too much waits.
    fn written(&self, state: MutexGuard<'_, State>, is_first: bool) {
        let waiting = state.outgoing.len();
        drop(state);
        if is_first {
            (self.wake)();
        } else if waiting > self.most_unread {
            self.end(LinkEnd::Unread(waiting));
        }
    }

    /// Sends a message or an answer, with all that is in it.
    fn send(
        &self,
        kind: BodyKind,
        asked: ActorId,
        encode: Encode<'_>,
    ) -> Result<(), (Refusal, LinkFailure)> {
        let Some(this) = self.this.upgrade() else {
            return Err(gone());
        };
        let outbox = Outbox::new(this);
        let mut payload = Vec::new();
        let encoded = outbox.encode(encode, &mut payload);
        if let Err(error) = encoded {
            return Err((Refusal::NotEncodable, LinkFailure::new(error)));
        }
        let mut noted = outbox.take();
        let body = Body {
            replies: noted.replies.iter().map(|(number, _)| *number).collect(),
            exports: std::mem::take(&mut noted.exports),
            payload: &payload,
        };
        // A kind, and numbers of ten bytes at most.
        let length = payload.len() + 1 + 10 * (3 + body.replies.len() + body.exports.len());
        let mut state = self.lock();
        let there = state.longest_there.unwrap_or(u64::MAX);
        let most = there.min(self.longest_frame as u64);
        let refused = if let Some(end) = &state.end {
            let text = format!("the link has ended before: {end}");
            Some((Refusal::Unreachable, LinkFailure::new(text)))
        } else if length as u64 > most {
            let text = format!("it takes {length} bytes, and the link carries {most} at once");
            Some((Refusal::TooLarge, LinkFailure::new(text)))
        } else {
            None
        };
        if let Some(refused) = refused {
            drop(state);
            self.take_back(&body.exports);
            return Err(refused);
        }
        for (number, reply) in noted.replies {
            // Before the answer can come.
            reply.sent();
            state.pending.insert(number, Pending { reply, asked });
        }
        let is_first = state.outgoing.is_empty();
        match kind {
            BodyKind::Tell(actor) => Frame::Tell(actor, body),
            BodyKind::Answer(reply) => Frame::Answer(reply, body),
        }
        .write(&mut state.outgoing);
        self.written(state, is_first);
        Ok(())
    }

    /// Sends an answer; if that cannot be, what the other side is to be told.
    pub(crate) fn answer(&self, reply: u64, encode: Encode<'_>) -> Result<(), FarFailure> {
        // What is asked by the way is asked of the other side as a whole.
        let asked = self.root().cell().id();
        let sent = self.send(BodyKind::Answer(reply), asked, encode);
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

    /// Counts an actor as sent once more; the number under which the other side knows it.
    pub(crate) fn export(&self, actor: Arc<dyn Exported>) -> u64 {
        let mut state = self.lock();
        let state = &mut *state;
        let key = actor.key();
        if let Some(number) = state.numbers.get(&key)
            && let Some(export) = state.exports.get_mut(number)
        {
            export.sent += 1;
            return *number;
        }
        state.last_export += 1;
        let number = state.last_export;
        self.add_export(state, number, Arc::clone(&actor));
        number
    }

    fn add_export(&self, state: &mut State, number: u64, actor: Arc<dyn Exported>) {
        state.numbers.insert(actor.key(), number);
        let export = Export {
            actor,
            sent: 1,
            watching: None,
            is_watched: false,
        };
        state.exports.insert(number, export);
    }

    /// Sees to it that the other side hears of the actor's end.
    pub(crate) fn watch_export(&self, number: u64, actor: &Arc<dyn Exported>) {
        if self
            .lock()
            .exports
            .get(&number)
            .is_none_or(|export| export.watching.is_some())
        {
            return;
        }
        let link = Weak::clone(&self.this);
        let watching = actor.watch(Box::new(move |ended: &Ended| {
            if let Some(core) = link.upgrade() {
                core.has_ended(number, FarEnd::of(&ended.reason));
            }
        }));
        let unused = match self.lock().exports.get_mut(&number) {
            Some(export) => export.watching.replace(watching),
            None => Some(watching),
        };
        drop(unused);
    }

    /// An actor of this side has ended.
    fn has_ended(&self, number: u64, end: FarEnd) {
        self.write(&Frame::Ended(number, end));
        let orphan = self.lock().orphans.remove(&number);
        drop(orphan);
    }

    /// What was counted for a message that was not sent.
    pub(crate) fn take_back(&self, exports: &[u64]) {
        for number in exports {
            let gone = self.lock().release(*number, 1);
            drop(gone);
        }
    }

    /// An address of an actor there, which was received so often now; `None` if it was not, and there is none.
    pub(crate) fn import(
        &self,
        number: u64,
        times: u64,
        message_type: &'static str,
    ) -> Option<Arc<FarHold>> {
        let mut state = self.lock();
        if let Some(import) = state.imports.get(&number)
            && let Some(hold) = import.hold.upgrade()
        {
            import.received.fetch_add(times, Ordering::Relaxed);
            drop(state);
            return Some(hold);
        }
        if times == 0 {
            return None;
        }
        let received = Arc::new(AtomicU64::new(times));
        Some(self.new_hold(&mut state, number, message_type, received))
    }

    fn new_hold(
        &self,
        state: &mut State,
        number: u64,
        message_type: &'static str,
        received: Arc<AtomicU64>,
    ) -> Arc<FarHold> {
        let asked = Arc::new(OnceLock::new());
        let peer = FarPeer {
            core: Weak::clone(&self.this),
            number,
            received: Arc::clone(&received),
            asked: Arc::clone(&asked),
        };
        let cell = FarCell::new(None, message_type, self.time.clone(), Box::new(peer));
        let _ = asked.set(cell.id());
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
        state
            .exports
            .get(&number)
            .map(|export| Arc::clone(&export.actor))
    }

    /// Says of a question from there that there will be no answer.
    pub(crate) fn fail(&self, reply: u64, failure: FarFailure) {
        self.write(&Frame::Failed(reply, failure));
    }

    pub(crate) fn release_unused(&self, actor: u64, times: u64) {
        self.write(&Frame::Release(actor, times));
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lock().end.is_none()
    }

    /// Ends the link, for the first reason that is given.
    fn end(&self, why: LinkEnd) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        match &why {
            LinkEnd::Closed => Frame::Goodbye("it was closed").write(&mut state.outgoing),
            LinkEnd::Protocol(text) => Frame::Goodbye(text).write(&mut state.outgoing),
            LinkEnd::Goodbye(_) | LinkEnd::Lost(_) | LinkEnd::Unread(_) => {
                state.outgoing = Vec::new();
            }
        }
        state.end = Some(why.clone());
        let exports = std::mem::take(&mut state.exports);
        let orphans = std::mem::take(&mut state.orphans);
        let later = std::mem::take(&mut state.later);
        state.numbers.clear();
        let pending = std::mem::take(&mut state.pending);
        let mut cells: Vec<_> = state.watched.drain().map(|(_, cell)| cell).collect();
        let holds: Vec<_> = state
            .imports
            .drain()
            .filter_map(|(_, import)| import.hold.upgrade())
            .collect();
        drop(state);
        (self.wake)();
        for pending in pending.into_values() {
            let text = format!("{why}; whether the question was handled is not known");
            pending
                .reply
                .fail(AskError::Unreachable(LinkFailure::new(text)));
        }
        cells.extend(holds.iter().map(|hold| Arc::clone(hold.cell())));
        for cell in cells {
            cell.end(lost(&why));
        }
        drop((exports, orphans, later));
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        self.end(LinkEnd::Lost("what carried the link has dropped it".into()));
    }
}

impl State {
    /// Counts an actor as released so often; what is left over. `Err` if it was not sent as often.
    fn release(&mut self, number: u64, times: u64) -> Result<Option<Export>, u64> {
        let Some(export) = self.exports.get_mut(&number) else {
            return Err(0);
        };
        if times > export.sent {
            return Err(export.sent);
        }
        export.sent -= times;
        if export.sent > 0 {
            return Ok(None);
        }
        let export = self.exports.remove(&number);
        Ok(export.map(|mut export| {
            self.numbers.remove(&export.actor.key());
            if export.is_watched
                && let Some(watching) = export.watching.take()
            {
                self.orphans.insert(number, watching);
            }
            export
        }))
    }
}

/// Whether something is for an actor, or for who waits for an answer.
#[derive(Clone, Copy, Debug)]
enum BodyKind {
    Tell(u64),
    Answer(u64),
}

fn gone() -> (Refusal, LinkFailure) {
    let text = "what carried the link has dropped it";
    (Refusal::Unreachable, LinkFailure::new(text))
}

fn lost(why: &LinkEnd) -> tamtam_actor::EndReason {
    tamtam_actor::EndReason::LinkLost(why.to_string().into())
}

/// The way to an actor at the other side.
struct FarPeer {
    core: Weak<Core>,
    number: u64,
    /// How often its address was received.
    received: Arc<AtomicU64>,
    /// The number that the actor has here.
    asked: Arc<OnceLock<ActorId>>,
}

impl FarPeer {
    fn write(&self, frame: &Frame<'_>) {
        if let Some(core) = self.core.upgrade() {
            core.write(frame);
        }
    }
}

impl FarActor for FarPeer {
    fn tell(&self, encode: Encode<'_>) -> Result<(), (Refusal, LinkFailure)> {
        let core = self.core.upgrade().ok_or_else(gone)?;
        let asked = *self.asked.get().ok_or_else(gone)?;
        core.send(BodyKind::Tell(self.number), asked, encode)
    }

    fn place(&self) -> (usize, u64) {
        (self.core.as_ptr().addr(), self.number)
    }

    fn stop(&self) {
        self.write(&Frame::Stop(self.number));
    }

    fn finish(&self) {
        self.write(&Frame::Finish(self.number));
    }

    fn watch(&self, cell: Arc<FarCell>) {
        let Some(core) = self.core.upgrade() else {
            return cell.end(lost(&LinkEnd::Lost("what carried it is gone".into())));
        };
        let mut state = core.lock();
        if let Some(end) = &state.end {
            let reason = lost(end);
            drop(state);
            return cell.end(reason);
        }
        state.watched.insert(self.number, cell);
        let is_first = state.outgoing.is_empty();
        Frame::Watch(self.number).write(&mut state.outgoing);
        core.written(state, is_first);
    }

    fn release(&self) {
        let Some(core) = self.core.upgrade() else {
            return;
        };
        let mut state = core.lock();
        if state.end.is_some() {
            return;
        }
        // Its address may have been received again meanwhile.
        if let Some(import) = state.imports.get(&self.number)
            && Arc::ptr_eq(&import.received, &self.received)
        {
            state.imports.remove(&self.number);
        }
        let times = self.received.load(Ordering::Relaxed);
        let is_first = state.outgoing.is_empty();
        Frame::Release(self.number, times).write(&mut state.outgoing);
        core.written(state, is_first);
    }

    fn later(&self, what: Box<dyn FnOnce() + Send>) {
        let unused = match self.core.upgrade() {
            None => Some(what),
            Some(core) => {
                let mut state = core.lock();
                if state.end.is_some() {
                    Some(what)
                } else {
                    state.later.push(what);
                    drop(state);
                    (core.wake)();
                    None
                }
            }
        };
        drop(unused);
    }
}

impl Inbound {
    /// Takes what has come from the other side, cut anywhere.
    ///
    /// # Errors
    ///
    /// How the link has ended: with a goodbye, or by what is no frame, or before. What is left in
    /// [`take_outgoing`](Link::take_outgoing) tells the other side; then the carrier may close.
    pub fn receive(&mut self, mut bytes: &[u8]) -> Result<(), LinkEnd> {
        let received = self.receive_all(&mut bytes);
        if let Err(end) = &received {
            self.core.end(end.clone());
        }
        received
    }

    fn receive_all(&mut self, bytes: &mut &[u8]) -> Result<(), LinkEnd> {
        if let Some(end) = &self.core.lock().end {
            return Err(end.clone());
        }
        while !bytes.is_empty() {
            if self.partial.is_empty()
                && let Some(length) = self.length(bytes)?
                && let Some((frame, rest)) = bytes[LENGTH..].split_at_checked(length)
            {
                *bytes = rest;
                self.take(frame)?;
                continue;
            }
            // Its length first, then as much as that says.
            let whole = match self.length(&self.partial)? {
                None => LENGTH,
                Some(length) => LENGTH + length,
            };
            let (more, rest) = bytes.split_at((whole - self.partial.len()).min(bytes.len()));
            self.partial.extend_from_slice(more);
            *bytes = rest;
            if self.length(&self.partial)?.map(|length| LENGTH + length) == Some(self.partial.len())
            {
                let mut frame = std::mem::take(&mut self.partial);
                self.take(&frame[LENGTH..])?;
                frame.clear();
                // A large one is given back.
                if frame.capacity() <= 1 << 16 {
                    self.partial = frame;
                }
            }
        }
        Ok(())
    }

    /// The length of the frame that begins so, if that much is there.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, LinkEnd> {
        let Some(length) = bytes.first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.core.longest_frame {
            return Err(LinkEnd::protocol(format!(
                "a frame of {length} bytes, and this side takes {} at most",
                self.core.longest_frame
            )));
        }
        Ok(Some(length))
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), LinkEnd> {
        let frame = Frame::read(bytes)?;
        if let Frame::Hello(hello) = &frame {
            if self.is_greeted {
                return Err(LinkEnd::protocol("it has said hello twice".to_owned()));
            }
            self.is_greeted = true;
            self.core.lock().longest_there = Some(hello.most);
            if hello.root.is_none() {
                let text = "the other side offers no actor".into();
                let root = self.core.root();
                root.cell().end(tamtam_actor::EndReason::LinkLost(text));
            }
            return Ok(());
        }
        if !self.is_greeted {
            return Err(LinkEnd::protocol(
                "it has not said hello before all else".to_owned(),
            ));
        }
        self.core.dispatch(frame)
    }
}

impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound")
            .field("partial", &self.partial.len())
            .finish_non_exhaustive()
    }
}

fn not_exported(actor: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it names actor {actor}, of which it has no address"
    ))
}

impl Core {
    fn dispatch(&self, frame: Frame<'_>) -> Result<(), LinkEnd> {
        match frame {
            Frame::Hello(_) => unreachable!("it is taken before"),
            Frame::Tell(actor, body) => {
                let exported = self.exported(actor).ok_or_else(|| not_exported(actor))?;
                self.read(body, |payload| exported.receive(payload))
            }
            Frame::Answer(reply, body) => {
                let pending = self.lock().pending.remove(&reply);
                let pending = pending.ok_or_else(|| not_asked(reply))?;
                self.read(body, |payload| {
                    pending.reply.answer(payload);
                    Ok(())
                })
            }
            Frame::Failed(reply, failure) => {
                let pending = self.lock().pending.remove(&reply);
                let pending = pending.ok_or_else(|| not_asked(reply))?;
                pending.reply.fail(failure.heard(pending.asked));
                Ok(())
            }
            Frame::Release(actor, times) => {
                let released = self.lock().release(actor, times);
                match released {
                    Ok(gone) => {
                        drop(gone);
                        Ok(())
                    }
                    Err(sent) => Err(LinkEnd::protocol(format!(
                        "it gives up {times} addresses of actor {actor}, of which it has {sent}"
                    ))),
                }
            }
            Frame::Watch(actor) => {
                let mut state = self.lock();
                if let Some(export) = state.exports.get_mut(&actor) {
                    export.is_watched = true;
                } else if !state.orphans.contains_key(&actor) {
                    drop(state);
                    let text = "its last address was given up before its end was asked for";
                    self.write(&Frame::Ended(actor, FarEnd::LinkLost(text.to_owned())));
                }
                Ok(())
            }
            Frame::Ended(actor, end) => {
                let mut state = self.lock();
                let watched = state.watched.remove(&actor);
                let hold = state
                    .imports
                    .get(&actor)
                    .and_then(|import| import.hold.upgrade());
                drop(state);
                for cell in watched.iter().chain(hold.as_ref().map(|hold| hold.cell())) {
                    cell.end(end.clone().heard());
                }
                Ok(())
            }
            Frame::Stop(actor) => {
                let exported = self.exported(actor).ok_or_else(|| not_exported(actor))?;
                exported.stop();
                Ok(())
            }
            Frame::Finish(actor) => {
                let exported = self.exported(actor).ok_or_else(|| not_exported(actor))?;
                exported.finish();
                Ok(())
            }
            Frame::Goodbye(words) => Err(LinkEnd::Goodbye(words.into())),
        }
    }

    /// Reads what has come, with all that is in it; of what was not read the other side is told.
    fn read(
        &self,
        body: Body<'_>,
        read: impl FnOnce(&[u8]) -> Result<(), String>,
    ) -> Result<(), LinkEnd> {
        let Some(this) = self.this.upgrade() else {
            return Ok(());
        };
        crate::inbox::Inbox::new(this, body.replies, body.exports).read(|| read(body.payload));
        Ok(())
    }
}

fn not_asked(reply: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it answers question {reply}, which it does not have"
    ))
}
