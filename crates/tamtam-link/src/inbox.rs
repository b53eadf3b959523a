//! What is lent and exported in a message that is being read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tamtam_actor::AskError;
use tamtam_actor::link::{
    Encode, Exported, FarCell, FarFailure, FarPlace, FarReply, Imported, PendingReply, Scope,
    Tables,
};

use crate::link::Core;

/// A message that is being read.
pub(crate) struct Inbox {
    core: Arc<Core>,
    /// What has not been read of it.
    left: Mutex<Left>,
}

struct Left {
    replies: Vec<u64>,
    /// Each as often as it was sent.
    exports: Vec<u64>,
}

impl Inbox {
    pub(crate) fn new(core: Arc<Core>, replies: Vec<u64>, exports: Vec<u64>) -> Arc<Self> {
        Arc::new(Inbox {
            core,
            left: Mutex::new(Left { replies, exports }),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the message; of replies and addresses that were not read the other side is told.
    pub(crate) fn read(self: &Arc<Self>, read: impl FnOnce() -> Result<(), String>) {
        let result = {
            let _scope = Scope::enter(Arc::clone(self) as Arc<dyn Tables>);
            // What reads it, what maps it and what drops it is the user's.
            catch_unwind(AssertUnwindSafe(read))
        };
        let failure = match result {
            Ok(Ok(())) => FarFailure::Unanswered,
            Ok(Err(text)) => FarFailure::NotDecodable(text),
            Err(_) => FarFailure::NotDecodable("what reads it has panicked".to_owned()),
        };
        let Left { replies, exports } = {
            let mut left = self.lock();
            Left {
                replies: std::mem::take(&mut left.replies),
                exports: std::mem::take(&mut left.exports),
            }
        };
        for reply in replies {
            self.core.fail(reply, failure.clone());
        }
        for actor in exports {
            self.core.release_unused(actor, 1);
        }
    }
}

impl Tables for Inbox {
    fn lend_reply(&self, _: Arc<dyn PendingReply>) -> Result<u64, String> {
        Err("a message that is read takes no replies".to_owned())
    }

    fn take_reply(&self, number: u64) -> Result<Box<dyn FarReply>, String> {
        let mut left = self.lock();
        let place = left.replies.iter().position(|reply| *reply == number);
        let place = place.ok_or_else(|| format!("reply {number} was not sent with it"))?;
        left.replies.swap_remove(place);
        Ok(Box::new(WayBack {
            core: Arc::clone(&self.core),
            number,
        }))
    }

    fn export(&self, _: Arc<dyn Exported>) -> Result<FarPlace, String> {
        Err("a message that is read takes no addresses".to_owned())
    }

    fn place_of(&self, _: &FarCell) -> Option<FarPlace> {
        None
    }

    fn import(&self, place: FarPlace, message_type: &'static str) -> Result<Imported, String> {
        match place {
            FarPlace::Here(number) => {
                let times = {
                    let mut left = self.lock();
                    let before = left.exports.len();
                    left.exports.retain(|actor| *actor != number);
                    before - left.exports.len()
                };
                let hold = self.core.import(number, times as u64, message_type);
                match hold {
                    Some(hold) => Ok(Imported::Far(hold)),
                    None => Err(format!("actor {number} was not sent with it")),
                }
            }
            FarPlace::There(number) => match self.core.exported(number) {
                Some(exported) => Ok(Imported::Own(exported)),
                None => Err(format!("actor {number} was not exported")),
            },
        }
    }
}

/// The way of an answer back.
struct WayBack {
    core: Arc<Core>,
    number: u64,
}

impl FarReply for WayBack {
    fn answer(self: Box<Self>, encode: Encode<'_>) {
        if let Err(failure) = self.core.answer(self.number, encode) {
            self.core.fail(self.number, failure);
        }
    }

    fn fail(self: Box<Self>, why: AskError) {
        self.core.fail(self.number, FarFailure::of(&why));
    }

    fn is_awaited(&self) -> bool {
        self.core.is_open()
    }
}
