//! The first rows of a table that comes part by part, or is large, kept to be looked at when it has gone.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tamtam_rows::Rows;

/// The first rows of a table that comes part by part, or is large, and how much of it there was.
#[derive(Debug, Default)]
pub(crate) struct StreamHead {
    kept: Mutex<Kept>,
    rows: AtomicU64,
    plain_bytes: AtomicU64,
    wire_bytes: AtomicU64,
}

/// The first rows.
#[derive(Debug, Default)]
struct Kept {
    parts: Vec<Rows>,
    bytes: usize,
    is_full: bool,
}

/// What was seen of a table that has gone.
#[derive(Debug)]
pub(crate) struct SeenStream {
    /// Its first rows, in the parts in which they went.
    pub(crate) head: Vec<Rows>,
    /// How many it had, as far as it went.
    pub(crate) rows: u64,
    pub(crate) plain_bytes: usize,
    pub(crate) wire_bytes: usize,
}

impl StreamHead {
    /// Bytes in memory of the rows that are kept, at most, but for what the last of them takes.
    pub(crate) const MOST_BYTES: usize = 256 << 10;

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part of it goes.
    pub(crate) fn take(&self, part: &Rows) {
        self.rows.fetch_add(part.len() as u64, Ordering::Relaxed);
        let mut kept = self.kept();
        if kept.is_full || part.is_empty() {
            return;
        }
        let of_row = (part.memory() / part.len()).max(1);
        let left = Self::MOST_BYTES.saturating_sub(kept.bytes);
        let count = part.len().min(left.div_ceil(of_row));
        kept.is_full = count < part.len();
        kept.bytes += count * of_row;
        if count > 0 {
            kept.parts.push(part.part(0..count));
        }
    }

    /// So many bytes of it go, before they are compressed.
    pub(crate) fn written(&self, plain_bytes: usize) {
        self.plain_bytes
            .fetch_add(plain_bytes as u64, Ordering::Relaxed);
    }

    /// So many bytes of it go to the client.
    pub(crate) fn sent(&self, wire_bytes: usize) {
        self.wire_bytes
            .fetch_add(wire_bytes as u64, Ordering::Relaxed);
    }

    /// What was seen of it; nothing if no row was.
    pub(crate) fn seen(&self) -> Option<SeenStream> {
        let head = std::mem::take(&mut self.kept().parts);
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let seen = SeenStream {
            head,
            rows: of(&self.rows),
            plain_bytes: usize::try_from(of(&self.plain_bytes)).ok()?,
            wire_bytes: usize::try_from(of(&self.wire_bytes)).ok()?,
        };
        (!seen.head.is_empty()).then_some(seen)
    }
}

#[cfg(test)]
mod tests {
    use tamtam_rows::{Column, Field, Kind, Schema};

    use super::*;

    fn part(first: u64, count: u64, length: usize) -> Rows {
        let schema = Schema::new([Field::new("n", Kind::U64), Field::new("text", Kind::Text)]);
        let text = "x".repeat(length);
        let texts = (0..count).map(|_| Some(&*text));
        let numbers: Vec<u64> = (first..first + count).collect();
        Rows::new(schema.unwrap(), [Column::from(numbers), texts.collect()]).unwrap()
    }

    #[test]
    fn the_first_rows_are_kept_within_their_bound_and_all_are_counted() {
        let head = StreamHead::default();
        assert!(head.seen().is_none());
        for number in 0..100 {
            head.take(&part(number * 1_000, 1_000, 100));
        }
        head.take(&part(0, 0, 0));
        head.written(7);
        head.sent(5);
        let seen = head.seen().unwrap();
        assert_eq!(
            (seen.rows, seen.plain_bytes, seen.wire_bytes),
            (100_000, 7, 5)
        );
        let kept: usize = seen.head.iter().map(Rows::len).sum();
        assert!((1_500..3_000).contains(&kept), "{kept}");
        let memory: usize = seen.head.iter().map(Rows::memory).sum();
        assert!(memory < 2 * StreamHead::MOST_BYTES, "{memory}");
        let (last, whole) = seen.head.split_last().unwrap();
        for (number, kept) in whole.iter().enumerate() {
            assert_eq!(kept, &part(number as u64 * 1_000, 1_000, 100));
        }
        let first = whole.len() as u64 * 1_000;
        assert_eq!(last, &part(first, last.len() as u64, 100));
    }

    #[test]
    fn one_row_that_is_larger_than_all_is_kept_alone() {
        let head = StreamHead::default();
        head.take(&part(0, 3, 2 * StreamHead::MOST_BYTES));
        head.take(&part(3, 1, 1));
        head.sent(1);
        let seen = head.seen().unwrap();
        assert_eq!((seen.head.len(), seen.head[0].len(), seen.rows), (1, 1, 4));
    }
}
