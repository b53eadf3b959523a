//! Where our actors live: the pool or workers, behind one trait.

use std::time::Duration;

use tamtam_actor::{Actor, Address, Pool, Worker};
use tamtam_channel::Latch;

/// Where actors live.
pub(super) trait Home {
    /// Gives an actor its place.
    fn spawn<A: Actor + Send>(&mut self, actor: A) -> Address<A::Message>;

    /// Waits until `latch` is open; gives up after `patience`. A home that runs its actors in the calling thread does so
    /// here.
    fn wait(&mut self, latch: &Latch, patience: Duration) {
        // Whether it is open is seen by the one that asked.
        let _ = latch.wait_timeout(patience);
    }
}

impl Home for Pool {
    fn spawn<A: Actor + Send>(&mut self, actor: A) -> Address<A::Message> {
        Pool::spawn(self, actor)
    }
}

/// Workers: one for all actors, or one for each.
#[derive(Debug, Default)]
pub(super) struct Workers {
    workers: Vec<Worker>,
    one_for_all: bool,
}

impl Workers {
    /// One for all actors.
    pub(super) fn one_for_all() -> Self {
        Workers {
            workers: vec![Worker::new()],
            one_for_all: true,
        }
    }
}

impl Home for Workers {
    fn spawn<A: Actor + Send>(&mut self, actor: A) -> Address<A::Message> {
        if !self.one_for_all {
            self.workers.push(Worker::new());
        }
        let worker = self.workers.last().expect("there is one by now");
        worker.spawn(actor)
    }
}
