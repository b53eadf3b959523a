//! What a full mailbox keeps of a sender that has sent to it nevertheless.

use core::any::Any;

use crate::id::{ActorId, ActorTable};

/// An actor that handles no more messages as long as this is kept. It is dropped under no lock: that gives the actor a turn.
pub(crate) struct Mute {
    sender: ActorId,
    _until_dropped: Box<dyn Any + Send>,
}

impl Mute {
    /// The sender is muted until the guard is dropped.
    pub(crate) fn new(sender: ActorId, guard: impl Any + Send) -> Self {
        Mute {
            sender,
            _until_dropped: Box::new(guard),
        }
    }
}

/// Actors that have sent more than there was room for, each once. It is dropped under no lock, as each of them is; and it is a word, since
/// it is looked at, and mostly empty, with each message that is taken.
#[derive(Default)]
pub(crate) struct MutedSenders(Option<Box<MutedList>>);

#[derive(Default)]
struct MutedList {
    /// In the order in which they have sent, in which they go on: a hash table has another one in each run.
    mutes: Vec<Mute>,
    known: ActorTable<()>,
}

impl MutedSenders {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Keeps it; gives it back if its sender is muted already.
    #[must_use = "it is dropped under no lock"]
    pub(crate) fn keep(&mut self, mute: Mute) -> Option<Mute> {
        let muted = self.0.get_or_insert_default();
        if muted.known.insert(mute.sender, ()).is_some() {
            return Some(mute);
        }
        muted.mutes.push(mute);
        None
    }
}
