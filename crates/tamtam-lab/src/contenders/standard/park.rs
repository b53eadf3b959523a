//! An atomic number, and `park` and `unpark`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use super::VERSION;
use crate::offer;
use crate::{Card, Contender, Measure, Post, Queue, Retrieve};

/// The handover that one writes by hand with `thread::park`: a place for one message under a `Mutex`, which also says which
/// thread to unpark.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parked;

impl Contender for Parked {
    fn card(&self) -> Card {
        Card {
            name: "std::thread::park",
            version: VERSION,
            ours: false,
            about: "a place for one message under the standard library's Mutex; who waits parks, who comes unparks",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        offer::handover(*self)
    }
}

#[derive(Debug)]
struct Place<M>(Mutex<State<M>>);

#[derive(Debug)]
struct State<M> {
    message: Option<M>,
    /// Parked, or about to park, until there is a message.
    receiver: Option<Thread>,
    /// Parked, or about to park, until there is room.
    sender: Option<Thread>,
}

impl<M> Place<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the message in if there is room. The lock is released before the receiver is unparked.
    fn put(&self, message: M, waiting: Option<&Thread>) -> Result<(), M> {
        let mut state = self.lock();
        if state.message.is_some() {
            state.sender = waiting.cloned();
            return Err(message);
        }
        state.message = Some(message);
        let receiver = state.receiver.take();
        drop(state);
        if let Some(receiver) = receiver {
            receiver.unpark();
        }
        Ok(())
    }

    /// Takes the message if there is one. The lock is released before the sender is unparked.
    fn take(&self, waiting: Option<&Thread>) -> Option<M> {
        let mut state = self.lock();
        let Some(message) = state.message.take() else {
            state.receiver = waiting.cloned();
            return None;
        };
        let sender = state.sender.take();
        drop(state);
        if let Some(sender) = sender {
            sender.unpark();
        }
        Some(message)
    }
}

impl<M: Send + 'static> Queue<M> for Parked {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    /// One message, whatever the capacity: it takes part in turns only.
    fn open(&self, _capacity: usize) -> (Sending<M>, Receiving<M>) {
        let place = Arc::new(Place(Mutex::new(State {
            message: None,
            receiver: None,
            sender: None,
        })));
        (
            Sending {
                place: Arc::clone(&place),
                thread: None,
            },
            Receiving {
                place,
                thread: None,
            },
        )
    }
}

#[derive(Debug)]
pub(super) struct Sending<M> {
    place: Arc<Place<M>>,
    /// The thread that sends, known from its first wait on.
    thread: Option<Thread>,
}

impl<M: Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, mut message: M) {
        let thread = self.thread.get_or_insert_with(thread::current);
        while let Err(back) = self.place.put(message, Some(thread)) {
            message = back;
            thread::park();
        }
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.place.put(message, None)
    }
}

#[derive(Debug)]
pub(super) struct Receiving<M> {
    place: Arc<Place<M>>,
    /// The thread that receives, known from its first wait on.
    thread: Option<Thread>,
}

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        let thread = self.thread.get_or_insert_with(thread::current);
        loop {
            if let Some(message) = self.place.take(Some(thread)) {
                return message;
            }
            thread::park();
        }
    }

    fn try_receive(&mut self) -> Option<M> {
        self.place.take(None)
    }
}
