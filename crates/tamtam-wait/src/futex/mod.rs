//! A word to sleep on.

use core::cell::Cell;
use core::fmt;
use core::ops::Deref;
use std::time::{Duration, Instant};

use crate::seam::atomic::{AtomicU32, Ordering};

#[cfg(all(any(target_os = "linux", target_os = "android"), not(tamtam_loom)))]
mod linux;
#[cfg(all(any(target_os = "linux", target_os = "android"), not(tamtam_loom)))]
use linux as system;

#[cfg(all(not(any(target_os = "linux", target_os = "android")), not(tamtam_loom)))]
mod fallback;
#[cfg(all(not(any(target_os = "linux", target_os = "android")), not(tamtam_loom)))]
use fallback as system;

#[cfg(all(
    test,
    any(target_os = "linux", target_os = "android"),
    not(tamtam_loom)
))]
#[allow(dead_code)]
mod fallback;

#[cfg(tamtam_loom)]
mod model;
#[cfg(tamtam_loom)]
use model as system;

thread_local! {
    static HAS_WOKEN: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread has woken threads since this was asked last, or has tried to.
pub(crate) fn has_woken() -> bool {
    HAS_WOKEN.take()
}

/// Who may sleep on a [`Futex`].
///
/// # Examples
///
/// ```
/// use tamtam_wait::{Futex, Scope};
///
/// // In memory that other processes map, too, sleepers of all of them are woken.
/// let word = Futex::new(0);
/// word.wake_all(Scope::Shared);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Threads of this process.
    Private,
    /// Threads of every process that maps the word. Outside of Linux this is the same as
    /// `Private`: there, the fallback does not reach into other processes.
    Shared,
}

/// The error of a wait whose deadline passed.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
/// use tamtam_wait::{Futex, Scope, TimedOut};
///
/// let word = Futex::new(0);
/// let deadline = Instant::now() + Duration::from_millis(2);
/// // A wake-up for nothing is possible: the word is looked at again.
/// let ended = loop {
///     if let Err(timed_out) = word.wait(0, Some(deadline), Scope::Private) {
///         break timed_out;
///     }
/// };
/// assert_eq!(ended, TimedOut);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline passed before the wait was over")
    }
}

impl std::error::Error for TimedOut {}

/// A 32-bit atomic word on which threads can sleep until another one wakes them.
///
/// It is an [`AtomicU32`](std::sync::atomic::AtomicU32) (through `Deref`) with two more operations,
/// and in production exactly four bytes, so it can live in shared memory. On Linux these are the
/// kernel's futex operations (`futex(2)`; Franke, Russell and Kirkwood, *Fuss, Futexes and
/// Furwocks*, 2002); elsewhere a table of parked threads (`std::thread::park_timeout`) does the
/// same within one process.
///
/// # Blocking
///
/// [`wait`](Futex::wait) blocks. It may also return without a reason; look at the word and decide.
///
/// # Examples
///
/// ```
/// use std::sync::atomic::Ordering::{Acquire, Release};
/// use tamtam_wait::{Futex, Scope};
///
/// let door = Futex::new(0);
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         door.store(1, Release);
///         door.wake_all(Scope::Private);
///     });
///     while door.load(Acquire) == 0 {
///         let _ = door.wait(0, None, Scope::Private);
///     }
/// });
/// ```
#[cfg_attr(not(tamtam_loom), repr(transparent))]
pub struct Futex {
    word: AtomicU32,
    #[cfg(tamtam_loom)]
    sleepers: model::Sleepers,
}

