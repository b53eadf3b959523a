//! What is kept of a topic or property, once for all its subscribers.
//!
//! A subscriber has no queue: it has a [`Cursor`], the number that it has been told of, and takes what is newer when it has
//! room. So one that does not read costs nothing but its cursor, and each value is kept once however many wait for it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::wish::{Lag, Policy};

/// A value in JSON and, where that was asked for, packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) json: Bytes,
    /// Packed rows, if a subscriber has asked for them.
    pub(crate) packed: Option<Bytes>,
}

impl Encoded {
    pub(crate) fn len(&self) -> usize {
        self.json.len() + self.packed.as_ref().map_or(0, Bytes::len)
    }
}

/// The newest values, in the order of their numbers; of a topic with keys also the newest of each key.
#[derive(Debug)]
pub(crate) struct Log {
    /// The number of the newest value.
    head: u64,
    kept: VecDeque<Kept>,
    kept_bytes: usize,
    /// Bytes of all values so far.
    total: u64,
    /// The newest value that is not kept any more.
    forgotten: u64,
    keys: Option<Keys>,
    most: Most,
}

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Most {
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
    pub(crate) keys: usize,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    /// Bytes of all values up to this one.
    end: u64,
    encoded: Encoded,
}

/// The newest value of each key.
#[derive(Debug, Default)]
struct Keys {
    by_key: HashMap<Arc<str>, u64>,
    by_number: BTreeMap<u64, (Arc<str>, Encoded)>,
    bytes: usize,
}

/// How far a subscriber has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The client was told of all values up to this number: it has got them, or knows how many it has not.
    pub(crate) told: u64,
    /// Values up to this number are not to be sent.
    passed: u64,
}

/// A value for a subscriber.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    pub(crate) number: u64,
    /// So many values before it were passed over.
    pub(crate) missed: u64,
    pub(crate) encoded: Encoded,
}

/// How much of what is due has room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// About so many bytes; always one value.
    pub(crate) bytes: usize,
    /// Values, at most.
    pub(crate) values: usize,
}

/// A subscriber is farther behind than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Behind;

impl Log {
    pub(crate) fn new(has_keys: bool, most: Most) -> Log {
        Log {
            head: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
            total: 0,
            forgotten: 0,
            keys: has_keys.then(Keys::default),
            most,
        }
    }

    /// The number of the newest value; 0 if there was none.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Bytes of what is kept.
    pub(crate) fn bytes(&self) -> usize {
        self.kept_bytes + self.keys.as_ref().map_or(0, |keys| keys.bytes)
    }

    /// So many values came and are not kept: they were too large, or could not be encoded, or there was no time for them.
    pub(crate) fn skip(&mut self, values: u64) {
        self.head += values;
    }

    /// Takes a value, whose number is the next one, and forgets what is more than is to be kept.
    pub(crate) fn push(&mut self, key: Option<Arc<str>>, encoded: Encoded) {
        self.head += 1;
        let number = self.head;
        let bytes = encoded.len();
        if let (Some(keys), Some(key)) = (&mut self.keys, key) {
            keys.push(number, key, encoded.clone(), self.most);
        }
        self.total += bytes as u64;
        self.kept_bytes += bytes;
        self.kept.push_back(Kept {
            number,
            end: self.total,
            encoded,
        });
        self.forget();
    }

    /// Whether the value with this number has come; where packed rows are wanted, whether it can be had in these, too.
    pub(crate) fn has(&self, number: u64, wants_packed: bool) -> bool {
        let newest = self.kept.back().filter(|newest| newest.number == number);
        let lacks_rows = newest.is_some_and(|newest| newest.encoded.packed.is_none());
        number <= self.head && !(wants_packed && lacks_rows)
    }

    /// Puts a value in the place of the newest one, whose number it has, and which was encoded before packed rows were wanted.
    pub(crate) fn complete(&mut self, number: u64, encoded: Encoded) {
        let newest = self.kept.back_mut();
        if let Some(newest) = newest.filter(|newest| newest.number == number) {
            let (before, now) = (newest.encoded.len(), encoded.len());
            self.total = self.total - before as u64 + now as u64;
            self.kept_bytes = self.kept_bytes - before + now;
            newest.end = self.total;
            newest.encoded = encoded;
        }
        self.forget();
    }

