//! `counting`: one actor sends another 1,000,000 numbers, then asks how many came. An operation is a number sent and
//! counted.

use std::sync::Arc;

use super::{Classic, Tally};
use crate::{Others, Part};

#[derive(Debug, Clone, Copy)]
pub(super) struct Counting {
    pub(super) numbers: u32,
}

/// With the paper's parameters.
pub(super) const PAPERS: Counting = Counting { numbers: 1_000_000 };

const PRODUCER: usize = 0;
const COUNTER: usize = 1;

#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    Start,
    Number(u32),
    HowMany,
    SoMany(u32),
}

#[derive(Debug)]
pub(super) enum Actor {
    Producer { numbers: u32, tally: Arc<Tally> },
    Counter { counted: u32, tally: Arc<Tally> },
}

impl Part for Actor {
    type Message = Message;

    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match (self, message) {
            (Actor::Counter { counted, tally }, Message::Number(number)) => {
                if number != *counted {
                    tally.fault(format!("{number} came where {counted} was due"));
                }
                *counted += 1;
            }
            (Actor::Counter { counted, .. }, Message::HowMany) => {
                others.tell(PRODUCER, Message::SoMany(*counted));
            }
            (Actor::Producer { numbers, .. }, Message::Start) => {
                for number in 0..*numbers {
                    others.tell(COUNTER, Message::Number(number));
                }
                others.tell(COUNTER, Message::HowMany);
            }
            (Actor::Producer { tally, .. }, Message::SoMany(counted)) => {
                tally.done(counted.into());
            }
            (Actor::Producer { tally, .. } | Actor::Counter { tally, .. }, message) => {
                tally.fault(format!("{message:?} came to the wrong actor"));
            }
        }
    }
}

impl Classic for Counting {
    const EXPERIMENT: &'static str = "counting";

    type Part = Actor;

    fn operations(&self) -> u64 {
        self.numbers.into()
    }

    fn reporters(&self) -> u64 {
        1
    }

    fn parts(&self, tally: &Arc<Tally>) -> Vec<Actor> {
        vec![
            Actor::Producer {
                numbers: self.numbers,
                tally: Arc::clone(tally),
            },
            Actor::Counter {
                counted: 0,
                tally: Arc::clone(tally),
            },
        ]
    }

    fn start(&self, mut send: impl FnMut(usize, Message)) {
        send(PRODUCER, Message::Start);
    }
}
