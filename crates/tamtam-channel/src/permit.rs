//! Room that is kept for a message to come.

use core::fmt;
use core::mem;
use std::time::{Duration, Instant};

use tamtam_wait::{Context, Operation, Source, Token};

use crate::Sender;
use crate::error::{ReserveError, ReserveTimeoutError, SendError, TryReserveError};
use crate::flavor::Refusal;
use crate::sender::SenderFlavor;

/// Room for one message in a channel, made by [`Sender::reserve`] and its relatives.
///
/// It is used by [`send`](Permit::send), which never waits, or given back by dropping it. For a sender that must
/// know that there is room before he makes a message, or before he takes it from where it is safe.
///
/// A permit has no place in the order: its message comes behind all that were sent before
/// [`send`](Permit::send), and however long it is held, it holds up no other; only the room for the others is
/// smaller by one. Permits are not counted by [`len`](Sender::len). A permit that is leaked keeps its room
/// for ever.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TrySendError, bounded};
///
/// let (sender, receiver) = bounded(2);
/// let permit = sender.reserve()?;
/// sender.send("first")?;
/// assert_eq!(sender.try_send("no room"), Err(TrySendError::Full("no room")));
/// permit.send("second")?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["first", "second"]);
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[must_use = "room is kept as long as the permit lives"]
pub struct Permit<'a, T> {
    sender: &'a Sender<T>,
}

impl<'a, T> Permit<'a, T> {
    /// A permit for room that was granted to this sender just now.
    pub(crate) fn granted(sender: &'a Sender<T>) -> Self {
        Permit { sender }
    }

    /// Sends the message into the room that was kept; never waits.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if all receivers are gone or the channel was closed meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{SendError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// sender.reserve().unwrap().send(1).unwrap();
    /// assert_eq!(receiver.recv(), Ok(1));
    /// let permit = sender.reserve().unwrap();
    /// receiver.close();
    /// assert_eq!(permit.send(2), Err(SendError(2)));
    /// ```
    pub fn send(self, message: T) -> Result<(), SendError<T>> {
        let sender = self.sender;
        // Used up, whatever comes of it.
        mem::forget(self);
        match &sender.flavor {
            SenderFlavor::Bounded(ring) => match ring.redeem() {
                Ok(claim) => {
                    ring.write(claim, message);
                    Ok(())
                }
                Err(_) => Err(SendError(message)),
            },
            SenderFlavor::Unbounded(_) => sender.send(message),
            SenderFlavor::Rendezvous(_) => unreachable!("there is no room to keep"),
        }
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.sender.release();
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Permit { .. }")
    }
}

