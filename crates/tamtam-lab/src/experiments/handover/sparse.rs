//! `handover`, extras `sparse-1`, `sparse-8`, `sparse-20ms` and `sparse-20us`: a message now and then.
//!
//! A pacing sender on the first processor sends each receiver one message a millisecond (or one per 20 ms, or per 20 µs); the
//! receivers are on the second processor, and the messages for eight receivers are spread evenly over the millisecond,
//! so that each finds a receiver that has waited. COUNT is the number of messages for each receiver. A receiver is a thread
//! that waits, or an actor; the actors of a pool share one thread, which is on the second processor, too.
//!
//! `latency_ns` (the median) and `p99_ns` are one way: from the moment before the send to the moment after the receive.
//!
//! `cpu_ns_per_op` is what the messages cost, without the pacing, which belongs to the experiment: the CPU time of the
//! whole process, less that of the sending thread, plus that of its send calls alone. Each send call is timed with the
//! thread's CPU clock, and the cost of the clock itself, measured beforehand, is taken off. In this way a contender that
//! works in a thread of its own is charged for it too. Context switches are those of all threads but the sender.

use std::hint::{black_box, spin_loop};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::cpu_clock::{process_cpu_time, thread_cpu_time};
use crate::measure::seats::Seats;
use crate::measure::statistics::{median, percentile};
use crate::measure::usage::Usage;
use crate::turns::EXPERIMENT;
use crate::{
    Conditions, End, Failure, Handover, Measure, Measurement, Metric, Others, Part, Placement,
    Stage, Stamp, Troupe, Variant,
};

/// The number that tells a receiver to stop.
const STOP: u64 = u64::MAX;

/// How often the cost of reading the CPU clock is measured; the median is taken.
const CLOCK_TRIALS: usize = 1001;

/// Who is to wait for less does not sleep: the system would wake it too late.
const SHORTEST_SLEEP: Duration = Duration::from_millis(1);

/// How many receivers there are and how often each gets a message.
#[derive(Debug, Clone, Copy)]
struct Pace {
    receivers: u32,
    period: Duration,
}

const ONE: (u64, &str, Pace) = (
    1000,
    "sparse-1",
    Pace {
        receivers: 1,
        period: Duration::from_millis(1),
    },
);

const EIGHT: (u64, &str, Pace) = (
    1000,
    "sparse-8",
    Pace {
        receivers: 8,
        period: Duration::from_millis(1),
    },
);

const SELDOM: (u64, &str, Pace) = (
    50,
    "sparse-20ms",
    Pace {
        receivers: 1,
        period: Duration::from_millis(20),
    },
);

const BRISK: (u64, &str, Pace) = (
    10_000,
    "sparse-20us",
    Pace {
        receivers: 1,
        period: Duration::from_micros(20),
    },
);

/// One receiver, and eight of them, with one message a millisecond each, and one with a message per 20 ms, and per 20 µs:
/// `1000/2cores/sparse-1`, `1000/2cores/sparse-8`, `50/2cores/sparse-20ms`, `10000/2cores/sparse-20us`.
pub fn measures<H: Handover<Stamp>>(handover: H) -> Vec<Measure> {
    [ONE, EIGHT, SELDOM, BRISK]
        .map(|traffic| {
            measure(traffic, move |pace, conditions| {
                run(handover, pace, conditions)
            })
        })
        .into()
}

/// The same to actors, which have a thread on the second processor, or as many as the contender gives them there.
pub fn to_actors<T: Troupe>(troupe: T) -> Vec<Measure> {
    [ONE, EIGHT, SELDOM, BRISK]
        .map(|traffic| {
            measure(traffic, move |pace, conditions| {
                run_actors(troupe, pace, conditions)
            })
        })
        .into()
}

fn measure(
    (count, extra, pace): (u64, &str, Pace),
    run: impl Fn(Pace, &Conditions) -> Result<Measurement, Failure> + 'static,
) -> Measure {
    let variant = Variant::new(count, Placement::TwoCores).with_extra(extra);
    Measure::new(EXPERIMENT, variant, move |conditions| run(pace, conditions))
}

/// What a receiver reports.
enum Report {
    /// It has taken its seat, or could not.
    Seated(Result<(), Failure>),
    /// It has ended, with the latency of each message in nanoseconds.
    Ended(Result<Vec<u32>, Failure>),
}

