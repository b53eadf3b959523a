//! Mailboxes that are taken from by another cell than the one that they belong to.
//!
//! An actor that can be replaced has a cell of its own for each instance, beside the one to which others send. That one has the
//! mailbox; the instance takes its messages from there.

use std::any::Any;
use std::sync::Arc;

use super::dead_letter::Loss;

/// Where the messages of a cell come from, if not from its own mailbox: another cell, to which others send.
pub(crate) trait Upstream<M>: Send + Sync {
    /// Takes the next message, if this cell is still the one that takes them.
    fn pop(&self) -> Option<M>;

    /// How many messages there are.
    fn len(&self) -> usize;

    /// Whether there is none; then this cell is to be woken for the next one.
    fn rest(&self) -> bool;

    /// Whether another cell takes the messages by now.
    fn is_replaced(&self) -> bool;

    /// The message that was taken has been handled: `false` if another cell takes the messages by now.
    fn goes_on(&self) -> bool;

    /// Whether there are addresses of the cell to which others send.
    fn has_addresses(&self) -> bool;

    /// Closes that cell: no message is accepted any more.
    fn close(&self);

    /// The name of the actor.
    fn name(&self) -> Option<Arc<str>>;

    /// A message was lost that this cell had taken.
    fn note_lost(&self, message_type: &'static str, why: Loss);

    /// A restart of the actor in this cell.
    fn note_restart(&self);

    /// An `Address<M>` of the cell to which others send: of a type that is not known here.
    fn address(&self) -> Box<dyn Any>;

    /// The cell to which others send, as an `Arc<dyn Place>`: of a type that is not known here.
    fn public(&self) -> Option<Box<dyn Any>>;
}

/// What takes the messages of a cell in its place.
pub(crate) trait Downstream: Send + Sync {
    /// There is a message again.
    fn wake(&self);

    /// Lets another one take the messages, whatever becomes of the one that does: `false` if that cannot be.
    fn replace(&self) -> bool;

    /// The type of the messages, for people to read.
    fn message_type(&self) -> &'static str;
}
