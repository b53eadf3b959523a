//! Bytes of answers that a recorder holds in memory, over all requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;

/// How many bytes of answers are held, of so many that may be.
#[derive(Debug)]
pub(super) struct Held {
    now: AtomicUsize,
    most: usize,
}

/// What is held of one answer, until this is dropped.
#[derive(Debug)]
pub(super) struct Holding {
    of: Arc<Held>,
    bytes: usize,
}

impl Held {
    pub(super) fn new(most: usize) -> Arc<Held> {
        Arc::new(Held {
            now: AtomicUsize::new(0),
            most,
        })
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Holds nothing as yet.
    pub(super) fn begin(self: &Arc<Self>) -> Holding {
        Holding {
            of: Arc::clone(self),
            bytes: 0,
        }
    }
}

impl Holding {
    /// Whether so many bytes more may be held. They are, either way: what has come has a place already, and goes to its client.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        // Nothing but the count itself depends on the order in which others see it.
        let before = self.of.now.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) <= self.of.most
    }

    /// These bytes, which are held until they have gone.
    pub(super) fn keeping(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Kept {
            bytes,
            _holding: self,
        })
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.of.now.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes that are held.
struct Kept {
    bytes: Bytes,
    _holding: Holding,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_of_all_is_counted_and_given_back() {
        let held = Held::new(100);
        let (mut one, mut other) = (held.begin(), held.begin());
        assert!(one.take(40) && one.take(20) && other.take(40));
        assert!(!other.take(1));
        // It is there, and passes.
        assert!(!one.take(0));
        drop(other);
        assert!(one.take(40) && !held.begin().take(1));
        let bytes = one.keeping(Bytes::from_static(b"an answer"));
        assert_eq!(&bytes[..], b"an answer");
        let rest = bytes.slice(3..);
        drop(bytes);
        assert!(!held.begin().take(1));
        drop(rest);
        assert!(held.begin().take(100));
    }
}
