//! The way in which a table is ready first behind a link, found by trying the ways on a part of it.

use std::fmt;
use std::time::{Duration, Instant};

use crate::packed::{self, Mode};
use crate::{
    Compressed, Compression, CompressionError, CompressionKind, EncodeError, Limits, Rows,
    decompress,
};

/// How a table is sent: the mode of the packed encoding, and the compression behind it.
///
/// [`Plan::for_link`] chooses both, by trying them on a part of the table. Tables that are alike, such as the answers to one query,
/// mostly have one plan, which can be made once and kept:
///
/// ```
/// use tamtam_rows::{Column, CompressionKind, Field, Kind, Limits, Plan, Rows, Schema, decompress, packed};
///
/// let schema = Schema::new([Field::new("text", Kind::Text)])?;
/// let texts = (0..1000).map(|n| format!("the message of number {n}, which took {} ms", n * 7919 % 1000));
/// let texts: Vec<String> = texts.collect();
/// let rows = Rows::new(schema, [texts.iter().map(String::as_str).collect::<Column>()])?;
///
/// let plan = Plan::for_link(&rows, 8_000_000)?; // bits a second
/// let sent = plan.encode(&rows)?;
/// println!("{plan}: {} bytes", sent.bytes.len());
///
/// // The other end is told `sent.kind`, as in HTTP by the header Content-Encoding.
/// let bytes = decompress(sent.kind, &sent.bytes, 1 << 20)?;
/// assert_eq!(packed::decode(&bytes, &Limits::default())?, rows);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The mode of the packed encoding.
    pub mode: Mode,
    /// What its bytes are compressed by; [`CompressionKind::None`] for not at all.
    pub compression: Compression,
}

const fn compression(kind: CompressionKind, level: i32) -> Compression {
    Compression {
        kind,
        level,
        threshold_bytes: 0,
    }
}

const UNCOMPRESSED: Compression = compression(CompressionKind::None, 0);
const ZSTD_1: Compression = compression(CompressionKind::Zstd, 1);
const ZSTD_3: Compression = compression(CompressionKind::Zstd, 3);
const ZSTD_9: Compression = compression(CompressionKind::Zstd, 9);
const BROTLI_5: Compression = compression(CompressionKind::Brotli, 5);

/// This mode leaves to a compressor what it does better, and takes from it what it does not see: on slow links, too.
const BEFORE_COMPRESSION: Mode = Mode::Link(100_000_000);
/// This one takes the codecs of the small mode where they save much.
const NEARLY_PACKED: Mode = Mode::Link(1_000_000_000);

/// All compressions that may ever be the best, from the quickest to the slowest.
const COMPRESSIONS: &[Compression] = &[ZSTD_1, ZSTD_3, ZSTD_9, BROTLI_5];

/// The way that was good for all tables at this speed: it is tried first, and taken where there is no time to try.
fn usual(bits_per_second: u64) -> Plan {
    let (mode, compression) = match bits_per_second {
        0..4_000_000 => (BEFORE_COMPRESSION, BROTLI_5),
        4_000_000..30_000_000 => (BEFORE_COMPRESSION, ZSTD_9),
        30_000_000..500_000_000 => (Mode::Link(bits_per_second), ZSTD_1),
        500_000_000.. => (Mode::Packed, UNCOMPRESSED),
    };
    Plan { mode, compression }
}

/// All modes that may be the best, behind the usual one.
fn modes(bits_per_second: u64) -> impl Iterator<Item = Mode> {
    let modes = [
        usual(bits_per_second).mode,
        BEFORE_COMPRESSION,
        NEARLY_PACKED,
        Mode::Link(bits_per_second),
        Mode::Small,
        Mode::Packed,
        Mode::Plain,
    ];
    (0..modes.len())
        .filter(move |&index| !modes[..index].contains(&modes[index]))
        .map(move |index| modes[index])
}

/// What all ways together take, each twice: so often what a row takes to be encoded, and so many nanoseconds a byte for the compressions.
const ENCODINGS: f64 = 24.0;
const NANOSECONDS_TO_COMPRESS: f64 = 400.0;

