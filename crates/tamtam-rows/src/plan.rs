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
/// [`Plan::for_link`] chooses both, by trying them on a part of the table: as many rows as take a few hundredths of the time until the
/// table is there, but at least 1,024. For a small table behind a fast link that is longer than sending it once. A plan is therefore
/// best made once for tables that are alike, such as the answers to one query, and kept:
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

/// What choosing may take, as a share of the time until the whole table is there.
const SHARE: f64 = 0.03;
/// How many rows are tried at least and at most, and how many tell how long a row takes.
const LEAST: usize = 1024;
const MOST: usize = packed::ROWS_PER_CHUNK;
const FIRST: usize = 256;
/// Of a row's time to be encoded, and of the bytes that it then takes, as many as trying all that may be best needs: in all modes,
/// and in nanoseconds by all compressions.
const ENCODED: f64 = 12.0;
const COMPRESSED: f64 = 100.0;
/// From this speed on, no compression is faster than the link.
const UNCOMPRESSED_FROM: u64 = 4_000_000_000;
/// What takes less time is done again, since a first time is longer than those behind it.
const SHORT: Duration = Duration::from_micros(250);

/// What is tried behind each mode, and how many times as long as the first one it takes at least.
const COMPRESSIONS: [(Compression, f64); 4] = [
    (compression(CompressionKind::Zstd, 1), 1.0),
    (compression(CompressionKind::Zstd, 3), 1.0),
    (compression(CompressionKind::Brotli, 5), 6.0),
    (compression(CompressionKind::Zstd, 9), 6.0),
];
/// What a further one leaves of the bytes at least.
const LEFT: f64 = 0.83;
/// How many of them are quick. The others are tried behind a mode that is so near to the best with these.
const QUICK: usize = 2;
const NEAR: f64 = 1.2;
const UNCOMPRESSED: Compression = compression(CompressionKind::None, 0);

const fn compression(kind: CompressionKind, level: i32) -> Compression {
    Compression {
        kind,
        level,
        threshold_bytes: 0,
    }
}

