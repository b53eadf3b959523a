use std::pin::pin;
use std::task::{self, Waker};

use ::xtra::{Actor, Address, Context, Handler, Mailbox};
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{Card, Contender, Measure, Others, Part, Stage, Troupe, ask, ring, savina};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::cast::Cast;
use crate::row::{self, Next};
use crate::tokio_runtime::TokioRuntime;

/// xtra, on tokio's runtime.
///
/// Its mailbox is a heap that is sorted by priorities alone: of three messages that wait, the third may be handled before
/// the second. That is meant so, and whoever wants an order is advised to wait for each answer
/// (<https://github.com/Restioson/xtra/issues/225>). So it takes part where the order of what waits does not matter, and
/// in the ring with mailboxes that hold one message, where a sender waits for room.
///
/// Whoever waits is woken under a spin lock, and one that wakes in another thread may spin until the waker goes on: as
/// long as a turn on a busy processor. A ring on two threads took between 1 s and more than 20 s a round. So it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Xtra;

/// Experiments, and the last word of a variant, in which many messages of one sender wait and their order matters.
const ORDERED: &[&str] = &["counting", "fork-join", "tells"];

impl Contender for Xtra {
    fn card(&self) -> Card {
        Card {
            name: "xtra",
            version: env!("VERSION_OF_XTRA"),
            ours: false,
            about: "actors on tokio's runtime, one worker; in the ring, mailboxes that hold one message",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = row::without_million(ring::on_one_core(*self));
        measures.extend(ask::on_one_core(*self, &[Origin::Handler]));
        measures.extend(savina::on_one_core(*self));
        measures.retain(|measure| {
            let extra = measure.variant().extra.as_deref().unwrap_or_default();
            !ORDERED.contains(&measure.experiment()) && !ORDERED.contains(&extra)
        });
        measures
    }
}

/// A runtime, and the tasks of the actors on it.
struct Tasks {
    runtime: TokioRuntime,
    running: Vec<JoinHandle<()>>,
}

impl Tasks {
    fn on(threads: usize) -> Self {
        Tasks {
            runtime: TokioRuntime::with_workers(threads),
            running: Vec::new(),
        }
    }

    fn start<A: Actor<Stop = ()>>(
        &mut self,
        actor: A,
        (address, mailbox): (Address<A>, Mailbox<A>),
    ) -> Address<A> {
        let task = self.runtime.get().spawn(::xtra::run(mailbox, actor));
        self.running.push(task);
        address
    }

    fn end(&mut self) {
        for task in &self.running {
            task.abort();
        }
        self.runtime.get().block_on(async {
            for task in self.running.drain(..) {
                if let Err(error) = task.await {
                    assert!(error.is_cancelled(), "an actor panicked");
                }
            }
        });
    }
}

/// An actor of the ring.
struct Node<const WORDS: usize> {
    station: Station,
    next: Next<Address<Node<WORDS>>>,
}

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Stop = ();

    async fn stopped(self) {}
}

impl<const WORDS: usize> Handler<Parcel<WORDS>> for Node<WORDS> {
    type Return = ();

    async fn handle(&mut self, parcel: Parcel<WORDS>, _: &mut Context<Self>) {
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), self.next.address()) {
            // It waits for room. One that is lost is missed at the end.
            let _ = next.send(parcel).detach().await;
        }
    }
}

impl<const WORDS: usize> Ring<WORDS> for Xtra {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            tasks: Tasks::on(threads),
            nodes: Vec::new(),
        }
    }
}

pub(crate) struct Nodes<const WORDS: usize> {
    tasks: Tasks,
    nodes: Vec<Address<Node<WORDS>>>,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let tasks = &mut self.tasks;
        self.nodes = row::of_actors(plan, |_, station, next| {
            tasks.start(Node { station, next }, Mailbox::bounded(1))
        });
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sending = self.nodes[position].send(parcel).detach();
        let sent = self.tasks.runtime.get().block_on(sending);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        self.tasks.end();
        self.nodes.clear();
    }
}

