//! `frames`: a worker process makes frames of what a slider says, as for the readers of article B. How old is what the window shows?
//!
//! A slider is moved 1,000 times a second, and the worker sharpens a picture of 1920 × 1080 pixels with the strength that it asks for:
//! some milliseconds of work, so that moves come faster than frames. The window looks at every byte of each frame that it shows.
//!
//! `staleness_us` is the age of what is shown: from the moment before the slider was moved to the moment in which the frame that was
//! made of that move had been looked at; the median of all frames. `staleness_max_us` is the longest. Where every move is queued and
//! made a frame of, both grow for as long as the slider is moved. `frames_per_s` is how many frames were shown in a second, and
//! `cpu_ns_per_op` the CPU time of both processes for each.
//!
//! Each row of a frame says of which move it was made, and carries a sum of its bytes. A frame must be whole and newer than the one before,
//! and the last move must be shown at last: frames that are shown for that after the slider has come to rest do not count.
//!
//! - `1000/free`: the threads of both processes anywhere; the count is that of moves a second.
//! - `1000/2cores`: all on two cores.

mod work;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::measure::precedence::Precedence;
use crate::measure::seats::Seats;
use crate::measure::statistics::percentile;
use crate::measure::usage::{Usage, metrics_between};
use crate::{Conditions, Failure, Measure, Measurement, Metric, Placement, ServerProcess, Variant};

pub use work::{FRAME, Look, ROW, ROWS, Sharpener};

/// The experiment's name.
const EXPERIMENT: &str = "frames";

/// How often the slider is moved in a second.
const MOVES: u64 = 1_000;

/// A way for the moves of a slider to a worker process, and for its frames back.
pub trait Pictures: Copy + 'static {
    /// What is moved.
    type Slider: Slider;
    /// What shows frames.
    type Window: Window;

    /// Starts a worker process that makes frames by a [`Sharpener`].
    ///
    /// # Errors
    /// It cannot be started.
    fn open(&self) -> Result<(Self::Slider, Self::Window), Failure>;
}

/// What is moved, in a thread of its own.
pub trait Slider: Send {
    /// Moves it: the worker is to make a frame of this number.
    ///
    /// # Errors
    /// The worker is gone.
    fn set(&mut self, number: u64) -> Result<(), Failure>;
}

/// What shows frames.
pub trait Window {
    /// Waits for a frame that was not shown before, and shows `look` all its rows.
    ///
    /// # Errors
    /// None comes.
    fn show(&mut self, look: &mut Look) -> Result<(), Failure>;

    /// The worker, if it is a process.
    fn process(&mut self) -> Option<&mut ServerProcess> {
        None
    }
}

/// On any core, and on two: `1000/free`, `1000/2cores`.
pub fn measures<P: Pictures>(pictures: P) -> Vec<Measure> {
    let measure = |placement| {
        let variant = Variant::new(MOVES, placement);
        Measure::new(EXPERIMENT, variant, move |conditions| {
            run(pictures, conditions)
        })
    };
    vec![measure(Placement::Free), measure(Placement::TwoCores)]
}

/// The moves of the slider, by their numbers: when each was made, in nanoseconds after the epoch.
struct Moves {
    epoch: Instant,
    times: Vec<AtomicU64>,
    /// The slider is to be left alone.
    stop: AtomicBool,
}

impl Moves {
    /// As many as fit into `limit`, after the first one, which warms up.
    fn new(limit: Duration) -> Self {
        let count = limit.as_millis() as u64 * MOVES / 1_000;
        Moves {
            epoch: Instant::now(),
            times: (0..=count.max(1)).map(|_| AtomicU64::new(0)).collect(),
            stop: AtomicBool::new(false),
        }
    }

    /// The number of the last move.
    fn last(&self) -> u64 {
        self.times.len() as u64
    }

