//! What is shown: an answer as words and numbers in columns.

use super::answer::{Actor, Answer, Home};
use super::arguments::By;
use super::processes::Node;
use super::type_name::short;
use crate::printable::printable;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    /// Numbers stand on the right.
    pub(crate) is_number: bool,
    /// Where there is no room for all columns, those with the greatest go first; of equal ones the one on the right.
    pub(crate) rank: u8,
}

const fn words(heading: &'static str) -> Column {
    Column {
        heading,
        is_number: false,
        rank: 0,
    }
}

const fn number(heading: &'static str) -> Column {
    Column {
        heading,
        is_number: true,
        rank: 0,
    }
}

impl Column {
    const fn rank(self, rank: u8) -> Column {
        Column { rank, ..self }
    }
}

/// How much a value asks to be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Nothing is there.
    Faint,
    #[default]
    Plain,
    /// Something piles up.
    Notable,
    /// Something is lost, or stands still.
    Alarming,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) weight: Weight,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) columns: &'static [Column],
    pub(crate) rows: Vec<Vec<Value>>,
    /// The column that the rows are sorted by.
    pub(crate) sorted: Option<usize>,
}

/// What is shown of an answer.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) program: String,
    /// The program and its processes; no rows if it has none.
    pub(crate) processes: Table,
    pub(crate) homes: Table,
    pub(crate) actors: Table,
    /// Of how many actors those that are shown are the first.
    pub(crate) observed: u64,
    /// What is to be said besides.
    pub(crate) note: Option<&'static str>,
    /// What goes wrong, one line each.
    pub(crate) warnings: Vec<String>,
}

const PROCESSES: &[Column] = &[
    words("PROCESS"),
    number("PID"),
    words("CARRIER"),
    number("RESTARTS"),
    number("MEMORY"),
    number("CPU"),
    number("QUEUED"),
    number("HANDLED/s"),
    number("ACTORS"),
    number("LOST"),
];

const HOMES: &[Column] = &[
    words("HOME"),
    number("THREADS"),
    number("AT WORK"),
    number("DUE"),
    number("TURNS/s"),
    number("STEALS/s").rank(3),
    number("SLEEPS/s").rank(2),
    number("ENTERED/s").rank(3),
    number("BLOCKED").rank(1),
    number("ACTORS"),
    number("HANDLED/s"),
    number("QUEUED"),
    number("RESTARTS"),
    number("LOST"),
];

const ACTORS: &[Column] = &[
    number("#"),
    words("ACTOR"),
    words("HOME").rank(5),
    number("AT IT").rank(2),
    number("QUEUED"),
    number("MOST").rank(6),
    number("HANDLED/s").rank(1),
    number("HANDLED").rank(7),
    number("TIME").rank(1),
    number("LONGEST").rank(3),
    number("RESTARTS").rank(4),
    number("LOST").rank(2),
];

/// A turn that has lasted so long stands out.
const LONG_NS: u64 = 1_000_000_000;

impl View {
    /// `before` is the answer before this one, for what happened since.
    pub(crate) fn new(answer: &Answer, before: Option<&Answer>, by: By, most: u16) -> Self {
        let seconds = answer.since_ns as f64 / 1e9;
        let tree = answer.tree();
        let mut actors = answer.all_actors(by);
        // As many as were asked for of each process are here.
        actors.truncate(most.into());
        let has_named = actors.iter().any(|(actor, _)| actor.name.is_some());
        let processes = match tree.len() {
            1 => Vec::new(),
            _ => tree
                .iter()
                .map(|node| process_row(node, before, seconds))
                .collect(),
        };
        let homes = answer.homes.iter().map(|home| {
            let before = before.and_then(|before| {
                let mut homes = before.homes.iter();
                homes.find(|before| before.number == home.number)
            });
            home_row(home, before, seconds)
        });
        let sorted = match by {
            By::Turn => 3,
            By::Queued => 4,
            By::Handled => 6,
            By::Time => 8,
            By::Longest => 9,
            By::Restarts => 10,
            By::Lost => 11,
        };
        View {
            program: format!("{} ({})", printable(&answer.program), answer.pid),
            processes: Table {
                columns: PROCESSES,
                rows: processes,
                sorted: None,
            },
            homes: Table {
                columns: HOMES,
                rows: homes.collect(),
                sorted: None,
            },
            actors: Table {
                columns: ACTORS,
                rows: actors
                    .iter()
                    .map(|(actor, node)| actor_row(actor, node, has_named))
                    .collect(),
                sorted: Some(sorted),
            },
            observed: (tree.iter().filter_map(|node| node.answer))
                .map(|answer| answer.actors_matching.unwrap_or(answer.actors_observed))
                .fold(0, u64::saturating_add),
            note: note(answer),
            warnings: (answer.homes.iter())
                .flat_map(|home| warning(home).into_iter().chain(left_behind(home)))
                .chain(tree.iter().filter_map(silent))
                .chain(tree.iter().filter_map(not_by_memory))
                .collect(),
        }
    }
}

