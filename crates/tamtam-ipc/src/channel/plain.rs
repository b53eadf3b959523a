//! A channel of values that are plain bytes.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{Shared, ends};
use crate::error::{AttachError, CreateError};
use crate::header::Shape;
use crate::plain::Plain;

/// Makes a channel in new shared memory, with room for so many messages (one at least). Senders may be in several processes, the
/// receiver is in one.
///
/// Another process attaches with the descriptor that [`Sender::memory`] gives, by [`Sender::attach`], or takes the receiver over from
/// [`Receiver::hand_over`]. The descriptor goes over a Unix socket, or is inherited.
///
/// Full, it makes senders wait. Empty, it makes the receiver wait. When no process has a sender, the receiver ends behind what was sent; when
/// none has the receiver, sends give their messages back.
///
/// A process that dies, in whatever way, takes with it what it had not sent, and nothing else.
///
/// # Ordering
///
/// Messages come in the order in which sends began, over all senders.
///
/// # Errors
///
/// [`CreateError`] if there is no such memory.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Sender, channel};
///
/// let (sender, receiver) = channel::<u64>(100)?;
/// // The descriptor goes to another process; here it stays in this one.
/// let other = Sender::<u64>::attach(sender.memory().try_clone_to_owned()?)?;
/// sender.send(1)?;
/// other.send(2)?;
/// drop((sender, other));
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn channel<T: Plain>(capacity: usize) -> Result<(Sender<T>, Receiver<T>), CreateError> {
    let shared = Shared::create(Shape::of::<T>(0), capacity, 0, size_of::<T>())?;
    let (sender, receiver) = ends(shared);
    Ok((Sender::new(sender), Receiver::new(receiver)))
}

/// The memory of another process, which is to be a channel of these.
pub(super) fn attach<T: Plain>(memory: OwnedFd) -> Result<Arc<Shared>, AttachError> {
    let shared = Shared::attach(memory, Shape::of::<T>(0), 0)?;
    // The maker may have lied about the one, or about the other.
    if shared.largest() != size_of::<T>() {
        return Err(AttachError::NotOurs);
    }
    Ok(shared)
}
