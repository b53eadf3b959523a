//! What would save bytes, time or CPU, by method and link.

use std::cmp::Ordering;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tamtam_rows::CompressionKind;

use super::ledger::{Group, Ledger, Link};
use crate::weigh::{FORMS, micros};

/// What saves less of the bytes or of the time is not said in words.
const LEAST_SHARE: f64 = 0.1;

/// How many ways are told in words, at most.
const MOST_ADVICE: usize = 3;

/// The groups as JSON: of each method, of each link.
pub(super) fn of(ledger: &Ledger, threshold_bytes: usize) -> Vec<Json> {
    let mut methods: Vec<(String, Vec<Json>)> = Vec::new();
    for ((method, link, form), group) in &ledger.groups {
        let entry = link_of(*link, form, group, threshold_bytes);
        match methods.last_mut() {
            Some((last, links)) if last == method => links.push(entry),
            _ => methods.push((method.clone(), vec![entry])),
        }
    }
    let methods = methods.into_iter();
    methods
        .map(|(method, links)| json!({ "method": method, "links": links }))
        .collect()
}

/// A way to send an answer, with what it costs on average.
#[derive(Clone, Copy, Debug)]
struct Way {
    form: &'static str,
    is_compressed: bool,
    wire_bytes: f64,
    /// CPU time of the server.
    cpu: f64,
    /// Until its last byte has arrived, in seconds; without the link's part where that is not known.
    time: f64,
}

fn link_of(link: Link, form: &'static str, group: &Group, threshold_bytes: usize) -> Json {
    let samples = group.samples as f64;
    let speed = (link != Link::Unseen).then(|| group.bytes_per_second / samples);
    let way = |form, is_compressed, wire_bytes: f64, cpu: Duration| Way {
        form,
        is_compressed,
        wire_bytes,
        cpu: cpu.as_secs_f64(),
        time: cpu.as_secs_f64() + speed.map_or(0.0, |speed| wire_bytes / speed),
    };
    let mut ways = Vec::new();
    let mut forms = Vec::new();
    for name in FORMS {
        let Some(sums) = group.forms.get(name) else {
            continue;
        };
        let count = sums.samples as u32;
        let mean = |sum: u64| sum as f64 / f64::from(count);
        let encode = sums.encode / count;
        let compress = sums.compress / count;
        ways.push(way(name, false, mean(sums.bytes), encode));
        if group.accepted.is_some() {
            ways.push(way(
                name,
                true,
                mean(sums.compressed_bytes),
                encode + compress,
            ));
        }
        forms.push(json!({
            "form": name,
            "bytes": mean(sums.bytes).round(),
            "encode_us": micros(encode),
            "compressed_bytes": mean(sums.compressed_bytes).round(),
            "compress_us": micros(compress),
        }));
    }
    let encode = group
        .forms
        .get(form)
        .map_or(Duration::ZERO, |sums| sums.encode / sums.samples as u32);
    let is_compressed = group.compressed * 2 > group.samples;
    let now = way(
        form,
        is_compressed,
        group.wire_bytes as f64 / samples,
        encode + group.compress / group.samples as u32,
    );
    let mut entry = Map::new();
    entry.insert("link".into(), link.name().into());
    entry.insert("bytes_per_second".into(), speed.map(f64::round).into());
    entry.insert("samples".into(), group.samples.into());
    entry.insert(
        "sent".into(),
        json!({
            "protocol": group.protocol,
            "form": form,
            "compressed": is_compressed,
            "bytes": group.plain_bytes as f64 / samples,
            "wire_bytes": now.wire_bytes,
            "encode_us": micros(encode),
            "compress_us": micros(group.compress / group.samples as u32),
        }),
    );
    entry.insert(
        "compression".into(),
        group
            .compression
            .map(CompressionKind::content_encoding)
            .into(),
    );
    entry.insert("forms".into(), forms.into());
    let estimate = (group.estimated > 0).then(|| {
        json!({
            "samples": group.estimated,
            "by_rows": group.estimated_by_rows / group.estimated,
            "of_rows": group.estimated_rows / group.estimated,
        })
    });
    entry.insert("estimated".into(), estimate.into());
    let advice = advice(&now, &ways, speed, group, threshold_bytes);
    entry.insert("advice".into(), advice.into());
    entry.into()
}

/// What is better than what is sent now, best first.
fn advice(
    now: &Way,
    ways: &[Way],
    speed: Option<f64>,
    group: &Group,
    threshold_bytes: usize,
) -> Vec<Json> {
    // A client that is slow counts time; where the link was never seen only bytes can be told.
    let cost = |way: &Way| {
        if speed.is_some() {
            way.time
        } else {
            way.wire_bytes
        }
    };
    let mut better: Vec<&Way> = Vec::new();
    for form in FORMS {
        let of_form = ways.iter().filter(|way| way.form == form);
        let best = of_form.min_by(|one, other| ordered(cost(one), cost(other)));
        better.extend(best.filter(|best| cost(best) < cost(now) * (1.0 - LEAST_SHARE)));
    }
    better.sort_by(|one, other| ordered(cost(one), cost(other)));
    better.truncate(MOST_ADVICE);
    let said = better.into_iter();
    said.map(|way| {
        let what = if way.form == now.form {
            "threshold"
        } else {
            "form"
        };
        json!({
            "what": what,
            "form": way.form,
            "compressed": way.is_compressed,
            "saves": {
                "bytes": (now.wire_bytes - way.wire_bytes).round(),
                "time_us": speed.map(|_| ((now.time - way.time) * 1e6).round()),
                "cpu_us": ((now.cpu - way.cpu) * 1e6).round(),
            },
            "text": in_words(now, way, speed, group, threshold_bytes),
        })
    })
    .collect()
}

