//! The receiver of lanes: it takes from all of them in turn, and sleeps on one bell.

use core::cell::{Cell, RefCell};
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use std::time::{Duration, Instant};

use tamtam_wait::seam::{Arc, ORIGIN};
use tamtam_wait::{Context, Operation, Source, Token, Wait, WaitList};

use super::UNATTENDED;
use super::line::{Line, UNUSED_KEPT};
use super::queue::{Cursor, Lane};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError};
use crate::flavor::Nothing;
use crate::flavor::pace::{Pace, interval_for};

/// So many messages of one sender are received before another sender's turn comes.
const MESSAGES_A_TURN: usize = if cfg!(tamtam_loom) { 1 } else { 256 };

/// The receiving end of an [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc) channel.
///
/// It may be moved to another thread, but not shared by several and not cloned.
///
/// Dropping it drops the messages that are still there; what is sent later comes back as an error.
///
/// # Ordering
///
/// The messages of one sender are received in the order sent; between two senders there is no order. Of
/// several senders that are all at work none has to wait for more than 256 messages of each other one.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::mpsc;
///
/// let (sender, receiver) = mpsc::bounded(16);
/// let other = sender.clone();
/// let workers = [
///     thread::spawn(move || sender.send("one").unwrap()),
///     thread::spawn(move || other.send("two").unwrap()),
/// ];
/// let mut both = [receiver.recv()?, receiver.recv()?];
/// both.sort();
/// assert_eq!(both, ["one", "two"]);
/// // Both senders are gone.
/// assert!(receiver.recv().is_err());
/// for worker in workers {
///     worker.join().unwrap();
/// }
/// # Ok::<(), tamtam_channel::RecvError>(())
/// ```
pub struct Receiver<T> {
    /// The lane that `head` stands in; null if there is none.
    lane: Cell<*const Lane<T>>,
    head: Cursor<T>,
    /// There is one lane, as of this version of the line.
    alone: Cell<bool>,
    version: Cell<usize>,
    /// This end was closed: senders may take messages back.
    closed: Cell<bool>,
    line: Arc<Line<T>>,
    seats: RefCell<Seats<T>>,
    /// Messages received before `head` came where it began its turn; wraps.
    received_before: Cell<usize>,
    began_turn: Cell<usize>,
    /// As many messages had been received when senders were asked for attention last.
    waited: Cell<usize>,
    pace: Pace,
    wait: Wait,
}

struct Seats<T> {
    lanes: Vec<(Arc<Lane<T>>, Cursor<T>)>,
    /// Whose cursor `head` is; that one's own is out of use meanwhile.
    current: usize,
    /// How many lanes there were when those of senders that are gone were given up last.
    kept: usize,
}

// SAFETY: one thread at a time has the receiver, since it cannot be shared, and with it this side of the
// lanes; the lane that it points to is one of those that it owns.
unsafe impl<T: Send> Send for Receiver<T> {}

// No user code runs while the receiver is half changed.
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}

impl<T> Receiver<T> {
    pub(super) fn new(line: Arc<Line<T>>, lane: Arc<Lane<T>>) -> Self {
        Receiver {
            lane: Cell::new(Arc::as_ptr(&lane)),
            head: Cursor::default(),
            alone: Cell::new(true),
            version: Cell::new(line.version()),
            closed: Cell::new(false),
            seats: RefCell::new(Seats {
                lanes: vec![(lane, Cursor::default())],
                current: 0,
                kept: 1,
            }),
            pace: Pace::new(interval_for(0)).holding::<T>(line.capacity),
            line,
            received_before: Cell::new(ORIGIN),
            began_turn: Cell::new(ORIGIN),
            waited: Cell::new(ORIGIN),
            wait: Wait::Adaptive,
        }
    }

    /// The same end, waiting in another way while the channel is empty.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    // ------------------------------------------------------------------- taking without waiting

    /// Takes the next message, or tells why there is none.
    #[inline(always)]
    pub(super) fn take(&self) -> Result<T, Nothing> {
        self.take_as(Ok, Err)
    }

