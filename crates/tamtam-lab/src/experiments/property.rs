//! `property`: the latest value, read again and again, by itself and while it is set without pause.
//!
//! An operation is one `get` of a value of 16 bytes. Extra `get`: no other thread is there. The thread sets a new value now
//! and then, and reads it in between; every value read must be that very one. After that it only sets, which gives
//! `set_ns_per_op`, and looks now and then whether the last value is there.
//!
//! Extra `get-writer`: on the other core a thread sets one version after the other as fast as it can, and publishes after
//! each `set` which one it was. Every value read must be whole (its two halves belong together), no older than the one
//! read before, and no older than the newest whose `set` had returned before the `get` began. In the timed pass the
//! published number is read once in up to 4,096 gets, because it lies on a cache line that the writer writes: reading it
//! each time would cost more than the `get`. Gets count only where the writer was at work: a stretch of them in which it
//! set nothing, because the system gave its core to another program, is left out. A second pass, which is not timed, reads it before every `get`. In the end
//! the last value that was set must be there.
//!
//! Between two processes ([`between_processes`]) the writer is a server ([`Contender::serve_part`](crate::Contender::serve_part)) that runs
//! [`write_when_told`], and the published number lies in memory that both share.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::measure::pace::{Pace, Series};
use crate::measure::seats::Seats;
use crate::measure::usage::{Usage, metrics_between};
use crate::{
    Conditions, Failure, GetLatest, Latest, Measure, Measurement, Metric, Packet, Packet16,
    Placement, ServerProcess, SetLatest, Variant,
};

/// The experiment's name.
const EXPERIMENT: &str = "property";

/// How many gets make a batch.
const COUNT: u64 = 10_000;

/// At most so many operations pass between two looks at the clock, which costs as much as ten of the fastest.
const LONGEST_CHUNK: u64 = 4096;

/// In how many parts the undisturbed gets are read, each with a value of its own: seldom enough that no way takes the
/// value for one that changes all the time.
const VALUES: u32 = 8;

/// After so many times its time the timed pass gives up waiting for the writer.
const LONGEST_TIMES: u32 = 10;

/// Gets undisturbed, and beside a writer at full speed: `10000/1core/get`, `10000/2cores/get-writer`.
pub fn measures<L: Latest<Packet16>>(latest: L) -> Vec<Measure> {
    vec![
        alone(latest),
        beside_writer(move |conditions| run_beside_writer(latest, conditions)),
    ]
}

/// The same where the writer at full speed is another process.
pub fn between_processes<L: Latest<Packet16> + ProcessLatest<Packet16>>(latest: L) -> Vec<Measure> {
    vec![
        alone(latest),
        beside_writer(move |conditions| run_beside_process(latest, conditions)),
    ]
}

fn alone<L: Latest<Packet16>>(latest: L) -> Measure {
    let variant = Variant::new(COUNT, Placement::OneCore).with_extra("get");
    Measure::new(EXPERIMENT, variant, move |conditions| {
        run_alone(latest, conditions)
    })
}

fn beside_writer(run: impl Fn(&Conditions) -> Result<Measurement, Failure> + 'static) -> Measure {
    let variant = Variant::new(COUNT, Placement::TwoCores).with_extra("get-writer");
    Measure::new(EXPERIMENT, variant, run)
}

/// A way of publishing the latest value to another process.
pub trait ProcessLatest<V>: Copy + Send + Sync + 'static {
    /// What reads it.
    type Reader: GetLatest<V>;
    /// Where the signals lie.
    type Shared: ShareSignals;

    /// Starts the server that sets it, and connects to it.
    ///
    /// # Errors
    /// There is no such server here.
    fn open(&self) -> Result<(ServerProcess, Self::Reader, Self::Shared), Failure>;
}

/// The value that is there before the first is set.
#[must_use]
pub fn first_value() -> Packet16 {
    value(0)
}

/// The value with this version.
fn value(version: u64) -> Packet16 {
    Packet16::new(0, version)
}

