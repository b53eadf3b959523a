//! Streaks of something that sends to many mailboxes in turn: each mailbox has its own, and a lock has them all.
//!
//! A thread's own [`Streak`] ends where the thread sends to another mailbox. What goes to a thousand mailboxes, one message to each
//! and then the next one, has a streak for each of them. One thread at a time uses them: the one that has the lock. No
//! thread waits for that: one that does not get it sends each message by itself.

use core::marker::PhantomData;
use core::ptr;

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{AtomicBool, Ordering};

use super::streak::Streak;

/// Gives one thread at a time the streaks that were made for it.
pub(crate) struct StreakLock {
    is_locked: AtomicBool,
}

/// The right to use the streaks of one lock. It stays on its thread.
pub(crate) struct StreakGuard<'a> {
    lock: &'a StreakLock,
    on_its_thread: PhantomData<*const ()>,
}

/// What is used under a [`StreakLock`] alone.
pub(crate) struct LockedStreak {
    /// Of the lock: compared only.
    address: usize,
    streak: UnsafeCell<Streak>,
}

// SAFETY: a streak is a block's address with some numbers, and a block may be given up on any thread: its messages are the
// receiver's.
unsafe impl Send for LockedStreak {}
// SAFETY: the streak is reached by the thread that has a guard of the lock at this address, and while there is a guard its lock
// stays where it is, so at one address there is one lock and at most one guard. One thread's use comes before the next one's by the
// lock's word; or, where another lock has come to the same place, by what has freed the memory and given it out again.
unsafe impl Sync for LockedStreak {}

impl StreakLock {
    pub(crate) fn new() -> Self {
        StreakLock {
            is_locked: AtomicBool::new(false),
        }
    }

    /// The right to use the streaks, unless it is taken.
    #[inline]
    pub(crate) fn try_lock(&self) -> Option<StreakGuard<'_>> {
        // SYNC streak-lock: what was done with the streaks.
        if self.is_locked.swap(true, Ordering::Acquire) {
            return None;
        }
        Some(StreakGuard {
            lock: self,
            on_its_thread: PhantomData,
        })
    }

    /// A streak that is used under this lock, as long as that stays where it is.
    pub(crate) fn streak(&self) -> LockedStreak {
        LockedStreak {
            address: self.address(),
            streak: UnsafeCell::new(Streak::new()),
        }
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

impl Drop for StreakGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        // SYNC streak-lock
        self.lock.is_locked.store(false, Ordering::Release);
    }
}

impl LockedStreak {
    /// The streak, if it is one of those that the guard is for.
    #[inline(always)]
    pub(crate) fn get<'a>(&'a self, guard: &'a StreakGuard<'_>) -> Option<&'a Streak> {
        if guard.lock.address() != self.address {
            return None;
        }
        // SAFETY: only one guard of this lock lives, it stays on this thread, and it outlives the reference; no method hands out
        // a unique one. That models see a write here has them find two threads that use the streak at once.
        Some(self.streak.with_mut(|streak| unsafe { &*streak }))
    }
}
