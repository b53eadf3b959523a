//! The receiving end of every channel with many senders and receivers: one face over the flavors.

use core::fmt;
use core::mem::{ManuallyDrop, size_of};
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::Arc;
use tamtam_wait::{Backoff, Context, Operation, Source, Token, Wait};

use crate::ends::Ends;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::flavor::Nothing;
use crate::flavor::at::{At, sleep_until};
use crate::flavor::block_list::BlockList;
use crate::flavor::never::Never;
use crate::flavor::queue::Queue;
use crate::flavor::rendezvous::{Exchange, Rendezvous};
use crate::flavor::ring::Ring;
use crate::flavor::tick::Tick;
use crate::iter::{DrainingIter, IteratedEnd, OwningIter, TryingIter, WaitingIter};

pub(crate) enum ReceiverFlavor<T> {
    Bounded(Arc<Ends<Ring<T>>>),
    Unbounded(Arc<Ends<BlockList<T>>>),
    Rendezvous(Arc<Ends<Rendezvous<T>>>),
    /// Only made for `T` = [`Instant`].
    At(Arc<At>),
    /// Only made for `T` = [`Instant`].
    Tick(Arc<Tick>),
    Never,
}

/// The receiving end of a channel.
///
/// Clone it for more receivers; each message goes to one of them. When the last clone is dropped,
/// what is left in the channel is dropped with it, and sending becomes an error.
///
/// # Ordering
///
/// Messages come in the order in which they were sent, over all senders.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(10);
/// let worker = std::thread::spawn(move || receiver.iter().map(|n: u64| n * n).sum::<u64>());
/// for number in 0..4 {
///     sender.send(number).unwrap();
/// }
/// drop(sender); // ends the worker's iteration
/// assert_eq!(worker.join().unwrap(), 14);
/// ```
pub struct Receiver<T> {
    pub(crate) flavor: ReceiverFlavor<T>,
    pub(crate) wait: Wait,
}

// SAFETY: the flavors are, for messages that may go to another thread.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: the flavors are `Sync` for messages that may go to another thread; receiving through a shared end only moves
// messages.
unsafe impl<T: Send> Sync for Receiver<T> {}

// No user code runs while a channel is half changed.
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

/// The moment that a timer delivers, as the `T` of its receiver.
fn moment<T>(moment: Instant) -> T {
    assert_eq!(size_of::<T>(), size_of::<Instant>());
    let moment = ManuallyDrop::new(moment);
    // SAFETY: timers are only made as receivers of `Instant`, so `T` is that very type.
    unsafe { core::mem::transmute_copy(&moment) }
}

impl<T> Receiver<T> {
    pub(crate) const fn new(flavor: ReceiverFlavor<T>) -> Self {
        Receiver {
            flavor,
            wait: Wait::Adaptive,
        }
    }

    pub(crate) fn flavor(&self) -> &ReceiverFlavor<T> {
        &self.flavor
    }

