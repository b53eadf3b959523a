//! `handover`, extra `idle`: eight threads wait and nothing is sent.
//!
//! After 100 ms without mail the CPU time of the whole process is observed, for a second or for the time limit if that
//! is shorter, and stated for one second. Then every thread is sent a message, to see that it had really waited.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::cpu_clock::process_cpu_time;
use crate::measure::seats::Seats;
use crate::measure::usage::Usage;
use crate::turns::EXPERIMENT;
use crate::{
    Conditions, End, Failure, Handover, Measure, Measurement, Message, Metric, Placement, Turn,
    Variant,
};

const WAITERS: u64 = 8;
const BEFORE: Duration = Duration::from_millis(100);
const LONGEST_RUN: Duration = Duration::from_secs(1);

/// Eight threads without mail: `8/free/idle`.
pub fn measure<H: Handover<Turn>>(handover: H) -> Measure {
    let variant = Variant::new(WAITERS, Placement::Free).with_extra("idle");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run(handover, conditions)
    })
}

fn run<H: Handover<Turn>>(handover: H, conditions: &Conditions) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let (report, reports) = mpsc::channel();
    let mut near_ends = Vec::new();
    for _ in 0..conditions.variant.count {
        let (near, far) = handover.connect();
        let report = report.clone();
        thread::spawn(move || {
            let mut far = far;
            // The main thread ends at the first failure.
            if let Err(failure) = seats.far.take() {
                let _ = report.send(Err(failure));
                return;
            }
            let _ = report.send(Ok(None));
            let number = far.receive().number();
            let _ = report.send(Ok(number));
        });
        near_ends.push(near);
    }
    for _ in 0..conditions.variant.count {
        reports.recv().expect("every waiter tells where it sits")?;
    }

    thread::sleep(BEFORE);
    let before = (process_cpu_time(), Usage::of_process());
    let start = Instant::now();
    thread::sleep(conditions.limit.min(LONGEST_RUN));
    let elapsed = start.elapsed();
    let after = (process_cpu_time(), Usage::of_process());

    for (number, near) in (1..).zip(&mut near_ends) {
        near.send(Turn(number));
    }
    let mut missing: Vec<u64> = (1..=conditions.variant.count).collect();
    for _ in 0..conditions.variant.count {
        let number = reports
            .recv()
            .expect("every waiter tells what it received")?;
        let Some(place) = missing.iter().position(|&due| Some(due) == number) else {
            return Err(Failure::Unverified(format!(
                "a waiter received {number:?}, which no waiter was due"
            )));
        };
        missing.swap_remove(place);
    }

    let (Some(cpu_before), Some(cpu_after)) = (before.0, after.0) else {
        return Err(Failure::Impossible(
            "this system does not tell a process's CPU time".to_owned(),
        ));
    };
    let cpu = cpu_after.saturating_sub(cpu_before).as_secs_f64();
    let mut metrics = vec![Metric::new(
        "idle_cpu_us_per_s",
        "µs/s",
        cpu * 1e6 / elapsed.as_secs_f64(),
    )];
    if let (Some(before), Some(after)) = (before.1, after.1) {
        let used = after - before;
        let switches = (used.voluntary + used.involuntary) as f64;
        metrics.push(Metric::new(
            "idle_switches_per_s",
            "switches/s",
            switches / elapsed.as_secs_f64(),
        ));
    }
    Ok(Measurement {
        operations: conditions.variant.count,
        elapsed,
        metrics,
        note: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueuePair;
    use crate::harness::broken::Sound;

    #[test]
    fn waiters_are_woken_and_their_time_is_stated() {
        let conditions = Conditions {
            variant: Variant::new(3, Placement::Free).with_extra("idle"),
            limit: Duration::from_millis(30),
        };
        match run(
            QueuePair {
                queue: Sound,
                capacity: 1,
            },
            &conditions,
        ) {
            Err(Failure::Impossible(_)) if cfg!(not(unix)) => {}
            outcome => {
                let measurement = outcome.unwrap();
                assert_eq!(measurement.operations, 3);
                assert!(measurement.value("idle_cpu_us_per_s").unwrap() >= 0.0);
            }
        }
    }
}
