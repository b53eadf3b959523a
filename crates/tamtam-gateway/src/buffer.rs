//! Where an answer is written: with the room that answers take.

use std::cell::Cell;

/// Bytes that an answer has room for where no other has been: most have more than a few.
const USUAL_BYTES: usize = 4 << 10;

/// No more room is given to an answer that has not shown that it needs it.
const MOST_BYTES: usize = 256 << 10;

thread_local! {
    /// The bytes of the longest of the last answers of this thread.
    static RECENT: Cell<usize> = const { Cell::new(USUAL_BYTES) };
}

/// Nothing, with room for an answer as long as those before it, and an eighth more. One that outgrows its room is copied to another
/// place, and for a while has twice the cache lines: to call upon call of some 5 KB that was a third of all that they touched.
pub(crate) fn begin() -> Vec<u8> {
    Vec::with_capacity(room())
}

/// The same for an answer that is written as a text.
pub(crate) fn begin_text() -> String {
    String::with_capacity(room())
}

/// Has room for such an answer in what was begun without, since it may wait long for what is to be written.
pub(crate) fn make_room(answer: &mut Vec<u8>) {
    answer.reserve(missing_room(answer.len()));
}

/// Bytes that such an answer takes behind so many that are written already.
pub(crate) fn missing_room(written: usize) -> usize {
    room().saturating_sub(written)
}

/// Bytes that the next answer has room for.
fn room() -> usize {
    let recent = RECENT.get();
    recent.saturating_add(recent / 8).min(MOST_BYTES)
}

/// A whole answer, with hardly more room than it takes: it may wait for its client for long.
pub(crate) fn finish(mut answer: Vec<u8>) -> Vec<u8> {
    let (length, recent) = (answer.len(), RECENT.get());
    RECENT.set(length.max(recent - recent / 16));
    if answer.capacity() > length + length / 2 + USUAL_BYTES / 4 {
        answer.shrink_to_fit();
    }
    answer
}

/// Gives back most of the room that a long answer does not take, while that keeps no one waiting who serves sockets; a little is left for
/// its end.
pub(crate) fn give_back_room(answer: &mut Vec<u8>) {
    answer.shrink_to(answer.len() + answer.len() / 8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(length: usize) -> Vec<u8> {
        let mut answer = begin();
        answer.resize(length, b' ');
        finish(answer)
    }

    #[test]
    fn an_answer_as_long_as_the_one_before_stays_in_its_place() {
        answer(20_000);
        let next = begin();
        assert!((20_000..25_000).contains(&next.capacity()));
    }

    #[test]
    fn a_short_answer_behind_a_long_one_keeps_no_more_room_than_it_takes() {
        answer(100_000);
        let short = answer(10);
        assert!(short.capacity() < USUAL_BYTES, "{}", short.capacity());
    }

    #[test]
    fn long_answers_are_forgotten_and_the_room_has_a_limit() {
        answer(100 << 20);
        assert_eq!(begin().capacity(), MOST_BYTES);
        (0..400).for_each(|_| drop(answer(10)));
        assert!(begin().capacity() < 100, "{}", begin().capacity());
    }
}
