//! Who is at work: the actor whose turn it is on this thread, whatever its type is.

use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::NonNull;
use std::sync::Arc;

use super::{Lifeline, System, WatchKey, Watcher};
use crate::ended::{EndReason, Ended};
use crate::id::ActorId;
use crate::task::ThreadWait;

/// An actor, whatever its type is.
pub(crate) trait AnyActor: Send + Sync {
    fn id(&self) -> ActorId;
    /// For people to read.
    fn message_type(&self) -> &'static str;
    /// The name that it was given, if any.
    fn name(&self) -> Option<Arc<str>>;
    /// Lets another instance take its place: `false` if that cannot be.
    fn replace(&self) -> bool;
    /// A thread is about to wait for it: see [`Home::begin_wait`](crate::task::Home::begin_wait).
    fn begin_wait(&self) -> Option<ThreadWait>;
    /// Lets it handle no more messages from the end of the one that it is at. Called in its turn only.
    fn mute(&self);
    /// Takes that back, once for each time.
    fn unmute(self: Arc<Self>);
    /// Whom its end concerns.
    fn life(&self) -> &Lifeline;
    /// Calls `watcher` at its end; at once if it has ended.
    fn watch(self: Arc<Self>, key: WatchKey, watcher: Watcher);
    /// Forgets one who watches it: `true` unless he has been told, or forgotten before.
    fn forget_watcher(self: Arc<Self>, key: WatchKey) -> bool {
        self.life().forget_watcher(key)
    }
    /// Sends something that comes before messages.
    fn send(self: Arc<Self>, system: System);
    /// An actor has ended with which it is linked: that is over, and it ends, too, if that one has ended abnormally.
    fn partner_ended(self: Arc<Self>, key: WatchKey, ended: &Ended) {
        self.life().forget_watched(key);
        self.life().forget_watcher(key);
        if ended.reason.is_abnormal() {
            self.send(System::End(EndReason::linked_with(ended)));
        }
    }
    /// Under which number which link knows it, if it is in another process.
    fn far_place(&self) -> Option<(usize, u64)> {
        None
    }
    /// It was linked with another one, which its process is to hear if that is not this one.
    fn link_made(self: Arc<Self>, _: WatchKey, _: &Arc<dyn AnyActor>) {}
    /// A link of it was taken back here, which its process is to hear if that is not this one.
    fn unlinked(&self, _: WatchKey) {}
    /// It has ended, and a link of it with that.
    fn link_over(&self, _: WatchKey) {}
}

/// What a cell can be made into by those who do not know its type.
pub(crate) struct Kind {
    pub(crate) place: unsafe fn(NonNull<()>) -> Arc<dyn AnyActor>,
}

#[derive(Clone, Copy)]
struct CellAtWork {
    cell: NonNull<()>,
    kind: &'static Kind,
}

#[cfg(not(tamtam_loom))]
thread_local! {
    static AT_WORK: Cell<Option<CellAtWork>> = const { Cell::new(None) };
}

#[cfg(tamtam_loom)]
loom::thread_local! {
    static AT_WORK: Cell<Option<CellAtWork>> = Cell::new(None);
}

/// A turn, for as long as it lasts: an actor is at work on this thread.
pub(crate) struct AtWork {
    before: Option<CellAtWork>,
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
            before: AT_WORK.with(|at_work| at_work.replace(Some(CellAtWork { cell, kind }))),
            thread: PhantomData,
        }
    }

    /// The number of the actor that is at work on this thread.
    pub(crate) fn id() -> Option<ActorId> {
        Self::place().map(|place| place.id())
    }

    /// The number of the actor that is at work on this thread, and the type of its messages.
    pub(crate) fn asker() -> Option<(ActorId, &'static str)> {
        Self::place().map(|place| (place.id(), place.message_type()))
    }

    /// The actor that is at work on this thread.
    pub(crate) fn place() -> Option<Arc<dyn AnyActor>> {
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
pub(crate) struct Muted(Option<Arc<dyn AnyActor>>);

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
