//! `latch`: a countdown shared by two threads, which opens for a third.
//!
//! Two threads count 4,875,250 down together while the main thread waits; `total_us` is the time from the common start
//! until the main thread goes on. Each thread raises a flag just before its last count, and the main thread sees both
//! raised: a latch that opens too early is noticed. The figures are medians over as many rounds as the time limit
//! allows, after a short one that is not measured. In that one the last count of all is held back for a while, so that a latch
//! which opens one count too early is noticed, too.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::seats::{Seat, Seats};
use crate::measure::statistics::median;
use crate::measure::usage::{Usage, metrics_between};
use crate::{Conditions, Failure, Measure, Measurement, Metric, Placement, Variant};

/// The experiment's name.
const EXPERIMENT: &str = "latch";

/// Article D's number of messages handled, each of which is counted.
const COUNT: u64 = 4_875_250;

const COUNTERS: u64 = 2;

/// How long the last count of all is held back in the round that is not measured: time enough for the main thread to go on, if
/// the latch lets it.
const HELD: Duration = Duration::from_millis(1);

/// Something that opens when it was counted down to zero.
pub trait Countdown: Send + Sync + 'static {
    /// Opens after `count` counts.
    fn new(count: u64) -> Self;

    /// Counts one.
    fn count_down(&self);

    /// Whether it is open.
    fn is_open(&self) -> bool;

    /// Waits until it is open.
    fn wait(&self);
}

/// Counted from two cores and from one: `4875250/2cores`, `4875250/1core`.
pub fn measures<C: Countdown>() -> Vec<Measure> {
    [Placement::TwoCores, Placement::OneCore]
        .into_iter()
        .map(|placement| Measure::new(EXPERIMENT, Variant::new(COUNT, placement), run::<C>))
        .collect()
}

fn run<C: Countdown>(conditions: &Conditions) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    let seats = Seats::of(conditions.variant.placement)?;
    if conditions.variant.placement == Placement::OneCore {
        // Elsewhere the waiting thread is not pinned: it is neither of the two sides.
        seats.near.take()?;
    }
    round::<C>(count.min(100_000), seats, LastCount::held())?;

    let start = Instant::now();
    let before = Usage::of_process();
    let (mut times, mut elapsed) = (Vec::new(), Duration::ZERO);
    loop {
        let time = round::<C>(count, seats, LastCount::as_it_comes())?;
        times.push(time.as_nanos() as f64);
        elapsed += time;
        if start.elapsed() >= conditions.limit {
            break;
        }
    }
    let after = Usage::of_process();

    let operations = times.len() as u64 * count;
    let middle = median(&mut times).unwrap_or(f64::NAN);
    let mut metrics = vec![
        Metric::new("total_us", "µs", middle / 1e3),
        Metric::new("ns_per_op", "ns", middle / count as f64),
    ];
    metrics.extend(metrics_between(before, after, operations));
    Ok(Measurement {
        operations,
        elapsed,
        metrics,
        note: None,
    })
}

/// What a counter does about its last count.
enum LastCount {
    /// It makes it when it comes to it.
    AsItComes,
    /// So it does, and tells the other one that it has made all.
    AndTell(mpsc::Sender<()>),
    /// It holds it back until the other one has made all of its, and for a while longer.
    Hold(mpsc::Receiver<()>),
}

impl LastCount {
    /// Of the near counter and the far one.
    fn as_it_comes() -> [LastCount; 2] {
        [LastCount::AsItComes, LastCount::AsItComes]
    }

    /// The same, where the far one makes the last of all.
    fn held() -> [LastCount; 2] {
        let (tell, told) = mpsc::channel();
        [LastCount::AndTell(tell), LastCount::Hold(told)]
    }

    /// All but the last are made; says whether the latch is open, of which one is missing for certain.
    fn before<C: Countdown>(&self, latch: &C) -> bool {
        let LastCount::Hold(told) = self else {
            return false;
        };
        // If the other one has panicked, the main thread says so.
        let _ = told.recv();
        let begin = Instant::now();
        // Not asleep: on one core the main thread is let in, and both wait for it.
        while begin.elapsed() < HELD {
            thread::yield_now();
        }
        latch.is_open()
    }

    /// All are made.
    fn after(self) {
        if let LastCount::AndTell(tell) = self {
            // If the other one has panicked, the main thread says so.
            let _ = tell.send(());
        }
    }
}

/// Counts `count` down once; the time from the start of the counters until the latch was seen open.
fn round<C: Countdown>(
    count: u64,
    seats: Seats,
    last_counts: [LastCount; 2],
) -> Result<Duration, Failure> {
    let latch = Arc::new(C::new(count));
    let start = Arc::new(Barrier::new(COUNTERS as usize + 1));
    let (seated, ready) = mpsc::channel();
    let mut counters = Vec::new();
    let shares = [
        (seats.near, count / COUNTERS),
        (seats.far, count - count / COUNTERS),
    ];
    for ((seat, share), last_count) in shares.into_iter().zip(last_counts) {
        let last = Arc::new(AtomicBool::new(false));
        counters.push((
            Arc::clone(&last),
            spawn_counter(
                Arc::clone(&latch),
                Arc::clone(&start),
                seat,
                share,
                (last, last_count),
                seated.clone(),
            ),
        ));
    }
    for _ in 0..COUNTERS {
        ready.recv().expect("every counter tells where it sits")?;
    }
    if latch.is_open() {
        return Err(Failure::Unverified(format!(
            "open before the first of {count} counts"
        )));
    }

    let begin = Instant::now();
    start.wait();
    latch.wait();
    let time = begin.elapsed();

    // Acquire: a latch that opens rightly has this ordering itself; one that does not is to be caught, not excused.
    let mut at_last = counters
        .iter()
        .all(|(last, _)| last.load(Ordering::Acquire));
    let still_open = latch.is_open();
    for (_, counter) in counters {
        let was_open = counter.join().expect("a counter does not panic");
        at_last &= !was_open;
    }
    if !at_last {
        return Err(Failure::Unverified(format!(
            "open before the last of {count} counts"
        )));
    }
    if !still_open || !latch.is_open() {
        return Err(Failure::Unverified(format!(
            "no longer open after {count} counts"
        )));
    }
    Ok(time)
}

