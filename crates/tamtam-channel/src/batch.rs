//! Many messages at a time: what `Sender` and `Receiver` do with them.

use core::mem::{MaybeUninit, size_of};
use std::time::{Duration, Instant};

use crate::error::{RecvError, RecvTimeoutError, SendError, SendManyError, TryRecvError};
use crate::flavor::queue::{Queue, Taken};
use crate::flavor::{Nothing, Refusal};
use crate::receiver::Drain;
use crate::receiver::{ReceiverFlavor, settle};
use crate::sender::SenderFlavor;
use crate::{Receiver, Sender};

/// A receiver reserves memory for no more messages than this at a time, and so takes no more at once.
const MOST_AT_ONCE: usize = 256;

impl<T> Sender<T> {
    /// Sends many messages, after waiting for room as often as it takes; returns how many that were.
    ///
    /// Up to 32 messages (fewer if they are large) are taken out of the iterator at a time, and sent
    /// together before it is asked for more: as many as there is room for with a single claim. So
    /// sending them costs a fraction of sending each one. An iterator that itself waits for something holds
    /// back those before; send what it brings one by one.
    ///
    /// With capacity zero each message is handed over by itself. On a channel that
    /// [drops](crate::Builder::overflow) messages, those that were dropped count as sent, too.
    ///
    /// # Ordering
    ///
    /// The messages stay in order. Those of other senders may come in between.
    ///
    /// # Blocking
    ///
    /// While the channel is full; with capacity zero, until receivers have taken all messages.
    ///
    /// # Panics
    ///
    /// If the iterator panics. What was taken out of it before and not sent yet is dropped.
    ///
    /// # Errors
    ///
    /// [`SendManyError`] if all receivers are gone or the channel is closed, also if that happens while
    /// it waits. It says how many messages were sent, and gives back those that were taken out of the
    /// iterator and not sent. The others are still in the iterator: lend it with
    /// [`by_ref`](Iterator::by_ref) to keep them.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::bounded;
    ///
    /// let (sender, receiver) = bounded(100);
    /// assert_eq!(sender.send_many(0..5), Ok(5));
    /// drop(receiver);
    /// let error = sender.send_many(["a", "b"].map(str::len)).unwrap_err();
    /// assert_eq!((error.sent, error.unsent), (0, vec![1, 1]));
    /// ```
    pub fn send_many(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendManyError<T>> {
        let messages = messages.into_iter();
        // The portions are on the stack.
        match size_of::<T>() {
            _ if cfg!(tamtam_loom) => self.send_portions::<2>(messages),
            0..=128 => self.send_portions::<32>(messages),
            129..=1024 => self.send_portions::<8>(messages),
            _ => self.send_portions::<1>(messages),
        }
    }

    fn send_portions<const N: usize>(
        &self,
        mut messages: impl Iterator<Item = T>,
    ) -> Result<usize, SendManyError<T>> {
        let mut portion = Portion::<T, N>::new();
        let mut sent = 0;
        loop {
            let ended = portion.fill(&mut messages);
            while portion.len() > 0 {
                match self.send_some(&mut portion) {
                    Ok(count) => sent += count,
                    Err(Closed) => {
                        let unsent = portion.into_rest();
                        return Err(SendManyError { sent, unsent });
                    }
                }
            }
            if ended {
                return Ok(sent);
            }
        }
    }

    /// Sends at least one message of those that are there.
    fn send_some<const N: usize>(&self, portion: &mut Portion<T, N>) -> Result<usize, Closed> {
        let wanted = portion.len();
        match &self.flavor {
            SenderFlavor::Bounded(ring) => {
                let claims = match ring.claim_many(wanted) {
                    Ok(claims) => claims,
                    Err(Refusal::Full) if ring.drops() => {
                        let sent = ring.send_to_full(portion.take());
                        return portion.settle(sent);
                    }
                    Err(Refusal::Full) => {
                        let message = || portion.take();
                        let sent = ring.wait_to_send_many(wanted, self.wait, None, message);
                        return sent.map_err(|_| Closed);
                    }
                    Err(Refusal::Closed) => return Err(Closed),
                };
                let count = claims.count();
                ring.write_many(claims, || portion.take());
                Ok(count)
            }
            SenderFlavor::Unbounded(list) => {
                let claims = list.claim_many(wanted).ok_or(Closed)?;
                let count = claims.count();
                list.write_many(claims, || portion.take());
                Ok(count)
            }
            SenderFlavor::Rendezvous(_) => {
                let sent = self.send_reporting(portion.take());
                portion.settle(sent.map_err(SendError::into_inner))
            }
        }
    }
}

/// Nothing more can be sent.
struct Closed;

/// Messages on the stack, on their way from an iterator into a channel.
struct Portion<T, const N: usize> {
    places: [MaybeUninit<T>; N],
    /// The messages are in the places from here...
    first: usize,
    /// ...up to here.
    end: usize,
}

impl<T, const N: usize> Portion<T, N> {
    fn new() -> Self {
        Portion {
            places: [const { MaybeUninit::uninit() }; N],
            first: 0,
            end: 0,
        }
    }

