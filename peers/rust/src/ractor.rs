use std::future::ready;
use std::marker::PhantomData;

use ::ractor::rpc::CallResult;
use ::ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, flood, grid, ring,
    savina, sparse,
};
use tokio::task::JoinHandle;

use crate::cast::Cast;
use crate::row::{self, Next};
use crate::tokio_runtime::TokioRuntime;

/// ractor, on tokio's runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ractor;

impl Contender for Ractor {
    fn card(&self) -> Card {
        Card {
            name: "ractor",
            version: env!("VERSION_OF_RACTOR"),
            ours: false,
            about: "actors as Erlang has them, on tokio's runtime",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        // A million of its actors take gigabytes (measured: 7.8).
        let mut measures = row::without_million(ring::measures(*self));
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        let origins = [Origin::Handler, Origin::OtherPool, Origin::Task];
        measures.extend(ask::measures(*self, &origins));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures.extend(row::without_million(grid::actors(*self, true)));
        measures.extend(grid::asks(*self, &[Origin::Handler, Origin::Task], true));
        measures.push(grid::quiet_beside_flood(*self));
        measures
    }
}

/// An actor of the ring.
struct Node<const WORDS: usize>;

struct State<const WORDS: usize> {
    station: Station,
    next: Next<ActorRef<Parcel<WORDS>>>,
}

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Msg = Parcel<WORDS>;
    type State = State<WORDS>;
    type Arguments = State<WORDS>;

    fn pre_start(
        &self,
        _: ActorRef<Parcel<WORDS>>,
        state: State<WORDS>,
    ) -> impl Future<Output = Result<State<WORDS>, ActorProcessingErr>> + Send {
        ready(Ok(state))
    }

    async fn handle(
        &self,
        _: ActorRef<Parcel<WORDS>>,
        parcel: Parcel<WORDS>,
        state: &mut State<WORDS>,
    ) -> Result<(), ActorProcessingErr> {
        if let (Some(parcel), Some(next)) = (state.station.handle(parcel), state.next.address()) {
            // One that is lost is missed at the end.
            let _ = next.send_message(parcel);
        }
        Ok(())
    }
}

impl<const WORDS: usize> Ring<WORDS> for Ractor {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            runtime: TokioRuntime::with_workers(threads),
            nodes: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

pub(crate) struct Nodes<const WORDS: usize> {
    runtime: TokioRuntime,
    nodes: Vec<ActorRef<Parcel<WORDS>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let (runtime, tasks) = (self.runtime.get(), &mut self.tasks);
        self.nodes = row::of_actors(plan, |_, station, next| {
            let start = Actor::spawn(None, Node, State { station, next });
            let (node, task) = runtime.block_on(start).expect("the actor starts");
            tasks.push(task);
            node
        });
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.nodes[position].send_message(parcel);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        for node in self.nodes.drain(..) {
            node.stop(None);
        }
        self.runtime.get().block_on(async {
            for task in self.tasks.drain(..) {
                task.await.expect("the actor does not panic");
            }
        });
    }
}

enum Request {
    Tell(u64),
    Ask(u64, RpcReplyPort<u64>),
}

/// The actor that is told and asked.
struct Server;

impl Actor for Server {
    type Msg = Request;
    type State = Counter;
    type Arguments = ();

    fn pre_start(
        &self,
        _: ActorRef<Request>,
        (): (),
    ) -> impl Future<Output = Result<Counter, ActorProcessingErr>> + Send {
        ready(Ok(Counter::default()))
    }

    async fn handle(
        &self,
        _: ActorRef<Request>,
        request: Request,
        counter: &mut Counter,
    ) -> Result<(), ActorProcessingErr> {
        match request {
            Request::Tell(number) => counter.tell(number),
            Request::Ask(number, answer) => answer.send(counter.ask(number))?,
        }
        Ok(())
    }
}

/// The actor that asks: all at one message, which brings the asker and takes it back.
struct AskingActor(ActorRef<Request>);

struct Begin(Asker, RpcReplyPort<Asker>);

impl Actor for AskingActor {
    type Msg = Begin;
    type State = ();
    type Arguments = ();

    fn pre_start(
        &self,
        _: ActorRef<Begin>,
        (): (),
    ) -> impl Future<Output = Result<(), ActorProcessingErr>> + Send {
        ready(Ok(()))
    }

