//! The rows about topics: each message to 1,000 subscribers, `topic-once` and `topic-turns`.
//!
//! `topic-once` publishes up to 1,000 messages, then waits until all have all of them; `topic-turns` waits after each
//! message. An operation is a delivery: one message to one subscriber.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tamtam_channel::Latch;

use super::EXPERIMENT;
use super::rounds::{self, TimedRound};
use crate::measure::seats::Seats;
use crate::{Conditions, Failure, Measure, Measurement, Placement, Variant};

/// How many subscribers there are.
pub const SUBSCRIBERS: u64 = 1000;

/// How many messages are published before all are waited for, at most: what a topic with a bound must hold.
pub const MOST_AT_ONCE: u64 = 1000;

/// How long deliveries may be missed.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

/// A way of giving each message to many subscribers.
pub trait Publish: Copy + 'static {
    /// What is published to.
    type Topic: Publisher;

    /// A topic with these subscribers, on so many threads; it holds [`MOST_AT_ONCE`] messages at least.
    fn open(&self, threads: usize, subscribers: Vec<Subscriber>) -> Self::Topic;
}

/// A topic with its subscribers.
pub trait Publisher {
    /// Publishes a number to all subscribers.
    fn publish(&mut self, number: u64);

    /// Waits until `latch` is open; gives up after `patience`.
    fn wait(&mut self, latch: &Latch, patience: Duration) {
        // Whether it is open is seen by the experiment.
        let _ = latch.wait_timeout(patience);
    }
}

/// What all subscribers share.
#[derive(Debug, Default)]
struct Shared {
    /// After which number a subscriber says that it has it.
    last: AtomicU64,
    latch: Mutex<Option<Arc<Latch>>>,
    /// How many messages came out of turn.
    unsound: AtomicU64,
}

/// One subscriber: a contender hands it every number that it gets.
#[derive(Debug)]
pub struct Subscriber {
    due: u64,
    shared: Arc<Shared>,
}

impl Subscriber {
    /// Takes a number.
    #[inline]
    pub fn receive(&mut self, number: u64) {
        if number != self.due {
            self.shared.unsound.fetch_add(1, Ordering::Relaxed);
        }
        self.due = number + 1;
        // It was set before the number was published.
        if number == self.shared.last.load(Ordering::Relaxed) {
            let latch = self.shared.latch.lock();
            if let Some(latch) = &*latch.unwrap_or_else(PoisonError::into_inner) {
                latch.count_down();
            }
        }
    }
}

/// On a home of one thread and, if `two`, on one of two: `1000000/1core/topic-once`, `1000000/2cores/topic-turns`.
pub fn topics<P: Publish>(publish: P, two: bool) -> Vec<Measure> {
    let mut measures = Vec::new();
    for placement in [Placement::OneCore, Placement::TwoCores] {
        if placement == Placement::TwoCores && !two {
            continue;
        }
        for (word, at_once) in [("once", MOST_AT_ONCE), ("turns", 1)] {
            let variant = Variant::new(SUBSCRIBERS * MOST_AT_ONCE, placement)
                .with_extra(format!("topic-{word}"));
            measures.push(Measure::new(EXPERIMENT, variant, move |conditions| {
                run(publish, at_once, conditions)
            }));
        }
    }
    measures
}

fn run<P: Publish>(
    publish: P,
    at_once: u64,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.take_both()?;
    let shared = Arc::new(Shared::default());
    let subscribers = (0..SUBSCRIBERS).map(|_| Subscriber {
        due: 0,
        shared: Arc::clone(&shared),
    });
    let mut topic = publish.open(placement.threads(), subscribers.collect());
    let mut next = 0;
    rounds::measure(conditions.variant.count, conditions.limit, |operations| {
        let messages = operations.div_ceil(SUBSCRIBERS);
        let begin = Instant::now();
        let end = next + messages;
        while next < end {
            let count = at_once.min(end - next);
            let latch = Arc::new(Latch::new(SUBSCRIBERS));
            shared.last.store(next + count - 1, Ordering::Relaxed);
            *shared.latch.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&latch));
            for number in next..next + count {
                topic.publish(number);
            }
            next += count;
            topic.wait(&latch, LONGEST_WAIT);
            if !latch.is_open() {
                return Err(Failure::Unverified(format!(
                    "{} subscribers missed a message for {LONGEST_WAIT:?}",
                    latch.remaining()
                )));
            }
        }
        let time = begin.elapsed();
        match shared.unsound.load(Ordering::Relaxed) {
            0 => Ok(TimedRound {
                operations: messages * SUBSCRIBERS,
                time,
            }),
            unsound => Err(Failure::Unverified(format!(
                "{unsound} messages came out of turn"
            ))),
        }
    })
}
