//! What one end of a link knows of actors and replies. It is kept under the link's lock: nothing here runs user code, and what is taken
//! out is dropped by the caller without the lock.

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use smallvec::SmallVec;
use tamtam_actor::ActorId;
use tamtam_actor::link::{Exported, FarCell, FarHold, NumberHasher, PendingReply, Watching};

use crate::frame::{Offer, ROOT};

/// Actors of the other side whose addresses are in a message to it. Where that is kept, so are they until it is done with: their release would come
/// before it.
pub(crate) type GivenBack = SmallVec<[Arc<FarHold>; 1]>;

/// So many actors the other side may watch of which it has no address: what keeps one that means harm from taking all memory.
const MOST_ORPHANS: usize = if cfg!(test) { 8 } else { 1 << 20 };

/// An actor of which the other side has addresses.
pub(crate) struct Export {
    pub(crate) actor: Arc<dyn Exported>,
    /// How often it was sent, less how often that was released.
    pub(crate) sent: u64,
    pub(crate) watching: Option<Watching>,
    /// Its end is of interest there also when no address is left.
    pub(crate) is_watched: bool,
    /// So it is here, whatever the other side says.
    pub(crate) is_watched_here: bool,
    /// Its end was told there.
    pub(crate) is_told: bool,
    /// Each message to it is confirmed, not only those without a reply.
    pub(crate) has_window: bool,
}

/// An actor whose end is of interest, and of which no address is left there.
struct Orphan {
    actor: ActorId,
    /// As it was exported.
    has_window: bool,
    watching: Watching,
    /// So it is here, whatever the other side says.
    is_watched_here: bool,
}

/// Whether the other side hears of an actor's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// When it ends.
    Later,
    /// It was told before, perhaps of an address that it did not have any more.
    Before,
}

/// The actors of this side of which the other one has addresses.
#[derive(Default)]
pub(crate) struct Exports {
    by_number: HashMap<u64, Export>,
    /// The numbers of what is exported.
    numbers: HashMap<(usize, TypeId), u64>,
    /// The same by the actors; of one that is exported in several ways, one of its numbers.
    by_actor: HashMap<ActorId, u64>,
    last: u64,
    /// Numbers up to this one are those of processes that had the link before, and have ended.
    of_predecessors: u64,
    /// Actors whose end is of interest, there or here, and of which no address is left there.
    orphans: HashMap<u64, Orphan>,
    /// Their numbers, by the actors; one that was exported in several ways may have several.
    orphans_of: HashMap<ActorId, SmallVec<[u64; 1]>>,
}

/// So many numbers each process of a link has for its actors. A page reads numbers of 53 bits: that is enough for 131,072 processes.
const NUMBERS_OF_A_PROCESS: u64 = 1 << 36;

impl Exports {
    /// Those of a process that has the link after so many others: none of its actors has the number of one of theirs, whose addresses
    /// may be in messages that were written for them.
    pub(crate) fn after(predecessors: u64) -> Self {
        let before = predecessors % ((1 << 53) / NUMBERS_OF_A_PROCESS) * NUMBERS_OF_A_PROCESS;
        Exports {
            last: before,
            of_predecessors: before,
            ..Exports::default()
        }
    }

    /// Whether an actor of a process that had the link before had this number.
    pub(crate) fn was_of_predecessor(&self, number: u64) -> bool {
        number != ROOT && number <= self.of_predecessors
    }

    pub(crate) fn len(&self) -> usize {
        self.by_number.len()
    }

