//! How one waits until actors have ended whose system does not tell.

use std::sync::Arc;

use tamtam_channel::Latch;

/// Counts down when it is dropped, with the actor that has it.
#[derive(Debug)]
pub(crate) struct Farewell(Arc<Latch>);

impl Farewell {
    /// One for an actor whose end `ended` counts.
    pub(crate) fn new(ended: &Arc<Latch>) -> Self {
        Farewell(Arc::clone(ended))
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.count_down();
    }
}
