use std::fmt;
use std::sync::{Arc, mpsc};

use ::actix::{
    Actor, ActorContext, Addr, Arbiter, AsyncContext, Context, Handler, Message, System,
    SystemRunner, WrapFuture,
};
use tamtam_channel::Latch;
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, flood, grid, ring,
    savina, sparse,
};

use crate::cast::Cast;
use crate::farewell::Farewell;
use crate::row::{self, Next};

/// actix, with an arbiter for each thread, and neighbours on one arbiter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arbiters;

impl Contender for Arbiters {
    fn card(&self) -> Card {
        Card {
            name: "actix",
            version: env!("VERSION_OF_ACTIX"),
            ours: false,
            about: "actors on an arbiter for each core, each with its share of neighbours; do_send",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::measures(*self);
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        measures.extend(ask::measures(
            *self,
            &[Origin::Handler, Origin::OtherPool, Origin::Task],
        ));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures.extend(grid::actors(*self, true));
        measures.extend(grid::asks(*self, &[Origin::Handler, Origin::Task], true));
        measures.push(grid::quiet_beside_flood(*self));
        measures
    }
}

/// A system in the calling thread, and its arbiters.
struct Threads {
    arbiters: Vec<Arbiter>,
    // Arbiters belong to a system.
    system: SystemRunner,
}

impl fmt::Debug for Threads {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Threads")
            .field("arbiters", &self.arbiters.len())
            .finish_non_exhaustive()
    }
}

impl Threads {
    fn start(threads: usize) -> Self {
        let system = System::new();
        Threads {
            arbiters: (0..threads).map(|_| Arbiter::new()).collect(),
            system,
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for arbiter in self.arbiters.drain(..) {
            arbiter.stop();
            // One that panicked has lost messages, which were missed.
            let _ = arbiter.join();
        }
    }
}

struct Letter<const WORDS: usize>(Parcel<WORDS>);

impl<const WORDS: usize> Message for Letter<WORDS> {
    type Result = ();
}

struct Stop;

impl Message for Stop {
    type Result = ();
}

/// An actor of the ring.
struct Node<const WORDS: usize> {
    station: Station,
    next: Next<Addr<Node<WORDS>>>,
    _farewell: Farewell,
}

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Context = Context<Self>;
}

impl<const WORDS: usize> Handler<Letter<WORDS>> for Node<WORDS> {
    type Result = ();

    fn handle(&mut self, Letter(parcel): Letter<WORDS>, _: &mut Context<Self>) {
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), self.next.address()) {
            next.do_send(Letter(parcel));
        }
    }
}

impl<const WORDS: usize> Handler<Stop> for Node<WORDS> {
    type Result = ();

    fn handle(&mut self, Stop: Stop, context: &mut Context<Self>) {
        context.stop();
    }
}

impl<const WORDS: usize> Ring<WORDS> for Arbiters {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            nodes: Vec::new(),
            ended: Arc::new(Latch::new(0)),
            threads: Threads::start(threads),
        }
    }
}

pub(crate) struct Nodes<const WORDS: usize> {
    nodes: Vec<Addr<Node<WORDS>>>,
    ended: Arc<Latch>,
    threads: Threads,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let ended = Arc::new(Latch::new(plan.actors() as u64));
        let arbiters = &self.threads.arbiters;
        self.nodes = row::of_actors(plan, |position, station, next| {
            let arbiter = &arbiters[position * arbiters.len() / plan.actors()];
            let farewell = Farewell::new(&ended);
            Node::start_in_arbiter(&arbiter.handle(), move |_| Node {
                station,
                next,
                _farewell: farewell,
            })
        });
        self.ended = ended;
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        self.nodes[position].do_send(Letter(parcel));
    }

    fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            node.do_send(Stop);
        }
        self.ended.wait();
    }
}

struct Tell(u64);

impl Message for Tell {
    type Result = ();
}

struct Question(u64);

impl Message for Question {
    type Result = u64;
}

/// The actor that is told and asked.
#[derive(Default)]
struct Server(Counter);

impl Actor for Server {
    type Context = Context<Self>;
}

impl Handler<Tell> for Server {
    type Result = ();

    fn handle(&mut self, Tell(number): Tell, _: &mut Context<Self>) {
        self.0.tell(number);
    }
}

impl Handler<Question> for Server {
    type Result = u64;

