//! What is lent and exported while a message is written: counted if it is sent, taken back if not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tamtam_actor::link::{
    Encode, Exported, FarCell, FarPlace, FarReply, Imported, PendingReply, Scope, Tables,
};

use crate::link::Core;

/// A message that is being written.
pub(crate) struct Outbox {
    core: Arc<Core>,
    noted: Mutex<Noted>,
}

/// What is in it.
#[derive(Default)]
pub(crate) struct Noted {
    pub(crate) replies: Vec<(u64, Arc<dyn PendingReply>)>,
    /// Each as often as it stands there.
    pub(crate) exports: Vec<u64>,
}

impl Outbox {
    pub(crate) fn new(core: Arc<Core>) -> Arc<Self> {
        Arc::new(Outbox {
            core,
            noted: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the message.
    pub(crate) fn encode(
        self: &Arc<Self>,
        encode: Encode<'_>,
        payload: &mut Vec<u8>,
    ) -> Result<(), String> {
        let _scope = Scope::enter(Arc::clone(self) as Arc<dyn Tables>);
        encode(payload)
    }

    /// What was noted, which is no longer taken back.
    pub(crate) fn take(&self) -> Noted {
        std::mem::take(&mut *self.lock())
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        // Also if what writes the message has panicked.
        let noted = self.take();
        self.core.take_back(&noted.exports);
    }
}

impl Tables for Outbox {
    fn lend_reply(&self, reply: Arc<dyn PendingReply>) -> Result<u64, String> {
        let number = self.core.next_reply();
        self.lock().replies.push((number, reply));
        Ok(number)
    }

    fn take_reply(&self, _: u64) -> Result<Box<dyn FarReply>, String> {
        Err("a message that is written has no replies to be read".to_owned())
    }

    fn export(&self, exported: Arc<dyn Exported>) -> Result<FarPlace, String> {
        if !self.core.is_open() {
            return Err("the link has ended".to_owned());
        }
        let number = self.core.export(Arc::clone(&exported));
        self.lock().exports.push(number);
        self.core.watch_export(number, &exported);
        Ok(FarPlace::Here(number))
    }

    fn place_of(&self, cell: &FarCell) -> Option<FarPlace> {
        let (link, number) = cell.far().place();
        (link == Arc::as_ptr(&self.core).addr()).then_some(FarPlace::There(number))
    }

    fn import(&self, _: FarPlace, _: &'static str) -> Result<Imported, String> {
        Err("a message that is written has no addresses to be read".to_owned())
    }
}
