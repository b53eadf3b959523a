use std::time::Duration;

use tamtam_channel::Latch;
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, flood, grid, ring,
    savina, sparse,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::cast::Cast;
use crate::row;
use crate::tokio_runtime::TokioRuntime;

/// Actors as tokio's documentation makes them: a task at the end of a channel; a question brings a oneshot for its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TokioTasks;

impl Contender for TokioTasks {
    fn card(&self) -> Card {
        Card {
            name: "tokio",
            version: env!("VERSION_OF_TOKIO"),
            ours: false,
            about: "a task for each actor, with an unbounded channel; on one core a current-thread runtime",
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
        measures.extend(grid::actors(*self, true));
        measures.extend(grid::asks(
            *self,
            &[Origin::Handler, Origin::Thread, Origin::Task],
            true,
        ));
        measures.push(grid::quiet_beside_flood(*self));
        measures
    }
}

impl<const WORDS: usize> Ring<WORDS> for TokioTasks {
    type Pool = Tasks<WORDS>;

    fn open(&self, threads: usize) -> Tasks<WORDS> {
        Tasks {
            runtime: TokioRuntime::new(threads),
            entries: Vec::new(),
            tasks: Vec::new(),
            closed: false,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Tasks<const WORDS: usize> {
    runtime: TokioRuntime,
    entries: Vec<UnboundedSender<Parcel<WORDS>>>,
    tasks: Vec<JoinHandle<()>>,
    closed: bool,
}

impl<const WORDS: usize> Actors<WORDS> for Tasks<WORDS> {
    fn build(&mut self, plan: &Plan) {
        self.closed = plan.is_closed();
        self.tasks.reserve(plan.actors());
        let (runtime, tasks) = (self.runtime.get(), &mut self.tasks);
        self.entries = row::of_queues(plan, unbounded_channel, |station, receiver, next| {
            tasks.push(runtime.spawn(pass_on(station, receiver, next)));
        });
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.entries[position].send(parcel);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn wait(&mut self, latch: &Latch, patience: Duration) {
        self.runtime.wait(latch, patience);
    }

    fn clear(&mut self) {
        self.entries.clear();
        if self.closed {
            // Nobody's channel closes by itself.
            self.tasks.iter().for_each(JoinHandle::abort);
        }
        self.runtime.get().block_on(async {
            for task in self.tasks.drain(..) {
                // Aborted or at its end.
                let _ = task.await;
            }
        });
    }
}

async fn pass_on<const WORDS: usize>(
    mut station: Station,
    mut receiver: UnboundedReceiver<Parcel<WORDS>>,
    next: Option<UnboundedSender<Parcel<WORDS>>>,
) {
    while let Some(parcel) = receiver.recv().await {
        if let (Some(parcel), Some(next)) = (station.handle(parcel), &next) {
            // One that is lost is missed at the end.
            let _ = next.send(parcel);
        }
    }
}

#[derive(Debug)]
enum Request {
    Tell(u64),
    Ask(u64, oneshot::Sender<u64>),
}

type Address = UnboundedSender<Request>;

async fn serve(mut requests: UnboundedReceiver<Request>) {
    let mut counter = Counter::default();
    while let Some(request) = requests.recv().await {
        match request {
            Request::Tell(number) => counter.tell(number),
            Request::Ask(number, answer) => {
                let sent = answer.send(counter.ask(number));
                assert!(sent.is_ok(), "the asker is gone");
            }
        }
    }
}

fn start(runtime: &TokioRuntime) -> Address {
    let (address, requests) = unbounded_channel();
    runtime.get().spawn(serve(requests));
    address
}

/// Sends a question; the receiver is of its answer.
fn question(address: &Address, number: u64) -> oneshot::Receiver<u64> {
    let (sender, answer) = oneshot::channel();
    let sent = address.send(Request::Ask(number, sender));
    assert!(sent.is_ok(), "the actor is gone");
    answer
}

async fn ask_all(address: Address, mut asker: Asker) -> Asker {
    while let Some(number) = asker.next() {
        let answer = question(&address, number).await;
        asker.accept(answer.expect("the actor answers"));
    }
    asker
}

impl Ask for TokioTasks {
    fn ask(&self, origin: Origin, threads: usize, mut asker: Asker) -> Asker {
        match origin {
            Origin::Handler => {
                let runtime = TokioRuntime::new(threads);
                let task = runtime.get().spawn(ask_all(start(&runtime), asker));
                runtime
                    .get()
                    .block_on(task)
                    .expect("the task does not panic")
            }
            Origin::OtherPool => {
                let (near, far) = (TokioRuntime::with_workers(1), TokioRuntime::with_workers(1));
                let task = near.get().spawn(ask_all(start(&far), asker));
                near.get().block_on(task).expect("the task does not panic")
            }
            Origin::Task => {
                let (near, far) = (TokioRuntime::new(1), TokioRuntime::with_workers(threads));
                let task = near.get().spawn(ask_all(start(&far), asker));
                near.get().block_on(task).expect("the task does not panic")
            }
            Origin::Thread => {
                let runtime = TokioRuntime::with_workers(threads);
                let address = start(&runtime);
                while let Some(number) = asker.next() {
                    let answer = question(&address, number).blocking_recv();
                    asker.accept(answer.expect("the actor answers"));
                }
                asker
            }
        }
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let runtime = TokioRuntime::with_workers(threads);
        let address = start(&runtime);
        while let Some(Tells {
            numbers,
            question: last,
        }) = teller.next()
        {
            for number in numbers {
                let sent = address.send(Request::Tell(number));
                assert!(sent.is_ok(), "the actor is gone");
            }
            let answer = question(&address, last).blocking_recv();
            teller.accept(answer.expect("the actor answers"));
        }
    }
}

impl Troupe for TokioTasks {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        Players::on(TokioRuntime::new(threads))
    }

    fn open_apart<P: Part>(&self, threads: usize) -> Players<P> {
        Players::on(TokioRuntime::with_workers(threads))
    }
}

/// Tasks that know each other by their positions.
#[derive(Debug)]
pub(crate) struct Players<P: Part> {
    runtime: TokioRuntime,
    all: Vec<UnboundedSender<P::Message>>,
    tasks: Vec<JoinHandle<()>>,
}

impl<P: Part> Players<P> {
    fn on(runtime: TokioRuntime) -> Self {
        Players {
            runtime,
            all: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

impl<M> Others<M> for Cast<UnboundedSender<M>> {
    #[inline]
    fn tell(&self, position: usize, message: M) {
        if let Some(sender) = self.get(position) {
            // One that is lost is missed at the end.
            let _ = sender.send(message);
        }
    }
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let cast = Cast::new();
        for part in parts {
            let (sender, receiver) = unbounded_channel();
            self.all.push(sender);
            let task = self.runtime.get().spawn(play(part, receiver, cast.clone()));
            self.tasks.push(task);
        }
        cast.complete(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let sent = self.all[position].send(message);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn wait(&mut self, latch: &Latch, patience: Duration) {
        self.runtime.wait(latch, patience);
    }

    fn clear(&mut self) {
        self.all.clear();
        // All know all, so nobody's channel closes by itself.
        self.tasks.iter().for_each(JoinHandle::abort);
        self.runtime.get().block_on(async {
            for task in self.tasks.drain(..) {
                // Aborted.
                let _ = task.await;
            }
        });
    }
}

async fn play<P: Part>(
    mut part: P,
    mut receiver: UnboundedReceiver<P::Message>,
    cast: Cast<UnboundedSender<P::Message>>,
) {
    while let Some(message) = receiver.recv().await {
        part.handle(message, &cast);
    }
}
