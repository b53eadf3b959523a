//! `big`: each of 120 actors sends 2,000 pings, one after the other, to others chosen at random, and waits for each pong
//! before it sends the next. An operation is a ping with its pong. The paper lets each send 20,000.

use std::sync::Arc;

use super::{Classic, Tally};
use crate::{Others, Part};

#[derive(Debug, Clone, Copy)]
pub(super) struct Big {
    pub(super) actors: u32,
    pub(super) pings: u32,
}

/// With the paper's actors, and a tenth of its pings.
pub(super) const PAPERS: Big = Big {
    actors: 120,
    pings: 2000,
};

#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    Start,
    Ping { from: u32, to: u32, number: u32 },
    Pong { to: u32, number: u32 },
}

#[derive(Debug)]
pub(super) struct Actor {
    big: Big,
    position: u32,
    /// How many of its pings were sent.
    sent: u32,
    answered: u32,
    random: u32,
    tally: Arc<Tally>,
}

impl Actor {
    fn ping_next(&mut self, others: &impl Others<Message>) {
        if self.sent == self.big.pings {
            self.tally.done(self.sent.into());
            return;
        }
        let to = self.anybody_else();
        let ping = Message::Ping {
            from: self.position,
            to,
            number: self.sent,
        };
        self.sent += 1;
        others.tell(to as usize, ping);
    }

    /// Marsaglia's generator ("Xorshift RNGs", 2003): the same choices for all who are measured.
    fn anybody_else(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        let ahead = 1 + self.random % (self.big.actors - 1);
        (self.position + ahead) % self.big.actors
    }
}

impl Part for Actor {
    type Message = Message;

    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match message {
            Message::Ping { from, to, number } if to == self.position => {
                others.tell(from as usize, Message::Pong { to: from, number });
            }
            Message::Pong { to, number } if to == self.position && number == self.answered => {
                self.answered += 1;
                self.ping_next(others);
            }
            Message::Start if self.sent == 0 => self.ping_next(others),
            _ => self.tally.fault(format!(
                "{message:?} came to actor {} where the answer to its ping {} was due",
                self.position, self.answered
            )),
        }
    }
}

impl Classic for Big {
    const EXPERIMENT: &'static str = "big";

    type Part = Actor;

    fn operations(&self) -> u64 {
        u64::from(self.actors) * u64::from(self.pings)
    }

    fn reporters(&self) -> u64 {
        self.actors.into()
    }

    fn parts(&self, tally: &Arc<Tally>) -> Vec<Actor> {
        let actor = |position| Actor {
            big: *self,
            position,
            sent: 0,
            answered: 0,
            // Any number but 0.
            random: 0x9E37_79B9 ^ position,
            tally: Arc::clone(tally),
        };
        (0..self.actors).map(actor).collect()
    }

    fn start(&self, mut send: impl FnMut(usize, Message)) {
        for position in 0..self.actors {
            send(position as usize, Message::Start);
        }
    }
}
