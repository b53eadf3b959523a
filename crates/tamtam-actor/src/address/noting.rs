//! An address that notes who waits for an answer to each message, so that the asker can be told that there will be none while
//! the message is in a handler that does not come back.

use std::sync::{Arc, Weak};

use tamtam_wait::Source;

use super::recipient::{Counted, Held, Recipient, WeakRecipient};
use super::{Address, Way};
use crate::cell::{AnyActor, Cell, Door};
use crate::error::TellError;
use crate::id::ActorId;
#[cfg(feature = "serde")]
use crate::mailbox::Receipt;
use crate::mailbox::{Level, Loss, Reserved, WhenNoRoom};
use crate::reply::AskedBy;
use crate::task::ThreadWait;

/// A message, and who waits for an answer to it.
pub(crate) struct Envelope<M> {
    pub(crate) message: M,
    pub(crate) asked_by: Option<AskedBy>,
}

impl<M> Envelope<M> {
    pub(crate) fn look(&self) -> &M {
        &self.message
    }

    pub(crate) fn open(self) -> M {
        self.message
    }
}

/// A cell that takes messages in envelopes; if it is counted, with one of its addresses.
struct Noting<M, const COUNTED: bool>(Held<Envelope<M>, COUNTED>);

impl<M: Send + 'static> Address<M> {
    /// The address of a cell that takes messages in envelopes.
    pub(crate) fn noting(cell: Counted<Envelope<M>>) -> Self {
        Address {
            way: Way::Through(Arc::new(Noting::<M, true>(cell))),
        }
    }
}

/// Such a cell, as long as there are addresses of it.
struct WeakNoting<M>(Weak<Cell<Envelope<M>>>);

impl<M: Send + 'static> WeakRecipient<M> for WeakNoting<M> {
    fn upgrade(&self) -> Option<Arc<dyn Recipient<M> + Send + Sync>> {
        Some(Arc::new(Noting(Counted::upgraded(&self.0)?)))
    }
}

impl<M: Send + 'static, const COUNTED: bool> Recipient<M> for Noting<M, COUNTED> {
    fn notes_askers(&self) -> bool {
        true
    }

    fn push(
        &self,
        message: M,
        when: WhenNoRoom,
        asked_by: Option<AskedBy>,
    ) -> Result<(), TellError<M>> {
        let envelope = Envelope { message, asked_by };
        let pushed = self.0.0.push(envelope, when);
        pushed.map_err(|refused| refused.map(Envelope::open))
    }

    fn fill(&self, message: M, asked_by: Option<AskedBy>) -> Result<(), TellError<M>> {
        let filled = self.0.fill(Envelope { message, asked_by }, None);
        filled.map_err(|refused| refused.map(Envelope::open))
    }

    fn reserve(&self, when: WhenNoRoom) -> Reserved {
        self.0.reserve(when)
    }

    fn release(&self) {
        self.0.release();
    }

    fn with_room(&self, look: &mut dyn FnMut(&dyn Source)) {
        Recipient::with_room(&self.0, look);
    }

    fn note_lost(&self, message_type: &'static str, why: Loss) {
        self.0.note_lost(message_type, why);
    }

    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn stop(&self) {
        self.0.stop();
    }

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn lost(&self) -> u64 {
        self.0.lost()
    }

    fn begin_wait(&self) -> Option<ThreadWait> {
        self.0.begin_wait()
    }

    fn outlet(&self) -> Arc<dyn Recipient<M> + Send + Sync> {
        Arc::new(Noting(self.0.uncounted()))
    }

    fn downgrade(&self) -> Arc<dyn WeakRecipient<M> + Send + Sync> {
        Arc::new(WeakNoting(Arc::downgrade(&self.0.0)))
    }

    fn door(&self) -> Arc<dyn Door> {
        self.0.door()
    }

    fn waits(&self) -> bool {
        self.0.waits()
    }

    fn level(&self) -> Option<Level> {
        self.0.level()
    }

    fn place(&self) -> Arc<dyn AnyActor> {
        self.0.place()
    }

    fn location(&self) -> usize {
        self.0.location()
    }

    fn name(&self) -> Option<Arc<str>> {
        self.0.name()
    }

    #[cfg(feature = "serde")]
    fn when_gone(&self, then: Receipt) {
        Recipient::when_gone(&self.0, then);
    }
}
