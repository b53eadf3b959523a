//! `handover`, extras `async`, `async-small` and `mixed`: strict turns in which a task takes part.
//!
//! `async`: two tasks on one current-thread runtime of tokio. `async-small`: two tasks on a small executor of the lab's own
//! that costs next to nothing, so that the difference between the two is tokio's share. Both run in one thread on one
//! core: nothing sleeps, and a round trip is two sends, two receives and two switches between tasks. `mixed`: the caller is
//! a thread that blocks, the answerer a task on a current-thread runtime in a thread of its own.
//!
//! The turns, their verification, the passes and the figures are those of [`turns`](crate::turns).

use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::harness::executor::{Executor, Small};
use crate::measure::pace::{Pace, Series};
use crate::measure::passes::{Budgets, LONGEST_CHUNK, Passes, Samples};
use crate::measure::seats::Seats;
use crate::measure::usage::Usage;
use crate::turns::{COUNT, Due, EXPERIMENT, STOP, agree, answer_to, objection_to};
use crate::{
    AsyncEnd, AsyncHandover, Conditions, Failure, Measure, Measurement, Message, Placement, Turn,
    Variant,
};

/// Two tasks on the lab's small executor: `1000/1core/async-small`.
pub fn small<H: AsyncHandover<Turn>>(handover: H) -> Measure {
    on::<Small, H>(handover)
}

/// Two tasks on a current-thread runtime of tokio: `1000/1core/async`.
#[cfg(feature = "tokio")]
pub fn tokio<H: AsyncHandover<Turn>>(handover: H) -> Measure {
    on::<crate::harness::executor::Tokio, H>(handover)
}

/// A thread that blocks and a task on a runtime of its own: `1000/1core/mixed`, `1000/2cores/mixed`.
#[cfg(feature = "tokio")]
pub fn mixed<H: crate::MixedHandover<Turn>>(handover: H) -> Vec<Measure> {
    [Placement::OneCore, Placement::TwoCores]
        .into_iter()
        .map(|placement| {
            let variant = Variant::new(COUNT, placement).with_extra("mixed");
            Measure::new(EXPERIMENT, variant, move |conditions| {
                run_mixed(handover, conditions)
            })
        })
        .collect()
}

fn on<E: Executor, H: AsyncHandover<Turn>>(handover: H) -> Measure {
    let variant = Variant::new(COUNT, Placement::OneCore).with_extra(E::WORD);
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run::<E, Turn, H>(handover, conditions)
    })
}

fn run<E: Executor, M: Message, H: AsyncHandover<M>>(
    handover: H,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let placement = conditions.variant.placement;
    Seats::of(placement)?.near.take()?;
    let (near, far) = handover.connect_async();
    let objection = Arc::new(OnceLock::new());
    let asker = Asker {
        end: near,
        next: 0,
        objection: Arc::clone(&objection),
        message: PhantomData,
    };
    let count = conditions.variant.count;
    let ((passes, made), answered) = E::run_pair(
        asker.passes(count, Budgets::of(conditions)),
        answer::<M, H::End>(far, Arc::clone(&objection)),
    )?;
    agree(made, answered, &objection)?;
    Ok(passes.measurement(placement))
}

#[cfg(feature = "tokio")]
fn run_mixed<M: Message, H: crate::MixedHandover<M>>(
    handover: H,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let (near, far) = handover.connect_mixed();
    let caller = crate::turns::Caller::<M, _>::answered_by(near, seats.far, move |objection| {
        crate::harness::executor::Tokio::run(answer::<M, H::Far>(far, objection))
    })?;
    seats.near.take()?;
    caller.passes(conditions)
}

/// The asking task.
struct Asker<M, E> {
    end: E,
    next: u64,
    objection: Arc<OnceLock<Failure>>,
    message: PhantomData<fn() -> M>,
}

impl<M: Message, E: AsyncEnd<M>> Asker<M, E> {
    /// The three passes, and how many turns were made.
    async fn passes(mut self, batch: u64, budgets: Budgets) -> Result<(Passes, u64), Failure> {
        let warm_up = self.turns(batch, budgets.warm_up).await?;
        let before = Usage::of_process();
        let series = self.turns(batch, budgets.plain).await?;
        let after = Usage::of_process();
        let mut samples = Samples::start(budgets.sampled);
        while samples.wants_more() {
            self.turn().await?;
            samples.done();
        }
        self.end.send(M::new(STOP)).await;
        let passes = Passes {
            warm_up,
            before,
            series,
            after,
            samples: samples.finish(),
        };
        Ok((passes, self.next))
    }