fn run<H: Handover<Stamp>>(
    handover: H,
    pace: Pace,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let epoch = Instant::now();
    let warm_up = warm_up(conditions);
    let expected = usize::try_from(warm_up + conditions.variant.count).expect("a moderate count");
    let (report, reports) = mpsc::channel();
    let mut ends = Vec::new();
    for _ in 0..pace.receivers {
        let (near, far) = handover.connect();
        let report = report.clone();
        thread::spawn(move || {
            let seat = seats.far.take();
            let failed = seat.is_err();
            // The main thread ends at the first failure, and listens no more.
            let _ = report.send(Report::Seated(seat));
            if !failed {
                let _ = report.send(Report::Ended(receive_all(far, epoch, expected)));
            }
        });
        ends.push(near);
    }
    drop(report);
    for _ in 0..pace.receivers {
        if let Ok(Report::Seated(seat)) = reports.recv() {
            seat?;
        }
    }
    seats.near.take()?;

    let mut sender = Sender::new(pace, epoch, |receiver: usize, stamp| {
        ends[receiver].send(stamp);
    });
    let traffic = sender.traffic(warm_up, conditions);
    sender.stop();
    let mut latencies = Vec::new();
    for report in reports {
        if let Report::Ended(outcome) = report {
            latencies.push(outcome?);
        }
    }
    traffic.measurement(pace, &latencies)
}

/// An actor that is a receiver.
#[derive(Debug)]
struct Receiver {
    log: Log,
    report: mpsc::Sender<Result<Vec<u32>, Failure>>,
}

impl Part for Receiver {
    type Message = Stamp;

    fn handle(&mut self, stamp: Stamp, _others: &impl Others<Stamp>) {
        if let Some(outcome) = self.log.enter(stamp) {
            // The main thread ends at the first failure, and listens no more.
            let _ = self.report.send(outcome);
        }
    }
}

fn run_actors<T: Troupe>(
    troupe: T,
    pace: Pace,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let epoch = Instant::now();
    let warm_up = warm_up(conditions);
    let expected = usize::try_from(warm_up + conditions.variant.count).expect("a moderate count");
    // The threads of the actors run where the thread runs that starts them.
    seats.far.take()?;
    let mut stage = troupe.open_apart(1);
    let (report, reports) = mpsc::channel();
    let receiver = |_| Receiver {
        log: Log::new(epoch, expected),
        report: report.clone(),
    };
    stage.build((0..pace.receivers).map(receiver).collect());
    drop(report);
    seats.near.take()?;

    let mut sender = Sender::new(pace, epoch, |receiver, stamp| stage.send(receiver, stamp));
    let traffic = sender.traffic(warm_up, conditions);
    sender.stop();
    let mut latencies = Vec::new();
    for _ in 0..pace.receivers {
        // Less than the command's own patience, so that the reason is told.
        let patience = conditions.limit * 5 + Duration::from_secs(15);
        let report = reports.recv_timeout(patience).map_err(|_| {
            Failure::Unverified(format!("an actor did not report within {patience:?}"))
        })?;
        latencies.push(report?);
    }
    stage.clear();
    traffic.measurement(pace, &latencies)
}

/// Enough rounds for a wait that learns to have learnt.
fn warm_up(conditions: &Conditions) -> u64 {
    (conditions.variant.count / 50).clamp(3, 20)
}

/// What the sender did.
struct Traffic {
    warm_up: u64,
    rounds: u64,
    elapsed: Duration,
    /// The CPU time of the send calls, with that of the clock around them.
    sending: Duration,
    before: Option<Spent>,
    after: Option<Spent>,
}

