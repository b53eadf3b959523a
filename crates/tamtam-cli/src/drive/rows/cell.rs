use std::hint::black_box;
use std::time::Duration;

use tamtam_rows::Rows;

use super::samples::Samples;
use super::{Compressor, Form, LINKS};
use crate::drive::tables::Table;
use crate::drive::{Conditions, Failure, Measurement, Metric};

/// Longer than this nothing is measured: the figures are steady by then, and there are many cells.
const LONGEST: Duration = Duration::from_millis(250);

/// Encodes and decodes the table of a variant as long as it may, and says what that costs on each link.
pub(super) fn run<F: Form>(
    form: &F,
    compressor: Option<&dyn Compressor>,
    table: &Table,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let count = usize::try_from(conditions.variant.count)
        .map_err(|_| Failure::Impossible("so many rows do not fit into memory".to_owned()))?;
    let rows = table
        .rows(count)
        .map_err(|error| Failure::Impossible(error.to_string()))?;
    let source = form.source(&rows).map_err(Failure::Impossible)?;
    let budget = conditions.limit.min(LONGEST) / 2;

    // Once before the clock runs: what is sent is known, and that it arrives.
    let mut plain = Vec::new();
    form.encode(&source, &mut plain)
        .map_err(Failure::Impossible)?;
    let mut sent = Vec::new();
    match compressor {
        Some(compressor) => compressor
            .compress(&plain, &mut sent)
            .map_err(Failure::Impossible)?,
        None => sent.clone_from(&plain),
    }
    check_arrival(form, compressor, &sent, plain.len(), &rows)?;

    let mut encoded = Vec::with_capacity(plain.len());
    let mut compressed = Vec::with_capacity(sent.len());
    let encode = Samples::take(
        budget,
        || {
            encoded.clear();
            form.encode(black_box(&source), &mut encoded)
                .map_err(Failure::Unverified)?;
            if let Some(compressor) = compressor {
                compressor
                    .compress(black_box(&encoded), &mut compressed)
                    .map_err(Failure::Unverified)?;
            }
            // What is written must not be seen to be of no use.
            black_box(encoded.as_slice());
            black_box(compressed.as_slice());
            Ok(())
        },
        |()| Ok(()),
    )?;
    let last = if compressor.is_some() {
        &compressed
    } else {
        &encoded
    };
    check_arrival(form, compressor, last, encoded.len(), &rows)?;

    let compress = match compressor {
        None => None,
        Some(compressor) => Some(Samples::take(
            budget / 4,
            || {
                compressor
                    .compress(black_box(&plain), &mut compressed)
                    .map_err(Failure::Unverified)
            },
            |()| Ok(()),
        )?),
    };

    let schema = rows.schema();
    let mut expanded = Vec::new();
    let decode = match compressor {
        None => Samples::take(
            budget,
            || {
                form.decode(black_box(&sent), schema)
                    .map(black_box)
                    .map_err(Failure::Unverified)
            },
            |decoded| check(form, decoded, &rows),
        )?,
        Some(compressor) => Samples::take(
            budget,
            || {
                compressor
                    .expand(black_box(&sent), plain.len(), &mut expanded)
                    .map_err(Failure::Unverified)?;
                let decoded = form
                    .decode(black_box(&expanded), schema)
                    .map_err(Failure::Unverified)?;
                drop(black_box(decoded));
                Ok(())
            },
            |()| Ok(()),
        )?,
    };
    if compressor.is_some() {
        let decoded = form
            .decode(&expanded, schema)
            .map_err(Failure::Unverified)?;
        check(form, decoded, &rows)?;
    }

    let bytes = sent.len() as f64;
    let work = encode.median_microseconds() + decode.median_microseconds();
    // The primary metric first: a link as the article's readers had it.
    let total = |link: super::Link| Metric::new(link.metric, "µs", work + link.microseconds(bytes));
    let mut metrics = vec![total(LINKS[1])];
    metrics.extend([LINKS[0], LINKS[2], LINKS[3]].map(total));
    metrics.extend([
        Metric::new("encode_us", "µs", encode.median_microseconds()),
        Metric::new("decode_us", "µs", decode.median_microseconds()),
        Metric::new("bytes_per_row", "B", bytes / count as f64),
        Metric::new("encode_mean_us", "µs", encode.mean_microseconds()),
        Metric::new("encode_deviation_us", "µs", encode.deviation_microseconds()),
        Metric::new("decode_mean_us", "µs", decode.mean_microseconds()),
        Metric::new("decode_deviation_us", "µs", decode.deviation_microseconds()),
    ]);
    if let Some(compress) = &compress {
        metrics.push(Metric::new(
            "compress_us",
            "µs",
            compress.median_microseconds(),
        ));
        metrics.push(Metric::new(
            "uncompressed_bytes_per_row",
            "B",
            plain.len() as f64 / count as f64,
        ));
    }
    Ok(Measurement {
        operations: (encode.operations + decode.operations) * conditions.variant.count,
        elapsed: encode.elapsed + decode.elapsed,
        metrics,
        note: None,
    })
}

/// Whether the table that these bytes decode to is the one that was sent.
fn check_arrival<F: Form>(
    form: &F,
    compressor: Option<&dyn Compressor>,
    sent: &[u8],
    length: usize,
    rows: &Rows,
) -> Result<(), Failure> {
    let mut expanded = Vec::new();
    let bytes = match compressor {
        None => sent,
        Some(compressor) => {
            compressor
                .expand(sent, length, &mut expanded)
                .map_err(Failure::Unverified)?;
            &expanded
        }
    };
    let decoded = form
        .decode(bytes, rows.schema())
        .map_err(Failure::Unverified)?;
    check(form, decoded, rows)
}

/// Whether what was decoded is the table that was sent.
fn check<F: Form>(form: &F, decoded: F::Decoded<'_>, rows: &Rows) -> Result<(), Failure> {
    let arrived = form
        .rows(decoded, rows.schema())
        .map_err(Failure::Unverified)?;
    if arrived == *rows {
        return Ok(());
    }
    Err(Failure::Unverified(difference(&arrived, rows)))
}

/// Where the two tables first differ, in words.
fn difference(arrived: &Rows, sent: &Rows) -> String {
    if arrived.len() != sent.len() {
        return format!("{} rows arrived of {}", arrived.len(), sent.len());
    }
    if arrived.schema() != sent.schema() {
        return "the table arrived with other columns".to_owned();
    }
    for row in 0..sent.len() {
        for (column, field) in sent.schema().fields().iter().enumerate() {
            let (here, there) = (arrived.value(row, column), sent.value(row, column));
            if here != there {
                return format!(
                    "the value in column {}, row {row} arrived as {here:?} instead of {there:?}",
                    field.name()
                );
            }
        }
    }
    "a value that is null, or the sign of a zero, arrived as another one".to_owned()
}
