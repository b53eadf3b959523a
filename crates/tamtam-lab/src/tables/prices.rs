//! A table of an exchange's quotes.

use tamtam_rows::{Kind, Rows, ShapeError, Strings, Unit, Zone};

use super::layout::Layout;
use super::random::{Random, Weights};

/// 2026-04-20 07:00:00 UTC in microseconds.
const BEGIN: f64 = 1_776_668_400_000_000.0;

/// How many papers are traded.
const SYMBOLS: usize = 48;

/// One paper: prices in hundredths.
#[derive(Debug)]
struct Paper {
    symbol: String,
    bid: i64,
    spread: i64,
    /// How many hundredths it moves at once.
    tick: i64,
    traded: f64,
    paid: f64,
}

/// Quotes of an exchange in the order in which they came: the same paper several times in a row, prices in steps of
/// 0.01 or 0.05, and the mean price paid so far in full precision.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x7072_6963_6573);
    let mut papers: Vec<Paper> = (0..SYMBOLS)
        .map(|_| {
            let letters = 2 + random.below(3);
            let tick = if random.chance(0.3) { 5 } else { 1 };
            Paper {
                symbol: (0..letters)
                    .map(|_| (b'A' + random.below(26) as u8) as char)
                    .collect(),
                bid: (random.log_normal(6_000.0, 1.0) as i64).max(200) / tick * tick,
                spread: tick * random.between(1, 6),
                tick,
                traded: 0.0,
                paid: 0.0,
            }
        })
        .collect();
    let liveliness = Weights::zipf(SYMBOLS, 2.0);

    let (mut symbols, mut times, mut bids, mut asks) =
        (Strings::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut bid_sizes, mut ask_sizes, mut volumes, mut means) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut now = BEGIN;
    let mut current = 0;
    let mut left = 0_u64;
    for _ in 0..count {
        if left == 0 {
            current = liveliness.pick(&mut random);
            left = 1 + (random.exponential() * 9.0) as u64;
            now += random.exponential() * 90_000.0;
        }
        left -= 1;
        now += 3.0 + random.exponential() * 420.0;
        let paper = &mut papers[current];
        if random.chance(0.35) {
            let steps = random.normal().round() as i64;
            paper.bid = (paper.bid + steps * paper.tick).max(paper.tick);
        }
        if random.chance(0.1) {
            paper.spread = paper.tick * random.between(1, 6);
        }
        // Most quotes are no trade; trades are in hundreds of pieces, or odd.
        let volume = match random.below(10) {
            0..6 => 0,
            6..9 => 100 * random.pareto().min(1e6) as u32,
            _ => (random.pareto() * 7.0).min(1e6) as u32,
        };
        let ask = paper.bid + paper.spread;
        paper.traded += f64::from(volume);
        paper.paid +=
            f64::from(volume) * (if random.chance(0.5) { paper.bid } else { ask }) as f64 / 100.0;
        symbols.push(&paper.symbol)?;
        times.push(now as i64);
        bids.push(paper.bid as f64 / 100.0);
        asks.push(ask as f64 / 100.0);
        bid_sizes.push(100 * random.pareto().min(1e6) as u32);
        ask_sizes.push(100 * random.pareto().min(1e6) as u32);
        volumes.push(volume);
        means.push((paper.traded > 0.0).then(|| paper.paid / paper.traded));
    }
    Layout::default()
        .with("symbol", Kind::Text, symbols)
        .with("time", Kind::Timestamp(Unit::Microsecond, Zone::Utc), times)
        .with("bid", Kind::F64, bids)
        .with("ask", Kind::F64, asks)
        .with("bid_size", Kind::U32, bid_sizes)
        .with("ask_size", Kind::U32, ask_sizes)
        .with("volume", Kind::U32, volumes)
        .with_nulls("mean_price", Kind::F64, means)
        .rows()
}
