//! A table of events of a web shop, with JSON in a column.

use tamtam_rows::{Kind, Rows, ShapeError, Strings, Unit, Zone};

use super::layout::Layout;
use super::random::{Random, Weights};
use super::words;

/// 2026-05-04 08:00:00 UTC in microseconds.
const BEGIN: f64 = 1_777_881_600_000_000.0;

const TYPES: [&str; 8] = [
    "page.viewed",
    "item.clicked",
    "cart.changed",
    "search.done",
    "session.started",
    "order.placed",
    "error.raised",
    "consent.given",
];

/// Events as a stream of a web shop holds them: a number, a time, a key, and everything else as JSON in one column.
pub(super) fn rows(count: usize) -> Result<Rows, ShapeError> {
    let mut random = Random::new(0x6576_656e_7473);
    let types = Weights::zipf(TYPES.len(), 0.2);
    let frequency = words::frequency();
    let (mut offsets, mut times, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut payloads) = (Strings::new(), Strings::new());
    // Visitors of the last minutes: most events are of one who was just seen.
    let mut visitors: Vec<[u8; 16]> = (0..200).map(|_| random.uuid()).collect();
    let mut now = BEGIN;
    for offset in 0..count {
        now += random.exponential() * 14_000.0;
        let visitor = random.below(visitors.len() as u64) as usize;
        if random.chance(0.05) {
            visitors[visitor] = random.uuid();
        }
        let kind = TYPES[types.pick(&mut random)];
        offsets.push(88_000_000 + offset as i64);
        times.push(now as i64);
        keys.push(visitors[visitor]);
        names.push(kind)?;
        let (item, price) = (
            random.between(100_000, 132_000),
            random.log_normal(2_400.0, 0.9) as u64,
        );
        let rest = match kind {
            "page.viewed" => format!(
                r#""url":"/{}/{item}","referrer":{},"ms":{}"#,
                random.one_of(&words::NOUNS),
                if random.chance(0.6) {
                    "null".to_owned()
                } else {
                    format!(r#""/{}""#, random.one_of(&words::NOUNS))
                },
                random.log_normal(300.0, 0.7) as u64
            ),
            "item.clicked" => format!(
                r#""item":{item},"position":{},"list":"{}""#,
                random.below(40),
                random.one_of(&words::NOUNS)
            ),
            "cart.changed" | "order.placed" => {
                let lines: Vec<String> = (0..1 + (random.exponential() * 1.4) as u64)
                    .map(|_| {
                        format!(
                            r#"{{"item":{},"count":{},"price":{}.{:02}}}"#,
                            random.between(100_000, 132_000),
                            1 + random.below(3),
                            price / 100,
                            price % 100
                        )
                    })
                    .collect();
                format!(r#""lines":[{}],"currency":"EUR""#, lines.join(","))
            }
            "search.done" => {
                let length = 1 + random.below(4) as usize;
                let query = words::prose(&mut random, &frequency, length);
                format!(
                    r#""query":"{query}","hits":{},"took_ms":{}"#,
                    random.pareto() as u64 * 7 - 7,
                    random.log_normal(45.0, 0.6) as u64
                )
            }
            "error.raised" => {
                let text = words::prose(&mut random, &frequency, 9);
                format!(
                    r#""message":"{text}","line":{},"fatal":{}"#,
                    random.below(4_000),
                    random.chance(0.1)
                )
            }
            _ => format!(
                r#""accepted":{},"version":"{}.{}""#,
                random.chance(0.8),
                random.between(3, 5),
                random.below(12)
            ),
        };
        payloads.push(&format!(
            r#"{{"type":"{kind}","app":{{"name":"shop","version":"7.{}.{}"}},"device":"{}",{rest}}}"#,
            random.between(2, 4), random.below(3), random.one_of(&["phone", "phone", "phone", "desktop", "tablet"])
        ))?;
    }
    Layout::default()
        .with("offset", Kind::I64, offsets)
        .with("time", Kind::Timestamp(Unit::Microsecond, Zone::Utc), times)
        .with("visitor", Kind::Uuid, keys)
        .with("type", Kind::Text, names)
        .with("payload", Kind::Text, payloads)
        .rows()
}
