use ::may::coroutine::JoinHandle;
use ::may::go;
use ::may::sync::mpsc::{Receiver, Sender, channel};
use tamtam_cli::drive::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_cli::drive::{Card, Contender, Measure, Placement, ring};

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
