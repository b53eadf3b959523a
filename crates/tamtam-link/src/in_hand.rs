//! What is lent and exported in the message that a thread writes or reads: counted if it is sent, taken back or told if not. Descriptors are
//! closed if they are not taken.

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use tamtam_actor::link::{
    Encode, Exported, FarAsker, FarFailure, FarHold, FarPlace, FarQuestion, FarReply, Imported,
    LentDescriptor, PendingReply, Tables, TakenDescriptor, within,
};
use tamtam_actor::{AskError, Fate};

use crate::core::Core;
use crate::descriptors::{Arrived, Lot, not_come};
use crate::frame::{Frame, Offer, ROOT, Replies};
use crate::numbers::{Numbers, Offers};
use crate::tables::GivenBack;

/// What is in a message that is written, beside its bytes. In most of them there is nothing.
#[derive(Default)]
pub(crate) struct Noted {
    pub(crate) replies: SmallVec<[(u64, Arc<dyn PendingReply>); 1]>,
    /// Each as often as it stands there.
    pub(crate) exports: Vec<Offer>,
    /// The generation in which the last of them were counted, and how many were before that: these are counted no more.
    pub(crate) counted: (u64, usize),
    pub(crate) lot: Option<Lot>,
    pub(crate) given_back: GivenBack,
}

/// A message that is written.
struct Written<'a> {
    core: &'a Core,
    /// Once there is something.
    noted: RefCell<Option<Noted>>,
}

impl Drop for Written<'_> {
    fn drop(&mut self) {
        // What writes the message has failed, or panicked.
        if let Some(noted) = self.noted.get_mut() {
            self.core.take_back(noted);
        }
    }
}

/// What has come with a message, and was not read yet.
#[derive(Default)]
pub(crate) struct Unread {
    pub(crate) replies: Replies,
    /// Each as often as it was sent.
    pub(crate) exports: Vec<Offer>,
    pub(crate) arrived: Option<Box<Arrived>>,
}

/// A message that is read.
struct Read<'a> {
    core: &'a Core,
    left: RefCell<NotRead>,
}

/// What has not been read of it.
struct NotRead {
    replies: Numbers,
    exports: Offers,
    arrived: Option<Box<Arrived>>,
}

/// Replies of the message that a thread reads: what is wrong with that is known only behind them.
#[derive(Default)]
struct TakenReplies {
    /// Which link it has come over.
    link: usize,
    taken: Numbers,
    /// Those that were dropped since.
    dropped: Replies,
}

#[cfg(not(tamtam_loom))]
thread_local! {
    /// Of the message that this thread reads, if there are replies in it.
    static TAKEN: RefCell<TakenReplies> = RefCell::default();
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static TAKEN: RefCell<TakenReplies> = RefCell::default();
}

impl TakenReplies {
    /// Does something with those of this thread, unless the thread ends.
    fn with<R>(does: impl FnOnce(&mut TakenReplies) -> R) -> Option<R> {
        TAKEN.try_with(|taken| does(&mut taken.borrow_mut())).ok()
    }

    /// Counts a reply as dropped; `false` if it was not taken out of the message at hand.
    fn note_dropped(&mut self, link: usize, number: u64) -> bool {
        let is_of_it = self.link == link && self.taken.take(number);
        if is_of_it {
            self.dropped.push(number);
        }
        is_of_it
    }
}

/// Writes a message; what is in it is the caller's to count, or to take back.
///
/// # Errors
///
/// What the message's own `Serialize` says; then nothing is counted.
pub(crate) fn write(
    core: &Core,
    encode: Encode<'_>,
    payload: &mut Vec<u8>,
) -> Result<Option<Noted>, String> {
    let written = Written {
        core,
        noted: RefCell::default(),
    };
    within(&written, || encode(core.encoding, payload))?;
    Ok(written.noted.take())
}

