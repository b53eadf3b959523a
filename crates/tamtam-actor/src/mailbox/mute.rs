//! What a full mailbox keeps of a sender that has sent to it nevertheless.

use core::any::Any;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::id::ActorId;

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

    pub(crate) fn sender(&self) -> ActorId {
        self.sender
    }
}

/// Actors that have sent more than there was room for, each once. It is dropped under no lock, as each of them is.
#[derive(Default)]
pub(crate) struct MutedSenders(BTreeMap<ActorId, Mute>);

impl MutedSenders {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps it; gives it back if its sender is muted already.
    #[must_use = "it is dropped under no lock"]
    pub(crate) fn keep(&mut self, mute: Mute) -> Option<Mute> {
        match self.0.entry(mute.sender()) {
            Entry::Vacant(place) => {
                place.insert(mute);
                None
            }
            Entry::Occupied(_) => Some(mute),
        }
    }
}
