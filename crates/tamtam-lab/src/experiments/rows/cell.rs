//! One form with one table: what encoding and decoding cost, and the totals on each link.

use std::borrow::Cow;
use std::hint::black_box;

use tamtam_rows::{Rows, Schema};

use super::samples::Samples;
use super::{Compressor, Form, LINKS, LONGEST_MEASUREMENT, Sent, arrived};
use crate::{Conditions, Failure, Measurement, Metric};

/// Encodes and decodes a table as long as it may, and says what that costs on each link.
pub(super) fn run<F: Form>(
    form: &F,
    compressor: Option<&dyn Compressor>,
    rows: &Rows,
    conditions: &Conditions,
) -> Result<Measurement, Failure> {
    let count = rows.len();
    let source = form.source(rows).map_err(Failure::Impossible)?;
    let budget = conditions.limit.min(LONGEST_MEASUREMENT) / 2;

    // Once before the clock runs: what is sent is known, and that it arrives.
    let mut plain = Vec::new();
    form.encode(&source, &mut plain)
        .map_err(Failure::Impossible)?;
    let schema = rows.schema();
    let (sent, encode, apart, decode) = match compressor {
        None => {
            check(form, decoded(form, &plain, schema)?, rows)?;
            let mut body = Vec::with_capacity(plain.len());
            let encode = Samples::take(
                budget,
                || {
                    body.clear();
                    encoded(form, &source, &mut body)
                },
                |()| Ok(()),
            )?;
            check(form, decoded(form, &body, schema)?, rows)?;
            let decode = Samples::take(
                budget,
                || decoded(form, black_box(&body), schema).map(black_box),
                |decoded| check(form, decoded, rows),
            )?;
            (body.len(), encode, None, decode)
        }
        Some(compressor) => {
            let length = plain.len();
            let check_sent = |sent: Sent| {
                let body = expanded(compressor, &sent, length)?;
                check(form, decoded(form, &body, schema)?, rows)
            };
            let compressed = |body| {
                compressor
                    .compress(black_box(body))
                    .map_err(Failure::Unverified)
            };
            let sent = compressed(plain.clone())?;
            check_sent(sent.clone())?;
            // Bytes that are known to arrive need not be decoded again, which may take longer than what is timed.
            let check_again = |again: Sent| {
                if again == sent {
                    Ok(())
                } else {
                    check_sent(again)
                }
            };
            let encode = Samples::take(
                budget,
                || {
                    let mut body = Vec::with_capacity(length);
                    encoded(form, &source, &mut body)?;
                    compressed(body).map(black_box)
                },
                check_again,
            )?;
            let compress = Samples::take(
                budget / 4,
                || compressed(plain.clone()).map(black_box),
                check_again,
            )?;
            let expand = Samples::take(
                budget / 4,
                || expanded(compressor, black_box(&sent), length).map(black_box),
                |_| Ok(()),
            )?;
            let decode = Samples::take(
                budget,
                || {
                    let body = expanded(compressor, black_box(&sent), length)?;
                    drop(black_box(decoded(form, &body, schema)?));
                    Ok(())
                },
                |()| Ok(()),
            )?;
            check_sent(sent.clone())?;
            (sent.bytes.len(), encode, Some((compress, expand)), decode)
        }
    };

    let bytes = sent as f64;
    let (encoded, decoded) = (encode.median_microseconds(), decode.median_microseconds());
    // The primary metric first: a link as the article's readers had it.
    let total =
        |link: super::Link| Metric::new(link.metric, "µs", link.ready(encoded, bytes, decoded));
    let mut metrics = vec![total(LINKS[1])];
    metrics.extend([LINKS[0], LINKS[2], LINKS[3]].map(total));
    metrics.extend([
        Metric::new("encode_us", "µs", encoded),
        Metric::new("decode_us", "µs", decoded),
        Metric::new("bytes_per_row", "B", bytes / count as f64),
        Metric::new("encode_mean_us", "µs", encode.mean_microseconds()),
        Metric::new("encode_deviation_us", "µs", encode.deviation_microseconds()),
        Metric::new("decode_mean_us", "µs", decode.mean_microseconds()),
        Metric::new("decode_deviation_us", "µs", decode.deviation_microseconds()),
    ]);
    if let Some((compress, expand)) = &apart {
        metrics.extend([
            Metric::new("compress_us", "µs", compress.median_microseconds()),
            Metric::new("expand_us", "µs", expand.median_microseconds()),
            Metric::new(
                "uncompressed_bytes_per_row",
                "B",
                plain.len() as f64 / count as f64,
            ),
        ]);
    }
    Ok(Measurement {
        operations: (encode.operations + decode.operations) * conditions.variant.count,
        elapsed: encode.elapsed + decode.elapsed,
        metrics,
        note: None,
    })
}

fn encoded<F: Form>(form: &F, source: &F::Source, out: &mut Vec<u8>) -> Result<(), Failure> {
    form.encode(black_box(source), out)
        .map_err(Failure::Unverified)?;
    // What is written must not be seen to be of no use.
    black_box(out.as_slice());
    Ok(())
}

fn decoded<'a, F: Form>(
    form: &F,
    bytes: &'a [u8],
    schema: &Schema,
) -> Result<F::Decoded<'a>, Failure> {
    form.decode(bytes, schema).map_err(Failure::Unverified)
}

fn expanded<'a>(
    compressor: &dyn Compressor,
    sent: &'a Sent,
    length: usize,
) -> Result<Cow<'a, [u8]>, Failure> {
    compressor.expand(sent, length).map_err(Failure::Unverified)
}

/// Whether what was decoded is the table that was sent.
fn check<F: Form>(form: &F, decoded: F::Decoded<'_>, rows: &Rows) -> Result<(), Failure> {
    let arrived = form
        .rows(decoded, rows.schema())
        .map_err(Failure::Unverified)?;
    arrived::check(&arrived, rows)
}
