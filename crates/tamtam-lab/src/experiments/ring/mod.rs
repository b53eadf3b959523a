//! `ring`: 10,000 actors in a row, each of which passes what it gets on to the next; the last one drops it.
//!
//! 500 messages enter, message 0 at actor 0, message 1 at actor 1, and so on: 4,875,250 are handled in all, which is the
//! count in the variants' names. A round is timed from the first actor that is made until the last message is handled: building
//! the actors is in it; starting the threads that they run on, and ending the actors, are not. Rounds follow each other on
//! the same threads while the time lasts, three at least. `total_us` is the time of a round in the steady state: the
//! median of the later half of all rounds but the first. `ns_per_op` is the same for each message handled. `first_us` is
//! the first round of the process, `best_us` the best of the others, `build_us` the building in the steady state.
//!
//! - `last`: a latch is counted down by the last actor, once for each message; `40B` and `200B`: the same with larger
//!   messages than 8 bytes.
//! - `all`: the latch is counted down by every actor for every message, as the article's programs do.
//! - `token`: one message goes round and round until it was handled 1,000,000 times.
//! - `million`: 1,000,000 actors and 5 messages.
//!
//! On two cores a contender has two threads for its actors, on one core it has one; the thread that sends and waits runs
//! on the same cores. A message counts its own way, and each actor sees whether it is the one that the message is due at.
//! The last actor must get each message once, handled as often as it should, and in the order in which they passed the
//! last actor at which one enters.

mod course;
mod parcel;
mod station;

use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_channel::Latch;

use crate::measure::rounds::{self, Round};
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Placement, Variant};
use course::{Course, Kind};
use station::Book;

pub use parcel::Parcel;
pub use station::Station;

/// The experiment's name.
const EXPERIMENT: &str = "ring";

/// Article D's number of messages handled.
const COUNT: u64 = 4_875_250;
/// How many actors handle a token.
const COUNT_OF_TOKEN: u64 = 1_000_000;
/// The count of 5 messages and 1,000,000 actors.
const COUNT_OF_MILLION: u64 = 4_999_990;

/// A way of running actors that can make a ring of them for messages of `8 + 8 * WORDS` bytes.
pub trait Ring<const WORDS: usize>: Copy + 'static {
    /// What runs the actors.
    type Pool: Actors<WORDS>;

    /// Starts `threads` threads for actors, or prepares to run them in the calling thread.
    fn open(&self, threads: usize) -> Self::Pool;
}

/// Threads with the actors of a ring on them.
pub trait Actors<const WORDS: usize> {
    /// Makes the actors of a round. The one at position `p` gets [`Plan::station`]`(p)`, hands it each message, and sends
    /// what the station returns to the actor at position `p + 1`.
    fn build(&mut self, plan: &Plan);

    /// Sends `parcel` to the actor at `position`.
    fn send(&mut self, position: usize, parcel: Parcel<WORDS>);

    /// Waits until `latch` is open; gives up after `patience`. Who runs its actors in the calling thread does so here.
    fn wait(&mut self, latch: &Latch, patience: Duration) {
        // Whether it is open is seen by the experiment.
        let _ = latch.wait_timeout(patience);
    }

    /// Ends the actors of this round; when it returns, they handle nothing any more. The threads stay.
    fn clear(&mut self);
}

/// What the actors of one round are to be like.
#[derive(Debug)]
pub struct Plan {
    course: Course,
    latch: Arc<Latch>,
    middle: Book,
    end: Book,
}

impl Plan {
    fn new(course: Course) -> Self {
        Plan {
            course,
            latch: Arc::new(Latch::new(course.counts())),
            middle: Book::default(),
            end: Book::default(),
        }
    }

    /// How many actors there are.
    #[must_use]
    pub fn actors(&self) -> usize {
        self.course.actors
    }

    /// How many actors a message enters at: those at the first positions.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.course.messages
    }

    /// Whether the last actor sends to the first. If not, it sends nothing.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.course.kind == Kind::Token
    }

    /// What the actor at `position` does.
    #[must_use]
    pub fn station(&self, position: usize) -> Station {
        Station::new(position, &self.course, &self.latch, &self.middle, &self.end)
    }
}

