//! One wait among several of a task, polled when it was woken itself.

use core::fmt;
use core::task::Waker;

use crate::contain::contain;
use crate::lone::Lone;
use crate::seam::{
    atomic::{AtomicBool, AtomicU32, Ordering},
    model_fence, spin_loop,
};
use crate::waker_place::WakerPlace;

/// Whether one future among several of a task was woken since it was polled, and the task that is to poll it then.
///
/// A task that waits for several things at once is woken by each of them. With one of these for each, it polls those alone that were
/// woken themselves: the future is polled with a waker that calls [`wake`](Woken::wake), and only when [`is_due`](Woken::is_due) says so.
///
/// Nearly always all polls are of one task. So the waker of the first one stays, and a poll costs no locked instruction as long as
/// there is nothing to do; a task that polls later has the place behind it.
///
/// # Ordering
/// What a thread did before it woke is visible to the poll that follows, also where several threads have woken since the last one.
///
/// # Examples
///
/// ```
/// use std::task::Waker;
/// use tamtam_wait::Woken;
///
/// // The first poll is due in any case.
/// let woken = Woken::new(true);
/// assert!(woken.is_due(Waker::noop()) && !woken.is_due(Waker::noop()));
/// woken.wake();
/// woken.wake();
/// assert!(woken.is_due(Waker::noop()) && !woken.is_due(Waker::noop()));
/// ```
pub struct Woken {
    /// Since the last poll.
    is_woken: AtomicBool,
    /// The task that has polled first.
    first: First,
    /// Another one that has polled since, and has not been woken.
    other: Lone,
}

impl Woken {
    /// One whose first poll is due, or is not.
    #[must_use]
    pub fn new(is_woken: bool) -> Woken {
        Woken {
            is_woken: AtomicBool::new(is_woken),
            first: First::new(),
            other: Lone::new(),
        }
    }

    /// Whether it was woken since this was asked before. The task of this waker is woken when it is from now on.
    #[inline]
    pub fn is_due(&self, task: &Waker) -> bool {
        // The task is known before the look: a wake after the look wakes it, one before it is seen.
        if !self.first.is_of(task) && !self.other.list_instead(task) {
            // A wake is on its way to the task that had the place: another look, soon.
            spin_loop();
            task.wake_by_ref();
        }
        model_fence();
        // SYNC woken
        self.is_woken.load(Ordering::SeqCst) && self.is_woken.swap(false, Ordering::Acquire)
    }

    /// The next poll is due, and is made soon.
    #[inline]
    pub fn wake(&self) {
        // SYNC woken. A swap: a plain store would hide what another thread did before it woke from the poll that is due for both.
        self.is_woken.swap(true, Ordering::SeqCst);
        model_fence();
        self.first.wake();
        self.other.notify();
    }

    /// The next poll is due; the task makes it anyway.
    #[inline]
    pub fn set_due(&self) {
        // SYNC woken
        self.is_woken.swap(true, Ordering::Release);
    }
}

impl fmt::Debug for Woken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Woken")
            .field("is_woken", &self.is_woken.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}

const NONE: u32 = 0;
const CLAIMED: u32 = 1;
const SET: u32 = 2;

/// A waker that is written once.
struct First {
    state: AtomicU32,
    /// Written by the one who made the state `CLAIMED`; read when it is `SET`.
    waker: WakerPlace,
}

// SAFETY: the state gives the waker to one thread to be written, and then to all to be read; wakers may be sent and shared.
unsafe impl Send for First {}
// SAFETY: the state gives the waker to one thread to be written, and then to all to be read; wakers may be sent and shared.
unsafe impl Sync for First {}

impl First {
    fn new() -> First {
        First {
            state: AtomicU32::new(NONE),
            waker: WakerPlace::new(),
        }
    }

    /// Whether it is the waker of this task. It becomes that if there is none.
    #[inline]
    fn is_of(&self, task: &Waker) -> bool {
        match self.with(|waker| waker.will_wake(task)) {
            Some(is_same) => is_same,
            None => self.set(task),
        }
    }

    #[inline]
    fn wake(&self) {
        self.with(|waker| contain(|| waker.wake_by_ref()));
    }

    #[inline]
    fn with<R>(&self, look: impl FnOnce(&Waker) -> R) -> Option<R> {
        // SYNC woken-first
        if self.state.load(Ordering::SeqCst) != SET {
            return None;
        }
        self.waker.with(|place| {
            // SAFETY: it is written no more.
            unsafe { (*place).as_ref() }.map(look)
        })
    }