impl Traffic {
    /// The figures, with the latencies that each receiver reported.
    fn measurement(self, pace: Pace, reported: &[Vec<u32>]) -> Result<Measurement, Failure> {
        let sent = self.warm_up + self.rounds;
        let mut latencies = Vec::new();
        for received in reported {
            if received.len() as u64 != sent {
                return Err(Failure::Unverified(format!(
                    "{sent} messages were sent and {} came",
                    received.len()
                )));
            }
            latencies.extend_from_slice(&received[self.warm_up as usize..]);
        }
        let operations = self.rounds * u64::from(pace.receivers);
        if latencies.len() as u64 != operations {
            return Err(Failure::Unverified(format!(
                "{operations} messages were sent and {} came",
                latencies.len()
            )));
        }
        let mut metrics = Vec::new();
        if let (Some(middle), Some(p99)) = (
            percentile(&mut latencies, 0.5),
            percentile(&mut latencies, 0.99),
        ) {
            metrics.push(Metric::new("latency_ns", "ns", f64::from(middle)));
            metrics.push(Metric::new("p99_ns", "ns", f64::from(p99)));
        }
        if let (Some(before), Some(after)) = (self.before, self.after) {
            let clock = cost_of_the_cpu_clock().unwrap_or_default()
                * u32::try_from(operations).unwrap_or(u32::MAX);
            let others = after.others.saturating_sub(before.others);
            let used = Usage {
                cpu: others + self.sending.saturating_sub(clock),
                ..after.switches - before.switches
            };
            metrics.extend(used.metrics(operations));
        }
        Ok(Measurement {
            operations,
            elapsed: self.elapsed,
            metrics,
            note: None,
        })
    }
}

/// The sending thread with its timetable.
struct Sender<F> {
    send: F,
    pace: Pace,
    epoch: Instant,
    number: u64,
    next: Instant,
    // The CPU time of the send calls, with that of the clock around them.
    sending: Duration,
}

impl<F: FnMut(usize, Stamp)> Sender<F> {
    /// One that sends to the receivers by `send`.
    fn new(pace: Pace, epoch: Instant, send: F) -> Self {
        Sender {
            send,
            pace,
            epoch,
            number: 0,
            next: Instant::now(),
            sending: Duration::ZERO,
        }
    }

    /// Sends what `conditions` want, behind `warm_up` rounds that do not count.
    fn traffic(&mut self, warm_up: u64, conditions: &Conditions) -> Traffic {
        let warm_up = self.rounds(warm_up, Instant::now() + conditions.limit);
        self.rest();
        self.sending = Duration::ZERO;
        let before = Spent::now();
        let start = Instant::now();
        let rounds = self.rounds(conditions.variant.count, start + conditions.limit);
        // Up to the end of the last period, as each period before was observed to its end.
        self.rest();
        let elapsed = start.elapsed();
        Traffic {
            warm_up,
            rounds,
            elapsed,
            sending: self.sending,
            before,
            after: Spent::now(),
        }
    }

    /// Sends `rounds` messages to every receiver, or fewer if `deadline` passes; returns how many.
    fn rounds(&mut self, rounds: u64, deadline: Instant) -> u64 {
        let step = self.pace.period / self.pace.receivers;
        for round in 0..rounds {
            if Instant::now() >= deadline {
                return round;
            }
            for receiver in 0..self.pace.receivers as usize {
                self.sleep_until_next();
                self.next += step;
                let before = thread_cpu_time();
                let stamp = Stamp {
                    number: self.number,
                    sent: nanoseconds_since(self.epoch),
                };
                (self.send)(receiver, stamp);
                if let (Some(before), Some(after)) = (before, thread_cpu_time()) {
                    self.sending += after.saturating_sub(before);
                }
            }
            self.number += 1;
        }
        rounds
    }

    /// Sleeps until the next message is due, and sends none.
    fn rest(&mut self) {
        self.sleep_until_next();
    }

    fn sleep_until_next(&self) {
        let now = Instant::now();
        // A sender that is late sends at once and keeps to the timetable.
        if now >= self.next {
            return;
        }
        if self.pace.period >= SHORTEST_SLEEP {
            thread::sleep(self.next - now);
        } else {
            while Instant::now() < self.next {
                spin_loop();
            }
        }
    }

    fn stop(mut self) {
        for receiver in 0..self.pace.receivers as usize {
            let stop = Stamp {
                number: STOP,
                sent: 0,
            };
            (self.send)(receiver, stop);
        }
    }
}

/// A receiver's loop: returns the latency of each message. After a wrong message it goes on receiving, so that the
/// sender is never stuck at a full queue, and returns what was wrong with the first.
fn receive_all(
    mut end: impl End<Stamp>,
    epoch: Instant,
    expected: usize,
) -> Result<Vec<u32>, Failure> {
    let mut log = Log::new(epoch, expected);
    loop {
        if let Some(outcome) = log.enter(end.receive()) {
            return outcome;
        }
    }
}

