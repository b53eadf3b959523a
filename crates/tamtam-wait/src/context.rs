//! A thread's side of a wait: the one word that decides which of several wakers wins.

use core::cell::Cell;
use core::fmt;
use core::ptr;
use std::time::Instant;

use crate::seam::Arc;
use crate::seam::atomic::{AtomicPtr, Ordering};
use crate::source::Operation;
use crate::{Backoff, Futex, Patience, Scope};

/// Nobody has chosen yet; the thread is awake.
const WAITING: u32 = 0;
/// Nobody has chosen yet; the thread sleeps or is about to.
const PARKED: u32 = 1;
/// The thread gave the wait up.
const ABORTED: u32 = 2;
/// Whoever was waited for is gone.
const DISCONNECTED: u32 = 3;
/// The first of the operations.
const OPERATION: u32 = 4;

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The thread gave up before anybody chose it: its deadline passed or it found what it wanted.
    Aborted,
    /// The other side is gone.
    Disconnected,
    /// This operation was chosen.
    Selected(Operation),
}

/// One thread's place in the wait lists: every entry of one wait points to the same context, and
/// whoever changes its word first decides how the wait ends.
///
/// The idea of one word per blocked thread that all its partners compete for is from
/// crossbeam-channel's select.
#[derive(Clone)]
pub struct Context(Arc<Choice>);

struct Choice {
    word: Futex,
    /// What the chooser and the chosen exchange; null until the chooser has stored it.
    packet: AtomicPtr<()>,
}

#[cfg(not(tamtam_loom))]
thread_local! {
    static SPARE: Cell<Option<Context>> = const { Cell::new(None) };
}

impl Context {
    /// Runs `wait` with a context that is ready for a new wait.
    ///
    /// The thread's own context is reused where there is one: not within another wait of the same
    /// thread, nor while its thread-local values are being dropped.
    pub fn with<R>(wait: impl FnOnce(&Context) -> R) -> R {
        #[cfg(not(tamtam_loom))]
        {
            let context = SPARE
                .try_with(Cell::take)
                .ok()
                .flatten()
                .unwrap_or_else(Context::fresh);
            context.reset();
            let result = wait(&context);
            let _ = SPARE.try_with(|spare| spare.set(Some(context)));
            result
        }
        #[cfg(tamtam_loom)]
        {
            let _ = Cell::new(());
            wait(&Context::fresh())
        }
    }

    fn fresh() -> Self {
        Context(Arc::new(Choice {
            word: Futex::new(WAITING),
            packet: AtomicPtr::new(ptr::null_mut()),
        }))
    }

    /// Makes the context ready for a new wait. No entry of an earlier wait may be listed any more.
    pub fn reset(&self) {
        self.0.word.store(WAITING, Ordering::Relaxed);
        self.0.packet.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Whether both are the same wait.
    #[inline]
    pub fn same(&self, other: &Context) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Chooses an operation for the thread. `Some(asleep)` if this call was the one that decided;
    /// if the thread is asleep, the caller must [`wake`](Context::wake) it.
    #[must_use = "a chosen thread that sleeps must be woken"]
    pub fn select(&self, operation: Operation) -> Option<bool> {
        self.decide(OPERATION + operation.index())
    }

    /// Tells the thread that the other side is gone; else as [`select`](Context::select).
    #[must_use = "a chosen thread that sleeps must be woken"]
    pub fn disconnect(&self) -> Option<bool> {
        self.decide(DISCONNECTED)
    }

    /// The thread itself gives up. `false` if somebody was faster.
    pub fn abort(&self) -> bool {
        self.decide(ABORTED).is_some()
    }

    fn decide(&self, decision: u32) -> Option<bool> {
        let mut current = self.0.word.load(Ordering::Relaxed);
        while current == WAITING || current == PARKED {
            // SYNC context: what the chooser did before is seen by the thread that was chosen.
            match self.0.word.compare_exchange_weak(
                current,
                decision,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(current == PARKED),
                Err(now) => current = now,
            }
        }
        None
    }

    /// Ends the sleep of a thread that was chosen while it slept.
    pub fn wake(&self) {
        self.0.word.wake_one(Scope::Private);
    }

    /// Leaves the packet for the thread that this caller has chosen.
    pub fn leave_packet(&self, packet: *mut ()) {
        // SYNC packet
        self.0.packet.store(packet, Ordering::Release);
    }

    /// Takes the packet that the chooser leaves; it is there or about to be.
    pub fn packet(&self) -> *mut () {
        let mut backoff = Backoff::new();
        loop {
            // SYNC packet
            let packet = self.0.packet.load(Ordering::Acquire);
            if !packet.is_null() {
                return packet;
            }
            backoff.pause();
        }
    }

    /// How the wait ended, if it has.
    #[inline]
    pub fn outcome(&self) -> Option<Outcome> {
        // SYNC context
        match self.0.word.load(Ordering::Acquire) {
            WAITING | PARKED => None,
            ABORTED => Some(Outcome::Aborted),
            DISCONNECTED => Some(Outcome::Disconnected),
            operation => Some(Outcome::Selected(Operation::new(operation - OPERATION))),
        }
    }

    /// Sleeps until somebody decides, or until the deadline.
    pub fn park(&self, deadline: Option<Instant>) -> Outcome {
        // From here on a chooser must wake us. If this fails, somebody has chosen already.
        let _ = self
            .0
            .word
            .compare_exchange(WAITING, PARKED, Ordering::Relaxed, Ordering::Relaxed);
        loop {
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            if self.0.word.wait(PARKED, deadline, Scope::Private).is_err() {
                self.abort();
            }
        }
    }

    /// Looks again as long as `patience` lasts, then sleeps; for waits whose end is announced in
    /// the context alone.
    pub fn wait(&self, patience: &mut Patience<'_>, deadline: Option<Instant>) -> Outcome {
        loop {
            if let Some(outcome) = self.outcome() {
                patience.rewarded();
                return outcome;
            }
            if !patience.look_again() {
                break;
            }
        }
        patience.sleeps();
        let outcome = self.park(deadline);
        if outcome != Outcome::Aborted {
            patience.woken();
        }
        outcome
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("outcome", &self.outcome())
            .finish()
    }
}
