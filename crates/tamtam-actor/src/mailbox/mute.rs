//! What a full mailbox keeps of a sender that has sent to it nevertheless.

use core::any::Any;

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