/// The verifier of a reader: follows the versions.
#[derive(Debug, Default)]
struct Versions {
    // No value may be older than this.
    floor: u64,
}

impl Versions {
    /// The `set` of this version has returned.
    fn is_set(&mut self, version: u64) {
        self.floor = self.floor.max(version);
    }

    /// Takes the next value that was read.
    #[inline]
    fn accept(&mut self, value: &Packet16) -> Result<(), Failure> {
        match value.open() {
            Some((0, version)) if version >= self.floor => {
                self.floor = version;
                Ok(())
            }
            other => Err(self.objection(other)),
        }
    }

    /// Takes the value when it is not being set: it must be this very version.
    #[inline]
    fn accept_exactly(&self, value: &Packet16, version: u64) -> Result<(), Failure> {
        match value.open() {
            Some((0, read)) if read == version => Ok(()),
            other => Err(self.objection(other)),
        }
    }

    #[cold]
    fn objection(&self, read: Option<(u64, u64)>) -> Failure {
        Failure::Unverified(match read {
            Some((0, version)) => format!(
                "version {version} was read where {} had been set or read before",
                self.floor
            ),
            Some(_) => "a value was read that nobody had set".to_owned(),
            None => "a value was read whose halves do not belong together".to_owned(),
        })
    }
}

fn run_alone<L: Latest<Packet16>>(
    latest: L,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let count = conditions.variant.count;
    Seats::of(conditions.variant.placement)?.near.take()?;
    let (mut writer, mut reader) = latest.open(value(0));
    let mut versions = Versions::default();
    let mut next = 0;

    let gets = conditions.limit.mul_f64(0.7);
    let mut series = Series::default();
    let before = Usage::of_process();
    for _ in 0..VALUES {
        next += 1;
        writer.set(value(next));
        versions.is_set(next);
        let mut pace = Pace::start(count, gets / VALUES, LONGEST_CHUNK);
        loop {
            let chunk = pace.chunk();
            for _ in 0..chunk {
                versions.accept_exactly(&black_box(&mut reader).get(), next)?;
            }
            if !pace.done(chunk) {
                break;
            }
        }
        series.join(pace.finish());
    }
    let after = Usage::of_process();

    let mut pace = Pace::start(count, conditions.limit.saturating_sub(gets), LONGEST_CHUNK);
    loop {
        let chunk = pace.chunk();
        for _ in 0..chunk {
            next += 1;
            black_box(&mut writer).set(value(next));
        }
        let more = pace.done(chunk);
        versions.is_set(next);
        versions.accept_exactly(&reader.get(), next)?;
        if !more {
            break;
        }
    }
    let sets = pace.finish();

    let mut metrics = vec![
        Metric::new("ns_per_op", "ns", series.median_nanoseconds()),
        Metric::new("set_ns_per_op", "ns", sets.median_nanoseconds()),
        Metric::new("mean_ns_per_op", "ns", series.mean_nanoseconds()),
    ];
    metrics.extend(metrics_between(before, after, series.operations));
    Ok(Measurement {
        operations: series.operations,
        elapsed: series.elapsed,
        metrics,
        note: None,
    })
}

fn run_beside_writer<L: Latest<Packet16>>(
    latest: L,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    let (writer, mut reader) = latest.open(value(0));
    let shared = Arc::new(OfThreads::default());
    let (seated, ready) = mpsc::channel();
    let batch = conditions.variant.count;
    let writer = thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let seat = seats.far.take();
            let failed = seat.is_err();
            // The main thread ends at a failure.
            let _ = seated.send(seat);
            if failed {
                Written::default()
            } else {
                write(writer, shared.signals(), batch)
            }
        }
    });
    ready.recv().expect("the writer tells where it sits")?;
    let signals = shared.signals();
    let read = seats
        .near
        .take()
        .and_then(|()| read(&mut reader, signals, conditions));
    // Also after a failure: the writer ends only when it is told to.
    signals.order.store(STOP, Ordering::Relaxed);
    let written = writer.join().map_err(|_| {
        Failure::Unverified("the thread that sets the values has panicked".to_owned())
    });
    measurement(read?, written?, &mut reader)
}