fn note(answer: &Answer) -> Option<&'static str> {
    if answer.homes.is_empty() && answer.processes.is_empty() {
        Some("The program has no pool at this time.")
    } else if answer.processes.is_empty() && answer.homes.iter().all(|home| home.actors.is_none()) {
        Some(
            "Actors are not observed: call observe::serve() before the pools are made, or build them with .observe(true).",
        )
    } else if answer.all_actors(By::Queued).is_empty() && answer.actors_observed != 0 {
        Some("No actor has such a name or type.")
    } else if answer.all_actors(By::Queued).is_empty() {
        Some("There are no actors at this time.")
    } else {
        None
    }
}

/// A pool all of whose threads are kept by one turn each has none left for the others.
fn warning(home: &Home) -> Option<String> {
    let threads = home.threads.saturating_add(home.stand_ins);
    let stuck = home.actors.as_ref()?.in_long_turn;
    (threads != 0 && stuck >= threads).then(|| {
        let name = printable(&home.name);
        let keeps = match threads {
            1 => "its only thread is in a long turn".to_owned(),
            _ => format!("all its {threads} threads are in one long turn each"),
        };
        format!("{name}: {keeps}, and no other actor gets one: sort by turn to see which they are")
    })
}

/// Threads that hang in handlers of actors that have been replaced since.
fn left_behind(home: &Home) -> Option<String> {
    let name = printable(&home.name);
    match home.left_behind {
        0 => None,
        1 => Some(format!(
            "{name}: a thread was left behind by an actor that was replaced: its handler has not come back"
        )),
        threads => Some(format!(
            "{name}: {threads} threads were left behind by actors that were replaced: their handlers have not come back"
        )),
    }
}

/// A process that has not said for a while what it does.
fn silent(node: &Node<'_>) -> Option<String> {
    let process = node.process?;
    (process.age_ns >= LONG_NS).then(|| {
        format!(
            "{}: the process has said nothing for {}: what is shown of its actors is as old",
            printable(&process.name),
            time(process.age_ns)
        )
    })
}

/// A process whose messages take longer than they would through shared memory.
fn not_by_memory(node: &Node<'_>) -> Option<String> {
    let process = node.process?;
    let why = process.carrier_refused.as_ref()?;
    Some(format!(
        "{}: messages to this process go through a {}: {}",
        printable(&process.name),
        printable(process.carrier.as_deref().unwrap_or("socket")),
        printable(why)
    ))
}

/// One word for what carries messages to a process.
fn carrier(carrier: &str) -> Value {
    match carrier {
        "shared memory" => plain("memory".to_owned()),
        other => notable(printable(other)),
    }
}

