//! The page of costs: its sizes are those of the types, and its figures those of the front page.

use std::mem::size_of;

use tamtam::{Event, Latch, Slot};

use crate::{file, page, without_comments};

/// The cells of the table row that begins with `name`.
fn row(text: &str, name: &str) -> Vec<String> {
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("| {name} |")))
        .unwrap_or_else(|| panic!("no row begins with {name}"));
    line.trim_matches('|')
        .split('|')
        .map(|cell| cell.trim().to_owned())
        .collect()
}

/// Every time in a text, such as `18 to 46 ns` or `0.23 µs`.
fn times(text: &str) -> Vec<String> {
    let words: Vec<_> = text.split_whitespace().collect();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    words
        .iter()
        .enumerate()
        .filter_map(|(unit_at, word)| {
            let unit = word.trim_end_matches(|character: char| !character.is_alphanumeric());
            if !["ns", "µs", "ms"].contains(&unit) {
                return None;
            }
            let number = words[..unit_at].last().filter(|word| is_number(word))?;
            Some(match words[..unit_at] {
                [.., from, "to", _] if is_number(from) => format!("{from} to {number} {unit}"),
                _ => format!("{number} {unit}"),
            })
        })
        .collect()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn sizes_on_the_page_are_those_of_the_types() {
    let text = page("costs.md");
    let (_, memory) = text.split_once("## Memory").expect("a chapter on memory");
    for (name, size) in [
        ("`Slot`", size_of::<Slot<u64>>()),
        ("`Slot`", size_of::<Slot<[u8; 120]>>()),
        ("`Event`", size_of::<Event>()),
        ("`Latch`", size_of::<Latch>()),
    ] {
        assert_eq!(row(memory, name)[1], size.to_string(), "{name}");
    }
}

#[test]
fn sizes_of_channels_are_those_that_their_documentation_states() {
    let text = page("costs.md");
    let stated = file("crates/tamtam-channel/src/channel.rs");
    for name in ["`bounded(n)`", "`bounded(0)`", "`unbounded()`"] {
        let size = &row(&text, name)[1];
        assert!(
            stated.contains(&format!("{size} bytes")),
            "{name} is not of {size} bytes"
        );
    }
}

#[test]
fn the_front_page_gives_the_same_figures() {
    let costs = without_comments(&page("costs.md"));
    let known = times(&costs.replace('|', " "));
    let front_page = file("README.md");
    let mut compared = 0;
    for line in front_page.lines().filter(|line| line.starts_with("| **")) {
        for time in times(line) {
            assert!(
                known.contains(&time),
                "README.md says {time}, costs.md does not: {line}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared} figures were compared");
}

#[test]
fn times_are_found_in_prose_and_tables() {
    assert_eq!(
        times("a message 18 to 46 ns in a stream; there and back 0.59 µs, not 3 words"),
        ["18 to 46 ns", "0.59 µs"]
    );
}
