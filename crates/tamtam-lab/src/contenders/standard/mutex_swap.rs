//! A queue under a `Mutex`, which the receiver exchanges for its own empty one.

use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::VERSION;
use crate::offer::{self, Kind};
use crate::{BatchQueue, Card, Contender, Measure, PostMany, RetrieveMany, grid};

/// With a limit, at which senders wait.
pub(super) const BOUNDED: MutexSwap = MutexSwap(Kind::Bounded);
/// Without one.
pub(super) const UNBOUNDED: MutexSwap = MutexSwap(Kind::Unbounded);

/// What one writes by hand when the receiver may take everything at once: a `Vec` under a `Mutex`, which the receiver
/// exchanges for its own empty one. Messages are sent one by one.
#[derive(Debug, Clone, Copy)]
pub(super) struct MutexSwap(Kind);

impl Contender for MutexSwap {
    fn card(&self) -> Card {
        let (name, about) = match self.0 {
            Kind::Bounded => (
                "mutex-swap",
                "a bounded Vec under the standard library's Mutex; the receiver takes the whole of it, all at once",
            ),
            Kind::Unbounded => (
                "mutex-swap-unbounded",
                "a Vec under the standard library's Mutex; the receiver takes the whole of it, all at once",
            ),
        };
        Card {
            name,
            version: VERSION,
            ours: false,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::batches(*self);
        measures.extend(grid::batches(*self, self.0));
        measures.extend(grid::batched_fan_in(*self, self.0));
        measures
    }
}

#[derive(Debug)]
struct Shared<M> {
    state: Mutex<State<M>>,
    not_empty: Condvar,
    not_full: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<M> {
    messages: Vec<M>,
    // Who waits is counted under the lock, since notifying a Condvar costs a system call even if no thread waits.
    receiver_waits: bool,
    waiting_senders: usize,
}

impl<M> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, message: M) {
        let mut state = self.lock();
        while state.messages.len() >= self.capacity {
            state.waiting_senders += 1;
            state = self
                .not_full
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting_senders -= 1;
        }
        state.messages.push(message);
        let awaited = state.receiver_waits;
        drop(state);
        if awaited {
            self.not_empty.notify_one();
        }
    }

    fn take(&self, mut state: MutexGuard<'_, State<M>>, buffer: &mut Vec<M>) {
        mem::swap(&mut state.messages, buffer);
        let awaited = state.waiting_senders > 0;
        drop(state);
        if awaited {
            self.not_full.notify_all();
        }
    }
}

impl<M: Send + 'static> BatchQueue<M> for MutexSwap {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (messages, capacity) = match self.0 {
            Kind::Bounded => (Vec::with_capacity(capacity), capacity),
            Kind::Unbounded => (Vec::new(), usize::MAX),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                messages,
                receiver_waits: false,
                waiting_senders: 0,
            }),
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
            capacity,
        });
        (Sending(Arc::clone(&shared)), Receiving(shared))
    }
}

#[derive(Debug)]
pub(super) struct Sending<M>(Arc<Shared<M>>);

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        Sending(Arc::clone(&self.0))
    }
}

impl<M: Send + 'static> PostMany<M> for Sending<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        messages.for_each(|message| self.0.push(message));
    }
}

#[derive(Debug)]
pub(super) struct Receiving<M>(Arc<Shared<M>>);

impl<M: Send + 'static> RetrieveMany<M> for Receiving<M> {
    fn receive_many(&mut self, buffer: &mut Vec<M>, _limit: usize) {
        let mut state = self.0.lock();
        while state.messages.is_empty() {
            state.receiver_waits = true;
            state = self
                .0
                .not_empty
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.receiver_waits = false;
        }
        self.0.take(state, buffer);
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<M>, _limit: usize) {
        self.0.take(self.0.lock(), buffer);
    }
}
