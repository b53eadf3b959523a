//! A queue under a `Mutex`, with a `Condvar`.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::VERSION;
use crate::offer::{self, Kind};
use crate::{Card, Contender, Measure, Post, Queue, Retrieve};

/// What one writes by hand: a `VecDeque` under a `Mutex`, and a `Condvar` for each side.
///
/// Who waits is counted under the lock, since notifying a `Condvar` costs a system call even if no thread waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct MutexCondvar;

impl Contender for MutexCondvar {
    fn card(&self) -> Card {
        Card {
            name: "mutex-condvar",
            version: VERSION,
            ours: false,
            about: "a bounded VecDeque under the standard library's Mutex, with two Condvars",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        offer::channel(*self, Kind::Bounded)
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
    messages: VecDeque<M>,
    waiting_receivers: usize,
    waiting_senders: usize,
}

impl<M> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the message in and lets go of the lock before it wakes a waiter.
    fn push(&self, mut state: MutexGuard<'_, State<M>>, message: M) {
        state.messages.push_back(message);
        let awaited = state.waiting_receivers > 0;
        drop(state);
        if awaited {
            self.not_empty.notify_one();
        }
    }

    fn pop(&self, mut state: MutexGuard<'_, State<M>>) -> Option<M> {
        let message = state.messages.pop_front()?;
        let awaited = state.waiting_senders > 0;
        drop(state);
        if awaited {
            self.not_full.notify_one();
        }
        Some(message)
    }
}

impl<M: Send + 'static> Queue<M> for MutexCondvar {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let state = State {
            messages: VecDeque::with_capacity(capacity),
            waiting_receivers: 0,
            waiting_senders: 0,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
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

impl<M: Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        let mut state = self.0.lock();
        while state.messages.len() == self.0.capacity {
            state.waiting_senders += 1;
            state = self
                .0
                .not_full
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting_senders -= 1;
        }
        self.0.push(state, message);
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        let state = self.0.lock();
        if state.messages.len() == self.0.capacity {
            return Err(message);
        }
        self.0.push(state, message);
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Receiving<M>(Arc<Shared<M>>);

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        let mut state = self.0.lock();
        while state.messages.is_empty() {
            state.waiting_receivers += 1;
            state = self
                .0
                .not_empty
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting_receivers -= 1;
        }
        self.0.pop(state).expect("it is not empty")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.pop(self.0.lock())
    }
}