impl Futex {
    /// A word that holds `value`.
    #[cfg(not(tamtam_loom))]
    pub const fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
        }
    }

    /// A word that holds `value`.
    #[cfg(tamtam_loom)]
    pub fn new(value: u32) -> Self {
        Self {
            word: AtomicU32::new(value),
            sleepers: model::Sleepers::default(),
        }
    }

    /// Sleeps while the word holds `expected`, until a wake-up, the deadline, or nothing at all
    /// ends the sleep.
    ///
    /// The look at the word and falling asleep are one step to those who call
    /// [`wake_one`](Futex::wake_one) after changing the word.
    ///
    /// # Errors
    ///
    /// [`TimedOut`] once the deadline has passed.
    #[inline]
    pub fn wait(
        &self,
        expected: u32,
        deadline: Option<Instant>,
        scope: Scope,
    ) -> Result<(), TimedOut> {
        system::wait(self, expected, deadline, scope)
    }

    /// Sleeps while each of the words holds what is expected of it, until a wake-up at one of them, the deadline, or nothing at all
    /// ends the sleep. No word at all is a sleep until the deadline.
    ///
    /// Looking at one word and falling asleep on it are one step, for each of them; the looks at two words are two steps. On Linux this is
    /// `futex_waitv(2)`, since 5.16. Where that is missing or forbidden, and where there are more than [`Futex::MOST_AT_ONCE`] words, the first word alone
    /// ends the sleep at once, and others within [`Futex::LATEST_LOOK`].
    ///
    /// # Errors
    ///
    /// [`TimedOut`] once the deadline has passed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::Ordering::{Acquire, Release};
    /// use tamtam_wait::{Futex, Scope};
    ///
    /// let (door, window) = (Futex::new(0), Futex::new(0));
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         window.store(1, Release);
    ///         window.wake_all(Scope::Shared);
    ///     });
    ///     while door.load(Acquire) + window.load(Acquire) == 0 {
    ///         let _ = Futex::wait_any(&[(&door, 0, Scope::Private), (&window, 0, Scope::Shared)], None);
    ///     }
    /// });
    /// ```
    pub fn wait_any(
        words: &[(&Futex, u32, Scope)],
        deadline: Option<Instant>,
    ) -> Result<(), TimedOut> {
        match *words {
            [(word, expected, scope)] => word.wait(expected, deadline, scope),
            _ if words.len() <= Self::MOST_AT_ONCE => system::wait_any(words, deadline),
            _ => in_slices(words, deadline),
        }
    }

    /// Whether the system has a sleep on several words, so that a change of any of them ends [`wait_any`](Futex::wait_any) at once.
    #[must_use]
    #[inline]
    pub fn can_wait_any() -> bool {
        system::can_wait_any()
    }

    /// One sleep is on so many words at most; see [`wait_any`](Futex::wait_any).
    pub const MOST_AT_ONCE: usize = 128;

    /// So late a change of a word may be seen where a sleep cannot be on all of them; see [`wait_any`](Futex::wait_any).
    pub const LATEST_LOOK: Duration = Duration::from_millis(20);

    /// Wakes one thread that sleeps on this word, if there is any.
    ///
    /// The word's memory may already be reused by the time this runs: waking strangers is harmless,
    /// since every sleeper looks again.
    #[inline]
    pub fn wake_one(&self, scope: Scope) {
        HAS_WOKEN.set(true);
        system::wake(self, 1, scope);
    }

    /// Wakes all threads that sleep on this word.
    #[inline]
    pub fn wake_all(&self, scope: Scope) {
        HAS_WOKEN.set(true);
        system::wake(self, i32::MAX as u32, scope);
    }
}

/// A sleep on several words where the system has none: on the first, which ends it at once, and every now and then a look at all.
fn in_slices(words: &[(&Futex, u32, Scope)], deadline: Option<Instant>) -> Result<(), TimedOut> {
    let is_changed =
        |&(word, expected, _): &(&Futex, u32, Scope)| word.load(Ordering::SeqCst) != expected;
    let now = Instant::now();
    // Before the words: one that another process changes all the time would keep the thread beyond its deadline.
    if deadline.is_some_and(|deadline| deadline <= now) {
        return Err(TimedOut);
    }
    if words.iter().any(is_changed) {
        return Ok(());
    }
    let slice = now.checked_add(Futex::LATEST_LOOK);
    let until = match (slice, deadline) {
        (Some(slice), Some(deadline)) => Some(slice.min(deadline)),
        (slice, deadline) => slice.or(deadline),
    };
    match words.first() {
        // The end of a slice is a wake-up for nothing.
        Some((word, expected, scope)) => drop(word.wait(*expected, until, *scope)),
        None => std::thread::sleep(until.map_or(Futex::LATEST_LOOK, |until| until - now)),
    }
    Ok(())
}

impl Deref for Futex {
    type Target = AtomicU32;
    #[inline(always)]
    fn deref(&self) -> &AtomicU32 {
        &self.word
    }
}

