//! Two slots, one each way.

use std::sync::Arc;

use tamtam_channel::{Slot, Wait};

use super::VERSION;
use crate::{
    AsyncEnd, AsyncHandover, Card, Contender, End, Handover, Measure, MixedHandover, async_turns,
    crowd, idle, sparse, turns,
};

/// The slot as it comes.
pub(super) const SLOT: SlotPair = SlotPair {
    wait: Wait::Adaptive,
};
/// A slot that spins.
pub(super) const SLOT_SPIN: SlotPair = SlotPair { wait: Wait::Spin };
/// A slot that yields its core in a loop.
pub(super) const SLOT_YIELD: SlotPair = SlotPair { wait: Wait::Yield };
/// A slot that sleeps at once.
pub(super) const SLOT_PARK: SlotPair = SlotPair { wait: Wait::Park };

/// Two slots, one each way.
#[derive(Debug, Clone, Copy)]
pub(super) struct SlotPair {
    wait: Wait,
}

impl Contender for SlotPair {
    fn card(&self) -> Card {
        let (name, about) = match self.wait {
            Wait::Spin => (
                "slot-spin",
                "a slot each way, spinning: fast only on a core of its own",
            ),
            Wait::Yield => ("slot-yield", "a slot each way, yielding its core in a loop"),
            Wait::Park => ("slot-park", "a slot each way, asleep at once"),
            _ => ("slot", "a slot each way, with the default wait"),
        };
        Card {
            name,
            version: VERSION,
            ours: true,
            about,
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        if self.wait == Wait::Adaptive {
            measures.push(async_turns::tokio(*self));
            measures.push(async_turns::small(*self));
            measures.extend(async_turns::mixed(*self));
        }
        // One that never sleeps shows nothing new when there is nothing to do: it burns a core then too.
        if !matches!(self.wait, Wait::Spin) {
            measures.extend(sparse::measures(*self));
            measures.push(crowd::measure(*self));
            measures.push(idle::measure(*self));
        }
        measures
    }
}

impl<M: Send + 'static> Handover<M> for SlotPair {
    type End = SlotEnd<M>;

    fn connect(&self) -> (SlotEnd<M>, SlotEnd<M>) {
        let [there, back] = [(), ()].map(|()| Arc::new(Slot::new().with_wait(self.wait)));
        (
            SlotEnd {
                outgoing: Arc::clone(&there),
                incoming: Arc::clone(&back),
            },
            SlotEnd {
                outgoing: back,
                incoming: there,
            },
        )
    }
}

/// One worker's two slots.
#[derive(Debug)]
pub(super) struct SlotEnd<M> {
    outgoing: Arc<Slot<M>>,
    incoming: Arc<Slot<M>>,
}

impl<M: Send + 'static> End<M> for SlotEnd<M> {
    fn send(&mut self, message: M) {
        self.outgoing.put(message);
    }

    fn receive(&mut self) -> M {
        self.incoming.take()
    }
}

impl<M: Send + 'static> AsyncHandover<M> for SlotPair {
    type End = SlotEnd<M>;

    fn connect_async(&self) -> (SlotEnd<M>, SlotEnd<M>) {
        self.connect()
    }
}

impl<M: Send + 'static> MixedHandover<M> for SlotPair {
    type Near = SlotEnd<M>;
    type Far = SlotEnd<M>;

    fn connect_mixed(&self) -> (SlotEnd<M>, SlotEnd<M>) {
        self.connect()
    }
}

impl<M: Send + 'static> AsyncEnd<M> for SlotEnd<M> {
    async fn send(&mut self, message: M) {
        self.outgoing.put_async(message).await;
    }

    async fn receive(&mut self) -> M {
        self.incoming.take_async().await
    }
}
