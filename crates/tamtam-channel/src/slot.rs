//! A place for one value, which is put and taken in turn.

use core::fmt;
use core::mem::MaybeUninit;
use core::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use tamtam_wait::seam::atomic::{AtomicU32, Ordering};
use tamtam_wait::seam::{CacheAligned, UnsafeCell};
use tamtam_wait::{Backoff, CAN_BLOCK, Context, Operation, Source, Token, Wait, WaitList};

use crate::error::{PutTimeoutError, TakeTimeoutError, TryPutError};
use crate::source::in_list;

/// Nothing inside; who wants to put claims it.
const EMPTY: u32 = 0;
/// A value is being written or read; a few nanoseconds.
const CLAIMED: u32 = 1;
/// A value inside; who wants to take claims it.
const FULL: u32 = 2;
/// Nothing inside, and a selected operation is going to put a value in. It may take its time: the user's code
/// runs meanwhile.
const HELD_EMPTY: u32 = 3;
/// A value inside, and a selected operation is going to take it out.
const HELD_FULL: u32 = 4;

/// The state of a place that a selected operation has found in the state `wanted`, and holds.
const fn held(wanted: u32) -> u32 {
    if wanted == FULL {
        HELD_FULL
    } else {
        HELD_EMPTY
    }
}

/// State and value together, so that one cache line carries both to the other core.
struct Place<T> {
    state: AtomicU32,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The drop box: one place in which a value is handed over.
///
/// A value is [put](Slot::put) in, another thread [takes](Slot::take) it out, and only then the next
/// one fits. Any number of threads may put and take; share the slot by reference or in an `Arc`. Two
/// slots, one for each direction, are the fastest way to take strict turns with another thread.
///
/// A slot has no ends that could be dropped: a thread that takes from it waits until another one puts. Where a
/// peer may go away, use a [channel](crate::bounded) or the timeouts.
///
/// An empty slot allocates nothing. It is 256 bytes for values up to 120 bytes (two cache-line pairs
/// for the value and the waiters of either side).
///
/// # Ordering
///
/// A value that was put before another by one thread is taken before it. What the putter did before
/// `put` is visible to the taker after `take`.
///
/// # Examples
///
/// ```
/// use tamtam_channel::Slot;
///
/// let (question, answer) = (Slot::new(), Slot::new());
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         let number: u64 = question.take();
///         answer.put(number * 2);
///     });
///     question.put(21);
///     assert_eq!(answer.take(), 42);
/// });
/// ```
pub struct Slot<T> {
    place: CacheAligned<Place<T>>,
    takers: WaitList,
    putters: WaitList,
    wait: Wait,
}

// SAFETY: a value only moves through the slot, from one thread to another, and the claimed state
// gives each access to the place to one thread alone.
unsafe impl<T: Send> Send for Slot<T> {}
// SAFETY: the claimed state gives each access to the place to one thread alone; no two threads ever see the value at once,
// so `T: Sync` is not needed.
unsafe impl<T: Send> Sync for Slot<T> {}

// No user code runs while the place is claimed, so no panic can leave it half changed.
impl<T> UnwindSafe for Slot<T> {}
impl<T> RefUnwindSafe for Slot<T> {}

impl<T> Slot<T> {
    /// An empty slot.
    #[must_use]
    pub fn new() -> Self {
        Self::with_state(EMPTY, MaybeUninit::uninit())
    }

    fn with_state(state: u32, value: MaybeUninit<T>) -> Self {
        Slot {
            place: CacheAligned(Place {
                state: AtomicU32::new(state),
                value: UnsafeCell::new(value),
            }),
            takers: WaitList::new(),
            putters: WaitList::new(),
            wait: Wait::Adaptive,
        }
    }

    /// The same slot, whose `put` and `take` wait in another way.
    #[must_use]
    pub fn with_wait(mut self, wait: Wait) -> Self {
        self.wait = wait;
        self
    }

    /// Claims the place if it is in the state `wanted`.
    ///
    /// Waits out another thread's access: a slot that is being emptied is neither full nor empty. A place that
    /// is held by a selected operation is in no state that could be wanted.
    #[inline]
    fn claim(&self, wanted: u32) -> bool {
        self.claim_as(wanted, CLAIMED)
    }