fn run_beside_process<L: ProcessLatest<Packet16>>(
    latest: L,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let seats = Seats::of(conditions.variant.placement)?;
    // The server runs where the thread that starts it may.
    seats.far.take()?;
    let (mut process, mut reader, shared) = latest.open()?;
    seats.near.take()?;
    let signals = shared.signals();
    signals.order.store(SET, Ordering::Relaxed);
    let read = read(&mut reader, signals, conditions)?;
    signals.order.store(STOP, Ordering::Relaxed);
    let written = Written::found(signals, &mut process)?;
    measurement(read, written, &mut reader)
}

/// The figures, if the last value that was set is there.
fn measurement(
    (mut versions, series, counted): (Versions, Series, f64),
    written: Written,
    reader: &mut impl GetLatest<Packet16>,
) -> Result<Measurement, Failure> {
    versions.is_set(written.last);
    versions.accept_exactly(&reader.get(), written.last)?;

    Ok(Measurement {
        operations: series.operations,
        elapsed: series.elapsed,
        metrics: vec![
            Metric::new("ns_per_op", "ns", series.median_nanoseconds()),
            Metric::new("set_ns_per_op", "ns", written.set_nanoseconds),
            Metric::new("mean_ns_per_op", "ns", series.mean_nanoseconds()),
        ],
        note: (counted < 0.5).then(|| {
            format!(
                "{:.0} of 100 gets do not count: the writer was not at work",
                100.0 * (1.0 - counted)
            )
        }),
    })
}

/// The orders to a writer in another process: to wait, to set without pause, and to end.
const SET: u64 = 1;
const STOP: u64 = 2;

/// So often a side looks for what the other process has to say, outside of what is timed.
const LOOK: Duration = Duration::from_millis(1);

/// What the two sides tell each other.
#[derive(Debug, Clone, Copy)]
pub struct Signals<'a> {
    /// The newest version whose `set` has returned.
    pub published: &'a AtomicU64,
    /// What the writer is to do.
    pub order: &'a AtomicU64,
    /// When the writer has ended, how many nanoseconds a `set` took, as the bits of a number that is not 0.
    pub set_nanoseconds: &'a AtomicU64,
}

/// Memory that both sides see, in which each signal is a line of its own and begins as 0.
pub trait ShareSignals: Send + Sync + 'static {
    /// The signals.
    fn signals(&self) -> Signals<'_>;
}

/// How far apart signals have to lie, in bytes. 128: some processors fetch lines in pairs.
pub const APART: usize = 128;

#[derive(Debug, Default)]
struct OfThreads([Apart; 3]);

#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart(AtomicU64);

const _: () = assert!(align_of::<Apart>() == APART);

impl ShareSignals for OfThreads {
    fn signals(&self) -> Signals<'_> {
        let [published, order, set_nanoseconds] = &self.0;
        Signals {
            published: &published.0,
            order: &order.0,
            set_nanoseconds: &set_nanoseconds.0,
        }
    }
}

/// What the writer did.
#[derive(Debug, Default)]
struct Written {
    /// The last version.
    last: u64,
    /// How long a `set` took.
    set_nanoseconds: f64,
}

impl Written {
    /// What a writer in another process did, which has been told to end.
    fn found(signals: Signals<'_>, process: &mut ServerProcess) -> Result<Self, Failure> {
        loop {
            // Pairs with the release store in `write_when_told`: the last version is published.
            let bits = signals.set_nanoseconds.load(Ordering::Acquire);
            if bits != 0 {
                return Ok(Written {
                    last: signals.published.load(Ordering::Acquire),
                    set_nanoseconds: f64::from_bits(bits),
                });
            }
            if process.usage().is_none() {
                return Err(Failure::Unverified(
                    "the process that sets the values is gone".to_owned(),
                ));
            }
            thread::sleep(LOOK);
        }
    }
}

