//! The kinds of channel. Each is one file and knows nothing of the others; the conformance suite
//! runs on all of them.

pub(crate) mod at;
pub(crate) mod at_once;
pub(crate) mod block_list;
pub(crate) mod never;
pub(crate) mod pace;
pub(crate) mod queue;
pub(crate) mod rendezvous;
pub(crate) mod ring;
pub(crate) mod tick;

use core::mem::ManuallyDrop;

/// Drops messages one by one. If one of them panics, those after it are leaked: dropping them while the panic unwinds could
/// end the program.
pub(crate) fn drop_each<T>(messages: impl Iterator<Item = T>) {
    let mut messages = ManuallyDrop::new(messages);
    for message in &mut *messages {
        drop(message);
    }
    drop(ManuallyDrop::into_inner(messages));
}

/// Why an attempt to receive brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nothing {
    /// The channel is empty.
    Empty,
    /// Another thread is in the middle of a step that has to be finished first.
    Busy,
    /// The channel is empty, and no sender is left or it was closed.
    Closed,
}

/// Why an attempt to send found no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The channel is full.
    Full,
    /// No receiver is left, or the channel was closed.
    Closed,
}
