use std::convert::Infallible;

use ::kameo::prelude::{Actor, ActorRef, Context, Message, Spawn, mailbox};
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, flood, grid, ring,
    savina, sparse,
};
use tokio::sync::oneshot;

use crate::cast::Cast;
use crate::row::{self, Next};
use crate::tokio_runtime::TokioRuntime;

/// kameo, on tokio's runtime, with unbounded mailboxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kameo;

impl Contender for Kameo {
    fn card(&self) -> Card {
        Card {
            name: "kameo",
            version: env!("VERSION_OF_KAMEO"),
            ours: false,
            about: "actors with unbounded mailboxes on tokio's runtime",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        // A million of its actors take gigabytes.
        let mut measures = row::without_million(ring::measures(*self));
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        let origins = [Origin::OF_POOLS.as_slice(), &[Origin::Task]].concat();
        measures.extend(ask::measures(*self, &origins));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures.extend(row::without_million(grid::actors(*self, true)));
        measures.extend(grid::asks(
            *self,
            &[Origin::Handler, Origin::Thread, Origin::Task],
            true,
        ));
        measures.push(grid::quiet_beside_flood(*self));
        measures
    }
}

/// An actor of the ring.
struct Node<const WORDS: usize> {
    station: Station,
    next: Next<ActorRef<Node<WORDS>>>,
}

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(node: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(node)
    }
}

impl<const WORDS: usize> Message<Parcel<WORDS>> for Node<WORDS> {
    type Reply = ();

    async fn handle(&mut self, parcel: Parcel<WORDS>, _: &mut Context<Self, ()>) {
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), self.next.address()) {
            // One that is lost is missed at the end.
            let _ = next.tell(parcel).try_send();
        }
    }
}

impl<const WORDS: usize> Ring<WORDS> for Kameo {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            runtime: TokioRuntime::with_workers(threads),
            nodes: Vec::new(),
        }
    }
}

pub(crate) struct Nodes<const WORDS: usize> {
    runtime: TokioRuntime,
    nodes: Vec<ActorRef<Node<WORDS>>>,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let _guard = self.runtime.get().enter();
        self.nodes = row::of_actors(plan, |_, station, next| {
            Node::spawn_with_mailbox(Node { station, next }, mailbox::unbounded())
        });
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.nodes[position].tell(parcel).try_send();
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        for node in &self.nodes {
            node.kill();
        }
        self.runtime.get().block_on(async {
            for node in self.nodes.drain(..) {
                node.wait_for_shutdown().await;
            }
        });
    }
}

struct Tell(u64);

struct Question(u64);

/// The actor that is told and asked.
struct Server(Counter);

impl Actor for Server {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(server: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(server)
    }
}

impl Message<Tell> for Server {
    type Reply = ();

    async fn handle(&mut self, Tell(number): Tell, _: &mut Context<Self, ()>) {
        self.0.tell(number);
    }
}

impl Message<Question> for Server {
    type Reply = u64;

    async fn handle(&mut self, Question(number): Question, _: &mut Context<Self, u64>) -> u64 {
        self.0.ask(number)
    }
}

/// The actor that asks: all at one message.
struct AskingActor(ActorRef<Server>);

impl Actor for AskingActor {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(actor: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(actor)
    }
}

struct Begin(Asker, oneshot::Sender<Asker>);

impl Message<Begin> for AskingActor {
    type Reply = ();

    async fn handle(&mut self, Begin(asker, done): Begin, _: &mut Context<Self, ()>) {
        // Whoever waits is there until it has it.
        let _ = done.send(ask_all(&self.0, asker).await);
    }
}

async fn ask_all(server: &ActorRef<Server>, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        let answer = server.ask(Question(number)).send().await;
        asker.accept(answer.expect("the actor answers"));
    }
    asker
}

fn start_server(runtime: &TokioRuntime) -> ActorRef<Server> {
    let _guard = runtime.get().enter();
    Server::spawn_with_mailbox(Server(Counter::default()), mailbox::unbounded())
}

impl Ask for Kameo {
    fn ask(&self, origin: Origin, threads: usize, mut asker: Asker) -> Asker {
        let other_pool = origin == Origin::OtherPool;
        let far = TokioRuntime::with_workers(if other_pool { 1 } else { threads });
        let server = start_server(&far);
        match origin {
            Origin::Thread => {
                while let Some(number) = asker.next() {
                    let answer = server.ask(Question(number)).blocking_send();
                    asker.accept(answer.expect("the actor answers"));
                }
                asker
            }
            Origin::Task => {
                let near = TokioRuntime::new(1);
                let task = near
                    .get()
                    .spawn(async move { ask_all(&server, asker).await });
                near.get().block_on(task).expect("the task ends")
            }
            Origin::Handler | Origin::OtherPool => {
                let near = TokioRuntime::with_workers(1);
                let place = if other_pool { &near } else { &far };
                let (done, ended) = oneshot::channel();
                let _guard = place.get().enter();
                let asking =
                    AskingActor::spawn_with_mailbox(AskingActor(server), mailbox::unbounded());
                let sent = asking.tell(Begin(asker, done)).try_send();
                assert!(sent.is_ok(), "the asking actor is gone");
                ended.blocking_recv().expect("the asking actor ends")
            }
        }
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let runtime = TokioRuntime::with_workers(threads);
        let server = start_server(&runtime);
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                let sent = server.tell(Tell(number)).try_send();
                assert!(sent.is_ok(), "the actor is gone");
            }
            let answer = server.ask(Question(question)).blocking_send();
            teller.accept(answer.expect("the actor answers"));
        }
    }
}

/// An actor who knows the others by their positions.
struct Player<P: Part> {
    part: P,
    cast: Cast<ActorRef<Player<P>>>,
}

impl<P: Part> Actor for Player<P> {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(player: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(player)
    }
}

struct Line<M>(M);

impl<P: Part> Message<Line<P::Message>> for Player<P> {
    type Reply = ();

    async fn handle(&mut self, Line(message): Line<P::Message>, _: &mut Context<Self, ()>) {
        self.part.handle(message, &self.cast);
    }
}

impl<P: Part> Others<P::Message> for Cast<ActorRef<Player<P>>> {
    fn tell(&self, position: usize, message: P::Message) {
        if let Some(player) = self.get(position) {
            // One that is lost is missed at the end.
            let _ = player.tell(Line(message)).try_send();
        }
    }
}

impl Troupe for Kameo {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        Players {
            runtime: TokioRuntime::with_workers(threads),
            all: Vec::new(),
        }
    }
}

pub(crate) struct Players<P: Part> {
    runtime: TokioRuntime,
    all: Vec<ActorRef<Player<P>>>,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let _guard = self.runtime.get().enter();
        let cast = Cast::new();
        for part in parts {
            let player = Player {
                part,
                cast: cast.clone(),
            };
            let player = Player::spawn_with_mailbox(player, mailbox::unbounded());
            self.all.push(player);
        }
        cast.complete(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let sent = self.all[position].tell(Line(message)).try_send();
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        for player in &self.all {
            player.kill();
        }
        self.runtime.get().block_on(async {
            for player in self.all.drain(..) {
                player.wait_for_shutdown().await;
            }
        });
    }
}
