//! The sender of a lane: the only one that writes there, or one of several with a lane each.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::{Arc, ORIGIN};
use tamtam_wait::{Context, Operation, Patience, Source, Token, Wait, WaitList, contain};

use super::line::Line;
use super::queue::{Cursor, Lane};
use crate::error::{SendError, SendManyError, SendTimeoutError, TrySendError};

use super::UNATTENDED;

/// How long a sender waits for much room, at most, before any room will do. Models have no clock: in them
/// it is always too long.
const MUCH_ROOM_WAIT: Duration = Duration::from_micros(if cfg!(tamtam_loom) { 0 } else { 200 });
/// After waiting in vain for much room, so many waits for any room follow at most.
const MOST_HASTE: u32 = 1023;

/// After so many messages a sender says again on which processor it runs.
const SAID_LONG_AGO: usize = 1024;

/// So many messages of a batch are announced at once.
const ANNOUNCED: usize = 64;

/// Says of a sender that it is the only one of its channel.
///
/// # Examples
///
/// ```
/// use tamtam_channel::spsc;
/// use tamtam_channel::spsc::{LaneSender, Single};
///
/// struct Decoder {
///     frames: LaneSender<u32, Single>,
/// }
///
/// let (frames, receiver) = spsc::bounded(4);
/// let decoder = Decoder { frames };
/// decoder.frames.send(1)?;
/// assert_eq!(receiver.recv(), Ok(1));
/// # Ok::<(), tamtam_channel::SendError<u32>>(())
/// ```
#[derive(Debug)]
pub enum Single {}

/// Says of a sender that it can be cloned.
///
/// # Examples
///
/// ```
/// use tamtam_channel::mpsc;
/// use tamtam_channel::mpsc::{LaneSender, Many};
///
/// struct Journal {
///     lines: LaneSender<String, Many>,
/// }
///
/// let (lines, receiver) = mpsc::unbounded();
/// let journal = Journal { lines };
/// // For another thread, with a lane of its own.
/// let clone = journal.lines.clone();
/// clone.send("started".to_owned())?;
/// assert_eq!(receiver.recv().unwrap(), "started");
/// # Ok::<(), tamtam_channel::SendError<String>>(())
/// ```
#[derive(Debug)]
pub enum Many {}

/// The sending end of an [`spsc`](crate::spsc) or [`mpsc`](crate::mpsc) channel.
///
/// It may be moved to another thread, but not shared by several: each clone (of an `mpsc` sender) has a
/// lane of its own, in which it is alone with the receiver, and so a message costs a plain store.
///
/// # Ordering
///
/// The messages of one sender are received in the order sent. Between two senders there is no order at
/// all: a message may be received before one that another sender had sent earlier. What a thread did
/// before it sent is visible to the thread that received the message.
///
/// # Examples
///
/// ```
/// use std::thread;
/// use tamtam_channel::mpsc;
///
/// let (sender, receiver) = mpsc::bounded(16); // 16 places for each sender
/// thread::scope(|scope| {
///     for number in 1..=3 {
///         let sender = sender.clone(); // a lane of its own
///         scope.spawn(move || sender.send(number).unwrap());
///     }
///     drop(sender);
///     assert_eq!(receiver.iter().sum::<u32>(), 6);
/// });
/// ```
pub struct LaneSender<T, K> {
    pub(super) line: Arc<Line<T>>,
    lane: Arc<Lane<T>>,
    pub(super) tail: Cursor<T>,
    pub(super) state: Cell<State>,
    /// How many messages fit into the lane beside those that permits keep room for.
    pub(super) fit: Cell<usize>,
    /// How many messages had been sent when the receiver was asked for attention last.
    waited: Cell<usize>,
    /// So many more times any room will do, and how many it was the last time.
    hurry: Cell<u32>,
    haste: Cell<u32>,
    /// Where this sender told the receiver that it runs, and after how many messages.
    said: Cell<u32>,
    said_at: Cell<usize>,
    pub(super) wait: Wait,
    kind: PhantomData<fn() -> K>,
}