    fn len(&self) -> usize {
        self.end - self.first
    }

    /// Fills all places; `true` if the iterator ended before. There must be no messages inside.
    fn fill(&mut self, messages: &mut impl Iterator<Item = T>) -> bool {
        debug_assert!(self.len() == 0);
        self.first = 0;
        self.end = 0;
        while self.end < N {
            let Some(message) = messages.next() else {
                return true;
            };
            self.places[self.end].write(message);
            self.end += 1;
        }
        false
    }

    /// Takes the oldest message.
    ///
    /// # Panics
    ///
    /// If there is none.
    fn take(&mut self) -> T {
        assert!(self.first < self.end, "no more messages than were claimed");
        let place = &self.places[self.first];
        self.first += 1;
        // SAFETY: `fill` wrote the places below `end`, and this one was not taken before.
        unsafe { place.assume_init_read() }
    }

    /// What became of the message that was just taken: it was sent, perhaps in place of another one,
    /// or it comes back.
    fn settle(&mut self, sent: Result<Option<T>, T>) -> Result<usize, Closed> {
        match sent {
            Ok(displaced) => {
                drop(displaced);
                Ok(1)
            }
            Err(message) => {
                self.first -= 1;
                self.places[self.first].write(message);
                Err(Closed)
            }
        }
    }

    fn into_rest(mut self) -> Vec<T> {
        (0..self.len()).map(|_| self.take()).collect()
    }
}

impl<T, const N: usize> Drop for Portion<T, N> {
    fn drop(&mut self) {
        while self.len() > 0 {
            // Counted before it is dropped, so that a panic does not make us drop it twice.
            drop(self.take());
        }
    }
}

impl<T> Receiver<T> {
    /// Receives messages, after waiting for the first one: all that are there then, at most `limit`.
    /// They are put behind what is in `buffer`; returns how many they are.
    ///
    /// Receiving them together costs a fraction of receiving each one: up to 256 are taken at a time.
    /// With capacity zero messages are taken one by one, as long as senders wait.
    ///
    /// With `limit` zero it returns `Ok(0)` at once, whatever the state of the channel.
    ///
    /// # Ordering
    ///
    /// As with [`recv`](Receiver::recv). Other receivers may get messages in between.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Panics
    ///
    /// If the buffer cannot grow; then no message is lost.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty, and no sender is left or it is closed, also if that
    /// happens while it waits.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send_many(0..5).unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut buffer, 3), Ok(3));
    /// assert_eq!(receiver.recv_many(&mut buffer, 100), Ok(2));
    /// assert_eq!(buffer, [0, 1, 2, 3, 4]);
    /// ```
    pub fn recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        self.wait_to_receive_many(buffer, limit, None)
            .map_err(|_| RecvError)
    }

