//! Messages to the other side's root that are kept until they are done with there: so that they go to another process if that one
//! dies, all but the one at which it has died.

use tamtam_actor::EndReason;
use tamtam_actor::link::FarEnd;

use crate::descriptors::{Attached, Lent};
use crate::direct::DirectOutlet;
use crate::frame::{Body, Frame, ROOT};
use crate::frames::{Frames, KeptFrame, Place};
use crate::tables::GivenBack;

/// So many messages are with the other process at most, before the first of them is confirmed. It handles them one by one, and confirms
/// them in batches: there have to be enough for it to go on with meanwhile.
const MESSAGES_AHEAD: usize = 4_096;
/// And so many bytes of them, unless it is one message.
const BYTES_AHEAD: usize = 512 << 10;

/// Writes that what follows has these descriptors, which go with that.
pub(crate) fn attach(lent: &Lent, outgoing: &mut Vec<u8>, attached: &mut Vec<Attached>) {
    let start = outgoing.len();
    Frame::Descriptors(lent.number, lent.lot.len()).write(outgoing);
    attached.push(Attached {
        frame: start..outgoing.len(),
        lent: lent.clone(),
    });
}

/// What a message has beside its bytes, to be dropped without the lock.
pub(crate) struct Beside {
    lent: Option<Lent>,
    /// They are released behind it.
    _given_back: GivenBack,
}

/// The messages to the root, the oldest first, and what is to be said when all of them are written.
#[derive(Default)]
pub(crate) struct RootLog {
    kept: Frames<Beside>,
    /// So many of them are written to the process as it is now.
    written: usize,
    /// Those end here.
    end_of_written: Place,
    /// The bytes of those, and of some that were confirmed: they are freed by blocks.
    bytes_written: usize,
    /// So many were confirmed by that.
    confirmed: u64,
    /// The process as it is now has begun all messages before this place, as far as its answers tell. Of another process none are, and this is the
    /// place of the oldest message.
    begun_until: u64,
    /// The root is to stop, whichever process has it.
    is_to_stop: bool,
    /// An actor has ended with which the root is linked: its name, and why.
    ends_with: Option<(Box<str>, FarEnd)>,
    /// The root is to finish.
    finish: Word,
    /// So many addresses of it are given up.
    release: Word,
    released: u64,
}

/// What is to be said behind all messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Word {
    /// Nothing.
    #[default]
    None,
    Due,
    Said,
}

/// What a process that has died leaves of what it was sent.
pub(crate) struct Over {
    /// It was done with so many.
    pub(crate) done: u64,
    /// The bytes of the message at which it has died.
    pub(crate) begun: Option<Vec<u8>>,
    /// What those that are over had beside them.
    pub(crate) _beside: Vec<Beside>,
}

impl RootLog {
    /// Keeps a message with its descriptors, for whichever process is to have it, and with the actors of the process as it is now whose addresses are
    /// in it.
    pub(crate) fn push(&mut self, message: &Body<'_>, lent: Option<Lent>, given_back: GivenBack) {
        let beside = (lent.is_some() || !given_back.is_empty()).then_some(Beside {
            lent,
            _given_back: given_back,
        });
        self.kept.push_message(message, beside);
    }

