//! `chameneos`: 100 creatures come to one mall, which makes pairs of them; the two change their colours and come again,
//! until 200,000 pairs have met. An operation is a meeting: four messages. The game is Kaiser and Pradat-Peyre's
//! ("Chameneos, a concurrency game for Java, Ada and others", 2003).

use std::sync::Arc;

use super::{Classic, Tally};
use crate::{Others, Part};

#[derive(Debug, Clone, Copy)]
pub(super) struct Chameneos {
    pub(super) creatures: u32,
    pub(super) meetings: u32,
}

/// With the paper's parameters.
pub(super) const PAPERS: Chameneos = Chameneos {
    creatures: 100,
    meetings: 200_000,
};

const MALL: usize = 0;

impl Chameneos {
    /// The mall included.
    fn actors(&self) -> u32 {
        self.creatures + 1
    }

    /// Who makes the visit of that number.
    fn visitor(&self, visit: u32) -> usize {
        (visit % self.actors()) as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    Blue,
    Red,
    Yellow,
}

impl Colour {
    /// The third colour, or the same if both are the same.
    fn met(self, other: Colour) -> Colour {
        match (self, other) {
            (Colour::Blue, Colour::Blue)
            | (Colour::Red, Colour::Yellow)
            | (Colour::Yellow, Colour::Red) => Colour::Blue,
            (Colour::Red, Colour::Red)
            | (Colour::Blue, Colour::Yellow)
            | (Colour::Yellow, Colour::Blue) => Colour::Red,
            (Colour::Yellow, Colour::Yellow)
            | (Colour::Blue, Colour::Red)
            | (Colour::Red, Colour::Blue) => Colour::Yellow,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Message {
    /// To a creature: go to the mall.
    Start,
    /// To the mall: here I am.
    Come(Visit),
    /// To a creature, about its visit of that number: another one has come, too.
    Meet { visit: u32, with: Visit },
    /// To the one who came second, about its visit of that number: the colour that both have now.
    Change { visit: u32, colour: Colour },
    /// To a creature, about its visit of that number: the mall has closed.
    Closed { visit: u32 },
    /// To the mall: how often a creature has met another one.
    Met { who: u32, times: u32 },
}

/// A creature in the mall.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit {
    /// Of all visits: the first ones of the creatures have the numbers of their positions, and the next of a creature has
    /// a number higher by as many actors as there are.
    number: u32,
    colour: Colour,
}

#[derive(Debug)]
pub(super) enum Actor {
    Mall(Mall),
    Creature(Creature),
}

#[derive(Debug)]
pub(super) struct Mall {
    game: Chameneos,
    waiting: Option<Visit>,
    meetings: u32,
    /// Who has yet to say how often it met another one, by the positions.
    expected: Vec<bool>,
    met: u64,
    tally: Arc<Tally>,
}

#[derive(Debug)]
pub(super) struct Creature {
    position: u32,
    colour: Colour,
    /// Where it is: the number of its visit.
    visit: Option<u32>,
    met: u32,
    game: Chameneos,
    tally: Arc<Tally>,
}

impl Mall {
    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match message {
            Message::Come(Visit { number, .. }) if self.meetings == self.game.meetings => {
                let closed = Message::Closed { visit: number };
                others.tell(self.game.visitor(number), closed);
            }
            Message::Come(with) => match self.waiting.take() {
                None => self.waiting = Some(with),
                Some(Visit { number, .. }) => {
                    self.meetings += 1;
                    let meet = Message::Meet {
                        visit: number,
                        with,
                    };
                    others.tell(self.game.visitor(number), meet);
                }
            },
            Message::Met { who, times } if self.expected[who as usize] => {
                self.expected[who as usize] = false;
                self.met += u64::from(times);
                if !self.expected.contains(&true) {
                    if self.met % 2 == 1 {
                        self.tally.fault("somebody met nobody".to_owned());
                    }
                    self.tally.done(self.met / 2);
                }
            }
            _ => self.tally.fault(format!("{message:?} came to the mall")),
        }
    }
}

impl Creature {
    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match (message, self.visit) {
            (Message::Start, None) => self.go(self.position, others),
            (Message::Meet { visit, with }, Some(due)) if visit == due => {
                self.change(self.colour.met(with.colour));
                let change = Message::Change {
                    visit: with.number,
                    colour: self.colour,
                };
                others.tell(self.game.visitor(with.number), change);
                self.go(due + self.game.actors(), others);
            }
            (Message::Change { visit, colour }, Some(due)) if visit == due => {
                self.change(colour);
                self.go(due + self.game.actors(), others);
            }
            (Message::Closed { visit }, Some(due)) if visit == due => {
                // Nothing that comes from now on is due.
                self.visit = Some(0);
                let met = Message::Met {
                    who: self.position,
                    times: self.met,
                };
                others.tell(MALL, met);
            }
            (message, visit) => self.tally.fault(format!(
                "{message:?} came to creature {} on its visit {visit:?}",
                self.position
            )),
        }
    }

    fn change(&mut self, colour: Colour) {
        self.colour = colour;
        self.met += 1;
    }

    fn go(&mut self, visit: u32, others: &impl Others<Message>) {
        self.visit = Some(visit);
        let visit = Visit {
            number: visit,
            colour: self.colour,
        };
        others.tell(MALL, Message::Come(visit));
    }
}

impl Part for Actor {
    type Message = Message;

    fn handle(&mut self, message: Message, others: &impl Others<Message>) {
        match self {
            Actor::Mall(mall) => mall.handle(message, others),
            Actor::Creature(creature) => creature.handle(message, others),
        }
    }
}

impl Classic for Chameneos {
    const EXPERIMENT: &'static str = "chameneos";

    type Part = Actor;

    fn operations(&self) -> u64 {
        self.meetings.into()
    }

    fn reporters(&self) -> u64 {
        1
    }

    fn parts(&self, tally: &Arc<Tally>) -> Vec<Actor> {
        let mall = Actor::Mall(Mall {
            game: *self,
            waiting: None,
            meetings: 0,
            expected: (0..self.actors()).map(|position| position > 0).collect(),
            met: 0,
            tally: Arc::clone(tally),
        });
        let colours = [Colour::Blue, Colour::Red, Colour::Yellow];
        let creature = |position: u32| {
            Actor::Creature(Creature {
                position,
                colour: colours[position as usize % 3],
                visit: None,
                met: 0,
                game: *self,
                tally: Arc::clone(tally),
            })
        };
        std::iter::once(mall)
            .chain((1..=self.creatures).map(creature))
            .collect()
    }

    fn start(&self, mut send: impl FnMut(usize, Message)) {
        for position in 1..=self.creatures {
            send(position as usize, Message::Start);
        }
    }
}
