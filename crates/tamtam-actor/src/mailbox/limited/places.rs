//! What lies in a limited mailbox: its messages, and who was muted for them.

use std::collections::VecDeque;

use crate::mailbox::label::Letter;
use crate::mailbox::mute::{Mute, MutedSenders};
#[cfg(feature = "serde")]
use crate::mailbox::receipt::Receipts;
use crate::mailbox::sorted::{Entry, MOST_KEPT, SortedMailbox};

/// What lies in a limited mailbox, under its lock.
pub(super) struct Places<M> {
    pub(super) messages: Messages<M>,
    /// The receiver knows that there is something.
    pub(super) awake: bool,
    /// Places that are kept for messages on their way.
    pub(super) reserved: usize,
    /// The most messages that there ever were.
    pub(super) high_water: usize,
    /// Actors that have sent more than there was room for.
    pub(super) muted: MutedSenders,
    /// So many messages were ever put in.
    #[cfg(feature = "serde")]
    pub(super) appended: u64,
    /// For those before so many.
    #[cfg(feature = "serde")]
    pub(super) receipts: Receipts,
}

pub(super) enum Messages<M> {
    /// In the order in which they came.
    InLine(VecDeque<M>),
    /// In lanes, or with keys.
    Sorted(Box<dyn SortedMailbox<M>>),
}

/// A message that was taken out, and what is to be dropped with it without a lock.
pub(super) enum Taken<M> {
    FromLine(M),
    Sorted(Entry<M>),
}

impl<M> Taken<M> {
    /// The message. Its key goes: user code runs, and a panic in it ends here.
    pub(super) fn into_inner(self) -> M {
        match self {
            Taken::FromLine(message) => message,
            Taken::Sorted(entry) => entry.into_message(),
        }
    }
}

/// Memory that is to be given back without a lock.
#[expect(dead_code, reason = "kept until it is dropped")]
pub(super) enum Memory<M> {
    OfLine(VecDeque<M>),
    OfSorted(Box<dyn SortedMailbox<M>>),
}

impl<M> Messages<M> {
    pub(super) fn len(&self) -> usize {
        match self {
            Messages::InLine(line) => line.len(),
            Messages::Sorted(sorted) => sorted.len(),
        }
    }

    pub(super) fn append(&mut self, letter: Letter<M>) {
        match self {
            Messages::InLine(line) => line.push_back(letter.message),
            Messages::Sorted(sorted) => sorted.append(letter),
        }
    }

    pub(super) fn take(&mut self) -> Option<Taken<M>> {
        match self {
            Messages::InLine(line) => line.pop_front().map(Taken::FromLine),
            Messages::Sorted(sorted) => sorted.take().map(Taken::Sorted),
        }
    }

    /// Takes out what has to go for another message, if that is not itself the one.
    pub(super) fn make_room(&mut self, letter: &Letter<M>, newest: bool) -> Option<Taken<M>> {
        match self {
            Messages::InLine(_) if newest => None,
            Messages::InLine(line) => line.pop_front().map(Taken::FromLine),
            Messages::Sorted(sorted) => sorted
                .make_room(letter.label.priority, newest)
                .map(Taken::Sorted),
        }
    }

    pub(super) fn spare(&mut self) -> Option<Memory<M>> {
        match self {
            Messages::InLine(line) if line.is_empty() && line.capacity() > MOST_KEPT => {
                Some(Memory::OfLine(core::mem::take(line)))
            }
            Messages::InLine(_) => None,
            Messages::Sorted(sorted) => sorted.spare().map(Memory::OfSorted),
        }
    }
}

impl<M> Places<M> {
    pub(super) fn has_room(&self, limit: usize) -> bool {
        self.messages.len() + self.reserved < limit
    }

    /// Who may go on, to be dropped without the lock.
    pub(super) fn unmuted(&mut self, limit: usize) -> MutedSenders {
        // Not for one message at a time: a turn is worth more than that.
        if !self.muted.is_empty() && self.messages.len() + self.reserved <= limit / 2 {
            core::mem::take(&mut self.muted)
        } else {
            MutedSenders::default()
        }
    }

    /// Keeps who has sent more than there is room for; gives it back if that is not to be.
    pub(super) fn mute(&mut self, mute: Option<Mute>, limit: usize) -> Option<Mute> {
        let mute = mute?;
        if self.has_room(limit) {
            return Some(mute);
        }
        self.muted.keep(mute)
    }

    /// How many messages came before the oldest one that is there.
    #[cfg(feature = "serde")]
    pub(super) fn oldest(&self) -> Option<u64> {
        match &self.messages {
            Messages::InLine(line) if line.is_empty() => None,
            Messages::InLine(line) => Some(self.appended - line.len() as u64),
            Messages::Sorted(sorted) => sorted.oldest(),
        }
    }

    /// The receipts for what has left, to be dropped without the lock.
    #[cfg(feature = "serde")]
    pub(super) fn due(&mut self) -> Receipts {
        if self.receipts.is_empty() {
            return Default::default();
        }
        let oldest = self.oldest().unwrap_or(u64::MAX);
        self.receipts.due(oldest)
    }

    /// Whether the receiver has to be woken.
    pub(super) fn append(&mut self, letter: Letter<M>) -> bool {
        #[cfg(feature = "serde")]
        {
            self.appended += 1;
        }
        self.messages.append(letter);
        self.high_water = self.high_water.max(self.messages.len());
        !core::mem::replace(&mut self.awake, true)
    }
}

/// What [`Limited::take`](super::Limited) has taken, with all that is to be dropped without a lock.
#[must_use]
pub(crate) struct Took<M> {
    pub(super) taken: Option<Taken<M>>,
    pub(super) unmuted: MutedSenders,
    pub(super) memory: Option<Memory<M>>,
    #[cfg(feature = "serde")]
    pub(super) due: Receipts,
}

impl<M> Took<M> {
    /// The message, if there was one.
    pub(crate) fn message(&self) -> Option<&M> {
        match self.taken.as_ref()? {
            Taken::FromLine(message) => Some(message),
            Taken::Sorted(entry) => Some(&entry.message),
        }
    }
}