    fn time(&self, number: u64) -> Option<&AtomicU64> {
        self.times
            .get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Moves the slider to this number.
    fn make(&self, slider: &mut impl Slider, number: u64) -> Result<(), Failure> {
        let time = self.time(number).expect("it is one of the moves");
        // At least 1: zero says that it was not made yet. Relaxed: the frame itself tells of the move.
        time.store(self.now().max(1), Ordering::Relaxed);
        slider.set(number)
    }

    /// Makes all moves but the first, by the timetable; says if it had no right of way for that.
    fn make_all(&self, slider: &mut impl Slider) -> Result<Option<String>, Failure> {
        let precedence = Precedence::take();
        let begin = Instant::now();
        for number in 2..=self.last() {
            let due = begin + Duration::from_secs(1) * (number as u32 - 1) / MOVES as u32;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.make(slider, number)?;
        }
        Ok(precedence.err())
    }

    /// How old the move is that a frame was made of.
    fn age(&self, number: u64) -> Result<Duration, Failure> {
        let made = self
            .time(number)
            .map_or(0, |time| time.load(Ordering::Relaxed));
        if made == 0 {
            return Err(Failure::Unverified(format!(
                "a frame was made of move {number}, which had not been made"
            )));
        }
        Ok(Duration::from_nanos(self.now().saturating_sub(made)))
    }
}

/// What the window has shown so far.
#[derive(Default)]
struct Shown {
    /// The move that the newest frame was made of.
    newest: u64,
    /// The ages of what was shown, in microseconds.
    ages: Vec<u32>,
}

impl Shown {
    /// Shows the next frame, and says how old it was.
    fn next(&mut self, window: &mut impl Window, moves: &Moves) -> Result<Duration, Failure> {
        let mut look = Look::default();
        window.show(&mut look)?;
        let number = look.finish().map_err(Failure::Unverified)?;
        if number <= self.newest {
            return Err(Failure::Unverified(format!(
                "a frame of move {number} was shown after that of {}",
                self.newest
            )));
        }
        self.newest = number;
        moves.age(number)
    }

    fn count(&mut self, age: Duration) {
        self.ages
            .push(u32::try_from(age.as_micros()).unwrap_or(u32::MAX));
    }
}

fn run<P: Pictures>(pictures: P, conditions: &Conditions) -> Result<Measurement, Failure> {
    Seats::of(conditions.variant.placement)?.take_both()?;
    let limit = conditions.limit;
    let (mut slider, mut window) = pictures.open()?;
    let moves = Moves::new(limit);
    let mut shown = Shown::default();
    moves.make(&mut slider, 1)?;
    shown.next(&mut window, &moves)?;

    let before = usage(&mut window);
    let (elapsed, after, unpunctual) = thread::scope(|scope| {
        let begin = Instant::now();
        let mover = scope.spawn(|| moves.make_all(&mut slider));
        let measured = show(&mut window, &moves, &mut shown, begin, limit);
        // After a failure, too: the slider may be at it still.
        moves.stop.store(true, Ordering::Relaxed);
        let moved = mover.join();
        let (elapsed, after) = measured?;
        let moved = moved
            .map_err(|_| Failure::Unverified("the thread with the slider panicked".to_owned()))?;
        Ok::<_, Failure>((elapsed, after, moved?))
    })?;

    let frames = shown.ages.len() as u64;
    let age = |ages: &mut [u32], share| f64::from(percentile(ages, share).unwrap_or(u32::MAX));
    let mut metrics = vec![
        Metric::new("staleness_us", "µs", age(&mut shown.ages, 0.5)),
        Metric::new("staleness_max_us", "µs", age(&mut shown.ages, 1.0)),
        Metric::new("frames_per_s", "1/s", frames as f64 / elapsed.as_secs_f64()),
    ];
    metrics.extend(metrics_between(before, after, frames));
    Ok(Measurement {
        operations: frames,
        elapsed,
        metrics,
        note: unpunctual
            .map(|why| format!("the slider may be moved late beside busy threads: {why}")),
    })
}

/// Shows frames while the slider is moved, at least one, which count; and then until the last move is shown. Says how long those took that
/// count, and what had been used at their end.
fn show(
    window: &mut impl Window,
    moves: &Moves,
    shown: &mut Shown,
    begin: Instant,
    limit: Duration,
) -> Result<(Duration, Option<Usage>), Failure> {
    let mut elapsed = Duration::ZERO;
    while elapsed < limit && shown.newest < moves.last() {
        let age = shown.next(window, moves)?;
        shown.count(age);
        elapsed = begin.elapsed();
    }
    let after = usage(window);
    while shown.newest < moves.last() {
        shown.next(window, moves)?;
    }
    Ok((elapsed, after))
}

/// What this process and the worker's have used so far.
fn usage(window: &mut impl Window) -> Option<Usage> {
    match window.process() {
        Some(process) => process.usage_with_this(),
        None => Usage::of_process(),
    }
}