/// How many rows are tried at least and at most, and how many tell how long a row takes.
const FEWEST_ROWS: usize = 384;
const MOST_ROWS: usize = packed::ROWS_PER_CHUNK;
const TIMED_ROWS: usize = 128;
/// From how many places all over the table rows are taken.
const STRETCHES: usize = 4;
/// What a further compression leaves of the bytes at least.
const LEAST_LEFT: f64 = 0.83;
/// What a compressor takes before the first byte, in nanoseconds.
const START_NANOSECONDS: f64 = 25_000.0;
/// A compressor finds more in a whole table than in a part: the part of the bytes that it leaves is to be taken to a power, which
/// grows by so much with each doubling, up to a bound.
const POWER_A_DOUBLING: f64 = 0.1;
const MOST_POWER: f64 = 1.5;
/// A first compression that leaves more than this leaves nothing for a slower one to find.
const NOTHING_FOUND: f64 = 0.995;
/// In less time than this, too little can be tried to know better than what is usual.
const SHORTEST_CHOICE: Duration = Duration::from_micros(250);
/// What choosing a plan to be kept may take.
const LONGEST_CHOICE: Duration = Duration::from_millis(100);
/// How often each way is tried; the shortest time counts.
const REPEATS: u32 = 2;

impl Plan {
    /// The plan by which this table, encoded and decoded on machines like this one, is ready first behind a link of this speed in
    /// bits a second: the time to encode, compress, send, decompress and decode counts. It is meant to be kept, for all tables
    /// that are alike.
    ///
    /// All ways are tried on stretches from all over the table, each twice, and their times are measured, so that near equals may
    /// change places from call to call. That takes up to a tenth of a second, about thirty times as long as the table takes to be
    /// encoded if that is less; it is not part of what is counted. [`for_link_within`](Plan::for_link_within) is told how
    /// long it may take.
    ///
    /// # Errors
    /// If the packed encoding cannot carry the table.
    pub fn for_link(rows: &Rows, bits_per_second: u64) -> Result<Plan, EncodeError> {
        Plan::for_link_within(rows, bits_per_second, LONGEST_CHOICE)
    }

    /// As [`for_link`](Plan::for_link), with the time that choosing may take: less for a table whose like does not come again, more for
    /// a large one.
    ///
    /// As many rows are tried as that time allows, all of them if it does: then the plan is the best of all ways but for what their
    /// times vary. A part of the time is left over where ways are seen to be hopeless. In less than a quarter of a millisecond
    /// nothing is tried: the plan is the usual one for that speed.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tamtam_rows::{Column, Field, Kind, Plan, Rows, Schema};
    ///
    /// let schema = Schema::new([Field::new("price", Kind::U32)])?;
    /// let rows = Rows::new(schema, [(0..1000u32).map(|n| n * n % 971).collect::<Vec<_>>().into()])?;
    /// let plan = Plan::for_link_within(&rows, 100_000_000, Duration::from_millis(1))?;
    /// let sent = plan.encode(&rows)?;
    /// assert!(sent.bytes.len() < 2000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the packed encoding cannot carry the table.
    pub fn for_link_within(
        rows: &Rows,
        bits_per_second: u64,
        time: Duration,
    ) -> Result<Plan, EncodeError> {
        let usual = usual(bits_per_second);
        if time < SHORTEST_CHOICE {
            return Ok(usual);
        }
        let nanoseconds = 8e9 / bits_per_second.max(1) as f64;
        let count = Few::of(rows)?.rows_in(time, rows);
        let mut trial = Trial::of(rows, count, nanoseconds, time, usual)?;
        let compressed = [usual.compression];
        let is_compressed = usual.compression.kind != CompressionKind::None;
        trial.try_mode(usual.mode, if is_compressed { &compressed } else { &[] })?;
        for mode in modes(bits_per_second) {
            trial.try_mode(mode, COMPRESSIONS)?;
        }
        Ok(trial.plan)
    }

    /// The table as it is sent. Where the compression would not make it smaller, it is sent without, and the kind says so.
    ///
    /// # Errors
    /// If the packed encoding cannot carry the table, or there is no memory to compress with.
    pub fn encode(&self, rows: &Rows) -> Result<Compressed, EncodeError> {
        let mut bytes = Vec::new();
        packed::encode(rows, self.mode, &mut bytes)?;
        self.compression.compress(bytes).map_err(failed)
    }
}

impl fmt::Display for Plan {
    /// `packed-small+zstd-3`, or `packed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(crate::Encoding::name(&packed::Packed { mode: self.mode }))?;
        let Compression { kind, level, .. } = self.compression;
        match kind {
            CompressionKind::None => Ok(()),
            kind => write!(f, "+{}-{level}", kind.name()),
        }
    }
}

/// So many rows in stretches from all over the table.
fn sample(rows: &Rows, count: usize) -> Result<Rows, EncodeError> {
    if count * 5 / 4 >= rows.len() {
        return Ok(rows.clone());
    }
    let length = count / STRETCHES;
    let start = |stretch: usize| (rows.len() - length) * stretch / (STRETCHES - 1);
    let mut sample = rows.part(0..length);
    for stretch in 1..STRETCHES {
        let from = start(stretch);
        sample
            .append(&rows.part(from..from + length))
            .map_err(|error| EncodeError::Failed {
                form: "packed",
                reason: error.to_string(),
            })?;
    }
    Ok(sample)
}

