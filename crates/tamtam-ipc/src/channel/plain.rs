//! A channel of values that are plain bytes.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::receiver::Receiver;
use super::sender::Sender;
use super::shared::{Shared, ends};
use crate::arena::{Arena, ArenaPlace};
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
    create(None, capacity)
}

fn create<T: Plain>(
    arena: Option<&Arena>,
    capacity: usize,
) -> Result<(Sender<T>, Receiver<T>), CreateError> {
    let shared = Shared::create(arena, Shape::of::<T>(0), capacity, 0, size_of::<T>())?;
    let (sender, receiver) = ends(shared);
    Ok((Sender::new(sender), Receiver::new(receiver)))
}

/// The memory of another process, which is to be a channel of these.
pub(super) fn attach<T: Plain>(memory: OwnedFd) -> Result<Arc<Shared>, AttachError> {
    checked::<T>(Shared::attach(memory, Shape::of::<T>(0), 0)?)
}

pub(super) fn attach_at<T: Plain>(
    arena: &Arena,
    place: ArenaPlace,
) -> Result<Arc<Shared>, AttachError> {
    checked::<T>(Shared::attach_at(arena, place, Shape::of::<T>(0), 0)?)
}

fn checked<T>(shared: Arc<Shared>) -> Result<Arc<Shared>, AttachError> {
    // The maker may have lied about the one, or about the other.
    if shared.largest() != size_of::<T>() {
        return Err(AttachError::NotOurs);
    }
    Ok(shared)
}

impl Arena {
    /// Makes a [`channel`] in the arena, with room for so many messages (one at least).
    ///
    /// # Errors
    ///
    /// [`CreateError::ArenaFull`] if there is no room for it, and [`CreateError::NotTheMaker`] if another process has made the arena.
    pub fn channel<T: Plain>(
        &self,
        capacity: usize,
    ) -> Result<(Sender<T>, Receiver<T>), CreateError> {
        create(Some(self), capacity)
    }

    /// One more sender of the channel at a place, which another process has [said](Sender::place).
    ///
    /// # Errors
    ///
    /// [`AttachError`] if there is no such channel, or none any more.
    pub fn sender<T: Plain>(&self, place: ArenaPlace) -> Result<Sender<T>, AttachError> {
        Sender::attach_at(self, place)
    }

    /// The receiver of the channel at a place, which another process has [said](Receiver::place) and given up.
    ///
    /// # Errors
    ///
    /// [`AttachError::HasReceiver`] if another process receives, and others if there is no such channel, or none any more.
    pub fn receiver<T: Plain>(&self, place: ArenaPlace) -> Result<Receiver<T>, AttachError> {
        Receiver::attach_at(self, place)
    }
}
