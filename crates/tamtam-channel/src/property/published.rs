//! A value that any number of threads read while others replace it. The protocol is in README.md.

use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr;

use tamtam_wait::seam::atomic::{self, AtomicPtr, AtomicU32, AtomicU64, Ordering};
use tamtam_wait::seam::{Arc, CacheAligned, Mutex, model_fence, spin_loop};
use tamtam_wait::{Wait, WaitList, fence};

use super::hazard::{ClaimedRecord, HazardSlot, Registry, is_time_to_calm_down};
use super::pace::Pace;

/// Readers go without a barrier, and each writer makes all threads execute one.
const QUIET: u32 = 0;
/// Readers and writers each execute barriers of their own.
const BUSY: u32 = 1;

/// What a writer does for readers on other cores, while it meets some: it pauses so many times between
/// replacing the value and looking at their slots. A reader needs three transfers of cache lines to get
/// at a new value, and each look takes its slot away from it once more. With both at full speed on two cores
/// a read takes 120 to 160 ns without this, and 36 to 39 with it; a set 0.35 µs, and 0.8. The length of a
/// pause depends on the processor: here 40 take 0.45 µs, and elsewhere up to 2. It does not depend on what
/// the readers do.
const PAUSES_FOR_READERS: u32 = 40;
/// A writer that finds a reader at the value looks again so many times, with so many pauses before: most
/// readers are gone by then, and to give one a share costs both sides several transfers more.
const LOOKS_AT_READER: u32 = if cfg!(tamtam_loom) { 0 } else { 2 };
const PAUSES_A_LOOK: u32 = 10;

pub(super) struct Published<T> {
    front: CacheAligned<Front<T>>,
    version: AtomicU64,
    /// Held by the writer that replaces the value, until nothing is left to do but to drop the old one.
    writers: Mutex<Pace>,
    /// Those who wait for another version. Here, and not in the property, because there is room for
    /// them behind the front's cache lines.
    pub(super) waiters: WaitList,
    registry: Registry,
    /// One share of the current value is ours.
    owns: PhantomData<Arc<T>>,
}

/// All that a read looks at, on cache lines of its own.
struct Front<T> {
    /// From `Arc::into_raw`. Null only while the property is taken apart.
    current: AtomicPtr<T>,
    mode: AtomicU32,
    /// How one waits for another version. No read needs it; it never changes, and has room here.
    wait: Wait,
}

/// A value was put in the place of another.
pub(super) struct Replaced<T> {
    /// The version that begins with the new value.
    pub(super) version: u64,
    pub(super) old: Arc<T>,
}

/// A value was to replace another version than the current one.
pub(super) struct Refused<T> {
    /// The current version.
    pub(super) version: u64,
    pub(super) new: Arc<T>,
}

impl<T> Published<T> {
    pub(super) fn new(value: T, pace: Pace, registry: Registry) -> Self {
        // Asked before anything else: light fences count from here on.
        let mode = if fence::is_asymmetric() { QUIET } else { BUSY };
        Published {
            front: CacheAligned(Front {
                current: AtomicPtr::new(Arc::into_raw(Arc::new(value)).cast_mut()),
                mode: AtomicU32::new(mode),
                wait: Wait::Adaptive,
            }),
            version: AtomicU64::new(0),
            writers: Mutex::new(pace),
            waiters: WaitList::new(),
            registry,
            owns: PhantomData,
        }
    }

    pub(super) fn wait(&self) -> Wait {
        self.front.wait
    }

    pub(super) fn set_wait(&mut self, wait: Wait) {
        self.front.wait = wait;
    }

    /// The number of replacements so far. Who reads after this finds that version or a later one.
    #[inline]
    pub(super) fn version(&self) -> u64 {
        // SYNC version
        self.version.load(Ordering::Acquire)
    }

    /// The second look of a thread that has registered as a waiter.
    pub(super) fn version_once_registered(&self) -> u64 {
        model_fence();
        // SYNC version
        self.version.load(Ordering::SeqCst)
    }

