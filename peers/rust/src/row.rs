//! The actors of a ring, made from the last to the first, so that each one knows whom to send to.

use std::sync::{Arc, OnceLock};

use tamtam_lab::Measure;
use tamtam_lab::ring::{Plan, Station};

/// Whom an actor sends to.
#[derive(Debug)]
pub(crate) enum Next<A> {
    /// It is the last one of a row.
    Nobody,
    /// The actor behind it.
    Actor(A),
    /// The first actor, which is made last.
    First(Arc<OnceLock<A>>),
}

impl<A> Next<A> {
    /// The address to send to, if there is one.
    pub(crate) fn address(&self) -> Option<&A> {
        match self {
            Next::Nobody => None,
            Next::Actor(address) => Some(address),
            Next::First(address) => address.get(),
        }
    }
}

/// Makes the actors by `spawn`, which gets the position, the station, and whom to send to. Returns all addresses in the
/// order of the positions.
pub(crate) fn of_actors<A: Clone>(
    plan: &Plan,
    mut spawn: impl FnMut(usize, Station, Next<A>) -> A,
) -> Vec<A> {
    let first = Arc::new(OnceLock::new());
    let mut next = if plan.is_closed() {
        Next::First(Arc::clone(&first))
    } else {
        Next::Nobody
    };
    let mut addresses = Vec::with_capacity(plan.actors());
    for position in (0..plan.actors()).rev() {
        let address = spawn(position, plan.station(position), next);
        addresses.push(address.clone());
        next = Next::Actor(address);
    }
    addresses.reverse();
    if plan.is_closed() {
        // Nobody else sets it.
        let _ = first.set(addresses[0].clone());
    }
    addresses
}

/// The same where an actor is a loop at the end of a queue, which `open` makes. Returns the senders to the actors at
/// which messages enter.
pub(crate) fn of_queues<S: Clone, R>(
    plan: &Plan,
    open: impl Fn() -> (S, R),
    mut spawn: impl FnMut(Station, R, Option<S>),
) -> Vec<S> {
    let (first, receiver_of_first) = open();
    let mut next = plan.is_closed().then(|| first.clone());
    let mut entries = Vec::with_capacity(plan.entries());
    for position in (1..plan.actors()).rev() {
        let (sender, receiver) = open();
        if position < plan.entries() {
            entries.push(sender.clone());
        }
        spawn(plan.station(position), receiver, next.replace(sender));
    }
    spawn(plan.station(0), receiver_of_first, next);
    entries.push(first);
    entries.reverse();
    entries
}

/// Leaves out 1,000,000 actors, for whom so many take more than many a machine has.
pub(crate) fn without_million(mut measures: Vec<Measure>) -> Vec<Measure> {
    measures.retain(|measure| {
        let extra = measure.variant().extra.as_deref();
        !matches!(extra, Some("million" | "random-1000000"))
    });
    measures
}