struct Tell(u64);

struct Question(u64);

/// The actor that is told and asked.
struct Server(Counter);

impl Actor for Server {
    type Stop = ();

    async fn stopped(self) {}
}

impl Handler<Tell> for Server {
    type Return = ();

    async fn handle(&mut self, Tell(number): Tell, _: &mut Context<Self>) {
        self.0.tell(number);
    }
}

impl Handler<Question> for Server {
    type Return = u64;

    async fn handle(&mut self, Question(number): Question, _: &mut Context<Self>) -> u64 {
        self.0.ask(number)
    }
}

/// The actor that asks: all at one message.
struct AskingActor(Address<Server>);

impl Actor for AskingActor {
    type Stop = ();

    async fn stopped(self) {}
}

struct Begin(Asker, oneshot::Sender<Asker>);

impl Handler<Begin> for AskingActor {
    type Return = ();

    async fn handle(&mut self, Begin(asker, done): Begin, _: &mut Context<Self>) {
        // Whoever waits is there until it has it.
        let _ = done.send(ask_all(&self.0, asker).await);
    }
}

async fn ask_all(server: &Address<Server>, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        let answer = server.send(Question(number)).await;
        asker.accept(answer.expect("the actor answers"));
    }
    asker
}

impl Ask for Xtra {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        debug_assert_eq!(
            origin,
            Origin::Handler,
            "the only one that it is asked from"
        );
        let mut tasks = Tasks::on(threads);
        let server = tasks.start(Server(Counter::default()), Mailbox::unbounded());
        let asking = tasks.start(AskingActor(server), Mailbox::unbounded());
        let (done, ended) = oneshot::channel();
        post(asking.send(Begin(asker, done)).detach());
        ended.blocking_recv().expect("the asking actor ends")
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let mut tasks = Tasks::on(threads);
        let server = tasks.start(Server(Counter::default()), Mailbox::bounded(1));
        let runtime = tasks.runtime.get();
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                let sent = runtime.block_on(server.send(Tell(number)).detach());
                assert!(sent.is_ok(), "the actor is gone");
            }
            let answer = runtime.block_on(server.send(Question(question)));
            teller.accept(answer.expect("the actor answers"));
        }
    }
}

/// Sends a message to a mailbox without limit, at once.
fn post<R>(sending: impl Future<Output = Result<R, ::xtra::Error>>) {
    let mut context = task::Context::from_waker(Waker::noop());
    // One that is lost is missed at the end.
    let _ = pin!(sending).poll(&mut context);
}

/// An actor who knows the others by their positions.
struct Player<P: Part> {
    part: P,
    cast: Cast<Address<Player<P>>>,
}

impl<P: Part> Actor for Player<P> {
    type Stop = ();

    async fn stopped(self) {}
}

struct Line<M>(M);

impl<P: Part> Handler<Line<P::Message>> for Player<P> {
    type Return = ();

    async fn handle(&mut self, Line(message): Line<P::Message>, _: &mut Context<Self>) {
        self.part.handle(message, &self.cast);
    }
}

impl<P: Part> Others<P::Message> for Cast<Address<Player<P>>> {
    fn tell(&self, position: usize, message: P::Message) {
        if let Some(player) = self.get(position) {
            post(player.send(Line(message)).detach());
        }
    }
}

impl Troupe for Xtra {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        Players {
            tasks: Tasks::on(threads),
            all: Vec::new(),
        }
    }
}

pub(crate) struct Players<P: Part> {
    tasks: Tasks,
    all: Vec<Address<Player<P>>>,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let cast = Cast::new();
        for part in parts {
            let player = Player {
                part,
                cast: cast.clone(),
            };
            let player = self.tasks.start(player, Mailbox::unbounded());
            self.all.push(player);
        }
        cast.complete(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        post(self.all[position].send(Line(message)).detach());
    }

    fn clear(&mut self) {
        self.tasks.end();
        self.all.clear();
    }
}