fn process_row(node: &Node<'_>, before: Option<&Answer>, seconds: f64) -> Vec<Value> {
    let last = node.pid().and_then(|pid| before?.process(pid));
    let name = match (node.process, node.answer) {
        (Some(process), _) => printable(&process.name),
        (None, Some(answer)) => printable(&answer.program),
        (None, None) => String::new(),
    };
    let cpu = last.as_ref().filter(|_| seconds > 0.0).and_then(|last| {
        let nanos = node.cpu_ns()?.saturating_sub(last.cpu_ns()?);
        Some(nanos as f64 / (seconds * 1e9) * 100.0)
    });
    // A worker has figures of its own since its last answer.
    let since = node
        .answer
        .map_or(0.0, |answer| answer.since_ns as f64 / 1e9);
    let handled = last.filter(|last| since > 0.0 && last.answer.is_some());
    let totals = || {
        let homes = node.answer.into_iter().flat_map(|answer| &answer.homes);
        homes.filter_map(|home| home.actors.as_ref())
    };
    let queued = match node.process {
        Some(process) => process.queued,
        None => totals().fold(0, |sum: u64, totals| sum.saturating_add(totals.queued)),
    };
    let lost = totals().fold(0, |sum: u64, totals| sum.saturating_add(totals.lost));
    let living = totals().fold(0, |sum: u64, totals| sum.saturating_add(totals.living));
    vec![
        plain(format!("{}{name}", node.branch)),
        node.pid()
            .map_or_else(unknown, |pid| plain(pid.to_string())),
        (node.process)
            .and_then(|process| process.carrier.as_deref())
            .map_or_else(unknown, carrier),
        (node.process).map_or_else(unknown, |process| pile(process.restarts, Weight::Notable)),
        node.memory()
            .map_or_else(unknown, |bytes| plain(memory(bytes))),
        cpu.map_or_else(unknown, |share| match share {
            0.0 => faint("0 %"),
            share => plain(format!("{share:.1} %")),
        }),
        pile(queued, Weight::Notable),
        handled.map_or_else(unknown, |last| {
            per_second(node.handled().saturating_sub(last.handled()), since)
        }),
        match node.answer {
            Some(_) => plain(count(living)),
            None => unknown(),
        },
        match node.answer {
            Some(_) => pile(lost, Weight::Alarming),
            None => unknown(),
        },
    ]
}

fn home_row(home: &Home, before: Option<&Home>, seconds: f64) -> Vec<Value> {
    let rate = |of: fn(&Home) -> u64| {
        let before = before.filter(|_| seconds > 0.0);
        before.map_or_else(unknown, |before| {
            per_second(of(home).saturating_sub(of(before)), seconds)
        })
    };
    let threads = home.threads.saturating_add(home.stand_ins);
    let handled = |home: &Home| home.actors.as_ref().map_or(0, |totals| totals.handled);
    let mut row = vec![
        word(&home.name),
        match home.stand_ins {
            0 => plain(home.threads.to_string()),
            stand_ins => notable(format!("{}+{stand_ins}", home.threads)),
        },
        plain(threads.saturating_sub(home.idle_threads).to_string()),
        pile(home.due, Weight::Plain),
        rate(|home| home.turns),
        rate(|home| home.steals),
        rate(|home| home.sleeps),
        rate(|home| home.entered),
        pile(home.blocking_asks, Weight::Notable),
    ];
    match &home.actors {
        None => row.extend(std::iter::repeat_with(unknown).take(5)),
        Some(totals) => row.extend([
            plain(count(totals.living)),
            rate(handled),
            pile(totals.queued, Weight::Plain),
            pile(totals.restarts, Weight::Notable),
            pile(totals.lost, Weight::Alarming),
        ]),
    }
    row
}

fn actor_row(actor: &Actor, node: &Node<'_>, has_named: bool) -> Vec<Value> {
    let seconds = node
        .answer
        .map_or(0.0, |answer| answer.since_ns as f64 / 1e9);
    let home = match (node.process, node.pid()) {
        // The numbers of actors are those of their process.
        (Some(process), Some(pid)) => format!("{}[{pid}] {}", process.name, actor.home),
        _ => actor.home.clone(),
    };
    let since = |count: Option<u64>| count.filter(|_| seconds > 0.0);
    let type_name = short(&actor.type_name);
    let called = match &actor.name {
        Some(name) if has_named => word(&format!("{name} ({type_name})")),
        _ => word(&type_name),
    };
    // A turn counts whole in the time in which it has ended, also if it began before that.
    let share = |nanos: u64| (nanos as f64 / (seconds * 1e9) * 100.0).min(100.0);
    vec![
        plain(format!("#{}", actor.id)),
        called,
        match actor.may_block {
            false => word(&home),
            true => word(&format!("{home} (blocking)")),
        },
        match actor.at_work_ns {
            None => faint("-"),
            Some(nanos) if nanos >= LONG_NS && !actor.may_block => Value {
                text: time(nanos),
                weight: Weight::Alarming,
            },
            Some(nanos) => plain(time(nanos)),
        },
        pile(actor.queued, Weight::Notable),
        pile(actor.most_queued, Weight::Plain),
        since(actor.handled_since).map_or_else(unknown, |handled| per_second(handled, seconds)),
        pile(actor.handled, Weight::Plain),
        since(actor.turn_ns_since).map_or_else(unknown, |nanos| match share(nanos) {
            0.0 => faint("0 %"),
            share => plain(format!("{share:.1} %")),
        }),
        plain(time(actor.longest_ns)),
        pile(actor.restarts, Weight::Notable),
        pile(actor.lost, Weight::Alarming),
    ]
}

