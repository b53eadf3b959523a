//! How good is the advice of `Plan::for_link` on these files? `cargo run --release --features compression,text --example
//! advice -- FILE.csv..` measures every way to send each of them, and says how much longer than the best the advised way takes.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tamtam_rows::encoding::{Text, TextReader};
use tamtam_rows::infer::{self, Options};
use tamtam_rows::packed::{self, Mode};
use tamtam_rows::{Compression, CompressionKind, Limits, Plan, Rows, RowsBuilder, decompress};

const LINKS: [u64; 4] = [1_000_000, 8_000_000, 100_000_000, 1_000_000_000];
const MOST: usize = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut slower: Vec<Vec<f64>> = vec![Vec::new(); LINKS.len()];
    for path in std::env::args().skip(1) {
        let rows = match read(&path) {
            Ok(rows) if !rows.is_empty() => rows,
            Ok(_) => continue,
            Err(error) => {
                eprintln!("{path}: {error}");
                continue;
            }
        };
        for (index, link) in LINKS.into_iter().enumerate() {
            let start = Instant::now();
            let plan = Plan::for_link(&rows, link)?;
            let chosen_in = start.elapsed();
            // The planned way may be none of the others: a mode for another link has the same name.
            let mut ways: Vec<(f64, Plan)> = all(link)
                .filter(|way| *way != plan)
                .chain([plan])
                .map(|way| (total(&rows, way, link), way))
                .collect();
            let ours = ways.last().expect("it was put there").0;
            ways.sort_by(|one, other| one.0.total_cmp(&other.0));
            let ratio = ours / ways[0].0;
            slower[index].push(ratio);
            println!(
                "{path}\t{} rows\t{} Mbit/s\t{ratio:.3}\t{plan}\tbest {}\t{:.0} us\tchosen in {:.0} us",
                rows.len(),
                link / 1_000_000,
                ways[0].1,
                ways[0].0,
                chosen_in.as_secs_f64() * 1e6
            );
        }
    }
    for (link, ratios) in LINKS.into_iter().zip(&mut slower) {
        ratios.sort_by(f64::total_cmp);
        if let Some(worst) = ratios.last() {
            let median = ratios[ratios.len() / 2];
            println!(
                "{} Mbit/s: {} tables, median {median:.3}, worst {worst:.3}",
                link / 1_000_000,
                ratios.len()
            );
        }
    }
    Ok(())
}

fn read(path: &str) -> Result<Rows, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    let form = Text {
        delimiter: infer::delimiter(&bytes),
        ..Text::HEADED
    };
    let options = Options {
        rows: MOST as u64,
        ..Options::default()
    };
    let schema = options.text(&bytes[..], form)?.schema;
    let reader = TextReader::new(&bytes[..], form, &schema, Limits::NONE)?;
    let mut reader = reader.with_nulls(options.nulls);
    let mut rows = RowsBuilder::new(schema.clone()).finish();
    while rows.len() < MOST
        && let Some(part) = reader.next_chunk()?
    {
        rows.append(&part)?;
    }
    Ok(rows.part(0..rows.len().min(MOST)))
}

/// Every way: each mode with each compression.
fn all(link: u64) -> impl Iterator<Item = Plan> {
    let by = |kind, level| Compression {
        kind,
        level,
        threshold_bytes: 0,
    };
    let compressions = [
        by(CompressionKind::None, 0),
        by(CompressionKind::Zstd, 1),
        by(CompressionKind::Zstd, 3),
        by(CompressionKind::Zstd, 9),
        by(CompressionKind::Gzip, 6),
        by(CompressionKind::Brotli, 5),
    ];
    [Mode::Packed, Mode::Small, Mode::Plain, Mode::Link(link)]
        .into_iter()
        .flat_map(move |mode| compressions.map(move |compression| Plan { mode, compression }))
}

/// Microseconds until the table is there: encoded, compressed, sent, decompressed and decoded.
fn total(rows: &Rows, plan: Plan, link: u64) -> f64 {
    let mut encoded = Vec::new();
    packed::encode(rows, plan.mode, &mut encoded).expect("it can be packed");
    let sent = plan.encode(rows).expect("it can be packed");
    let there = decompress(sent.kind, &sent.bytes, usize::MAX).expect("it was compressed");
    let work = median(|| drop(black_box(plan.encode(black_box(rows)))))
        + median(|| {
            if sent.kind == CompressionKind::None {
                drop(black_box(packed::decode(black_box(&there), &Limits::NONE)));
            } else {
                let bytes = decompress(sent.kind, &sent.bytes, usize::MAX).expect("as before");
                drop(black_box(packed::decode(&bytes, &Limits::NONE)));
            }
        });
    work + sent.bytes.len() as f64 * 8e6 / link as f64
}

fn median(mut work: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (begin.elapsed() < Duration::from_millis(10) && times.len() < 101) {
        let start = Instant::now();
        work();
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
