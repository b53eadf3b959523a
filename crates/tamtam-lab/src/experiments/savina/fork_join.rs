//! `fork-join`: a thread sends 10,000 messages to each of 60 actors, one to each in turn. An operation is a message sent
//! and handled. The paper calls it fork-join (throughput); the small computation that its actors make for each message is
//! left out, since it is the same for all.

use std::sync::Arc;

use super::{Classic, Tally};
use crate::{Others, Part};

#[derive(Debug, Clone, Copy)]
pub(super) struct ForkJoin {
    pub(super) actors: usize,
    pub(super) messages: u32,
}

/// With the paper's parameters.
pub(super) const PAPERS: ForkJoin = ForkJoin {
    actors: 60,
    messages: 10_000,
};

#[derive(Debug)]
pub(super) struct Actor {
    handled: u32,
    due: u32,
    tally: Arc<Tally>,
}

impl Part for Actor {
    type Message = u32;

    fn handle(&mut self, number: u32, _others: &impl Others<u32>) {
        if number != self.handled {
            self.tally
                .fault(format!("{number} came where {} was due", self.handled));
        }
        self.handled += 1;
        if self.handled == self.due {
            self.tally.done(self.handled.into());
        }
    }
}

impl Classic for ForkJoin {
    const EXPERIMENT: &'static str = "fork-join";

    type Part = Actor;

    fn operations(&self) -> u64 {
        self.actors as u64 * u64::from(self.messages)
    }

    fn reporters(&self) -> u64 {
        self.actors as u64
    }

    fn parts(&self, tally: &Arc<Tally>) -> Vec<Actor> {
        let actor = |_| Actor {
            handled: 0,
            due: self.messages,
            tally: Arc::clone(tally),
        };
        (0..self.actors).map(actor).collect()
    }

    fn start(&self, mut send: impl FnMut(usize, u32)) {
        for number in 0..self.messages {
            for position in 0..self.actors {
                send(position, number);
            }
        }
    }
}
