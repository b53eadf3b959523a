//! Our channels, one message at a time.

use tamtam_channel::{Receiver, Sender, bounded, unbounded};

use super::calls::ThreadForEachClient;
use super::channel_ask::ThreadWithChannel;
use super::gate::EventGate;
use super::select::SelectOfChannels;
use super::{VERSION, offer};
use crate::for_tasks;
use crate::offer as offered;
use crate::{
    AsyncPost, AsyncRetrieve, Card, Contender, Measure, Post, Queue, Retrieve, ask, calls, grid,
    post, stream,
};

/// The bounded channel: in a handover one of capacity 1 each way.
pub(super) const CHANNEL: Channel = Channel {
    kind: Kind::Bounded,
};
/// The unbounded channel.
pub(super) const CHANNEL_UNBOUNDED: Channel = Channel {
    kind: Kind::Unbounded,
};
/// The channel without room: a send waits for its receive.
pub(super) const CHANNEL_RENDEZVOUS: Channel = Channel {
    kind: Kind::Rendezvous,
};

/// Our channel, in one of its kinds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Channel {
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bounded,
    Unbounded,
    Rendezvous,
}

impl Contender for Channel {
    fn card(&self) -> Card {
        let (name, about) = match self.kind {
            Kind::Bounded => (
                "channel",
                "bounded channel: capacity 1 each way in turns, COUNT in post, 10,000 elsewhere; answers to asks in a slot",
            ),
            Kind::Unbounded => ("channel-unbounded", "unbounded channel"),
            Kind::Rendezvous => (
                "channel-rendezvous",
                "channel of capacity 0: a send waits for its receive",
            ),
        };
        Card {
            name,
            version: VERSION,
            ours: true,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        if self.kind == Kind::Rendezvous {
            return offer::handover(*self);
        }
        let mut measures = offer::single(*self);
        measures.extend(stream::fan_in(*self));
        let kind = match self.kind {
            Kind::Unbounded => offered::Kind::Unbounded,
            _ => offered::Kind::Bounded,
        };
        measures.extend(grid::channel(*self, kind));
        measures.extend(grid::channel_of_tasks(*self, kind));
        if self.kind == Kind::Bounded {
            measures.push(post::limit::<_, EventGate>(*self));
            let ways = &[grid::Selecting::Fresh, grid::Selecting::Kept];
            measures.extend(grid::selects(SelectOfChannels, ways));
            measures.extend(grid::empty_selects(SelectOfChannels));
            measures.extend(ask::measures(ThreadWithChannel, ThreadWithChannel::ORIGINS));
            measures.extend(calls::measures(ThreadForEachClient));
        }
        measures
    }
}

impl<M: Send + 'static> Queue<M> for Channel {
    type Sender = Sender<M>;
    type Receiver = Receiver<M>;

    fn open(&self, capacity: usize) -> (Sender<M>, Receiver<M>) {
        match self.kind {
            Kind::Bounded => bounded(capacity),
            Kind::Unbounded => unbounded(),
            Kind::Rendezvous => bounded(0),
        }
    }
}

impl<M: Send + 'static> Post<M> for Sender<M> {
    fn send(&mut self, message: M) {
        Sender::send(self, message).expect("the receiver is there");
    }

    fn try_send(&mut self, message: M) -> Result<(), M> {
        Sender::try_send(self, message).map_err(tamtam_channel::TrySendError::into_inner)
    }
}

impl<M: Send + 'static> Retrieve<M> for Receiver<M> {
    fn receive(&mut self) -> M {
        self.recv().expect("the sender is there")
    }

    fn try_receive(&mut self) -> Option<M> {
        self.try_recv().ok()
    }
}

for_tasks!(Channel);

impl<M: Send + 'static> AsyncPost<M> for Sender<M> {
    async fn send_async(&mut self, message: M) {
        let sent = Sender::send_async(self, message).await;
        sent.expect("the receiver is there");
    }
}

impl<M: Send + 'static> AsyncRetrieve<M> for Receiver<M> {
    async fn receive_async(&mut self) -> M {
        self.recv_async().await.expect("the sender is there")
    }
}
