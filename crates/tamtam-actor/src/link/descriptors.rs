//! Descriptors in messages: a file, a socket or shared memory, which go beside the bytes of a link on a Unix socket.

use core::fmt::Display;

use serde::de::Error as _;
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

/// Writes a descriptor into the message that this thread writes, where `what` is, for people, what has it.
///
/// # Errors
///
/// If no link is written to on this thread, or that one carries no descriptors, or no more of them.
pub fn serialize_descriptor<S: Serializer>(
    what: &str,
    descriptor: LentDescriptor,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let place = with_current(what, |tables| tables.lend_descriptor(descriptor));
    match place {
        Ok(place) => serializer.serialize_u64(place),
        Err(why) => refuse_descriptor(what, why),
    }
}

/// Says why there is no descriptor to be [written](serialize_descriptor).
///
/// # Errors
///
/// Always.
pub fn refuse_descriptor<T, E: serde::ser::Error>(what: &str, why: impl Display) -> Result<T, E> {
    Err(E::custom(say(format!(
        "{what} in it cannot be sent: {why}"
    ))))
}

/// Reads what a descriptor belongs to out of the message that this thread reads; `attach` makes that of it.
///
/// # Errors
///
/// If no link is read on this thread, or the descriptor has not come with the message; and what `attach` says.
pub fn deserialize_descriptor<'de, D: Deserializer<'de>, T, E: Display>(
    what: &str,
    attach: impl FnOnce(TakenDescriptor) -> Result<T, E>,
    deserializer: D,
) -> Result<T, D::Error> {
    let place = u64::deserialize(deserializer)?;
    let taken = with_current(what, |tables| tables.take_descriptor(place));
    let attached =
        taken.and_then(|descriptor| attach(descriptor).map_err(|error| error.to_string()));
    attached.map_err(|error| D::Error::custom(say(format!("{what} in it cannot be had: {error}"))))
}