/// What a receiver notes.
#[derive(Debug)]
struct Log {
    epoch: Instant,
    latencies: Vec<u32>,
    failure: Option<Failure>,
}

impl Log {
    fn new(epoch: Instant, expected: usize) -> Self {
        Log {
            epoch,
            latencies: Vec::with_capacity(expected),
            failure: None,
        }
    }

    /// Enters a message; at the last one returns the latencies, or what was wrong first.
    #[inline]
    fn enter(&mut self, stamp: Stamp) -> Option<Result<Vec<u32>, Failure>> {
        let now = nanoseconds_since(self.epoch);
        let due = self.latencies.len() as u64;
        match stamp.number {
            STOP => {
                let latencies = std::mem::take(&mut self.latencies);
                return Some(self.failure.take().map_or(Ok(latencies), Err));
            }
            number if number == due => {
                let latency = u32::try_from(now.saturating_sub(stamp.sent)).unwrap_or(u32::MAX);
                self.latencies.push(latency);
            }
            number => {
                self.failure.get_or_insert_with(|| {
                    Failure::Unverified(format!("message {number} came where {due} was due"))
                });
            }
        }
        None
    }
}

fn nanoseconds_since(epoch: Instant) -> u64 {
    u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// What all threads but the calling one have used so far.
#[derive(Debug, Clone, Copy)]
struct Spent {
    others: Duration,
    switches: Usage,
}

impl Spent {
    fn now() -> Option<Spent> {
        let others = process_cpu_time()?.saturating_sub(thread_cpu_time()?);
        Some(Spent {
            others,
            switches: Usage::of_process()? - Usage::of_thread()?,
        })
    }
}

/// What a measured send call would cost if sending cost nothing.
fn cost_of_the_cpu_clock() -> Option<Duration> {
    let epoch = Instant::now();
    let mut trials = Vec::with_capacity(CLOCK_TRIALS);
    for _ in 0..CLOCK_TRIALS {
        let before = thread_cpu_time()?;
        black_box(nanoseconds_since(epoch));
        trials.push(thread_cpu_time()?.saturating_sub(before).as_nanos() as f64);
    }
    median(&mut trials).map(|nanoseconds| Duration::from_nanos(nanoseconds as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueuePair;
    use crate::harness::broken::{Fault, Faulty, Sound};

    fn conditions() -> Conditions {
        Conditions {
            variant: Variant::new(10, Placement::Free),
            limit: Duration::from_secs(60),
        }
    }

    const PACE: Pace = Pace {
        receivers: 3,
        period: Duration::from_millis(1),
    };

    #[test]
    fn every_message_to_every_receiver_is_counted() {
        let measurement = run(
            QueuePair {
                queue: Sound,
                capacity: 1,
            },
            PACE,
            &conditions(),
        )
        .unwrap();
        assert_eq!(measurement.operations, 30);
        assert!(measurement.value("latency_ns").unwrap() > 0.0);
        assert!(measurement.value("p99_ns") >= measurement.value("latency_ns"));
        if cfg!(target_os = "linux") {
            assert!(measurement.value("cpu_ns_per_op").unwrap() > 0.0);
        }
    }

    #[test]
    fn lost_and_doubled_messages_are_noticed() {
        for fault in [
            Fault::Lose(5),
            Fault::Double(5),
            Fault::Swap(5),
            Fault::Lose(12),
        ] {
            let pair = QueuePair {
                queue: Faulty(fault),
                capacity: 4,
            };
            let outcome = run(pair, PACE, &conditions());
            assert!(
                matches!(outcome, Err(Failure::Unverified(_))),
                "{fault:?}: {outcome:?}"
            );
        }
    }

    #[test]
    fn the_time_limit_ends_it_early() {
        let conditions = Conditions {
            variant: Variant::new(100_000, Placement::Free),
            limit: Duration::from_millis(20),
        };
        let measurement = run(
            QueuePair {
                queue: Sound,
                capacity: 1,
            },
            PACE,
            &conditions,
        )
        .unwrap();
        assert!(measurement.operations < 300_000);
    }
}