    /// As [`take`](Receiver::take), with what is made of the message where that is taken out: a large one is copied once.
    #[inline(always)]
    pub(super) fn take_as<R>(
        &self,
        received: impl FnOnce(T) -> R,
        otherwise: impl FnOnce(Nothing) -> R,
    ) -> R {
        if self.head.is_at_limit() {
            if self.closed.get() {
                return match self.take_closed() {
                    Ok(message) => received(message),
                    Err(nothing) => otherwise(nothing),
                };
            }
            let looked = self
                .look_here()
                .unwrap_or_else(|| self.find(MESSAGES_A_TURN));
            if let Err(nothing) = looked {
                return otherwise(nothing);
            }
        }
        // SAFETY: `head` stands in a lane of ours, since there is something ahead of it.
        let lane = unsafe { &*self.lane.get() };
        // SAFETY: there is something ahead of `head` in this lane, and this end is not closed: only then could the sender
        // take messages back.
        let message = unsafe { lane.take(&self.head, received) };
        lane.tell_of_room();
        message
    }

    /// Where there is one lane, and nothing else to be seen to, looks into it without further ado.
    #[inline(always)]
    fn look_here(&self) -> Option<Result<(), Nothing>> {
        if !self.alone.get()
            || self.head.count().wrapping_sub(self.began_turn.get()) >= MESSAGES_A_TURN
            || self.line.version() != self.version.get()
            || !self.line.has_senders()
        {
            return None;
        }
        // SAFETY: `head` stands in a lane of ours if there is one only.
        let found = unsafe { &*self.lane.get() }.look(&self.head, MESSAGES_A_TURN);
        Some(if found { Ok(()) } else { Err(Nothing::Empty) })
    }

    /// Takes the next message after this end was closed.
    #[cold]
    fn take_closed(&self) -> Result<T, Nothing> {
        let closing = self.line.closing.lock();
        self.find(1)?;
        // SAFETY: `find` has set `head` into a lane of this receiver with something ahead; and the lock keeps the sender
        // from taking it back.
        let message = unsafe { (*self.lane.get()).take(&self.head, |message| message) };
        drop(closing);
        Ok(message)
    }

    /// Finds a lane with messages: the next one first, so that every sender gets its turn. At most `most`
    /// messages are ahead then.
    #[inline(never)]
    fn find(&self, most: usize) -> Result<(), Nothing> {
        // Before looking: what senders have sent before they went must be found.
        let ended = !self.line.has_senders();
        if self.line.version() != self.version.get() {
            self.seat_opened();
        }
        let mut seats = self.seats.borrow_mut();
        let received = self.received();
        self.received_before.set(received);
        let Seats { lanes, current, .. } = &mut *seats;
        let count = lanes.len();
        self.alone.set(count == 1);
        let mut place = *current;
        for _ in 0..count {
            place += 1;
            if place >= count {
                place = 0;
            }
            let (lane, cursor) = &lanes[place];
            if place == *current {
                if lane.look(&self.head, most) {
                    break;
                }
            } else if lane.look(cursor, most) {
                // Each cursor to its lane.
                if let Some((_, own)) = lanes.get(*current) {
                    own.swap(&self.head);
                }
                cursor.swap(&self.head);
                self.lane.set(Arc::as_ptr(lane));
                *current = place;
                break;
            }
        }
        self.began_turn.set(self.head.count());
        if !self.head.is_at_limit() {
            // One thread may wait while another one receives: where a select was lent to another thread.
            if received.wrapping_sub(self.waited.get()) > UNATTENDED
                && self.line.receivers.is_empty()
            {
                self.line.attention.want_none();
            }
            return Ok(());
        }
        if lanes.iter().any(|(lane, _)| lane.is_finished()) {
            let removed = self.remove_finished(&mut seats);
            drop(seats);
            drop(removed);
        }
        Err(if ended || self.closed.get() {
            Nothing::Closed
        } else {
            Nothing::Empty
        })
    }

