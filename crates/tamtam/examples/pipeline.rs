//! How does one keep a pipeline from filling the memory when its last stage is the slowest?
//!
//! A reader hands lines to parsers, which are actors on a pool, and these hand records to a writer, on a worker, since
//! it may block. Each mailbox has a limit and lets its senders wait (`Overflow::Wait`): the reader, a thread, sleeps;
//! a parser, an actor, handles no more lines until there is room, and keeps no thread of the pool meanwhile. So however slow
//! the writer is, a known number of lines is under way, and none is lost.
//!
//! The end needs no word of its own: when the reader drops its addresses the parsers end with their last line, and
//! with the last parser, which has its last address, the writer.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tamtam::actor::Overflow;
use tamtam::{Actor, Address, Context, Event, Pool, Sender, Worker, bounded};

const LINES: usize = 100_000;
const PARSERS: usize = 4;
/// So many messages wait in each mailbox.
const LIMIT: usize = 32;

/// All lines from the oldest that is not written yet to the youngest that was read. The oldest is with one parser, or on
/// its way from there to the writer; that parser has had each fourth line since, and at most this many: its mailbox, the
/// writer's, and those at hand. A parser's record may be one above the writer's limit.
const MOST_UNDER_WAY: usize = PARSERS * (2 * LIMIT + PARSERS + 3);

/// Counts the lines that are under way, and how many there were at most.
#[derive(Default)]
struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// A place among those under way, as long as it is kept.
struct Place(Arc<Gauge>);

impl Place {
    fn take(gauge: &Arc<Gauge>) -> Self {
        let now = gauge.now.fetch_add(1, Ordering::Relaxed) + 1;
        gauge.most.fetch_max(now, Ordering::Relaxed);
        Place(Arc::clone(gauge))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Line {
    number: usize,
    text: String,
    place: Place,
}

/// A reading of a sensor, in thousandths of a degree; or a line that is none.
struct Record {
    number: usize,
    reading: Result<(u32, i64), String>,
    place: Place,
}

struct Parser {
    writer: Address<Record>,
}

impl Parser {
    fn parse(text: &str) -> Option<(u32, i64)> {
        let (sensor, degrees) = text.strip_prefix("sensor ")?.split_once(": ")?;
        let (whole, thousandths) = degrees.split_once('.')?;
        let whole: i64 = whole.parse().ok()?;
        let thousandths: i64 = thousandths.parse().ok()?;
        Some((sensor.parse().ok()?, whole * 1_000 + thousandths))
    }
}

impl Actor for Parser {
    type Message = Line;

    fn handle(&mut self, line: Line, _: &mut Context<Self>) {
        let record = Record {
            number: line.number,
            reading: Self::parse(&line.text).ok_or(line.text),
            place: line.place,
        };
        // If there is no room it is accepted nevertheless, and this parser is the one who waits: for its next line.
        self.writer
            .tell(record)
            .unwrap_or_else(|error| panic!("the writer outlives the parsers: {error}"));
    }
}

/// What the writer has written when it ends.
#[derive(Default)]
struct Summary {
    /// Of each sensor, how many readings, and their sum.
    sensors: BTreeMap<u32, (usize, i64)>,
    refused: Vec<String>,
    written: usize,
}

struct Writer {
    open: Arc<Event>,
    /// Records that came before one that was read earlier.
    early: BTreeMap<usize, Record>,
    summary: Summary,
    done: Sender<Summary>,
}

impl Writer {
    fn write(&mut self, record: Record) {
        assert_eq!(
            record.number, self.summary.written,
            "the lines keep their order"
        );
        self.summary.written += 1;
        match record.reading {
            Ok((sensor, degrees)) => {
                let (count, sum) = self.summary.sensors.entry(sensor).or_default();
                *count += 1;
                *sum += degrees;
            }
            Err(text) => self.summary.refused.push(text),
        }
        drop(record.place);
    }
}

impl Actor for Writer {
    type Message = Record;

    fn started(&mut self, _: &mut Context<Self>) {
        self.open.wait(); // a device that is slow to open, say: this is a worker's thread, which may block
    }

    fn handle(&mut self, record: Record, _: &mut Context<Self>) {
        self.early.insert(record.number, record);
        while let Some(record) = self.early.remove(&self.summary.written) {
            self.write(record);
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        // If nobody wants to know any more, that is no error.
        let _ = self.done.send(std::mem::take(&mut self.summary));
    }
}

/// The text of a line; each 20,000th cannot be read.
fn line(number: usize) -> String {
    match number % 20_000 {
        1_234 => format!("noise on the line at {number}"),
        _ => format!(
            "sensor {}: {}.{:03}",
            number % 5,
            10 + number % 20,
            number % 1_000
        ),
    }
}

fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let open = Arc::new(Event::manual());
    let (done, is_done) = bounded(1);
    let disk = Worker::builder().name("writer").build()?;
    let writer = disk.spawner().limited(LIMIT, Overflow::Wait).spawn(Writer {
        open: Arc::clone(&open),
        early: BTreeMap::new(),
        summary: Summary::default(),
        done,
    });
    let pool = Pool::new();
    let parsers: Vec<Address<Line>> = (0..PARSERS)
        .map(|_| {
            let writer = writer.clone();
            pool.spawner()
                .limited(LIMIT, Overflow::Wait)
                .spawn(Parser { writer })
        })
        .collect();
    drop(writer); // from now on the parsers keep it

    // The reader: this thread.
    let gauge = Arc::new(Gauge::default());
    for number in 0..LINES {
        let line = Line {
            number,
            text: line(number),
            place: Place::take(&gauge),
        };
        let parser = &parsers[number % PARSERS];
        if let Err(full) = parser.try_tell(line) {
            if !open.is_set() {
                println!("The pipeline is full, with its end still shut: the reader waits.");
                assert!(number <= MOST_UNDER_WAY, "{number} lines were taken in");
                open.set();
            }
            parser.tell(full.into_inner())?; // sleeps until there is room
        }
    }
    drop(parsers);

    let summary = is_done.recv()?;
    println!(
        "{} of {LINES} lines were written, in order.",
        summary.written
    );
    for text in &summary.refused {
        println!("  not understood: {text}");
    }
    for (sensor, (count, sum)) in &summary.sensors {
        let mean = sum / *count as i64;
        println!(
            "  sensor {sensor}: {count} readings, {}.{:03} degrees in the mean",
            mean / 1_000,
            mean % 1_000
        );
    }
    let most = gauge.most.load(Ordering::Relaxed);
    assert!(most <= MOST_UNDER_WAY, "{most} lines were under way");
    assert_eq!(gauge.now.load(Ordering::Relaxed), 0, "a line was lost");
    assert_eq!(summary.written, LINES);
    println!("No more than {MOST_UNDER_WAY} of them were in memory at a time.");
    Ok(())
}
