use std::hint::black_box;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tamtam_rows::{Compression, CompressionKind, Encoding, Limits, Rows, decompress, encoding};

/// How long one thing is done again and again, at least three times.
const LONG_ENOUGH: Duration = Duration::from_millis(60);

/// What a form costs for a table.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) form: &'static str,
    /// Or why it cannot carry the table.
    pub(super) outcome: Result<Cost, String>,
}

/// The medians of some runs, and what came out.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    pub(super) encode: Duration,
    pub(super) decode: Duration,
    pub(super) bytes: u64,
    /// Each compression that makes it smaller.
    pub(super) compressed: Vec<Squeezed>,
}

/// A form's bytes, compressed.
#[derive(Clone, Debug)]
pub(super) struct Squeezed {
    pub(super) by: CompressionKind,
    pub(super) bytes: u64,
    pub(super) compress: Duration,
    pub(super) decompress: Duration,
}

/// Tries each form that the program has.
pub(super) fn all(rows: &Rows) -> Result<Vec<Trial>> {
    let forms: Vec<_> = encoding::all().collect();
    let bar = ProgressBar::new(forms.len() as u64);
    if !stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?);
    let trials = forms
        .into_iter()
        .map(|form| {
            bar.set_message(form.name());
            let outcome = cost(form, rows);
            bar.inc(1);
            Trial {
                form: form.name(),
                outcome,
            }
        })
        .collect();
    bar.finish_and_clear();
    Ok(trials)
}

fn cost(form: &dyn Encoding, rows: &Rows) -> Result<Cost, String> {
    let says = |error: &dyn std::error::Error| error.to_string();
    let mut bytes = Vec::new();
    form.encode(rows, &mut bytes)
        .map_err(|error| says(&error))?;
    let schema = Some(rows.schema());
    let decoded = form
        .decode(&bytes, schema, &Limits::NONE)
        .map_err(|error| says(&error))?;
    if !equal(&decoded, rows) {
        return Err("it gives other rows back than it was given".to_owned());
    }
    drop(decoded);
    let mut out = Vec::with_capacity(bytes.len());
    let encode = median(|| {
        out.clear();
        let _ = form.encode(black_box(rows), &mut out);
    });
    let decode = median(|| {
        let _ = black_box(form.decode(black_box(&bytes), schema, &Limits::NONE));
    });
    let mut compressed = Vec::new();
    for by in CompressionKind::ALL {
        if by == CompressionKind::None {
            continue;
        }
        let compression = Compression {
            threshold_bytes: 0,
            ..Compression::new(by)
        };
        let sent = compression
            .compress(bytes.clone())
            .map_err(|error| says(&error))?;
        if sent.kind == CompressionKind::None {
            continue;
        }
        let compress = median_of(
            || bytes.clone(),
            |body| drop(black_box(compression.compress(body))),
        );
        let decompress = median(|| drop(black_box(decompress(by, &sent.bytes, usize::MAX))));
        compressed.push(Squeezed {
            by,
            bytes: sent.bytes.len() as u64,
            compress,
            decompress,
        });
    }
    Ok(Cost {
        encode,
        decode,
        bytes: bytes.len() as u64,
        compressed,
    })
}

/// Whether both have the same values, a NaN for a NaN.
fn equal(left: &Rows, right: &Rows) -> bool {
    if left.len() != right.len() || left.schema().len() != right.schema().len() {
        return false;
    }
    left == right
        || (0..left.len()).all(|row| {
            (0..left.schema().len()).all(|column| {
                let (left, right) = (left.value(row, column), right.value(row, column));
                left == right || format!("{left:?}") == format!("{right:?}")
            })
        })
}

fn median(mut work: impl FnMut()) -> Duration {
    median_of(|| (), |()| work())
}

/// The median time of the work, without that of what it is given.
fn median_of<T>(mut given: impl FnMut() -> T, mut work: impl FnMut(T)) -> Duration {
    let began = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (began.elapsed() < LONG_ENOUGH && times.len() < 1_000) {
        let input = given();
        let start = Instant::now();
        work(input);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}
