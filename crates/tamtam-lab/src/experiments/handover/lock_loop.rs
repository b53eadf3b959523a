//! `handover`, article B's loop as it was published: two workers each lock and unlock one mutex COUNT times.
//!
//! The main worker tells the other to start, and both loop. Nothing is handed over in it: after `unlock` the same thread
//! takes the lock again at once, and mostly it has done all its rounds before the other comes. The body counts how often
//! the lock really came from the other worker: `handovers_per_op`, where one operation is one lock and unlock by the
//! main worker, and strict turns would make two. So `ns_per_op` is the price of locking and not of a message; it is
//! shown beside the others and not to be ranked with them. *Verified* means here: every lock taken was counted.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::seats::Seats;
use crate::measure::statistics::median;
use crate::measure::usage::{Usage, metrics_between};
use crate::turns::in_each_placement;
use crate::{Conditions, Failure, Measure, Measurement, Metric};

/// The loop in every placement: `1000/free`, `1000/1core`, `1000/2cores`, `1000/hog`.
pub fn measures() -> Vec<Measure> {
    in_each_placement(run)
}

/// What the mutex guards: who had it last, and how often it was taken.
#[derive(Debug, Default)]
struct Guarded {
    last: usize,
    taken: [u64; 2],
    handovers: u64,
}

const MAIN: usize = 0;
const WORKER: usize = 1;

fn take(mutex: &Mutex<Guarded>, side: usize) {
    let mut guarded = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    guarded.taken[side] += 1;
    guarded.handovers += u64::from(guarded.last != side);
    guarded.last = side;
}

fn run(conditions: &Conditions) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    let seats = Seats::of(conditions.variant.placement)?;
    let mutex = Arc::new(Mutex::new(Guarded::default()));
    let (start, starts) = mpsc::channel::<()>();
    let (done, dones) = mpsc::channel();
    let worker = thread::spawn({
        let mutex = Arc::clone(&mutex);
        move || {
            // The main thread ends at a failure.
            let _ = done.send(seats.far.take());
            while starts.recv().is_ok() {
                for _ in 0..count {
                    take(&mutex, WORKER);
                }
                let _ = done.send(Ok(()));
            }
        }
    });
    let finished = || dones.recv().expect("the worker tells when it is done");
    finished()?;
    seats.near.take()?;

    let before = Usage::of_process();
    let begin = Instant::now();
    let (mut batches, mut elapsed) = (Vec::new(), Duration::ZERO);
    loop {
        start.send(()).expect("the worker waits for it");
        let batch_start = Instant::now();
        for _ in 0..count {
            take(&mutex, MAIN);
        }
        let time = batch_start.elapsed();
        batches.push(time.as_nanos() as f64 / count as f64);
        elapsed += time;
        finished()?;
        if begin.elapsed() >= conditions.limit {
            break;
        }
    }
    let after = Usage::of_process();
    drop(start);
    worker.join().expect("the worker does not panic");

    let operations = batches.len() as u64 * count;
    let guarded = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    if guarded.taken != [operations; 2] {
        return Err(Failure::Unverified(format!(
            "each side took {operations} locks, and {:?} were counted",
            guarded.taken
        )));
    }
    let handovers = guarded.handovers as f64 / operations as f64;
    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", median(&mut batches).unwrap_or(f64::NAN)),
        Metric::new("handovers_per_op", "handovers", handovers),
    ];
    metrics.extend(metrics_between(before, after, operations));
    let note = format!(
        "not a message: of 1,000 locks {:.1} came from the other worker, since who unlocks locks again at once",
        handovers * 1000.0
    );
    Ok(Measurement {
        operations,
        elapsed,
        metrics,
        note: Some(note),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Placement, Variant};

    #[test]
    fn every_lock_is_counted() {
        let conditions = Conditions {
            variant: Variant::new(100, Placement::Free),
            limit: Duration::from_millis(10),
        };
        let measurement = run(&conditions).unwrap();
        assert!(measurement.operations >= 100);
        let handovers = measurement.value("handovers_per_op").unwrap();
        // Taking the lock from the other worker and losing it again is the most that a lock can bring.
        assert!((0.0..=2.1).contains(&handovers), "{handovers}");
        assert!(measurement.note.unwrap().contains("not a message"));
    }
}
