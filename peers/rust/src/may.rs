use ::may::coroutine::JoinHandle;
use ::may::go;
use ::may::sync::mpsc::{Receiver, Sender, channel};
use tamtam_lab::ask::{Ask, Asker, Counter, Origin, Teller, Tells};
use tamtam_lab::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_lab::{
    Card, Contender, Measure, Others, Part, Placement, Stage, Troupe, ask, flood, ring, savina,
    sparse,
};

use crate::cast::Cast;
use crate::row;

/// may's coroutines, each with a stack of its own, and its unbounded channels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coroutines;

impl Contender for Coroutines {
    fn card(&self) -> Card {
        Card {
            name: "may",
            version: env!("VERSION_OF_MAY"),
            ours: false,
            about: "a coroutine with a stack for each actor, and an unbounded channel; no more actors than the system maps stacks",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        // A million stacks are more mappings than Linux gives to a process (vm.max_map_count, 65,530 by default).
        let mut measures = row::without_million(ring::measures(*self));
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        // Its scheduler is one for the whole process.
        measures.extend(ask::measures(*self, &[Origin::Handler, Origin::Thread]));
        measures.extend(savina::measures(*self));
        measures.extend(flood::measures(*self));
        measures.extend(sparse::to_actors(*self));
        measures
    }
}

impl<const WORDS: usize> Ring<WORDS> for Coroutines {
    type Pool = Row<WORDS>;

    fn open(&self, threads: usize) -> Row<WORDS> {
        ::may::config().set_workers(threads);
        Row {
            entries: Vec::new(),
            coroutines: Vec::new(),
        }
    }
}

/// The end of a coroutine is a message, too: it may not be cancelled from outside.
type Letter<const WORDS: usize> = Option<Parcel<WORDS>>;

pub(crate) struct Row<const WORDS: usize> {
    /// To all of them, from the first to the last.
    entries: Vec<Sender<Letter<WORDS>>>,
    coroutines: Vec<JoinHandle<()>>,
}

impl<const WORDS: usize> Actors<WORDS> for Row<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let coroutines = &mut self.coroutines;
        self.entries = row::of_queues(plan, channel, |station, receiver, next| {
            coroutines.push(go!(move || pass_on(station, &receiver, next.as_ref())));
        });
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.entries[position].send(Some(parcel));
        assert!(sent.is_ok(), "the coroutine is gone");
    }

    fn clear(&mut self) {
        // Passed on by each to the next.
        let sent = self.entries[0].send(None);
        assert!(sent.is_ok(), "the coroutine is gone");
        self.entries.clear();
        for coroutine in self.coroutines.drain(..) {
            coroutine.join().expect("a coroutine does not panic");
        }
    }
}

fn pass_on<const WORDS: usize>(
    mut station: Station,
    receiver: &Receiver<Letter<WORDS>>,
    next: Option<&Sender<Letter<WORDS>>>,
) {
    while let Ok(Some(parcel)) = receiver.recv() {
        if let (Some(parcel), Some(next)) = (station.handle(parcel), next) {
            // One that is lost is missed at the end.
            let _ = next.send(Some(parcel));
        }
    }
    if let Some(next) = next {
        // In a closed ring the first has ended by then.
        let _ = next.send(None);
    }
}

enum Request {
    Tell(u64),
    Ask(u64, Sender<u64>),
}

/// Starts the coroutine that is told and asked.
fn start_server(threads: usize) -> Sender<Request> {
    ::may::config().set_workers(threads);
    let (sender, requests) = channel();
    // It ends with the last sender.
    drop(go!(move || {
        let mut counter = Counter::default();
        while let Ok(request) = requests.recv() {
            match request {
                Request::Tell(number) => counter.tell(number),
                Request::Ask(number, answers) => {
                    let sent = answers.send(counter.ask(number));
                    assert!(sent.is_ok(), "the asker is gone");
                }
            }
        }
    }));
    sender
}

/// Asks it all, from a coroutine or from a thread: a channel serves for all answers.
fn ask_all(server: &Sender<Request>, mut asker: Asker) -> Asker {
    let (sender, answers) = channel();
    while let Some(number) = asker.next() {
        let sent = server.send(Request::Ask(number, sender.clone()));
        assert!(sent.is_ok(), "the actor is gone");
        asker.accept(answers.recv().expect("the actor answers"));
    }
    asker
}

impl Ask for Coroutines {
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker {
        let server = start_server(threads);
        if origin == Origin::Thread {
            return ask_all(&server, asker);
        }
        let asking = go!(move || ask_all(&server, asker));
        asking.join().expect("a coroutine does not panic")
    }

    fn tell(&self, threads: usize, teller: &mut Teller) {
        let server = start_server(threads);
        let (sender, answers) = channel();
        while let Some(Tells { numbers, question }) = teller.next() {
            for number in numbers {
                let sent = server.send(Request::Tell(number));
                assert!(sent.is_ok(), "the actor is gone");
            }
            let sent = server.send(Request::Ask(question, sender.clone()));
            assert!(sent.is_ok(), "the actor is gone");
            teller.accept(answers.recv().expect("the actor answers"));
        }
    }
}

impl<M: Send + 'static> Others<M> for Cast<Sender<Option<M>>> {
    #[inline]
    fn tell(&self, position: usize, message: M) {
        if let Some(sender) = self.get(position) {
            // One that is lost is missed at the end.
            let _ = sender.send(Some(message));
        }
    }
}

impl Troupe for Coroutines {
    type Stage<P: Part> = Players<P>;

    fn open<P: Part>(&self, threads: usize) -> Players<P> {
        ::may::config().set_workers(threads);
        Players {
            all: Vec::new(),
            coroutines: Vec::new(),
        }
    }
}

/// Coroutines that know each other by their positions.
pub(crate) struct Players<P: Part> {
    all: Vec<Sender<Option<P::Message>>>,
    coroutines: Vec<JoinHandle<()>>,
}

impl<P: Part> Stage<P> for Players<P> {
    fn build(&mut self, parts: Vec<P>) {
        let cast = Cast::new();
        for mut part in parts {
            let (sender, receiver) = channel();
            self.all.push(sender);
            let cast = cast.clone();
            self.coroutines.push(go!(move || {
                while let Ok(Some(message)) = receiver.recv() {
                    part.handle(message, &cast);
                }
            }));
        }
        cast.complete(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let sent = self.all[position].send(Some(message));
        assert!(sent.is_ok(), "the coroutine is gone");
    }

    fn clear(&mut self) {
        for sender in self.all.drain(..) {
            // The end is a message, too.
            let sent = sender.send(None);
            assert!(sent.is_ok(), "the coroutine is gone");
        }
        for coroutine in self.coroutines.drain(..) {
            coroutine.join().expect("a coroutine does not panic");
        }
    }
}
