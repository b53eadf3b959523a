//! Why there is no answer, and why an actor has ended, byte by byte.

use tamtam_actor::link::{FarEnd, FarFailure};
use tamtam_actor::{Fate, ProcessEnd};

use crate::bytes::{Input, Result, put_number, put_text};
use crate::error::LinkEnd;

pub(super) fn put_failure(failure: &FarFailure, bytes: &mut Vec<u8>) {
    match failure {
        FarFailure::Unanswered => bytes.push(0),
        FarFailure::Stopped => bytes.push(1),
        FarFailure::Full => bytes.push(2),
        FarFailure::Hung => bytes.push(3),
        FarFailure::Panicked(name, message) => {
            bytes.push(4);
            put_text(name.as_deref().unwrap_or_default(), bytes);
            put_text(message, bytes);
        }
        FarFailure::NotDecodable(fate, text) => put_fate(5, *fate, text, bytes),
        FarFailure::NotEncodable(fate, text) => put_fate(6, *fate, text, bytes),
        FarFailure::TooLarge(fate, text) => put_fate(7, *fate, text, bytes),
        FarFailure::Other(fate, text) => put_fate(8, *fate, text, bytes),
        FarFailure::ProcessEnded(end) => put_process_end(9, *end, bytes),
        FarFailure::Refused(reason) => put_said(11, reason, bytes),
        FarFailure::Dropped => bytes.push(12),
        // A kind that this version does not have.
        other => put_fate(8, Fate::Unknown, &format!("{other:?}"), bytes),
    }
}

/// No signal has this number: how the process has ended is not known.
const NO_SIGNAL: i32 = 0;
/// Nor this: it was killed, for it did not come back from a message.
const HUNG: i32 = -1;

