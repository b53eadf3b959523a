//! What an address leads to: a cell, or something that makes other messages for one.

use core::mem::ManuallyDrop;
use std::sync::{Arc, Weak};

use tamtam_wait::{Source, or_undo};

use crate::cell::{AnyActor, Cell, Door, System, dropping_for};
use crate::error::{AskError, TellError};
#[cfg(feature = "serde")]
use crate::error::{LinkFailure, Refusal};
use crate::id::ActorId;
#[cfg(feature = "serde")]
use crate::mailbox::Receipt;
use crate::mailbox::{Level, Loss, Reserved, WhenNoRoom};
use crate::reply::{AskedBy, refuse};
use crate::task::ThreadWait;

/// A cell; if it is counted, with one of its addresses.
///
/// All addresses that are counted keep the cell together, by one count of its `Arc`: so another one costs one count, and not
/// two. The one that is the first again, of which there may be one in the actor's own turn, adds that count, and the last one
/// takes it away.
pub(crate) struct Held<M, const COUNTED: bool>(pub(super) ManuallyDrop<Arc<Cell<M>>>);

/// A cell with one of its addresses.
pub(crate) type Counted<M> = Held<M, true>;

impl<M, const COUNTED: bool> Held<M, COUNTED> {
    pub(super) fn stop(&self) {
        if !self.0.is_closed() || !self.0.life().has_ended() {
            self.0.push_system(System::Stop);
        }
    }

    pub(super) fn uncounted(&self) -> Held<M, false> {
        Held(ManuallyDrop::clone(&self.0))
    }
}

impl<M> Counted<M> {
    /// With the address that a new cell counts.
    pub(crate) fn first(cell: Arc<Cell<M>>) -> Self {
        Held(ManuallyDrop::new(cell))
    }

    /// With one more address, also where there was none.
    pub(crate) fn another(cell: &Arc<Cell<M>>) -> Self {
        if cell.add_address() {
            return Counted::first(Arc::clone(cell));
        }
        // SAFETY: an address was counted just now, and not as the first one.
        unsafe { Counted::copy(cell) }
    }

    /// With one more address, unless there is none any more.
    pub(super) fn upgraded(cell: &Weak<Cell<M>>) -> Option<Self> {
        let cell = cell.upgrade()?;
        // SAFETY: an address was counted just now, and not as the first one.
        (cell.add_address_if_any()).then(|| unsafe { Counted::copy(&cell) })
    }

    /// # Safety
    ///
    /// An address was counted for this, and not as the first one.
    #[inline(always)]
    unsafe fn copy(cell: &Arc<Cell<M>>) -> Self {
        // SAFETY: there is an address, so the cell is counted for all of them until the last one is gone; and only the last one
        // drops what is copied here.
        Held(ManuallyDrop::new(unsafe { core::ptr::read(cell) }))
    }

    #[inline(always)]
    pub(crate) fn cell(&self) -> &Arc<Cell<M>> {
        &self.0
    }
}

impl<M> Clone for Counted<M> {
    #[inline]
    fn clone(&self) -> Self {
        let is_first = self.0.add_address();
        debug_assert!(!is_first, "there is this one");
        // SAFETY: an address was counted just now, and there was this one.
        unsafe { Counted::copy(&self.0) }
    }
}

impl<M, const COUNTED: bool> Drop for Held<M, COUNTED> {
    #[inline]
    fn drop(&mut self) {
        if !COUNTED || self.0.remove_address() {
            // SAFETY: it is dropped once. Either it has a count of its own, or it was the last one of all that have one together.
            unsafe { ManuallyDrop::drop(&mut self.0) }
        }
    }
}

/// Something that takes messages for an actor, in two steps: a place first, then the message.
pub(crate) trait Recipient<M> {
    /// Sends a message if there is a place for it.
    fn push(
        &self,
        message: M,
        when: WhenNoRoom,
        asked_by: Option<AskedBy>,
    ) -> Result<(), TellError<M>> {
        match self.reserve(when) {
            Reserved::Place => return self.fill(message, asked_by),
            Reserved::Dropped => {
                self.note_lost(core::any::type_name::<M>(), Loss::DroppedNewest);
                dropping_for(AskError::Dropped(self.id()), move || drop(message));
            }
            Reserved::Full if self.is_stopped() => {
                #[cfg(feature = "serde")]
                if let Some(failure) = self.link_lost() {
                    let why = Refusal::Unreachable;
                    return Err(TellError::not_sent(self.id(), message, why, failure));
                }
                return Err(TellError::stopped(self.id(), message));
            }
            Reserved::Full => return Err(TellError::full(self.id(), message)),
        }
        Ok(())
    }