    /// Gives seats to the lanes that were opened since this was done last.
    #[cold]
    fn seat_opened(&self) {
        let mut seats = self.seats.borrow_mut();
        let (opened, version) = self.line.take_opened();
        self.version.set(version);
        let (over, opened): (Vec<_>, Vec<_>) = if self.closed.get() {
            (Vec::new(), opened)
        } else {
            opened.into_iter().partition(|lane| lane.is_over())
        };
        let opened = opened.into_iter().map(|lane| (lane, Cursor::default()));
        seats.lanes.extend(opened);
        let removed = if seats.lanes.len() > UNUSED_KEPT + 2 * seats.kept {
            // A receiver that always finds a message never comes to do this in `find`.
            self.remove_finished(&mut seats)
        } else {
            Vec::new()
        };
        if let (true, Some((first, _))) = (self.lane.get().is_null(), seats.lanes.first()) {
            // All the others were gone: `head` is as good as its own cursor.
            self.lane.set(Arc::as_ptr(first));
        }
        self.alone.set(seats.lanes.len() == 1);
        drop(seats);
        drop((over, removed));
    }

    /// Gives up the lanes of senders that are gone and whose messages have all been received.
    ///
    /// They are for the caller to drop, once it holds nothing of this receiver any more and has changed none of it by halves: with a lane goes the
    /// waker that its sender has left there, which is user code. After this end was closed none is given up: then its messages are taken under a
    /// lock.
    #[cold]
    #[must_use = "what is dropped here runs user code"]
    fn remove_finished(&self, seats: &mut Seats<T>) -> Vec<Arc<Lane<T>>> {
        if self.closed.get() {
            return Vec::new();
        }
        let received = self.received();
        if let Some((_, cursor)) = seats.lanes.get(seats.current) {
            cursor.swap(&self.head);
        }
        // In this order: a sender sends nothing after it has finished.
        let removed = seats
            .lanes
            .extract_if(.., |(lane, cursor)| {
                lane.is_finished() && !lane.has_mail(cursor)
            })
            .map(|(lane, cursor)| {
                lane.leave(&cursor, false);
                lane
            })
            .collect();
        seats.current = 0;
        seats.kept = seats.lanes.len();
        self.alone.set(seats.lanes.len() == 1);
        match seats.lanes.first() {
            Some((lane, cursor)) => {
                cursor.swap(&self.head);
                self.lane.set(Arc::as_ptr(lane));
            }
            None => {
                self.head.swap(&Cursor::default());
                self.lane.set(ptr::null());
            }
        }
        self.received_before.set(received);
        self.began_turn.set(self.head.count());
        removed
    }

    /// How many messages were received since [`ORIGIN`]; wraps.
    fn received(&self) -> usize {
        let turn = self.head.count().wrapping_sub(self.began_turn.get());
        self.received_before.get().wrapping_add(turn)
    }

    /// Takes messages that are there to the end of the buffer, at most `limit`. How many.
    pub(super) fn take_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, Nothing> {
        // Senders may be faster than we are: what comes during the call is left for the next one.
        let limit = limit.min(self.len().max(1));
        let mut taken = 0;
        while taken < limit {
            let found = if self.closed.get() {
                self.take_closed().map(|message| buffer.push(message))
            } else if self.head.is_at_limit() {
                // Another sender's turn comes in the middle of a batch, too.
                self.find(MESSAGES_A_TURN.min(limit - taken))
            } else {
                Ok(())
            };
            match found {
                Err(_) if taken > 0 => break,
                Err(nothing) => return Err(nothing),
                Ok(()) if self.closed.get() => {
                    taken += 1;
                    continue;
                }
                Ok(()) => {}
            }
            buffer.reserve(self.head.ahead().min(limit - taken));
            // SAFETY: `head` stands in a lane of this receiver, since there is something ahead of it.
            let lane = unsafe { &*self.lane.get() };
            // SAFETY: there is something ahead of `head` in this lane, this end is not closed, and `limit` is larger than
            // `taken`.
            taken += unsafe { lane.take_many(&self.head, buffer, limit - taken) };
            lane.tell_of_room();
        }
        Ok(taken)
    }

    // ---------------------------------------------------------------------------------- waiting