    // ------------------------------------------------------------------------------- readers

    /// Takes hold of the current value. Never waits; starts over if the value is replaced in
    /// the few nanoseconds that this takes.
    #[inline]
    pub(super) fn protect(&self) -> Protected<'_, T> {
        let claim = self.registry.claim();
        loop {
            let seen = self.front.current.load(Ordering::Relaxed);
            let busy = self.front.enter(claim.slot(), seen);
            // SYNC current, SYNC hazard: if it is current still, the writer that replaces it will find it
            // in the slot. It is used as loaded here: what was first seen at the same address may
            // have been an earlier value.
            let value = self.front.current.load(Ordering::SeqCst).cast_const();
            if value == seen {
                return Protected {
                    value,
                    busy,
                    published: self,
                    claim,
                };
            }
            self.retreat(claim.slot(), seen, busy);
        }
    }

    /// The value was replaced before it was taken hold of.
    #[cold]
    fn retreat(&self, slot: &HazardSlot, seen: *mut T, busy: bool) {
        self.front.leave(slot, seen, busy);
    }

    /// Now and then a reader looks whether the writers have become seldom, since no writer would
    /// ever say so if the last one was quick.
    #[cold]
    #[inline(never)]
    pub(super) fn calm_down(&self) {
        // The writer that holds the lock replaces the value at this moment, so all is not calm.
        if fence::is_asymmetric()
            && let Some(pace) = self.writers.try_lock()
            && pace.is_calm()
        {
            // SYNC quiet
            self.front.mode.store(QUIET, Ordering::Release);
        }
    }

    // ------------------------------------------------------------------------------- writers

    /// Puts a value in the place of the current one; if a version is expected, only in its place.
    ///
    /// The old value is for the caller to drop; readers that hold it have shares of their own.
    pub(super) fn replace(
        &self,
        new: Arc<T>,
        expected: Option<u64>,
    ) -> Result<Replaced<T>, Refused<T>> {
        let mut pace = self.writers.lock();
        let version = self.version.load(Ordering::Relaxed);
        if expected.is_some_and(|expected| expected != version) {
            drop(pace);
            return Err(Refused { version, new });
        }
        let busy = self.choose_mode(&mut pace);
        let new = Arc::into_raw(new).cast_mut();
        // SYNC current, SYNC hazard
        let old = self.front.current.swap(new, Ordering::SeqCst);
        // SYNC version: after the value, so that a version is never ahead of it. Sequentially
        // consistent, because it must be seen by a waiter that registers and looks once more.
        self.version.store(version + 1, Ordering::SeqCst);
        if busy && pace.meets_readers() {
            pause(PAUSES_FOR_READERS);
        }
        barrier_of_writer(busy);
        if self.is_held(old) {
            pace.note_readers();
            if self.stays_held(old) {
                self.pay(old, busy);
            }
        }
        drop(pace);
        Ok(Replaced {
            version: version + 1,
            // SAFETY: the pointer came from `Arc::into_raw`, and with the swap our share of the
            // value passed to this thread.
            old: unsafe { Arc::from_raw(old) },
        })
    }

    /// Whether this replacement has barriers of its own; else it must make all threads execute one.
    fn choose_mode(&self, pace: &mut Pace) -> bool {
        if !fence::is_asymmetric() {
            return true;
        }
        let often = pace.note();
        // Written under the lock only, which we have.
        let was = self.front.mode.load(Ordering::Relaxed);
        if often && was == QUIET {
            self.front.mode.store(BUSY, Ordering::SeqCst);
            // From here on a writer that reads `QUIET` has had its slot written before this.
            fence::heavy();
        } else if !often && was == BUSY {
            // SYNC quiet
            self.front.mode.store(QUIET, Ordering::Release);
        }
        often
    }

    /// Whether a reader holds the replaced value.
    fn is_held(&self, old: *mut T) -> bool {
        self.registry
            .slots()
            .any(|slot| self.front.is_held(slot, old))
    }

    /// Whether a reader holds the replaced value for more than a moment.
    #[cold]
    fn stays_held(&self, old: *mut T) -> bool {
        (0..LOOKS_AT_READER).all(|_| {
            pause(PAUSES_A_LOOK);
            self.is_held(old)
        })
    }

    /// Gives a share of the replaced value to each reader that holds it.
    #[cold]
    fn pay(&self, old: *mut T, busy: bool) {
        let _alone = self.registry.paying();
        for slot in self
            .registry
            .slots()
            .filter(|slot| self.front.is_held(slot, old))
        {
            // SAFETY: our own share keeps the value alive meanwhile.
            unsafe { Arc::increment_strong_count(old) };
            // SYNC paid. Nothing else can be in it: a reader holds the value that it has written
            // into its slot only after it has taken what was there for the one before, and all
            // writers hold the lock.
            slot.payer.store(self.front.name(), Ordering::Relaxed);
            slot.paid.store(old.cast(), Ordering::SeqCst);
        }
        barrier_of_writer(busy);
        // A reader that holds the value still will look for its share when it leaves. One that
        // left meanwhile may have looked too early.
        for slot in self.registry.slots() {
            if slot.paid.load(Ordering::Relaxed) == old.cast()
                && !self.front.is_held(slot, old)
                && slot
                    .paid
                    .compare_exchange(
                        old.cast(),
                        ptr::null_mut(),
                        Ordering::Relaxed,
                        Ordering::Relaxed,
                    )
                    .is_ok()
            {
                // SAFETY: the share that was meant for the reader; our own is left.
                unsafe { Arc::decrement_strong_count(old) };
            }
        }
    }

    /// Takes the value out; nothing else may be done with it afterwards but to drop this.
    fn take(&mut self) -> Option<Arc<T>> {
        let value = self.front.current.swap(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: a pointer that is not null came from `Arc::into_raw`, with one share, which is
        // taken out with it. There is no reader, since nothing else refers to this.
        (!value.is_null()).then(|| unsafe { Arc::from_raw(value) })
    }

    pub(super) fn into_inner(mut self) -> Arc<T> {
        match self.take() {
            Some(value) => value,
            None => unreachable!("the value is taken out once"),
        }
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Gives the other side of this core's cache lines some time.
fn pause(times: u32) {
    if !cfg!(tamtam_loom) {
        (0..times).for_each(|_| spin_loop());
    }
}

/// The barrier of a writer that has written and is about to look at the readers' slots.
fn barrier_of_writer(busy: bool) {
    if busy {
        // The write and the looks are sequentially consistent.
        model_fence();
    } else {
        fence::heavy();
    }
}

impl<T> Front<T> {
    /// By which the slots tell this property from others.
    #[inline(always)]
    fn name(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// Whether the reader at this slot holds the value, or may be about to find that it is too late
    /// for that.
    fn is_held(&self, slot: &HazardSlot, value: *mut T) -> bool {
        // SYNC hazard; SYNC left: what the reader did with an earlier value is done.
        slot.held.load(Ordering::SeqCst) == value.cast()
            && slot.of.load(Ordering::Acquire) == self.name()
    }

    /// Writes into the slot what is about to be read. Returns whether that took a barrier.
    #[inline(always)]
    fn enter(&self, slot: &HazardSlot, value: *mut T) -> bool {
        // A guess; what counts is the mode that is read after the slot was written.
        let busy = self.mode.load(Ordering::Relaxed) == BUSY;
        // SYNC left
        slot.of.store(self.name(), Ordering::Release);
        self.write(slot, value.cast(), busy)
    }

    /// Clears the slot, and drops the share that a writer may have left.
    #[inline(always)]
    fn leave(&self, slot: &HazardSlot, value: *const T, busy: bool) {
        self.write(slot, ptr::null_mut(), busy);
        // SYNC paid, SYNC hazard
        if !slot.paid.load(Ordering::SeqCst).is_null() {
            self.take_share(slot, value);
        }
    }

    /// Writes the slot, with a barrier towards the writers after it.
    #[inline(always)]
    fn write(&self, slot: &HazardSlot, value: *mut (), busy: bool) -> bool {
        if busy {
            // SYNC hazard, SYNC left. Sequentially consistent, and so is the load that follows.
            slot.held.store(value, Ordering::SeqCst);
            model_fence();
            return true;
        }
        // SYNC hazard, SYNC left
        slot.held.store(value, Ordering::Release);
        fence::light();
        // SYNC quiet
        if self.mode.load(Ordering::Acquire) == QUIET {
            return false;
        }
        atomic::fence(Ordering::SeqCst);
        true
    }

    /// Drops a reader's share of a value that was replaced while it held it.
    #[cold]
    #[inline(never)]
    fn take_share(&self, slot: &HazardSlot, value: *const T) {
        // SYNC paid
        let paid = slot.paid.load(Ordering::Acquire);
        // A share of another value was meant for an earlier read, which left before it came. It
        // will be taken back.
        if paid.cast_const() == value.cast()
            && slot.payer.load(Ordering::Relaxed) == self.name()
            && slot
                .paid
                .compare_exchange(paid, ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
        {
            // SAFETY: a writer of this property has made this share for this reader, and it was
            // just taken out, so that no other thread drops it.
            drop(unsafe { Arc::from_raw(paid.cast::<T>().cast_const()) });
        }
    }
}

/// A value that is being read; it lives until this is dropped, at least.
pub(super) struct Protected<'a, T> {
    value: *const T,
    /// Whether the read began with a barrier.
    busy: bool,
    published: &'a Published<T>,
    // Dropped after `Protected` itself has left the slot, also if that panics.
    claim: ClaimedRecord<'a>,
}

impl<T> Protected<'_, T> {
    /// A share of the value, to keep.
    #[inline]
    pub(super) fn share(&self) -> Arc<T> {
        // SAFETY: the pointer came from `Arc::into_raw`, and the value lives as long as `self`.
        unsafe {
            Arc::increment_strong_count(self.value);
            Arc::from_raw(self.value)
        }
    }
}

impl<T> Deref for Protected<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value lives as long as `self`: it was current after its address was written
        // into the slot, so a writer that has replaced it since has found it there and left us a share.
        unsafe { &*self.value }
    }
}