    /// As [`recv_many`](Receiver::recv_many), but never waits for a sender.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] if no message is there; [`TryRecvError::Disconnected`] if moreover no
    /// sender is left or the channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TryRecvError, bounded};
    ///
    /// let (sender, receiver) = bounded(10);
    /// let mut buffer = Vec::with_capacity(10);
    /// assert_eq!(receiver.try_recv_many(&mut buffer, 10), Err(TryRecvError::Empty));
    /// sender.send_many(["one", "two"]).unwrap();
    /// assert_eq!(receiver.try_recv_many(&mut buffer, 10), Ok(2));
    /// assert_eq!(buffer, ["one", "two"]);
    /// ```
    pub fn try_recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        if limit == 0 {
            return Ok(0);
        }
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => {
                settle(|| take_many(&***ring, buffer, limit, |_| Err(Nothing::Busy)))
            }
            ReceiverFlavor::Unbounded(list) => {
                settle(|| take_many(&***list, buffer, limit, |_| Err(Nothing::Busy)))
            }
            _ => {
                buffer.reserve(1);
                let first = self.try_recv()?;
                Ok(self.take_singly(first, buffer, limit))
            }
        }
    }

    /// As [`recv_many`](Receiver::recv_many), but waits for the first message at most `timeout`.
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
    /// let (_sender, receiver) = unbounded::<i32>();
    /// assert_eq!(
    ///     receiver.recv_timeout_many(&mut Vec::new(), 10, Duration::from_millis(10)),
    ///     Err(RecvTimeoutError::Timeout)
    /// );
    /// ```
    pub fn recv_timeout_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        // A timeout beyond the clock's range is none.
        self.wait_to_receive_many(buffer, limit, Instant::now().checked_add(timeout))
            .map_err(timed_out)
    }

    /// As [`recv_many`](Receiver::recv_many), but waits for the first message until `deadline` at the
    /// latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let (sender, receiver) = tamtam_channel::bounded(8);
    /// let deadline = Instant::now() + Duration::from_millis(10);
    /// sender.send("in time").unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(receiver.recv_deadline_many(&mut buffer, 10, deadline), Ok(1));
    /// ```
    pub fn recv_deadline_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        deadline: Instant,
    ) -> Result<usize, RecvTimeoutError> {
        self.wait_to_receive_many(buffer, limit, Some(deadline))
            .map_err(timed_out)
    }

    /// An iterator over the messages that are there now; never waits for a sender.
    ///
    /// It ends when it has brought as many messages as there were at this call, however many come
    /// meanwhile, or when the channel is empty before. It takes a message when it is asked for it and not
    /// earlier: dropped before its end, it leaves the others in the channel. To take them together, which
    /// costs less, use [`try_recv_many`](Receiver::try_recv_many).
    ///
    /// With capacity zero it takes from as many senders as wait at this call.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::unbounded();
    /// sender.send_many([1, 2, 3]).unwrap();
    /// for number in receiver.drain() {
    ///     sender.send(10 * number).unwrap(); // is not brought by this loop
    /// }
    /// assert_eq!(receiver.drain().take(2).collect::<Vec<_>>(), [10, 20]);
    /// assert_eq!(receiver.recv(), Ok(30));
    /// ```
    pub fn drain(&self) -> Drain<'_, T> {
        let left = match &self.flavor {
            ReceiverFlavor::Rendezvous(rendezvous) => rendezvous.waiting_messages(),
            _ => self.len(),
        };
        Drain {
            receiver: self,
            left,
        }
    }

    fn wait_to_receive_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        deadline: Option<Instant>,
    ) -> Result<usize, Nothing> {
        if limit == 0 {
            return Ok(0);
        }
        match &self.flavor {
            ReceiverFlavor::Bounded(ring) => take_many(&***ring, buffer, limit, |attempt| {
                ring.wait_for_mail(self.wait, deadline, attempt)
            }),
            ReceiverFlavor::Unbounded(list) => take_many(&***list, buffer, limit, |attempt| {
                list.wait_for_mail(self.wait, deadline, attempt)
            }),
            _ => {
                // Before a message is taken, which would be lost if this fails.
                buffer.reserve(1);
                let first = self.wait_to_receive(deadline)?;
                Ok(self.take_singly(first, buffer, limit))
            }
        }
    }

    /// Puts the first message into the buffer, which has room for it, and then what else is there.
    fn take_singly(&self, first: T, buffer: &mut Vec<T>, limit: usize) -> usize {
        buffer.push(first);
        let mut taken = 1;
        while taken < limit {
            buffer.reserve(1);
            let Ok(message) = self.try_recv() else { break };
            buffer.push(message);
            taken += 1;
        }
        taken
    }
}

fn timed_out(nothing: Nothing) -> RecvTimeoutError {
    match nothing {
        Nothing::Closed => RecvTimeoutError::Disconnected,
        Nothing::Empty | Nothing::Busy => RecvTimeoutError::Timeout,
    }
}

/// Takes what is there, at most `limit`; if the first attempt brings nothing, `wait` repeats it as
/// long as it sees fit.
fn take_many<Q: Queue>(
    queue: &Q,
    buffer: &mut Vec<Q::Message>,
    limit: usize,
    wait: impl FnOnce(&mut dyn FnMut() -> Result<Taken, Nothing>) -> Result<Taken, Nothing>,
) -> Result<usize, Nothing> {
    let room = make_room(queue, buffer, limit);
    let first = match queue.receive_many(buffer, room) {
        Ok(first) => first,
        Err(_) => {
            let waited = wait(&mut || queue.receive_many(buffer, room));
            waited.map_err(|nothing| match nothing {
                Nothing::Busy => queue.why_nothing(),
                known => known,
            })?
        }
    };
    let mut taken = first.count;
    // How many there are is in the senders' cache line: not a look without need.
    if first.may_have_more && taken < limit && !queue.is_empty() {
        // What is there now and no more, or a fast sender would keep us here for ever.
        let limit = limit.min(taken + queue.len());
        while taken < limit {
            let room = make_room(queue, buffer, limit - taken);
            match queue.receive_many(buffer, room) {
                Ok(portion) => taken += portion.count,
                Err(_) => break,
            }
        }
    }
    Ok(taken)
}

/// Makes room for the next messages: as many as are there, if the buffer has not got more room by
/// itself. No lock is held, so it may take time or fail.
fn make_room<Q: Queue>(queue: &Q, buffer: &mut Vec<Q::Message>, limit: usize) -> usize {
    let most = limit.min(MOST_AT_ONCE);
    let has = buffer.capacity() - buffer.len();
    if has >= most {
        return most;
    }
    buffer.reserve(queue.len().clamp(1, most));
    most.min(buffer.capacity() - buffer.len())
}
