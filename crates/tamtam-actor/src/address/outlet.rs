//! A way to an actor that does not keep it from stopping.

use std::sync::Arc;

use tamtam_wait::Source;

use super::recipient::{Held, Recipient};
use super::{Address, Way};
use crate::error::TellError;
use crate::mailbox::{Streak, WhenNoRoom};

/// A way to an actor that is no address of it: it reaches the actor as long as that lives, and does not
/// keep it from stopping. What stays is its cell, without the actor.
///
/// Unlike a [`WeakAddress`] it need not become an address each time that it is used.
pub(crate) enum Outlet<M> {
    Here(Held<M, false>),
    Through(Arc<dyn Recipient<M> + Send + Sync>),
}

impl<M> Address<M> {
    pub(crate) fn outlet(&self) -> Outlet<M> {
        match &self.way {
            Way::Here(cell) => Outlet::Here(cell.uncounted()),
            Way::Through(recipient) => Outlet::Through(recipient.outlet()),
        }
    }
}

impl<M> Outlet<M> {
    /// As [`Address::tell`], and says what is done if there is no room.
    #[inline]
    pub(crate) fn tell(&self, message: M, when: WhenNoRoom) -> Result<(), TellError<M>> {
        match self {
            Outlet::Here(cell) => cell.0.push(message, when),
            Outlet::Through(recipient) => recipient.push(message, when, None),
        }
    }

    /// As `tell`, for another streak than the thread's.
    #[inline]
    pub(crate) fn tell_in_streak(
        &self,
        streak: &Streak,
        message: M,
        when: WhenNoRoom,
    ) -> Result<(), TellError<M>> {
        match self {
            Outlet::Here(cell) => cell.0.push_in_streak(streak, message, when),
            Outlet::Through(recipient) => recipient.push(message, when, None),
        }
    }

    /// Puts a message behind those of the streak, if these lie where it can lie, too; otherwise it comes back. No user
    /// code runs. If the actor has stopped since, the sender [looks after](Outlet::look_after_end) that.
    #[inline(always)]
    pub(crate) fn put_into_block(&self, streak: &Streak, message: M) -> Result<(), M> {
        match self {
            Outlet::Here(cell) => cell.0.push_into_block(streak, message),
            Outlet::Through(_) => Err(message),
        }
    }

    /// What a sender does that sees the actor stopped after it has put something into a block. User code may run.
    #[cold]
    pub(crate) fn look_after_end(&self) {
        if let Outlet::Here(cell) = self {
            cell.0.look_after_end();
        }
    }

    /// Whether senders are to wait for room.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Outlet::Here(cell) => cell.0.waits(),
            Outlet::Through(recipient) => recipient.waits(),
        }
    }

    /// Shows the room in the mailbox to one who waits for it, if it may be wanting.
    pub(crate) fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        match self {
            Outlet::Here(cell) => cell.0.with_room(look),
            Outlet::Through(recipient) => recipient.with_room(look),
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        match self {
            Outlet::Here(cell) => cell.0.is_closed(),
            Outlet::Through(recipient) => recipient.is_stopped(),
        }
    }
}
