//! The rows about actors: messages in a ring and at random, births, questions, tells, and a flood beside quiet actors.
//!
//! The placement says how many threads the actors have: `1core` is a home of one thread, `2cores` one of two.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamtam_channel::Latch;

use super::EXPERIMENT;
use super::rounds::{self, TimedRound};
use crate::ask::{self, Ask, Origin};
use crate::measure::seats::Seats;
use crate::{
    Conditions, Failure, Measure, Measurement, Others, Part, Placement, Stage, Troupe, Variant,
    flood,
};

/// How long messages may be missed.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// How many messages are on their way at once, where there are so many actors.
const TOKENS: u64 = 100;

/// What the actors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    /// Messages go from each actor to the next.
    Ring,
    /// Messages go from each actor to one at random.
    Random,
    /// Actors are born, get one message each, and end.
    Birth,
}

/// What is crossed with what: a load with numbers of actors.
const LOADS: &[(Load, &[u64])] = &[
    (Load::Ring, &[1000]),
    (Load::Random, &[100, 1000, 10_000, 100_000, 1_000_000]),
    (Load::Birth, &[10_000]),
];

/// How many messages a round of a ring or at random has at most.
const MOST_MESSAGES: u64 = 1_000_000;

impl Load {
    fn word(self) -> &'static str {
        match self {
            Load::Ring => "ring",
            Load::Random => "random",
            Load::Birth => "birth",
        }
    }

    fn variant(self, actors: u64, placement: Placement) -> Variant {
        match self {
            Load::Birth => Variant::new(actors, placement).with_extra(self.word()),
            Load::Ring | Load::Random => Variant::new(MOST_MESSAGES, placement)
                .with_extra(format!("{}-{actors}", self.word())),
        }
    }
}

/// Rings, random messages and births, where actors have one thread and, if `two`, where they have two:
/// `1000000/2cores/random-1000`.
pub fn actors<T: Troupe>(troupe: T, two: bool) -> Vec<Measure> {
    let mut measures = Vec::new();
    for placement in placements(two) {
        for &(load, sizes) in LOADS {
            for &actors in sizes {
                let variant = load.variant(actors, placement);
                measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
                    run(troupe, load, actors, conditions)
                }));
            }
        }
    }
    measures
}

/// Questions from `origins`, and tells: `200000/2cores/ask-thread`, `2000000/2cores/tells`.
pub fn asks<A: Ask>(contender: A, origins: &[Origin], two: bool) -> Vec<Measure> {
    let mut measures = Vec::new();
    for placement in placements(two) {
        for &origin in origins {
            let variant =
                Variant::new(ask::ASKS, placement).with_extra(format!("ask-{}", origin.as_str()));
            measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
                ask::run_asks(contender, origin, conditions)
            }));
        }
        let variant = Variant::new(ask::TELLS, placement).with_extra("tells");
        measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
            ask::run_tells(contender, conditions)
        }));
    }
    measures
}

/// 1,000 quiet actors beside one that is flooded, on two cores: `1000/2cores/flood`. As in the experiment `flood`, the
/// first figure is how late 99 of 100 messages are at most.
pub fn quiet_beside_flood<T: Troupe>(troupe: T) -> Measure {
    let variant = Variant::new(flood::ACTORS, Placement::TwoCores).with_extra("flood");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        flood::run(troupe, flood::BACKLOG, conditions)
    })
}

fn placements(two: bool) -> impl Iterator<Item = Placement> {
    [Placement::OneCore, Placement::TwoCores]
        .into_iter()
        .filter(move |placement| two || *placement == Placement::OneCore)
}

/// What all actors of a row share.
#[derive(Debug, Default)]
struct Shared {
    /// Of the round under way: counted down by each message that has come to its end.
    latch: Mutex<Option<Arc<Latch>>>,
    /// How many messages the actors that are gone have handled.
    handled: AtomicU64,
    /// A message came to an actor that it was not sent to.
    astray: AtomicBool,
}

impl Shared {
    /// A round in which `count` messages come to their end.
    fn begin(&self, count: u64) -> Arc<Latch> {
        let latch = Arc::new(Latch::new(count));
        *self.latch.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&latch));
        latch
    }

    fn arrived(&self) {
        if let Some(latch) = &*self.latch.lock().unwrap_or_else(PoisonError::into_inner) {
            latch.count_down();
        }
    }
}

/// A message that goes on and on.
#[derive(Debug, Clone, Copy)]
struct Token {
    /// How many actors are to get it yet, this one not counted.
    left: u64,
    /// To whom it was sent.
    position: u64,
    /// From what the next one is drawn.
    state: u64,
}

/// An actor that passes messages on.
#[derive(Debug)]
struct Passer {
    position: u64,
    actors: u64,
    load: Load,
    handled: u64,
    shared: Arc<Shared>,
    /// Counted down when it is gone, and what it has handled is counted.
    gone: Arc<Latch>,
}

