//! An actor behind a link whose two ends are in one process: what a link itself costs, without what carries it between processes.

use std::thread;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Pool, Reply};
use tamtam_channel::{Receiver, bounded};
use tamtam_link::{Inbound, Link, LinkBuilder};

use super::asked;
use crate::ask::{self, Ask, Asker, Counter, Origin, Teller};
use crate::contenders::VERSION;
use crate::{Card, Contender, Measure};

/// Two ends, whose bytes two threads carry in memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct LinkInMemory;

impl Contender for LinkInMemory {
    fn card(&self) -> Card {
        Card {
            name: "link-memory",
            version: VERSION,
            ours: true,
            about: "an actor behind a link within the process: a thread for each direction gives the other end what the first has written",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        ask::by_carrier(*self)
    }
}

/// What the actor gets.
#[derive(Serialize, Deserialize)]
enum Message {
    Tell(u64),
    Ask(u64, Reply<u64>),
}

/// An end, its half that takes in, and what rings when it has something to send.
type LinkEnd = (Link, Inbound, Receiver<()>);

fn end(builder: LinkBuilder) -> LinkEnd {
    let (ring, rung) = bounded(1);
    let (link, inbound) = builder.build(move || {
        // One that has rung and was not heard is enough.
        let _ = ring.try_send(());
    });
    (link, inbound, rung)
}

/// Carries until the link ends.
fn carry(from: &Link, rung: &Receiver<()>, to: &mut Inbound) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        from.take_outgoing(&mut bytes);
        if bytes.is_empty() {
            if from.ended().is_some() || rung.recv().is_err() {
                return;
            }
        } else if to.receive(&bytes).is_err() {
            return;
        }
    }
}

/// Does something with this end of a link; the actor is at the other one, on a pool of so many threads.
fn linked<R>(threads: usize, act: impl FnOnce(&Link) -> R) -> R {
    let pool = Pool::with_threads(threads);
    let mut counter = Counter::default();
    let actor = pool.spawn_fn(move |message: Message, _| match message {
        Message::Tell(number) => counter.tell(number),
        Message::Ask(number, reply) => reply.send(counter.ask(number)),
    });
    let (here, mut to_here, of_here) = end(Link::builder());
    let (there, mut to_there, of_there) = end(Link::builder().root(&actor));
    thread::scope(|scope| {
        scope.spawn(|| carry(&here, &of_here, &mut to_there));
        scope.spawn(|| carry(&there, &of_there, &mut to_here));
        let done = act(&here);
        here.close();
        there.close();
        done
    })
}

impl Ask for LinkInMemory {
    fn ask(&self, _: Origin, threads: usize, asker: Asker) -> Asker {
        linked(threads, |link| {
            asked::ask_by(&link.root(), Message::Ask, asker)
        })
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        linked(threads, |link| {
            asked::tell_by(&link.root(), Message::Tell, Message::Ask, teller);
        });
    }
}
