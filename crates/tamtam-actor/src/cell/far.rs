//! The near side of an actor in another process: its number here, who watches it, and what a link does for it.

use core::task::Waker;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use tamtam_wait::Source;

use super::far_room::FarRoom;
use super::{AnyActor, Call, Continuation, Door, Lifeline, LinkTie, System, WatchKey, Watcher};
use crate::ended::{EndReason, Ended};
use crate::error::{Fate, LinkFailure, Refusal};
use crate::id::ActorId;
use crate::mailbox::{DeadLetter, Loss, Reserved, WhenNoRoom, tell_of};
use crate::observe::told;
use crate::task::ThreadWait;
use crate::time::Time;
use crate::waits::{FarWaits, Probe, enlist, strike};
use crate::wire::Encoding;

/// Writes a message behind the bytes given, as that says.
pub type Encode<'a> = &'a mut dyn FnMut(Encoding, &mut Vec<u8>) -> Result<(), String>;

/// An answer for which a thread waits, which may do something else meanwhile: see [`FarActor::while_waiting`].
#[doc(hidden)]
pub trait AwaitedAnswer {
    /// Whether it comes over the link. Else the reply is not in the message: it was kept back here, to be answered here.
    fn is_lent(&self) -> bool;

    /// Whether it is there.
    fn is_there(&self) -> bool;

    /// As [`is_there`](AwaitedAnswer::is_there); if it is not, the waker is woken once it is.
    fn poll(&mut self, waker: &Waker) -> bool;

    /// Waits for it and does nothing else.
    fn wait(&mut self);
}

/// What a link does for an actor at its other end.
#[doc(hidden)]
pub trait FarActor: Send + Sync {
    /// Sends a message to the actor, for which this cell stands.
    ///
    /// # Errors
    ///
    /// Why it was not sent; then what was lent to the link with it is taken back.
    fn tell(&self, cell: &Arc<FarCell>, encode: Encode<'_>) -> Result<(), (Refusal, LinkFailure)>;

    /// Which link it is of, and under which number the other side knows the actor.
    fn place(&self) -> (usize, u64);

    /// Lets the actor stop at once.
    fn stop(&self);

    /// Lets the actor stop when it has handled what it was sent before this.
    fn finish(&self);

    /// Whether the cell is [watched](FarCell::is_watched) may have changed: as long as it is, the end of the actor is of interest also
    /// when its last address is gone here.
    fn watchers_changed(&self, cell: &Arc<FarCell>);

    /// The actor was linked with one of this process.
    fn linked(&self, tie: LinkTie) {
        drop(tie);
    }

    /// A link of the actor, of this [key](LinkTie::key), was taken back here.
    fn unlinked(&self, key: u64) {
        let _ = key;
    }

    /// The actor has ended, and its link of this key with that.
    fn link_over(&self, key: u64) {
        let _ = key;
    }

    /// The actor of this process has ended that has the link of this key.
    fn partner_ended(&self, key: u64, ended: &Ended) {
        let _ = key;
        self.end_with(ended);
    }

    /// Ends the actor as one that is linked with an actor that has ended so.
    fn end_with(&self, ended: &Ended) {
        if ended.reason.is_abnormal() {
            self.stop();
        }
    }

    /// The last address is gone here.
    fn release(&self);

    /// Sends a probe on along the waits of the actor.
    fn probe(&self, probe: Probe) {
        drop(probe);
    }

    /// This thread is about to wait for the actor.
    fn before_wait(&self) {}

    /// This thread waits for an answer of the actor, until the deadline. It may do something else before it is there.
    fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        let _ = deadline;
        answer.wait();
    }

    /// Lets the actor pause, for its supervisor: its messages wait. Then `done` is called; if it is dropped that counts as well.
    fn suspend(&self, done: Call) {
        drop(done);
    }

    /// Lets the actor begin, or begin again, for its supervisor. Then `done` is called; if it is dropped that counts as well.
    fn resume(&self, done: Option<Call>) {
        drop(done);
    }

    /// Ends the actor as it is now, also if its handler does not come back; `false` if that cannot be.
    fn replace(&self) -> bool {
        false
    }

    /// Does something on a thread of the link's: what a timer is for.
    fn later(&self, what: Box<dyn FnOnce() + Send>);
}

/// What stands here for an actor in another process.
#[doc(hidden)]
pub struct FarCell {
    id: ActorId,
    life: Lifeline,
    /// The name that was heard of later.
    heard_name: OnceLock<Arc<str>>,
    message_type: &'static str,
    is_ending: AtomicBool,
    /// It has; that its link was lost is noted.
    has_ended: AtomicBool,
    lost: AtomicU64,
    room: FarRoom,
    time: Time,
    far: Box<dyn FarActor>,
}