    /// Whether the waker is this one now; not if another thread is about to write one.
    #[cold]
    fn set(&self, task: &Waker) -> bool {
        // A clone is the user's code: it is made before the place is claimed, and dropped behind it if the place is not got.
        let waker = task.clone();
        let claimed =
            self.state
                .compare_exchange(NONE, CLAIMED, Ordering::Relaxed, Ordering::Relaxed);
        if claimed.is_err() {
            return false;
        }
        self.waker.with_mut(|place| {
            // SAFETY: the place is claimed by this thread, and read by none before it is set.
            unsafe { *place = Some(waker) }
        });
        // SYNC woken-first. Sequentially consistent, and so is the look for a wake that follows.
        self.state.swap(SET, Ordering::SeqCst);
        true
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::contain::{counted, uncloneable, undroppable};

    // Miri may give the functions of a waker several addresses: a clone is then another waker, and is woken beside the first.
    #[cfg_attr(miri, ignore)]
    #[test]
    fn a_wake_makes_one_poll_due_and_wakes_the_task_that_has_polled() {
        let woken = Woken::new(false);
        let (count, task) = counted::waker();
        // No task is known yet; the wake is not lost.
        woken.wake();
        assert!(woken.is_due(&task) && !woken.is_due(&task));
        assert_eq!(count.wakes(), 0);
        woken.wake();
        woken.wake();
        assert!(woken.is_due(&task) && !woken.is_due(&task));
        assert_eq!(count.wakes(), 2);
        woken.set_due();
        assert!(woken.is_due(&task) && !woken.is_due(&task));
        assert_eq!(count.wakes(), 2);
        // The waker was cloned once for all of that.
        assert_eq!(Arc::strong_count(&count), 3);
        drop(woken);
        assert_eq!(Arc::strong_count(&count), 2);
    }

    #[test]
    fn a_task_that_goes_on_with_it_is_woken_and_the_one_between_is_not() {
        let woken = Woken::new(false);
        let [first, second, third] = [(); 3].map(|()| counted::waker());
        for (_, task) in [&first, &second, &third] {
            assert!(!woken.is_due(task));
        }
        woken.wake();
        assert_eq!((second.0.wakes(), third.0.wakes()), (0, 1));
        assert!(woken.is_due(&third.1) && !woken.is_due(&third.1));
        woken.wake();
        assert_eq!((second.0.wakes(), third.0.wakes()), (0, 2));
        assert!(format!("{woken:?}").contains("is_woken: true"));
    }

    #[test]
    fn a_waker_that_cannot_be_dropped_does_no_harm_when_its_wait_goes() {
        let woken = Woken::new(false);
        assert!(!woken.is_due(&undroppable::waker()));
        drop(woken);
    }

    #[test]
    fn a_waker_that_cannot_be_cloned_leaves_the_place_to_the_next_one() {
        let woken = Woken::new(true);
        assert!(uncloneable::panics(|task| woken.is_due(task)));
        let (count, task) = counted::waker();
        assert!(woken.is_due(&task));
        woken.wake();
        assert_eq!(count.wakes(), 1);
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_models {
    use core::task::Poll;

    use super::*;
    use crate::seam::atomic::AtomicUsize;
    use crate::seam::{Arc, Task, thread};

    /// A branch of a task, which is ready when so many have come.
    struct Branch {
        woken: Woken,
        come: [AtomicUsize; 2],
    }

    impl Branch {
        fn new() -> Arc<Branch> {
            Arc::new(Branch {
                woken: Woken::new(true),
                come: [AtomicUsize::new(0), AtomicUsize::new(0)],
            })
        }

        fn come(&self, place: usize) {
            self.come[place].store(1, Ordering::Relaxed);
            self.woken.wake();
        }

        /// Polls, and looks in these places only if that is due.
        fn poll(&self, places: usize, task: &Waker) -> Poll<()> {
            let is_come = |come: &AtomicUsize| come.load(Ordering::Relaxed) == 1;
            if self.woken.is_due(task) && self.come[..places].iter().all(is_come) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }

        fn comes(branch: &Arc<Branch>, place: usize) -> thread::JoinHandle<()> {
            let branch = Arc::clone(branch);
            thread::spawn(move || branch.come(place))
        }
    }

    /// The poll that is due for both sees what both did: else neither would make another one due.
    #[test]
    fn loom_what_two_threads_did_before_they_woke_is_seen() {
        loom::model(|| {
            let branch = Branch::new();
            let both = [Branch::comes(&branch, 0), Branch::comes(&branch, 1)];
            Task::new().run(|task| branch.poll(2, task));
            for one in both {
                one.join().unwrap();
            }
        });
    }

    /// A wake before any poll, and one in the middle of the first.
    #[test]
    fn loom_a_wake_meets_the_first_poll() {
        loom::model(|| {
            let branch = Branch::new();
            assert!(branch.woken.is_woken.swap(false, Ordering::Relaxed));
            let other = Branch::comes(&branch, 0);
            Task::new().run(|task| branch.poll(1, task));
            other.join().unwrap();
        });
    }

    /// The future goes on in another task, and in a third one, while it is woken twice: the place for one may be that of the second
    /// task, which is being woken, when the third one comes.
    #[test]
    fn loom_a_wake_meets_another_task() {
        loom::model(|| {
            let branch = Branch::new();
            let [first, second, third] = [(); 3].map(|()| Task::new());
            assert!(branch.poll(2, first.waker()).is_pending());
            let both = [Branch::comes(&branch, 0), Branch::comes(&branch, 1)];
            if branch.poll(2, second.waker()).is_pending() {
                third.run(|task| branch.poll(2, task));
            }
            for one in both {
                one.join().unwrap();
            }
        });
    }
}
