use std::future::ready;
use std::sync::Arc;

use ::xtra::{Actor, Address, Context, Handler, Mailbox};
use tamtam_channel::Latch;
use tamtam_cli::drive::ring::{Actors, Parcel, Plan, Ring, Station};
use tamtam_cli::drive::{Card, Contender, Measure, Placement, ring};

use crate::farewell::Farewell;
use crate::row::{self, Next};
use crate::tokio_runtime::TokioRuntime;

/// xtra, on tokio's runtime, with unbounded mailboxes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Xtra;

impl Contender for Xtra {
    fn card(&self) -> Card {
        Card {
            name: "xtra",
            version: env!("VERSION_OF_XTRA"),
            ours: false,
            about: "actors with unbounded mailboxes on tokio's runtime; sends are detached",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        let mut measures = ring::measures(*self);
        measures.extend(ring::sizes(*self, Placement::TwoCores));
        measures
    }
}

/// An actor of the ring.
struct Node<const WORDS: usize> {
    station: Station,
    next: Next<Address<Node<WORDS>>>,
    _farewell: Farewell,
}

struct Stop;

impl<const WORDS: usize> Actor for Node<WORDS> {
    type Stop = ();

    fn stopped(self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl<const WORDS: usize> Handler<Parcel<WORDS>> for Node<WORDS> {
    type Return = ();

    async fn handle(&mut self, parcel: Parcel<WORDS>, _: &mut Context<Self>) {
        if let (Some(parcel), Some(next)) = (self.station.handle(parcel), self.next.address()) {
            // One that is lost is missed at the end.
            let _ = next.send(parcel).detach().await;
        }
    }
}

impl<const WORDS: usize> Handler<Stop> for Node<WORDS> {
    type Return = ();

    async fn handle(&mut self, Stop: Stop, context: &mut Context<Self>) {
        context.stop_self();
    }
}

impl<const WORDS: usize> Ring<WORDS> for Xtra {
    type Pool = Nodes<WORDS>;

    fn open(&self, threads: usize) -> Nodes<WORDS> {
        Nodes {
            runtime: TokioRuntime::with_workers(threads),
            nodes: Vec::new(),
            ended: Arc::new(Latch::new(0)),
        }
    }
}

pub(crate) struct Nodes<const WORDS: usize> {
    runtime: TokioRuntime,
    nodes: Vec<Address<Node<WORDS>>>,
    ended: Arc<Latch>,
}

impl<const WORDS: usize> Actors<WORDS> for Nodes<WORDS> {
    fn build(&mut self, plan: &Plan) {
        let _guard = self.runtime.get().enter();
        let ended = Arc::new(Latch::new(plan.actors() as u64));
        self.nodes = row::of_actors(plan, |_, station, next| {
            let node = Node {
                station,
                next,
                _farewell: Farewell::new(&ended),
            };
            ::xtra::spawn_tokio(node, Mailbox::unbounded())
        });
        self.ended = ended;
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sending = self.nodes[position].send(parcel).detach();
        let sent = self.runtime.get().block_on(sending);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        self.runtime.get().block_on(async {
            for node in self.nodes.drain(..) {
                // One that has ended already needs no word.
                let _ = node.send(Stop).detach().await;
            }
        });
        self.ended.wait();
    }
}
