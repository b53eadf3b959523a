//! `handover`, extra `frames-60` and `frames-1000`: mail that is looked at once per frame.
//!
//! Each worker runs a loop of 60 (1,000) frames a second, and in each frame first takes all the mail that is there. The
//! two loops are half a frame apart, which is the best case: a message waits for half a frame there and for half a
//! frame back, so a round trip costs one frame however fast the channel is.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::seats::Seats;
use crate::measure::usage::{Usage, metrics_between};
use crate::turns::EXPERIMENT;
use crate::{
    Conditions, Failure, Measure, Measurement, Message, Metric, Placement, Post, Queue, Retrieve,
    Turn, Variant,
};

/// The number that tells the worker to stop.
const STOP: u64 = u64::MAX;

/// After so many frames in a row without an answer a message is taken for lost. In frames that were seen, so that it does
/// not count when the system stops the whole process for a while.
const LOST: u32 = 500;

/// More than are ever under way in strict turns.
const CAPACITY: usize = 4;

/// 60 round trips at 60 frames a second and 1,000 at 1,000: `60/free/frames-60`, `1000/free/frames-1000`.
pub fn measures<Q: Queue<Turn>>(queue: Q) -> Vec<Measure> {
    [60, 1000]
        .into_iter()
        .map(|rate| {
            let variant = Variant::new(rate, Placement::Free).with_extra(format!("frames-{rate}"));
            let frame = Duration::from_secs(1) / u32::try_from(rate).expect("a small number");
            Measure::new(EXPERIMENT, variant, move |conditions| {
                run(queue, frame, conditions)
            })
        })
        .collect()
}

fn run<Q: Queue<Turn>>(
    queue: Q,
    frame: Duration,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let (mut to_worker, worker_mail) = queue.open(CAPACITY);
    let (to_main, mut mail) = queue.open(CAPACITY);
    let start = Instant::now();
    let (report, reports) = mpsc::channel();
    thread::spawn(move || {
        let outcome = seats.far.take().and_then(|()| {
            answer_each_frame::<Q>(worker_mail, to_main, Frames::new(start + frame / 2, frame))
        });
        // The main thread may have given up on a failure of its own.
        let _ = report.send(outcome);
    });
    seats.near.take()?;

    let mut frames = Frames::new(start, frame);
    let before = Usage::of_process();
    let begin = Instant::now();
    let (mut done, mut in_vain) = (0, 0);
    to_worker.send(Turn(0));
    let elapsed = 'measured: loop {
        frames.next();
        while let Some(message) = mail.try_receive() {
            if message.number() != Some(!done) {
                return Err(Failure::Unverified(format!(
                    "turn {done} was answered with {message:?}"
                )));
            }
            (done, in_vain) = (done + 1, 0);
            let elapsed = begin.elapsed();
            if done == conditions.variant.count || elapsed >= conditions.limit {
                break 'measured elapsed;
            }
            to_worker.send(Turn(done));
        }
        // A lost message leaves both loops running: that ends here, not at the watchdog.
        in_vain += 1;
        if in_vain > LOST {
            return Err(Failure::Unverified(format!(
                "turn {done} was never answered"
            )));
        }
    };
    let after = Usage::of_process();
    to_worker.send(Turn(STOP));
    let answered = reports.recv().expect("the worker reports")?;
    if answered != done {
        return Err(Failure::Unverified(format!(
            "{done} turns were made and {answered} answered"
        )));
    }

    let nanoseconds = elapsed.as_nanos() as f64 / done as f64;
    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", nanoseconds),
        Metric::new(
            "frames_per_op",
            "frames",
            nanoseconds / frame.as_nanos() as f64,
        ),
    ];
    metrics.extend(metrics_between(before, after, done));
    Ok(Measurement {
        operations: done,
        elapsed,
        metrics,
        note: None,
    })
}

/// The worker's loop; returns how many messages it answered, each with its complement.
fn answer_each_frame<Q: Queue<Turn>>(
    mut mail: Q::Receiver,
    mut to_main: Q::Sender,
    mut frames: Frames,
) -> Result<u64, Failure> {
    let mut due = 0;
    loop {
        frames.next();
        while let Some(message) = mail.try_receive() {
            match message.number() {
                Some(STOP) => return Ok(due),
                Some(number) if number == due => {
                    to_main.send(Turn(!due));
                    due += 1;
                }
                number => {
                    // An answer that the main side does not accept.
                    to_main.send(Turn(due));
                    return Err(Failure::Unverified(format!(
                        "message {number:?} came where {due} was due"
                    )));
                }
            }
        }
    }
}

/// The beginnings of frames, evenly spaced from a first moment on.
#[derive(Debug)]
struct Frames {
    next: Instant,
    length: Duration,
}

impl Frames {
    fn new(first: Instant, length: Duration) -> Self {
        Frames {
            next: first,
            length,
        }
    }

    /// Sleeps until the next frame begins; frames that have passed meanwhile are left out.
    fn next(&mut self) {
        let now = Instant::now();
        while self.next <= now {
            self.next += self.length;
        }
        thread::sleep(self.next - now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::broken::{Fault, Faulty, Sound};

    fn conditions() -> Conditions {
        Conditions {
            variant: Variant::new(5, Placement::Free),
            limit: Duration::from_secs(5),
        }
    }

    #[test]
    fn a_round_trip_costs_at_least_one_frame() {
        let measurement = run(Sound, Duration::from_millis(2), &conditions()).unwrap();
        assert_eq!(measurement.operations, 5);
        // The first question is asked at some moment of a frame; each of the others waits a frame for its answer.
        assert!(
            measurement.value("frames_per_op").unwrap() >= 0.8,
            "{measurement:?}"
        );
    }

    #[test]
    fn a_lost_message_is_noticed() {
        let conditions = Conditions {
            limit: Duration::from_millis(40),
            ..conditions()
        };
        // The first one: on a loaded machine the time may be over before the second.
        let failure = run(
            Faulty(Fault::Lose(0)),
            Duration::from_millis(2),
            &conditions,
        )
        .unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("turn 0 was never answered".to_owned())
        );
    }

    #[test]
    fn a_doubled_message_is_noticed() {
        let failure = run(
            Faulty(Fault::Double(2)),
            Duration::from_millis(2),
            &conditions(),
        );
        assert!(
            matches!(failure, Err(Failure::Unverified(_))),
            "{failure:?}"
        );
    }
}
