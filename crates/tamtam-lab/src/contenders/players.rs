//! Actors who know each other by their positions.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tamtam_actor::{Actor, Address, Context};
use tamtam_channel::Latch;

use super::home::Home;
use crate::{Others, Part, Stage};

/// Actors who know each other by their positions.
pub(super) struct Players<H, P: Part> {
    home: H,
    all: Vec<Address<P::Message>>,
    /// Opens when the actors are gone.
    gone: Arc<Latch>,
    part: PhantomData<fn(P)>,
}

impl<H, P: Part> Players<H, P> {
    /// No actor yet.
    pub(super) fn at(home: H) -> Self {
        Players {
            home,
            all: Vec::new(),
            gone: Arc::new(Latch::new(0)),
            part: PhantomData,
        }
    }
}

impl<H, P: Part> fmt::Debug for Players<H, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Players")
            .field("actors", &self.all.len())
            .finish_non_exhaustive()
    }
}

/// All of them, filled in when all are made.
struct Known<M>(Arc<OnceLock<Vec<Address<M>>>>);

impl<M: Send + 'static> Others<M> for Known<M> {
    #[inline]
    fn tell(&self, position: usize, message: M) {
        if let Some(address) = self.0.get().and_then(|all| all.get(position)) {
            // One that is lost is missed at the end.
            let _ = address.tell(message);
        }
    }
}

struct Player<P: Part> {
    part: P,
    others: Known<P::Message>,
    // Dropped last.
    _farewell: Farewell,
}

impl<P: Part> Actor for Player<P> {
    type Message = P::Message;

    fn handle(&mut self, message: P::Message, _: &mut Context<Self>) {
        self.part.handle(message, &self.others);
    }
}

struct Farewell(Arc<Latch>);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.count_down();
    }
}

impl<H: Home, P: Part> Stage<P> for Players<H, P> {
    fn build(&mut self, parts: Vec<P>) {
        self.gone = Arc::new(Latch::new(parts.len() as u64));
        let known = Arc::new(OnceLock::new());
        for part in parts {
            let player = Player {
                part,
                others: Known(Arc::clone(&known)),
                _farewell: Farewell(Arc::clone(&self.gone)),
            };
            self.all.push(self.home.spawn(player));
        }
        // It was empty: no other thread fills it.
        let _ = known.set(self.all.clone());
    }

    fn send(&mut self, position: usize, message: P::Message) {
        let sent = self.all[position].tell(message);
        assert!(sent.is_ok(), "the actor is gone");
    }

    fn wait(&mut self, latch: &Latch, patience: Duration) {
        self.home.wait(latch, patience);
    }

    fn clear(&mut self) {
        for address in self.all.drain(..) {
            // All know all, so none would be dropped.
            address.stop();
        }
        self.home.wait(&self.gone, Duration::MAX);
    }
}