    /// Forgets what is more than is to be kept.
    fn forget(&mut self) {
        while self.kept.len() > self.most.messages.max(1)
            || (self.kept_bytes > self.most.bytes && self.kept.len() > 1)
        {
            if let Some(oldest) = self.kept.pop_front() {
                self.kept_bytes -= oldest.encoded.len();
                self.forgotten = oldest.number;
            }
        }
    }

    /// Where a subscriber begins that wants what comes behind a number; never farther behind than it may be.
    pub(crate) fn begin(&self, after: u64, policy: Policy, lag: Lag) -> Cursor {
        let told = after.min(self.head);
        let mut cursor = Cursor { told, passed: told };
        if matches!(policy, Policy::Latest | Policy::LatestOfEachKey) {
            return cursor;
        }
        cursor.passed = told
            .max(self.forgotten)
            .max(self.oldest_within(cursor, lag));
        cursor
    }

    /// Where a subscriber begins that gets the newest value first.
    pub(crate) fn begin_with_newest(&self) -> Cursor {
        let told = self
            .kept
            .back()
            .map_or(self.head, |newest| newest.number - 1);
        Cursor { told, passed: told }
    }

    /// Whether a subscriber is farther behind than it may be.
    pub(crate) fn is_behind(&self, cursor: Cursor, lag: Lag) -> bool {
        self.forgotten > cursor.passed || self.oldest_within(cursor, lag) > cursor.passed
    }

    /// How many values came of which a client was not told.
    pub(crate) fn untold(&self, cursor: Cursor) -> u64 {
        self.head - cursor.told
    }

    /// Whether there is a value for a subscriber.
    pub(crate) fn has_more(&self, cursor: Cursor, policy: Policy) -> bool {
        let newest = match policy {
            Policy::LatestOfEachKey => {
                let keys = self.keys.as_ref();
                keys.and_then(|keys| keys.by_number.keys().next_back().copied())
            }
            _ => self.kept.back().map(|newest| newest.number),
        };
        newest.is_some_and(|newest| newest > cursor.passed)
    }

    /// How many values there are for a subscriber.
    pub(crate) fn count_due(&self, cursor: Cursor, policy: Policy) -> usize {
        match policy {
            Policy::All | Policy::Batches => self.kept.len() - self.place_behind(cursor.passed),
            Policy::Latest => usize::from(self.has_more(cursor, policy)),
            Policy::LatestOfEachKey => {
                let keys = self.keys.iter();
                keys.flat_map(|keys| keys.by_number.range(cursor.passed + 1..))
                    .count()
            }
        }
    }