/// Starts a thread that counts `share` down; it returns whether it found the latch open before its last count.
fn spawn_counter<C: Countdown>(
    latch: Arc<C>,
    start: Arc<Barrier>,
    seat: Seat,
    share: u64,
    (last, last_count): (Arc<AtomicBool>, LastCount),
    seated: mpsc::Sender<Result<(), Failure>>,
) -> thread::JoinHandle<bool> {
    thread::spawn(move || {
        let taken = seat.take();
        let failed = taken.is_err();
        // The main thread ends at the first failure.
        let _ = seated.send(taken);
        if failed {
            return false;
        }
        start.wait();
        for _ in 1..share {
            latch.count_down();
        }
        let was_open = last_count.before(&*latch);
        last.store(true, Ordering::Release);
        latch.count_down();
        last_count.after();
        was_open
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicU64;
    use std::thread::ThreadId;

    use super::*;

    fn conditions() -> Conditions {
        Conditions {
            variant: Variant::new(1000, Placement::Free),
            limit: Duration::from_millis(5),
        }
    }

    /// A latch of the simplest kind.
    struct Exact(AtomicU64);

    impl Countdown for Exact {
        fn new(count: u64) -> Self {
            Exact(AtomicU64::new(count))
        }

        fn count_down(&self) {
            self.0.fetch_sub(1, Ordering::AcqRel);
        }

        fn is_open(&self) -> bool {
            self.0.load(Ordering::Acquire) == 0
        }

        fn wait(&self) {
            while !self.is_open() {
                thread::yield_now();
            }
        }
    }

    /// Opens one count too early.
    struct Hasty(Exact);

    impl Countdown for Hasty {
        fn new(count: u64) -> Self {
            Hasty(Exact::new(count))
        }

        fn count_down(&self) {
            self.0.count_down();
        }

        fn is_open(&self) -> bool {
            self.0.0.load(Ordering::Acquire) <= 1
        }

        fn wait(&self) {
            while !self.is_open() {
                thread::yield_now();
            }
        }
    }

    /// Lets the waiting thread pass one count too early, and says that it is shut until the last. Before that a counter waits for
    /// the driver, which looks whether it is still open when it has looked who has counted.
    struct Leaky {
        exact: Exact,
        passed: Mutex<Option<ThreadId>>,
        looked: AtomicBool,
    }

    impl Countdown for Leaky {
        fn new(count: u64) -> Self {
            Leaky {
                exact: Exact::new(count),
                passed: Mutex::new(None),
                looked: AtomicBool::new(false),
            }
        }

        fn count_down(&self) {
            self.exact.count_down();
        }

        fn is_open(&self) -> bool {
            if self.exact.0.load(Ordering::Acquire) == 1 {
                if *self.passed.lock().unwrap() == Some(thread::current().id()) {
                    self.looked.store(true, Ordering::Release);
                }
                while !self.looked.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            }
            self.exact.is_open()
        }

        fn wait(&self) {
            while self.exact.0.load(Ordering::Acquire) > 1 {
                thread::yield_now();
            }
            *self.passed.lock().unwrap() = Some(thread::current().id());
        }
    }

    /// Lets the waiting thread pass at once, and is open from the moment it was asked after that.
    struct Impatient {
        passed: AtomicBool,
        asked: AtomicBool,
    }

    impl Countdown for Impatient {
        fn new(_count: u64) -> Self {
            Impatient {
                passed: AtomicBool::new(false),
                asked: AtomicBool::new(false),
            }
        }

        // No thread counts before the driver has looked whether all have.
        fn count_down(&self) {
            while !self.asked.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }

        fn is_open(&self) -> bool {
            let passed = self.passed.load(Ordering::Acquire);
            self.asked.fetch_or(passed, Ordering::AcqRel);
            passed
        }

        fn wait(&self) {
            self.passed.store(true, Ordering::Release);
        }
    }

    /// Open before anything was counted.
    struct Ajar;

    impl Countdown for Ajar {
        fn new(_count: u64) -> Self {
            Ajar
        }

        fn count_down(&self) {}

        fn is_open(&self) -> bool {
            true
        }

        fn wait(&self) {}
    }

    #[test]
    fn an_exact_countdown_is_measured() {
        let measurement = run::<Exact>(&conditions()).unwrap();
        assert!(measurement.operations >= 1000 && measurement.operations.is_multiple_of(1000));
        assert_eq!(measurement.metrics[0].metric, "total_us");
    }

    #[test]
    fn a_latch_that_is_open_from_the_start_is_noticed() {
        let failure = run::<Ajar>(&conditions()).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("open before the first of 1000 counts".to_owned())
        );
    }

    fn is_noticed_to_open_early<C: Countdown>() {
        let failure = run::<C>(&conditions()).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified("open before the last of 1000 counts".to_owned())
        );
    }

    #[test]
    fn a_latch_that_opens_early_is_noticed() {
        is_noticed_to_open_early::<Impatient>();
    }

    #[test]
    fn a_latch_that_opens_one_count_too_early_is_noticed() {
        is_noticed_to_open_early::<Hasty>();
    }

    #[test]
    fn a_latch_that_lets_the_waiting_thread_go_on_one_count_too_early_is_noticed() {
        is_noticed_to_open_early::<Leaky>();
    }
}
