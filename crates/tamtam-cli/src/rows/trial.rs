//! What each form costs for a table.

use std::hint::black_box;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tamtam_rows::packed;
use tamtam_rows::{
    Compressed, Compression, CompressionKind, Encoding, Limits, Plan, Rows, decompress, encoding,
};

use tamtam_lab::median;
use tamtam_lab::rows::{LINKS, Link};

/// How long one thing is done again and again, at least three times.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongEnough(pub(super) Duration);

/// What a form costs for a table.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) form: &'static str,
    /// Or why it cannot carry the table.
    pub(super) outcome: Result<Cost, String>,
}

/// The medians of some runs, in microseconds, and what came out.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    pub(super) encode: f64,
    pub(super) decode: f64,
    pub(super) bytes: u64,
    /// Each compression that makes it smaller.
    pub(super) compressed: Vec<Squeezed>,
}

/// A form's bytes, compressed.
#[derive(Clone, Debug)]
pub(super) struct Squeezed {
    pub(super) by: CompressionKind,
    pub(super) bytes: u64,
    pub(super) compress: f64,
    pub(super) expand: f64,
}

/// Tries each form that the program has.
pub(super) fn all(rows: &Rows, time: LongEnough) -> Result<Vec<Trial>> {
    let bar = ProgressBar::new(encoding::all().count() as u64);
    if !stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.set_style(ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?);
    let trials = encoding::all()
        .map(|form| {
            bar.set_message(form.name());
            let outcome = cost(form, rows, time);
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

fn cost(form: &dyn Encoding, rows: &Rows, time: LongEnough) -> Result<Cost, String> {
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
    let encode = time.median(|| {
        out.clear();
        let _ = form.encode(black_box(rows), &mut out);
    });
    let decode = time.median(|| {
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
        let compress = time.median_of(
            || bytes.clone(),
            |body| drop(black_box(compression.compress(body))),
        );
        if decompress(by, &sent.bytes, usize::MAX).ok().as_ref() != Some(&bytes) {
            return Err(format!(
                "{} gives other bytes back than it was given",
                by.name()
            ));
        }
        let expand = time.median(|| drop(black_box(decompress(by, &sent.bytes, usize::MAX))));
        compressed.push(Squeezed {
            by,
            bytes: sent.bytes.len() as u64,
            compress,
            expand,
        });
    }
    Ok(Cost {
        encode,
        decode,
        bytes: bytes.len() as u64,
        compressed,
    })
}

/// The plan that the library makes for a table and a link, and what it costs.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) plan: Plan,
    pub(super) bytes: u64,
    /// Microseconds until the rows are there.
    pub(super) total: f64,
}

/// A plan for each link, or none where the packed encoding does not carry the table.
pub(super) fn plans(rows: &Rows, time: LongEnough) -> Vec<(Link, Option<Planned>)> {
    let of = |link: Link| (link, planned(rows, link, time));
    LINKS.into_iter().map(of).collect()
}

fn planned(rows: &Rows, link: Link, time: LongEnough) -> Option<Planned> {
    let plan = Plan::for_link(rows, link.bits_per_second()).ok()?;
    let sent = plan.encode(rows).ok()?;
    if !equal(&decoded(&sent).ok()?, rows) {
        return None;
    }
    let encode = time.median(|| drop(black_box(plan.encode(black_box(rows)))));
    let decode = time.median(|| drop(black_box(decoded(black_box(&sent)))));
    Some(Planned {
        plan,
        bytes: sent.bytes.len() as u64,
        total: link.ready(encode, sent.bytes.len() as f64, decode),
    })
}

/// The rows that were sent so.
fn decoded(sent: &Compressed) -> Result<Rows, String> {
    let said = |error: &dyn std::error::Error| error.to_string();
    let decode = |bytes: &[u8]| packed::decode(bytes, &Limits::NONE).map_err(|error| said(&error));
    if sent.kind == CompressionKind::None {
        return decode(&sent.bytes);
    }
    let bytes = decompress(sent.kind, &sent.bytes, usize::MAX).map_err(|error| said(&error))?;
    decode(&bytes)
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

impl LongEnough {
    /// The median time of the work, in microseconds.
    fn median(self, mut work: impl FnMut()) -> f64 {
        self.median_of(|| (), |()| work())
    }

    /// The same, without the time of what it is given.
    fn median_of<T>(self, mut given: impl FnMut() -> T, mut work: impl FnMut(T)) -> f64 {
        let began = Instant::now();
        let mut times = Vec::new();
        while times.len() < 3 || (began.elapsed() < self.0 && times.len() < 1_000) {
            let input = given();
            let start = Instant::now();
            work(input);
            times.push(start.elapsed().as_nanos() as f64 / 1e3);
        }
        median(&mut times).unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamtam_lab::tables;

    /// The time of a failure counted as that of reading it.
    #[test]
    fn what_was_sent_is_read_as_a_whole_or_not_timed() {
        let rows = tables::find("random").unwrap().rows(200).unwrap();
        for (link, planned) in plans(&rows, LongEnough(Duration::ZERO)) {
            let planned = planned.unwrap_or_else(|| panic!("no plan for {}", link.name));
            assert!(planned.total > 0.0);
            let sent = planned.plan.encode(&rows).unwrap();
            assert!(equal(&decoded(&sent).unwrap(), &rows));
            let mut cut = sent;
            cut.bytes.truncate(cut.bytes.len() / 2);
            assert!(decoded(&cut).is_err());
        }
    }
}