fn ordered(one: f64, other: f64) -> Ordering {
    one.total_cmp(&other)
}

fn in_words(
    now: &Way,
    way: &Way,
    speed: Option<f64>,
    group: &Group,
    threshold_bytes: usize,
) -> String {
    let by = group.accepted.map_or("", CompressionKind::content_encoding);
    let means = if way.form == now.form {
        if way.is_compressed {
            format!(
                "compress by {by} from fewer bytes on (--compress-above, now {threshold_bytes}; these have {:.0})",
                now.wire_bytes
            )
        } else {
            let plain = group.plain_bytes as f64 / group.samples as f64;
            format!("do not compress (--compress-above {plain:.0} or more)")
        }
    } else {
        let form = name_of(way.form);
        let and = if way.is_compressed {
            format!(", compressed by {by},")
        } else {
            String::new()
        };
        let table = if group.could_be_table && is_for_tables(way.form) {
            ", which the method gives if it returns Rows,"
        } else {
            ""
        };
        format!("{form}{table}{and} in place of {}", name_of(now.form))
    };
    let share = 100.0 * (now.wire_bytes - way.wire_bytes) / now.wire_bytes.max(1.0);
    let bytes = match (now.wire_bytes - way.wire_bytes).round() {
        saved if saved >= 0.0 => format!(
            "{saved:.0} of {:.0} bytes less ({share:.0} %)",
            now.wire_bytes
        ),
        more => format!("{:.0} bytes more", -more),
    };
    let time = match speed {
        Some(_) => format!(", {}", changed("of the client's time", now.time - way.time)),
        None => String::new(),
    };
    let cpu = changed("of the server's CPU", now.cpu - way.cpu);
    let estimate = match group.estimated {
        0 => String::new(),
        count => format!(
            " (estimated by the first {} of {} rows)",
            group.estimated_by_rows / count,
            group.estimated_rows / count
        ),
    };
    format!("{means}: {bytes}{time}, {cpu} a call{estimate}")
}

fn changed(what: &str, saved: f64) -> String {
    let word = if saved >= 0.0 { "less" } else { "more" };
    let microseconds = saved.abs() * 1e6;
    if microseconds >= 1_000.0 {
        format!("{:.1} ms {what} {word}", microseconds / 1_000.0)
    } else {
        format!("{microseconds:.0} µs {what} {word}")
    }
}

fn is_for_tables(form: &str) -> bool {
    matches!(form, "packed" | "arrow" | "parquet" | "jsonl" | "csv")
}

/// A form in words, and how a client asks for it.
fn name_of(form: &str) -> &'static str {
    match form {
        "packed" => "packed rows (Accept: application/vnd.tamtam.rows)",
        "arrow" => "Arrow's stream (Accept: application/vnd.apache.arrow.stream)",
        "parquet" => "Parquet (Accept: application/vnd.apache.parquet)",
        "jsonl" => "JSON lines (Accept: application/jsonl)",
        "msgpack" => "MessagePack (Accept: application/vnd.msgpack)",
        "csv" => "CSV (Accept: text/csv)",
        "json" => "JSON by URL",
        "json-rpc" => "JSON-RPC",
        "xml-rpc" => "XML-RPC",
        "amf0" => "AMF0",
        "amf0-objects" => "AMF0, objects (/amf?rows=objects)",
        "amf3" => "AMF3",
        _ => "another form",
    }
}

#[cfg(test)]
mod tests {
    use super::super::ledger::Seen;
    use super::*;
    use crate::exchange::Sent;
    use crate::weigh::Weighed;

    /// 1,000 bytes of JSON that are 100 bytes packed, which take a millisecond to encode.
    fn seen(bytes_per_second: Option<f64>) -> Seen {
        let form = |form, bytes, encode| Weighed {
            form,
            bytes,
            encode,
            compressed_bytes: bytes,
            compress: Duration::ZERO,
        };
        Seen {
            method: "Tiles.list".to_owned(),
            protocol: "rest",
            could_be_table: false,
            bytes_per_second,
            sent: Sent {
                content_type: "application/json".to_owned(),
                plain_bytes: 1_000,
                wire_bytes: 1_000,
                compression: CompressionKind::None,
                accepted: CompressionKind::None,
                compress: Duration::ZERO,
            },
            compression: CompressionKind::Zstd,
            estimate: None,
            forms: vec![
                form("json", 1_000, Duration::ZERO),
                form("packed", 100, Duration::from_millis(1)),
            ],
        }
    }

    fn advice_for(bytes_per_second: Option<f64>) -> Json {
        let mut ledger = Ledger::default();
        ledger.add(seen(bytes_per_second));
        of(&ledger, 25_600)[0]["links"][0]["advice"].clone()
    }

    #[test]
    fn a_client_on_a_slow_link_is_told_the_time_that_fewer_bytes_save() {
        let saves = &advice_for(Some(1e5))[0]["saves"];
        // 9 ms on the way, and 1 ms to encode.
        let saved = [&saves["bytes"], &saves["time_us"], &saves["cpu_us"]];
        assert_eq!(saved, [900.0, 8_000.0, -1_000.0]);
        // What takes longer to encode than it saves on the way is none.
        assert_eq!(advice_for(Some(1e9)), json!([]));
        // A link that was never full has no time; the bytes are what counts.
        let saves = &advice_for(None)[0]["saves"];
        assert_eq!(
            (&saves["bytes"], &saves["time_us"]),
            (&json!(900.0), &Json::Null)
        );
    }
}
