//! What is lent and exported in the message that a thread writes or reads: counted if it is sent, taken back or told if not.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use smallvec::SmallVec;
use tamtam_actor::AskError;
use tamtam_actor::link::{
    Encode, Exported, FarCell, FarFailure, FarPlace, FarReply, Imported, PendingReply, Scope,
    Tables,
};

use crate::core::Core;
use crate::frame::Offer;
use crate::root_log::Replies;

/// What is in a message that is written.
#[derive(Default)]
pub(crate) struct Noted {
    pub(crate) replies: SmallVec<[(u64, Arc<dyn PendingReply>); 1]>,
    /// Each as often as it stands there.
    pub(crate) exports: Vec<Offer>,
}

/// What has not been read of a message.
#[derive(Default)]
struct Unread {
    replies: Replies,
    /// Each as often as it was sent.
    exports: Vec<Offer>,
}

/// The message that a thread has in hand.
enum InHand {
    Written(Noted),
    Read(Unread),
}

thread_local! {
    static IN_HAND: RefCell<Option<InHand>> = const { RefCell::new(None) };
}

/// A message is in hand, as long as this is kept; before it another one may have been, whose writing or reading goes on behind it.
struct Taken<'a> {
    core: &'a Core,
    before: Option<InHand>,
    has_left: bool,
}

impl<'a> Taken<'a> {
    fn take(core: &'a Core, message: InHand) -> Self {
        Taken {
            core,
            before: IN_HAND.with(|in_hand| in_hand.replace(Some(message))),
            has_left: false,
        }
    }

    /// Puts down the message, once.
    fn leave(&mut self) -> Option<InHand> {
        if std::mem::replace(&mut self.has_left, true) {
            return None;
        }
        let before = self.before.take();
        IN_HAND.with(|in_hand| in_hand.replace(before))
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // What writes the message has failed, or panicked.
        if let Some(InHand::Written(noted)) = self.leave() {
            self.core.take_back(&noted.exports);
        }
    }
}

/// Writes a message; what is in it is the caller's to count, or to take back.
///
/// # Errors
///
/// What the message's own `Serialize` says; then nothing is counted.
pub(crate) fn write(
    core: &Arc<Core>,
    encode: Encode<'_>,
    payload: &mut Vec<u8>,
) -> Result<Noted, String> {
    let mut taken = Taken::take(core, InHand::Written(Noted::default()));
    {
        let _scope = Scope::enter(Arc::clone(core) as Arc<dyn Tables>);
        encode(payload)?;
    }
    match taken.leave() {
        Some(InHand::Written(noted)) => Ok(noted),
        _ => unreachable!("what is taken after it is put back before it"),
    }
}

/// Reads a message; of replies and addresses that were not read the other side is told.
pub(crate) fn read(
    core: &Arc<Core>,
    replies: Replies,
    exports: Vec<Offer>,
    read: impl FnOnce() -> Result<(), String>,
) {
    let mut taken = Taken::take(core, InHand::Read(Unread { replies, exports }));
    let result = {
        let _scope = Scope::enter(Arc::clone(core) as Arc<dyn Tables>);
        // What reads it, what maps it and what drops it is the user's.
        catch_unwind(AssertUnwindSafe(read))
    };
    let Some(InHand::Read(unread)) = taken.leave() else {
        unreachable!("what is taken after it is put back before it");
    };
    if unread.replies.is_empty() && unread.exports.is_empty() {
        return;
    }
    let failure = match result {
        Ok(Ok(())) => FarFailure::Unanswered,
        Ok(Err(text)) => FarFailure::NotDecodable(text),
        Err(_) => FarFailure::NotDecodable("what reads it has panicked".to_owned()),
    };
    for reply in unread.replies {
        core.fail(reply, failure.clone());
    }
    for offer in unread.exports {
        core.release_unused(offer.actor, 1);
    }
}