    /// The same end, waiting in another way while the channel is empty. Clones inherit it.
    ///
    /// Timers ([`after`](crate::after), [`at`](crate::at), [`tick`](crate::tick)) always sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Wait, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// let receiver = receiver.with_wait(Wait::Park);
    /// sender.send("hello").unwrap();
    /// assert_eq!(receiver.recv(), Ok("hello"));
    /// ```
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Receives a message if one is there; never waits for a sender.
    ///
    /// With capacity zero one is there if a sender waits at this moment.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`], or [`TryRecvError::Disconnected`] if moreover no sender is left or the
    /// channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TryRecvError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(5).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => settle(|| ring.receive_or_tell()),
            ReceiverFlavor::Unbounded(list) => settle(|| list.receive_or_tell()),
            ReceiverFlavor::Rendezvous(rendezvous) => settle(|| rendezvous.try_receive()),
            ReceiverFlavor::At(at) => settle(|| at.try_receive().map(moment)),
            ReceiverFlavor::Tick(tick) => tick
                .try_receive()
                .map(moment)
                .map_err(|_| TryRecvError::Empty),
            ReceiverFlavor::Never => Err(TryRecvError::Empty),
        }
    }

    /// Receives a message, after waiting for one.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty, and no sender is left or it is closed, also if that
    /// happens while it waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{RecvError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// std::thread::spawn(move || sender.send(5));
    /// assert_eq!(receiver.recv(), Ok(5));
    /// assert_eq!(receiver.recv(), Err(RecvError));
    /// ```
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        // The message is usually there; what waits is kept out of the way.
        let wait = || self.wait_to_receive(None).map_err(|_| RecvError);
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.receive_or_else(wait),
            ReceiverFlavor::Unbounded(list) => list.receive_or_else(wait),
            _ => wait(),
        }
    }

    /// As [`recv`](Receiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_channel::{RecvTimeoutError, unbounded};
    ///
    /// let (sender, receiver) = unbounded::<i32>();
    /// let patience = Duration::from_millis(10);
    /// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Timeout));
    /// drop(sender);
    /// assert_eq!(receiver.recv_timeout(patience), Err(RecvTimeoutError::Disconnected));
    /// ```
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        // A timeout beyond the clock's range is none.
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// As [`recv`](Receiver::recv), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use tamtam_channel::{RecvTimeoutError, unbounded};
    ///
    /// let (_sender, receiver) = unbounded::<i32>();
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// assert_eq!(receiver.recv_deadline(deadline), Err(RecvTimeoutError::Timeout));
    /// ```
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    fn recv_until(&self, deadline: Option<Instant>) -> Result<T, RecvTimeoutError> {
        self.wait_to_receive(deadline)
            .map_err(|nothing| match nothing {
                Nothing::Closed => RecvTimeoutError::Disconnected,
                Nothing::Empty | Nothing::Busy => RecvTimeoutError::Timeout,
            })
    }

    #[inline(never)]
    pub(crate) fn wait_to_receive(&self, deadline: Option<Instant>) -> Result<T, Nothing> {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.wait_to_receive(self.wait, deadline),
            ReceiverFlavor::Unbounded(list) => list.wait_to_receive(self.wait, deadline),
            ReceiverFlavor::Rendezvous(rendezvous) => rendezvous.receive(self.wait, deadline),
            ReceiverFlavor::At(at) => at.receive(deadline).map(moment),
            ReceiverFlavor::Tick(tick) => tick.receive(deadline).map(moment),
            ReceiverFlavor::Never => {
                sleep_until(deadline);
                Err(Nothing::Empty)
            }
        }
    }

    /// Closes the channel for all senders, while both sides still exist: `true` if this call did it,
    /// `false` if it was closed before or if the other side is gone.
    ///
    /// From now on every send fails and gives its message back; senders that wait for room wake up
    /// with that error. What is in the channel can still be received; after that, receiving fails, too.
    /// A send that was under way already may still be accepted, and is then received.
    ///
    /// Timers ([`after`](crate::after), [`at`](crate::at), [`tick`](crate::tick)) and
    /// [`never`](crate::never) have no senders: closing them does nothing and returns `false`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{RecvError, SendError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// sender.send(1).unwrap();
    /// assert!(receiver.close());
    /// assert_eq!(sender.send(2), Err(SendError(2)));
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Err(RecvError));
    /// ```
    pub fn close(&self) -> bool {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.close(),
            ReceiverFlavor::Unbounded(list) => list.close(),
            ReceiverFlavor::Rendezvous(rendezvous) => rendezvous.close(),
            ReceiverFlavor::At(_) | ReceiverFlavor::Tick(_) | ReceiverFlavor::Never => false,
        }
    }

    /// Whether nothing more can be sent: the channel was [closed](Receiver::close), or all senders are
    /// gone. Messages may be left in it. Never for timers.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send(1).unwrap();
    /// assert!(!receiver.is_closed());
    /// drop(sender);
    /// assert!(receiver.is_closed());
    /// assert_eq!(receiver.recv(), Ok(1));
    /// ```
    pub fn is_closed(&self) -> bool {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.is_closed(),
            ReceiverFlavor::Unbounded(list) => list.is_closed(),
            ReceiverFlavor::Rendezvous(rendezvous) => rendezvous.is_closed(),
            ReceiverFlavor::At(_) | ReceiverFlavor::Tick(_) | ReceiverFlavor::Never => false,
        }
    }

    /// The most messages that the channel has held at once, so far.
    ///
    /// It is no work for the senders: receivers look now and then and with each batch, and this call looks at
    /// what is there now. So it may be too low, never too high: by at most 63 messages, or a sixteenth of the
    /// capacity where that is more, or 1,023 where that is less or where there is no bound (and by a few
    /// more where several receivers overtake each other). A channel that was
    /// [built](crate::Builder::exact_high_water) for it is exact; only where a message is sent in the very
    /// moment in which another one is received may it count them as one. Zero with capacity zero, and for timers.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::bounded(1_000);
    /// sender.send_many(0..500).unwrap();
    /// assert_eq!(receiver.try_iter().count(), 500);
    /// assert!((437..=500).contains(&receiver.high_water()));
    /// ```
    pub fn high_water(&self) -> usize {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.high_water(),
            ReceiverFlavor::Unbounded(list) => list.high_water(),
            _ => 0,
        }
    }

    /// How many messages this channel has dropped for want of room, ever; see
    /// [`Builder::overflow`](crate::Builder::overflow).
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{Builder, Overflow};
    ///
    /// let (sender, receiver) = Builder::new().capacity(1).overflow(Overflow::DropNewest).build();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// assert_eq!((receiver.recv(), receiver.dropped()), (Ok(1), 1));
    /// ```
    pub fn dropped(&self) -> u64 {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.dropped(),
            ReceiverFlavor::Rendezvous(rendezvous) => rendezvous.dropped(),
            _ => 0,
        }
    }

    /// Whether no message is there. With capacity zero: always.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// assert!(receiver.is_empty());
    /// sender.send(1).unwrap();
    /// assert!(!receiver.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.is_empty(),
            ReceiverFlavor::Unbounded(list) => list.is_empty(),
            ReceiverFlavor::Rendezvous(_) | ReceiverFlavor::Never => true,
            ReceiverFlavor::At(at) => at.is_empty(),
            ReceiverFlavor::Tick(tick) => tick.is_empty(),
        }
    }

    /// Whether the channel holds as many messages as it can. With capacity zero: always; without a
    /// bound: never.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::bounded(1);
    /// assert!(!receiver.is_full());
    /// sender.send(1).unwrap();
    /// assert!(receiver.is_full());
    /// ```
    pub fn is_full(&self) -> bool {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.is_full(),
            ReceiverFlavor::Unbounded(_) => false,
            ReceiverFlavor::Rendezvous(_) | ReceiverFlavor::Never => true,
            ReceiverFlavor::At(at) => !at.is_empty(),
            ReceiverFlavor::Tick(tick) => !tick.is_empty(),
        }
    }

    /// How many messages the channel holds, those counted that are just being sent: exact at some moment
    /// of this call.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// assert_eq!(receiver.len(), 0);
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => ring.len(),
            ReceiverFlavor::Unbounded(list) => list.len(),
            ReceiverFlavor::Rendezvous(_) | ReceiverFlavor::Never => 0,
            ReceiverFlavor::At(at) => usize::from(!at.is_empty()),
            ReceiverFlavor::Tick(tick) => usize::from(!tick.is_empty()),
        }
    }

    /// How many messages the channel can hold; `None` if there is no bound. One for timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{bounded, unbounded};
    ///
    /// assert_eq!(bounded::<i32>(5).1.capacity(), Some(5));
    /// assert_eq!(unbounded::<i32>().1.capacity(), None);
    /// ```
    pub fn capacity(&self) -> Option<usize> {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => Some(ring.capacity()),
            ReceiverFlavor::Unbounded(_) => None,
            ReceiverFlavor::Rendezvous(_) | ReceiverFlavor::Never => Some(0),
            ReceiverFlavor::At(_) | ReceiverFlavor::Tick(_) => Some(1),
        }
    }

    /// An iterator that waits for each message and ends when the channel is empty and no sender is
    /// left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// std::thread::spawn(move || (1..=3).for_each(|number| sender.send(number).unwrap()));
    /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// An iterator over the messages that are there; never waits.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(receiver.try_iter().next(), None);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }

    /// Whether both ends belong to the same channel.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::unbounded;
    ///
    /// let (_sender, one) = unbounded::<i32>();
    /// let (_sender, two) = unbounded::<i32>();
    /// assert!(one.same_channel(&one.clone()));
    /// assert!(!one.same_channel(&two));
    /// ```
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        match (&self.flavor, &other.flavor) {
            (ReceiverFlavor::Bounded(a), ReceiverFlavor::Bounded(b)) => Arc::ptr_eq(a, b),
            (ReceiverFlavor::Unbounded(a), ReceiverFlavor::Unbounded(b)) => Arc::ptr_eq(a, b),
            (ReceiverFlavor::Rendezvous(a), ReceiverFlavor::Rendezvous(b)) => Arc::ptr_eq(a, b),
            (ReceiverFlavor::At(a), ReceiverFlavor::At(b)) => Arc::ptr_eq(a, b),
            (ReceiverFlavor::Tick(a), ReceiverFlavor::Tick(b)) => Arc::ptr_eq(a, b),
            (ReceiverFlavor::Never, ReceiverFlavor::Never) => true,
            _ => false,
        }
    }

    /// Finishes an operation that was begun by this receiver's [`Source`].
    ///
    /// # Safety
    ///
    /// The token was filled by this channel's receiving source, and not used since.
    pub(crate) unsafe fn finish(&self, token: &mut Token) -> Result<T, RecvError> {
        if let ReceiverFlavor::Rendezvous(_) = &self.flavor {
            // SAFETY: this is what the rendezvous' receiving source puts into a token, and it
            // was begun by this thread.
            return match unsafe { token.take::<Exchange<T>>().take() }? {
                Some(message) => Ok(message),
                // The sender dropped its selected operation, which is an error of that program;
                // the next sender's message is as good.
                None => self.recv(),
            };
        }
        // SAFETY: the token was filled by this channel's source, as the caller promises, and it is no rendezvous.
        unsafe { self.finish_at_once(token) }
    }

    /// As [`finish`](Receiver::finish), for channels that are no rendezvous: it never waits, so tasks may call it
    /// where nothing can block.
    ///
    /// # Safety
    ///
    /// As for [`finish`](Receiver::finish).
    pub(crate) unsafe fn finish_at_once(&self, token: &mut Token) -> Result<T, RecvError> {
        match &self.flavor {
            ReceiverFlavor::Bounded(_) | ReceiverFlavor::Unbounded(_) => {
                // SAFETY: this is what their receiving sources put into a token.
                unsafe { token.take::<Option<T>>() }.ok_or(RecvError)
            }
            ReceiverFlavor::At(_) | ReceiverFlavor::Tick(_) => {
                // SAFETY: this is what the timers put into a token.
                Ok(moment(unsafe { token.take::<Instant>() }))
            }
            ReceiverFlavor::Rendezvous(_) => unreachable!("a rendezvous has a token of its own"),
            ReceiverFlavor::Never => unreachable!("an operation that is never ready has begun"),
        }
    }

    fn source<R>(&self, use_source: impl FnOnce(&dyn Source) -> R) -> R {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => use_source(&ring.receiving()),
            ReceiverFlavor::Unbounded(list) => use_source(&list.receiving()),
            ReceiverFlavor::Rendezvous(rendezvous) => use_source(&rendezvous.receiving()),
            ReceiverFlavor::At(at) => use_source(&**at),
            ReceiverFlavor::Tick(tick) => use_source(&**tick),
            ReceiverFlavor::Never => use_source(&Never),
        }
    }
}

