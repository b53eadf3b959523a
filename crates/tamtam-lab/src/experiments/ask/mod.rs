//! `ask`: questions to one actor, each asked when the one before was answered; and messages told without waiting.
//!
//! `200000/PLACEMENT/ORIGIN` asks one question after the other, for as long as the limit says; `ns_per_op` is the time from
//! a question to its answer, the median over batches of 200,000, or the mean if time is too short for one. 1,000 questions
//! are asked before the clock starts. `mean_ns_per_op` is the mean, `first_ns_per_op` that of the first 10,000 questions of
//! the process, those 1,000 included. The origin says who asks:
//!
//! - `handler`: another actor of the same pool, in its handler;
//! - `pools`: an actor of another pool; each pool has one thread;
//! - `thread`: a plain thread, which blocks;
//! - `task`: a task of tokio's runtime, which has a thread of its own.
//!
//! `2000000/PLACEMENT/tells` tells an actor 2,000,000 numbers from a plain thread, then asks it once; `ns_per_op` is the
//! time from the first of them to the answer, for each message, and `total_us` for all: the median over as many rounds as
//! the limit allows, two at least, behind a first one, which is `first_us`. Over what carries messages to another process, or as if it did,
//! they are 100,000: `100000/PLACEMENT/tells`.
//!
//! CPU time and context switches are those of the questions and rounds that count. Where the actor is in another process, what that
//! uses is in them, too, as it says itself just before and after; the most memory, which is this process's, is left out there.
//!
//! A contender's pool has a thread for each core of the placement, and everything runs on those cores. The actor sees
//! whether each number is the one that is due, and says so in its answers; the asker checks every one.

mod asker;
mod by_queues;
mod counter;
mod meter;
mod teller;

use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Placement, Variant};

pub use asker::Asker;
pub use by_queues::{ByQueues, Request};
pub use counter::Counter;
pub use teller::{Teller, Tells};

/// The experiment's name.
const EXPERIMENT: &str = "ask";

/// How many questions are a batch.
pub(crate) const ASKS: u64 = 200_000;
/// How many messages are told before a question.
pub(crate) const TELLS: u64 = 2_000_000;

/// As many where each goes through what carries messages between processes.
pub(crate) const TELLS_BY_CARRIER: u64 = 100_000;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Another actor of the same pool, in its handler.
    Handler,
    /// An actor of another pool; each of the two has one thread.
    OtherPool,
    /// A plain thread.
    Thread,
    /// A task of tokio's runtime, in a thread of its own.
    Task,
}

impl Origin {
    /// Those that every pool of actors has.
    pub const OF_POOLS: [Origin; 3] = [Origin::Handler, Origin::OtherPool, Origin::Thread];

    /// The word that stands for it in a variant's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Handler => "handler",
            Origin::OtherPool => "pools",
            Origin::Thread => "thread",
            Origin::Task => "task",
        }
    }
}

/// A way of running an actor that can be told and asked.
pub trait Ask: Copy + 'static {
    /// Starts an actor with a [`Counter`] on `threads` threads (where the asker is in another pool, each has one), asks
    /// it all that `asker` wants from where `origin` says, ends the actor, and returns `asker`. Where the actor is in another
    /// process, that is counted by [`Asker::count_process`].
    fn ask(&self, origin: Origin, threads: usize, asker: Asker) -> Asker;

    /// Starts an actor with a [`Counter`] on `threads` threads, tells and asks it from the calling thread what `teller`
    /// wants, and ends it. Where the actor is in another process, that is counted by [`Teller::count_process`].
    fn tell(&self, threads: usize, teller: &mut Teller);
}

/// Questions from `origins` on two cores and on one, and tells: `200000/2cores/thread`, `2000000/2cores/tells`, and so on.
/// From another pool on two cores only.
pub fn measures<A: Ask>(contender: A, origins: &[Origin]) -> Vec<Measure> {
    let mut measures = Vec::new();
    for placement in [Placement::TwoCores, Placement::OneCore] {
        measures.extend(at(contender, placement, origins));
    }
    measures
}

/// The same on one core, for who has one thread only.
pub fn on_one_core<A: Ask>(contender: A, origins: &[Origin]) -> Vec<Measure> {
    at(contender, Placement::OneCore, origins)
}

/// The same for an actor that is reached through what carries messages between processes: `200000/2cores/thread`, and
/// `100000/2cores/tells`.
pub fn by_carrier<A: Ask>(contender: A) -> Vec<Measure> {
    [Placement::TwoCores, Placement::OneCore]
        .into_iter()
        .flat_map(|placement| {
            let asks = Variant::new(ASKS, placement).with_extra(Origin::Thread.as_str());
            let tells = Variant::new(TELLS_BY_CARRIER, placement).with_extra("tells");
            [
                Measure::new(EXPERIMENT, asks, move |conditions| {
                    run_asks(contender, Origin::Thread, conditions)
                }),
                Measure::new(EXPERIMENT, tells, move |conditions| {
                    run_tells(contender, conditions)
                }),
            ]
        })
        .collect()
}

fn at<A: Ask>(contender: A, placement: Placement, origins: &[Origin]) -> Vec<Measure> {
    let mut measures: Vec<Measure> = origins
        .iter()
        .filter(|origin| **origin != Origin::OtherPool || placement == Placement::TwoCores)
        .map(|&origin| {
            let variant = Variant::new(ASKS, placement).with_extra(origin.as_str());
            Measure::new(EXPERIMENT, variant, move |conditions| {
                run_asks(contender, origin, conditions)
            })
        })
        .collect();
    let variant = Variant::new(TELLS, placement).with_extra("tells");
    measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
        run_tells(contender, conditions)
    }));
    measures
}

pub(crate) fn run_asks<A: Ask>(
    contender: A,
    origin: Origin,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let Variant {
        count, placement, ..
    } = conditions.variant;
    Seats::of(placement)?.take_both()?;
    let asker = Asker::new(count, conditions.limit);
    contender
        .ask(origin, placement.threads(), asker)
        .measurement()
}

pub(crate) fn run_tells<A: Ask>(
    contender: A,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let Variant {
        count, placement, ..
    } = conditions.variant;
    Seats::of(placement)?.take_both()?;
    let mut teller = Teller::new(count, conditions.limit);
    contender.tell(placement.threads(), &mut teller);
    teller.measurement()
}

#[cfg(test)]
mod tests;
