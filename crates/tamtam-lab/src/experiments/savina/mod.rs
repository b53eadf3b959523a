//! The classics of the Savina suite, each an experiment of its own: `counting`, `fork-join`, `threadring`, `big` and
//! `chameneos`.
//!
//! The suite: Shams Imam and Vivek Sarkar, "Savina: an actor benchmark suite" (2014). The parameters are the paper's,
//! but for those of `big`, where each actor sends a tenth. The programs are our own, and check what came.
//!
//! A round is timed from the first actor that is made until the last message is handled, as in `ring`, and gives the
//! same figures: `ns_per_op` and `total_us` in the steady state, `first_us`, `best_us` and `build_us`. On two cores a
//! contender has two threads for its actors, on one core it has one.
//!
//! The count in a variant's name is the number of operations of a round.

mod big;
mod chameneos;
mod counting;
mod fork_join;
mod tally;
mod threadring;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::measure::rounds::{self, Round};
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Part, Placement, Stage, Troupe, Variant};
use tally::Tally;

/// One of the suite's programs.
trait Classic: Copy + 'static {
    /// The experiment's name.
    const EXPERIMENT: &'static str;

    /// What its actors do.
    type Part: Part;

    /// How many operations a round is.
    fn operations(&self) -> u64;

    /// How many actors say at the tally that they are done.
    fn reporters(&self) -> u64;

    /// What each of its actors does.
    fn parts(&self, tally: &Arc<Tally>) -> Vec<Self::Part>;

    /// Sends what starts it.
    fn start(&self, send: impl FnMut(usize, <Self::Part as Part>::Message));
}

/// All of them on two cores and on one: `1000000/2cores` and `1000000/1core` of `counting`, and so on.
pub fn measures<T: Troupe>(troupe: T) -> Vec<Measure> {
    [Placement::TwoCores, Placement::OneCore]
        .into_iter()
        .flat_map(|placement| at(troupe, placement))
        .collect()
}

/// All of them on one core, for who has one thread only.
pub fn on_one_core<T: Troupe>(troupe: T) -> Vec<Measure> {
    at(troupe, Placement::OneCore)
}

fn at<T: Troupe>(troupe: T, placement: Placement) -> Vec<Measure> {
    vec![
        measure(troupe, placement, counting::PAPERS),
        measure(troupe, placement, fork_join::PAPERS),
        measure(troupe, placement, threadring::PAPERS),
        measure(troupe, placement, big::PAPERS),
        measure(troupe, placement, chameneos::PAPERS),
    ]
}

fn measure<T: Troupe, C: Classic>(troupe: T, placement: Placement, classic: C) -> Measure {
    let variant = Variant::new(classic.operations(), placement);
    Measure::new(C::EXPERIMENT, variant, move |conditions| {
        // Less than the command's own patience, so that the reason is told.
        let patience = conditions.limit * 5 + Duration::from_secs(15);
        run(troupe, classic, conditions, patience)
    })
}

fn run<T: Troupe, C: Classic>(
    troupe: T,
    classic: C,
    conditions: &Conditions,
    patience: Duration,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;
    let mut stage = troupe.open(placement.threads());
    rounds::measure(classic.operations(), conditions.limit, || {
        round(&mut stage, classic, patience)
    })
}

/// Builds the actors, starts them, waits, and looks whether all is as it should be.
fn round<C: Classic>(
    stage: &mut impl Stage<C::Part>,
    classic: C,
    patience: Duration,
) -> Result<Round, Failure> {
    let tally = Arc::new(Tally::new(classic.reporters()));
    let start = Instant::now();
    stage.build(classic.parts(&tally));
    let build = start.elapsed();
    classic.start(|position, message| stage.send(position, message));
    stage.wait(tally.latch(), patience);
    let whole = start.elapsed();
    tally.all_done(patience)?;
    stage.clear();
    tally.verify(classic.operations())?;
    Ok(Round { build, whole })
}