    fn handle(&mut self, Question(number): Question, _: &mut Context<Self>) -> u64 {
        self.0.ask(number)
    }
}

/// Asks it all, and hands the asker back.
struct Begin {
    server: Addr<Server>,
    asker: Asker,
    done: mpsc::Sender<Asker>,
}

impl Message for Begin {
    type Result = ();
}

/// The actor that asks.
struct AskingActor;

impl Actor for AskingActor {
    type Context = Context<Self>;
}

impl Handler<Begin> for AskingActor {
    type Result = ();

    fn handle(&mut self, begin: Begin, context: &mut Context<Self>) {
        let Begin {
            server,
            asker,
            done,
        } = begin;
        let asking = async move {
            // Whoever waits is there until it has it.
            let _ = done.send(ask_all(server, asker).await);
        };
        context.wait(asking.into_actor(self));
    }
}

async fn ask_all(server: Addr<Server>, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        let answer = server.send(Question(number)).await;
        asker.accept(answer.expect("the actor answers"));
    }
    asker
}

impl Ask for Arbiters {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        let threads = Threads::start(if origin == Origin::OtherPool {
            2
        } else {
            threads
        });
        let server = Server::start_in_arbiter(&threads.arbiters[0].handle(), |_| Server::default());
        if origin == Origin::Task {
            // The system's own thread runs tokio, too.
            return threads.system.block_on(ask_all(server, asker));
        }
        // Of the same pool means on the same arbiter, where there is a choice.
        let place = usize::from(origin == Origin::OtherPool);
        let asking =
            AskingActor::start_in_arbiter(&threads.arbiters[place].handle(), |_| AskingActor);
        let (done, ended) = mpsc::channel();
        asking.do_send(Begin {
            server,
            asker,
            done,
        });
        ended.recv().expect("the asking actor ends")
    }

    fn tell(&self, _threads: usize, teller: &mut Teller) {
        let threads = Threads::start(1);
        let server = Server::start_in_arbiter(&threads.arbiters[0].handle(), |_| Server::default());
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                server.do_send(Tell(number));
            }
            let answer = threads.system.block_on(server.send(Question(question)));
            teller.accept(answer.expect("the actor answers"));
        }
    }
}

/// An actor who knows the others by their positions.
struct Player<P: Part> {
    part: P,
    cast: Cast<Addr<Player<P>>>,
    _farewell: Farewell,
}

impl<P: Part> Actor for Player<P> {
    type Context = Context<Self>;
}

struct Line<M>(M);

impl<M> Message for Line<M> {
    type Result = ();
}

impl<P: Part> Others<P::Message> for Cast<Addr<Player<P>>> {
    fn tell(&self, position: usize, message: P::Message) {
        if let Some(player) = self.get(position) {
            player.do_send(Line(message));
        }
    }
}

impl<P: Part> Handler<Line<P::Message>> for Player<P> {
    type Result = ();

    fn handle(&mut self, Line(message): Line<P::Message>, _: &mut Context<Self>) {
        self.part.handle(message, &self.cast);
    }
}

impl<P: Part> Handler<Stop> for Player<P> {
    type Result = ();

    fn handle(&mut self, Stop: Stop, context: &mut Context<Self>) {
        context.stop();
    }
}

impl Troupe for Arbiters {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        Players {
            all: Vec::new(),
            ended: Arc::new(Latch::new(0)),
            threads: Threads::start(threads),
        }
    }
}

pub(crate) struct Players<P: Part> {
    all: Vec<Addr<Player<P>>>,
    ended: Arc<Latch>,
    threads: Threads,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let cast = Cast::new();
        let ended = Arc::new(Latch::new(parts.len() as u64));
        let (arbiters, actors) = (&self.threads.arbiters, parts.len());
        for (position, part) in parts.into_iter().enumerate() {
            let player = Player {
                part,
                cast: cast.clone(),
                _farewell: Farewell::new(&ended),
            };
            let arbiter = &arbiters[position * arbiters.len() / actors];
            let player = Player::start_in_arbiter(&arbiter.handle(), move |_| player);
            self.all.push(player);
        }
        cast.complete(self.all.clone());
        self.ended = ended;
    }

    fn send(&mut self, position: usize, message: P::Message) {
        self.all[position].do_send(Line(message));
    }

    fn clear(&mut self) {
        for player in self.all.drain(..) {
            player.do_send(Stop);
        }
        self.ended.wait();
    }
}
