//! Queues for the tests of the verifiers: one that is sound, and one that commits a chosen fault once.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Condvar, Mutex};
use std::task::Poll;

use crate::for_tasks;
use crate::{AsyncPost, AsyncRetrieve, BatchQueue, Post, PostMany, Queue, Retrieve, RetrieveMany};

/// What a faulty queue does once, counting its messages from 0.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// The message at this position never arrives; the message after it does.
    Lose(u64),
    /// The message at this position arrives twice.
    Double(u64),
    /// The message before arrives in place of the one at this position.
    Stale(u64),
    /// The messages at this position and the next change places.
    Swap(u64),
    /// Two more messages are taken in than the queue should hold.
    TooRoomy,
}

impl Fault {
    /// Each of a stream of 2000 messages behind as many that warm up: among those, at their end, and in what is measured.
    pub(crate) const OF_A_STREAM: [Fault; 7] = [
        Fault::Lose(3),
        Fault::Lose(1999),
        Fault::Lose(3000),
        Fault::Lose(4000),
        Fault::Double(3000),
        Fault::Stale(3000),
        Fault::Swap(3000),
    ];
}

/// A bounded queue without faults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sound;

/// A bounded queue with one fault in each direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Faulty(pub(crate) Fault);

#[derive(Debug)]
struct Shared<M> {
    messages: Mutex<VecDeque<M>>,
    changed: Condvar,
    capacity: usize,
}

#[derive(Debug)]
pub(crate) struct Sending<M> {
    shared: Arc<Shared<M>>,
    fault: Option<Fault>,
    position: u64,
    held_back: Option<M>,
    before: Option<M>,
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(Arc<Shared<M>>);

impl<M: Clone + Send + 'static> Queue<M> for Sound {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        open(capacity, None)
    }
}

impl<M: Clone + Send + 'static> Queue<M> for Faulty {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let room = if matches!(self.0, Fault::TooRoomy) {
            2
        } else {
            0
        };
        open(capacity + room, Some(self.0))
    }
}

fn open<M>(capacity: usize, fault: Option<Fault>) -> (Sending<M>, Receiving<M>) {
    let shared = Arc::new(Shared {
        messages: Mutex::default(),
        changed: Condvar::new(),
        capacity,
    });
    let receiving = Receiving(Arc::clone(&shared));
    (
        Sending {
            shared,
            fault,
            position: 0,
            held_back: None,
            before: None,
        },
        receiving,
    )
}

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        Sending {
            shared: Arc::clone(&self.shared),
            fault: self.fault,
            position: 0,
            held_back: None,
            before: None,
        }
    }
}

impl<M: Clone + Send> Sending<M> {
    /// What arrives in place of `message`.
    fn damaged(&mut self, message: M) -> Vec<M> {
        let position = self.position;
        self.position += 1;
        let before = self.before.replace(message.clone());
        match self.fault {
            Some(Fault::Lose(at)) if at == position => vec![],
            Some(Fault::Double(at)) if at == position => vec![message.clone(), message],
            Some(Fault::Stale(at)) if at == position => vec![before.expect("there was one before")],
            Some(Fault::Swap(at)) if at == position => {
                self.held_back = Some(message);
                vec![]
            }
            Some(Fault::Swap(at)) if at + 1 == position => {
                vec![message, self.held_back.take().expect("it was held back")]
            }
            _ => vec![message],
        }
    }
}

impl<M: Clone + Send + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        for message in self.damaged(message) {
            let messages = self.shared.messages.lock().unwrap();
            let full = |messages: &mut VecDeque<M>| messages.len() >= self.shared.capacity;
            self.shared
                .changed
                .wait_while(messages, full)
                .unwrap()
                .push_back(message);
            self.shared.changed.notify_all();
        }
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        let full = self.shared.messages.lock().unwrap().len() >= self.shared.capacity;
        if full {
            return Err(message);
        }
        // Nothing else is sent in the tests that use this.
        self.send(message);
        Ok(())
    }
}

impl<M: Send + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        let messages = self.0.messages.lock().unwrap();
        let message = self
            .0
            .changed
            .wait_while(messages, |messages| messages.is_empty())
            .unwrap()
            .pop_front();
        self.0.changed.notify_all();
        message.expect("it waited for one")
    }

    fn try_receive(&mut self) -> Option<M> {
        let message = self.0.messages.lock().unwrap().pop_front();
        self.0.changed.notify_all();
        message
    }
}

impl<M: Clone + Send + 'static> BatchQueue<M> for Sound {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        Queue::open(self, capacity)
    }
}

impl<M: Clone + Send + 'static> BatchQueue<M> for Faulty {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        Queue::open(self, capacity)
    }
}

impl<M: Clone + Send + 'static> PostMany<M> for Sending<M> {
    fn send_many(&mut self, messages: impl ExactSizeIterator<Item = M>) {
        messages.for_each(|message| self.send(message));
    }
}

impl<M: Send + 'static> RetrieveMany<M> for Receiving<M> {
    fn receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
        buffer.push(self.receive());
        self.try_receive_many(buffer, limit);
    }

    fn try_receive_many(&mut self, buffer: &mut Vec<M>, limit: usize) {
        while buffer.len() < limit {
            match self.try_receive() {
                Some(message) => buffer.push(message),
                None => return,
            }
        }
    }
}

for_tasks!(Sound: Clone + Send + Sync);
for_tasks!(Faulty: Clone + Send + Sync);

// A task looks again and again, by way of its executor's queue.
impl<M: Clone + Send + Sync + 'static> AsyncPost<M> for Sending<M> {
    async fn send_async(&mut self, message: M) {
        let mut refused = Some(message);
        poll_fn(|context| {
            refused = refused
                .take()
                .and_then(|message| self.try_send(message).err());
            if refused.is_none() {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiving<M> {
    async fn receive_async(&mut self) -> M {
        poll_fn(|context| match self.try_receive() {
            Some(message) => Poll::Ready(message),
            None => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await
    }
}
