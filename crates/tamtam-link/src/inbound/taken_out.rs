//! Messages for the root that are taken out of what has come, for another thread to give them.

use std::fmt;
use std::sync::Arc;

use tamtam_actor::link::{Exported, MessageSource};

use super::{give, receive};
use crate::core::Core;
use crate::descriptors::Arrived;
use crate::frames::{Frames, KeptFrame};

/// Messages for the root, taken out of what has come, so that they can be given while another thread takes what comes.
#[doc(hidden)]
#[derive(Default)]
pub struct TakenOut {
    pub(super) held: Frames<Box<Arrived>>,
    pub(super) core: Option<Arc<Core>>,
    pub(super) root: Option<Arc<dyn Exported>>,
}

impl TakenOut {
    /// Whether the next thing that is here is a message, and not that the root is to finish, or that an address of it is given up.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.held.front().is_some_and(KeptFrame::is_message)
    }

    /// Whether the root is done with what it was given.
    #[must_use]
    pub fn root_is_idle(&self) -> bool {
        self.root.as_ref().is_none_or(|root| root.is_idle())
    }

    /// Lets the root take messages from here by itself, while `run` gives it turns on this thread: one each time that `begin` says so. It takes none
    /// if it has its turns elsewhere, or something else to do.
    pub fn offer(&mut self, begin: &mut dyn FnMut() -> bool, run: &mut dyn FnMut()) {
        let (Some(core), Some(root)) = (self.core.clone(), self.root.clone()) else {
            return;
        };
        let mut offered = OfferedMessages {
            core: &core,
            held: &mut self.held,
            begin,
        };
        root.take_from(core.encoding, &mut offered, run);
    }

    /// Gives the root the next message; `false` if it is none.
    pub fn give_next(&mut self) -> bool {
        if !self.has_message() {
            return false;
        }
        let arrived = self.held.take_beside();
        let (Some(core), Some(message)) = (&self.core, self.held.front()) else {
            return false;
        };
        let root = self.root.as_deref();
        give(core, message, arrived, |payload| {
            receive(core, root, payload)
        });
        self.held.pop_front();
        true
    }
}

impl fmt::Debug for TakenOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakenOut")
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}

/// Messages for the root that it takes itself.
struct OfferedMessages<'a> {
    core: &'a Core,
    held: &'a mut Frames<Box<Arrived>>,
    begin: &'a mut dyn FnMut() -> bool,
}

impl MessageSource for OfferedMessages<'_> {
    fn next(&mut self, read: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> bool {
        let is_message = self.held.front().is_some_and(KeptFrame::is_message);
        if !is_message || !(self.begin)() {
            return false;
        }
        let arrived = self.held.take_beside();
        if let Some(message) = self.held.front() {
            give(self.core, message, arrived, read);
        }
        self.held.pop_front();
        true
    }
}