    #[inline(never)]
    fn wait_to_take<R>(
        &self,
        deadline: Option<Instant>,
        mut take: impl FnMut() -> Result<R, Nothing>,
    ) -> Result<R, Nothing> {
        let rest = self.pace.rest_after(self.received());
        self.line
            .receivers
            .wait_resting_until(
                rest,
                self.wait,
                deadline,
                |_| match take() {
                    Err(Nothing::Empty | Nothing::Busy) => None,
                    decided => Some(decided),
                },
                || self.looks_ready(),
            )
            .unwrap_or(Err(Nothing::Empty))
    }

    /// The second look of a receiver that has registered.
    fn looks_ready(&self) -> bool {
        self.line.attention.want();
        self.waited.set(self.received());
        if self.line.version_once_registered() != self.version.get()
            || !self.line.has_senders()
            || self.closed.get()
        {
            return true;
        }
        if self.alone.get() {
            // SAFETY: `head` stands in a lane of ours if there is one only.
            return unsafe { &*self.lane.get() }.has_mail(&self.head);
        }
        let seats = self.seats.borrow();
        seats
            .lanes
            .iter()
            .enumerate()
            .any(|(place, (lane, cursor))| {
                lane.has_mail(if place == seats.current {
                    &self.head
                } else {
                    cursor
                })
            })
    }

    /// Receives a message, if there is one; never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TryRecvError, mpsc};
    ///
    /// let (sender, receiver) = mpsc::unbounded();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(1).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.take().map_err(|nothing| match nothing {
            Nothing::Closed => TryRecvError::Disconnected,
            Nothing::Empty | Nothing::Busy => TryRecvError::Empty,
        })
    }

    /// Receives a message, after waiting for one.
    ///
    /// # Blocking
    ///
    /// While the channel is empty.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and closed, or no sender is left, also if the last one goes
    /// while it waits.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::mpsc::unbounded();
    /// let other = sender.clone();
    /// std::thread::spawn(move || sender.send(1));
    /// std::thread::spawn(move || other.send(2));
    /// assert_eq!(receiver.recv()? + receiver.recv()?, 3);
    /// # Ok::<(), tamtam_channel::RecvError>(())
    /// ```
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        match self.take() {
            Ok(message) => Ok(message),
            Err(_) => self
                .wait_to_take(None, || self.take())
                .map_err(|_| RecvError),
        }
    }

    /// As [`recv`](Receiver::recv), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.wait_to_take(Instant::now().checked_add(timeout), || self.take())
            .map_err(timed_out)
    }

    /// As [`recv`](Receiver::recv), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.wait_to_take(Some(deadline), || self.take())
            .map_err(timed_out)
    }

    /// Receives what is there, at most `limit` messages, to the end of `buffer`, after waiting for one.
    /// How many.
    ///
    /// Messages of one sender that lie one behind the other are moved together.
    ///
    /// # Blocking
    ///
    /// While the channel is empty; not if `limit` is zero.
    ///
    /// # Errors
    ///
    /// [`RecvError`] if the channel is empty and closed, or no sender is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::spsc::unbounded();
    /// sender.send_many(1..=5).unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut buffer, 3), Ok(3));
    /// assert_eq!(receiver.recv_many(&mut buffer, 3), Ok(2));
    /// assert_eq!(buffer, [1, 2, 3, 4, 5]);
    /// ```
    pub fn recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, RecvError> {
        if limit == 0 {
            return Ok(0);
        }
        match self.take_many(buffer, limit) {
            Ok(taken) => Ok(taken),
            Err(_) => self
                .wait_to_take(None, || self.take_many(buffer, limit))
                .map_err(|_| RecvError),
        }
    }

    /// As [`recv_many`](Receiver::recv_many), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] or [`TryRecvError::Disconnected`].
    pub fn try_recv_many(&self, buffer: &mut Vec<T>, limit: usize) -> Result<usize, TryRecvError> {
        if limit == 0 {
            return Ok(0);
        }
        self.take_many(buffer, limit)
            .map_err(|nothing| match nothing {
                Nothing::Closed => TryRecvError::Disconnected,
                Nothing::Empty | Nothing::Busy => TryRecvError::Empty,
            })
    }

    /// As [`recv_many`](Receiver::recv_many), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_timeout_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(buffer, limit, Instant::now().checked_add(timeout))
    }

    /// As [`recv_many`](Receiver::recv_many), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`RecvTimeoutError::Timeout`] or [`RecvTimeoutError::Disconnected`].
    pub fn recv_deadline_many(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        deadline: Instant,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(buffer, limit, Some(deadline))
    }

    fn recv_many_until(
        &self,
        buffer: &mut Vec<T>,
        limit: usize,
        deadline: Option<Instant>,
    ) -> Result<usize, RecvTimeoutError> {
        if limit == 0 {
            return Ok(0);
        }
        self.wait_to_take(deadline, || self.take_many(buffer, limit))
            .map_err(timed_out)
    }

    // ------------------------------------------------------------------------------ the channel

    /// Closes the channel: no message is accepted any more. Those that were can still be received.
    ///
    /// Senders that wait for room get their message back. `true` if this call closed it.
    pub fn close(&self) -> bool {
        if self.closed.replace(true) {
            return false;
        }
        // What was found and not taken yet is found again, under the lock.
        self.head.forget();
        self.line.attention.close();
        let seats = self.seats.borrow();
        for lane in self.line.opened() {
            lane.senders.notify_all();
        }
        for (lane, _) in &seats.lanes {
            lane.senders.notify_all();
        }
        true
    }

    /// Whether no message is accepted any more: this end was closed, or every sender is closed or gone.
    pub fn is_closed(&self) -> bool {
        self.closed.get() || !self.line.has_senders()
    }

    /// Whether no message is there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages are there.
    pub fn len(&self) -> usize {
        let seats = self.seats.borrow();
        let seated = seats.lanes.iter().map(|(lane, _)| lane.len()).sum();
        if self.line.version() == self.version.get() {
            return seated;
        }
        let opened: usize = self.line.opened().iter().map(|lane| lane.len()).sum();
        seated + opened
    }

    /// Whether no sender has room: each lane holds as many messages as it can.
    pub fn is_full(&self) -> bool {
        let seats = self.seats.borrow();
        let opened = self.line.opened();
        let mut lanes = seats.lanes.iter().map(|(lane, _)| lane).chain(&opened);
        (!seats.lanes.is_empty() || !opened.is_empty())
            && lanes.all(|lane| lane.len() == self.line.capacity)
    }

    /// How many messages the lane of each sender can hold; `None` if there is no bound.
    pub fn capacity(&self) -> Option<usize> {
        (self.line.capacity != usize::MAX).then_some(self.line.capacity)
    }
}

