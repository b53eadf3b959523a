//! Words in memory that processes share, at which a thread sleeps together with its own.
//!
//! What another process changes wakes no context: it knows a word only. So a thread that waits for such a thing among others gives up being
//! chosen for it, and sleeps at that word itself. Woken by one, it looks at all that it waits for.

use core::fmt;
use std::time::{Duration, Instant};

use crate::{Futex, Scope};

/// Words that end the sleep of a thread beside its own; see [`Source::sleep_at`](crate::Source::sleep_at).
///
/// # Examples
///
/// ```
/// use tamtam_wait::{Context, Futex, Outcome, Scope, SharedWords};
///
/// let word = Futex::new(0);
/// if Futex::can_wait_any() {
///     std::thread::scope(|threads| {
///         Context::with(|context| {
///             let mut words = SharedWords::new();
///             words.push(&word, 0);
///             threads.spawn(|| {
///                 word.store(1, std::sync::atomic::Ordering::SeqCst);
///                 word.wake_all(Scope::Shared);
///             });
///             // Not chosen: it has to look itself.
///             assert_eq!(context.park_at(words, None), Outcome::Aborted);
///         });
///     });
/// }
/// ```
#[derive(Default)]
pub struct SharedWords<'a> {
    pub(crate) words: Vec<(&'a Futex, u32, Scope)>,
    longest: Option<Duration>,
}

impl<'a> SharedWords<'a> {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        SharedWords {
            words: Vec::new(),
            longest: None,
        }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// So many more have room in one sleep; zero where the system has no sleep on several words.
    #[must_use]
    pub fn room(&self) -> usize {
        // One is the thread's own.
        if Futex::can_wait_any() {
            (Futex::MOST_AT_ONCE - 1).saturating_sub(self.words.len())
        } else {
            0
        }
    }

    /// Ends the sleep when this word no longer holds that.
    pub fn push(&mut self, word: &'a Futex, expected: u32) {
        self.words.push((word, expected, Scope::Shared));
    }

    /// Takes back all but the first of them.
    pub fn truncate(&mut self, len: usize) {
        self.words.truncate(len);
    }

    /// Ends the sleep after so long at the latest.
    pub fn limit(&mut self, longest: Duration) {
        self.longest = Some(self.longest.map_or(longest, |other| other.min(longest)));
    }

    /// When a sleep that begins now ends at the latest.
    pub(crate) fn latest(&self, deadline: Option<Instant>) -> Option<Instant> {
        let limited = self.longest.and_then(|it| Instant::now().checked_add(it));
        match (limited, deadline) {
            (Some(limited), Some(deadline)) => Some(limited.min(deadline)),
            (limited, deadline) => limited.or(deadline),
        }
    }
}

impl fmt::Debug for SharedWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedWords")
            .field("len", &self.words.len())
            .field("longest", &self.longest)
            .finish()
    }
}