/// The server's side: sets version after version as soon as it is told to, until it is told to stop.
pub fn write_when_told(writer: impl SetLatest<Packet16>, shared: &impl ShareSignals) {
    let signals = shared.signals();
    while signals.order.load(Ordering::Relaxed) == 0 {
        thread::sleep(LOOK);
    }
    let written = write(writer, signals, COUNT);
    let bits = written.set_nanoseconds.to_bits();
    signals.set_nanoseconds.store(bits, Ordering::Release);
}

/// Sets version after version until it is told to stop; at least one.
fn write(mut writer: impl SetLatest<Packet16>, signals: Signals<'_>, batch: u64) -> Written {
    let mut pace = Pace::start(batch, Duration::MAX, LONGEST_CHUNK);
    let mut version = 0;
    loop {
        let chunk = pace.chunk();
        for _ in 0..chunk {
            version += 1;
            writer.set(value(version));
            // Pairs with the acquire load in `read`: a get that follows that load follows this set.
            signals.published.store(version, Ordering::Release);
        }
        pace.done(chunk);
        if signals.order.load(Ordering::Relaxed) == STOP {
            return Written {
                last: version,
                set_nanoseconds: pace.finish().median_nanoseconds(),
            };
        }
    }
}

/// The two passes of the reader; also the share of the timed gets that count.
fn read(
    reader: &mut impl GetLatest<Packet16>,
    signals: Signals<'_>,
    conditions: &Conditions,
) -> Result<(Versions, Series, f64), Failure> {
    let mut versions = Versions::default();
    while signals.published.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
    let timed = conditions.limit.mul_f64(0.7);
    let mut pace = Pace::start(conditions.variant.count, timed, LONGEST_CHUNK);
    let mut all = 0;
    loop {
        let chunk = pace.chunk();
        let set_before = signals.published.load(Ordering::Acquire);
        versions.is_set(set_before);
        for _ in 0..chunk {
            versions.accept(&reader.get())?;
        }
        all += chunk;
        let more = if signals.published.load(Ordering::Acquire) > set_before {
            pace.done(chunk)
        } else {
            pace.skip()
        };
        if !more && pace.operations() > 0 {
            break;
        }
        if pace.elapsed() > LONGEST_TIMES * timed {
            return Err(Failure::Impossible(format!(
                "the writer set nothing during {all} gets"
            )));
        }
    }
    let counted = pace.operations() as f64 / all as f64;
    let series = pace.finish();

    let checked = conditions.limit.saturating_sub(timed);
    let mut pace = Pace::start(conditions.variant.count, checked, LONGEST_CHUNK);
    loop {
        let chunk = pace.chunk();
        for _ in 0..chunk {
            versions.is_set(signals.published.load(Ordering::Acquire));
            versions.accept(&reader.get())?;
        }
        if !pace.done(chunk) {
            break;
        }
    }
    Ok((versions, series, counted))
}

#[cfg(test)]
mod tests {
    use std::sync::RwLock;

    use super::*;

