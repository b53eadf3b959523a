//! The way to an actor at the other side, as addresses here use it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

use tamtam_actor::link::{AwaitedAnswer, Call, Encode, FarActor, FarCell, LinkTie, Probe};
use tamtam_actor::{Ended, Fate, LinkFailure, Refusal};

use crate::core::{BodyKind, Core, Supervised};
use crate::ending::lost;
use crate::error::LinkEnd;
use crate::tables::Received;

/// The way to an actor at the other side.
pub(crate) struct FarPeer {
    pub(crate) core: Weak<Core>,
    pub(crate) number: u64,
    /// That of the process that has it.
    pub(crate) generation: u64,
    /// How often its address was received.
    pub(crate) received: Arc<Received>,
}

pub(crate) fn gone() -> (Refusal, LinkFailure) {
    let text = "what carried the link has dropped it";
    (Refusal::Unreachable, LinkFailure::new(Fate::NotBegun, text))
}

impl FarActor for FarPeer {
    fn tell(&self, cell: &Arc<FarCell>, encode: Encode<'_>) -> Result<(), (Refusal, LinkFailure)> {
        let core = self.core.upgrade().ok_or_else(gone)?;
        core.send(BodyKind::Tell(self.number, self.generation), cell, encode)
    }

    fn place(&self) -> (usize, u64) {
        (self.core.as_ptr().addr(), self.number)
    }

    fn stop(&self) {
        if let Some(core) = self.core.upgrade() {
            core.stop(self.number, self.generation);
        }
    }

    fn finish(&self) {
        if let Some(core) = self.core.upgrade() {
            core.finish(self.number, self.generation);
        }
    }

    fn watchers_changed(&self, cell: &Arc<FarCell>) {
        match self.core.upgrade() {
            Some(core) => core.watchers_changed(self.number, self.generation, cell),
            None => cell.end(lost(&LinkEnd::Lost("what carried it is gone".into()))),
        }
    }

    fn linked(&self, tie: LinkTie) {
        if let Some(core) = self.core.upgrade() {
            core.linked_here(self.number, self.generation, tie);
        }
    }

    fn unlinked(&self, key: u64) {
        if let Some(core) = self.core.upgrade() {
            core.unlinked_here(key);
        }
    }

    fn link_over(&self, key: u64) {
        if let Some(core) = self.core.upgrade() {
            core.link_over(key);
        }
    }

    fn partner_ended(&self, key: u64, ended: &Ended) {
        if let Some(core) = self.core.upgrade() {
            core.partner_ended(self.number, key, ended);
        }
    }

    fn end_with(&self, ended: &Ended) {
        if let Some(core) = self.core.upgrade() {
            core.end_there(self.number, self.generation, ended);
        }
    }

    fn release(&self) {
        if let Some(core) = self.core.upgrade() {
            let times = self.received.load(Ordering::Relaxed);
            core.release_there(self.number, self.generation, &self.received, times);
        }
    }

    fn probe(&self, probe: Probe) {
        if let Some(core) = self.core.upgrade() {
            core.send_probe(self.number, self.generation, probe);
        }
    }

    fn before_wait(&self) {
        if let Some(core) = self.core.upgrade()
            && let Some(before_wait) = &core.before_wait
        {
            before_wait();
        }
    }

    fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        let core = self.core.upgrade();
        match core.as_ref().and_then(|core| core.while_waiting.as_ref()) {
            Some(while_waiting) => while_waiting(answer, deadline),
            None => answer.wait(),
        }
    }

    fn suspend(&self, done: Call) {
        let core = self.core.upgrade();
        if let Some(supervised) = core.as_ref().and_then(|core| core.supervised(self.number)) {
            supervised.suspend(done);
        }
    }

    fn resume(&self, done: Option<Call>) {
        let core = self.core.upgrade();
        if let Some(supervised) = core.as_ref().and_then(|core| core.supervised(self.number)) {
            supervised.resume(done);
        }
    }

    fn replace(&self) -> bool {
        let core = self.core.upgrade();
        let supervised = core.as_ref().and_then(|core| core.supervised(self.number));
        supervised.map(Supervised::kill).is_some()
    }

    fn later(&self, what: Box<dyn FnOnce() + Send>) {
        let unused = match self.core.upgrade() {
            None => Some(what),
            Some(core) => core.later(what),
        };
        drop(unused);
    }
}