impl<T> Sender<T> {
    /// Keeps room for one message if there is any now; never waits.
    ///
    /// Without a bound there always is.
    ///
    /// # Errors
    ///
    /// [`TryReserveError::Full`]; [`TryReserveError::Disconnected`] if all receivers are gone or the channel
    /// is closed; [`TryReserveError::CapacityZero`] if there is never any room.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TryReserveError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// let permit = sender.try_reserve().unwrap();
    /// assert_eq!(sender.try_reserve().unwrap_err(), TryReserveError::Full);
    /// permit.send("hello").unwrap();
    /// # assert_eq!(receiver.recv(), Ok("hello"));
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TryReserveError> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.reserve().map_err(|refusal| match refusal {
                Refusal::Full => TryReserveError::Full,
                Refusal::Closed => TryReserveError::Disconnected,
            })?,
            SenderFlavor::Unbounded(_) if self.is_closed() => {
                return Err(TryReserveError::Disconnected);
            }
            SenderFlavor::Unbounded(_) => {}
            SenderFlavor::Rendezvous(_) => return Err(TryReserveError::CapacityZero),
        }
        Ok(Permit::granted(self))
    }

    /// Keeps room for one message, after waiting for it.
    ///
    /// # Blocking
    ///
    /// While there is no room, also on a channel that [drops](crate::Builder::overflow) messages.
    ///
    /// # Errors
    ///
    /// [`ReserveError::Disconnected`] if all receivers are gone or the channel is closed, also if that
    /// happens while it waits; [`ReserveError::CapacityZero`] if there is never any room.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{ReserveError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// let permit = sender.reserve().unwrap();
    /// permit.send(1).unwrap();
    /// assert_eq!(receiver.recv(), Ok(1));
    ///
    /// let (sender, _receiver) = bounded::<i32>(0);
    /// assert_eq!(sender.reserve().unwrap_err(), ReserveError::CapacityZero);
    /// ```
    pub fn reserve(&self) -> Result<Permit<'_, T>, ReserveError> {
        self.reserve_until(None).map_err(|error| match error {
            ReserveTimeoutError::CapacityZero => ReserveError::CapacityZero,
            ReserveTimeoutError::Timeout | ReserveTimeoutError::Disconnected => {
                ReserveError::Disconnected
            }
        })
    }

    /// As [`reserve`](Sender::reserve), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`ReserveTimeoutError::Timeout`], or as [`reserve`](Sender::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_channel::{ReserveTimeoutError, bounded};
    ///
    /// let (sender, _receiver) = bounded(1);
    /// sender.send("no room for another one").unwrap();
    /// assert_eq!(
    ///     sender.reserve_timeout(Duration::from_millis(10)).unwrap_err(),
    ///     ReserveTimeoutError::Timeout
    /// );
    /// ```
    pub fn reserve_timeout(&self, timeout: Duration) -> Result<Permit<'_, T>, ReserveTimeoutError> {
        // A timeout beyond the clock's range is none.
        self.reserve_until(Instant::now().checked_add(timeout))
    }

    /// As [`reserve`](Sender::reserve), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`ReserveTimeoutError::Timeout`], or as [`reserve`](Sender::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let (sender, receiver) = tamtam_channel::bounded(1);
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// sender.reserve_deadline(deadline).unwrap().send("in time").unwrap();
    /// # assert_eq!(receiver.recv(), Ok("in time"));
    /// ```
    pub fn reserve_deadline(
        &self,
        deadline: Instant,
    ) -> Result<Permit<'_, T>, ReserveTimeoutError> {
        self.reserve_until(Some(deadline))
    }

    fn reserve_until(
        &self,
        deadline: Option<Instant>,
    ) -> Result<Permit<'_, T>, ReserveTimeoutError> {
        match (self.try_reserve(), &self.flavor) {
            (Ok(permit), _) => Ok(permit),
            (Err(TryReserveError::Full), SenderFlavor::Bounded(ring)) => {
                let waited = ring.wait_to_reserve(self.wait, deadline);
                waited.map_err(|refusal| match refusal {
                    Refusal::Full => ReserveTimeoutError::Timeout,
                    Refusal::Closed => ReserveTimeoutError::Disconnected,
                })?;
                Ok(Permit::granted(self))
            }
            (Err(TryReserveError::CapacityZero), _) => Err(ReserveTimeoutError::CapacityZero),
            (Err(_), _) => Err(ReserveTimeoutError::Disconnected),
        }
    }

    /// Gives back the room of a permit.
    fn release(&self) {
        if let SenderFlavor::Bounded(ring) = &self.flavor {
            ring.release();
        }
    }

    /// Room to keep, as something to wait for.
    pub(crate) fn room(&self) -> RoomSource<'_, T> {
        RoomSource(self)
    }
}

/// Room to keep, as something to wait for. The token holds whether it was granted.
pub(crate) struct RoomSource<'a, T>(&'a Sender<T>);

impl<'a, T> RoomSource<'a, T> {
    /// Whether room was kept.
    ///
    /// # Safety
    ///
    /// The token was filled by this sender's source of room, and not used since.
    pub(crate) unsafe fn decided(&self, token: &mut Token) -> Result<(), ReserveError> {
        // SAFETY: this is what `try_begin` puts into a token.
        unsafe { token.take::<Result<(), ReserveError>>() }
    }

    /// Finishes the operation.
    ///
    /// # Safety
    ///
    /// As for [`decided`](RoomSource::decided).
    pub(crate) unsafe fn finish(&self, token: &mut Token) -> Result<Permit<'a, T>, ReserveError> {
        // SAFETY: the token was filled by this sender's source of room, and not used since.
        unsafe { self.decided(token) }.map(|()| Permit::granted(self.0))
    }
}

