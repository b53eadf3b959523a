use tamtam_lab::{
    AsyncEnd, AsyncHandover, Card, Contender, End, Handover, Measure, MixedHandover, async_turns,
    turns,
};
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// `tokio::sync::oneshot`, a new one for every message: a message brings the sender for its answer.
///
/// The receiver of a thread is `blocking_recv`; sending never waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Oneshots;

impl Contender for Oneshots {
    fn card(&self) -> Card {
        Card {
            name: "tokio-oneshot",
            version: env!("VERSION_OF_TOKIO"),
            ours: false,
            about: "a new oneshot channel of tokio for every message, which brings the sender for its answer",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        measures.extend([async_turns::tokio(*self), async_turns::small(*self)]);
        measures.extend(async_turns::mixed(*self));
        measures
    }
}

/// What a oneshot carries.
#[derive(Debug)]
struct Letter<M> {
    message: M,
    answer: Sender<Letter<M>>,
}

/// One side: it either has the sender for its next message, or waits for the message that brings it.
#[derive(Debug)]
pub(crate) struct OneshotEnd<M> {
    sender: Option<Sender<Letter<M>>>,
    receiver: Option<Receiver<Letter<M>>>,
}

impl<M> OneshotEnd<M> {
    fn pair() -> (Self, Self) {
        let (sender, receiver) = channel();
        (
            OneshotEnd {
                sender: Some(sender),
                receiver: None,
            },
            OneshotEnd {
                sender: None,
                receiver: Some(receiver),
            },
        )
    }

    fn post(&mut self, message: M) {
        let (answer, receiver) = channel();
        self.receiver = Some(receiver);
        let sender = self.sender.take().expect("turns are strict");
        let sent = sender.send(Letter { message, answer });
        assert!(sent.is_ok(), "the receiver is gone");
    }

    fn take_receiver(&mut self) -> Receiver<Letter<M>> {
        self.receiver.take().expect("turns are strict")
    }

    fn open(&mut self, letter: Letter<M>) -> M {
        self.sender = Some(letter.answer);
        letter.message
    }
}

impl<M: Send + 'static> Handover<M> for Oneshots {
    type End = OneshotEnd<M>;

    fn connect(&self) -> (OneshotEnd<M>, OneshotEnd<M>) {
        OneshotEnd::pair()
    }
}

impl<M: Send + 'static> AsyncHandover<M> for Oneshots {
    type End = OneshotEnd<M>;

    fn connect_async(&self) -> (OneshotEnd<M>, OneshotEnd<M>) {
        OneshotEnd::pair()
    }
}

impl<M: Send + 'static> MixedHandover<M> for Oneshots {
    type Near = OneshotEnd<M>;
    type Far = OneshotEnd<M>;

    fn connect_mixed(&self) -> (OneshotEnd<M>, OneshotEnd<M>) {
        OneshotEnd::pair()
    }
}

impl<M: Send + 'static> End<M> for OneshotEnd<M> {
    fn send(&mut self, message: M) {
        self.post(message);
    }

    fn receive(&mut self) -> M {
        let letter = self.take_receiver().blocking_recv();
        self.open(letter.expect("the sender is there"))
    }
}

impl<M: Send + 'static> AsyncEnd<M> for OneshotEnd<M> {
    async fn send(&mut self, message: M) {
        self.post(message);
    }

    async fn receive(&mut self) -> M {
        let letter = self.take_receiver().await;
        self.open(letter.expect("the sender is there"))
    }
}
