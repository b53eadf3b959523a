//! Sources in memory that several processes share, for which the keeper waits by itself: it sleeps at their words and for its mail in one sleep.
//!
//! What another process brings there brings no task: no thread of this process knows of it. So the keeper looks, each time before it sleeps and between
//! turns, and wakes the listener of what is ready.

use std::sync::{Arc, Weak};
use std::task::Waker;
use std::time::Instant;

use tamtam_wait::seam::UnsafeCell;
use tamtam_wait::{Context, Operation, SharedWords, Source};

use super::{HERE, Line};

/// A source that more than one thread may look at.
pub type SharedSource = dyn Source + Send + Sync;

/// Between so many turns the keeper looks once, however much is due.
pub(super) const TURNS_PER_LOOK: u32 = 16;

/// What a listener that lives here waits for.
pub(super) struct AtWords {
    /// The listener has it, and may be gone.
    source: Weak<SharedSource>,
    waker: Waker,
}

/// The keeper's own: see [`AtWords`].
pub(super) type Listed = UnsafeCell<Vec<AtWords>>;

impl Line {
    /// Whether this thread, in a turn, is the keeper of a line that sleeps by itself, and so at words of other processes, too.
    pub(crate) fn sleeps_at_words() -> bool {
        let here = HERE.get();
        // SAFETY: this thread is in the turns of that line, so it is there.
        !here.is_null() && unsafe { &*here }.hook.is_none()
    }

    /// Wakes a listener of this line when the source is ready, once. In a turn of a line that [sleeps so](Line::sleeps_at_words).
    pub(crate) fn wake_when_ready(source: Weak<SharedSource>, waker: &Waker) {
        let here = HERE.get();
        if !here.is_null() {
            // SAFETY: this thread is in the turns of that line, and is its keeper.
            unsafe { (*here).list(source, waker) };
        }
    }