impl<T> Source for RoomSource<'_, T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        let decided = match self.0.try_reserve() {
            Err(TryReserveError::Full) => return false,
            Err(TryReserveError::Disconnected) => Err(ReserveError::Disconnected),
            Err(TryReserveError::CapacityZero) => Err(ReserveError::CapacityZero),
            Ok(permit) => {
                // The token keeps it from here on.
                mem::forget(permit);
                Ok(())
            }
        };
        token.put::<Result<(), ReserveError>>(decided);
        true
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        match &self.0.flavor {
            SenderFlavor::Bounded(ring) => ring.sending().register(operation, context),
            SenderFlavor::Unbounded(_) | SenderFlavor::Rendezvous(_) => true,
        }
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        if let SenderFlavor::Bounded(ring) = &self.0.flavor {
            ring.sending().unregister(operation, context);
        }
    }

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        match &self.0.flavor {
            SenderFlavor::Bounded(ring) => ring
                .arrive(context, || self.try_begin(token).then_some(()))
                .is_some(),
            SenderFlavor::Unbounded(_) | SenderFlavor::Rendezvous(_) => self.try_begin(token),
        }
    }

    fn decline(&self, context: &Context) {
        if let SenderFlavor::Bounded(ring) = &self.0.flavor {
            ring.sending().decline(context);
        }
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: the caller has begun the operation with this token, and does not finish it.
        if unsafe { self.decided(token) }.is_ok() {
            self.0.release();
        }
    }

    fn unready_since(&self) -> Option<u64> {
        match &self.0.flavor {
            SenderFlavor::Bounded(ring) => ring.sending().unready_since(),
            SenderFlavor::Unbounded(_) | SenderFlavor::Rendezvous(_) => None,
        }
    }

    fn is_ready(&self) -> bool {
        match &self.0.flavor {
            SenderFlavor::Bounded(ring) => ring.sending().is_ready(),
            SenderFlavor::Unbounded(_) | SenderFlavor::Rendezvous(_) => true,
        }
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        match &self.0.flavor {
            SenderFlavor::Bounded(ring) => ring.sending().watch(operation, context),
            SenderFlavor::Unbounded(_) | SenderFlavor::Rendezvous(_) => true,
        }
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        if let SenderFlavor::Bounded(ring) = &self.0.flavor {
            ring.sending().unwatch(operation, context);
        }
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use tamtam_wait::Outcome;

    use super::*;
    use crate::{Receiver, TrySendError, bounded, unbounded};

    /// As a task would: begins, or registers and looks again.
    fn begin<T>(room: &RoomSource<'_, T>, token: &mut Token) -> bool {
        room.try_begin(token)
            || Context::with(|context| {
                let only = Operation::new(0);
                let ready = room.register(only, context);
                room.unregister(only, context);
                ready && room.try_begin(token)
            })
    }

    fn take<T>(receiver: &Receiver<T>) -> T {
        receiver.try_recv().expect("a message is there")
    }

    #[test]
    fn a_source_grants_what_can_be_sent_with() {
        let (sender, receiver) = bounded(1);
        let room = sender.room();
        let mut token = Token::default();
        assert!(room.is_ready() && begin(&room, &mut token));
        assert!(!room.is_ready());
        let mut other = Token::default();
        assert!(!begin(&room, &mut other));
        // SAFETY: the token was filled by `begin` above, and is used once.
        let permit = unsafe { room.finish(&mut token) }.expect("it was granted");
        permit.send(1).expect("the channel is open");
        assert!(!begin(&room, &mut other));
        assert_eq!(take(&receiver), 1);
        assert!(begin(&room, &mut other));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        // SAFETY: the token was filled by `begin` above, and is used once.
        unsafe { room.abandon(&mut other) };
        assert_eq!(sender.try_send(2), Ok(()));
        receiver.close();
        assert!(room.is_ready() && begin(&room, &mut other));
        // SAFETY: the token was filled by `begin` above, and is used once.
        let refused = unsafe { room.finish(&mut other) };
        assert_eq!(refused.err(), Some(ReserveError::Disconnected));
    }

    #[test]
    fn a_waiting_source_is_chosen_when_a_permit_is_dropped() {
        let (sender, _receiver) = bounded::<u8>(1);
        let permit = sender.reserve().expect("there is room");
        let room = sender.room();
        let only = Operation::new(0);
        let mut token = Token::default();
        Context::with(|context| {
            assert!(!room.register(only, context));
            assert_eq!(context.outcome(), None);
            drop(permit);
            assert_eq!(context.outcome(), Some(Outcome::Selected(only)));
            assert!(room.accept(&mut token, context));
        });
        // SAFETY: the token was filled by `accept` above, and is used once.
        drop(unsafe { room.finish(&mut token) });
        assert!(room.is_ready());
    }

    #[test]
    fn sources_without_a_bound_or_without_room() {
        let (sender, receiver) = unbounded();
        let mut token = Token::default();
        assert!(begin(&sender.room(), &mut token));
        // SAFETY: the token was filled by `begin` above, and is used once.
        let permit = unsafe { sender.room().finish(&mut token) }.expect("it was granted");
        permit.send(1).expect("the channel is open");
        assert_eq!(take(&receiver), 1);

        let (sender, _receiver) = bounded::<u8>(0);
        assert!(begin(&sender.room(), &mut token));
        // SAFETY: the token was filled by `begin` above, and is used once.
        let refused = unsafe { sender.room().finish(&mut token) };
        assert_eq!(refused.err(), Some(ReserveError::CapacityZero));
    }
}