// SAFETY: one thread at a time has the sender, since it cannot be shared, and with it this side of the
// lane.
unsafe impl<T: Send, K> Send for LaneSender<T, K> {}

// No user code runs while the sender is half changed.
impl<T, K> UnwindSafe for LaneSender<T, K> {}
impl<T, K> RefUnwindSafe for LaneSender<T, K> {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Open,
    /// In the middle of [`LaneSender::send_many`].
    InBatch,
    Closed,
}

#[cold]
pub(super) fn used_by_iterator() -> ! {
    panic!("a sender was used by the iterator whose messages it sends")
}

/// Why a message was not written.
pub(super) enum Unwritten {
    Full,
    Closed,
}

impl<T, K> LaneSender<T, K> {
    pub(super) fn new(line: Arc<Line<T>>, lane: Arc<Lane<T>>, wait: Wait) -> Self {
        LaneSender {
            fit: Cell::new(line.capacity),
            line,
            lane,
            tail: Cursor::default(),
            state: Cell::new(State::Open),
            waited: Cell::new(ORIGIN),
            hurry: Cell::new(0),
            haste: Cell::new(0),
            said: Cell::new(0),
            said_at: Cell::new(ORIGIN),
            wait,
            kind: PhantomData,
        }
    }

    /// The same end, waiting in another way while its lane is full. Clones inherit it.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Whether a message may be written now.
    #[inline(always)]
    pub(super) fn may_write(&self) -> Result<(), Unwritten> {
        if self.tail.is_at_limit() {
            return self.look_for_room(true);
        }
        Ok(())
    }

    #[inline(never)]
    fn look_for_room(&self, at_once: bool) -> Result<(), Unwritten> {
        match self.state.get() {
            State::Closed => return Err(Unwritten::Closed),
            State::InBatch => used_by_iterator(),
            State::Open if at_once => self.lane.prepare(&self.tail),
            State::Open => {}
        }
        if self.lane.look_for_room(&self.tail, self.fit.get()) {
            if self.tail.count().wrapping_sub(self.waited.get()) > UNATTENDED
                && self.lane.senders.is_empty()
            {
                self.lane.attention().want_none();
            }
            Ok(())
        } else if self.line.attention.is_closed() {
            Err(Unwritten::Closed)
        } else {
            Err(Unwritten::Full)
        }
    }

    /// Writes and announces a message for which there is room; gives it back if it came too late.
    #[inline(always)]
    pub(super) fn put(&self, message: T) -> Result<(), SendError<T>> {
        self.lane.write(&self.tail, message);
        self.lane.announce(&self.tail);
        if self.tail.count() & 15 == 0 {
            self.meet();
        }
        if self.line.receivers.notify_after_store(&self.line.attention) {
            return self.take_back();
        }
        Ok(())
    }

    /// Tells the receiver now and then on which processor this sender runs.
    #[inline]
    fn meet(&self) {
        let habit = self.line.receivers.habit();
        let said_long_ago = self.tail.count().wrapping_sub(self.said_at.get()) >= SAID_LONG_AGO;
        if said_long_ago {
            self.said_at.set(self.tail.count());
        }
        habit.meet_among_others(&self.said, said_long_ago);
    }

    #[cold]
    fn take_back(&self) -> Result<(), SendError<T>> {
        let closing = self.line.closing.lock();
        let message = self.lane.take_back(&self.tail);
        drop(closing);
        match message {
            Some(message) => Err(SendError(message)),
            // The receiver has closed the channel and then received it.
            None => Ok(()),
        }
    }