    pub(crate) fn get(&self, number: u64) -> Option<&Export> {
        self.by_number.get(&number)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Export> {
        self.by_number.get_mut(&number)
    }

    /// How many actors are watched from there of which no address is left: of the tables that know of them, what the longest has.
    pub(crate) fn orphans(&self) -> usize {
        self.orphans.len().max(self.orphans_of.len())
    }

    /// That the other side watches no more actors of which it has no address than it may.
    ///
    /// # Errors
    ///
    /// What is wrong with that.
    pub(crate) fn may_have_orphans(&self) -> Result<(), String> {
        if self.orphans.len() > MOST_ORPHANS {
            return Err(format!(
                "it watches more than {MOST_ORPHANS} actors of which it has no address"
            ));
        }
        Ok(())
    }

    /// A number that no actor has had.
    pub(crate) fn next(&mut self) -> u64 {
        // 2^64 actors are exported in 500 years at a thousand million a second.
        self.last += 1;
        self.last
    }

    /// The number under which the other side knows the actor, if that has an address of it.
    pub(crate) fn number_of(&self, actor: ActorId) -> Option<u64> {
        self.by_actor.get(&actor).copied()
    }

    /// Whether the other side will be told of the end of the actor of this number.
    pub(crate) fn knows(&self, number: u64) -> bool {
        self.by_number.contains_key(&number) || self.orphans.contains_key(&number)
    }

    /// The other side is told of the end of an actor of which it has an address: `false` if that was done. `None` of another one.
    pub(crate) fn tell_once(&mut self, number: u64) -> Option<bool> {
        let export = self.by_number.get_mut(&number)?;
        Some(!std::mem::replace(&mut export.is_told, true))
    }

    /// Counts an actor as sent once more; the number under which the other side knows it. If it is linked with one of the other side, that
    /// knows it by the number given. One that is watched there gets back the number under which it is, so that it is watched once, however often it is
    /// sent and given up.
    pub(crate) fn add(&mut self, actor: Arc<dyn Exported>, linked: Option<u64>) -> u64 {
        if let Some(number) = self.numbers.get(&actor.key())
            && let Some(export) = self.by_number.get_mut(number)
        {
            export.sent += 1;
            return *number;
        }
        let (number, watching) = match linked {
            Some(number) if !self.knows(number) => (number, None),
            _ => match self.take_orphan_of(&*actor, linked) {
                Some((number, watching)) => (number, Some(watching)),
                None => (self.next(), None),
            },
        };
        self.add_as(number, actor);
        if watching.is_some()
            && let Some(export) = self.by_number.get_mut(&number)
        {
            export.watching = watching;
            export.is_watched = true;
        }
        number
    }

    /// The number and the watch of an actor of which no address was left there, as one that is exported again: of several numbers the one given,
    /// if it is among them. Not the root, whose number is for what is offered from the beginning.
    fn take_orphan_of(
        &mut self,
        actor: &dyn Exported,
        linked: Option<u64>,
    ) -> Option<(u64, Watching)> {
        let has_window = actor.window() != 0;
        let is_like_it = |number: &&u64| {
            // What is confirmed goes by the window that the other side has heard of.
            let orphan = self.orphans.get(number);
            **number != ROOT && orphan.is_some_and(|orphan| orphan.has_window == has_window)
        };
        let numbers = self.orphans_of.get(&actor.id())?.iter();
        let number = *numbers
            .filter(is_like_it)
            .max_by_key(|number| linked == Some(**number))?;
        Some((number, self.take_orphan(number)?))
    }

    /// Adds an actor under this number, as sent once.
    pub(crate) fn add_as(&mut self, number: u64, actor: Arc<dyn Exported>) {
        self.numbers.insert(actor.key(), number);
        self.by_actor.insert(actor.id(), number);
        let export = Export {
            has_window: actor.window() != 0,
            actor,
            sent: 1,
            watching: None,
            is_watched: false,
            is_watched_here: false,
            is_told: false,
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
            self.forget(number, &export);
            if (export.is_watched || export.is_watched_here)
                && !export.is_told
                && let Some(watching) = export.watching.take()
            {
                let orphan = Orphan {
                    actor: export.actor.id(),
                    has_window: export.has_window,
                    watching,
                    is_watched_here: export.is_watched_here,
                };
                self.orphans_of
                    .entry(orphan.actor)
                    .or_default()
                    .push(number);
                self.orphans.insert(number, orphan);
            }
            export
        }))
    }

    fn forget(&mut self, number: u64, export: &Export) {
        self.numbers.remove(&export.actor.key());
        let actor = export.actor.id();
        if self.by_actor.get(&actor) == Some(&number) {
            self.by_actor.remove(&actor);
        }
    }

    /// The end of an actor is of interest there: whether it will be told, or was. `None` if it is not known here.
    pub(crate) fn watch(&mut self, number: u64) -> Option<Told> {
        match self.by_number.get_mut(&number) {
            Some(export) => {
                export.is_watched = true;
                Some(if export.is_told {
                    Told::Before
                } else {
                    Told::Later
                })
            }
            None => self.orphans.contains_key(&number).then_some(Told::Later),
        }
    }

    /// The end of an actor is to be told once more; how it was watched.
    pub(crate) fn begin_watch(&mut self, number: u64) -> Option<(Arc<dyn Exported>, Watching)> {
        let export = self.by_number.get_mut(&number)?;
        export.is_told = false;
        Some((Arc::clone(&export.actor), export.watching.take()?))
    }

    /// The end of an actor is of interest here, also when no address is left there.
    pub(crate) fn watch_here(&mut self, number: u64) {
        if let Some(export) = self.by_number.get_mut(&number) {
            export.is_watched_here = true;
        }
    }

    /// The end of an actor is of interest there no more if no address is left; what is left over by that.
    pub(crate) fn unwatch(&mut self, number: u64) -> Option<Watching> {
        match self.by_number.get_mut(&number) {
            Some(export) => {
                export.is_watched = false;
                None
            }
            None if self.orphans.get(&number)?.is_watched_here => None,
            None => self.take_orphan(number),
        }
    }

    /// An actor has ended, of which no address is left there.
    pub(crate) fn take_orphan(&mut self, number: u64) -> Option<Watching> {
        let orphan = self.orphans.remove(&number)?;
        if let Some(numbers) = self.orphans_of.get_mut(&orphan.actor) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.orphans_of.remove(&orphan.actor);
            }
        }
        Some(orphan.watching)
    }

    /// From now on only these are exported, each as often as it stands here. What is left over.
    pub(crate) fn reset_to(&mut self, offers: impl Iterator<Item = Offer>) -> Vec<Export> {
        let mut times = HashMap::<u64, u64>::new();
        for offer in offers {
            *times.entry(offer.actor).or_default() += 1;
        }
        self.orphans.clear();
        self.orphans_of.clear();
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
                    self.forget(number, &export);
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

/// How often an actor's address was received. Not of the seam: who adds has a hold, and who reads has dropped the last one, so that the count
/// of these orders the two.
pub(crate) type Received = AtomicU64;

/// An actor of the other side.
pub(crate) struct Import {
    pub(crate) hold: Weak<FarHold>,
    pub(crate) received: Arc<Received>,
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

/// Messages to an actor of the other side, one behind the other in what is outgoing.
pub(crate) struct Unsent {
    pub(crate) actor: u64,
    pub(crate) cell: Arc<FarCell>,
    pub(crate) count: u64,
    /// So many of them do not count as unconfirmed yet: a look into that table for each message would take longer than the message does.
    pub(crate) uncounted: u64,
}

/// The questions that the other side has, by the numbers of their replies, which this side has counted, one after the other or by [seat](crate::seats).
pub(crate) type PendingReplies = HashMap<u64, Pending, BuildHasherDefault<NumberHasher>>;

/// A question that the other side has.
pub(crate) struct Pending {
    pub(crate) reply: Arc<dyn PendingReply>,
    pub(crate) asked: ActorId,
    /// It lies in a message to the root: the place of that in the [log](crate::root_log::RootLog), or zero on a link without one. None if it lies in
    /// a message to another actor.
    pub(crate) root_message: Option<u64>,
}