impl Part for Passer {
    type Message = Token;

    fn handle(&mut self, mut token: Token, others: &impl Others<Token>) {
        self.handled += 1;
        if token.position != self.position {
            self.shared.astray.store(true, Ordering::Relaxed);
        }
        if token.left == 0 {
            self.shared.arrived();
            return;
        }
        token.left -= 1;
        token.position = match self.load {
            Load::Random => {
                token.state = token.state.wrapping_mul(MULTIPLIER).wrapping_add(1);
                // The high bits are the random ones.
                ((token.state >> 32) * self.actors) >> 32
            }
            Load::Ring | Load::Birth => (self.position + 1) % self.actors,
        };
        others.tell(token.position as usize, token);
    }
}

/// Knuth's multiplier of a linear congruential generator (MMIX).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;

impl Drop for Passer {
    fn drop(&mut self) {
        self.shared
            .handled
            .fetch_add(self.handled, Ordering::Relaxed);
        self.gone.count_down();
    }
}

/// So many actors, and what opens when they are gone: there are systems that say so before an actor is dropped.
fn parts(load: Load, actors: u64, shared: &Arc<Shared>) -> (Vec<Passer>, Arc<Latch>) {
    let gone = Arc::new(Latch::new(actors));
    let part = |position| Passer {
        position,
        actors,
        load,
        handled: 0,
        shared: Arc::clone(shared),
        gone: Arc::clone(&gone),
    };
    ((0..actors).map(part).collect(), gone)
}

fn run<T: Troupe>(
    troupe: T,
    load: Load,
    actors: u64,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;
    let mut stage = troupe.open(placement.threads());
    let shared = Arc::new(Shared::default());
    let mut due = 0;
    let measurement = if load == Load::Birth {
        rounds::measure(conditions.variant.count, conditions.limit, |actors| {
            due += actors;
            births(&mut stage, actors, &shared)
        })?
    } else {
        let (parts, gone) = parts(load, actors, &shared);
        stage.build(parts);
        let measurement = rounds::measure(conditions.variant.count, conditions.limit, |hops| {
            let tokens = TOKENS.min(actors).min(hops);
            let each = hops / tokens;
            due += each * tokens;
            journeys(&mut stage, tokens, each, actors, &shared)
        })?;
        stage.clear();
        open(&gone, "actors did not end")?;
        measurement
    };
    let handled = shared.handled.load(Ordering::Relaxed);
    if handled != due {
        return Err(Failure::Unverified(format!(
            "{handled} messages were handled where {due} were due"
        )));
    }
    if shared.astray.load(Ordering::Relaxed) {
        return Err(Failure::Unverified(
            "a message came to an actor that it was not sent to".to_owned(),
        ));
    }
    Ok(measurement)
}

/// `tokens` messages, each to `each` actors.
fn journeys(
    stage: &mut impl Stage<Passer>,
    tokens: u64,
    each: u64,
    actors: u64,
    shared: &Shared,
) -> Result<TimedRound, Failure> {
    let latch = shared.begin(tokens);
    let begin = Instant::now();
    for token in 0..tokens {
        let position = token * actors / tokens;
        stage.send(
            position as usize,
            Token {
                left: each - 1,
                position,
                state: token,
            },
        );
    }
    wait(stage, &latch)?;
    Ok(TimedRound {
        operations: tokens * each,
        time: begin.elapsed(),
    })
}

/// So many actors are born, get one message each, and end.
fn births(
    stage: &mut impl Stage<Passer>,
    actors: u64,
    shared: &Arc<Shared>,
) -> Result<TimedRound, Failure> {
    let latch = shared.begin(actors);
    let (parts, gone) = parts(Load::Birth, actors, shared);
    let begin = Instant::now();
    stage.build(parts);
    for position in 0..actors {
        stage.send(
            position as usize,
            Token {
                left: 0,
                position,
                state: 0,
            },
        );
    }
    wait(stage, &latch)?;
    stage.clear();
    open(&gone, "actors did not end")?;
    Ok(TimedRound {
        operations: actors,
        time: begin.elapsed(),
    })
}

fn wait(stage: &mut impl Stage<Passer>, latch: &Latch) -> Result<(), Failure> {
    stage.wait(latch, LONGEST_WAIT);
    open(latch, "messages were missed")
}

/// Waits until `latch` is open; otherwise `what` says what was counted.
fn open(latch: &Latch, what: &str) -> Result<(), Failure> {
    latch.wait_timeout(LONGEST_WAIT).map_err(|_| {
        let missing = latch.remaining();
        Failure::Unverified(format!("{missing} {what} within {LONGEST_WAIT:?}"))
    })
}
