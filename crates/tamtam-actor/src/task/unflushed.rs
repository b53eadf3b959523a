//! What a thread has written and not flushed: it does that when nothing more is due on it, or after a moment. Then it may read the answers to what
//! it has asked.
//!
//! A thread that gives one actor after another its turn may write many answers, and many questions, to one other process. The first of them is
//! sent at once. Those behind it can be left until the thread is through with what is due, and then go in one piece: a piece costs a call of the
//! system, on this side and on the other one, and mostly a wake-up there. (So does a server that answers pipelined requests, such as Redis: it
//! writes when it has handled what it had read.)
//!
//! A home whose threads do this says so by [`Unflushed::begin`], and flushes before its thread sleeps, or waits.

use core::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where something is written that is to be flushed.
#[doc(hidden)]
pub trait Flush: Send + Sync {
    /// Sends what was written.
    fn flush(&self);
}

/// What reads the answers that come from another process.
#[doc(hidden)]
pub trait ReadAnswers: Send + Sync {
    /// Reads on this thread, which has nothing else to do, until something was read or `goes_on` says otherwise. It may refuse, and does where that
    /// would take long.
    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool);
}

/// So long after the first of them others are flushed between two turns, also if more is due. As long as a turn may last.
// A model has to go the same way each time, however slow the machine is.
const LONGEST_UNFLUSHED: Duration = if cfg!(tamtam_loom) {
    Duration::MAX
} else {
    Duration::from_micros(50)
};

thread_local! {
    static THREAD: RefCell<Unflushed> = const { RefCell::new(Unflushed::none()) };
    /// A thread that has no other place for it is to look before its next turn.
    static IS_NOTED: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread is at a batch: what is asked before each sleep costs a load where there is none.
    static HAS_BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// What this thread has not flushed.
pub(crate) struct Unflushed {
    /// Has the thread look here before its next turn; `false` if it is not at one. None of a thread that leaves nothing.
    note: Option<fn() -> bool>,
    /// When the batch has begun that this thread is at: with something that was sent, or is left.
    begun: Option<Instant>,
    left: Vec<Arc<dyn Flush>>,
    /// What has the answers to the last question of a turn.
    answers: Option<Arc<dyn ReadAnswers>>,
}

impl Unflushed {
    const fn none() -> Self {
        Unflushed {
            note: None,
            begun: None,
            left: Vec::new(),
            answers: None,
        }
    }

    /// Does something with what this thread has not flushed; nothing is where a thread is about to end.
    fn with<R: Default>(run: impl FnOnce(&mut Self) -> R) -> R {
        let ran = THREAD.try_with(|thread| Some(run(&mut *thread.try_borrow_mut().ok()?)));
        ran.ok().flatten().unwrap_or_default()
    }

    /// From now on this thread looks here before each turn, once `note` has had it do so.
    pub(crate) fn begin(note: fn() -> bool) {
        Self::with(|thread| thread.note = Some(note));
    }

    /// As `begin`, for a thread that asks [`is_noted`](Unflushed::is_noted) behind each turn.
    pub(crate) fn begin_here() {
        Self::begin(|| {
            IS_NOTED.set(true);
            true
        });
    }

    /// Whether this thread is to look here before its next turn.
    #[inline]
    pub(crate) fn is_noted() -> bool {
        IS_NOTED.get()
    }

    /// From now on this thread flushes at once, and leaves answers to others.
    pub(crate) fn end() {
        drop(Self::with(|thread| {
            thread.note = None;
            thread.answers.take()
        }));
        Self::flush_all();
    }

    /// Between two turns: flushes, unless more is due and the first was sent just now. Whether something is left, or may be.
    #[cold]
    pub(crate) fn flush_when_through(is_more_due: bool) -> bool {
        let (waits, has_answers) = Self::with(|thread| {
            let is_new = |begun: Instant| begun.elapsed() < LONGEST_UNFLUSHED;
            let waits = is_more_due && thread.begun.is_some_and(is_new);
            (waits, thread.answers.is_some())
        });
        if !waits {
            Self::flush_all();
        }
        // Answers are read when nothing more is due.
        let is_noted = waits || (is_more_due && has_answers);
        IS_NOTED.set(is_noted);
        is_noted
    }

    /// Nothing is due: reads the answers to what the last turns have asked, if that is the quickest way to them, while `goes_on`.
    pub(crate) fn read_answers(mut goes_on: impl FnMut() -> bool) {
        if let Some(answers) = Self::with(|thread| thread.answers.take()) {
            answers.read_while(&mut goes_on);
        }
    }

    /// Flushes, since this thread is about to sleep or to wait.
    #[inline]
    pub(crate) fn flush_all() {
        if HAS_BEGUN.get() {
            Self::flush_batch();
        }
    }

    #[cold]
    fn flush_batch() {
        HAS_BEGUN.set(false);
        let taken = Self::with(|thread| {
            thread.begun.take()?;
            Some(core::mem::take(&mut thread.left))
        });
        let Some(mut left) = taken else {
            return;
        };
        left.iter().for_each(|left| left.flush());
        // The memory is kept for the next ones. What goes with these goes before this is borrowed.
        left.clear();
        Self::with(|thread| {
            if thread.left.is_empty() {
                thread.left = left;
            }
        });
    }
}

/// Something was written, which this gives: `false` if it is to be sent at once. Else this thread flushes it when it is through with what is due.
pub fn flush_later(
    what: &(impl Flush + 'static),
    give: impl FnOnce() -> Option<Arc<dyn Flush>>,
) -> bool {
    let is_this = |other: &Arc<dyn Flush>| core::ptr::addr_eq(Arc::as_ptr(other), what);
    let left = Unflushed::with(|thread| {
        let note = thread.note?;
        if thread.begun.is_none() {
            // A handler that goes on for long when it has answered does not keep its answer.
            thread.begun = note().then(Instant::now);
            HAS_BEGUN.set(thread.begun.is_some());
            return None;
        }
        if !thread.left.iter().any(is_this) {
            note().then_some(())?;
            thread.left.push(give()?);
        }
        Some(true)
    });
    left.unwrap_or_default()
}

/// A question was written, whose answer this gives: `false` if it is for others to read it. Else this thread does so once it has nothing else to do.
pub fn read_later(give: impl FnOnce() -> Option<Arc<dyn ReadAnswers>>) -> bool {
    Unflushed::with(|thread| {
        let is_noted = thread.note.is_some_and(|note| note());
        if is_noted {
            thread.answers = give();
        }
        is_noted
    })
}

#[cfg(test)]
mod testing;
#[cfg(test)]
pub(crate) use testing::{Answers, Flushes, answer_tests};