/// Reads a message; of replies and addresses that were not read the other side is told.
pub(crate) fn read(core: &Core, unread: Unread, read: impl FnOnce() -> Result<(), String>) {
    let has_replies = !unread.replies.is_empty();
    let left = NotRead {
        replies: unread.replies.into(),
        exports: unread.exports.into(),
        arrived: unread.arrived,
    };
    let in_hand = Read {
        core,
        left: RefCell::new(left),
    };
    let before = has_replies.then(|| {
        let link = std::ptr::from_ref(core).addr();
        let now = TakenReplies {
            link,
            ..TakenReplies::default()
        };
        TakenReplies::with(|taken| mem::replace(taken, now))
    });
    // What reads it, what maps it and what drops it is the user's.
    let result = within(&in_hand, || catch_unwind(AssertUnwindSafe(read)));
    let left = in_hand.left.into_inner();
    let mut replies = left.replies.into_all();
    if let Some(Some(before)) = before {
        let read = TakenReplies::with(|taken| mem::replace(taken, before));
        replies.extend(read.unwrap_or_default().dropped);
    }
    if let Some(arrived) = left.arrived {
        let (number, generation) = (arrived.number, arrived.generation);
        // Before the other side hears that nothing of it is lent any more.
        drop(arrived);
        core.write_of(generation, &Frame::Received(number));
    }
    if replies.is_empty() && left.exports.is_empty() {
        return;
    }
    let failure = match result {
        Ok(Ok(())) => FarFailure::Unanswered,
        Ok(Err(text)) => FarFailure::NotDecodable(Fate::NotBegun, text),
        Err(_) => {
            let text = "what reads it has panicked".to_owned();
            FarFailure::NotDecodable(Fate::NotBegun, text)
        }
    };
    for reply in replies {
        core.fail(reply, failure.clone());
    }
    for (actor, times) in left.exports.into_all() {
        core.release_unused(actor, times);
    }
}

impl Written<'_> {
    fn note<R>(&self, note: impl FnOnce(&mut Noted) -> R) -> R {
        note(self.noted.borrow_mut().get_or_insert_default())
    }

    /// Adds a descriptor to those of the message.
    fn lend(&self, add: impl FnOnce(&mut Lot) -> Result<u64, String>) -> Result<u64, String> {
        if !self.core.carries_descriptors {
            let text = "it goes over a link on a Unix socket of this machine, or to a Process, and this link carries bytes only";
            return Err(text.to_owned());
        }
        self.note(|noted| add(noted.lot.get_or_insert_with(|| Lot::new(&self.core.ways))))
    }
}

impl Tables for Written<'_> {
    fn lend_reply(&self, reply: Arc<dyn PendingReply>) -> Result<u64, String> {
        let number = self.core.next_reply();
        self.note(|noted| noted.replies.push((number, reply)));
        Ok(number)
    }

    fn take_reply(&self, _: u64) -> Result<FarReply, String> {
        Err(NOT_READ.to_owned())
    }

    fn export(&self, exported: Arc<dyn Exported>) -> Result<FarPlace, String> {
        if !self.core.is_open() {
            return Err("the link has ended".to_owned());
        }
        let window = exported.window();
        let (actor, generation) = self.core.export_actor(Arc::clone(&exported));
        self.note(|noted| {
            if noted.counted.0 != generation {
                noted.counted = (generation, noted.exports.len());
            }
            noted.exports.push(Offer { actor, window });
        });
        self.core.watch_export(actor, &exported);
        Ok(FarPlace::Here(actor))
    }

    fn place_of(&self, hold: &Arc<FarHold>) -> Option<FarPlace> {
        let cell = hold.cell();
        // One of a process that has ended is an actor of this side, which has ended.
        let (link, number) = cell.far().place();
        if link != std::ptr::from_ref(self.core).addr() || cell.is_stopped() {
            return None;
        }
        if number != ROOT {
            self.note(|noted| noted.given_back.push(Arc::clone(hold)));
        }
        Some(FarPlace::There(number))
    }

    fn import(&self, _: FarPlace, _: &'static str) -> Result<Imported, String> {
        Err(NOT_READ.to_owned())
    }

    fn lend_descriptor(&self, descriptor: LentDescriptor) -> Result<u64, String> {
        self.lend(|lot| lot.push(descriptor))
    }

    fn lend_shared_descriptor(&self, descriptor: LentDescriptor) -> Result<u64, String> {
        self.lend(|lot| lot.push_shared(descriptor))
    }

    fn share_descriptor(&self, _: u64) -> Result<TakenDescriptor, String> {
        Err(NOT_READ.to_owned())
    }

    fn take_descriptor(&self, _: u64) -> Result<TakenDescriptor, String> {
        Err(NOT_READ.to_owned())
    }
}