/// What a few rows take, by which the time for all of them is estimated.
struct Few {
    /// How many rows these are.
    count: usize,
    /// Nanoseconds to encode them.
    encode: f64,
    /// Their bytes.
    sent: f64,
}

impl Few {
    fn of(rows: &Rows) -> Result<Few, EncodeError> {
        let count = rows.len().min(TIMED_ROWS);
        let start = (rows.len() - count) / 2;
        let few = rows.part(start..start + count);
        let mut bytes = Vec::new();
        // The first time is longer than those behind it.
        packed::encode(&few, Mode::Packed, &mut bytes)?;
        bytes.clear();
        let begin = Instant::now();
        packed::encode(&few, Mode::Packed, &mut bytes)?;
        Ok(Few {
            count: count.max(1),
            encode: begin.elapsed().as_nanos() as f64,
            sent: bytes.len() as f64,
        })
    }

    /// How many rows can be tried in this time.
    fn rows_in(&self, time: Duration, rows: &Rows) -> usize {
        let one =
            (ENCODINGS * self.encode + NANOSECONDS_TO_COMPRESS * self.sent) / self.count as f64;
        let tried = time.as_nanos() as f64 / one.max(f64::MIN_POSITIVE);
        (tried as usize)
            .clamp(FEWEST_ROWS, MOST_ROWS.max(FEWEST_ROWS))
            .min(rows.len().max(FEWEST_ROWS))
    }
}

/// What is tried, and what was found.
struct Trial {
    rows: Rows,
    /// How many times as many rows the whole table has.
    times: f64,
    nanoseconds_a_byte: f64,
    /// When no more ways are to be tried.
    until: Instant,
    /// Nanoseconds until all rows are there by the plan.
    best: f64,
    plan: Plan,
}

impl Trial {
    fn of(
        rows: &Rows,
        count: usize,
        nanoseconds_a_byte: f64,
        budget: Duration,
        usual: Plan,
    ) -> Result<Trial, EncodeError> {
        let sample = sample(rows, count)?;
        Ok(Trial {
            times: rows.len() as f64 / sample.len().max(1) as f64,
            rows: sample,
            nanoseconds_a_byte,
            until: Instant::now() + budget,
            best: f64::INFINITY,
            plan: usual,
        })
    }