impl Plan {
    /// The plan by which this table, encoded and decoded on machines like this one, is ready first behind a link of this speed in
    /// bits a second: the time to encode, compress, send, decompress and decode counts.
    ///
    /// Each mode is tried with each compression that may still be better than what was found before, and with slow ones only where
    /// quick ones come near to the best, on as many rows from the middle of the table as the [type](Plan) says; their times are measured, so that near equals may change places from call
    /// to call. The time that this takes is not part of what is counted.
    ///
    /// # Errors
    /// If the packed encoding cannot carry the table.
    pub fn for_link(rows: &Rows, bits_per_second: u64) -> Result<Plan, EncodeError> {
        let nanoseconds = 8e9 / bits_per_second.max(1) as f64;
        let part = middle(rows, tried(rows, nanoseconds)?);
        let mut best: Option<(f64, Plan)> = None;
        // Slow compressions that do not pay behind one mode do not behind the others.
        let mut all = COMPRESSIONS.len();
        for mode in modes(bits_per_second) {
            let some = if bits_per_second < UNCOMPRESSED_FROM {
                &COMPRESSIONS[..all]
            } else {
                &[]
            };
            let least = best.map_or(f64::INFINITY, |(least, _)| least);
            let totals = totals(&part, mode, some, nanoseconds, least)?;
            let quick = totals.iter().take(1 + QUICK).map(|&(total, _)| total);
            let quick = quick.fold(f64::INFINITY, f64::min);
            let slow = totals.iter().skip(1 + QUICK).map(|&(total, _)| total);
            if slow.fold(f64::INFINITY, f64::min) > quick {
                all = QUICK;
            }
            for (total, compression) in totals {
                if best.is_none_or(|(least, _)| total < least) {
                    best = Some((total, Plan { mode, compression }));
                }
            }
        }
        Ok(best.map_or(
            Plan {
                mode: Mode::for_link(bits_per_second),
                compression: UNCOMPRESSED,
            },
            |(_, plan)| plan,
        ))
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

/// So many rows from the middle of the table.
fn middle(rows: &Rows, count: usize) -> Rows {
    let count = count.min(rows.len());
    let start = (rows.len() - count) / 2;
    rows.part(start..start + count)
}

/// How many rows are tried, by how long a few of them take.
fn tried(rows: &Rows, nanoseconds_a_byte: f64) -> Result<usize, EncodeError> {
    if rows.len() <= LEAST {
        return Ok(LEAST);
    }
    let few = middle(rows, FIRST);
    let mut bytes = Vec::new();
    let encode = least(|| {
        bytes.clear();
        packed::encode(&few, Mode::Packed, &mut bytes)
    })?;
    let sent = bytes.len() as f64;
    let table = rows.len() as f64 * (encode + sent * nanoseconds_a_byte);
    // Both are times of as many rows as were looked at, whose number is therefore left out.
    let count = SHARE * table / (ENCODED * encode + COMPRESSED * sent);
    Ok((count as usize).clamp(LEAST, MOST))
}

fn modes(bits_per_second: u64) -> Vec<Mode> {
    let mut modes = vec![Mode::Packed, Mode::Plain];
    if bits_per_second < UNCOMPRESSED_FROM {
        modes.push(Mode::Small);
        if let link @ Mode::Link(_) = Mode::for_link(bits_per_second) {
            modes.push(link);
        }
    }
    modes
}

/// The nanoseconds that this mode takes with each compression that may be better than the best so far.
fn totals(
    rows: &Rows,
    mode: Mode,
    compressions: &[(Compression, f64)],
    nanoseconds_a_byte: f64,
    best: f64,
) -> Result<Vec<(f64, Compression)>, EncodeError> {
    let mut bytes = Vec::new();
    packed::encode(rows, mode, &mut bytes)?;
    let mut out = Vec::with_capacity(bytes.len());
    let encode = least(|| {
        out.clear();
        packed::encode(rows, mode, &mut out)
    })?;
    let decode =
        least(|| packed::decode(&bytes, &Limits::NONE)).map_err(|error| EncodeError::Failed {
            form: "packed",
            reason: error.to_string(),
        })?;
    let both = encode + decode;
    let total = both + bytes.len() as f64 * nanoseconds_a_byte;
    let mut totals = vec![(total, UNCOMPRESSED)];
    let mut best = best.min(total);
    let mut own = total;
    // How many bytes the compressions made of it so far, and how long the first one took.
    let mut fewest = bytes.len() as f64;
    let mut first = None;
    for (index, &(compression, times)) in compressions.iter().enumerate() {
        let may_be = match first {
            None => both,
            Some(took) => both + LEFT * fewest * nanoseconds_a_byte + times * took,
        };
        if may_be > best || index >= QUICK && own > NEAR * best {
            continue;
        }
        let (sent, took) = squeeze(&bytes, compression).map_err(failed)?;
        first.get_or_insert(took);
        fewest = fewest.min(sent);
        let total = both + took + sent * nanoseconds_a_byte;
        best = best.min(total);
        own = own.min(total);
        totals.push((total, compression));
    }
    Ok(totals)
}

/// How many bytes are left, and how long it takes to compress and to decompress them.
fn squeeze(bytes: &[u8], compression: Compression) -> Result<(f64, f64), CompressionError> {
    let mut compressed = None;
    let compress = least(|| {
        // The copy takes next to nothing beside the compression.
        compressed = Some(compression.compress(bytes.to_vec())?);
        Ok::<(), CompressionError>(())
    })?;
    let Some(compressed) = compressed else {
        return Ok((bytes.len() as f64, compress));
    };
    let expand = least(|| decompress(compressed.kind, &compressed.bytes, usize::MAX))?;
    Ok((compressed.bytes.len() as f64, compress + expand))
}

/// The nanoseconds of the shortest of a few runs; of one, if that takes long.
fn least<T, E>(mut work: impl FnMut() -> Result<T, E>) -> Result<f64, E> {
    let mut least = Duration::MAX;
    let begin = Instant::now();
    for _ in 0..3 {
        let start = Instant::now();
        std::hint::black_box(work()?);
        least = least.min(start.elapsed());
        if begin.elapsed() > SHORT {
            break;
        }
    }
    Ok(least.as_nanos() as f64)
}

fn failed(error: CompressionError) -> EncodeError {
    EncodeError::Failed {
        form: "packed",
        reason: error.to_string(),
    }
}