impl fmt::Debug for Futex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Futex").field(&self.word).finish()
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::{Acquire, Release};
    use std::time::Duration;

    type WaitFunction = fn(&Futex, u32, Option<Instant>, Scope) -> Result<(), TimedOut>;
    type WakeFunction = fn(&Futex, u32, Scope);

    /// One suite for the system's way and for the fallback that other systems use.
    fn conforms(wait: WaitFunction, wake: WakeFunction) {
        for scope in [Scope::Private, Scope::Shared] {
            let word = Futex::new(7);
            // Another value: no sleep.
            assert_eq!(wait(&word, 8, None, scope), Ok(()));
            // No wake-up comes: the deadline ends it, whether it lies ahead or behind.
            let soon = Instant::now() + Duration::from_millis(5);
            while wait(&word, 7, Some(soon), scope) != Err(TimedOut) {}
            assert!(Instant::now() >= soon);
            assert_eq!(wait(&word, 7, Some(soon), scope), Err(TimedOut));
            // A turn for each of two threads, many times.
            let turn = Futex::new(0);
            let play = |mine: u32| {
                for _ in 0..if cfg!(miri) { 20 } else { 200 } {
                    while turn.load(Acquire) != mine {
                        let _ = wait(&turn, 1 - mine, None, scope);
                    }
                    turn.store(1 - mine, Release);
                    wake(&turn, 1, scope);
                }
            };
            std::thread::scope(|threads| {
                threads.spawn(|| play(1));
                play(0);
            });
            // All sleepers are woken by one call.
            let door = Futex::new(0);
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        while door.load(Acquire) == 0 {
                            let _ = wait(&door, 0, None, scope);
                        }
                    });
                }
                door.store(1, Release);
                wake(&door, i32::MAX as u32, scope);
            });
        }
    }

    #[test]
    fn the_system_conforms() {
        conforms(system::wait, system::wake);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_fallback_conforms() {
        conforms(fallback::wait, fallback::wake);
    }

    /// Otherwise each wait that times out would look at the clock and at the word once more.
    #[test]
    fn the_sleep_that_a_deadline_ends_says_so() {
        let words = [Futex::new(7), Futex::new(7)];
        let asked = [
            (&words[0], 7, Scope::Private),
            (&words[1], 7, Scope::Shared),
        ];
        // Of several words only where that is one sleep.
        for asked in [&asked[..1], &asked[..]] {
            if asked.len() > 1 && !Futex::can_wait_any() {
                continue;
            }
            // A wake-up for nothing may end one, but not each of them.
            let says_so = |_| {
                let soon = Instant::now() + Duration::from_millis(10);
                Futex::wait_any(asked, Some(soon)) == Err(TimedOut)
            };
            assert!((0..5).any(says_so), "of {} words", asked.len());
        }
    }

    type WaitAnyFunction = fn(&[(&Futex, u32, Scope)], Option<Instant>) -> Result<(), TimedOut>;

    fn any_conforms(wait_any: WaitAnyFunction) {
        let words = [Futex::new(1), Futex::new(2), Futex::new(3)];
        let asked = |changed: usize| {
            let expected =
                |(index, word): (usize, &Futex)| word.load(Acquire) + u32::from(index == changed);
            let scope = |index| [Scope::Private, Scope::Shared][index % 2];
            let ask = |(index, word)| (word, expected((index, word)), scope(index));
            words.iter().enumerate().map(ask).collect::<Vec<_>>()
        };
        // One of them has another value: no sleep.
        for changed in 0..3 {
            assert_eq!(wait_any(&asked(changed), None), Ok(()));
        }
        // Nothing changes: the deadline ends it.
        let soon = Instant::now() + Duration::from_millis(5);
        while wait_any(&asked(3), Some(soon)) != Err(TimedOut) {}
        assert!(Instant::now() >= soon);
        // A wake-up at any of them ends the sleep.
        for (rung, scope) in [(0, Scope::Private), (1, Scope::Shared), (2, Scope::Private)] {
            let (before, asked) = (words[rung].load(Acquire), asked(3));
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    words[rung].store(before + 10, Release);
                    words[rung].wake_one(scope);
                });
                while words[rung].load(Acquire) == before {
                    assert_eq!(wait_any(&asked, None), Ok(()));
                }
            });
        }
    }

    #[test]
    fn a_sleep_on_several_words_ends_by_each_of_them() {
        any_conforms(Futex::wait_any);
        any_conforms(system::wait_any);
        any_conforms(in_slices);
    }

    /// Another process may change a word before each look.
    #[test]
    fn a_deadline_that_has_passed_is_told_before_a_word_that_has_changed() {
        let words = [Futex::new(1), Futex::new(2)];
        let asked = [
            (&words[0], 1, Scope::Private),
            (&words[1], 7, Scope::Shared),
        ];
        let wait_any: [WaitAnyFunction; 3] = [Futex::wait_any, system::wait_any, in_slices];
        for wait_any in wait_any {
            assert_eq!(wait_any(&asked, None), Ok(()));
            assert_eq!(wait_any(&asked, Some(Instant::now())), Err(TimedOut));
        }
    }

    #[test]
    fn more_words_than_the_system_takes_end_a_sleep_as_well() {
        let words: Vec<_> = (0..Futex::MOST_AT_ONCE + 2)
            .map(|_| Futex::new(0))
            .collect();
        let asked: Vec<_> = words.iter().map(|word| (word, 0, Scope::Private)).collect();
        for rung in [0, 1, words.len() - 1] {
            words[rung].store(0, Release);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    words[rung].store(1, Release);
                    words[rung].wake_one(Scope::Private);
                });
                while words[rung].load(Acquire) == 0 {
                    assert_eq!(Futex::wait_any(&asked, None), Ok(()));
                }
            });
            words[rung].store(0, Release);
        }
        assert_eq!(Futex::wait_any(&[], Some(Instant::now())), Err(TimedOut));
    }

    #[test]
    fn a_futex_shows_its_value_and_a_timeout_says_what_passed() {
        assert_eq!(format!("{:?}", Futex::new(7)), "Futex(7)");
        let said = "the deadline passed before the wait was over";
        assert_eq!(TimedOut.to_string(), said);
    }

    #[test]
    fn a_futex_is_four_bytes() {
        assert_eq!(size_of::<Futex>(), 4);
    }
}
