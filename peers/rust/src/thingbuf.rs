use ::thingbuf::mpsc::errors::TrySendError;
use ::thingbuf::mpsc::{self, blocking};
use tamtam_lab::{
    AsyncEnd, AsyncHandover, Card, Contender, Measure, Post, Queue, Retrieve, async_turns,
};

use tamtam_lab::offer::{self, Kind};

/// The channel of the crate `thingbuf`, whose places are made in advance and used again.
///
/// It has one channel for threads and one for tasks, and none between the two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thingbuf;

impl Contender for Thingbuf {
    fn card(&self) -> Card {
        Card {
            name: "thingbuf",
            version: env!("VERSION_OF_THINGBUF"),
            ours: false,
            about: "thingbuf's bounded channels for one receiver, one for threads and one for tasks; by value",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = offer::channel(*self, Kind::Bounded);
        measures.extend([async_turns::tokio(*self), async_turns::small(*self)]);
        measures
    }
}

impl<M: Default + Clone + Send + Sync + 'static> Queue<M> for Thingbuf {
    type Sender = Sending<M>;
    type Receiver = Receiving<M>;

    fn open(&self, capacity: usize) -> (Sending<M>, Receiving<M>) {
        let (sender, receiver) = blocking::channel(capacity);
        (Sending(sender), Receiving(receiver))
    }
}

impl<M: Default + Clone + Send + Sync + 'static> AsyncHandover<M> for Thingbuf {
    type End = TaskEnd<M>;

    fn connect_async(&self) -> (TaskEnd<M>, TaskEnd<M>) {
        let (to_far, from_near) = mpsc::channel(1);
        let (to_near, from_far) = mpsc::channel(1);
        (
            TaskEnd {
                sender: to_far,
                receiver: from_far,
            },
            TaskEnd {
                sender: to_near,
                receiver: from_near,
            },
        )
    }
}

#[derive(Debug)]
pub(crate) struct Sending<M>(blocking::Sender<M>);

impl<M> Clone for Sending<M> {
    fn clone(&self) -> Self {
        Sending(self.0.clone())
    }
}

impl<M: Default + Clone + Send + Sync + 'static> Post<M> for Sending<M> {
    fn send(&mut self, message: M) {
        assert!(self.0.send(message).is_ok(), "the receiver is gone");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        self.0.try_send(message).map_err(TrySendError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Receiving<M>(blocking::Receiver<M>);

impl<M: Default + Clone + Send + Sync + 'static> Retrieve<M> for Receiving<M> {
    fn receive(&mut self) -> M {
        self.0.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.0.try_recv().ok()
    }
}

/// One task's ends of two channels.
#[derive(Debug)]
pub(crate) struct TaskEnd<M> {
    sender: mpsc::Sender<M>,
    receiver: mpsc::Receiver<M>,
}

impl<M: Default + Clone + Send + Sync + 'static> AsyncEnd<M> for TaskEnd<M> {
    async fn send(&mut self, message: M) {
        let sent = self.sender.send(message).await;
        assert!(sent.is_ok(), "the receiver is gone");
    }

    async fn receive(&mut self) -> M {
        self.receiver.recv().await.expect("the sender is there")
    }
}