    /// Sends a message if there is room for it now; never waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError::Full`] or [`TrySendError::Disconnected`], with the message.
    ///
    /// # Examples
    ///
    /// ```
    /// use tamtam_channel::{TrySendError, spsc};
    ///
    /// let (sender, receiver) = spsc::bounded(1);
    /// assert_eq!(sender.try_send(1), Ok(()));
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.may_write() {
            Ok(()) => Ok(self.put(message)?),
            Err(Unwritten::Full) => Err(TrySendError::Full(message)),
            Err(Unwritten::Closed) => Err(TrySendError::Disconnected(message)),
        }
    }

    /// Sends a message, after waiting for room.
    ///
    /// # Blocking
    ///
    /// While this sender's lane is full. Never on an unbounded channel. In a lane for 256 messages or more a
    /// sender that has found it full goes on when half of it (or room for 1,024) is free, or after 0.2 ms
    /// as soon as there is any room: so a fast sender and a fast receiver wake each other seldom.
    ///
    /// # Errors
    ///
    /// [`SendError`] with the message if the channel is closed or the receiver is gone, also if that
    /// happens while it waits.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::spsc::bounded(1);
    /// std::thread::spawn(move || (1..=3).for_each(|number| sender.send(number).unwrap()));
    /// assert_eq!(receiver.iter().sum::<i32>(), 6);
    /// ```
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match self.may_write() {
            Ok(()) => self.put(message),
            Err(_) => match self.wait_for_room(None) {
                Ok(()) => self.put(message),
                Err(_) => Err(SendError(message)),
            },
        }
    }

    /// As [`send`](LaneSender::send), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Instant::now().checked_add(timeout))
    }

    /// As [`send`](LaneSender::send), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError::Timeout`] or [`SendTimeoutError::Disconnected`], with the message.
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(message, Some(deadline))
    }

    fn send_until(&self, message: T, deadline: Option<Instant>) -> Result<(), SendTimeoutError<T>> {
        match self.wait_for_room(deadline) {
            Ok(()) => Ok(self.put(message)?),
            Err(Unwritten::Full) => Err(SendTimeoutError::Timeout(message)),
            Err(Unwritten::Closed) => Err(SendTimeoutError::Disconnected(message)),
        }
    }

    /// Sends many messages, after waiting for room whenever there is none. How many.
    ///
    /// The receiver sees them in portions of up to 64, each for the price of one message.
    ///
    /// # Blocking
    ///
    /// While this sender's lane is full. Never on an unbounded channel.
    ///
    /// # Panics
    ///
    /// If the iterator does; what it has yielded by then is sent, or dropped if the channel was closed meanwhile.
    ///
    /// # Errors
    ///
    /// [`SendManyError`] if the channel is closed or the receiver is gone, with those messages that were
    /// taken from the iterator and not received. What the iterator has not yielded yet stays in it: pass
    /// it by reference to go on with it.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = tamtam_channel::spsc::unbounded();
    /// assert_eq!(sender.send_many(0..100), Ok(100));
    /// assert_eq!(receiver.drain().sum::<i32>(), 4950);
    /// ```
    pub fn send_many(
        &self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<usize, SendManyError<T>> {
        let mut messages = messages.into_iter();
        let mut sent = 0;
        loop {
            if self.may_write().is_err() {
                // Room is waited for only if there is a message for it.
                let Some(message) = messages.next() else {
                    return Ok(sent);
                };
                if let Err(SendError(message)) = self.send(message) {
                    return Err(SendManyError {
                        sent,
                        unsent: vec![message],
                    });
                }
                sent += 1;
                continue;
            }
            let batch = Batch::begin(self);
            let written = self.lane.write_many(&batch.tail, &mut messages, ANNOUNCED);
            batch.end();
            if written == 0 {
                return Ok(sent);
            }
            sent += written;
            self.lane.announce(&self.tail);
            self.meet();
            if self.line.receivers.notify_after_store(&self.line.attention) {
                let unsent = self.take_back_many(written);
                if !unsent.is_empty() {
                    sent -= unsent.len();
                    return Err(SendManyError { sent, unsent });
                }
            }
        }
    }

    /// Takes back those of the last messages that the receiver has not got.
    #[cold]
    fn take_back_many(&self, most: usize) -> Vec<T> {
        let mut unsent = Vec::new();
        let closing = self.line.closing.lock();
        while unsent.len() < most {
            match self.lane.take_back(&self.tail) {
                Some(message) => unsent.push(message),
                None => break,
            }
        }
        drop(closing);
        unsent.reverse();
        unsent
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wait_for_room(&self, deadline: Option<Instant>) -> Result<(), Unwritten> {
        if let Some(much) = self.lane.much() {
            match self.wait_for_much_room(much, deadline) {
                Err(Unwritten::Full) => {}
                decided => return decided,
            }
        }
        // Where many messages fit, a sender that finds it full may as well leave the receiver alone for a
        // while: its message has to wait for all of those anyway.
        let rest = Patience::REST * (self.line.capacity / 16).clamp(1, 8) as u32;
        self.lane
            .senders
            .wait_resting_until(
                rest,
                self.wait,
                deadline,
                |_| match self.look_for_room(false) {
                    Err(Unwritten::Full) => None,
                    decided => Some(decided),
                },
                || self.looks_ready(),
            )
            .unwrap_or(Err(Unwritten::Full))
    }

    /// Waits until there is much room, but not for long.
    ///
    /// A sender that goes on as soon as there is room for one message has to wait again at the next one:
    /// both sides then crawl along the same cache lines, with a wake-up for a handful of messages. A
    /// receiver that receives all the time makes much room soon. It need not look for this sender with
    /// every message: once a block is enough. One that does something else meanwhile, perhaps in wait for
    /// what this sender does next, leaves it waiting for [`MUCH_ROOM_WAIT`] at most.
    fn wait_for_much_room(&self, much: usize, deadline: Option<Instant>) -> Result<(), Unwritten> {
        if self.hurry.get() > 0 {
            self.hurry.set(self.hurry.get() - 1);
            return self.look_for_room(false);
        }
        let has_much = || match self.look_for_room(false) {
            Ok(()) if self.tail.ahead() >= much => Some(Ok(())),
            Err(Unwritten::Closed) => Some(Err(Unwritten::Closed)),
            Ok(()) | Err(Unwritten::Full) => None,
        };
        let short = Instant::now() + MUCH_ROOM_WAIT;
        let short = deadline.map_or(short, |deadline| deadline.min(short));
        let waited = self.lane.senders.wait_resting_until(
            Patience::REST * 8,
            self.wait,
            Some(short),
            |_| has_much(),
            || has_much().is_some(),
        );
        match waited {
            Some(decided) => {
                self.haste.set(0);
                decided
            }
            None => {
                // In vain: the next few times any room will do.
                self.haste.set((self.haste.get() * 2 + 1).min(MOST_HASTE));
                self.hurry.set(self.haste.get());
                self.look_for_room(false)
            }
        }
    }

    fn looks_ready(&self) -> bool {
        self.lane.attention().want();
        self.waited.set(self.tail.count());
        self.state.get() != State::Open
            || self.lane.look_for_room(&self.tail, self.fit.get())
            || self.line.attention.is_closed()
    }

    /// Closes this sender: it sends no more. The receiver gets what was sent; once all senders are closed
    /// or gone, it hears of that.
    ///
    /// `true` if this call closed it.
    pub fn close(&self) -> bool {
        match self.state.get() {
            State::Closed => return false,
            // The cursor is with the batch.
            State::InBatch => used_by_iterator(),
            State::Open => self.state.set(State::Closed),
        }
        self.tail.forget();
        self.lane.finish();
        self.line.sweep();
        if self.line.remove_sender() {
            self.line.receivers.notify_all();
        }
        true
    }

    /// Whether a message would be refused: this sender was closed, the receiver has closed the channel, or
    /// it is gone.
    pub fn is_closed(&self) -> bool {
        self.state.get() == State::Closed || self.line.attention.is_closed()
    }

    /// Whether this sender's lane holds no message.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this sender's lane holds as many messages as it can.
    pub fn is_full(&self) -> bool {
        self.len() == self.line.capacity
    }

    /// How many messages of this sender have not been received.
    pub fn len(&self) -> usize {
        self.lane.len()
    }

    /// How many messages this sender's lane can hold; `None` if there is no bound.
    pub fn capacity(&self) -> Option<usize> {
        (self.line.capacity != usize::MAX).then_some(self.line.capacity)
    }

    /// Whether the receiver of both is the same.
    pub fn same_channel(&self, other: &LaneSender<T, K>) -> bool {
        Arc::ptr_eq(&self.line, &other.line)
    }
}

/// While the user's iterator is asked for messages: the sender's cursor is here, so that an iterator that
/// has the sender, too, finds no room in it.
struct Batch<'a, T, K> {
    sender: &'a LaneSender<T, K>,
    tail: Cursor<T>,
}

