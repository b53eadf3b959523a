//! The place of a task that waits alone.
//!
//! Most endpoints have one waiter. Where that is a task, entering a list (a lock, an entry, a context)
//! costs several times what the message costs; so each list has one place that is taken by one
//! compare-and-swap. A waiter that comes while it is taken stands in the list behind it.
//!
//! ```text
//!          list                     list                    notify
//!  FREE ─────────▶ CLAIMED (writes ──────▶ LISTED (sleeps) ────────▶ WAKING (the waker is
//!   ▲  ▲            the waker)               │                         called) ──────────┐
//!   │  └─────────────────────────────────────┘ cancel                                    │
//!   └────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! The word above the state counts how often the place became free, so that a task that was chosen long
//! ago does not take another one's listing for its own. A task keeps the word that it was listed with;
//! it was chosen when the word is another one.

use core::task::Waker;

use crate::contain::{contain, or_undo};
use crate::seam::atomic::{AtomicU64, Ordering};
use crate::waker_place::WakerPlace;

const FREE: u64 = 0;
/// All of the word: the thread that has claimed the place writes the count again.
const CLAIMED: u64 = 1;
const LISTED: u64 = 2;
const WAKING: u64 = 3;
const STATE: u64 = 3;
const NEXT: u64 = 4;

/// The place of one task.
pub(crate) struct Lone {
    word: AtomicU64,
    /// Written in the state `CLAIMED` by the one who claimed it; read in `WAKING` by the one who wakes.
    ///
    /// It stays after the wake-up, so that the next listing of the same task need not clone it: 20 ns a
    /// wait. So a list may keep one waker, and what that owns, for as long as the list itself is there.
    waker: WakerPlace,
}

/// What a task keeps of its listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

// SAFETY: the state gives the waker to one thread at a time, and wakers may be sent and shared.
unsafe impl Send for Lone {}
// SAFETY: the state gives the waker to one thread at a time, and wakers may be sent and shared.
unsafe impl Sync for Lone {}

fn freed(word: u64) -> u64 {
    (word & !STATE).wrapping_add(NEXT) | FREE
}

impl Lone {
    pub(crate) fn new() -> Self {
        Lone {
            word: AtomicU64::new(FREE),
            waker: WakerPlace::new(),
        }
    }

    /// Lists the task, if the place is free. It must look once more before it relies on being woken.
    #[inline]
    pub(crate) fn list(&self, waker: &Waker) -> Option<Ticket> {
        let word = self.word.load(Ordering::Relaxed);
        if word & STATE != FREE
            || self
                .word
                // SYNC lone-free: the waiter that had the place before is done with the waker.
                .compare_exchange(word, CLAIMED, Ordering::Acquire, Ordering::Relaxed)
                .is_err()
        {
            return None;
        }
        let ticket = Ticket(word | LISTED);
        self.enter(ticket, waker);
        Some(ticket)
    }

    /// As [`list`](Lone::list), where no other waiter ever lists: then no claim is needed.
    #[inline]
    pub(crate) fn list_only(&self, waker: &Waker) -> Option<Ticket> {
        self.forget();
        // SYNC lone-free
        let word = self.word.load(Ordering::Acquire);
        if word & STATE != FREE {
            return None;
        }
        let ticket = Ticket(word | LISTED);
        self.enter(ticket, waker);
        Some(ticket)
    }