fn with_written<R>(what: impl FnOnce(&mut Noted) -> R) -> Result<R, String> {
    IN_HAND.with(|in_hand| match &mut *in_hand.borrow_mut() {
        Some(InHand::Written(noted)) => Ok(what(noted)),
        _ => Err("a message that is read takes no replies and no addresses".to_owned()),
    })
}

fn with_read<R>(what: impl FnOnce(&mut Unread) -> R) -> Result<R, String> {
    IN_HAND.with(|in_hand| match &mut *in_hand.borrow_mut() {
        Some(InHand::Read(unread)) => Ok(what(unread)),
        _ => Err("a message that is written has no replies and no addresses to be read".to_owned()),
    })
}

impl Tables for Core {
    fn lend_reply(&self, reply: Arc<dyn PendingReply>) -> Result<u64, String> {
        let number = self.next_reply();
        with_written(|noted| noted.replies.push((number, reply)))?;
        Ok(number)
    }

    fn take_reply(&self, number: u64) -> Result<Box<dyn FarReply>, String> {
        let taken = with_read(|unread| {
            let place = unread.replies.iter().position(|reply| *reply == number);
            place.map(|place| unread.replies.swap_remove(place))
        })?;
        taken.ok_or_else(|| format!("reply {number} was not sent with it"))?;
        let core = self.this().ok_or("the link is gone")?;
        Ok(Box::new(WayBack {
            generation: core.generation(),
            core,
            number,
        }))
    }

    fn export(&self, exported: Arc<dyn Exported>) -> Result<FarPlace, String> {
        if !self.is_open() {
            return Err("the link has ended".to_owned());
        }
        let window = exported.window();
        let actor = self.export_actor(Arc::clone(&exported));
        let noted = with_written(|noted| noted.exports.push(Offer { actor, window }));
        if let Err(error) = noted {
            self.take_back(&[Offer { actor, window }]);
            return Err(error);
        }
        self.watch_export(actor, &exported);
        Ok(FarPlace::Here(actor))
    }

    fn place_of(&self, cell: &FarCell) -> Option<FarPlace> {
        // One of a process that has ended is an actor of this side, which has ended.
        let (link, number) = cell.far().place();
        let is_of_this = link == std::ptr::from_ref(self).addr() && !cell.is_stopped();
        is_of_this.then_some(FarPlace::There(number))
    }

    fn import(&self, place: FarPlace, message_type: &'static str) -> Result<Imported, String> {
        match place {
            FarPlace::Here(number) => {
                let (times, window) = with_read(|unread| {
                    let before = unread.exports.len();
                    let of_it = |offer: &&Offer| offer.actor == number;
                    let window = unread.exports.iter().find(of_it);
                    let window = window.map_or(0, |offer| offer.window);
                    unread.exports.retain(|offer| offer.actor != number);
                    (before - unread.exports.len(), window)
                })?;
                let hold = self.import_actor(number, times as u64, window, message_type);
                match hold {
                    Some(hold) => Ok(Imported::Far(hold)),
                    None => Err(format!("actor {number} was not sent with it")),
                }
            }
            FarPlace::There(number) => match self.exported(number) {
                Some(exported) => Ok(Imported::Own(exported)),
                None => Err(format!("actor {number} was not exported")),
            },
        }
    }
}

/// The way of an answer back.
struct WayBack {
    core: Arc<Core>,
    generation: u64,
    number: u64,
}

impl FarReply for WayBack {
    fn answer(self: Box<Self>, encode: Encode<'_>) {
        if self.core.generation() != self.generation {
            // The process that has asked is gone.
            return;
        }
        if let Err(failure) = self.core.answer(self.number, self.generation, encode) {
            self.core.fail_of(self.number, self.generation, failure);
        }
    }

    fn fail(self: Box<Self>, why: AskError) {
        self.core
            .fail_of(self.number, self.generation, FarFailure::of(&why));
    }

    fn is_awaited(&self) -> bool {
        self.core.is_open() && self.core.generation() == self.generation
    }
}
