//! Through what a message goes from one side to the other.

use core::ptr;

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::seam::atomic::{AtomicPtr, Ordering};
use tamtam_wait::{Backoff, CAN_BLOCK, Context};

use super::ONLY;

/// Where one message changes hands.
pub(crate) struct Packet<T> {
    /// Whether the owner is blocked until the exchange is over, so that the packet can be on its
    /// stack.
    pub(super) blocked: bool,
    /// [`OPEN`], [`HELD`], [`DONE`], or the context of the thread that sleeps until it is done.
    ///
    /// Done means, of a sender's packet: the message is out. Of a receiver's: the message is in. Of the
    /// packet of a sender in a select: the message is in.
    pub(super) state: AtomicPtr<Context>,
    pub(super) message: UnsafeCell<Option<T>>,
}

/// The exchange takes a few instructions from the choice to its end.
pub(super) const OPEN: *mut Context = ptr::null_mut();
/// A sender in a select finishes the exchange: the user's code runs before, so it may take any time.
pub(super) const HELD: *mut Context = ptr::without_provenance_mut(1);
/// The exchange is over.
pub(super) const DONE: *mut Context = ptr::without_provenance_mut(2);

/// So many looks at a packet that is held come before sleeping.
const LOOKS_BEFORE_SLEEP: u32 = if cfg!(tamtam_loom) { 1 } else { 64 };

impl<T> Packet<T> {
    pub(super) fn on_stack(message: Option<T>) -> Self {
        Packet {
            blocked: true,
            state: AtomicPtr::new(OPEN),
            message: UnsafeCell::new(message),
        }
    }

    pub(super) fn on_heap(state: *mut Context) -> *mut Self {
        Box::into_raw(Box::new(Packet {
            blocked: false,
            state: AtomicPtr::new(state),
            message: UnsafeCell::new(None),
        }))
    }

    pub(super) fn address(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast()
    }

    pub(super) fn wait_until_done(&self) {
        let mut backoff = Backoff::new();
        let mut looks = 0;
        loop {
            // SYNC packet-done
            match self.state.load(Ordering::Acquire) {
                DONE => return,
                HELD if looks >= LOOKS_BEFORE_SLEEP && CAN_BLOCK => return self.sleep_until_done(),
                _ => {}
            }
            looks += 1;
            backoff.pause();
        }
    }

    /// Sleeps until a packet that is held is done.
    #[cold]
    fn sleep_until_done(&self) {
        Context::with(|context| {
            let sleeper = Box::into_raw(Box::new(context.clone()));
            // SYNC packet-sleeper: the context is written. SYNC packet-done
            if self
                .state
                .compare_exchange(HELD, sleeper, Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                // SAFETY: made above, and the other side has not seen it. The packet is done.
                return drop(unsafe { Box::from_raw(sleeper) });
            }
            // SYNC packet-done by the context's word, which is decided after the state.
            context.park(None);
        });
    }

    /// # Safety
    ///
    /// No other thread accesses the message.
    pub(super) unsafe fn take(&self) -> Option<T> {
        self.message.with_mut(|message| {
            // SAFETY: no other thread accesses the message, says the caller.
            unsafe { (*message).take() }
        })
    }

    /// Puts the message in. The packet is not done by that.
    ///
    /// # Safety
    ///
    /// No other thread accesses the message.
    pub(super) unsafe fn fill(&self, message: T) {
        self.message.with_mut(|place| {
            // SAFETY: no other thread accesses the message, says the caller.
            unsafe { *place = Some(message) };
        });
    }

    /// Ends an exchange that is not held; the owner may be gone right afterwards.
    pub(super) fn end(&self) {
        // SYNC packet-done
        self.state.store(DONE, Ordering::Release);
    }

    /// Ends an exchange that is held, and wakes the thread that sleeps until then; the owner may be gone right
    /// after the change of the state.
    pub(super) fn end_held(&self) {
        // SYNC packet-done, SYNC packet-sleeper
        let before = self.state.swap(DONE, Ordering::AcqRel);
        if before == HELD {
            return;
        }
        debug_assert!(before != OPEN && before != DONE, "the packet is held");
        // SAFETY: the thread that sleeps has left its context in a box, and the swap has taken it out.
        let sleeper = unsafe { Box::from_raw(before) };
        if sleeper.select(ONLY) == Some(true) {
            sleeper.wake();
        }
    }
}
