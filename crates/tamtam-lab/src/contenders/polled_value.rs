//! The latest value in a slot that is never waited for.

use std::hint::spin_loop;
use std::sync::Arc;

use tamtam_channel::Slot;

use super::VERSION;
use crate::{Card, Contender, End, Handover, Measure, turns};

/// Article A's drop box: a shared value that the writer sets and the reader looks at in a tight loop, and clears.
///
/// The value is a slot, which is used without any of its waiting: `replace` and `try_take`.
#[derive(Debug, Clone, Copy)]
pub(super) struct PolledValue;

impl Contender for PolledValue {
    fn card(&self) -> Card {
        Card {
            name: "polled-value",
            version: VERSION,
            ours: true,
            about: "a slot each way that is looked at in a tight loop, as article A's shared property",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = turns::measures(*self);
        measures.push(turns::string(*self));
        measures
    }
}

impl<M: Send + 'static> Handover<M> for PolledValue {
    type End = PolledEnd<M>;

    fn connect(&self) -> (PolledEnd<M>, PolledEnd<M>) {
        let [there, back] = [(), ()].map(|()| Arc::new(Slot::new()));
        (
            PolledEnd {
                outgoing: Arc::clone(&there),
                incoming: Arc::clone(&back),
            },
            PolledEnd {
                outgoing: back,
                incoming: there,
            },
        )
    }
}

/// One worker's two values.
#[derive(Debug)]
pub(super) struct PolledEnd<M> {
    outgoing: Arc<Slot<M>>,
    incoming: Arc<Slot<M>>,
}

impl<M: Send + 'static> End<M> for PolledEnd<M> {
    fn send(&mut self, message: M) {
        let unread = self.outgoing.replace(message);
        assert!(
            unread.is_none(),
            "a value was overwritten before it was read"
        );
    }

    fn receive(&mut self) -> M {
        loop {
            if let Some(message) = self.incoming.try_take() {
                return message;
            }
            spin_loop();
        }
    }
}