    fn reserve(&self, when: WhenNoRoom) -> Reserved;
    /// Sends a message to the place that was kept, and says who waits for an answer to it.
    ///
    /// # Errors
    ///
    /// If it is to go far and cannot: then it comes back, and the place is no longer kept.
    fn fill(&self, message: M, asked_by: Option<AskedBy>) -> Result<(), TellError<M>>;
    /// Whether it is of use to say who waits for an answer.
    fn notes_askers(&self) -> bool;
    /// Gives the place back.
    fn release(&self);
    fn with_room(&self, look: &mut dyn FnMut(&dyn Source));
    fn note_lost(&self, message_type: &'static str, why: Loss);
    fn id(&self) -> ActorId;
    fn stop(&self);
    fn is_stopped(&self) -> bool;
    fn lost(&self) -> u64;
    fn begin_wait(&self) -> Option<ThreadWait>;
    /// The same way, without an address.
    fn outlet(&self) -> Arc<dyn Recipient<M> + Send + Sync>;
    /// The same way, by an address that does not count.
    fn downgrade(&self) -> Arc<dyn WeakRecipient<M> + Send + Sync>;
    fn door(&self) -> Arc<dyn Door>;
    fn waits(&self) -> bool;
    fn level(&self) -> Option<Level>;
    fn place(&self) -> Arc<dyn AnyActor>;
    /// Where the actor's task lies when it is due.
    fn location(&self) -> usize;
    fn name(&self) -> Option<Arc<str>>;

    /// Sees to it that this is called when all is done with that was sent before on this thread: see
    /// [`Exported::receipt`](crate::link::Exported::receipt).
    #[cfg(feature = "serde")]
    fn push_receipt(&self, receipt: Receipt) {
        tamtam_wait::contain(receipt);
    }

    /// Sees to it that this is called when all that was sent before on this thread has left the mailbox: see
    /// [`Exported::when_gone`](crate::link::Exported::when_gone).
    #[cfg(feature = "serde")]
    fn when_gone(&self, then: Receipt) {
        self.push_receipt(then);
    }

    /// Whether the actor has no turn and none is due.
    #[cfg(feature = "serde")]
    fn is_idle(&self) -> bool {
        true
    }

    /// What has become of the link to the actor's process, if that has ended: the actor may go on there.
    #[cfg(feature = "serde")]
    fn link_lost(&self) -> Option<LinkFailure> {
        None
    }

    /// What holds the actor, if it is in another process, and messages go there as they are.
    #[cfg(feature = "serde")]
    fn far_hold(&self) -> Option<&Arc<super::FarHold>> {
        None
    }
}

/// The way of an address that does not count.
pub(crate) trait WeakRecipient<M> {
    /// The same way, by an address that counts, if there is another one that does.
    fn upgrade(&self) -> Option<Arc<dyn Recipient<M> + Send + Sync>>;
}

/// A cell, as long as there are addresses of it.
struct WeakHeld<M>(Weak<Cell<M>>);

impl<M: Send + 'static> WeakRecipient<M> for WeakHeld<M> {
    fn upgrade(&self) -> Option<Arc<dyn Recipient<M> + Send + Sync>> {
        Some(Arc::new(Counted::upgraded(&self.0)?))
    }
}

impl<M: Send + 'static, const COUNTED: bool> Recipient<M> for Held<M, COUNTED> {
    fn reserve(&self, when: WhenNoRoom) -> Reserved {
        self.0.reserve(when)
    }

    fn fill(&self, message: M, _: Option<AskedBy>) -> Result<(), TellError<M>> {
        self.0.push_reserved(message);
        Ok(())
    }

    fn notes_askers(&self) -> bool {
        false
    }

    fn release(&self) {
        self.0.release();
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.0.with_room(look);
    }

    fn note_lost(&self, message_type: &'static str, why: Loss) {
        self.0.note_lost(message_type, why);
    }

    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn stop(&self) {
        Held::stop(self);
    }

    fn is_stopped(&self) -> bool {
        self.0.is_closed()
    }

    fn lost(&self) -> u64 {
        self.0.lost()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        self.0.begin_wait()
    }

    fn outlet(&self) -> Arc<dyn Recipient<M> + Send + Sync> {
        Arc::new(self.uncounted())
    }

    fn downgrade(&self) -> Arc<dyn WeakRecipient<M> + Send + Sync> {
        Arc::new(WeakHeld(Arc::downgrade(&self.0)))
    }

    fn door(&self) -> Arc<dyn Door> {
        Arc::clone(&self.0) as Arc<dyn Door>
    }

    fn waits(&self) -> bool {
        self.0.waits()
    }

    fn level(&self) -> Option<Level> {
        self.0.level()
    }

    fn place(&self) -> Arc<dyn AnyActor> {
        Arc::clone(&self.0) as Arc<dyn AnyActor>
    }

    fn location(&self) -> usize {
        self.0.task_location()
    }

    fn name(&self) -> Option<Arc<str>> {
        self.0.name()
    }

    #[cfg(feature = "serde")]
    fn push_receipt(&self, receipt: Receipt) {
        self.0.push_receipt(receipt);
    }

    #[cfg(feature = "serde")]
    fn when_gone(&self, then: Receipt) {
        self.0.when_gone(then);
    }

    #[cfg(feature = "serde")]
    fn is_idle(&self) -> bool {
        self.0.is_idle()
    }
}