    /// As [`push`](RootLog::push), of a message that has nothing beside it.
    pub(crate) fn push_plain(&mut self, payload: &[u8]) {
        self.kept.push_plain(payload);
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The place among all that were ever kept of the message that is pushed next.
    pub(crate) fn next_place(&self) -> u64 {
        self.kept.end()
    }

    /// A question in the message at this place was answered.
    pub(crate) fn answered(&mut self, place: u64) {
        self.begun_until = self.begun_until.max(place + 1);
    }

    /// How many messages come behind the last one of which a question was answered: as far as answers tell, those were not begun.
    pub(crate) fn behind_answers(&self) -> u64 {
        self.next_place() - self.begun_until.max(self.kept.first())
    }

    pub(crate) fn stop(&mut self) {
        self.is_to_stop = true;
    }

    pub(crate) fn is_to_stop(&self) -> bool {
        self.is_to_stop
    }

    /// The root is to end as one that is linked with an actor of this name, which has ended so. The first of them counts.
    pub(crate) fn end_with(&mut self, name: &str, end: &FarEnd) {
        self.ends_with
            .get_or_insert_with(|| (name.into(), end.clone()));
    }

    pub(crate) fn ends_with(&self) -> Option<&(Box<str>, FarEnd)> {
        self.ends_with.as_ref()
    }

    pub(crate) fn finish(&mut self) {
        if self.finish == Word::None {
            self.finish = Word::Due;
        }
    }

    pub(crate) fn release(&mut self, times: u64) {
        if self.release == Word::None {
            self.release = Word::Due;
            self.released = times;
        }
    }

    /// Whether the root was told to end, at once or behind what it has been sent.
    pub(crate) fn is_told_to_end(&self) -> bool {
        self.is_to_stop || self.finish != Word::None || self.release != Word::None
    }

    /// Why the root would end at once in another process, if it would: it was told to, and nothing is left that it was sent before that.
    pub(crate) fn end_at_once(&self) -> Option<EndReason> {
        match self {
            log if log.is_to_stop => Some(EndReason::Stopped),
            log if log.len() > 0 => None,
            log if log.finish != Word::None => Some(EndReason::Stopped),
            log => (log.release != Word::None).then_some(EndReason::NoAddresses),
        }
    }

    /// The descriptors of the next message to be written.
    fn next_lent(&self) -> Option<&Lent> {
        self.kept.beside(self.written)?.lent.as_ref()
    }

    fn may_write_message(&self) -> bool {
        self.written < self.kept.len()
            && (self.written == 0
                || (self.written < MESSAGES_AHEAD && self.bytes_written < BYTES_AHEAD))
    }

    /// Whether there is something that may be written now.
    pub(crate) fn may_write(&self) -> bool {
        let has_words = self.finish == Word::Due || self.release == Word::Due;
        self.may_write_message() || (has_words && self.written == self.kept.len())
    }

    /// Writes what may be written now.
    pub(crate) fn write(&mut self, outgoing: &mut Vec<u8>, attached: &mut Vec<Attached>) {
        while self.may_write_message() {
            let Some(frame) = self.kept.next(&mut self.end_of_written) else {
                unreachable!("there are more than are written");
            };
            if let Some(lent) = self.next_lent() {
                attach(lent, outgoing, attached);
            }
            outgoing.extend_from_slice(frame);
            self.written += 1;
            self.bytes_written += frame.len();
        }
        if self.written < self.kept.len() {
            return;
        }
        if self.finish == Word::Due {
            self.finish = Word::Said;
            Frame::Finish(ROOT).write(outgoing);
        }
        if self.release == Word::Due {
            self.release = Word::Said;
            Frame::Release(ROOT, self.released).write(outgoing);
        }
    }

    /// Writes messages that may be written now to what takes them from a sender, as far as they have room there, and nothing goes beside them. How
    /// many those are.
    pub(crate) fn write_directly(&mut self, direct: &mut dyn DirectOutlet) -> usize {
        let before = self.written;
        while self.may_write_message() {
            let end_before = self.end_of_written;
            let Some(frame) = self.kept.next(&mut self.end_of_written) else {
                unreachable!("there are more than are written");
            };
            if self.next_lent().is_some() || !direct.put(frame) {
                self.end_of_written = end_before;
                break;
            }
            self.written += 1;
            self.bytes_written += frame.len();
        }
        self.written - before
    }

    /// So many messages are done with, the oldest first. What they had beside them is for the caller to drop, without a lock.
    ///
    /// # Errors
    ///
    /// If so many were not written: how many were.
    pub(crate) fn confirm(&mut self, count: u64) -> Result<Vec<Beside>, u64> {
        if count > self.written as u64 {
            return Err(self.written as u64);
        }
        self.confirmed += count;
        self.written -= count as usize;
        let mut beside = Vec::new();
        self.bytes_written -= self.kept.discard(count as usize, &mut beside);
        Ok(beside)
    }

    /// How many of those that are kept were written to the process as it is now.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// The process has died, and another one comes: of what was written nothing is.
    pub(crate) fn begin_again(&mut self) {
        self.kept.find_start();
        self.written = 0;
        self.end_of_written = Place::default();
        self.bytes_written = self.kept.unfreed();
        self.confirmed = 0;
        self.begun_until = self.kept.first();
        for word in [&mut self.finish, &mut self.release] {
            if *word == Word::Said {
                *word = Word::Due;
            }
        }
    }

    /// The process has died that was done with so many messages, counted from its beginning, and had begun so many. What is over by
    /// that; figures that cannot be, from a process that writes what it likes, are taken for the nearest that can.
    pub(crate) fn take_over(&mut self, done: u64, begun: u64) -> Over {
        let done = done.saturating_sub(self.confirmed).min(self.written as u64);
        let begun = begun
            .saturating_sub(self.confirmed)
            .min(self.written as u64);
        let confirmed = self.confirm(done);
        debug_assert!(confirmed.is_ok(), "no more than were written");
        let mut over = Over {
            done,
            begun: None,
            _beside: confirmed.unwrap_or_default(),
        };
        self.kept.find_start();
        if begun > done {
            let message = self.kept.front().and_then(KeptFrame::message);
            over.begun = message.map(|message| message.payload.to_vec());
            self.kept.discard(1, &mut over._beside);
        }
        over
    }

    /// All messages, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Body<'_>> {
        self.kept.iter().filter_map(KeptFrame::message)
    }

