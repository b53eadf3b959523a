//! What an actor says of itself: bits that only its own turns see.

use core::cell::Cell;

/// What an actor says of itself. It is looked at and changed in the actor's turns only.
pub(crate) struct State(Cell<u8>);

impl State {
    /// The actor is to be stopped after this message.
    pub(crate) const STOPPING: u8 = 1;
    /// It was told that no address is left.
    pub(crate) const ORPHANED: u8 = 2;
    /// Messages are kept back until something else is done.
    pub(crate) const HELD: u8 = 4;
    /// It has sent more than there was room for.
    pub(crate) const MUTED: u8 = 8;
    /// It may not go on with its messages.
    pub(crate) const WAITS: u8 = Self::HELD | Self::MUTED;
    /// There is no instance to handle messages until it is begun, or begun again.
    pub(crate) const PAUSED: u8 = 16;
    /// No message is accepted any more, and it ends when it has handled those that were.
    pub(crate) const FINISHING: u8 = 32;
    /// It ends when it has handled what there is.
    pub(crate) const ENDING: u8 = Self::ORPHANED | Self::FINISHING;
    /// It ends because there is no address by which it could be sent to.
    pub(crate) const ALONE: u8 = 64;
    /// In a model, which panics only to fail: it has panicked.
    #[cfg(all(test, tamtam_loom))]
    pub(crate) const PANICKED: u8 = 128;

    pub(crate) fn new() -> Self {
        State(Cell::new(0))
    }

    /// Whether any of these is so.
    #[inline(always)]
    pub(crate) fn has(&self, any: u8) -> bool {
        self.0.get() & any != 0
    }

    /// Whether nothing is so.
    #[inline(always)]
    pub(crate) fn is_clear(&self) -> bool {
        self.0.get() == 0
    }

    pub(crate) fn set(&self, all: u8) {
        self.0.set(self.0.get() | all);
    }

    pub(crate) fn clear(&self, all: u8) {
        self.0.set(self.0.get() & !all);
    }
}
