//! The actors of the ring.

use std::sync::{Arc, OnceLock};

use tamtam_actor::{Actor, Address, Context};
use tamtam_channel::Latch;

use super::home::Home;
use crate::ring::{Actors, Parcel, Plan, Station};

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

/// The actors of a ring.
#[derive(Debug)]
pub(super) struct Nodes<H, const WORDS: usize> {
    home: H,
    entries: Vec<Address<Parcel<WORDS>>>,
    /// Opens when the actors of this round are gone.
    gone: Arc<Latch>,
}

impl<H, const WORDS: usize> Nodes<H, WORDS> {
    /// No actor yet.
    pub(super) fn at(home: H) -> Self {
        Nodes {
            home,
            entries: Vec::new(),
            gone: Arc::new(Latch::new(0)),
        }
    }
}

impl<H: Home, const WORDS: usize> Actors<WORDS> for Nodes<H, WORDS> {
    fn build(&mut self, plan: &Plan) {
        self.gone = Arc::new(Latch::new(plan.actors() as u64));
        let first = Arc::new(OnceLock::new());
        let mut next = if plan.is_closed() {
            Next::First(Arc::clone(&first))
        } else {
            Next::Nobody
        };
        for position in (0..plan.actors()).rev() {
            let node = self.home.spawn(Node {
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
            // It was empty: no other thread fills it.
            let _ = first.set(node);
        }
    }

    fn send(&mut self, position: usize, parcel: Parcel<WORDS>) {
        let sent = self.entries[position].tell(parcel);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn clear(&mut self) {
        // In a closed ring each actor is known to another one.
        if let Some(first) = self.entries.first() {
            first.stop();
        }
        self.entries.clear();
        self.gone.wait();
    }
}
