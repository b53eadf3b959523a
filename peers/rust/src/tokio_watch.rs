use tamtam_lab::{
    AsyncEnd, AsyncHandover, Card, Contender, GetLatest, Latest, Measure, SetLatest, async_turns,
    property,
};
use tokio::sync::watch::{Receiver, Sender, channel};

/// The channel `tokio::sync::watch`, which keeps the latest value. Only tasks can wait for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch;

impl Contender for Watch {
    fn card(&self) -> Card {
        Card {
            name: "tokio-watch",
            version: env!("VERSION_OF_TOKIO"),
            ours: false,
            about: "tokio's watch, which keeps the latest value; in turns one each way, waited for",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = property::measures(*self);
        measures.extend([async_turns::tokio(*self), async_turns::small(*self)]);
        measures
    }
}

impl<V: Clone + Send + Sync + 'static> Latest<V> for Watch {
    type Writer = Writer<V>;
    type Reader = Reader<V>;

    fn open(&self, first: V) -> (Writer<V>, Reader<V>) {
        let (sender, receiver) = channel(first);
        (Writer(sender), Reader(receiver))
    }
}

#[derive(Debug)]
pub(crate) struct Writer<V>(Sender<V>);

impl<V: Send + Sync + 'static> SetLatest<V> for Writer<V> {
    fn set(&mut self, value: V) {
        // Unlike `send`, also when no receiver is left.
        self.0.send_replace(value);
    }
}

#[derive(Debug)]
pub(crate) struct Reader<V>(Receiver<V>);

impl<V: Clone + Send + Sync + 'static> GetLatest<V> for Reader<V> {
    fn get(&mut self) -> V {
        self.0.borrow().clone()
    }
}

impl<M: Clone + Default + Send + Sync + 'static> AsyncHandover<M> for Watch {
    type End = WatchEnd<M>;

    fn connect_async(&self) -> (WatchEnd<M>, WatchEnd<M>) {
        let (to_far, from_near) = channel(M::default());
        let (to_near, from_far) = channel(M::default());
        (
            WatchEnd {
                sender: to_far,
                receiver: from_far,
            },
            WatchEnd {
                sender: to_near,
                receiver: from_near,
            },
        )
    }
}

/// One task's ends of the two.
#[derive(Debug)]
pub(crate) struct WatchEnd<M> {
    sender: Sender<M>,
    receiver: Receiver<M>,
}

impl<M: Clone + Default + Send + Sync + 'static> AsyncEnd<M> for WatchEnd<M> {
    async fn send(&mut self, message: M) {
        self.sender.send_replace(message);
    }

    async fn receive(&mut self) -> M {
        self.receiver.changed().await.expect("the sender is there");
        self.receiver.borrow_and_update().clone()
    }
}