    /// Notes that a listener is to be woken when the source is ready, once, in place of what was noted for that source.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    pub(super) unsafe fn list(&self, source: Weak<SharedSource>, waker: &Waker) {
        let entry = AtWords {
            source,
            waker: waker.clone(),
        };
        // SAFETY: the caller is the keeper; what is taken out is dropped below.
        let before = unsafe {
            self.with_listed(|listed| {
                let is_it = |other: &AtWords| Weak::ptr_eq(&other.source, &entry.source);
                let before = listed.iter().position(is_it);
                let before = before.map(|position| listed.swap_remove(position));
                listed.push(entry);
                before
            })
        };
        drop(before);
    }

    /// # Safety
    ///
    /// The caller is the keeper, and `change` runs nothing that would come here again.
    unsafe fn with_listed<R>(&self, change: impl FnOnce(&mut Vec<AtWords>) -> R) -> R {
        self.own.listed.with_mut(|listed| {
            // SAFETY: the keeper alone uses it, and not twice at once, says the caller.
            change(unsafe { &mut *listed })
        })
    }

    /// Whether there is anything to wait for at words.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn waits_at_words(&self) -> bool {
        // SAFETY: the caller is the keeper.
        unsafe { self.with_listed(|listed| !listed.is_empty()) }
    }

    /// What the keeper waits for at words, without what was given up.
    ///
    /// # Safety
    ///
    /// The caller is the keeper.
    unsafe fn sources(&self) -> Vec<Arc<SharedSource>> {
        let mut sources = Vec::new();
        let mut gone = Vec::new();
        // SAFETY: the caller is the keeper; what is given up is dropped below.
        unsafe {
            self.with_listed(|listed| {
                let mut position = 0;
                while let Some(entry) = listed.get(position) {
                    match entry.source.upgrade() {
                        Some(source) => {
                            sources.push(source);
                            position += 1;
                        }
                        None => gone.push(listed.swap_remove(position)),
                    }
                }
            });
        }
        drop(gone);
        sources
    }

    /// Wakes the listeners of what is ready; whether there was any.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, between turns.
    pub(super) unsafe fn look_at_words(&self) -> bool {
        // SAFETY: the caller is the keeper, between turns.
        unsafe { self.waits_at_words() && self.look_at_each() }
    }

    /// # Safety
    ///
    /// As [`look_at_words`](Line::look_at_words).
    #[cold]
    unsafe fn look_at_each(&self) -> bool {
        // SAFETY: the caller is the keeper.
        let sources = unsafe { self.sources() };
        let ready: Vec<&Arc<SharedSource>> =
            sources.iter().filter(|source| source.is_ready()).collect();
        let mut woken = Vec::new();
        for source in &ready {
            // SAFETY: the caller is the keeper; what is taken out is woken below.
            unsafe {
                self.with_listed(|listed| {
                    let is_it = |entry: &AtWords| {
                        core::ptr::addr_eq(entry.source.as_ptr(), Arc::as_ptr(source))
                    };
                    if let Some(position) = listed.iter().position(is_it) {
                        woken.push(listed.swap_remove(position));
                    }
                });
            }
        }
        for entry in &woken {
            entry.waker.wake_by_ref();
        }
        !woken.is_empty()
    }

    /// Waits at words and for mail, and wakes the listeners of what is ready then; `false`, at once, where there is nothing to wait for at words.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, between turns.
    #[inline]
    pub(super) unsafe fn wait_at_words(
        &self,
        until: Option<Instant>,
        is_over: impl Fn() -> bool,
    ) -> bool {
        // SAFETY: the caller is the keeper, between turns.
        unsafe { self.waits_at_words() && self.wait_at_each(until, &is_over) }
    }

    /// # Safety
    ///
    /// As [`wait_at_words`](Line::wait_at_words).
    #[cold]
    unsafe fn wait_at_each(&self, until: Option<Instant>, is_over: &dyn Fn() -> bool) -> bool {
        // SAFETY: the caller is the keeper.
        let sources = unsafe { self.sources() };
        if sources.is_empty() {
            return false;
        }
        self.sleep_at_words(&sources, until, is_over);
        // They may be given up while they are not waited for.
        drop(sources);
        // SAFETY: the caller is the keeper, between turns.
        unsafe { self.look_at_words() };
        true
    }

    /// Looks a while, then sleeps in the keeper's list and at the words of these sources, until `is_over`, one of the sources is ready, or the
    /// deadline.
    fn sleep_at_words(
        &self,
        sources: &[Arc<SharedSource>],
        until: Option<Instant>,
        is_over: &dyn Fn() -> bool,
    ) {
        let is_any_ready = || sources.iter().any(|source| source.is_ready());
        let mut patience = self.bell.habit().begin(self.wait, until);
        loop {
            if is_over() || is_any_ready() {
                patience.rewarded();
                return;
            }
            if !patience.look_again() {
                break;
            }
        }
        patience.sleeps();
        let own = Operation::new(0);
        let operation = |position: usize| Operation::new(position as u32 + 1);
        Context::with(|context| {
            let mut words = SharedWords::new();
            let mut listed = Vec::new();
            self.bell.register(own, context);
            for (position, source) in sources.iter().enumerate() {
                let is_ready = source.sleep_at(&mut words).unwrap_or_else(|| {
                    // No room for its words: a thread of the crate that has it sleeps there, and tells this one.
                    listed.push(position);
                    source.watch(operation(position), context)
                });
                if is_ready {
                    context.abort();
                }
            }
            // The look behind the entry into the list, as in any wait.
            if is_over() {
                context.abort();
            }
            context.park_at(words, until);
            self.bell.unregister(own, context);
            for (position, source) in sources.iter().enumerate() {
                if listed.contains(&position) {
                    source.unwatch(operation(position), context);
                } else {
                    source.woken_at();
                }
            }
        });
        patience.woken();
    }
}