impl<T> Drop for Protected<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let front = &self.published.front;
        if self.busy && is_time_to_calm_down() {
            self.published.calm_down();
        }
        front.leave(self.claim.slot(), self.value, self.busy);
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    impl<T> Published<T> {
        fn is_busy(&self) -> bool {
            self.front.mode.load(Ordering::SeqCst) == BUSY
        }

        /// Replacements follow each other so quickly that the mode changes, which one break of this thread may prevent.
        fn make_busy(&self, pace: &mut Pace) {
            while !self.choose_mode(pace) {}
        }
    }

    fn becomes_calm(pace: &Pace) {
        while !pace.is_calm() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn readers_go_without_barriers_only_where_the_writer_sees_to_them() {
        let published = Published::new(0, Pace::new(), Registry::new());
        let mut pace = published.writers.lock();
        let mut often = 0;
        for _ in 0..1_000 {
            let has_own = published.choose_mode(&mut pace);
            assert_eq!(has_own, published.is_busy());
            often += usize::from(has_own);
        }
        assert!(often > 1);
        becomes_calm(&pace);
        let is_seldom = !published.choose_mode(&mut pace);
        assert_eq!(is_seldom, fence::is_asymmetric());
        assert_eq!(!published.is_busy(), is_seldom);
    }

    #[test]
    fn a_reader_calms_down_what_no_writer_is_at_any_more() {
        let published = Published::new(0, Pace::new(), Registry::new());
        let mut pace = published.writers.lock();
        published.make_busy(&mut pace);
        becomes_calm(&pace);
        published.calm_down();
        assert!(published.is_busy(), "a writer has the lock");
        drop(pace);
        published.calm_down();
        assert_ne!(published.is_busy(), fence::is_asymmetric());
    }
}