    /// A place that commits a fault from its second `set` on.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Sound,
        /// The halves of two values are mixed.
        Torn,
        /// `set` returns before its value is there.
        Late,
        /// Every other `get` returns the value before.
        Backwards,
        /// The value is lost.
        Deaf,
    }

    #[derive(Debug)]
    struct Place {
        kind: Kind,
        // The latest value, and the one before.
        values: RwLock<[Packet16; 2]>,
        sets: AtomicU64,
        gets: AtomicU64,
    }

    const FAULTY_FROM: u64 = 2;

    impl Latest<Packet16> for Kind {
        type Writer = Arc<Place>;
        type Reader = Arc<Place>;

        fn open(&self, first: Packet16) -> (Arc<Place>, Arc<Place>) {
            let place = Arc::new(Place {
                kind: *self,
                values: RwLock::new([first; 2]),
                sets: AtomicU64::new(0),
                gets: AtomicU64::new(0),
            });
            (Arc::clone(&place), place)
        }
    }

    impl SetLatest<Packet16> for Arc<Place> {
        fn set(&mut self, value: Packet16) {
            let faulty = self.sets.fetch_add(1, Ordering::Relaxed) + 1 >= FAULTY_FROM;
            let mut values = self.values.write().unwrap();
            if !(faulty && self.kind == Kind::Deaf) {
                *values = [value, values[0]];
            }
        }
    }

    impl GetLatest<Packet16> for Arc<Place> {
        fn get(&mut self) -> Packet16 {
            let [value, before] = *self.values.read().unwrap();
            let odd = self.gets.fetch_add(1, Ordering::Relaxed) % 2 == 1;
            if self.sets.load(Ordering::Relaxed) < FAULTY_FROM {
                return value;
            }
            match self.kind {
                Kind::Torn => value.with_check_of(&before),
                Kind::Late => before,
                Kind::Backwards if odd => before,
                _ => value,
            }
        }
    }

    fn conditions(limit: u64) -> Conditions {
        Conditions {
            variant: Variant::new(100, Placement::Free),
            limit: Duration::from_millis(limit),
        }
    }

    #[test]
    fn sound_values_are_measured() {
        for measurement in [
            run_alone(Kind::Sound, &conditions(20)).unwrap(),
            run_beside_writer(Kind::Sound, &conditions(100)).unwrap(),
        ] {
            assert!(measurement.operations >= 1);
            assert_eq!(measurement.metrics[0].metric, "ns_per_op");
            assert!(measurement.value("set_ns_per_op").unwrap() > 0.0);
        }
    }

    #[test]
    fn faults_are_noticed() {
        for kind in [Kind::Torn, Kind::Late, Kind::Backwards, Kind::Deaf] {
            // They end at the first fault: alone at the second of the values, beside a writer at once.
            for outcome in [
                run_alone(kind, &conditions(60_000)),
                run_beside_writer(kind, &conditions(60_000)),
            ] {
                assert!(
                    matches!(outcome, Err(Failure::Unverified(_))),
                    "{kind:?}: {outcome:?}"
                );
            }
        }
    }

    #[test]
    fn a_writer_that_is_told_says_what_it_did() {
        let shared = OfThreads::default();
        let (writer, mut reader) = Kind::Sound.open(value(0));
        let signals = shared.signals();
        thread::scope(|scope| {
            scope.spawn(|| write_when_told(writer, &shared));
            thread::sleep(5 * LOOK);
            assert_eq!(signals.published.load(Ordering::Acquire), 0, "it waits");
            signals.order.store(SET, Ordering::Relaxed);
            while signals.published.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            signals.order.store(STOP, Ordering::Relaxed);
        });
        let last = signals.published.load(Ordering::Acquire);
        let bits = signals.set_nanoseconds.load(Ordering::Acquire);
        assert!(f64::from_bits(bits) > 0.0);
        assert_eq!(reader.get(), value(last));
    }

    #[test]
    fn versions_that_go_back_or_were_never_set_are_noticed() {
        let mut versions = Versions::default();
        versions.accept(&value(3)).unwrap();
        versions.accept(&value(3)).unwrap();
        let failure = versions.accept(&value(2)).unwrap_err();
        assert_eq!(
            failure,
            Failure::Unverified(
                "version 2 was read where 3 had been set or read before".to_owned()
            )
        );
        versions.is_set(5);
        assert!(versions.accept(&value(4)).is_err());
        assert!(versions.accept(&Packet16::new(1, 9)).is_err());
        assert!(versions.accept_exactly(&value(6), 5).is_err());
    }

    #[test]
    fn the_listed_variants_are_those_of_the_contract() {
        let names: Vec<_> = measures(Kind::Sound)
            .iter()
            .map(|measure| measure.variant().to_string())
            .collect();
        assert_eq!(names, ["10000/1core/get", "10000/2cores/get-writer"]);
    }
}