fn timed_out(nothing: Nothing) -> RecvTimeoutError {
    match nothing {
        Nothing::Closed => RecvTimeoutError::Disconnected,
        Nothing::Empty | Nothing::Busy => RecvTimeoutError::Timeout,
    }
}

/// Leaves all lanes, also if the drop of a message panics; the messages behind it are leaked then, since
/// dropping them while the panic unwinds could end the program.
struct Leaving<'a, T>(&'a Receiver<T>);

impl<T> Drop for Leaving<'_, T> {
    fn drop(&mut self) {
        let abandoned = std::thread::panicking();
        let seats = self.0.seats.borrow();
        for (place, (lane, cursor)) in seats.lanes.iter().enumerate() {
            let cursor = if place == seats.current {
                &self.0.head
            } else {
                cursor
            };
            lane.leave(cursor, abandoned);
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let leaving = Leaving(self);
        while let Ok(message) = leaving.0.take() {
            drop(message);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

impl<T> Source for Receiver<T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.line.receivers.register(operation, context);
        Receiver::looks_ready(self)
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.line.receivers.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        !self.is_empty() || self.is_closed()
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.line.receivers.watch(operation, context);
        Receiver::looks_ready(self)
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.line.receivers.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(&self.line.receivers)
    }

    fn looks_ready(&self) -> bool {
        Receiver::looks_ready(self)
    }
}
