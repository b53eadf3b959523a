//! Room that is kept for a message to come, in a lane.
//!
//! Room in a lane is its sender's alone, so keeping some is a matter of that sender's own arithmetic: there is
//! so much less of it to be found at the next look. Sending pays nothing for that.

use core::fmt;
use core::mem;
use std::time::{Duration, Instant};

use super::LaneSender;
use super::sender::{State, Unwritten, used_by_iterator};
use crate::error::{ReserveError, ReserveTimeoutError, SendError, TryReserveError};

/// Room for one message in the lane of an [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc) sender, made by
/// [`LaneSender::reserve`] and its relatives.
///
/// It is used by [`send`](Permit::send), which never waits, or given back by dropping it. For a sender that must
/// know that there is room before he makes a message, or before he takes it from where it is safe.
///
/// A permit has no place in the order: its message comes behind all that were sent before
/// [`send`](Permit::send). The sender can be used beside it, and only the room is smaller by one. Permits are
/// not counted by [`len`](LaneSender::len). A permit that is leaked keeps its room for ever.
///
/// It shares its sender, and so does not leave the sender's thread; the [`ExclusivePermit`] of the awaiting
/// verbs does.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TrySendError, spsc};
///
/// let (sender, receiver) = spsc::bounded(2);
/// let permit = sender.reserve()?;
/// sender.send("first")?;
/// assert_eq!(sender.try_send("no room"), Err(TrySendError::Full("no room")));
/// permit.send("second")?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["first", "second"]);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[must_use = "room is kept as long as the permit lives"]
pub struct Permit<'a, T, K> {
    sender: &'a LaneSender<T, K>,
}

/// A [`Permit`] that has its sender to itself, made by [`LaneSender::reserve_async`] and its relatives.
///
/// As long as it lives nothing else is sent, so there is nothing to give back when it is dropped or leaked. It
/// may be sent to another thread, and so may a future that holds it.
///
/// # Examples
///
/// ```
/// # use std::task::{Context, Poll, Waker};
/// # fn run<F: Future>(future: F) -> F::Output {
/// #     let mut future = std::pin::pin!(future);
/// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #         Poll::Ready(output) => output,
/// #         Poll::Pending => panic!("it was to be ready"),
/// #     }
/// # }
/// # run(async {
/// let (mut sender, receiver) = tamtam_channel::mpsc::bounded(1);
/// let permit = sender.reserve_async().await?;
/// let message = async { "made when there was room for it" }.await;
/// permit.send(message).unwrap();
/// assert_eq!(receiver.recv(), Ok("made when there was room for it"));
/// # Ok::<(), tamtam_channel::ReserveError>(())
/// # }).unwrap();
/// ```
#[must_use = "there is room for a message"]
pub struct ExclusivePermit<'a, T, K> {
    sender: &'a mut LaneSender<T, K>,
}

impl<T, K> Permit<'_, T, K> {
    /// Sends the message into the room that was kept; never waits.
    ///
    /// # Panics
    ///
    /// If it is used by the iterator whose messages its sender sends.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the sender or the channel was closed meanwhile, or the receiver is
    /// gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{SendError, spsc};
    ///
    /// let (sender, receiver) = spsc::bounded(1);
    /// sender.reserve().unwrap().send(1).unwrap();
    /// assert_eq!(receiver.recv(), Ok(1));
    /// let permit = sender.reserve().unwrap();
    /// receiver.close();
    /// assert_eq!(permit.send(2), Err(SendError(2)));
    /// ```
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        match self.sender.state.get() {
            State::Open => {}
            State::Closed => return Err(SendError(message)),
            // The cursor is with the batch.
            State::InBatch => used_by_iterator(),
        }
        let sender = self.sender;
        mem::forget(self);
        sender.release();
        sender.tail.lengthen();
        sender.put(message)
    }
}

impl<T, K> Drop for Permit<'_, T, K> {
    fn drop(&mut self) {
        self.sender.release();
    }
}

impl<'a, T, K> ExclusivePermit<'a, T, K> {
    /// A permit of a sender that has found room just now.
    pub(super) fn granted(sender: &'a mut LaneSender<T, K>) -> Self {
        ExclusivePermit { sender }
    }

    /// Sends the message into the room that was found; never waits.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel was closed meanwhile, or the receiver is gone.
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        self.sender.put(message)
    }
}

