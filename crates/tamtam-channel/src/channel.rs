//! The constructors of channels: [`unbounded`], [`bounded`], and the ways in which a full one makes room.

use std::time::{Duration, Instant};

use tamtam_wait::seam::Arc;

use crate::builder::Builder;
use crate::flavor::at::At;
use crate::flavor::tick::{Tick, far_future};
use crate::receiver::{Receiver, ReceiverFlavor};
use crate::sender::Sender;

/// A channel that holds any number of messages.
///
/// Sending never waits. Memory is taken in blocks of 2 KiB (more for large messages) as messages pile up
/// and given back as they are received. An empty channel is 640 bytes on a 64-bit system; one that was
/// used keeps one block and up to 8 KiB of spare ones.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = tamtam_channel::unbounded();
/// std::thread::spawn(move || {
///     for number in 1..=3 {
///         sender.send(number).unwrap();
///     }
/// });
/// assert_eq!(receiver.iter().sum::<i32>(), 6);
/// ```
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    Builder::new().build()
}

/// A channel that holds at most `capacity` messages.
///
/// A sender that finds it full waits. With capacity zero the channel holds nothing at all: a sender
/// waits until a receiver takes the message from its hands, and the other way round. A task that waits in
/// [`recv_async`](Receiver::recv_async) is a receiver, too.
///
/// The memory for all messages is taken at once: 768 bytes and, for each message, its size and 8 bytes,
/// on a 64-bit system; 192 bytes with capacity zero.
///
/// # Panics
///
/// If the memory for `capacity` messages cannot be had.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{TrySendError, bounded};
///
/// let (sender, receiver) = bounded(1);
/// sender.send("first")?;
/// assert_eq!(sender.try_send("second"), Err(TrySendError::Full("second")));
/// assert_eq!(receiver.recv()?, "first");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
///
/// Capacity zero:
///
/// ```
/// let (sender, receiver) = tamtam_channel::bounded(0);
/// let giver = std::thread::spawn(move || sender.send("from hand to hand"));
/// assert_eq!(receiver.recv(), Ok("from hand to hand"));
/// assert_eq!(giver.join().unwrap(), Ok(()));
/// ```
#[must_use]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Builder::new().capacity(capacity).build()
}

/// A receiver that gets one message after `duration`: the moment at which that was.
///
/// The message is delivered once, to one of the receiver's clones; after that there is never another
/// one, and the channel never disconnects. No thread runs for it: the waiting receiver sleeps that
/// long. A duration beyond the clock's range never ends.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{after, select, unbounded};
///
/// let (_sender, receiver) = unbounded::<i32>();
/// let timeout = after(Duration::from_millis(10));
/// select! {
///     recv(receiver) -> _ => unreachable!("nothing is sent"),
///     recv(timeout) -> moment => assert!(moment.is_ok()),
/// }
/// ```
#[must_use]
pub fn after(duration: Duration) -> Receiver<Instant> {
    match Instant::now().checked_add(duration) {
        Some(moment) => at(moment),
        None => never(),
    }
}

/// A receiver that gets one message at `moment`: that moment.
///
/// Otherwise as [`after`].
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
///
/// let moment = Instant::now() + Duration::from_millis(10);
/// assert_eq!(tamtam_channel::at(moment).recv(), Ok(moment));
/// assert!(Instant::now() >= moment);
/// ```
#[must_use]
pub fn at(moment: Instant) -> Receiver<Instant> {
    Receiver::new(ReceiverFlavor::At(Arc::new(At::new(moment))))
}

/// A receiver that never gets a message and never disconnects.
///
/// Useful in a select whose other end is optional.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{RecvTimeoutError, never};
///
/// let receiver = never::<i32>();
/// assert_eq!(
///     receiver.recv_timeout(Duration::from_millis(10)),
///     Err(RecvTimeoutError::Timeout)
/// );
/// ```
#[must_use]
pub const fn never<T>() -> Receiver<T> {
    Receiver::new(ReceiverFlavor::Never)
}

/// A receiver that gets a message every `period`: the moment at which it was due.
///
/// At most one message waits: ticks that are not received do not pile up. The channel never
/// disconnects. No thread runs for it.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
///
/// let start = Instant::now();
/// let ticker = tamtam_channel::tick(Duration::from_millis(5));
/// ticker.recv().unwrap();
/// ticker.recv().unwrap();
/// assert!(start.elapsed() >= Duration::from_millis(10));
/// ```
#[must_use]
pub fn tick(period: Duration) -> Receiver<Instant> {
    let now = Instant::now();
    let first = now.checked_add(period).unwrap_or_else(|| far_future(now));
    Receiver::new(ReceiverFlavor::Tick(Arc::new(Tick::new(first, period))))
}
