//! What is said for people, cut to the room that there is for it.

use std::borrow::Cow;

use tamtam_actor::link::{FarEnd, FarFailure};

use crate::bytes::LONGEST_NUMBER;

/// Stands for what was cut off.
const MORE: &str = "…";

/// As many characters of a text as have room in so many bytes.
pub(super) fn beginning(text: &str, room: usize) -> &str {
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text in so many bytes at most, which shows whether something was cut off.
pub(crate) fn cut_text(text: &str, room: usize) -> Cow<'_, str> {
    if text.len() <= room {
        return text.into();
    }
    let kept = beginning(text, room.saturating_sub(MORE.len()));
    format!("{kept}{MORE}").into()
}

pub(super) fn cut_failure(failure: &FarFailure, room: usize) -> FarFailure {
    let cut = |text: &String| cut_text(text, room).into_owned();
    match failure {
        FarFailure::Panicked(name, message) => {
            let name = name.as_deref().map(|name| cut_text(name, room / 4));
            let room = room - room / 4;
            FarFailure::Panicked(
                name.map(Cow::into_owned),
                cut_text(message, room).into_owned(),
            )
        }
        FarFailure::NotDecodable(fate, text) => FarFailure::NotDecodable(*fate, cut(text)),
        FarFailure::NotEncodable(fate, text) => FarFailure::NotEncodable(*fate, cut(text)),
        FarFailure::TooLarge(fate, text) => FarFailure::TooLarge(*fate, cut(text)),
        FarFailure::Other(fate, text) => FarFailure::Other(*fate, cut(text)),
        FarFailure::Refused(reason) => FarFailure::Refused(cut(reason)),
        other => other.clone(),
    }
}

/// Of the actors of a chain of links the nearest are named that have room in half of it, and one at least.
pub(super) fn cut_end(end: &FarEnd, room: usize) -> FarEnd {
    let cut = |text: &String| cut_text(text, room).into_owned();
    match end {
        FarEnd::Panicked(text) => FarEnd::Panicked(cut(text)),
        FarEnd::GaveUp(restarts, text) => FarEnd::GaveUp(*restarts, cut(text)),
        FarEnd::LinkLost(text) => FarEnd::LinkLost(cut(text)),
        FarEnd::Linked(names, end) => {
            let mut left = room / 2;
            let mut cut = Vec::new();
            for name in names {
                if !cut.is_empty() && left <= LONGEST_NUMBER {
                    break;
                }
                let room = left.saturating_sub(LONGEST_NUMBER);
                let name = name
                    .as_deref()
                    .map(|name| cut_text(name, room).into_owned());
                let length = name.as_ref().map_or(0, String::len);
                left = left.saturating_sub(length + LONGEST_NUMBER);
                cut.push(name);
            }
            FarEnd::Linked(cut, Box::new(cut_end(end, room / 2)))
        }
        other => other.clone(),
    }
}
