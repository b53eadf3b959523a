//! Ways that are chosen for each link.

use std::time::Instant;

use tamtam_rows::Rows;

use super::{Chosen, Compressor, Form, LINKS, Link, cell};
use crate::{Conditions, Failure, Measurement, Metric};

/// What makes up a total, and the share of the compressor in it, which is none where there is no compressor.
const PARTS: [(&str, &str); 4] = [
    ("encode_us", "µs"),
    ("bytes_per_row", "B"),
    ("decode_us", "µs"),
    ("expand_us", "µs"),
];

/// Measures each way that is chosen for a link, and takes its total there and what makes it up. Everything else is that of
/// the way on the link of the primary figure. How long choosing takes is a figure of its own, and part of no other.
pub(super) fn run<F, C>(
    choose: fn(&Rows, Link) -> Chosen<F, C>,
    rows: &Rows,
    conditions: &Conditions,
) -> Result<Measurement, Failure>
where
    F: Form + PartialEq,
    C: Compressor + PartialEq,
{
    let mut ways: Vec<(F, Option<C>)> = Vec::new();
    let mut chosen = Vec::new();
    for link in LINKS {
        let begin = Instant::now();
        let way = choose(rows, link).map_err(Failure::Impossible)?;
        let took = begin.elapsed().as_nanos() as f64 / 1e3;
        let known = ways.iter().position(|other| *other == way);
        let place = known.unwrap_or_else(|| {
            ways.push(way);
            ways.len() - 1
        });
        chosen.push((link, place, took));
    }
    let conditions = Conditions {
        limit: conditions.limit / ways.len() as u32,
        ..conditions.clone()
    };
    let measured: Vec<Measurement> = ways
        .iter()
        .map(|(form, compressor)| {
            let compressor = compressor.as_ref().map(|one| one as &dyn Compressor);
            cell::run(form, compressor, rows, &conditions)
        })
        .collect::<Result<_, _>>()?;
    // The primary figure comes first.
    let primary = measured[0].metrics[0].metric.clone();
    let is_primary = |(link, ..): &&(Link, usize, f64)| link.metric == primary;
    let place = chosen.iter().find(is_primary).map_or(0, |one| one.1);
    let mut all = measured[place].clone();
    for (link, place, took) in chosen {
        let its = &measured[place];
        let total = all.metrics.iter_mut().find(|one| one.metric == link.metric);
        if let Some((total, value)) = total.zip(its.value(link.metric)) {
            total.value = value;
        }
        let parts = PARTS.map(|(metric, unit)| {
            let value = its.value(metric).unwrap_or(0.0);
            Metric::new(&link.alone(metric), unit, value)
        });
        all.metrics.extend(parts);
        let choosing = Metric::new(&link.alone("choose_us"), "µs", took);
        all.metrics.push(choosing);
    }
    all.operations = measured.iter().map(|one| one.operations).sum();
    all.elapsed = measured.iter().map(|one| one.elapsed).sum();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::time::Duration;

    use tamtam_rows::packed::{self, Mode};

    use super::super::{PackedIn, Sent};
    use super::*;
    use crate::{Variant, tables};

    /// A bit for each byte that says whether it is zero, and the others.
    #[derive(Debug, PartialEq)]
    struct WithoutZeros;

    impl Compressor for WithoutZeros {
        fn compress(&self, bytes: Vec<u8>) -> Result<Sent, String> {
            let mut coded = vec![0; bytes.len().div_ceil(8)];
            for (at, byte) in bytes.into_iter().enumerate().filter(|(_, byte)| *byte != 0) {
                coded[at / 8] |= 1 << (at % 8);
                coded.push(byte);
            }
            Ok(Sent {
                bytes: coded,
                is_compressed: true,
            })
        }

        fn expand<'a>(&self, sent: &'a Sent, length: usize) -> Result<Cow<'a, [u8]>, String> {
            let (flags, others) = sent.bytes.split_at(length.div_ceil(8));
            let mut others = others.iter().copied();
            let byte = |at: usize| match flags[at / 8] >> (at % 8) & 1 {
                0 => Some(0),
                _ => others.next(),
            };
            let bytes: Option<Vec<u8>> = (0..length).map(byte).collect();
            bytes.map(Cow::Owned).ok_or_else(|| "cut off".to_owned())
        }
    }

    /// Plain without its zeros on the fastest link, small on the others.
    fn choose(_: &Rows, link: Link) -> Chosen<PackedIn, WithoutZeros> {
        Ok(if link.megabits_per_second >= 1000.0 {
            (PackedIn(Mode::Plain), Some(WithoutZeros))
        } else {
            (PackedIn(Mode::Small), None)
        })
    }

    #[test]
    fn each_total_is_that_of_the_way_on_its_link() {
        let table = tables::find("random").unwrap();
        let conditions = Conditions {
            variant: Variant::of_table(1000, table),
            limit: Duration::from_millis(20),
        };
        let rows = table.rows(1000).unwrap();
        let found = run(choose, &rows, &conditions).unwrap();
        let sent = |mode| {
            let mut bytes = Vec::new();
            packed::encode(&rows, mode, &mut bytes).unwrap();
            bytes
        };
        // Nothing is ready before its bytes have come, and what is small takes less of a slow link than all of the
        // plain bytes would.
        let small = sent(Mode::Small).len() as f64;
        let plain = sent(Mode::Plain);
        let whole = plain.len() as f64;
        let plain = WithoutZeros.compress(plain).unwrap().bytes.len() as f64;
        assert!(small < plain && plain != whole, "{small}, {plain}, {whole}");
        let total = |link: Link| found.value(link.metric).unwrap();
        assert!(total(LINKS[0]) > LINKS[0].microseconds(small));
        assert!(total(LINKS[3]) > LINKS[3].microseconds(plain));
        assert_eq!(found.value("bytes_per_row"), Some(small / 1000.0));
        assert_eq!(found.metrics[0].metric, LINKS[1].metric);
        for link in LINKS {
            let part = |metric| found.value(&link.alone(metric)).unwrap();
            let bytes = part("bytes_per_row") * 1000.0;
            assert_eq!(bytes, if link == LINKS[3] { plain } else { small });
            let sum = part("encode_us") + link.microseconds(bytes) + part("decode_us");
            assert!((sum - total(link)).abs() < 1e-6 * sum);
            assert_eq!(part("expand_us") > 0.0, link == LINKS[3]);
            assert!(part("choose_us") >= 0.0);
        }
    }

    #[test]
    fn what_cannot_be_chosen_is_impossible() {
        let table = tables::find("random").unwrap();
        let conditions = Conditions {
            variant: Variant::of_table(100, table),
            limit: Duration::from_millis(20),
        };
        let none = |_: &Rows, _: Link| -> Chosen<PackedIn, WithoutZeros> { Err("none".to_owned()) };
        let outcome = run(none, &table.rows(100).unwrap(), &conditions);
        assert_eq!(outcome, Err(Failure::Impossible("none".to_owned())));
    }
}