impl FarCell {
    /// For an actor of this name whose messages have this type, for people to read. Its timers run by this time.
    pub fn new(
        name: Option<Arc<str>>,
        message_type: &'static str,
        time: Time,
        far: Box<dyn FarActor>,
    ) -> Arc<Self> {
        let life = Lifeline::new();
        if let Some(name) = name {
            life.set_name(name);
        }
        let cell = Arc::new(FarCell {
            id: ActorId::next(),
            life,
            heard_name: OnceLock::new(),
            message_type,
            is_ending: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            lost: AtomicU64::new(0),
            room: FarRoom::new(),
            time,
            far,
        });
        let waits: Weak<dyn FarWaits> = Arc::downgrade(&cell) as _;
        enlist(cell.id, waits);
        cell
    }

    /// The number that the actor has in this process.
    pub fn id(&self) -> ActorId {
        self.id
    }

    /// What the link does for it.
    pub fn far(&self) -> &dyn FarActor {
        &*self.far
    }

    /// The actor has ended, or the link to it has: those who watch it are told. Only the first time counts.
    pub fn end(&self, reason: EndReason) {
        if self.is_ending.swap(true, Ordering::AcqRel) {
            return;
        }
        // In this order: a sender whose message is refused says by the reason why, and for who has waited for the end it has come.
        if matches!(reason, EndReason::LinkLost(_)) {
            self.life.note(reason.clone());
        }
        // Sequentially consistent, as the look of a sender that registers to wait for room: one of the two sees the other.
        self.has_ended.store(true, Ordering::SeqCst);
        let concerned = self.life.end(reason);
        self.room.close();
        let ended = self.ended(concerned.reason.clone());
        concerned.tell(&ended);
    }

    /// What the actor is called, as its own process says, unless that is known.
    pub fn call(&self, name: &str) {
        if self.known_name().is_none() {
            let _ = self.heard_name.set(name.into());
        }
    }

    /// Whether the end of the actor is of interest here, and has not come.
    pub fn is_watched(&self) -> bool {
        self.life.is_watched()
    }

    /// The links of the actor with others, which are kept as long as this is.
    pub fn ties(self: &Arc<Self>) -> Vec<(LinkTie, KeptActor)> {
        let far: Arc<dyn AnyActor> = Arc::clone(self) as _;
        let near = self.life.links().into_iter();
        let near = near.filter_map(|(key, place)| Some((key, place.upgrade()?)));
        near.map(|(key, near)| (LinkTie::new(key, &near, &far), KeptActor(near)))
            .collect()
    }

    fn known_name(&self) -> Option<Arc<str>> {
        self.life.name().or_else(|| self.heard_name.get().cloned())
    }

    /// Whether the actor is known to have ended.
    pub fn is_stopped(&self) -> bool {
        self.has_ended.load(Ordering::SeqCst)
    }

    /// What has become of the link, if that has ended and not the actor: of a message that is not sent for that.
    pub(crate) fn link_lost(&self) -> Option<LinkFailure> {
        match self.life.noted()? {
            reason @ EndReason::LinkLost(_) => {
                Some(LinkFailure::new(Fate::NotBegun, reason.to_string()))
            }
            _ => None,
        }
    }

    /// Its mailbox has a limit: so many messages may be on their way or in it, and so many are already beside those that were sent by
    /// this. Zero is none. What is said first counts. A sender that finds no room waits, or else its message comes back.
    pub fn open_window(&self, window: u64, taken: u64, waits: bool) {
        self.room.open(window, taken, waits);
    }

    /// Whether there is a window.
    pub fn has_window(&self) -> bool {
        self.room.is_limited()
    }

    /// So many messages to it are done with.
    pub fn confirmed(&self, messages: u64) {
        self.room.give_back(messages);
    }

    /// So many messages to it were sent, and what has become of them is this, as far as it is known.
    pub fn note_all_lost(&self, messages: u64, why: Loss) {
        for _ in 0..messages {
            self.note_lost(self.message_type, why);
        }
    }

    /// A message to it, of which there are these bytes, was lost.
    pub fn note_bytes_lost(&self, why: Loss, bytes: Arc<[u8]>) {
        self.note_letter(self.message_type, why, Some(bytes));
    }

    pub(crate) fn waits(&self) -> bool {
        self.room.waits()
    }