/// Messages of 8 bytes on two cores and on one: `4875250/2cores/last` and `all`, `1000000/2cores/token`, the same with
/// `1core`, and `4999990/2cores/million`.
pub fn measures<R: Ring<0>>(ring: R) -> Vec<Measure> {
    let mut measures = thousands(ring, Placement::TwoCores);
    measures.push(million(ring, Placement::TwoCores));
    measures.extend(thousands(ring, Placement::OneCore));
    measures
}

/// Messages of 8 bytes on one core, for who has one thread only.
pub fn on_one_core<R: Ring<0>>(ring: R) -> Vec<Measure> {
    let mut measures = thousands(ring, Placement::OneCore);
    measures.push(million(ring, Placement::OneCore));
    measures
}

fn thousands<R: Ring<0>>(ring: R, placement: Placement) -> Vec<Measure> {
    [(COUNT, "last"), (COUNT, "all"), (COUNT_OF_TOKEN, "token")]
        .into_iter()
        .map(|(count, extra)| measure::<0, R>(ring, count, placement, extra.to_owned()))
        .collect()
}

fn million<R: Ring<0>>(ring: R, placement: Placement) -> Measure {
    measure::<0, R>(ring, COUNT_OF_MILLION, placement, "million".to_owned())
}

/// Messages of 40 and 200 bytes at `placement`: `4875250/2cores/40B` and `200B`.
pub fn sizes<R: Ring<4> + Ring<24>>(ring: R, placement: Placement) -> Vec<Measure> {
    vec![
        size::<4, R>(ring, placement),
        size::<24, R>(ring, placement),
    ]
}

fn size<const WORDS: usize, R: Ring<WORDS>>(ring: R, placement: Placement) -> Measure {
    let extra = format!("{}B", Parcel::<WORDS>::BYTES);
    measure::<WORDS, R>(ring, COUNT, placement, extra)
}

fn measure<const WORDS: usize, R: Ring<WORDS>>(
    ring: R,
    count: u64,
    placement: Placement,
    extra: String,
) -> Measure {
    let variant = Variant::new(count, placement).with_extra(extra);
    Measure::new(EXPERIMENT, variant, move |conditions| {
        // Less than the command's own patience, so that the reason is told. Millions of messages of a program that is not
        // optimized, as tests are, take most of that on a busy machine.
        let seconds = if cfg!(debug_assertions) { 120 } else { 15 };
        let patience = conditions.limit * 5 + Duration::from_secs(seconds);
        run::<WORDS, R>(ring, Course::of(&conditions.variant), conditions, patience)
    })
}

fn run<const WORDS: usize, R: Ring<WORDS>>(
    ring: R,
    course: Course,
    conditions: &Conditions,
    patience: Duration,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;
    let mut pool = ring.open(placement.threads());

    rounds::measure(course.handled(), conditions.limit, || {
        round(&mut pool, course, patience)
    })
}

/// Builds the actors, sends, waits, and looks whether all is as it should be.
fn round<const WORDS: usize>(
    pool: &mut impl Actors<WORDS>,
    course: Course,
    patience: Duration,
) -> Result<Round, Failure> {
    let plan = Plan::new(course);
    let start = Instant::now();
    pool.build(&plan);
    let build = start.elapsed();
    for number in 0..course.messages {
        let parcel = Parcel::new(u32::try_from(number).expect("messages are few"));
        pool.send(number, parcel);
    }
    pool.wait(&plan.latch, patience);
    let whole = start.elapsed();
    if !plan.latch.is_open() {
        return Err(Failure::Unverified(format!(
            "{} of {} messages were still missing after {patience:?}",
            plan.latch.remaining(),
            course.counts(),
        )));
    }
    pool.clear();
    course.verify(&plan.middle.take(), &plan.end.take())?;
    Ok(Round { build, whole })
}

#[cfg(test)]
mod tests;
