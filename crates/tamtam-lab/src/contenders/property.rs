//! Our property.

use std::sync::Arc;

use tamtam_channel::Property;

use super::VERSION;
use crate::{
    Card, Contender, End, GetLatest, Handover, Latest, Measure, Polled, SetLatest, property, turns,
};

/// The latest value; in turns, looked at in a tight loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct PropertyPolled;

/// The latest value; in turns, waited for.
///
/// As with an event, nothing tells the writer that a value was read. So it takes no part in sparse traffic, where a
/// reader that the system holds up rightly misses a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct PropertyWaited;

impl Contender for PropertyPolled {
    fn card(&self) -> Card {
        Card {
            name: "property",
            version: VERSION,
            ours: true,
            about: "the latest value for all readers; in turns one each way, looked at in a tight loop",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = property::measures(*self);
        measures.extend(turns::measures(Polled(*self)));
        measures.push(turns::string(Polled(*self)));
        measures
    }
}

impl<V: Clone + Send + Sync + 'static> Latest<V> for PropertyPolled {
    type Writer = Shared<V>;
    type Reader = Shared<V>;

    fn open(&self, first: V) -> (Shared<V>, Shared<V>) {
        let shared = Arc::new(Property::new(first));
        (Shared(Arc::clone(&shared)), Shared(shared))
    }
}

/// One side's share of a property.
#[derive(Debug)]
pub(super) struct Shared<V>(Arc<Property<V>>);

impl<V: Send + Sync + 'static> SetLatest<V> for Shared<V> {
    fn set(&mut self, value: V) {
        self.0.set(value);
    }
}

impl<V: Clone + Send + Sync + 'static> GetLatest<V> for Shared<V> {
    fn get(&mut self) -> V {
        self.0.get()
    }
}

impl Contender for PropertyWaited {
    fn card(&self) -> Card {
        Card {
            name: "property-waited",
            version: VERSION,
            ours: true,
            about: "a property each way, whose next value is waited for",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        measures
    }
}

impl<M: Clone + Default + Send + Sync + 'static> Handover<M> for PropertyWaited {
    type End = WaitedEnd<M>;

    fn connect(&self) -> (WaitedEnd<M>, WaitedEnd<M>) {
        let [there, back] = [(), ()].map(|()| Arc::new(Property::new(M::default())));
        (
            WaitedEnd::new(Arc::clone(&there), Arc::clone(&back)),
            WaitedEnd::new(back, there),
        )
    }
}

/// One worker's two properties.
#[derive(Debug)]
pub(super) struct WaitedEnd<M> {
    outgoing: Arc<Property<M>>,
    incoming: Arc<Property<M>>,
    seen: u64,
}

impl<M> WaitedEnd<M> {
    fn new(outgoing: Arc<Property<M>>, incoming: Arc<Property<M>>) -> Self {
        let seen = incoming.version();
        WaitedEnd {
            outgoing,
            incoming,
            seen,
        }
    }
}

impl<M: Clone + Send + Sync + 'static> End<M> for WaitedEnd<M> {
    fn send(&mut self, message: M) {
        self.outgoing.set(message);
    }

    fn receive(&mut self) -> M {
        self.seen = self.incoming.wait_changed(self.seen);
        self.incoming.get()
    }
}
