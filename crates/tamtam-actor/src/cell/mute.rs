//! Who is kept from its mail until there is room for what it has sent.
//!
//! A handler does not wait: its thread has others to run, perhaps the very one that would make room. So what it sends
//! to a full mailbox is taken in all the same, and the actor handles no more messages until there is room again
//! (Pony's runtime mutes senders so, though it lets those go on who are flooded themselves).
//!
//! Actors that are muted by each other in a circle would wait for ever. So a mute is known to those who look for such
//! circles, and who would close one is not muted.

use std::sync::Arc;

use super::{AtWork, Muted};
use crate::id::ActorId;
use crate::mailbox::Mute;
use crate::waits::{UntilDropped, Waiting};

/// Who sends to a full mailbox.
pub(crate) enum Sender {
    /// A thread on which no actor is at work: it may wait.
    Thread,
    /// The actor that the mailbox belongs to: it would wait for itself.
    Itself,
    /// An actor that is muted, to be kept with what it has sent.
    Muted(Mute),
    /// An actor that goes on, since the one that it sends to waits for it.
    Unmuted,
}

impl Sender {
    /// Mutes the actor that is at work here, and sends to this one.
    pub(crate) fn at_work(receiver: ActorId) -> Self {
        let Some(sender) = AtWork::id() else {
            return Sender::Thread;
        };
        if sender == receiver {
            return Sender::Itself;
        }
        let (waiting, circle) = Waiting::begin(sender, receiver, Arc::new(UntilDropped));
        if circle.is_some() {
            return Sender::Unmuted;
        }
        Muted::at_work().map_or(Sender::Thread, |muted| {
            // The wait ends first: the graph never shows an actor waiting that has gone on.
            Sender::Muted(Mute::new(sender, (waiting, muted)))
        })
    }
}