    pub(crate) fn reserve(&self, when: WhenNoRoom) -> Reserved {
        if self.is_stopped() {
            return Reserved::Full;
        }
        let before_wait = || self.far.before_wait();
        self.room
            .reserve(self.id, when, &|| self.is_stopped(), &before_wait)
    }

    pub(crate) fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        if self.room.is_limited() {
            look(&self.room.room(|| self.is_stopped()));
        }
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(crate) fn note_lost(&self, message_type: &'static str, why: Loss) {
        self.note_letter(message_type, why, None);
    }

    fn note_letter(&self, message_type: &'static str, why: Loss, bytes: Option<Arc<[u8]>>) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        told::lost(self.id, message_type);
        tell_of(|| DeadLetter {
            actor: self.id,
            name: self.known_name(),
            message_type,
            why,
            bytes,
        });
    }

    fn ended(&self, reason: EndReason) -> Ended {
        Ended {
            id: self.id,
            name: self.known_name(),
            reason,
        }
    }
}

/// An actor, which is there as long as this is kept.
#[doc(hidden)]
pub struct KeptActor(#[expect(dead_code, reason = "it is kept")] Arc<dyn AnyActor>);

impl core::fmt::Debug for KeptActor {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KeptActor").finish_non_exhaustive()
    }
}

impl FarWaits for FarCell {
    fn probe(&self, probe: Probe) {
        self.far.probe(probe);
    }
}

impl Drop for FarCell {
    fn drop(&mut self) {
        strike(self.id);
    }
}

impl AnyActor for FarCell {
    fn id(&self) -> ActorId {
        self.id
    }

    fn message_type(&self) -> &'static str {
        self.message_type
    }

    fn name(&self) -> Option<Arc<str>> {
        self.known_name()
    }

    fn replace(&self) -> bool {
        self.far.replace()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        Some(ThreadWait::PLAIN)
    }

    // It is muted at its own side, if at all.
    fn mute(&self) {}

    fn unmute(self: Arc<Self>) {}

    fn life(&self) -> &Lifeline {
        &self.life
    }

    fn watch(self: Arc<Self>, key: WatchKey, watcher: Watcher) {
        match self.life.add_watcher(key, watcher) {
            Ok(()) => self.far.watchers_changed(&self),
            Err((reason, watcher)) => watcher(&self.ended(reason)),
        }
    }

    fn forget_watcher(self: Arc<Self>, key: WatchKey) -> bool {
        let was_there = self.life.forget_watcher(key);
        if was_there {
            self.far.watchers_changed(&self);
        }
        was_there
    }

    fn partner_ended(self: Arc<Self>, key: WatchKey, ended: &Ended) {
        self.far.partner_ended(key.get(), ended);
        self.life.forget_watched(key);
        self.forget_watcher(key);
    }

    fn far_place(&self) -> Option<(usize, u64)> {
        Some(self.far.place())
    }

    fn link_made(self: Arc<Self>, key: WatchKey, with: &Arc<dyn AnyActor>) {
        let far: Arc<dyn AnyActor> = Arc::clone(&self) as _;
        self.far.linked(LinkTie::new(key, with, &far));
    }

    fn unlinked(&self, key: WatchKey) {
        self.far.unlinked(key.get());
    }

    fn link_over(&self, key: WatchKey) {
        self.far.link_over(key.get());
    }

    fn send(self: Arc<Self>, system: System) {
        match system {
            System::Continue(with) => self.knock(with),
            System::Stop => self.far.stop(),
            System::Finish => self.far.finish(),
            System::Suspend(done) => self.far.suspend(done),
            System::Resume(done) => self.far.resume(done),
            // The process of one that is linked hears of the other one's end by itself: see `partner_ended`. The rest is for turns, and
            // there are none here.
            System::End(_)
            | System::Look
            | System::Settle(_)
            | System::Orphaned
            | System::Left(_) => {}
        }
    }
}

impl Door for FarCell {
    fn knock(self: Arc<Self>, with: Box<dyn Continuation>) {
        // What comes this way is a timer's, and looks at no runner.
        self.far.later(Box::new(move || with.go_on(&mut ())));
    }

    fn is_closed(&self) -> bool {
        self.is_stopped()
    }

    fn has_ended(&self) -> bool {
        self.is_stopped()
    }

    fn count_lost(&self, why: Loss) {
        self.note_lost(self.message_type, why);
    }

    fn time(&self) -> &Time {
        &self.time
    }
}

impl core::fmt::Debug for FarCell {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FarCell")
            .field("id", &self.id)
            .field("stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}
