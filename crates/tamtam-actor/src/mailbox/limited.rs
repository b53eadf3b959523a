//! A mailbox with a limit, and what happens to a message for which there is no room.

use std::collections::VecDeque;
use std::time::Instant;

use tamtam_wait::seam::Mutex;
use tamtam_wait::seam::atomic::{self, Ordering};
use tamtam_wait::{Wait, WaitList};

/// What becomes of a message for which a limited mailbox has no room.
///
/// Each message that is dropped is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// It comes back to the sender as a [`TellError`](crate::TellError).
    #[default]
    Fail,
    /// It is dropped.
    DropNewest,
    /// It is appended, and the oldest one is dropped.
    DropOldest,
}

/// A queue for so many messages and no more.
pub(crate) struct Limited<M> {
    queue: Mutex<Places<M>>,
    limit: usize,
    overflow: Overflow,
    /// Senders that wait for room.
    senders: WaitList,
}

struct Places<M> {
    messages: VecDeque<M>,
    /// The receiver knows that there is something.
    awake: bool,
    /// Places that are kept for messages on their way.
    reserved: usize,
}

impl<M> Places<M> {
    fn has_room(&self, limit: usize) -> bool {
        self.messages.len() + self.reserved < limit
    }

    /// Whether the receiver has to be woken.
    fn append(&mut self, message: M) -> bool {
        self.messages.push_back(message);
        !core::mem::replace(&mut self.awake, true)
    }
}

/// What became of a wish for a place.
pub(crate) enum Reserved {
    /// A place is kept, for [`Limited::push_reserved`].
    Place,
    /// There is no room, and a message is to be dropped.
    Dropped,
    /// There is no room.
    Full,
}

/// What became of a message that was sent.
pub(crate) enum Pushed<M> {
    /// It is in the queue; whether the receiver has to be woken for it.
    In(bool),
    /// It is in the queue, and this one, older, is not any more.
    InsteadOf(M),
    /// There is no room, and it is to be dropped.
    Dropped(M),
    /// There is no room.
    Full(M),
}

impl<M> Limited<M> {
    pub(crate) fn new(limit: usize, overflow: Overflow) -> Self {
        Limited {
            queue: Mutex::new(Places {
                messages: VecDeque::new(),
                awake: false,
                reserved: 0,
            }),
            limit: limit.max(1),
            overflow,
            senders: WaitList::new(),
        }
    }

    pub(crate) fn push(&self, message: M) -> Pushed<M> {
        let mut queue = self.queue.lock();
        if queue.has_room(self.limit) {
            return Pushed::In(queue.append(message));
        }
        match self.overflow {
            Overflow::Fail => Pushed::Full(message),
            Overflow::DropNewest => Pushed::Dropped(message),
            Overflow::DropOldest => {
                let oldest = queue.messages.pop_front();
                let wake = queue.append(message);
                oldest.map_or(Pushed::In(wake), Pushed::InsteadOf)
            }
        }
    }

    /// Keeps a place for a message that is still to be made.
    pub(crate) fn reserve(&self) -> Reserved {
        let mut queue = self.queue.lock();
        let has_room = queue.has_room(self.limit);
        match self.overflow {
            Overflow::Fail if !has_room => Reserved::Full,
            Overflow::DropNewest if !has_room => Reserved::Dropped,
            _ => {
                queue.reserved += 1;
                Reserved::Place
            }
        }
    }

    /// As `reserve`, but waits for room.
    pub(crate) fn reserve_until(
        &self,
        deadline: Option<Instant>,
        closed: impl Fn() -> bool,
    ) -> Reserved {
        // Every mapped address has this method, also where nobody can wait.
        #[cfg(all(target_family = "wasm", not(target_feature = "atomics")))]
        {
            let _ = (deadline, closed);
            self.reserve()
        }
        #[cfg(not(all(target_family = "wasm", not(target_feature = "atomics"))))]
        {
            let attempt = |_: bool| match self.reserve() {
                Reserved::Full if !closed() => None,
                decided => Some(decided),
            };
            self.senders
                .wait_until(Wait::Adaptive, deadline, attempt, || {
                    closed() || self.has_room()
                })
                .unwrap_or(Reserved::Full)
        }
    }

    /// Puts a message into a place that was kept.
    pub(crate) fn push_reserved(&self, message: M) -> Pushed<M> {
        let mut queue = self.queue.lock();
        queue.reserved -= 1;
        let oldest = if queue.has_room(self.limit) {
            None
        } else {
            queue.messages.pop_front()
        };
        let wake = queue.append(message);
        oldest.map_or(Pushed::In(wake), Pushed::InsteadOf)
    }

    /// Gives a place back that was kept.
    pub(crate) fn release(&self) {
        self.queue.lock().reserved -= 1;
        self.tell_of_room();
    }

    fn has_room(&self) -> bool {
        self.queue.lock().has_room(self.limit)
    }

    fn tell_of_room(&self) {
        if self.overflow == Overflow::Fail {
            // Whoever waits for room registers and then looks into the queue.
            atomic::fence(Ordering::SeqCst);
            self.senders.notify_one();
        }
    }

    /// As `push`, but where a message would fail it waits for room; until the deadline, if there is one.
    /// `closed` tells that the actor takes no more.
    pub(crate) fn push_waiting(
        &self,
        message: M,
        deadline: Option<Instant>,
        closed: impl Fn() -> bool,
    ) -> Pushed<M> {
        let mut message = Some(message);
        let attempt = |_: bool| {
            if closed() {
                return message.take().map(Pushed::Full);
            }
            match self.push(message.take()?) {
                Pushed::Full(refused) => {
                    message = Some(refused);
                    None
                }
                decided => Some(decided),
            }
        };
        let pushed = self
            .senders
            .wait_until(Wait::Adaptive, deadline, attempt, || {
                closed() || self.has_room()
            });
        match (pushed, message) {
            (Some(pushed), _) => pushed,
            (None, Some(message)) => Pushed::Full(message),
            (None, None) => unreachable!("a message is either in hand or decided upon"),
        }
    }

    /// Takes the oldest message. If there is none the receiver is to be woken for the next one.
    pub(crate) fn pop(&self) -> Option<M> {
        let message = {
            let mut queue = self.queue.lock();
            let message = queue.messages.pop_front();
            queue.awake = message.is_some();
            message
        };
        if message.is_some() {
            self.tell_of_room();
        }
        message
    }

    /// The actor takes no more messages: whoever waits for room has to learn it.
    pub(crate) fn close(&self) {
        self.senders.notify_all();
    }
}
