//! What one end of a link knows of actors and replies. It is kept under the link's lock: nothing here runs user code, and what is taken
//! out is dropped by the caller without the lock.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use tamtam_actor::ActorId;
use tamtam_actor::link::{Exported, FarCell, FarHold, PendingReply, Watching};

use crate::frame::Offer;

/// An actor of which the other side has addresses.
pub(crate) struct Export {
    pub(crate) actor: Arc<dyn Exported>,
    /// How often it was sent, less how often that was released.
    pub(crate) sent: u64,
    pub(crate) watching: Option<Watching>,
    /// Its end is of interest there also when no address is left.
    pub(crate) is_watched: bool,
    /// Each message to it is confirmed, not only those without a reply.
    pub(crate) has_window: bool,
}

/// The actors of this side of which the other one has addresses.
#[derive(Default)]
pub(crate) struct Exports {
    by_number: HashMap<u64, Export>,
    /// The numbers of what is exported.
    numbers: HashMap<(usize, TypeId), u64>,
    last: u64,
    /// Actors whose end is of interest there, where no address of them is left.
    orphans: HashMap<u64, Watching>,
}

impl Exports {
    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Export> {
        self.by_number.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Export> {
        self.by_number.get_mut(&number)
    }

    /// Counts an actor as sent once more; the number under which the other side knows it.
    pub(crate) fn add(&mut self, actor: Arc<dyn Exported>) -> u64 {
        if let Some(number) = self.numbers.get(&actor.key())
            && let Some(export) = self.by_number.get_mut(number)
        {
            export.sent += 1;
            return *number;
        }
        // 2^64 actors are exported in 500 years at a thousand million a second.
        self.last += 1;
        self.add_as(self.last, actor);
        self.last
    }

    /// Adds an actor under this number, as sent once.
    pub(crate) fn add_as(&mut self, number: u64, actor: Arc<dyn Exported>) {
        self.numbers.insert(actor.key(), number);
        let export = Export {
            has_window: actor.window() != 0,
            actor,
            sent: 1,
            watching: None,
            is_watched: false,
        };
        self.by_number.insert(number, export);
    }

    /// Counts an actor as released so often; what is left over.
    ///
    /// # Errors
    ///
    /// If it was not sent as often: how often it was.
    pub(crate) fn release(&mut self, number: u64, times: u64) -> Result<Option<Export>, u64> {
        let Some(export) = self.by_number.get_mut(&number) else {
            return Err(0);
        };
        if times > export.sent {
            return Err(export.sent);
        }
        export.sent -= times;
        if export.sent > 0 {
            return Ok(None);
        }
        let export = self.by_number.remove(&number);
        Ok(export.map(|mut export| {
            self.numbers.remove(&export.actor.key());
            if export.is_watched
                && let Some(watching) = export.watching.take()
            {
                self.orphans.insert(number, watching);
            }
            export
        }))
    }

    /// The end of an actor is of interest: `false` if it is not known here, and no end of it will be told.
    pub(crate) fn watch(&mut self, number: u64) -> bool {
        match self.by_number.get_mut(&number) {
            Some(export) => {
                export.is_watched = true;
                true
            }
            None => self.orphans.contains_key(&number),
        }
    }

    /// An actor has ended, of which no address is left there.
    pub(crate) fn take_orphan(&mut self, number: u64) -> Option<Watching> {
        self.orphans.remove(&number)
    }

    /// From now on only these are exported, each as often as it stands here. What is left over.
    pub(crate) fn reset_to(&mut self, offers: impl Iterator<Item = Offer>) -> Vec<Export> {
        let mut times = HashMap::<u64, u64>::new();
        for offer in offers {
            *times.entry(offer.actor).or_default() += 1;
        }
        self.orphans.clear();
        let mut gone = Vec::new();
        let before = std::mem::take(&mut self.by_number);
        for (number, mut export) in before {
            match times.get(&number) {
                Some(sent) => {
                    export.sent = *sent;
                    export.is_watched = false;
                    self.by_number.insert(number, export);
                }
                None => {
                    self.numbers.remove(&export.actor.key());
                    gone.push(export);
                }
            }
        }
        gone
    }

    /// All there is, and nothing is left.
    pub(crate) fn take(&mut self) -> Self {
        Exports {
            last: self.last,
            ..std::mem::take(self)
        }
    }
}

/// An actor of the other side.
pub(crate) struct Import {
    pub(crate) hold: Weak<FarHold>,
    pub(crate) received: Arc<AtomicU64>,
}

impl Import {
    /// What holds the actor here, if an address is left, which was received so often more.
    pub(crate) fn received_again(&self, times: u64) -> Option<Arc<FarHold>> {
        let hold = self.hold.upgrade()?;
        self.received.fetch_add(times, Ordering::Relaxed);
        Some(hold)
    }
}

/// Messages to an actor of the other side that are not confirmed.
pub(crate) struct Unconfirmed {
    pub(crate) cell: Arc<FarCell>,
    pub(crate) count: u64,
}

/// A question that the other side has.
pub(crate) struct Pending {
    pub(crate) reply: Arc<dyn PendingReply>,
    pub(crate) asked: ActorId,
}
