//! The queue that all ends of a broadcast share.

use std::collections::VecDeque;

use tamtam_wait::seam::atomic::{AtomicU64, Ordering};
use tamtam_wait::seam::{Arc, Mutex};
use tamtam_wait::{Source, Token, WaitList};

use super::Lag;
use super::error::Lost;
use crate::flavor::{Refusal, drop_each};
use crate::source::in_list;

/// An empty queue with room for more than this gives its memory back.
const KEPT: usize = 32;

/// A message that is not taken by all receivers yet.
struct QueuedMessage<T> {
    message: Arc<T>,
    /// How many receivers have not taken it.
    left: usize,
    /// How many of these the senders wait for.
    awaited: usize,
}

struct QueueState<T> {
    entries: VecDeque<QueuedMessage<T>>,
    /// The number of the first entry, or of the next message if there is none. 2⁶⁴ messages take 584 years at
    /// one in a nanosecond.
    first: u64,
    /// How many receivers the senders wait for, and how many lose.
    waiting: usize,
    losing: usize,
    senders: usize,
    /// Closed by a sender, or no sender is left.
    closed: bool,
}

/// Where a receiver stands. Written under the queue's lock only.
pub(super) struct Position {
    /// The number of its next message.
    next: AtomicU64,
    /// How many messages it has lost, ever.
    lost: AtomicU64,
}

/// Why there is no message.
pub(super) enum NoMessage {
    Empty,
    Closed,
    Lost(Lost),
}

/// A broadcast. All of it is under one lock, except those who wait; they look once more after they have
/// registered, under that lock, and each change is followed by a look for them.
pub(super) struct BroadcastQueue<T> {
    state: Mutex<QueueState<T>>,
    capacity: usize,
    pub(super) receivers: WaitList,
    pub(super) senders: WaitList,
}

impl<T> QueueState<T> {
    fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    fn has_receivers(&self) -> bool {
        self.waiting + self.losing > 0
    }

    /// Whether the next message has to wait for a receiver.
    fn is_full(&self, capacity: usize) -> bool {
        self.entries.len() == capacity
            && self.entries.front().is_some_and(|entry| entry.awaited > 0)
    }

    /// The entries that a receiver at this position has not taken.
    fn ahead_of(&mut self, next: u64) -> impl Iterator<Item = &mut QueuedMessage<T>> {
        // What it has lost is behind the first one.
        let taken = next.saturating_sub(self.first) as usize;
        self.entries.iter_mut().skip(taken)
    }

    fn count(&mut self, lag: Lag) -> &mut usize {
        match lag {
            Lag::Wait => &mut self.waiting,
            Lag::Lose => &mut self.losing,
        }
    }

    /// Takes out the entries at the front that no receiver needs any more. They are to be dropped without the lock.
    #[must_use]
    fn sweep(&mut self) -> Swept<T> {
        let mut swept = Swept::default();
        while self.entries.front().is_some_and(|entry| entry.left == 0) {
            swept.push(self.entries.pop_front());
            self.first += 1;
        }
        if self.entries.is_empty() && self.entries.capacity() > KEPT {
            self.entries = VecDeque::new();
        }
        swept
    }
}

/// Entries that were taken out: nearly always at most one.
struct Swept<T> {
    one: Option<QueuedMessage<T>>,
    more: Vec<QueuedMessage<T>>,
}

impl<T> Default for Swept<T> {
    fn default() -> Self {
        Swept {
            one: None,
            more: Vec::new(),
        }
    }
}

impl<T> Swept<T> {
    fn push(&mut self, entry: Option<QueuedMessage<T>>) {
        if self.one.is_none() {
            self.one = entry;
        } else {
            self.more.extend(entry);
        }
    }

    fn discard(self) {
        drop_each(self.one.into_iter().chain(self.more));
    }
}

impl<T> BroadcastQueue<T> {
    /// A queue with one sender and no receiver.
    pub(super) fn new(capacity: usize) -> Self {
        assert!(
            capacity > 0,
            "a broadcast keeps one message at least: its capacity cannot be 0"
        );
        BroadcastQueue {
            state: Mutex::new(QueueState {
                entries: VecDeque::new(),
                first: 0,
                waiting: 0,
                losing: 0,
                senders: 1,
                closed: false,
            }),
            capacity,
            receivers: WaitList::new(),
            senders: WaitList::new(),
        }
    }