    async fn handle(
        &self,
        _: ActorRef<Begin>,
        Begin(asker, done): Begin,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        done.send(ask_all(&self.0, asker).await)?;
        Ok(())
    }
}

async fn question(server: &ActorRef<Request>, number: u64) -> u64 {
    let answer = server.call(|port| Request::Ask(number, port), None).await;
    match answer {
        Ok(CallResult::Success(answer)) => answer,
        other => panic!("the actor does not answer: {other:?}"),
    }
}

async fn ask_all(server: &ActorRef<Request>, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        asker.accept(question(server, number).await);
    }
    asker
}

fn start_server(runtime: &TokioRuntime) -> ActorRef<Request> {
    let started = runtime.get().block_on(Actor::spawn(None, Server, ()));
    started.expect("the actor starts").0
}

impl Ask for Ractor {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        let other_pool = origin == Origin::OtherPool;
        let far = TokioRuntime::with_workers(if other_pool { 1 } else { threads });
        let server = start_server(&far);
        let (asker, near) = if origin == Origin::Task {
            let near = TokioRuntime::new(1);
            let task = near
                .get()
                .spawn(async move { ask_all(&server, asker).await });
            (near.get().block_on(task).expect("the task ends"), near)
        } else {
            let near = TokioRuntime::with_workers(1);
            let place = if other_pool { &near } else { &far };
            let asker = place.get().block_on(async {
                let (asking, _) = Actor::spawn(None, AskingActor(server), ())
                    .await
                    .expect("the actor starts");
                match asking.call(|port| Begin(asker, port), None).await {
                    Ok(CallResult::Success(asker)) => asker,
                    _ => panic!("the asking actor does not end"),
                }
            });
            (asker, near)
        };
        drop((near, far));
        asker
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let runtime = TokioRuntime::with_workers(threads);
        let server = start_server(&runtime);
        while let Some(Tells {
            numbers,
            question: last,
        }) = teller.next()
        {
            for number in numbers {
                let sent = server.send_message(Request::Tell(number));
                assert!(sent.is_ok(), "the actor is gone");
            }
            teller.accept(runtime.get().block_on(question(&server, last)));
        }
    }
}

/// An actor who knows the others by their positions.
struct Player<P>(PhantomData<fn(P)>);

struct Playing<P: Part> {
    part: P,
    cast: Cast<ActorRef<P::Message>>,
}

impl<M: Send + 'static> Others<M> for Cast<ActorRef<M>> {
    fn tell(&self, position: usize, message: M) {
        if let Some(player) = self.get(position) {
            // One that is lost is missed at the end.
            let _ = player.send_message(message);
        }
    }
}

impl<P: Part> Actor for Player<P> {
    type Msg = P::Message;
    type State = Playing<P>;
    type Arguments = Playing<P>;

    fn pre_start(
        &self,
        _: ActorRef<P::Message>,
        playing: Playing<P>,
    ) -> impl Future<Output = Result<Playing<P>, ActorProcessingErr>> + Send {
        ready(Ok(playing))
    }

    async fn handle(
        &self,
        _: ActorRef<P::Message>,
        message: P::Message,
        playing: &mut Playing<P>,
    ) -> Result<(), ActorProcessingErr> {
        playing.part.handle(message, &playing.cast);
        Ok(())
    }
}

impl Troupe for Ractor {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        Players {
            runtime: TokioRuntime::with_workers(threads),
            all: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

pub(crate) struct Players<P: Part> {
    runtime: TokioRuntime,
    all: Vec<ActorRef<P::Message>>,
    tasks: Vec<JoinHandle<()>>,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let cast = Cast::new();
        for part in parts {
            let cast = cast.clone();
            let start = Actor::spawn(None, Player(PhantomData), Playing { part, cast });
            let (player, task) = self
                .runtime
                .get()
                .block_on(start)
                .expect("the actor starts");
            self.all.push(player);
            self.tasks.push(task);
        }
        cast.complete(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let sent = self.all[position].send_message(message);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        for player in self.all.drain(..) {
            player.stop(None);
        }
        self.runtime.get().block_on(async {
            for task in self.tasks.drain(..) {
                task.await.expect("the actor does not panic");
            }
        });
    }
}
