//! Descriptors in messages: a file, a socket or shared memory, which go beside the bytes of a link on a Unix socket.

use core::fmt::Display;

use serde::{Deserialize, Deserializer, Serializer};

use super::with_current;
use crate::wire::say;

/// A descriptor on its way to another process. It is kept until the other side has read the message that it is in, or will not: what
/// has to live as long lives in it.
#[cfg(unix)]
pub type LentDescriptor = std::sync::Arc<dyn std::os::fd::AsFd + Send + Sync>;
/// There are no descriptors.
#[cfg(not(unix))]
pub type LentDescriptor = core::convert::Infallible;

/// A descriptor that has come from another process.
#[cfg(unix)]
pub type TakenDescriptor = std::os::fd::OwnedFd;
/// There are no descriptors.
#[cfg(not(unix))]
pub type TakenDescriptor = core::convert::Infallible;

/// Adds a descriptor to those of the message that this thread writes, where `what` is, for people, what has it: at which place among them.
///
/// # Errors
///
/// If no link is written to on this thread, or that one carries no descriptors, or no more of them.
pub fn lend_descriptor<E: serde::ser::Error>(
    what: &str,
    descriptor: LentDescriptor,
) -> Result<u64, E> {
    let place = with_current(what, |tables| tables.lend_descriptor(descriptor));
    place.or_else(|why| refuse_descriptor(what, why))
}

/// As [`lend_descriptor`], of one that several things in the message are of: it goes once, if all of them lend it so. What each of them lends is kept until
/// the other side has read the message.
///
/// # Errors
///
/// As [`lend_descriptor`]'s.
pub fn lend_shared_descriptor<E: serde::ser::Error>(
    what: &str,
    descriptor: LentDescriptor,
) -> Result<u64, E> {
    let place = with_current(what, |tables| tables.lend_shared_descriptor(descriptor));
    place.or_else(|why| refuse_descriptor(what, why))
}

/// Takes the descriptor at this place among those of the message that this thread reads; `attach` makes of it what it belongs to.
///
/// # Errors
///
/// If no link is read on this thread, or the descriptor has not come with the message; and what `attach` says.
pub fn take_descriptor<T, R: Display, E: serde::de::Error>(
    what: &str,
    place: u64,
    attach: impl FnOnce(TakenDescriptor) -> Result<T, R>,
) -> Result<T, E> {
    let taken = with_current(what, |tables| tables.take_descriptor(place));
    attached(what, taken, attach)
}

/// As [`take_descriptor`], by a copy of a descriptor that several things in the message are of.
///
/// # Errors
///
/// As [`take_descriptor`]'s, and if this process can have no more descriptors.
pub fn share_descriptor<T, R: Display, E: serde::de::Error>(
    what: &str,
    place: u64,
    attach: impl FnOnce(TakenDescriptor) -> Result<T, R>,
) -> Result<T, E> {
    let shared = with_current(what, |tables| tables.share_descriptor(place));
    attached(what, shared, attach)
}

fn attached<T, R: Display, E: serde::de::Error>(
    what: &str,
    taken: Result<TakenDescriptor, String>,
    attach: impl FnOnce(TakenDescriptor) -> Result<T, R>,
) -> Result<T, E> {
    let attached =
        taken.and_then(|descriptor| attach(descriptor).map_err(|error| error.to_string()));
    attached.map_err(|error| E::custom(say(format!("{what} in it cannot be had: {error}"))))
}

/// Says why there is no descriptor to be [lent](lend_descriptor).
///
/// # Errors
///
/// Always.
pub fn refuse_descriptor<T, E: serde::ser::Error>(what: &str, why: impl Display) -> Result<T, E> {
    Err(E::custom(say(format!(
        "{what} in it cannot be sent: {why}"
    ))))
}

/// Writes a descriptor into the message that this thread writes, where `what` is, for people, what has it.
///
/// # Errors
///
/// As [`lend_descriptor`]'s.
pub fn serialize_descriptor<S: Serializer>(
    what: &str,
    descriptor: LentDescriptor,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(lend_descriptor(what, descriptor)?)
}

/// Reads what a descriptor belongs to out of the message that this thread reads; `attach` makes that of it.
///
/// # Errors
///
/// As [`take_descriptor`]'s.
pub fn deserialize_descriptor<'de, D: Deserializer<'de>, T, R: Display>(
    what: &str,
    attach: impl FnOnce(TakenDescriptor) -> Result<T, R>,
    deserializer: D,
) -> Result<T, D::Error> {
    take_descriptor(what, u64::deserialize(deserializer)?, attach)
}