    /// The mode with each compression that may be better than the best so far.
    fn try_mode(&mut self, mode: Mode, compressions: &[Compression]) -> Result<(), EncodeError> {
        if self.is_over() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        let (encoded, encode) = timed(REPEATS, || {
            bytes.clear();
            packed::encode(&self.rows, mode, &mut bytes)
        });
        encoded?;
        let (decoded, decode) = timed(REPEATS, || packed::decode(&bytes, &Limits::NONE));
        decoded.map_err(|error| EncodeError::Failed {
            form: "packed",
            reason: error.to_string(),
        })?;
        let both = (encode + decode) * self.times;
        let length = bytes.len() as f64 * self.times;
        self.offer(mode, UNCOMPRESSED, both, length);
        let mut fewest = length;
        for (index, &compression) in compressions.iter().enumerate() {
            let may_be = both + LEAST_LEFT * fewest * self.nanoseconds_a_byte;
            let is_hopeless = may_be > self.best || fewest > NOTHING_FOUND * length;
            if self.is_over() || index > 0 && is_hopeless {
                break;
            }
            let (left, took) = squeeze(&bytes, compression, REPEATS).map_err(failed)?;
            let sent =
                length * left.powf((1.0 + POWER_A_DOUBLING * self.times.log2()).min(MOST_POWER));
            let once = START_NANOSECONDS.min(took / 2.0);
            let took = once + (took - once) * self.times;
            self.offer(mode, compression, both + took, sent);
            fewest = fewest.min(sent);
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.best.is_finite() && Instant::now() > self.until
    }

    /// Takes this way if all rows are there sooner by it.
    fn offer(&mut self, mode: Mode, compression: Compression, work: f64, bytes: f64) {
        let plan = Plan { mode, compression };
        let total = work + bytes * self.nanoseconds_a_byte;
        if total < self.best {
            self.best = total;
            self.plan = plan;
        }
    }
}

/// Which part of the bytes is left, and how long it takes to compress and to decompress them.
fn squeeze(
    bytes: &[u8],
    compression: Compression,
    repeats: u32,
) -> Result<(f64, f64), CompressionError> {
    // Copies are made outside of what is timed.
    let mut copies: Vec<Vec<u8>> = (0..repeats).map(|_| bytes.to_vec()).collect();
    let (compressed, compress) = timed(repeats, || {
        compression.compress(copies.pop().unwrap_or_default())
    });
    let compressed = compressed?;
    let (expanded, expand) = timed(repeats, || {
        decompress(compressed.kind, &compressed.bytes, usize::MAX)
    });
    expanded?;
    let left = compressed.bytes.len() as f64 / bytes.len().max(1) as f64;
    Ok((left, compress + expand))
}

/// What the work gives, and how many nanoseconds it takes: the shortest time of as many as it is repeated.
fn timed<T>(repeats: u32, mut work: impl FnMut() -> T) -> (T, f64) {
    let mut once = || {
        let start = Instant::now();
        let done = std::hint::black_box(work());
        (done, start.elapsed().as_nanos() as f64)
    };
    let mut best = once();
    for _ in 1..repeats {
        let (done, time) = once();
        best = (done, time.min(best.1));
    }
    best
}

fn failed(error: CompressionError) -> EncodeError {
    EncodeError::Failed {
        form: "packed",
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Field, Kind, Schema};

    fn mixed(n: u64) -> u64 {
        let mixed = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
    }

    /// Numbers without a pattern, ones that follow a slow curve, and texts that are alike.
    fn tables(count: u64) -> [Rows; 3] {
        let table = |kind: Kind, column: Column| {
            let schema = Schema::new([Field::new("c", kind)]).unwrap();
            Rows::new(schema, [column]).unwrap()
        };
        let numbers: Vec<u32> = (0..count).map(|n| (mixed(n) % 100_000) as u32).collect();
        let curve: Vec<i64> = (0..count as i64)
            .map(|n| n * n / 100 + mixed(n as u64) as i64 % 7)
            .collect();
        let texts: Vec<String> = (0..count)
            .map(|n| {
                format!(
                    "user {} asked for /items/{}",
                    mixed(n) % 50,
                    mixed(n + 7) % 4000
                )
            })
            .collect();
        let texts: Column = texts.iter().map(String::as_str).collect();
        [
            table(Kind::U32, Column::from(numbers)),
            table(Kind::I64, Column::from(curve)),
            table(Kind::Text, texts),
        ]
    }

    #[test]
    fn every_speed_has_a_plan_and_its_rows_come_back() {
        for rows in tables(300).iter().chain([&tables(1)[0].part(0..0)]) {
            for speed in [
                0,
                1_000_000,
                8_000_000,
                100_000_000,
                1_000_000_000,
                u64::MAX,
            ] {
                let sent = Plan::for_link(rows, speed).unwrap().encode(rows).unwrap();
                let bytes = decompress(sent.kind, &sent.bytes, 1 << 20).unwrap();
                assert_eq!(&packed::decode(&bytes, &Limits::NONE).unwrap(), rows);
            }
        }
    }

    #[test]
    fn with_time_the_plan_for_a_slow_link_sends_about_the_fewest_bytes() {
        for rows in tables(2000) {
            // On links this slow hardly anything but the bytes counts.
            for speed in [10_000, 100_000] {
                let plan = Plan::for_link_within(&rows, speed, Duration::from_secs(5)).unwrap();
                let sent = plan.encode(&rows).unwrap().bytes.len();
                for mode in [Mode::Packed, Mode::Small, Mode::Plain] {
                    for compression in [UNCOMPRESSED, ZSTD_1, ZSTD_3, ZSTD_9, BROTLI_5] {
                        let other = Plan { mode, compression };
                        let least = other.encode(&rows).unwrap().bytes.len();
                        assert!(
                            sent as f64 <= 1.1 * least as f64,
                            "{plan}: {sent}, {other}: {least}"
                        );
                    }
                }
            }
            // However short the time, there is a plan.
            let plan = Plan::for_link_within(&rows, 1_000_000, Duration::ZERO).unwrap();
            plan.encode(&rows).unwrap();
        }
    }

    #[test]
    fn what_is_tried_is_from_all_over_the_table() {
        let [rows, ..] = tables(60_000);
        for count in [FEWEST_ROWS, 5000, 40_000] {
            let tried = sample(&rows, count).unwrap();
            assert!(tried.len() <= count);
            assert_eq!(tried.value(0, 0), rows.value(0, 0));
            assert_eq!(tried.value(tried.len() - 1, 0), rows.value(59_999, 0));
        }
    }
}