/// Two kinds: by itself, and by a signal.
fn put_process_end(kind: u8, end: ProcessEnd, bytes: &mut Vec<u8>) {
    let (kind, number) = match end {
        ProcessEnd::Exited(code) => (kind, code),
        ProcessEnd::Killed(signal) => (kind + 1, signal),
        ProcessEnd::Hung => (kind + 1, HUNG),
        ProcessEnd::Unknown => (kind + 1, NO_SIGNAL),
    };
    bytes.push(kind);
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn read_process_end(is_killed: bool, input: &mut Input<'_>) -> Result<ProcessEnd> {
    let what = "how a process has ended";
    let Some(number) = input.take(4, what)?.first_chunk() else {
        unreachable!("four bytes were taken");
    };
    let number = i32::from_le_bytes(*number);
    Ok(match (is_killed, number) {
        (true, NO_SIGNAL) => ProcessEnd::Unknown,
        (true, HUNG) => ProcessEnd::Hung,
        (true, signal) => ProcessEnd::Killed(signal),
        (false, code) => ProcessEnd::Exited(code),
    })
}

fn put_said(kind: u8, text: &str, bytes: &mut Vec<u8>) {
    bytes.push(kind);
    put_text(text, bytes);
}

fn put_fate(kind: u8, fate: Fate, text: &str, bytes: &mut Vec<u8>) {
    let fate = match fate {
        Fate::NotBegun => 0,
        Fate::Begun => 1,
        Fate::Unknown => 2,
    };
    bytes.extend_from_slice(&[kind, fate]);
    put_text(text, bytes);
}

fn read_fate(input: &mut Input<'_>) -> Result<Fate> {
    Ok(match input.byte("how far a question had got")? {
        0 => Fate::NotBegun,
        1 => Fate::Begun,
        2 => Fate::Unknown,
        other => {
            return Err(LinkEnd::protocol(format!(
                "{other} does not say how far a question had got"
            )));
        }
    })
}

pub(super) fn read_failure(input: &mut Input<'_>) -> Result<FarFailure> {
    Ok(match input.byte("why there is no answer")? {
        0 => FarFailure::Unanswered,
        1 => FarFailure::Stopped,
        2 => FarFailure::Full,
        3 => FarFailure::Hung,
        4 => {
            let name = input.text("the name of an actor")?;
            let message = input.text("what a panic said")?;
            FarFailure::Panicked(
                (!name.is_empty()).then(|| name.to_owned()),
                message.to_owned(),
            )
        }
        kind @ 5..=8 => {
            let fate = read_fate(input)?;
            let text = input.text("what was said")?.to_owned();
            match kind {
                5 => FarFailure::NotDecodable(fate, text),
                6 => FarFailure::NotEncodable(fate, text),
                7 => FarFailure::TooLarge(fate, text),
                _ => FarFailure::Other(fate, text),
            }
        }
        kind @ (9 | 10) => FarFailure::ProcessEnded(read_process_end(kind == 10, input)?),
        11 => FarFailure::Refused(input.text("why a question is refused")?.to_owned()),
        12 => FarFailure::Dropped,
        other => {
            return Err(LinkEnd::protocol(format!(
                "{other} does not say why there is no answer"
            )));
        }
    })
}

pub(super) fn put_end(end: &FarEnd, bytes: &mut Vec<u8>) {
    match end {
        FarEnd::Stopped => bytes.push(0),
        FarEnd::NoAddresses => bytes.push(1),
        FarEnd::HomeEnded => bytes.push(2),
        FarEnd::Panicked(text) => put_said(3, text, bytes),
        FarEnd::GaveUp(restarts, text) => {
            bytes.push(4);
            put_number((*restarts).into(), bytes);
            put_text(text, bytes);
        }
        FarEnd::Linked(names, end) => {
            bytes.push(5);
            put_number(names.len() as u64, bytes);
            for name in names {
                put_text(name.as_deref().unwrap_or_default(), bytes);
            }
            put_end(end, bytes);
        }
        FarEnd::LinkLost(text) => put_said(6, text, bytes),
        FarEnd::ProcessEnded(end) => put_process_end(7, *end, bytes),
        // A kind that this version does not have.
        other => put_said(3, &format!("{other:?}"), bytes),
    }
}

pub(super) fn read_end(input: &mut Input<'_>) -> Result<FarEnd> {
    let what = "why an actor has ended";
    match input.byte(what)? {
        5 => {
            let count = input.count(1, "the actors that it was linked with")?;
            if count == 0 || count > FarEnd::MOST_LINKED as u64 {
                return Err(LinkEnd::protocol(format!(
                    "it names {count} actors with which one was linked; those are 1 to {}",
                    FarEnd::MOST_LINKED
                )));
            }
            let name = |_| {
                let name = input.text("the name of one that it was linked with")?;
                Ok((!name.is_empty()).then(|| name.to_owned()))
            };
            let names = (0..count).map(name).collect::<Result<_>>()?;
            let kind = input.byte(what)?;
            Ok(FarEnd::Linked(names, Box::new(read_own_end(kind, input)?)))
        }
        kind => read_own_end(kind, input),
    }
}

/// Why an actor has ended, if not for one that it was linked with.
fn read_own_end(kind: u8, input: &mut Input<'_>) -> Result<FarEnd> {
    Ok(match kind {
        0 => FarEnd::Stopped,
        1 => FarEnd::NoAddresses,
        2 => FarEnd::HomeEnded,
        3 => FarEnd::Panicked(input.text("what a panic said")?.to_owned()),
        4 => {
            let restarts = input.number("a number of restarts")?;
            let restarts = u32::try_from(restarts)
                .map_err(|_| LinkEnd::protocol(format!("{restarts} restarts are too many")))?;
            FarEnd::GaveUp(restarts, input.text("what a panic said")?.to_owned())
        }
        6 => FarEnd::LinkLost(input.text("how a link was lost")?.to_owned()),
        kind @ (7 | 8) => FarEnd::ProcessEnded(read_process_end(kind == 8, input)?),
        other => {
            return Err(LinkEnd::protocol(format!(
                "{other} does not say why an actor has ended"
            )));
        }
    })
}
