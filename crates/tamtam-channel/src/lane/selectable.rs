//! Ends of lanes in a select: they are used through `&mut`, so they are lent to it.

use core::fmt;

use tamtam_wait::seam::{Mutex, MutexGuard};
use tamtam_wait::{Context, Operation, Source, Token};

use super::{LaneSender, Receiver};
use crate::error::{TryRecvError, TrySendError};
use crate::select::{Sealed, Waitable};

/// An end of an [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc) channel among other things that a
/// [`Select`](crate::Select) or [`select!`](crate::select) waits for: made by `selectable` of either end.
///
/// It is waited for like an event (`wait`), and is ready when a message can be received, or sent, without
/// waiting, or when the channel is closed. Since the end has one owner, what is ready stays ready.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{after, select, spsc};
///
/// let (sender, mut receiver) = spsc::bounded(8);
/// std::thread::spawn(move || sender.send("hello"));
/// let end = receiver.selectable();
/// let timeout = after(Duration::from_secs(60));
/// select! {
///     wait(end) => assert_eq!(end.try_recv(), Ok("hello")),
///     recv(timeout) -> _ => panic!("nothing came"),
/// }
/// ```
// A select may be used by another thread than the one that has the end, so a lock keeps their turns apart;
// where the end is used by one thread, as usual, it is free.
pub struct Selectable<'a, E>(Mutex<Lent<'a, E>>);

struct Lent<'a, E> {
    end: &'a mut E,
    /// How often it was used meanwhile. Wraps, and only equal numbers count that are read one after the other.
    uses: u64,
}

impl<'a, E> Selectable<'a, E> {
    fn new(end: &'a mut E) -> Self {
        Selectable(Mutex::new(Lent { end, uses: 0 }))
    }

    /// The end, to be used: it may be ready no more afterwards.
    fn lend(&self) -> MutexGuard<'_, Lent<'a, E>> {
        let mut lent = self.0.lock();
        lent.uses = lent.uses.wrapping_add(1);
        lent
    }
}

impl<T> Receiver<T> {
    /// This end, to be waited for together with other things.
    #[must_use]
    pub fn selectable(&mut self) -> Selectable<'_, Receiver<T>> {
        Selectable::new(self)
    }
}

impl<T, K> LaneSender<T, K> {
    /// This end, to be waited for together with other things.
    #[must_use]
    pub fn selectable(&mut self) -> Selectable<'_, LaneSender<T, K>> {
        Selectable::new(self)
    }
}

impl<T> Selectable<'_, Receiver<T>> {
    /// As [`Receiver::try_recv`]: what to do once this is ready.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.lend().end.try_recv()
    }
}

impl<T, K> Selectable<'_, LaneSender<T, K>> {
    /// As [`LaneSender::try_send`]: what to do once this is ready.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] or [`TrySendError::Disconnected`], with the message.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.lend().end.try_send(message)
    }
}

impl<E: Source> Source for Selectable<'_, E> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.0.lock().end.register(operation, context)
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.0.lock().end.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        self.0.lock().end.is_ready()
    }

    fn unready_since(&self) -> Option<u64> {
        let lent = self.0.lock();
        // What is ready stays so until it is used.
        (!lent.end.is_ready()).then_some(lent.uses)
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.0.lock().end.watch(operation, context)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.0.lock().end.unwatch(operation, context);
    }
}

impl<E: Source> Sealed for Selectable<'_, E> {}
impl<E: Source> Waitable for Selectable<'_, E> {}

impl<E> fmt::Debug for Selectable<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Selectable { .. }")
    }
}