    /// What is due for a subscriber, as far as there is room for it; at least one value, if there is one.
    ///
    /// # Errors
    /// If it is farther behind than it may be, and is to be told so.
    pub(crate) fn take(
        &self,
        cursor: &mut Cursor,
        policy: Policy,
        closes: Option<Lag>,
        lag: Lag,
        room: Room,
        due: &mut Vec<Due>,
    ) -> Result<(), Behind> {
        let mut left = room;
        let mut add = |number: u64, encoded: &Encoded, cursor: &mut Cursor| {
            due.push(Due {
                number,
                missed: number - cursor.told - 1,
                encoded: encoded.clone(),
            });
            *cursor = Cursor {
                told: number,
                passed: number,
            };
            left = Room {
                bytes: left.bytes.saturating_sub(encoded.len()),
                values: left.values.saturating_sub(1),
            };
            left.bytes > 0 && left.values > 0
        };
        match policy {
            Policy::All | Policy::Batches => {
                if closes.is_some_and(|lag| self.is_behind(*cursor, lag)) {
                    return Err(Behind);
                }
                cursor.passed = cursor.passed.max(self.oldest_within(*cursor, lag));
                let first = self.place_behind(cursor.passed);
                for kept in self.kept.range(first..) {
                    if !add(kept.number, &kept.encoded, cursor) {
                        break;
                    }
                }
            }
            Policy::Latest => {
                if let Some(newest) = self.kept.back()
                    && newest.number > cursor.passed
                {
                    add(newest.number, &newest.encoded, cursor);
                }
            }
            Policy::LatestOfEachKey => {
                let keys = self.keys.iter();
                let since = cursor.passed + 1;
                for (&number, (_, encoded)) in keys.flat_map(|keys| keys.by_number.range(since..)) {
                    if !add(number, encoded, cursor) {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// The place of the first value behind this number.
    fn place_behind(&self, number: u64) -> usize {
        self.kept.partition_point(|kept| kept.number <= number)
    }

    /// The number behind which a subscriber with this cursor is no farther behind than it may be. The newest value is always
    /// within.
    fn oldest_within(&self, cursor: Cursor, lag: Lag) -> u64 {
        let first = self.place_behind(cursor.passed);
        let by_count = self.kept.len().saturating_sub(lag.messages.max(1));
        let from = self.total.saturating_sub(lag.bytes as u64);
        // The first whose beginning is within so many bytes of the end.
        let by_bytes = self
            .kept
            .partition_point(|kept| kept.end - (kept.encoded.len() as u64) < from);
        let oldest = by_count
            .max(by_bytes)
            .min(self.kept.len().saturating_sub(1));
        match oldest.checked_sub(1) {
            Some(last_passed) if oldest > first => self.kept[last_passed].number,
            _ => cursor.passed,
        }
    }
}

impl Keys {
    fn push(&mut self, number: u64, key: Arc<str>, encoded: Encoded, most: Most) {
        self.bytes += encoded.len() + key.len();
        if let Some(before) = self.by_key.insert(Arc::clone(&key), number) {
            self.remove(before);
        }
        self.by_number.insert(number, (key, encoded));
        while self.by_number.len() > most.keys.max(1)
            || (self.bytes > most.bytes && self.by_number.len() > 1)
        {
            let Some(oldest) = self.by_number.keys().next().copied() else {
                break;
            };
            if let Some(key) = self.remove(oldest) {
                self.by_key.remove(&key);
            }
        }
    }

    fn remove(&mut self, number: u64) -> Option<Arc<str>> {
        let (key, encoded) = self.by_number.remove(&number)?;
        self.bytes -= encoded.len() + key.len();
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Lag = Lag {
        messages: usize::MAX,
        bytes: usize::MAX,
    };

    fn log(has_keys: bool, messages: usize, bytes: usize) -> Log {
        let most = Most {
            messages,
            bytes,
            keys: 3,
        };
        Log::new(has_keys, most)
    }

    fn value(text: &'static str) -> Encoded {
        Encoded {
            json: Bytes::from_static(text.as_bytes()),
            packed: None,
        }
    }

    /// Room for so many bytes.
    fn room(bytes: usize) -> Room {
        Room {
            bytes,
            values: usize::MAX,
        }
    }

    fn taken(log: &Log, cursor: &mut Cursor, policy: Policy, lag: Lag) -> Vec<(u64, u64)> {
        let mut due = Vec::new();
        log.take(cursor, policy, None, lag, room(usize::MAX), &mut due)
            .unwrap();
        due.iter().map(|due| (due.number, due.missed)).collect()
    }

    #[test]
    fn one_that_is_too_far_behind_gets_the_newest_and_knows_what_it_missed() {
        let mut log = log(false, 100, 1_000);
        let start = log.begin(log.head(), Policy::All, WIDE);
        for _ in 0..10 {
            log.push(None, value("12345"));
        }
        let few = Lag {
            messages: 3,
            bytes: usize::MAX,
        };
        assert_eq!(
            taken(&log, &mut start.clone(), Policy::All, few),
            [(8, 7), (9, 0), (10, 0)]
        );
        let small = Lag {
            messages: usize::MAX,
            bytes: 14,
        };
        assert_eq!(
            taken(&log, &mut start.clone(), Policy::All, small),
            [(9, 8), (10, 0)]
        );
        let none = Lag {
            messages: 0,
            bytes: 0,
        };
        assert_eq!(
            taken(&log, &mut start.clone(), Policy::All, none),
            [(10, 9)]
        );
        assert_eq!(
            taken(&log, &mut start.clone(), Policy::Latest, WIDE),
            [(10, 9)]
        );
        assert_eq!(taken(&log, &mut start.clone(), Policy::All, WIDE).len(), 10);
        let mut cursor = start;
        let closes = log.take(
            &mut cursor,
            Policy::All,
            Some(few),
            few,
            room(100),
            &mut Vec::new(),
        );
        assert_eq!((closes, log.untold(cursor)), (Err(Behind), 10));
    }

    #[test]
    fn no_more_is_kept_than_is_to_be_and_what_is_forgotten_counts_as_missed() {
        let mut log = log(false, 4, 12);
        let mut cursor = log.begin(log.head(), Policy::All, WIDE);
        for _ in 0..7 {
            log.push(None, value("12345"));
        }
        assert_eq!(log.bytes(), 10);
        assert!(log.is_behind(cursor, WIDE));
        log.skip(2);
        assert_eq!(
            taken(&log, &mut cursor, Policy::All, WIDE),
            [(6, 5), (7, 0)]
        );
        assert_eq!(log.untold(cursor), 2);
        log.push(None, value("a value that is larger than what is kept"));
        assert_eq!(taken(&log, &mut cursor, Policy::All, WIDE), [(10, 2)]);
        // One that comes back begins where it was, and is not behind by what it cannot get.
        let back = log.begin(3, Policy::All, WIDE);
        assert!(!log.is_behind(back, WIDE));
        assert_eq!(taken(&log, &mut back.clone(), Policy::All, WIDE), [(10, 6)]);
        assert_eq!(
            log.begin(99, Policy::All, WIDE),
            log.begin(log.head(), Policy::All, WIDE)
        );
    }

    #[test]
    fn of_each_key_the_newest_comes_once() {
        let mut log = log(true, 100, 1_000);
        let mut cursor = log.begin(log.head(), Policy::All, WIDE);
        for key in ["tin", "lead", "tin", "tin", "lead", "zinc"] {
            log.push(Some(key.into()), value("1"));
        }
        let newest = taken(&log, &mut cursor, Policy::LatestOfEachKey, WIDE);
        assert_eq!(newest, [(4, 3), (5, 0), (6, 0)]);
        assert_eq!(taken(&log, &mut cursor, Policy::LatestOfEachKey, WIDE), []);
        log.push(Some("gold".into()), value("1"));
        let mut from_the_first = log.begin(0, Policy::LatestOfEachKey, WIDE);
        // Three keys are kept.
        let kept = taken(&log, &mut from_the_first, Policy::LatestOfEachKey, WIDE);
        assert_eq!(kept, [(5, 4), (6, 0), (7, 0)]);
        assert_eq!(log.keys.as_ref().map(|keys| keys.by_key.len()), Some(3));
    }

    #[test]
    fn what_has_no_room_comes_the_next_time() {
        let mut log = log(true, 100, 1_000);
        let mut cursor = log.begin(log.head(), Policy::All, WIDE);
        for key in ["tin", "lead", "zinc"] {
            log.push(Some(key.into()), value("12345"));
        }
        let mut due = Vec::new();
        for policy in [Policy::All, Policy::LatestOfEachKey] {
            let mut cursor = cursor;
            due.clear();
            log.take(&mut cursor, policy, None, WIDE, room(6), &mut due)
                .unwrap();
            assert_eq!(due.len(), 2);
            assert!(log.has_more(cursor, policy));
            assert_eq!(log.count_due(cursor, policy), 1);
            let one = Room {
                bytes: usize::MAX,
                values: 1,
            };
            log.take(&mut cursor, policy, None, WIDE, one, &mut due)
                .unwrap();
            assert_eq!(due.len(), 3);
            assert!(!log.has_more(cursor, policy));
            assert_eq!(log.count_due(cursor, policy), 0);
        }
        due.clear();
        log.take(&mut cursor, Policy::All, None, WIDE, room(0), &mut due)
            .unwrap();
        assert_eq!((due.len(), cursor.told), (1, 1));
    }
}
