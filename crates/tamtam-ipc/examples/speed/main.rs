//! What it costs when two processes talk over shared memory, beside what the machine itself takes for the same. Run it in release mode, on a
//! machine with two idle cores:
//!
//!     cargo run --release -p tamtam-ipc --example speed [one-way|round-trip|wake|first|killed]... [RUNS]
//!
//! Each figure is of a process that was started for it; the ways are tried in turn, so that a busy moment of the machine touches all.

#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod first;
#[cfg(target_os = "linux")]
mod killed;
#[cfg(target_os = "linux")]
mod one_way;
#[cfg(target_os = "linux")]
mod round_trip;
#[cfg(target_os = "linux")]
mod wake;

#[cfg(target_os = "linux")]
fn main() -> compare::Outcome {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(role) = compare::role(&words) {
        return match role.section {
            "one-way" => one_way::other(&role),
            "round-trip" => round_trip::other(&role),
            "wake" => wake::other(&role),
            "first" => first::other(&role),
            _ => killed::other(&role),
        };
    }
    let mut runs = 7;
    let mut wanted = Vec::new();
    for word in &words {
        match word.parse() {
            Ok(number) => runs = number,
            Err(_) => wanted.push(word.as_str()),
        }
    }
    type Section = fn(usize) -> compare::Outcome;
    let sections: [(&str, Section); 5] = [
        ("one-way", one_way::measure),
        ("round-trip", round_trip::measure),
        ("wake", wake::measure),
        ("first", first::measure),
        ("killed", killed::measure),
    ];
    if let Some(unknown) = wanted
        .iter()
        .find(|name| !sections.iter().any(|(known, _)| known == *name))
    {
        return Err(format!(
            "there is no '{unknown}' to measure; there are one-way, round-trip, wake, first and killed"
        )
        .into());
    }
    for (name, measure) in sections {
        if wanted.is_empty() || wanted.contains(&name) {
            measure(runs)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {}