impl<'a, T, K> Batch<'a, T, K> {
    #[inline(always)]
    fn begin(sender: &'a LaneSender<T, K>) -> Self {
        sender.state.set(State::InBatch);
        let tail = Cursor::default();
        tail.swap(&sender.tail);
        Batch { sender, tail }
    }

    /// The iterator was asked: what it has yielded is to be announced.
    #[inline(always)]
    fn end(self) {
        self.give_back();
        core::mem::forget(self);
    }

    #[inline(always)]
    fn give_back(&self) {
        self.tail.swap(&self.sender.tail);
        self.sender.state.set(State::Open);
    }
}

impl<T, K> Drop for Batch<'_, T, K> {
    /// The iterator has panicked: no other message may come by which what it has yielded would be announced.
    #[cold]
    fn drop(&mut self) {
        self.give_back();
        let LaneSender {
            line, lane, tail, ..
        } = self.sender;
        let written = lane.unannounced(tail);
        lane.announce(tail);
        if line.receivers.notify_after_store(&line.attention) {
            // The panic of the iterator unwinds, and another one would end the program.
            for message in self.sender.take_back_many(written) {
                contain(|| drop(message));
            }
        }
    }
}

impl<T> Clone for LaneSender<T, Many> {
    /// Another sender, with a lane of its own. If this one was closed, it is, too.
    fn clone(&self) -> Self {
        if self.state.get() == State::Closed {
            // The receiver may have been told that all are gone. Neither of the two touches the lane any more.
            let line = Arc::clone(&self.line);
            let sender = LaneSender::new(line, Arc::clone(&self.lane), self.wait);
            sender.state.set(State::Closed);
            return sender;
        }
        let lane = self.line.open_lane();
        LaneSender::new(Arc::clone(&self.line), lane, self.wait)
    }
}

impl<T, K> Drop for LaneSender<T, K> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<T, K> fmt::Debug for LaneSender<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LaneSender { .. }")
    }
}

impl<T, K> Source for LaneSender<T, K> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, operation: Operation, context: &Context) -> bool {
        self.lane.senders.register(operation, context);
        self.looks_ready()
    }

    fn unregister(&self, operation: Operation, context: &Context) {
        self.lane.senders.unregister(operation, context);
    }

    fn is_ready(&self) -> bool {
        !matches!(self.may_write(), Err(Unwritten::Full))
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.lane.senders.watch(operation, context);
        self.looks_ready()
    }

    fn unwatch(&self, operation: Operation, context: &Context) {
        self.lane.senders.unwatch(operation, context);
    }

    fn list(&self) -> Option<&WaitList> {
        Some(&self.lane.senders)
    }

    fn looks_ready(&self) -> bool {
        LaneSender::looks_ready(self)
    }
}
