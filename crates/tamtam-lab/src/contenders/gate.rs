//! What the worker of `post` is blocked on: our event.

use tamtam_channel::Event;

use crate::Gate;

/// What the worker of `post` is blocked on: our event.
#[derive(Debug)]
pub(super) struct EventGate(Event);

impl Default for EventGate {
    fn default() -> Self {
        EventGate(Event::auto())
    }
}

impl Gate for EventGate {
    fn open(&self) {
        self.0.set();
    }

    fn pass(&self) {
        self.0.wait();
    }
}
