//! The sending end of every channel with many senders and receivers: one face over the flavors.

use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::Arc;
use tamtam_wait::{Context, Operation, Source, Token, Wait};

use crate::ends::Ends;
use crate::error::{SendError, SendTimeoutError, TrySendError};
use crate::flavor::Refusal;
use crate::flavor::at_once::AtOnce;
use crate::flavor::block_list::BlockList;
use crate::flavor::queue::Queue;
use crate::flavor::rendezvous::{Exchange, Rendezvous};
use crate::flavor::ring::Ring;
use crate::weak_sender::WeakSender;

pub(crate) enum SenderFlavor<T> {
    Bounded(Arc<Ends<Ring<T>>>),
    Unbounded(Arc<Ends<BlockList<T>>>),
    Rendezvous(Arc<Ends<Rendezvous<T>>>),
}

impl<T> SenderFlavor<T> {
    /// The same channel once more, without counting a sender.
    pub(crate) fn share(&self) -> Self {
        match self {
            SenderFlavor::Bounded(ring) => SenderFlavor::Bounded(Arc::clone(ring)),
            SenderFlavor::Unbounded(list) => SenderFlavor::Unbounded(Arc::clone(list)),
            SenderFlavor::Rendezvous(rendezvous) => {
                SenderFlavor::Rendezvous(Arc::clone(rendezvous))
            }
        }
    }
}

/// The sending end of a channel.
///
/// Clone it for more senders; any number of threads may send at once, also through one and the same
/// end. When the last clone is dropped, the receivers get what is left and then an error.
///
/// # Ordering
///
/// Messages are received in the order in which they were sent, over all senders: a `send` that
/// returned before another one began is received before it. What a thread did before it sent is
/// visible to the thread that received the message.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::unbounded();
/// let other = sender.clone();
/// let one = std::thread::spawn(move || sender.send(1));
/// let two = std::thread::spawn(move || other.send(2));
/// assert_eq!(receiver.recv()? + receiver.recv()?, 3);
/// # one.join().unwrap().unwrap();
/// # two.join().unwrap().unwrap();
/// # Ok::<(), tamtam_channel::RecvError>(())
/// ```
pub struct Sender<T> {
    pub(crate) flavor: SenderFlavor<T>,
    pub(crate) wait: Wait,
}

// SAFETY: the flavors are, for messages that may go to another thread.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: the flavors are `Sync` for messages that may go to another thread; sending through a shared end only moves
// messages.
unsafe impl<T: Send> Sync for Sender<T> {}

// No user code runs while a channel is half changed.
impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}

impl<T> Sender<T> {
    pub(crate) fn new(flavor: SenderFlavor<T>) -> Self {
        Sender {
            flavor,
            wait: Wait::Adaptive,
        }
    }

    pub(crate) fn flavor(&self) -> &SenderFlavor<T> {
        &self.flavor
    }