    /// Appends the message, if there is room or the oldest one may be displaced; else leaves it.
    pub(super) fn append(&self, message: &mut Option<Arc<T>>) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        if state.closed || !state.has_receivers() {
            return Err(Refusal::Closed);
        }
        if state.is_full(self.capacity) {
            return Err(Refusal::Full);
        }
        let Some(message) = message.take() else {
            unreachable!("a message is sent once")
        };
        let mut displaced = None;
        if state.entries.len() == self.capacity {
            displaced = state.entries.pop_front();
            state.first += 1;
        }
        let entry = QueuedMessage {
            message,
            left: state.waiting + state.losing,
            awaited: state.waiting,
        };
        state.entries.push_back(entry);
        let has_room = !state.is_full(self.capacity);
        drop(state);
        self.receivers.notify_all();
        if has_room {
            // One sender at a time is woken for room, and each that has got some wakes the next.
            self.senders.notify_one();
        }
        // Last: its drop is user code, which may panic.
        drop(displaced);
        Ok(())
    }

    /// Takes the receiver's next message.
    pub(super) fn take(&self, position: &Position, lag: Lag) -> Result<Arc<T>, NoMessage> {
        let mut state = self.state.lock();
        let next = position.next.load(Ordering::Relaxed);
        if next < state.first {
            let lost = Lost {
                first: next,
                count: state.first - next,
            };
            position.next.store(state.first, Ordering::Relaxed);
            let before = position.lost.load(Ordering::Relaxed);
            position.lost.store(before + lost.count, Ordering::Relaxed);
            return Err(NoMessage::Lost(lost));
        }
        let index = (next - state.first) as usize;
        let Some(entry) = state.entries.get_mut(index) else {
            return Err(if state.closed {
                NoMessage::Closed
            } else {
                NoMessage::Empty
            });
        };
        let message = Arc::clone(&entry.message);
        entry.left -= 1;
        if lag == Lag::Wait {
            entry.awaited -= 1;
        }
        position.next.store(next + 1, Ordering::Relaxed);
        let swept = state.sweep();
        // Also where there was room before: the sender that was woken for that may be a task that is not polled on.
        let made_room = index == 0 && !state.is_full(self.capacity);
        drop(state);
        if made_room {
            self.senders.notify_one();
        }
        swept.discard();
        Ok(message)
    }

    /// One more receiver, of the messages from now on.
    pub(super) fn subscribe(&self, lag: Lag) -> Position {
        let mut state = self.state.lock();
        *state.count(lag) += 1;
        Position {
            next: AtomicU64::new(state.end()),
            lost: AtomicU64::new(0),
        }
    }

    /// One more receiver, where another one stands.
    pub(super) fn share(&self, position: &Position, lag: Lag) -> Position {
        let mut state = self.state.lock();
        let next = position.next.load(Ordering::Relaxed);
        *state.count(lag) += 1;
        for entry in state.ahead_of(next) {
            entry.left += 1;
            entry.awaited += usize::from(lag == Lag::Wait);
        }
        Position {
            next: AtomicU64::new(next),
            lost: AtomicU64::new(position.lost.load(Ordering::Relaxed)),
        }
    }

    /// A receiver changes from one way to another.
    pub(super) fn change(&self, position: &Position, from: Lag, to: Lag) {
        if from == to {
            return;
        }
        let mut state = self.state.lock();
        *state.count(from) -= 1;
        *state.count(to) += 1;
        let next = position.next.load(Ordering::Relaxed);
        for entry in state.ahead_of(next) {
            match to {
                Lag::Wait => entry.awaited += 1,
                Lag::Lose => entry.awaited -= 1,
            }
        }
        drop(state);
        if to == Lag::Lose {
            self.tell_all_of_room();
        }
    }

    /// A receiver goes.
    pub(super) fn unsubscribe(&self, position: &Position, lag: Lag) {
        let mut state = self.state.lock();
        *state.count(lag) -= 1;
        let next = position.next.load(Ordering::Relaxed);
        for entry in state.ahead_of(next) {
            entry.left -= 1;
            entry.awaited -= usize::from(lag == Lag::Wait);
        }
        let swept = state.sweep();
        drop(state);
        self.tell_all_of_room();
        swept.discard();
    }

    /// A receiver is waited for no more: there may be room for any number of messages, or no receiver is left. One sender alone might be a task that is not
    /// polled on, and no other message would have to be taken that would make up for that.
    fn tell_all_of_room(&self) {
        self.senders.notify_all();
    }

    pub(super) fn add_sender(&self) {
        self.state.lock().senders += 1;
    }

    pub(super) fn remove_sender(&self) {
        let mut state = self.state.lock();
        state.senders -= 1;
        let was_last = state.senders == 0;
        drop(state);
        if was_last {
            self.close();
        }
    }

    /// Nothing more is sent; `false` if that was so before.
    pub(super) fn close(&self) -> bool {
        let mut state = self.state.lock();
        let closes = !state.closed;
        state.closed = true;
        drop(state);
        self.receivers.notify_all();
        self.senders.notify_all();
        closes
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    pub(super) fn receiver_count(&self) -> usize {
        let state = self.state.lock();
        state.waiting + state.losing
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many messages are kept for any receiver.
    pub(super) fn len(&self) -> usize {
        self.state.lock().entries.len()
    }

    /// How many messages are kept for this receiver.
    pub(super) fn len_for(&self, position: &Position) -> usize {
        let state = self.state.lock();
        let next = position.next.load(Ordering::Relaxed).max(state.first);
        (state.end() - next) as usize
    }

    /// How many messages this receiver has lost, those counted that it has not been told of.
    pub(super) fn lost(&self, position: &Position) -> u64 {
        let state = self.state.lock();
        let untold = state
            .first
            .saturating_sub(position.next.load(Ordering::Relaxed));
        position.lost.load(Ordering::Relaxed) + untold
    }

    /// Whether a message would be refused for want of room now.
    pub(super) fn is_full(&self) -> bool {
        self.state.lock().is_full(self.capacity)
    }

    /// Whether a receiver would get anything but "empty".
    pub(super) fn has_news(&self, position: &Position) -> bool {
        let state = self.state.lock();
        state.closed || position.next.load(Ordering::Relaxed) < state.end()
    }

    /// Whether a sender would get anything but "full".
    fn has_room(&self) -> bool {
        let state = self.state.lock();
        state.closed || !state.has_receivers() || !state.is_full(self.capacity)
    }

    /// Room for a message, as something to wait for.
    pub(super) fn room(&self) -> Room<'_, T> {
        Room(self)
    }

    /// Something new for a receiver, as something to wait for.
    pub(super) fn news<'a>(&'a self, position: &'a Position) -> News<'a, T> {
        News {
            queue: self,
            position,
        }
    }
}

