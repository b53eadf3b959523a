//! All rules of the source together, for a crate that is read once.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::floors::Floors;
use crate::{Graph, Sources, words};

/// Crates whose modules stand on floors: what each has to say in its table.
const WITH_FLOORS: [&str; 11] = [
    "tamtam-wait",
    "tamtam-channel",
    "tamtam-actor",
    "tamtam-rows",
    "tamtam-amf",
    "tamtam-link",
    "tamtam-process",
    "tamtam-ipc",
    "tamtam-gateway",
    "tamtam-lab",
    "tamtam-cli",
];
/// So many modules at most use each other in a circle.
const LARGEST_CIRCLE: usize = 6;

/// Names that two types of a crate have. Those of public types say the same of several kinds of channels, or of AMF0 and AMF3;
/// the others wait for better names. A list may only become shorter.
const DOUBLED: [(&str, &[&str]); 11] = [
    ("tamtam-wait", &["Condvar", "Entry", "Mutex", "Sleeper"]),
    (
        "tamtam-channel",
        &[
            "Drain",
            "IntoIter",
            "Iter",
            "Pace",
            "Permit",
            "Receiver",
            "RecvError",
            "RecvFuture",
            "RecvManyFuture",
            "RecvManyTimeoutFuture",
            "RecvStream",
            "RecvTimeoutError",
            "RecvTimeoutFuture",
            "ReserveFuture",
            "ReserveTimeoutFuture",
            "Sealed",
            "SendFuture",
            "SendSink",
            "SendTimeoutFuture",
            "Sender",
            "TryIter",
            "TryRecvError",
            "WeakSender",
        ],
    ),
    ("tamtam-actor", &["Sealed"]),
    (
        "tamtam-rows",
        &[
            "Bytes", "Cell", "Fields", "Found", "Input", "Integer", "Lanes", "Place", "Places",
            "Plan", "Reader", "Result", "Row", "Sample", "Sealed", "Seen", "Source", "Style",
            "Table", "Value", "Values",
        ],
    ),
    (
        "tamtam-amf",
        &[
            "Building",
            "Copies",
            "Decoder",
            "Encoder",
            "Event",
            "Frame",
            "Properties",
            "References",
            "Result",
            "Value",
        ],
    ),
    (
        "tamtam-lab",
        &[
            "Actor",
            "Asker",
            "Kind",
            "Message",
            "Origin",
            "Pace",
            "PolledEnd",
            "Receiving",
            "Request",
            "Samples",
            "Sender",
            "Sending",
            "Shared",
            "State",
            "Tiles",
        ],
    ),
    (
        "tamtam-cli",
        &[
            "Action", "Cell", "Choice", "Column", "Database", "Kind", "Line", "Page", "Progress",
            "State", "Table",
        ],
    ),
    ("tamtam-link", &["Ending", "State"]),
    (
        "tamtam-process",
        &["Asked", "Processes", "Reader", "Shared", "State"],
    ),
    (
        "tamtam-ipc",
        &[
            "Control", "Keeper", "Kept", "Kind", "Lock", "Nothing", "Place", "Shared", "Side",
            "State", "Taken",
        ],
    ),
    (
        "tamtam-gateway",
        &[
            "Answer",
            "Answered",
            "Asked",
            "Call",
            "Client",
            "Connection",
            "Counted",
            "Encoded",
            "Happened",
            "Head",
            "Held",
            "Kept",
            "Key",
            "Members",
            "Message",
            "Outcome",
            "Parts",
            "Place",
            "Request",
            "Seen",
            "Server",
            "Share",
            "Source",
            "State",
            "Step",
            "Taken",
            "Written",
        ],
    ),
];

/// What of the crate in `folder` breaks a rule, each with its place, and how many files were read.
///
/// # Errors
///
/// If a file is missing or is no Rust.
pub fn breaches(name: &str, folder: &Path) -> Result<(Vec<String>, usize)> {
    let sources = Sources::read(folder)?;
    let mut said: Vec<String> = words::breaches(&sources)
        .iter()
        .map(|breach| format!("crates/{name}/{breach}"))
        .collect();
    match Floors::read(&sources)? {
        None if WITH_FLOORS.contains(&name) => said.push(format!("{name} has no table of floors")),
        None => {}
        Some(floors) => {
            let found = floors.breaches(&Graph::of(&sources));
            said.extend(found.iter().map(|breach| format!("{name}: {breach}")));
            let circle = floors.largest_circle();
            if circle > LARGEST_CIRCLE {
                said.push(format!("{name} has a circle of {circle} modules"));
            }
        }
    }
    let known = DOUBLED.iter().find(|(of, _)| *of == name);
    let changed = changed_names(&sources, known.map_or(&[], |(_, known)| known));
    said.extend(changed.iter().map(|change| format!("{name}: {change}")));
    Ok((said, sources.files.len()))
}

/// Names of two types that are new, and names that are on the list and have one meaning by now.
fn changed_names(sources: &Sources, known: &[&str]) -> Vec<String> {
    let doubled = words::doubled_names(sources);
    let names: BTreeSet<&str> = doubled.keys().map(String::as_str).collect();
    let known: BTreeSet<&str> = known.iter().copied().collect();
    let new = names
        .difference(&known)
        .map(|name| format!("{name} means two things: {:?}", doubled[*name]));
    let gone = known.difference(&names).map(|name| {
        format!("{name} means one thing by now: take it off the list in xtask/src/rules.rs")
    });
    new.chain(gone).collect()
}
