//! The words for the names of variants.

use super::row;
use crate::lab::end_to_end;
use tamtam_lab::tables;

/// The words for a variant: `1000/2cores/string` is "pinned to two cores, a one-character string in the message".
#[must_use]
pub(in crate::lab) fn describe(variant: &str) -> String {
    let mut parts = variant.splitn(3, '/');
    let _count = parts.next();
    let place = parts.next();
    if let Some(table) = place.and_then(tables::find) {
        return match parts.next() {
            Some("chromium-warm") => format!("{}; read in Chromium after many calls", table.about),
            Some("chromium-cold") => {
                format!("{}; the first call in a page of Chromium", table.about)
            }
            Some(extra) => {
                let said = end_to_end::describe(extra);
                format!("{}; {}", table.about, said.as_deref().unwrap_or(extra))
            }
            None => table.about.to_owned(),
        };
    }
    let placement = match place {
        Some("free") => "on any core",
        Some("1core") => "both threads on one core",
        Some("2cores") => "on two cores",
        Some("hog") => "on any core, with a busy process on each",
        Some(other) => other,
        None => "",
    };
    let Some(extra) = parts.next() else {
        return placement.to_owned();
    };
    // In these the placement says less than who takes part.
    match extra {
        "async" => return "two tasks of one thread, on tokio's runtime".to_owned(),
        "async-small" => return "two tasks of one thread, on a small executor".to_owned(),
        "get" => return "in one thread, while nobody sets it".to_owned(),
        _ => {}
    }
    if let Some(words) = row::describe(extra) {
        return format!("{placement}, {words}");
    }
    let said = EXTRAS.iter().find(|(name, _)| *name == extra);
    let said = said.map_or_else(
        || {
            extra
                .split('-')
                .map(describe_word)
                .collect::<Vec<_>>()
                .join(", ")
        },
        |(_, said)| (*said).to_owned(),
    );
    format!("{placement}, {said}")
}

/// The extras of variants that are words of their own.
const EXTRAS: &[(&str, &str)] = &[
    (
        "mixed",
        "a thread that blocks and a task on tokio's runtime",
    ),
    ("get-writer", "a writer at full speed beside the reader"),
    ("string", "a one-character string in each message"),
    ("sparse-1", "1 receiver, one message a millisecond"),
    ("sparse-8", "8 receivers, one message a millisecond each"),
    ("sparse-20ms", "1 receiver, one message in 20 ms"),
    ("sparse-20us", "1 receiver, one message in 20 µs"),
    ("crowd", "8 pairs at once"),
    ("idle", "8 threads waiting for a message that does not come"),
    ("frames-60", "looked at once a frame, 60 frames a second"),
    (
        "frames-1000",
        "looked at once a frame, 1,000 frames a second",
    ),
    ("limit", "the message over the limit is refused"),
    ("last", "the last actor counts"),
    ("all", "every actor counts one latch down for every message"),
    ("token", "one message that goes round and round"),
    ("million", "1,000,000 actors, 5 messages"),
    (
        "handler",
        "asked by another actor of the same pool or worker",
    ),
    (
        "pools",
        "asked by an actor of another pool, or on another worker",
    ),
    ("thread", "asked by a plain thread"),
    ("task", "asked by a task on tokio's runtime"),
    ("calm", "without the flood"),
    ("1client", "one client, one call after the other"),
    (
        "8clients",
        "8 clients at once, one call after the other each",
    ),
    ("tells", "told from a plain thread, then asked once"),
];

/// One word of an extra that is put together, such as `16B-warm`.
fn describe_word(word: &str) -> &str {
    match word {
        "16B" => "16-byte messages",
        "40B" => "40-byte messages",
        "64B" => "64-byte messages",
        "200B" => "200-byte messages",
        "first" => "the first round",
        "warm" => "warmed up",
        "stream" => "from one sender, all at work",
        "fanin" => "from four senders, all at work",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn variants_have_words() {
        assert_eq!(describe("1000/1core"), "both threads on one core");
        assert_eq!(
            describe("1000/2cores/sparse-1"),
            "on two cores, 1 receiver, one message a millisecond"
        );
        assert_eq!(
            describe("5000/2cores/16B-warm"),
            "on two cores, 16-byte messages, warmed up"
        );
        assert_eq!(
            describe("1000/1core/async"),
            "two tasks of one thread, on tokio's runtime"
        );
        assert_eq!(
            describe("1000/2cores/mixed"),
            "on two cores, a thread that blocks and a task on tokio's runtime"
        );
        assert_eq!(
            describe("1000/palette"),
            "the article's five columns: one of 64 colours, quarter turns"
        );
        assert_eq!(
            describe("1000000/free/4to1-8B-cap16"),
            "on any core, 4 senders and 1 receiver, messages of 8 bytes, room for 16"
        );
        assert_eq!(describe("odd"), "");
    }
}