    /// The same end, waiting in another way while the channel is full. Clones inherit it.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Wait, bounded};
    ///
    /// let (sender, receiver) = bounded(8);
    /// let sender = sender.with_wait(Wait::Park);
    /// sender.send("hello").unwrap();
    /// # assert_eq!(receiver.recv(), Ok("hello"));
    /// ```
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Sends a message if there is room for it now; never waits for room.
    ///
    /// With capacity zero there is room if a receiver waits at this moment, a thread or a task. A channel that
    /// [drops](crate::Builder::overflow) messages is never full: there this is the same as
    /// [`send`](Sender::send).
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`], or [`TrySendError::Disconnected`] if all receivers are gone or the channel
    /// is closed, with the message.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TrySendError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// assert_eq!(sender.try_send(1), Ok(()));
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => match ring.claim() {
                Ok(claim) => {
                    ring.write(claim, message);
                    Ok(())
                }
                Err(Refusal::Full) if ring.drops() => {
                    displace(ring.send_to_full(message)).map_err(TrySendError::Disconnected)
                }
                Err(refusal) => Err(refuse(message, refusal)),
            },
            SenderFlavor::Unbounded(list) => match list.claim() {
                Some(claim) => {
                    list.write(claim, message);
                    Ok(())
                }
                None => Err(TrySendError::Disconnected(message)),
            },
            SenderFlavor::Rendezvous(rendezvous) => rendezvous
                .try_send(message)
                .map(drop)
                .map_err(|(message, refusal)| refuse(message, refusal)),
        }
    }

    /// Sends a message, after waiting for room.
    ///
    /// A channel that was built to [drop](crate::Builder::overflow) messages makes room at once: this
    /// message, or the oldest one, is dropped if there is none.
    ///
    /// # Blocking
    ///
    /// While the channel is full; with capacity zero, until a receiver takes the message. Never, if the
    /// channel drops messages.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if all receivers are gone or the channel is closed, also if that
    /// happens while it waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{SendError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// assert_eq!(sender.send(1), Ok(()));
    /// drop(receiver);
    /// assert_eq!(sender.send(2), Err(SendError(2)));
    /// ```
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => match ring.claim() {
                Ok(claim) => {
                    ring.write(claim, message);
                    Ok(())
                }
                Err(Refusal::Full) if ring.drops() => {
                    displace(ring.send_to_full(message)).map_err(SendError)
                }
                Err(Refusal::Full) => ring
                    .wait_to_send(message, self.wait, None)
                    .map_err(|(message, _)| SendError(message)),
                Err(Refusal::Closed) => Err(SendError(message)),
            },
            SenderFlavor::Unbounded(list) => match list.claim() {
                Some(claim) => {
                    list.write(claim, message);
                    Ok(())
                }
                None => Err(SendError(message)),
            },
            SenderFlavor::Rendezvous(rendezvous) => rendezvous
                .send(message, self.wait, None)
                .map(drop)
                .map_err(|(message, _)| SendError(message)),
        }
    }

    /// As [`send`](Sender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_channel::{SendTimeoutError, bounded};
    ///
    /// let (sender, _receiver) = bounded(0);
    /// assert_eq!(
    ///     sender.send_timeout("not taken", Duration::from_millis(10)),
    ///     Err(SendTimeoutError::Timeout("not taken"))
    /// );
    /// ```
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Instant::now().checked_add(timeout))
    }

    /// As [`send`](Sender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use tamtam_channel::{SendTimeoutError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// assert_eq!(sender.send_deadline(1, deadline), Ok(()));
    /// assert_eq!(sender.send_deadline(2, deadline), Err(SendTimeoutError::Timeout(2)));
    /// # drop(receiver);
    /// ```
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => match ring.claim() {
                Ok(claim) => {
                    ring.write(claim, message);
                    Ok(())
                }
                Err(Refusal::Full) if ring.drops() => {
                    displace(ring.send_to_full(message)).map_err(SendTimeoutError::Disconnected)
                }
                Err(Refusal::Full) => ring
                    .wait_to_send(message, self.wait, deadline)
                    .map_err(|(message, refusal)| give_up(message, refusal)),
                Err(Refusal::Closed) => Err(SendTimeoutError::Disconnected(message)),
            },
            SenderFlavor::Unbounded(_) => Ok(self.send(message)?),
            SenderFlavor::Rendezvous(rendezvous) => rendezvous
                .send(message, self.wait, deadline)
                .map(drop)
                .map_err(|(message, refusal)| give_up(message, refusal)),
        }
    }

    /// As [`send`](Sender::send), and gives back what was displaced: on a channel that
    /// [drops](crate::Builder::overflow) what it has no room for, the oldest message or this one.
    /// Otherwise, and where there is room, that is `None`.
    ///
    /// # Blocking
    ///
    /// While the channel is full, unless it drops messages.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if all receivers are gone or the channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Builder, Overflow};
    ///
    /// let (sender, receiver) = Builder::new().capacity(1).overflow(Overflow::DropOldest).build();
    /// assert_eq!(sender.send_reporting("yesterday's"), Ok(None));
    /// assert_eq!(sender.send_reporting("today's"), Ok(Some("yesterday's")));
    /// assert_eq!(receiver.recv(), Ok("today's"));
    /// ```
    pub fn send_reporting(&self, message: T) -> Result<Option<T>, SendError<T>> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) if ring.drops() => match ring.claim() {
                Ok(claim) => {
                    ring.write(claim, message);
                    Ok(None)
                }
                Err(Refusal::Full) => ring.send_to_full(message).map_err(SendError),
                Err(Refusal::Closed) => Err(SendError(message)),
            },
            SenderFlavor::Rendezvous(rendezvous) => rendezvous
                .send(message, self.wait, None)
                .map_err(|(message, _)| SendError(message)),
            _ => self.send(message).map(|()| None),
        }
    }

    /// The most messages that the channel has held at once, so far.
    ///
    /// It is no work for the senders: receivers look now and then and with each batch, and this call looks at
    /// what is there now. So it may be too low, never too high: by at most 63 messages, or a sixteenth of the
    /// capacity where that is more, or 1,023 where that is less or where there is no bound (and by a few
    /// more where several receivers overtake each other). A channel that was
    /// [built](crate::Builder::exact_high_water) for it is exact; only where a message is sent in the very
    /// moment in which another one is received may it count them as one. Zero with capacity zero.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::bounded(1_000);
    /// sender.send_many(0..500).unwrap();
    /// assert_eq!(receiver.try_iter().count(), 500);
    /// assert!((437..=500).contains(&sender.high_water()));
    /// ```
    pub fn high_water(&self) -> usize {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.high_water(),
            SenderFlavor::Unbounded(list) => list.high_water(),
            SenderFlavor::Rendezvous(_) => 0,
        }
    }

    /// How many messages this channel has dropped for want of room: those that
    /// [`send_reporting`](Sender::send_reporting) gave back are among them. Always zero unless the channel
    /// was [built](crate::Builder::overflow) to drop.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Builder, Overflow};
    ///
    /// let (sender, receiver) = Builder::new().capacity(2).overflow(Overflow::DropNewest).build();
    /// sender.send_many(0..5).unwrap();
    /// assert_eq!(sender.dropped(), 3);
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1]);
    /// ```
    pub fn dropped(&self) -> u64 {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.dropped(),
            SenderFlavor::Unbounded(_) => 0,
            SenderFlavor::Rendezvous(rendezvous) => rendezvous.dropped(),
        }
    }

    /// Closes the channel for all senders, while both sides still exist: `true` if this call did it,
    /// `false` if it was closed before or if the other side is gone.
    ///
    /// From now on every send fails and gives its message back; senders that wait for room wake up
    /// with that error. What is in the channel can still be received; after that, receiving fails, too.
    /// A send that was under way already may still be accepted.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{RecvError, SendError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// let other = sender.clone();
    /// sender.send("the last one").unwrap();
    /// assert!(sender.close());
    /// assert!(!receiver.close()); // it is closed
    /// assert_eq!(other.send("too late"), Err(SendError("too late")));
    /// assert_eq!(receiver.recv(), Ok("the last one"));
    /// assert_eq!(receiver.recv(), Err(RecvError));
    /// ```
    pub fn close(&self) -> bool {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.close(),
            SenderFlavor::Unbounded(list) => list.close(),
            SenderFlavor::Rendezvous(rendezvous) => rendezvous.close(),
        }
    }

    /// Whether sending is over: the channel was [closed](Sender::close), or all receivers are gone.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::bounded::<i32>(1);
    /// assert!(!sender.is_closed());
    /// drop(receiver);
    /// assert!(sender.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.is_closed(),
            SenderFlavor::Unbounded(list) => list.is_closed(),
            SenderFlavor::Rendezvous(rendezvous) => rendezvous.is_closed(),
        }
    }

    /// Whether the channel holds no message. With capacity zero: always.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// assert!(sender.is_empty());
    /// sender.send(1).unwrap();
    /// assert!(!sender.is_empty());
    /// # drop(receiver);
    /// ```
    pub fn is_empty(&self) -> bool {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.is_empty(),
            SenderFlavor::Unbounded(list) => list.is_empty(),
            SenderFlavor::Rendezvous(_) => true,
        }
    }

    /// Whether the channel holds as many messages as it can. With capacity zero: always; without a
    /// bound: never.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::bounded(1);
    /// assert!(!sender.is_full());
    /// sender.send(1).unwrap();
    /// assert!(sender.is_full());
    /// # drop(receiver);
    /// ```
    pub fn is_full(&self) -> bool {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.is_full(),
            SenderFlavor::Unbounded(_) => false,
            SenderFlavor::Rendezvous(_) => true,
        }
    }

    /// How many messages the channel holds, those counted that are just being sent: exact at some moment
    /// of this call.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// assert_eq!(sender.len(), 2);
    /// # drop(receiver);
    /// ```
    pub fn len(&self) -> usize {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.len(),
            SenderFlavor::Unbounded(list) => list.len(),
            SenderFlavor::Rendezvous(_) => 0,
        }
    }

    /// How many messages the channel can hold; `None` if there is no bound.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{bounded, unbounded};
    ///
    /// assert_eq!(bounded::<i32>(5).0.capacity(), Some(5));
    /// assert_eq!(bounded::<i32>(0).0.capacity(), Some(0));
    /// assert_eq!(unbounded::<i32>().0.capacity(), None);
    /// ```
    pub fn capacity(&self) -> Option<usize> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => Some(ring.capacity()),
            SenderFlavor::Unbounded(_) => None,
            SenderFlavor::Rendezvous(_) => Some(0),
        }
    }

    /// A sender that does not keep the channel open.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// let weak = sender.downgrade();
    /// weak.upgrade().unwrap().send(1).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1]); // the weak one did not keep it open
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self)
    }

    /// Whether both ends belong to the same channel.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::unbounded;
    ///
    /// let (one, _receiver) = unbounded::<i32>();
    /// let (two, _receiver) = unbounded::<i32>();
    /// assert!(one.same_channel(&one.clone()));
    /// assert!(!one.same_channel(&two));
    /// ```
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        match (&self.flavor, &other.flavor) {
            (SenderFlavor::Bounded(a), SenderFlavor::Bounded(b)) => Arc::ptr_eq(a, b),
            (SenderFlavor::Unbounded(a), SenderFlavor::Unbounded(b)) => Arc::ptr_eq(a, b),
            (SenderFlavor::Rendezvous(a), SenderFlavor::Rendezvous(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Finishes an operation that was begun by this sender's [`Source`].
    ///
    /// # Safety
    ///
    /// The token was filled by this channel's sending source, and not used since.
    pub(crate) unsafe fn finish(&self, token: &mut Token, message: T) -> Result<(), SendError<T>> {
        match &self.flavor {
            SenderFlavor::Bounded(ring) if !ring.drops() => {
                // SAFETY: the source was `RoomSource`, which has filled the token.
                match unsafe { self.room().finish(token) } {
                    Ok(permit) => permit.send(message),
                    Err(_) => Err(SendError(message)),
                }
            }
            SenderFlavor::Rendezvous(rendezvous) if !rendezvous.drops() => {
                // SAFETY: this is what the rendezvous' sending source puts into a token, and it
                // was begun by this thread.
                unsafe { rendezvous.finish_sending(token.take::<Exchange<T>>(), message) }
                    .map_err(SendError)
            }
            // The source was `AtOnce`, which has put nothing into the token.
            _ => self.send(message),
        }
    }

    /// Sending as a selected operation. Between its choice and its end the user's code runs, so it holds room
    /// and no position in the order: a claimed position would hold up all receivers.
    fn source<R>(&self, use_source: impl FnOnce(&dyn Source) -> R) -> R {
        match &self.flavor {
            SenderFlavor::Bounded(ring) if !ring.drops() => use_source(&self.room()),
            SenderFlavor::Rendezvous(rendezvous) if !rendezvous.drops() => {
                use_source(&rendezvous.sending())
            }
            _ => use_source(&AtOnce),
        }
    }
}

/// The displaced message is dropped, outside of everything.
fn displace<T>(sent: Result<Option<T>, T>) -> Result<(), T> {
    sent.map(drop)
}

fn refuse<T>(message: T, refusal: Refusal) -> TrySendError<T> {
    match refusal {
        Refusal::Full => TrySendError::Full(message),
        Refusal::Closed => TrySendError::Disconnected(message),
    }
}

fn give_up<T>(message: T, refusal: Refusal) -> SendTimeoutError<T> {
    match refusal {
        Refusal::Full => SendTimeoutError::Timeout(message),
        Refusal::Closed => SendTimeoutError::Disconnected(message),
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => ring.add_sender(),
            SenderFlavor::Unbounded(list) => list.add_sender(),
            SenderFlavor::Rendezvous(rendezvous) => rendezvous.add_sender(),
        }
        Sender {
            flavor: self.flavor.share(),
            wait: self.wait,
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        match &self.flavor {
            SenderFlavor::Bounded(ring) => {
                if ring.remove_sender() {
                    ring.close();
                }
            }
            SenderFlavor::Unbounded(list) => {
                if list.remove_sender() {
                    list.close();
                }
            }
            SenderFlavor::Rendezvous(rendezvous) => {
                if rendezvous.remove_sender() {
                    rendezvous.close();
                }
            }
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

impl<T> Source for Sender<T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.source(|source| source.try_begin(token))
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.source(|source| source.register(operation, context))
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.source(|source| source.unregister(operation, context));
    }

    fn accept(&self, token: &mut Token, context: &Context) -> bool {
        self.source(|source| source.accept(token, context))
    }

    unsafe fn abandon(&self, token: &mut Token) {
        // SAFETY: the caller has begun the operation with this token, which is what the flavor's source asks for.
        self.source(|source| unsafe { source.abandon(token) });
    }

    unsafe fn abandon_elsewhere(&self, token: &mut Token) {
        // SAFETY: the caller has begun the operation with this token, which is what the flavor's source asks for.
        self.source(|source| unsafe { source.abandon_elsewhere(token) });
    }

    fn is_ready(&self) -> bool {
        self.source(|source| source.is_ready())
    }

    fn unready_since(&self) -> Option<u64> {
        self.source(|source| source.unready_since())
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.source(|source| source.watch(operation, context))
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.source(|source| source.unwatch(operation, context));
    }
}
