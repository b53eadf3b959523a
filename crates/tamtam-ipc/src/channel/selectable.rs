//! The receiving end of a channel in a select: it has one owner, so it is lent to it.

use std::fmt;

use tamtam_channel::{Sealed, TryRecvError, Waitable};
use tamtam_wait::seam::Mutex;
use tamtam_wait::{Context, Operation, SharedWords, Source, Token};

use super::bytes::BytesReceiver;
#[cfg(feature = "serde")]
use super::encoded::EncodedReceiver;
#[cfg(feature = "serde")]
use super::error::EncodedRecvError;
use super::receiver::Receiver;
use crate::plain::Plain;

/// The receiving end of a channel between processes among other things that a [`Select`](tamtam_channel::Select) or
/// [`select!`](tamtam_channel::select) waits for: made by `selectable` of that end.
///
/// It is waited for like an event (`wait`), and is ready when a message is there, or when the channel is empty and no process has a sender, also if the
/// last one is killed meanwhile. What is ready stays so until it is received.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::time::Duration;
/// use tamtam_channel::{after, select, unbounded};
/// use tamtam_ipc::channel;
///
/// let (_thread, of_threads) = unbounded::<u32>();
/// let (process, mut receiver) = channel::<u32>(8)?;
/// process.send(7)?;
/// let of_processes = receiver.selectable();
/// let timeout = after(Duration::from_secs(60));
/// select! {
///     recv(of_threads) -> _ => panic!("no thread sends"),
///     wait(of_processes) => assert_eq!(of_processes.try_recv(), Ok(7)),
///     recv(timeout) -> _ => panic!("nothing came"),
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
// A select may be used by another thread than the one that has the end, so a lock keeps their turns apart.
pub struct Selectable<'a, E>(Mutex<&'a mut E>);

impl<T: Plain> Receiver<T> {
    /// This end, to be waited for together with other things.
    #[must_use]
    pub fn selectable(&mut self) -> Selectable<'_, Receiver<T>> {
        Selectable(Mutex::new(self))
    }
}

impl BytesReceiver {
    /// This end, to be waited for together with other things.
    #[must_use]
    pub fn selectable(&mut self) -> Selectable<'_, BytesReceiver> {
        Selectable(Mutex::new(self))
    }
}

#[cfg(feature = "serde")]
impl<T> EncodedReceiver<T> {
    /// This end, to be waited for together with other things.
    #[must_use]
    pub fn selectable(&mut self) -> Selectable<'_, EncodedReceiver<T>> {
        Selectable(Mutex::new(self))
    }
}

#[cfg(feature = "serde")]
impl<T: serde::de::DeserializeOwned> Selectable<'_, EncodedReceiver<T>> {
    /// As [`EncodedReceiver::try_recv`]: what to do once this is ready.
    ///
    /// # Errors
    ///
    /// As [`EncodedReceiver::try_recv`].
    pub fn try_recv(&self) -> Result<T, EncodedRecvError<TryRecvError>> {
        self.0.lock().try_recv()
    }
}

impl<T: Plain> Selectable<'_, Receiver<T>> {
    /// As [`Receiver::try_recv`]: what to do once this is ready.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.0.lock().try_recv()
    }
}

impl Selectable<'_, BytesReceiver> {
    /// As [`BytesReceiver::try_recv_bytes`]: what to do once this is ready.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv_bytes(&self, buffer: &mut Vec<u8>) -> Result<usize, TryRecvError> {
        self.0.lock().try_recv_bytes(buffer)
    }
}

/// An end that is held under a lock by what is there as long as this is, and does not move: a source as the end is.
macro_rules! source_under_lock {
    ($under:ty) => {
        impl<E: Source> Source for $under {
            fn try_begin(&self, _: &mut Token) -> bool {
                self.is_ready()
            }

            fn register(&self, operation: Operation, context: &Context) -> bool {
                self.0.lock().register(operation, context)
            }

            fn unregister(&self, operation: Operation, context: &Context) {
                self.0.lock().unregister(operation, context);
            }

            fn is_ready(&self) -> bool {
                self.0.lock().is_ready()
            }

            fn watch(&self, operation: Operation, context: &Context) -> bool {
                self.0.lock().watch(operation, context)
            }

            fn unwatch(&self, operation: Operation, context: &Context) {
                self.0.lock().unwatch(operation, context);
            }

            fn sleep_at<'a>(&'a self, words: &mut SharedWords<'a>) -> Option<bool> {
                let end = self.0.lock();
                let address: *const E = &raw const **end;
                // SAFETY: this has the end for itself, by a reference or in a box of its own, so it is there as long as this is borrowed, and is not
                // moved. The reference is used under the lock alone; what it leaves in `words` are places in shared memory, which stays mapped as long
                // as the end is there.
                let end: &'a E = unsafe { &*address };
                end.sleep_at(words)
            }

            fn woken_at(&self) {
                self.0.lock().woken_at();
            }
        }
    };
}

source_under_lock!(Selectable<'_, E>);

/// An end that more than one thread may look at.
#[cfg(feature = "link")]
pub(crate) struct Guarded<E>(Mutex<Box<E>>);

#[cfg(feature = "link")]
source_under_lock!(Guarded<E>);

#[cfg(feature = "link")]
impl<E> Guarded<E> {
    pub(crate) fn new(end: E) -> Self {
        Guarded(Mutex::new(Box::new(end)))
    }

    /// Uses the end, which runs nothing of a user.
    pub(crate) fn with<R>(&self, look: impl FnOnce(&E) -> R) -> R {
        look(&self.0.lock())
    }
}

impl<E: Source> Sealed for Selectable<'_, E> {}
impl<E: Source> Waitable for Selectable<'_, E> {}

impl<E> fmt::Debug for Selectable<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Selectable { .. }")
    }
}