impl<T, K> LaneSender<T, K> {
    /// Keeps room for one message if there is any now; never waits.
    ///
    /// Without a bound there always is.
    ///
    /// # Errors
    ///
    /// [`TryReserveError::Full`], or [`TryReserveError::Disconnected`] if the channel is closed or the
    /// receiver is gone.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TryReserveError, spsc};
    ///
    /// let (sender, receiver) = spsc::bounded(1);
    /// let permit = sender.try_reserve().unwrap();
    /// assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    /// permit.send("hello").unwrap();
    /// # assert_eq!(receiver.recv(), Ok("hello"));
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<'_, T, K>, TryReserveError> {
        match self.may_write() {
            Ok(()) => self.keep_room().ok_or(TryReserveError::Disconnected),
            Err(Unwritten::Full) => Err(TryReserveError::Full),
            Err(Unwritten::Closed) => Err(TryReserveError::Disconnected),
        }
    }

    /// Keeps room for one message, after waiting for it.
    ///
    /// # Blocking
    ///
    /// While this sender's lane is full of messages and permits. If permits have taken all of it, only this
    /// thread can change that, and so it waits until the channel is closed.
    ///
    /// # Errors
    ///
    /// [`ReserveError::Disconnected`] if the channel is closed or the receiver is gone, also if that happens
    /// while it waits. There is never capacity zero here.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::spsc::bounded(1);
    /// sender.send(1).unwrap();
    /// let receives = std::thread::spawn(move || receiver.iter().sum::<i32>());
    /// sender.reserve()?.send(2).unwrap();
    /// drop(sender);
    /// assert_eq!(receives.join().unwrap(), 3);
    /// # Ok::<(), tamtam_channel::ReserveError>(())
    /// ```
    pub fn reserve(&self) -> Result<Permit<'_, T, K>, ReserveError> {
        self.reserve_until(None)
            .map_err(|_| ReserveError::Disconnected)
    }

    /// As [`reserve`](LaneSender::reserve), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`ReserveTimeoutError::Timeout`], or as [`reserve`](LaneSender::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_channel::{ReserveTimeoutError, spsc};
    ///
    /// let (sender, _receiver) = spsc::bounded(1);
    /// sender.send("no room for another one").unwrap();
    /// assert_eq!(
    ///     sender.reserve_timeout(Duration::from_millis(10)).unwrap_err(),
    ///     ReserveTimeoutError::Timeout
    /// );
    /// ```
    pub fn reserve_timeout(
        &self,
        timeout: Duration,
    ) -> Result<Permit<'_, T, K>, ReserveTimeoutError> {
        // A timeout beyond the clock's range is none.
        self.reserve_until(Instant::now().checked_add(timeout))
    }

    /// As [`reserve`](LaneSender::reserve), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`ReserveTimeoutError::Timeout`], or as [`reserve`](LaneSender::reserve).
    pub fn reserve_deadline(
        &self,
        deadline: Instant,
    ) -> Result<Permit<'_, T, K>, ReserveTimeoutError> {
        self.reserve_until(Some(deadline))
    }

    fn reserve_until(
        &self,
        deadline: Option<Instant>,
    ) -> Result<Permit<'_, T, K>, ReserveTimeoutError> {
        let room = match self.may_write() {
            Err(Unwritten::Full) => self.wait_for_room(deadline),
            decided => decided,
        };
        match room {
            Ok(()) => self.keep_room().ok_or(ReserveTimeoutError::Disconnected),
            Err(Unwritten::Full) => Err(ReserveTimeoutError::Timeout),
            Err(Unwritten::Closed) => Err(ReserveTimeoutError::Disconnected),
        }
    }

    /// A permit for room that was found just now, unless the channel is closed: a sender that finds room does not
    /// look for that.
    fn keep_room(&self) -> Option<Permit<'_, T, K>> {
        if self.is_closed() {
            return None;
        }
        self.fit.set(self.fit.get() - 1);
        self.tail.shorten();
        Some(Permit { sender: self })
    }

    /// The room of a permit is free again, from the next look on. No sender waits for it: the only one that could is the one
    /// who has the permit.
    fn release(&self) {
        self.fit.set(self.fit.get() + 1);
    }
}

impl<T, K> fmt::Debug for Permit<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Permit { .. }")
    }
}

impl<T, K> fmt::Debug for ExclusivePermit<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ExclusivePermit { .. }")
    }
}