    /// As [`claim`](Slot::claim), and leaves the place in the state `claimed`.
    #[inline]
    fn claim_as(&self, wanted: u32, claimed: u32) -> bool {
        let mut backoff = Backoff::new();
        loop {
            // SYNC slot-state: acquires what the last release store wrote. Sequentially consistent,
            // because a claim must be seen by a waiter that registers and looks once more.
            match self.place.state.compare_exchange(
                wanted,
                claimed,
                Ordering::SeqCst,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(CLAIMED) => backoff.pause(),
                Err(_) => return false,
            }
        }
    }

    /// One look, without waiting for another thread; for those who will look again.
    #[inline]
    fn claim_at_once(&self, wanted: u32) -> bool {
        self.place.state.load(Ordering::Relaxed) == wanted
            && self
                .place
                .state
                // SYNC slot-state, as in `claim`
                .compare_exchange(wanted, CLAIMED, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
    }

    /// Fills the claimed place.
    #[inline]
    fn fill(&self, value: T) {
        self.place.value.with_mut(|place| {
            // SAFETY: the place is claimed by this thread and holds nothing.
            unsafe { (*place).write(value) };
        });
        // SYNC slot-state
        self.place.state.store(FULL, Ordering::Release);
        self.takers.habit().meet();
        self.takers.notify_one();
    }

    /// Empties the claimed place.
    #[inline]
    fn empty(&self) -> T {
        let value = self.place.value.with_mut(|place| {
            // SAFETY: the place is claimed by this thread and was full.
            unsafe { (*place).assume_init_read() }
        });
        // SYNC slot-state
        self.place.state.store(EMPTY, Ordering::Release);
        self.putters.habit().meet();
        self.putters.notify_one();
        value
    }

    /// Puts a value in, if the slot is empty.
    ///
    /// # Errors
    ///
    /// [`TryPutError`] with the value if the slot is full.
    pub fn try_put(&self, value: T) -> Result<(), TryPutError<T>> {
        if self.claim(EMPTY) {
            self.fill(value);
            Ok(())
        } else {
            Err(TryPutError(value))
        }
    }

    /// Puts the value in, if there is one and the slot is empty; else leaves it.
    pub(crate) fn try_put_from(&self, value: &mut Option<T>) -> bool {
        let puts = value.is_some() && self.claim(EMPTY);
        if puts && let Some(value) = value.take() {
            self.fill(value);
        }
        puts
    }

    /// Puts a value in, after waiting until the slot is empty.
    ///
    /// # Blocking
    ///
    /// For as long as the value that is inside is not taken.
    pub fn put(&self, value: T) {
        if self.claim_at_once(EMPTY) || self.wait_to_claim(EMPTY, None) {
            self.fill(value);
        }
    }

    /// As [`put`](Slot::put), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`PutTimeoutError`] with the value if the slot stayed full.
    pub fn put_timeout(&self, value: T, timeout: Duration) -> Result<(), PutTimeoutError<T>> {
        self.put_until(value, Instant::now().checked_add(timeout))
    }

    /// As [`put`](Slot::put), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`PutTimeoutError`] with the value if the slot stayed full.
    pub fn put_deadline(&self, value: T, deadline: Instant) -> Result<(), PutTimeoutError<T>> {
        self.put_until(value, Some(deadline))
    }

    fn put_until(&self, value: T, deadline: Option<Instant>) -> Result<(), PutTimeoutError<T>> {
        if self.wait_to_claim(EMPTY, deadline) {
            self.fill(value);
            Ok(())
        } else {
            Err(PutTimeoutError(value))
        }
    }

    /// Puts a value in, whether the slot is empty or full, and returns the unread value that it
    /// displaced, if there was one.
    ///
    /// # Blocking
    ///
    /// Only while a selected operation holds the place: until its value is made and put.
    pub fn replace(&self, value: T) -> Option<T> {
        let mut backoff = Backoff::new();
        loop {
            if self.claim_at_once(EMPTY) {
                self.fill(value);
                return None;
            }
            if self.claim_at_once(FULL) {
                let unread = self.place.value.with_mut(|place| {
                    // SAFETY: the place is claimed by this thread and was full.
                    let unread = unsafe { (*place).assume_init_read() };
                    // SAFETY: the place is claimed by this thread, and its value was read out above.
                    unsafe { (*place).write(value) };
                    unread
                });
                // SYNC slot-state
                self.place.state.store(FULL, Ordering::Release);
                // A taker that found the place claimed and went to sleep has to hear of it.
                self.takers.notify_one();
                return Some(unread);
            }
            if CAN_BLOCK && self.is_held() {
                self.wait_while_held();
                backoff = Backoff::new();
            } else {
                backoff.pause();
            }
        }
    }

    /// Whether a selected operation holds the place.
    fn is_held(&self) -> bool {
        tamtam_wait::seam::model_fence();
        matches!(
            self.place.state.load(Ordering::SeqCst),
            HELD_EMPTY | HELD_FULL
        )
    }

    /// Sleeps until the place is held no more. It may become full or empty then, so this thread watches both
    /// lists, which takes no wake-up from those who wait there.
    #[cold]
    fn wait_while_held(&self) {
        const ONLY: Operation = Operation::new(0);
        Context::with(|context| {
            self.takers.watch(ONLY, context);
            self.putters.watch(ONLY, context);
            if !self.is_held() {
                context.abort();
            }
            context.park(None);
            self.takers.unwatch(ONLY, context);
            self.putters.unwatch(ONLY, context);
        });
    }

    /// Ends the holding of the place by this thread's selected operation.
    ///
    /// Sequentially consistent, as the claim of any other operation: a thread that has registered as a waiter
    /// and then found the place held sleeps, so this side must see it afterwards.
    fn release(&self, next: u32) {
        // SYNC slot-state
        self.place.state.swap(next, Ordering::SeqCst);
        tamtam_wait::seam::model_fence();
    }

    /// Takes the value out, if there is one.
    pub fn try_take(&self) -> Option<T> {
        // Looking before claiming keeps a polled slot's cache line shared.
        if self.place.state.load(Ordering::Relaxed) == EMPTY {
            return None;
        }
        self.claim(FULL).then(|| self.empty())
    }

    /// Takes the value out, after waiting until there is one.
    ///
    /// # Blocking
    ///
    /// For as long as no value is put in.
    #[must_use = "the value is gone from the slot"]
    pub fn take(&self) -> T {
        loop {
            if self.claim_at_once(FULL) || self.wait_to_claim(FULL, None) {
                return self.empty();
            }
        }
    }

    /// As [`take`](Slot::take), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`TakeTimeoutError`] if the slot stayed empty.
    pub fn take_timeout(&self, timeout: Duration) -> Result<T, TakeTimeoutError> {
        self.take_until(Instant::now().checked_add(timeout))
    }

    /// As [`take`](Slot::take), but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// [`TakeTimeoutError`] if the slot stayed empty.
    pub fn take_deadline(&self, deadline: Instant) -> Result<T, TakeTimeoutError> {
        self.take_until(Some(deadline))
    }

    fn take_until(&self, deadline: Option<Instant>) -> Result<T, TakeTimeoutError> {
        if self.wait_to_claim(FULL, deadline) {
            Ok(self.empty())
        } else {
            Err(TakeTimeoutError)
        }
    }

    /// Waits until the place is in the state `wanted` and claims it; `false` after the deadline.
    fn wait_to_claim(&self, wanted: u32, deadline: Option<Instant>) -> bool {
        self.list_for(wanted)
            .wait_until(
                self.wait,
                deadline,
                |_| self.claim_at_once(wanted).then_some(()),
                || self.may_become(wanted),
            )
            .is_some()
    }

    fn list_for(&self, wanted: u32) -> &WaitList {
        if wanted == FULL {
            &self.takers
        } else {
            &self.putters
        }
    }

    /// The second look of a thread that has registered: a claimed place may be about to become what
    /// it waits for, and the claimer may have looked for waiters too early to find it. One that holds the place
    /// has not looked yet.
    fn may_become(&self, wanted: u32) -> bool {
        tamtam_wait::seam::model_fence();
        let state = self.place.state.load(Ordering::SeqCst);
        state == wanted || state == CLAIMED
    }

    /// Whether a value is inside at this moment.
    pub fn is_full(&self) -> bool {
        matches!(self.settled(), FULL | HELD_FULL)
    }

    /// Whether nothing is inside at this moment.
    pub fn is_empty(&self) -> bool {
        matches!(self.settled(), EMPTY | HELD_EMPTY)
    }

    /// The state, after another thread's access.
    fn settled(&self) -> u32 {
        let mut backoff = Backoff::new();
        loop {
            match self.place.state.load(Ordering::Acquire) {
                CLAIMED => backoff.pause(),
                state => return state,
            }
        }
    }

    /// Unwraps the value, if there is one.
    pub fn into_inner(mut self) -> Option<T> {
        self.take_last()
    }

    /// Takes the value out of a slot that nothing else uses any more. A selected operation that was leaked may
    /// seem to hold it.
    fn take_last(&mut self) -> Option<T> {
        if self.is_held() {
            let state = if self.is_full() { FULL } else { EMPTY };
            self.place.state.store(state, Ordering::Relaxed);
        }
        self.try_take()
    }
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> From<T> for Slot<T> {
    /// A slot with a value inside.
    fn from(value: T) -> Self {
        Self::with_state(FULL, MaybeUninit::new(value))
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take_last());
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("full", &self.is_full())
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

/// One direction of a slot as something to wait for. `HOLDS` if the user's code runs between the beginning of the
/// operation and its end, so that others may find the place held.
#[repr(transparent)]
pub(crate) struct SlotOperation<T, const WANTED: u32, const HOLDS: bool>(Slot<T>);

pub(crate) type Taking<T, const HOLDS: bool = false> = SlotOperation<T, FULL, HOLDS>;
pub(crate) type Putting<T, const HOLDS: bool = false> = SlotOperation<T, EMPTY, HOLDS>;

impl<T> Slot<T> {
    pub(crate) fn taking<const HOLDS: bool>(&self) -> &Taking<T, HOLDS> {
        // SAFETY: the direction is a transparent wrapper of the slot.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }

    pub(crate) fn putting<const HOLDS: bool>(&self) -> &Putting<T, HOLDS> {
        // SAFETY: the direction is a transparent wrapper of the slot.
        unsafe { &*core::ptr::from_ref(self).cast() }
    }
}

impl<T, const HOLDS: bool> Taking<T, HOLDS> {
    /// Finishes a begun operation: the place is claimed by this thread and full.
    pub(crate) fn finish(&self) -> T {
        if HOLDS {
            self.0.release(CLAIMED);
        }
        self.0.empty()
    }
}

impl<T, const HOLDS: bool> Putting<T, HOLDS> {
    /// Finishes a begun operation: the place is claimed by this thread and empty.
    pub(crate) fn finish(&self, value: T) {
        if HOLDS {
            self.0.release(CLAIMED);
        }
        self.0.fill(value);
    }
}

impl<T, const WANTED: u32, const HOLDS: bool> Source for SlotOperation<T, WANTED, HOLDS> {
    fn try_begin(&self, _token: &mut Token) -> bool {
        let claimed = if HOLDS { held(WANTED) } else { CLAIMED };
        self.0.claim_as(WANTED, claimed)
    }

    in_list!(this => *this.0.list_for(WANTED), this.0.may_become(WANTED));

    fn decline(&self, _: &Context) {
        self.0
            .list_for(WANTED)
            .decline(|| self.0.may_become(WANTED));
    }

    unsafe fn abandon(&self, _: &mut Token) {
        // The place was found in this state, and nothing was done to it.
        self.0.release(WANTED);
        self.0.list_for(WANTED).notify_one();
    }

    fn is_ready(&self) -> bool {
        self.0.settled() == WANTED
    }
}
