use std::sync::{Arc, OnceLock};

use tamtam_actor::{Actor, Address, Context, Pool, Reply};
use tamtam_channel::Latch;

use super::VERSION;
use super::players::Players;
use crate::drive::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use crate::drive::executor::runtime;
use crate::drive::ring::{Actors, Parcel, Plan, Ring, Station};
use crate::drive::{
    Card, Contender, Measure, Part, Placement, Troupe, ask, flood, ring, savina, sparse,
};

/// Actors on a pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ActorsOnPool;

impl Contender for ActorsOnPool {
    fn card(&self) -> Card {
        Card {
            name: "pool",
            version: VERSION,
            ours: true,
            about: "actors with unlimited mailboxes on a pool of threads",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::measures(*self);
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        let origins = [Origin::OF_POOLS.as_slice(), &[Origin::Task]].concat();
        measures.extend(ask::measures(*self, &origins));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures
    }
}

impl Troupe for ActorsOnPool {
    type Stage<P: Part> = Players<Pool, P>;

    fn open<P: Part>(&self, threads: usize) -> Players<Pool, P> {
        Players::at(Pool::with_threads(threads))
    }
}

/// An actor of the ring.
struct Node<const WORDS: usize> {
    station: Station,
    next: Next<WORDS>,
    gone: Arc<Latch>,
}

enum Next<const WORDS: usize> {
    Nobody,
    Known(Address<Parcel<WORDS>>),
    /// The first one, who is made last.
    First(Arc<OnceLock<Address<Parcel<WORDS>>>>),
}

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Message = Parcel<WORDS>;

    fn handle(&mut self, parcel: Parcel<WORDS>, _: &mut Context<Self>) {
        let next = match &self.next {
            Next::Nobody => None,
            Next::Known(next) => Some(next),
            Next::First(first) => first.get(),
        };
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), next) {
            // One that is lost is missed at the end.
            let _ = next.tell(parcel);
        }
    }
}

impl<const WORDS: usize> Drop for Node<WORDS> {
    fn drop(&mut self) {
        self.gone.count_down();
    }
}

impl<const WORDS: usize> Ring<WORDS> for ActorsOnPool {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            pool: Pool::with_threads(threads),
            entries: Vec::new(),
            gone: Arc::new(Latch::new(0)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Nodes<const WORDS: usize> {
    pool: Pool,
    entries: Vec<Address<Parcel<WORDS>>>,
    /// Opens when the actors of this round are gone.
    gone: Arc<Latch>,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        self.gone = Arc::new(Latch::new(plan.actors() as u64));
        let first = Arc::new(OnceLock::new());
        let mut next = if plan.is_closed() {
            Next::First(Arc::clone(&first))
        } else {
            Next::Nobody
        };
        for position in (0..plan.actors()).rev() {
            let node = self.pool.spawn(Node {
                station: plan.station(position),
                next,
                gone: Arc::clone(&self.gone),
            });
            if position < plan.entries() {
                self.entries.push(node.clone());
            }
            next = Next::Known(node);
        }
        self.entries.reverse();
        if plan.is_closed()
            && let Next::Known(node) = next
        {
            // It was empty: nobody else fills it.
            let _ = first.set(node);
        }
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.entries[position].tell(parcel);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        // In a closed ring everybody has somebody who knows him.
        if let Some(first) = self.entries.first() {
            first.stop();
        }
        self.entries.clear();
        self.gone.wait();
    }
}

enum Request {
    Tell(u64),
    Ask(u64, Reply<u64>),
}

/// The actor that is told and asked.
struct Server(Counter);

impl Actor for Server {
    type Message = Request;

    fn handle(&mut self, request: Request, _: &mut Context<Self>) {
        match request {
            Request::Tell(number) => self.0.tell(number),
            Request::Ask(number, reply) => reply.send(self.0.ask(number)),
        }
    }
}

/// The actor that asks, one question after the other.
struct AskingActor {
    server: Address<Request>,
    asker: Option<Asker>,
    done: Option<Reply<Asker>>,
}

impl AskingActor {
    fn ask_next(&mut self, cx: &mut Context<Self>) {
        match self.asker.as_mut().and_then(Asker::next) {
            Some(number) => cx.ask(
                &self.server,
                |reply| Request::Ask(number, reply),
                |this, answer, cx| {
                    if let Some(asker) = &mut this.asker {
                        asker.accept(answer.expect("the actor answers"));
                    }
                    this.ask_next(cx);
                },
            ),
            None => {
                if let (Some(asker), Some(done)) = (self.asker.take(), self.done.take()) {
                    done.send(asker);
                }
            }
        }
    }
}

impl Actor for AskingActor {
    type Message = (Asker, Reply<Asker>);

    fn handle(&mut self, (asker, done): (Asker, Reply<Asker>), cx: &mut Context<Self>) {
        self.asker = Some(asker);
        self.done = Some(done);
        self.ask_next(cx);
    }
}

impl Ask for ActorsOnPool {
    fn ask(&self, origin: Origin, threads: usize, mut asker: Asker) -> Asker {
        let other_pool = origin == Origin::OtherPool;
        let far = Pool::with_threads(if other_pool { 1 } else { threads });
        let server = far.spawn(Server(Counter::default()));
        match origin {
            Origin::Thread => {
                while let Some(number) = asker.next() {
                    let answer = server.ask(|reply| Request::Ask(number, reply));
                    asker.accept(answer.expect("the actor answers"));
                }
                asker
            }
            Origin::Task => {
                let asking = async move {
                    while let Some(number) = asker.next() {
                        let answer = server.ask_async(|reply| Request::Ask(number, reply));
                        asker.accept(answer.await.expect("the actor answers"));
                    }
                    asker
                };
                runtime().block_on(asking)
            }
            Origin::Handler | Origin::OtherPool => {
                let near = other_pool.then(|| Pool::with_threads(1));
                let asking = near.as_ref().unwrap_or(&far).spawn(AskingActor {
                    server,
                    asker: None,
                    done: None,
                });
                asking
                    .ask(|done| (asker, done))
                    .expect("the asking actor ends")
            }
        }
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let pool = Pool::with_threads(threads);
        let server = pool.spawn(Server(Counter::default()));
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                let sent = server.tell(Request::Tell(number));
                assert!(sent.is_ok(), "the actor is gone");
            }
            let answer = server.ask(|reply| Request::Ask(question, reply));
            teller.accept(answer.expect("the actor answers"));
        }
    }
}