/// Attempts until no other thread is in the middle of a step that decides the result.
#[inline]
pub(crate) fn settle<T>(
    mut attempt: impl FnMut() -> Result<T, Nothing>,
) -> Result<T, TryRecvError> {
    let mut backoff = Backoff::new();
    loop {
        return match attempt() {
            Ok(message) => Ok(message),
            Err(Nothing::Empty) => Err(TryRecvError::Empty),
            Err(Nothing::Closed) => Err(TryRecvError::Disconnected),
            Err(Nothing::Busy) => {
                backoff.pause();
                continue;
            }
        };
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        let flavor = match &self.flavor {
            ReceiverFlavor::Bounded(ring) => {
                ring.add_receiver();
                ReceiverFlavor::Bounded(Arc::clone(ring))
            }
            ReceiverFlavor::Unbounded(list) => {
                list.add_receiver();
                ReceiverFlavor::Unbounded(Arc::clone(list))
            }
            ReceiverFlavor::Rendezvous(rendezvous) => {
                rendezvous.add_receiver();
                ReceiverFlavor::Rendezvous(Arc::clone(rendezvous))
            }
            ReceiverFlavor::At(at) => ReceiverFlavor::At(Arc::clone(at)),
            ReceiverFlavor::Tick(tick) => ReceiverFlavor::Tick(Arc::clone(tick)),
            ReceiverFlavor::Never => ReceiverFlavor::Never,
        };
        Receiver {
            flavor,
            wait: self.wait,
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => {
                if ring.remove_receiver() {
                    ring.close();
                    ring.discard();
                }
            }
            ReceiverFlavor::Unbounded(list) => {
                if list.remove_receiver() {
                    list.close();
                    list.discard();
                }
            }
            ReceiverFlavor::Rendezvous(rendezvous) => {
                if rendezvous.remove_receiver() {
                    rendezvous.close();
                    rendezvous.discard();
                }
            }
            ReceiverFlavor::At(_) | ReceiverFlavor::Tick(_) | ReceiverFlavor::Never => {}
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

impl<T> crate::iter::sealed::Sealed for Receiver<T> {}

impl<T> IteratedEnd for Receiver<T> {
    type Item = T;

    #[inline]
    fn next_awaited(&self) -> Option<T> {
        self.recv().ok()
    }

    #[inline]
    fn next_there(&self) -> Option<T> {
        self.try_recv().ok()
    }
}

/// Waits for each message and ends when the channel is empty and no sender is left; made by
/// [`Receiver::iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender); // or the loop would wait for more
/// let mut sum = 0;
/// for message in &receiver {
///     sum += message;
/// }
/// assert_eq!(sum, 3);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub type Iter<'a, T> = WaitingIter<'a, Receiver<T>>;

/// Ends when no message is there; made by [`Receiver::try_iter`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// sender.send(1)?;
/// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]); // and does not wait
/// # drop(sender);
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub type TryIter<'a, T> = TryingIter<'a, Receiver<T>>;

/// Brings no more than was there when it was made; made by [`Receiver::drain`].
///
/// # Examples
///
/// ```
/// use tamtam_channel::unbounded;
///
/// let (sender, receiver) = unbounded();
/// sender.send(1)?;
/// let mut handled = 0;
/// for message in receiver.drain() {
///     sender.send(message + 1)?; // not in this round: the loop ends
///     handled += 1;
/// }
/// assert_eq!((handled, receiver.len()), (1, 1));
/// # Ok::<(), tamtam_channel::SendError<i32>>(())
/// ```
pub type Drain<'a, T> = DrainingIter<'a, Receiver<T>>;

/// As [`Iter`], and owns the receiver; made by [`Receiver::into_iter`].
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::bounded;
///
/// let (sender, receiver) = bounded(2);
/// let summing = thread::spawn(move || receiver.into_iter().sum::<u32>());
/// sender.send(1)?;
/// sender.send(2)?;
/// drop(sender);
/// assert_eq!(summing.join().unwrap(), 3);
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
pub type IntoIter<T> = OwningIter<Receiver<T>>;

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}

impl<T> Source for Receiver<T> {
    fn try_begin(&self, token: &mut Token) -> bool {
        self.source(|source| source.try_begin(token))
    }

    fn try_begin_lightly(&self, token: &mut Token) -> bool {
        self.source(|source| source.try_begin_lightly(token))
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

    fn deadline(&self) -> Option<Instant> {
        self.source(|source| source.deadline())
    }
}
