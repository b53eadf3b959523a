//! Two events, and a value beside each.

use std::sync::{Arc, Mutex, PoisonError};

use tamtam_channel::Event;

use super::VERSION;
use crate::{Card, Contender, End, Handover, Measure, crowd, idle, turns};

/// A shared cell each way, and an event that says that it was written.
///
/// Nothing tells the writer that a value was read; strict turns do not need it. So it takes no part in sparse traffic,
/// where a late reader would miss a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventPair;

impl Contender for EventPair {
    fn card(&self) -> Card {
        Card {
            name: "event",
            version: VERSION,
            ours: true,
            about: "an auto-reset event each way, beside a cell under a lock that is never contended",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        measures.push(crowd::measure(*self));
        measures.push(idle::measure(*self));
        measures
    }
}

impl<M: Send + 'static> Handover<M> for EventPair {
    type End = EventEnd<M>;

    fn connect(&self) -> (EventEnd<M>, EventEnd<M>) {
        let [there, back] = [(), ()].map(|()| {
            Arc::new(Cell {
                value: Mutex::new(None),
                written: Event::auto(),
            })
        });
        (
            EventEnd {
                outgoing: Arc::clone(&there),
                incoming: Arc::clone(&back),
            },
            EventEnd {
                outgoing: back,
                incoming: there,
            },
        )
    }
}

#[derive(Debug)]
struct Cell<M> {
    value: Mutex<Option<M>>,
    written: Event,
}

/// One worker's two cells.
#[derive(Debug)]
pub(super) struct EventEnd<M> {
    outgoing: Arc<Cell<M>>,
    incoming: Arc<Cell<M>>,
}

impl<M: Send + 'static> End<M> for EventEnd<M> {
    fn send(&mut self, message: M) {
        *self
            .outgoing
            .value
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(message);
        self.outgoing.written.set();
    }

    fn receive(&mut self) -> M {
        self.incoming.written.wait();
        let value = self
            .incoming
            .value
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        value.expect("the event is set after the value was written")
    }
}
