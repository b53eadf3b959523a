//! `threadring`: a token goes round 100 actors, for 100,000 hops. An operation is a hop.

use std::sync::Arc;

use super::{Classic, Tally};
use crate::{Others, Part};

#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadRing {
    pub(super) actors: u32,
    pub(super) hops: u32,
}

/// With the paper's parameters.
pub(super) const PAPERS: ThreadRing = ThreadRing {
    actors: 100,
    hops: 100_000,
};

#[derive(Debug)]
pub(super) struct Actor {
    ring: ThreadRing,
    next: u32,
    /// Which hop is due here.
    due: u32,
    tally: Arc<Tally>,
}

impl Part for Actor {
    /// Which hop it is, counted from 0.
    type Message = u32;

    fn handle(&mut self, hop: u32, others: &impl Others<u32>) {
        if hop != self.due {
            self.tally
                .fault(format!("hop {hop} came where {} was due", self.due));
        }
        self.due += self.ring.actors;
        let made = hop + 1;
        if made == self.ring.hops {
            self.tally.done(made.into());
        } else {
            others.tell(self.next as usize, made);
        }
    }
}

impl Classic for ThreadRing {
    const EXPERIMENT: &'static str = "threadring";

    type Part = Actor;

    fn operations(&self) -> u64 {
        self.hops.into()
    }

    fn reporters(&self) -> u64 {
        1
    }

    fn parts(&self, tally: &Arc<Tally>) -> Vec<Actor> {
        let actor = |position| Actor {
            ring: *self,
            next: (position + 1) % self.actors,
            due: position,
            tally: Arc::clone(tally),
        };
        (0..self.actors).map(actor).collect()
    }

    fn start(&self, mut send: impl FnMut(usize, u32)) {
        send(0, 0);
    }
}