/// Room in a broadcast, as something to wait for. Once it is ready it has to be attempted: others may be faster.
pub(super) struct Room<'a, T>(&'a BroadcastQueue<T>);

impl<T> Room<'_, T> {
    pub(super) fn is_there(&self) -> bool {
        self.0.has_room()
    }
}

impl<T> Source for Room<'_, T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.0.has_room()
    }

    in_list!(this => this.0.senders, this.0.has_room());

    fn decline(&self, _: &tamtam_wait::Context) {
        self.0.senders.decline(|| self.0.has_room());
    }

    fn is_ready(&self) -> bool {
        self.0.has_room()
    }
}

/// A message for a receiver, or the end, as something to wait for. All that wait are told.
pub(super) struct News<'a, T> {
    queue: &'a BroadcastQueue<T>,
    position: &'a Position,
}

impl<T> Source for News<'_, T> {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.queue.has_news(self.position)
    }

    in_list!(this => this.queue.receivers, this.queue.has_news(this.position));

    fn is_ready(&self) -> bool {
        self.queue.has_news(self.position)
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::super::*;

    /// It would go on as well if it only looked again and again, and take a core for it.
    #[test]
    fn a_sender_that_waits_for_room_sleeps_until_there_is_some() {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| sender.send(2).unwrap());
            while sender.queue.senders.is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(receiver.recv(), Ok(1));
        });
        assert_eq!(receiver.recv(), Ok(2));
    }
}
