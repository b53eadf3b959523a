use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use ::stakker::{
    Actor, ActorOwn, CX, Ret, Stakker, actor, call, ret, ret_nop, ret_some_do, ret_some_to,
};
use tamtam_channel::Latch;
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, grid, ring, savina,
};

/// stakker, whose actors all run in the thread that calls it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneThread;

impl Contender for OneThread {
    fn card(&self) -> Card {
        Card {
            name: "stakker",
            version: env!("VERSION_OF_STAKKER"),
            ours: false,
            about: "actors in one thread, the one that also sends and asks: no locks, no atomics",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::on_one_core(*self);
        measures.extend(ring::sizes(*self, Placement::OneCore));
        measures.extend(ask::on_one_core(*self, &[Origin::Handler]));
        measures.extend(savina::on_one_core(*self));
        measures.extend(grid::actors(*self, false));
        measures.extend(grid::asks(*self, &[Origin::Handler], false));
        measures
    }
}

/// An actor of the ring.
struct Node {
    station: Station,
    next: Option<Actor<Node>>,
}

impl Node {
    fn init(_: CX![], station: Station, next: Option<Actor<Node>>) -> Option<Self> {
        Some(Node { station, next })
    }

    fn link(&mut self, _: CX![], first: Actor<Node>) {
        self.next = Some(first);
    }

    fn handle<const WORDS: usize>(&mut self, _: CX![], parcel: Parcel<WORDS>) {
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), &self.next) {
            call!([next], handle(parcel));
        }
    }
}

impl<const WORDS: usize> Ring<WORDS> for OneThread {
    type Pool = Nodes;

    fn open(&self, _threads: usize) -> Nodes {
        Nodes {
            nodes: Vec::new(),
            stakker: Stakker::new(Instant::now()),
        }
    }
}

pub(crate) struct Nodes {
    /// From the last to the first.
    nodes: Vec<ActorOwn<Node>>,
    stakker: Stakker,
}

impl fmt::Debug for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Nodes")
            .field("nodes", &self.nodes.len())
            .finish_non_exhaustive()
    }
}

impl<const WORDS: usize> Actors<WORDS> for Nodes {
    fn build(&mut self, plan: &Plan) {
        let stakker = &mut self.stakker;
        self.nodes.reserve(plan.actors());
        let mut next = None;
        for position in (0..plan.actors()).rev() {
            let station = plan.station(position);
            let node = actor!(stakker, Node::init(station, next.take()), ret_nop!());
            next = Some(node.clone());
            self.nodes.push(node);
        }
        if let (true, Some(last), Some(first)) = (plan.is_closed(), self.nodes.first(), next) {
            call!([last], link(first));
        }
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let node = &self.nodes[self.nodes.len() - 1 - position];
        call!([node], handle(parcel));
    }

    fn wait(&mut self, _latch: &Latch, _patience: Duration) {
        // Until nothing is left to do.
        self.stakker.run(Instant::now(), false);
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.stakker.run(Instant::now(), false);
    }
}

/// The actor that is told and asked.
struct Server(Counter);

impl Server {
    fn init(_: CX![]) -> Option<Self> {
        Some(Server(Counter::default()))
    }

    fn tell(&mut self, _: CX![], number: u64) {
        self.0.tell(number);
    }

    fn ask(&mut self, _: CX![], number: u64, answer: Ret<u64>) {
        ret!([answer], self.0.ask(number));
    }
}

/// The actor that asks.
struct AskingActor {
    server: Actor<Server>,
    asker: Option<Asker>,
    done: Rc<Cell<Option<Asker>>>,
}

impl AskingActor {
    fn init(
        cx: CX![],
        server: Actor<Server>,
        asker: Asker,
        done: Rc<Cell<Option<Asker>>>,
    ) -> Option<Self> {
        let mut actor = AskingActor {
            server,
            asker: Some(asker),
            done,
        };
        actor.go_on(cx);
        Some(actor)
    }

    fn go_on(&mut self, cx: CX![]) {
        match self.asker.as_mut().and_then(Asker::next) {
            Some(number) => {
                let answer = ret_some_to!([cx], accept() as (u64));
                call!([self.server], ask(number, answer));
            }
            None => self.done.set(self.asker.take()),
        }
    }

    fn accept(&mut self, cx: CX![], answer: u64) {
        if let Some(asker) = &mut self.asker {
            asker.accept(answer);
        }
        self.go_on(cx);
    }
}

impl Ask for OneThread {
    fn ask(&self, _origin: Origin, _threads: usize, asker: Asker) -> Asker {
        let mut stakker = Stakker::new(Instant::now());
        let stakker = &mut stakker;
        let done = Rc::new(Cell::new(None));
        let server = actor!(stakker, Server::init(), ret_nop!());
        let asking = actor!(
            stakker,
            AskingActor::init(server.clone(), asker, Rc::clone(&done)),
            ret_nop!()
        );
        stakker.run(Instant::now(), false);
        drop(asking);
        done.take().expect("it ran until all was asked")
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let mut stakker = Stakker::new(Instant::now());
        let stakker = &mut stakker;
        let server = actor!(stakker, Server::init(), ret_nop!());
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                call!([server], tell(number));
            }
            let found = Rc::new(Cell::new(None));
            let place = Rc::clone(&found);
            let answer = ret_some_do!(move |answer: u64| place.set(Some(answer)));
            call!([server], ask(question, answer));
            stakker.run(Instant::now(), false);
            teller.accept(found.get().expect("it ran until all was answered"));
        }
    }
}

/// All of them, as soon as they are made.
struct Cast<P: Part>(Rc<OnceCell<Vec<Actor<Player<P>>>>>);

impl<P: Part> Others<P::Message> for Cast<P> {
    fn tell(&self, position: usize, message: P::Message) {
        if let Some(player) = self.0.get().and_then(|all| all.get(position)) {
            call!([player], handle(message));
        }
    }
}

/// An actor who knows the others by their positions.
pub(crate) struct Player<P: Part> {
    part: P,
    cast: Cast<P>,
}

impl<P: Part> Player<P> {
    fn init(_: CX![], part: P, cast: Cast<P>) -> Option<Self> {
        Some(Player { part, cast })
    }

    fn handle(&mut self, _: CX![], message: P::Message) {
        self.part.handle(message, &self.cast);
    }
}

impl Troupe for OneThread {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, _threads: usize) -> Players<P> {
        Players {
            all: Vec::new(),
            stakker: Stakker::new(Instant::now()),
        }
    }
}

pub(crate) struct Players<P: Part> {
    all: Vec<ActorOwn<Player<P>>>,
    stakker: Stakker,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let stakker = &mut self.stakker;
        let known = Rc::new(OnceCell::new());
        for part in parts {
            let cast = Cast(Rc::clone(&known));
            self.all
                .push(actor!(stakker, <Player<P>>::init(part, cast), ret_nop!()));
        }
        let all = self.all.iter().map(|player| (**player).clone()).collect();
        // It was empty: nobody else fills it.
        let _ = known.set(all);
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let player = &self.all[position];
        call!([player], handle(message));
    }

    fn wait(&mut self, _latch: &Latch, _patience: Duration) {
        // Until nothing is left to do.
        self.stakker.run(Instant::now(), false);
    }

    fn clear(&mut self) {
        self.all.clear();
        self.stakker.run(Instant::now(), false);
    }
}