    /// Turns until `budget` is used up, in batches of `batch`; at least one turn.
    async fn turns(&mut self, batch: u64, budget: Duration) -> Result<Series, Failure> {
        let mut pace = Pace::start(batch, budget, LONGEST_CHUNK);
        loop {
            let turns = pace.chunk();
            for _ in 0..turns {
                self.turn().await?;
            }
            if !pace.done(turns) {
                return Ok(pace.finish());
            }
        }
    }

    /// One round trip.
    async fn turn(&mut self) -> Result<(), Failure> {
        let number = self.next;
        self.end.send(M::new(number)).await;
        let answer = self.end.receive().await.number();
        self.next += 1;
        if answer == Some(answer_to(number)) {
            Ok(())
        } else {
            Err(objection_to(number, answer, &self.objection))
        }
    }
}

/// The other task: answers until it is told to stop, and returns how many turns it answered.
async fn answer<M: Message, E: AsyncEnd<M>>(mut end: E, objection: Arc<OnceLock<Failure>>) -> u64 {
    let mut due = 0;
    loop {
        match Due::of(end.receive().await.number(), due, &objection) {
            Due::Answer(number) => {
                end.send(M::new(number)).await;
                due += 1;
            }
            Due::Stop => return due,
            Due::Object(number) => {
                end.send(M::new(number)).await;
                return due;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::broken::{Fault, Faulty, Sound};
    use crate::{AsyncQueue, QueuePair};

    fn conditions(placement: Placement) -> Conditions {
        Conditions {
            variant: Variant::new(10, placement),
            limit: Duration::from_millis(40),
        }
    }

    /// The last position that is reached however loaded the machine is: each of the three passes takes a turn.
    const LAST: u64 = 2;

    fn pair<Q: AsyncQueue<Turn>>(queue: Q) -> QueuePair<Q> {
        QueuePair { queue, capacity: 4 }
    }

    fn is_measured(measurement: &Measurement) {
        assert!(measurement.operations >= 1);
        assert_eq!(measurement.metrics[0].metric, "ns_per_op");
        assert!(measurement.value("max_ns") >= measurement.value("p999_ns"));
    }

    fn turns_are_verified<E: Executor>() {
        let free = conditions(Placement::Free);
        is_measured(&run::<E, Turn, _>(pair(Sound), &free).unwrap());
        for fault in [Fault::Stale(LAST), Fault::Double(LAST)] {
            let failure = run::<E, Turn, _>(pair(Faulty(fault)), &free);
            assert!(
                matches!(failure, Err(Failure::Unverified(_))),
                "{fault:?}: {failure:?}"
            );
        }
        // In a thread of its own, which stays pinned.
        let pinned =
            std::thread::spawn(|| run::<E, Turn, _>(pair(Sound), &conditions(Placement::OneCore)));
        match pinned.join().unwrap() {
            Err(Failure::Impossible(_)) if cfg!(not(target_os = "linux")) => {}
            outcome => is_measured(&outcome.unwrap()),
        }
    }

    #[test]
    fn turns_on_the_small_executor_are_verified() {
        turns_are_verified::<Small>();
        let measure = small(pair(Sound));
        assert_eq!(measure.variant().to_string(), "1000/1core/async-small");
    }

    #[cfg(feature = "tokio")]
    #[test]
    fn turns_on_tokio_are_verified() {
        turns_are_verified::<crate::harness::executor::Tokio>();
        let measure = tokio(pair(Sound));
        assert_eq!(measure.variant().to_string(), "1000/1core/async");
    }

    #[cfg(feature = "tokio")]
    #[test]
    fn mixed_turns_are_verified() {
        let free = conditions(Placement::Free);
        is_measured(&run_mixed::<Turn, _>(pair(Sound), &free).unwrap());
        let failure = run_mixed::<Turn, _>(pair(Faulty(Fault::Stale(LAST))), &free).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("message 1 came where 2 was due".to_owned())
        );
        let names: Vec<_> = mixed(pair(Sound))
            .iter()
            .map(|measure| measure.variant().to_string())
            .collect();
        assert_eq!(names, ["1000/1core/mixed", "1000/2cores/mixed"]);
    }
}