/// Makes one message out of another one.
pub(super) struct Mapped<M, F> {
    pub(super) inner: Arc<dyn Recipient<M> + Send + Sync>,
    pub(super) make: Arc<F>,
}

/// The same as long as there are addresses of the actor.
struct WeakMapped<M, F> {
    inner: Arc<dyn WeakRecipient<M> + Send + Sync>,
    make: Arc<F>,
}

impl<N, M, F> WeakRecipient<N> for WeakMapped<M, F>
where
    N: 'static,
    M: 'static,
    F: Fn(N) -> M + Send + Sync + 'static,
{
    fn upgrade(&self) -> Option<Arc<dyn Recipient<N> + Send + Sync>> {
        Some(Arc::new(Mapped {
            inner: self.inner.upgrade()?,
            make: Arc::clone(&self.make),
        }))
    }
}

impl<N, M, F> Recipient<N> for Mapped<M, F>
where
    N: 'static,
    M: 'static,
    F: Fn(N) -> M + Send + Sync + 'static,
{
    fn reserve(&self, when: WhenNoRoom) -> Reserved {
        self.inner.reserve(when)
    }

    fn fill(&self, message: N, asked_by: Option<AskedBy>) -> Result<(), TellError<N>> {
        let made = or_undo(|| (self.make)(message), || self.inner.release());
        if let Err(error) = self.inner.fill(made, asked_by) {
            // There is no way back to what it was made of; who waits for an answer to it hears why there is none.
            let why = error.loss();
            refuse(error);
            self.inner.note_lost(core::any::type_name::<M>(), why);
        }
        Ok(())
    }

    fn notes_askers(&self) -> bool {
        self.inner.notes_askers()
    }

    fn release(&self) {
        self.inner.release();
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        self.inner.with_room(look);
    }

    fn note_lost(&self, message_type: &'static str, why: Loss) {
        self.inner.note_lost(message_type, why);
    }

    fn id(&self) -> ActorId {
        self.inner.id()
    }

    fn stop(&self) {
        self.inner.stop();
    }

    #[cfg(feature = "serde")]
    fn link_lost(&self) -> Option<LinkFailure> {
        self.inner.link_lost()
    }

    fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    fn lost(&self) -> u64 {
        self.inner.lost()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        self.inner.begin_wait()
    }

    fn outlet(&self) -> Arc<dyn Recipient<N> + Send + Sync> {
        Arc::new(Mapped {
            inner: self.inner.outlet(),
            make: Arc::clone(&self.make),
        })
    }

    fn downgrade(&self) -> Arc<dyn WeakRecipient<N> + Send + Sync> {
        Arc::new(WeakMapped {
            inner: self.inner.downgrade(),
            make: Arc::clone(&self.make),
        })
    }

    fn door(&self) -> Arc<dyn Door> {
        self.inner.door()
    }

    fn waits(&self) -> bool {
        self.inner.waits()
    }

    fn level(&self) -> Option<Level> {
        self.inner.level()
    }

    fn place(&self) -> Arc<dyn AnyActor> {
        self.inner.place()
    }

    fn location(&self) -> usize {
        self.inner.location()
    }

    fn name(&self) -> Option<Arc<str>> {
        self.inner.name()
    }
    #[cfg(feature = "serde")]
    fn push_receipt(&self, receipt: Receipt) {
        self.inner.push_receipt(receipt);
    }

    #[cfg(feature = "serde")]
    fn when_gone(&self, then: Receipt) {
        self.inner.when_gone(then);
    }

    #[cfg(feature = "serde")]
    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }
}