    /// Lists the task in place of the one that is listed, if there is one. `false` if another thread is at the place: it may be waking
    /// the task before. It must look once more before it relies on being woken.
    pub(crate) fn list_instead(&self, waker: &Waker) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        let freed = match word & STATE {
            FREE => word,
            // Who has a ticket of this listing is not to take the next one for it.
            LISTED => freed(word),
            _ => return false,
        };
        let claimed = self
            .word
            // SYNC lone-free: the waiter that had the place before is done with the waker.
            .compare_exchange(word, CLAIMED, Ordering::Acquire, Ordering::Relaxed)
            .is_ok();
        if claimed {
            self.enter(Ticket(freed | LISTED), waker);
        }
        claimed
    }

    /// The place is claimed: writes the waker and lists the task.
    #[inline]
    fn enter(&self, ticket: Ticket, waker: &Waker) {
        let same = self.waker.with(|place| {
            // SAFETY: the place is claimed by this thread.
            unsafe { (*place).as_ref() }.is_some_and(|current| current.will_wake(waker))
        });
        let replaced = if same {
            None
        } else {
            // A clone is user code, which may panic.
            // SYNC lone-free
            let free = || self.word.store(freed(ticket.0), Ordering::Release);
            let waker = or_undo(|| waker.clone(), free);
            self.waker.with_mut(|place| {
                // SAFETY: the place is claimed by this thread.
                unsafe { (*place).replace(waker) }
            })
        };
        // SYNC lone-waker. Sequentially consistent, and so is the look that follows; a swap, because on
        // x86-64 a store of that order is one anyway.
        self.word.swap(ticket.0, Ordering::SeqCst);
        contain(|| drop(replaced));
    }

    /// Whether the task still waits to be chosen.
    #[inline]
    pub(crate) fn waits(&self, ticket: Ticket) -> bool {
        // SYNC lone-free: what the chooser did before is seen by the task that was chosen.
        // Being woken is as good as having been: the chooser's change came before.
        self.word.load(Ordering::Acquire) == ticket.0
    }

    /// The task was polled while it waits: the thread that chooses it from now on wakes `waker`. `false` if it
    /// was chosen meanwhile. It must look once more.
    pub(crate) fn renew(&self, ticket: Ticket, waker: &Waker) -> bool {
        let claimed = self.claim(ticket);
        if claimed {
            self.enter(ticket, waker);
        }
        claimed
    }

    /// Claims the place for the task that is listed in it; `false` if it was chosen before.
    fn claim(&self, ticket: Ticket) -> bool {
        self.word
            .compare_exchange(ticket.0, CLAIMED, Ordering::Acquire, Ordering::Acquire)
            .is_ok()
    }

    /// The task waits no more; `false` if it was chosen before.
    pub(crate) fn cancel(&self, ticket: Ticket) -> bool {
        if !self.claim(ticket) {
            return false;
        }
        let waker = self.waker.with_mut(|place| {
            // SAFETY: the place is claimed by this thread.
            unsafe { (*place).take() }
        });
        // SYNC lone-free
        self.word.store(freed(ticket.0), Ordering::Release);
        contain(|| drop(waker));
        true
    }

    /// Where no other waiter ever comes: forgets a task whose future was leaked.
    #[inline]
    pub(crate) fn forget(&self) {
        let word = self.word.load(Ordering::Relaxed);
        if word & STATE == LISTED {
            self.cancel(Ticket(word));
        }
    }

    /// Whether a task waits here. Sequentially consistent.
    #[inline]
    pub(crate) fn is_listed(&self) -> bool {
        self.word.load(Ordering::SeqCst) & STATE == LISTED
    }

    /// Wakes the task that waits here, if there is one.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        let word = self.word.load(Ordering::SeqCst);
        if word & STATE != LISTED
            || self
                .word
                // SYNC lone-waker
                .compare_exchange(word, word | WAKING, Ordering::AcqRel, Ordering::Relaxed)
                .is_err()
        {
            return false;
        }
        self.waker.with(|place| {
            // SAFETY: the place is ours until it is freed.
            if let Some(waker) = unsafe { &*place } {
                contain(|| waker.wake_by_ref());
            }
        });
        // SYNC lone-free
        self.word.store(freed(word), Ordering::Release);
        true
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;
    use crate::contain::{counted, uncloneable, undroppable};

    /// A ticket is of one listing: who was chosen with it does not take another task's listing, nor its own
    /// next one, for it. Also where the count of listings wraps.
    #[test]
    fn a_ticket_is_no_good_for_a_later_listing() {
        for counted in [0, !STATE] {
            let lone = Lone::new();
            lone.word.store(counted | FREE, Ordering::Relaxed);
            let waker = Waker::noop();
            let first = lone.list(waker).expect("the place is free");
            assert!(lone.waits(first));
            assert!(lone.notify());
            let second = lone.list(waker).expect("the place is free again");
            assert!(!lone.waits(first) && lone.waits(second));
            assert!(!lone.renew(first, waker) && !lone.cancel(first));
            assert!(lone.cancel(second));
            let third = lone.list_only(waker).expect("the place is free once more");
            assert!(!lone.waits(second) && !lone.cancel(second) && lone.cancel(third));
        }
    }

    #[test]
    fn the_place_is_taken_by_one_and_notified_once() {
        let lone = Lone::new();
        let waker = Waker::noop();
        assert!(!lone.is_listed() && !lone.notify());
        let ticket = lone.list(waker).expect("the place is free");
        assert!(lone.is_listed() && lone.list(waker).is_none());
        assert!(lone.renew(ticket, waker) && lone.waits(ticket));
        assert!(lone.notify() && !lone.notify());
        assert!(!lone.is_listed());
        // A task whose future was leaked is forgotten; here there is none.
        let leaked = lone.list(waker).expect("the place is free again");
        lone.forget();
        assert!(!lone.is_listed() && !lone.waits(leaked) && !lone.notify());
        lone.forget();
    }

    #[test]
    fn a_task_that_lists_instead_of_another_one_is_the_one_that_is_woken() {
        let lone = Lone::new();
        let waker = Waker::noop();
        assert!(lone.list_instead(waker) && lone.is_listed());
        assert!(lone.notify() && !lone.is_listed());
        let ticket = lone.list(waker).expect("the place is free");
        assert!(lone.list_instead(waker));
        assert!(!lone.waits(ticket) && !lone.cancel(ticket));
        assert!(lone.is_listed() && lone.notify());
        // While the task is woken, and while it lists.
        for busy in [WAKING, CLAIMED] {
            lone.word.store(busy, Ordering::Relaxed);
            assert!(!lone.list_instead(waker));
            assert_eq!(lone.word.load(Ordering::Relaxed), busy);
        }
    }

    #[test]
    fn a_waker_that_cannot_be_cloned_leaves_the_place_free() {
        let lone = Lone::new();
        assert!(uncloneable::panics(|waker| lone.list_instead(waker)));
        assert!(uncloneable::panics(|waker| lone.list(waker)));
        assert!(uncloneable::panics(|waker| lone.list_only(waker)));
        let ticket = lone.list(Waker::noop()).expect("the place is free");
        assert!(uncloneable::panics(|waker| lone.renew(ticket, waker)));
        assert!(!lone.waits(ticket) && !lone.is_listed());
        assert!(lone.list(Waker::noop()).is_some());
    }

    /// The waker of a task that was woken goes with the place, in the middle of what drops that.
    #[test]
    fn a_waker_that_cannot_be_dropped_does_no_harm_when_its_place_goes() {
        let lone = Lone::new();
        let waker = undroppable::waker();
        assert!(lone.list(&waker).is_some() && lone.notify());
        drop(lone);
    }

    /// A waker stays for the next listing of the same task, until another one lists or it gives up.
    #[test]
    fn a_waker_is_cloned_once_for_many_listings_of_a_task() {
        use std::sync::Arc;

        let (count, waker) = counted::waker();
        let lone = Lone::new();
        for wakes in 1..=3 {
            assert!(lone.list(&waker).is_some() && lone.notify());
            assert_eq!(count.wakes(), wakes);
            assert_eq!(Arc::strong_count(&count), 3);
        }
        let ticket = lone.list(Waker::noop()).expect("the place is free");
        assert_eq!(Arc::strong_count(&count), 2);
        assert!(lone.renew(ticket, &waker) && lone.cancel(ticket));
        assert_eq!(Arc::strong_count(&count), 2);
        assert_eq!(count.wakes(), 3);
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_models {
    use super::*;
    use crate::seam::{Arc, Task, thread};

    /// The word is the same before and after a task has left another waker: the chooser reads the one that
    /// was written last, and not while it is written.
    #[test]
    fn loom_choosing_meets_another_waker() {
        loom::model(|| {
            let lone = Arc::new(Lone::new());
            let (first, second) = (Task::new(), Task::new());
            let ticket = lone.list(first.waker()).expect("the place is free");
            let chooser = {
                let lone = Arc::clone(&lone);
                thread::spawn(move || lone.notify())
            };
            let renewed = lone.renew(ticket, second.waker());
            assert!(chooser.join().unwrap() || (renewed && lone.waits(ticket)));
        });
    }
}
