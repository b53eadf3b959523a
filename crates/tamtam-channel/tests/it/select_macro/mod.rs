//! `select!` and `select_biased!`: every form, what is evaluated when, and that bodies are ordinary code.
//!
//! All but `own` holds for crossbeam-channel too: replace the name of the crate to see it.

mod behaviour;
mod bodies;
mod endpoints;
mod evaluation;
mod forms;
mod own;

use std::time::Duration;

use tamtam_channel::{Receiver, Sender, unbounded};

/// Long enough never to pass in a test that works.
pub(crate) const FOREVER: Duration = Duration::from_secs(300);
pub(crate) const SHORT: Duration = Duration::from_millis(10);

/// A receiver that gives `value` and then stays silent but connected for as long as the sender is kept.
pub(crate) fn filled<T>(value: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = unbounded();
    sender.send(value).unwrap();
    (sender, receiver)
}

/// A receiver whose senders are gone.
pub(crate) fn closed<T>() -> Receiver<T> {
    let (_, receiver) = unbounded();
    receiver
}