const NOT_READ: &str = "a message that is written has nothing to be read";
const NOT_WRITTEN: &str = "a message that is read takes nothing to be sent";

impl Tables for Read<'_> {
    fn lend_reply(&self, _: Arc<dyn PendingReply>) -> Result<u64, String> {
        Err(NOT_WRITTEN.to_owned())
    }

    fn take_reply(&self, number: u64) -> Result<FarReply, String> {
        let core = self.core.this().ok_or("the link is gone")?;
        if !self.left.borrow_mut().replies.take(number) {
            return Err(format!("reply {number} was not sent with it"));
        }
        TakenReplies::with(|taken| taken.taken.add(number));
        let generation = core.generation();
        Ok(FarReply {
            asker: core,
            question: FarQuestion { number, generation },
        })
    }

    fn export(&self, _: Arc<dyn Exported>) -> Result<FarPlace, String> {
        Err(NOT_WRITTEN.to_owned())
    }

    fn place_of(&self, _: &Arc<FarHold>) -> Option<FarPlace> {
        None
    }

    fn import(&self, place: FarPlace, message_type: &'static str) -> Result<Imported, String> {
        let number = match place {
            FarPlace::Here(number) => number,
            FarPlace::There(number) => {
                let own = self.core.exported(number);
                let gone = || self.core.of_predecessor(number, message_type);
                return match own {
                    Some(exported) => Ok(Imported::Own(exported)),
                    None => gone()
                        .map(Imported::Far)
                        .ok_or_else(|| format!("actor {number} was not exported")),
                };
            }
        };
        let (times, window) = self.left.borrow_mut().exports.take(number);
        let hold = self.core.import_actor(number, times, window, message_type);
        match hold {
            Some(hold) => Ok(Imported::Far(hold)),
            None => Err(format!("actor {number} was not sent with it")),
        }
    }

    fn lend_descriptor(&self, _: LentDescriptor) -> Result<u64, String> {
        Err(NOT_WRITTEN.to_owned())
    }

    fn lend_shared_descriptor(&self, _: LentDescriptor) -> Result<u64, String> {
        Err(NOT_WRITTEN.to_owned())
    }

    fn take_descriptor(&self, place: u64) -> Result<TakenDescriptor, String> {
        let mut left = self.left.borrow_mut();
        let arrived = left.arrived.as_mut().ok_or_else(not_come)?;
        arrived.take(place)
    }

    fn share_descriptor(&self, place: u64) -> Result<TakenDescriptor, String> {
        let left = self.left.borrow();
        let arrived = left.arrived.as_ref().ok_or_else(not_come)?;
        arrived.share(place, &self.core.attachments)
    }
}

impl FarAsker for Core {
    fn answer(&self, question: FarQuestion, encode: Encode<'_>) {
        let FarQuestion { number, generation } = question;
        if self.generation() != generation {
            // The process that has asked is gone.
            return;
        }
        if let Err(failure) = self.answer_to(number, generation, encode) {
            self.fail_of(number, generation, failure);
        }
    }

    fn fail(&self, question: FarQuestion, why: AskError) {
        let FarQuestion { number, generation } = question;
        if matches!(why, AskError::Unanswered) {
            let link = std::ptr::from_ref(self).addr();
            // It is told when it is known why the message was dropped.
            if TakenReplies::with(|taken| taken.note_dropped(link, number)) == Some(true) {
                return;
            }
        }
        self.fail_of(number, generation, FarFailure::of(&why));
    }

    fn is_waiting(&self, question: FarQuestion) -> bool {
        self.is_open() && self.generation() == question.generation
    }
}