    /// The descriptors of all messages.
    pub(crate) fn lent(&self) -> impl Iterator<Item = &Lent> {
        self.kept
            .all_beside()
            .filter_map(|beside| beside.lent.as_ref())
    }

    /// All there is, for the end.
    pub(crate) fn take(&mut self) -> Self {
        self.kept.find_start();
        std::mem::take(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_those_with_which_the_root_ends_counts_for_each_process() {
        let mut log = RootLog::default();
        let first = FarEnd::Panicked("one".to_owned());
        log.end_with("one", &first);
        log.end_with("other", &FarEnd::Panicked("other".to_owned()));
        log.begin_again();
        assert_eq!(log.ends_with(), Some(&("one".into(), first)));
    }

    #[test]
    fn what_an_answer_came_to_counts_as_begun_until_another_process_begins_it() {
        let mut log = RootLog::default();
        let places: Vec<_> = (0..4)
            .map(|_| {
                let place = log.next_place();
                push(&mut log, 1);
                place
            })
            .collect();
        assert_eq!(log.behind_answers(), 4);
        log.write(&mut Vec::new(), &mut Vec::new());
        log.answered(places[1]);
        assert_eq!((log.behind_answers(), log.len()), (2, 4));
        // An answer to what was begun before says nothing new.
        log.answered(places[0]);
        assert_eq!(log.behind_answers(), 2);
        assert!(log.confirm(1).is_ok());
        assert_eq!((log.behind_answers(), log.len()), (2, 3));
        assert!(log.confirm(2).is_ok());
        assert_eq!((log.behind_answers(), log.len()), (1, 1));
        log.answered(places[3]);
        assert_eq!((log.behind_answers(), log.len()), (0, 1));
        // The process has died before it began that: the next one is to do so.
        log.take_over(3, 3);
        log.begin_again();
        assert_eq!((log.behind_answers(), log.len()), (1, 1));
        log.write(&mut Vec::new(), &mut Vec::new());
        log.take_over(0, 1);
        assert_eq!((log.behind_answers(), log.len()), (0, 0));
        push(&mut log, 1);
        assert_eq!((log.next_place(), log.behind_answers()), (5, 1));
    }

    #[test]
    fn a_root_that_is_told_to_end_does_so_when_nothing_is_left() {
        type Word = fn(&mut RootLog);
        let words: [(Word, EndReason); 2] = [
            (RootLog::finish, EndReason::Stopped),
            (|log| log.release(1), EndReason::NoAddresses),
        ];
        for (word, reason) in words {
            let mut log = RootLog::default();
            push(&mut log, 1);
            assert!(!log.is_told_to_end());
            word(&mut log);
            assert!(log.is_told_to_end());
            assert_eq!(log.end_at_once(), None);
            log.write(&mut Vec::new(), &mut Vec::new());
            assert!(log.confirm(1).is_ok());
            assert_eq!(log.end_at_once(), Some(reason));
            log.begin_again();
            assert!(log.is_told_to_end());
            push(&mut log, 1);
            log.stop();
            assert_eq!(log.end_at_once(), Some(EndReason::Stopped));
        }
    }

    fn push(log: &mut RootLog, bytes: usize) {
        log.push(&Body::plain(&vec![0; bytes]), None, GivenBack::new());
    }

    #[test]
    fn no_more_is_ahead_than_fits_and_one_always_is() {
        let mut log = RootLog::default();
        let mut bytes = Vec::new();
        for size in [BYTES_AHEAD * 2, 10, 10] {
            push(&mut log, size);
        }
        log.finish();
        let mut attached = Vec::new();
        log.write(&mut bytes, &mut attached);
        assert_eq!(log.written, 1);
        assert!(!log.may_write());
        assert_eq!(log.confirm(2).err(), Some(1));
        assert!(log.confirm(1).is_ok_and(|lent| lent.is_empty()));
        assert!(log.may_write());
        log.write(&mut bytes, &mut attached);
        assert_eq!(log.written, 2);
        assert!((20..100).contains(&log.bytes_written));
        // What was to be said behind the messages was said once.
        assert!(!log.may_write());
        log.begin_again();
        log.write(&mut bytes, &mut attached);
        assert_eq!(log.written, 2);
        for _ in 0..2 * MESSAGES_AHEAD {
            push(&mut log, 1);
        }
        log.write(&mut bytes, &mut attached);
        assert_eq!(log.written, MESSAGES_AHEAD);
    }
}