fn plain(text: String) -> Value {
    Value {
        text,
        weight: Weight::Plain,
    }
}

fn notable(text: String) -> Value {
    Value {
        text,
        weight: Weight::Notable,
    }
}

fn faint(text: &str) -> Value {
    Value {
        text: text.to_owned(),
        weight: Weight::Faint,
    }
}

fn unknown() -> Value {
    faint("-")
}

/// A word of the program's.
fn word(text: &str) -> Value {
    plain(printable(text))
}

/// A count that is best 0.
fn pile(value: u64, weight: Weight) -> Value {
    match value {
        0 => faint("0"),
        value => Value {
            text: count(value),
            weight,
        },
    }
}

fn per_second(since: u64, seconds: f64) -> Value {
    match since as f64 / seconds {
        0.0 => faint("0"),
        rate if rate < 10.0 => plain(format!("{rate:.1}")),
        rate => plain(count(rate.round() as u64)),
    }
}

/// `12345`, `123 k`, `1.23 M`: six letters or so.
pub(crate) fn count(value: u64) -> String {
    scaled(
        value as f64,
        100_000.0,
        &[" k", " M", " G", " T", " P", " E"],
    )
    .unwrap_or_else(|| value.to_string())
}

fn scaled(value: f64, from: f64, units: &[&str]) -> Option<String> {
    if value < from {
        return None;
    }
    let mut value = value;
    for (place, unit) in units.iter().enumerate() {
        value /= 1_000.0;
        if value < 999.5 || place + 1 == units.len() {
            let digits = usize::from(value < 99.95) + usize::from(value < 9.995);
            return Some(format!("{value:.digits$}{unit}"));
        }
    }
    None
}

/// `812 B`, `12.3 MB`.
fn memory(bytes: u64) -> String {
    scaled(
        bytes as f64,
        1_000.0,
        &[" kB", " MB", " GB", " TB", " PB", " EB"],
    )
    .unwrap_or_else(|| format!("{bytes} B"))
}

/// `850 ns`, `12.3 µs`, `1.23 s`, `3 min 20 s`, `5 h 3 min`.
pub(crate) fn time(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0..60 => scaled(nanos as f64, 1_000.0, &[" µs", " ms", " s"])
            .unwrap_or_else(|| format!("{nanos} ns")),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, memory, time};

    #[test]
    fn counts_are_short() {
        let shown = [0, 99_999, 100_000, 999_499, 999_999, 1_234_567, u64::MAX].map(count);
        assert_eq!(
            shown,
            ["0", "99999", "100 k", "999 k", "1.00 M", "1.23 M", "18.4 E"]
        );
    }

    #[test]
    fn memory_has_units_that_people_use() {
        assert_eq!([812, 12_345_678].map(memory), ["812 B", "12.3 MB"]);
    }

    #[test]
    fn times_have_units_that_people_use() {
        let shown = [
            0,
            999,
            1_000,
            123_456,
            999_999,
            1_234_567_890,
            200_000_000_000,
            20_000_000_000_000,
        ]
        .map(time);
        assert_eq!(
            shown,
            [
                "0 ns",
                "999 ns",
                "1.00 µs",
                "123 µs",
                "1.00 ms",
                "1.23 s",
                "3 min 20 s",
                "5 h 33 min"
            ]
        );
    }
}
