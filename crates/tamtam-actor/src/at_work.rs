//! Who is at work: the actor whose turn it is on this thread, and what it says of itself.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU64;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::cell::System;
use crate::life::{Lifeline, WatchKey, Watcher};

/// The number of an actor: see [`Address::id`](crate::Address::id).
///
/// # Examples
///
/// ```
/// use tamtam_actor::Pool;
///
/// let pool = Pool::new();
/// let one = pool.spawn_fn(|(): (), _| {});
/// let other = pool.spawn_fn(|(): (), _| {});
/// assert_ne!(one.id(), other.id());
/// assert_eq!(one.id(), one.clone().id());
/// println!("actor {}", one.id());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(NonZeroU64);

impl ActorId {
    pub(crate) fn next() -> Self {
        // Not of the seam: it orders nothing.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        ActorId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MAX))
    }

    /// As a number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// What an actor says of itself. It is looked at and changed in the actor's turns only.
pub(crate) struct State(Cell<u8>);

impl State {
    /// The actor is to be stopped after this message.
    pub(crate) const STOPPING: u8 = 1;
    /// It was told that no address is left.
    pub(crate) const ORPHANED: u8 = 2;
    /// Messages are kept back until something else is done.
    pub(crate) const HELD: u8 = 4;
    /// It has sent more than there was room for.
    pub(crate) const MUTED: u8 = 8;
    /// It may not go on with its messages.
    pub(crate) const WAITS: u8 = Self::HELD | Self::MUTED;
    /// There is nobody to handle messages until it is begun, or begun again.
    pub(crate) const PAUSED: u8 = 16;
    /// No message is accepted any more, and it ends when it has handled those that were.
    pub(crate) const FINISHING: u8 = 32;
    /// It ends when it has handled what there is.
    pub(crate) const ENDING: u8 = Self::ORPHANED | Self::FINISHING;
    /// It ends because nobody can send to it.
    pub(crate) const ALONE: u8 = 64;
    /// In a model, which panics only to fail: it has panicked.
    #[cfg(all(test, tamtam_loom))]
    pub(crate) const PANICKED: u8 = 128;

    pub(crate) fn new() -> Self {
        State(Cell::new(0))
    }

    /// Whether any of these is so.
    #[inline(always)]
    pub(crate) fn has(&self, any: u8) -> bool {
        self.0.get() & any != 0
    }

    pub(crate) fn set(&self, all: u8) {
        self.0.set(self.0.get() | all);
    }

    pub(crate) fn clear(&self, all: u8) {
        self.0.set(self.0.get() & !all);
    }
}

/// An actor, whatever its type is.
pub(crate) trait Place: Send + Sync {
    fn id(&self) -> ActorId;
    /// For people to read.
    #[cfg_attr(not(feature = "tracing"), allow(dead_code))]
    fn message_type(&self) -> &'static str;
    /// Messages that were accepted and never handled.
    fn lost(&self) -> u64;
    /// Whether it has its turns on this very thread, and nowhere else.
    fn is_on_this_thread(&self) -> bool;
    /// Lets it handle no more messages from the end of the one that it is at. Called in its turn only.
    fn mute(&self);
    /// Takes that back, once for each time.
    fn unmute(self: Arc<Self>);
    /// Its name, and whom its end concerns.
    fn life(&self) -> &Lifeline;
    /// Calls `watcher` at its end; at once if it has ended.
    fn watch(self: Arc<Self>, key: WatchKey, watcher: Watcher);
    /// Sends something that comes before messages.
    fn send(self: Arc<Self>, system: System);
}

/// What a cell can be made into by those who do not know its type.
pub(crate) struct Kind {
    pub(crate) place: unsafe fn(NonNull<()>) -> Arc<dyn Place>,
}

#[derive(Clone, Copy)]
struct Worker {
    cell: NonNull<()>,
    kind: &'static Kind,
}

#[cfg(not(tamtam_loom))]
thread_local! {
    static AT_WORK: Cell<Option<Worker>> = const { Cell::new(None) };
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static AT_WORK: Cell<Option<Worker>> = Cell::new(None);
}

/// A turn, for as long as it lasts: an actor is at work on this thread.
pub(crate) struct AtWork {
    before: Option<Worker>,
    /// It belongs to this thread.
    thread: PhantomData<*const ()>,
}

impl AtWork {
    /// # Safety
    ///
    /// The cell is counted by an `Arc`, lives as long as this, and is of that kind.
    #[inline(always)]
    pub(crate) unsafe fn begin(cell: NonNull<()>, kind: &'static Kind) -> Self {
        AtWork {
            before: AT_WORK.with(|at_work| at_work.replace(Some(Worker { cell, kind }))),
            thread: PhantomData,
        }
    }

    /// The number of the actor that is at work on this thread.
    pub(crate) fn id() -> Option<ActorId> {
        Self::place().map(|place| place.id())
    }

    /// The actor that is at work on this thread.
    pub(crate) fn place() -> Option<Arc<dyn Place>> {
        let worker = AT_WORK.with(Cell::get)?;
        // SAFETY: who is at work lives.
        Some(unsafe { (worker.kind.place)(worker.cell) })
    }
}

impl Drop for AtWork {
    #[inline(always)]
    fn drop(&mut self) {
        AT_WORK.with(|at_work| at_work.set(self.before));
    }
}

/// An actor that is at work, and that handles no more messages after this one before this is dropped.
///
/// It is for those who have no room for what that actor sends, but have taken it nevertheless.
#[must_use = "dropping this lets the actor go on"]
pub(crate) struct Muted(Option<Arc<dyn Place>>);

impl Muted {
    /// The actor that is at work on this thread; `None` if there is none.
    pub(crate) fn at_work() -> Option<Self> {
        let place = AtWork::place()?;
        place.mute();
        Some(Muted(Some(place)))
    }
}

impl Drop for Muted {
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            place.unmute();
        }
    }
}
