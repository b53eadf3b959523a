//! Messages in lanes, of which a higher one goes first, and with keys, of which the latest message counts.

use core::hash::BuildHasherDefault;
use std::collections::{HashMap, VecDeque};

use super::label::{Letter, MessageKey};
use crate::id::NumberHasher;

/// After so many messages that have overtaken an older one, the oldest of all is next.
const MOST_OVERTAKING: u32 = 64;
/// Memory for so many messages is kept by each lane that is empty.
pub(crate) const MOST_KEPT: usize = 64;

/// Messages in the order in which they are to be handled: [`Sorted`], as mailboxes know it that may have none. What is behind this is
/// compiled for the types of messages of which a mailbox with rules is made, and not for each one.
///
/// No code of the user's runs in here: what may hold such, messages and keys, is moved and handed out.
pub(crate) trait SortedMailbox<M>: Send {
    fn len(&self) -> usize;

    /// A message whose key has this hash, and that is none of `others`.
    fn twin(&self, hash: u64, others: &[u64]) -> Option<Twin>;

    /// Puts a message in the place of the one with this stamp; the older one, or the message if that one has gone.
    fn replace(&mut self, hash: u64, stamp: u64, message: M) -> Result<M, M>;

    fn append(&mut self, letter: Letter<M>);

    /// The next one to be handled.
    fn take(&mut self) -> Option<Entry<M>>;

    /// Takes out the one that has to go for another one with this priority, if that is not itself the one: of the
    /// lowest lane, the oldest or the newest.
    fn make_room(&mut self, priority: u8, newest: bool) -> Option<Entry<M>>;

    /// The stamp of the oldest message. Stamps are given from 0 on, in the order in which messages come.
    #[cfg(feature = "serde")]
    fn oldest(&self) -> Option<u64>;

    /// Memory of a rush that is over, to be dropped without a lock.
    fn spare(&mut self) -> Option<Box<dyn SortedMailbox<M>>>;
}

/// Messages in lanes, the highest first, and where those with keys lie.
pub(crate) struct Sorted<M> {
    /// The highest first.
    lanes: Vec<Lane<M>>,
    /// Where messages with keys lie, by the hash of the key.
    keyed: HashMap<u64, Spot, BuildHasherDefault<NumberHasher>>,
    length: usize,
    stamps: u64,
    overtaking: u32,
}

struct Lane<M> {
    priority: u8,
    entries: VecDeque<Entry<M>>,
    /// So many went out at the front.
    taken: u64,
}

/// A message in its lane.
pub(crate) struct Entry<M> {
    pub(crate) message: M,
    key: Option<MessageKey>,
    /// Rises with each message of the mailbox.
    stamp: u64,
}

impl<M> Entry<M> {
    /// The message. Its key goes: user code runs, and a panic in it ends here.
    pub(crate) fn into_message(self) -> M {
        let Entry { message, key, .. } = self;
        if let Some(key) = key {
            key.go();
        }
        message
    }
}

/// Where a message lies.
struct Spot {
    stamp: u64,
    priority: u8,
    /// Its place in the lane, counted from the first one that was ever there.
    place: u64,
    /// Others with the same hash.
    others: Vec<Spot>,
}

/// A message that may be about the same.
pub(crate) struct Twin {
    pub(crate) stamp: u64,
    pub(crate) key: MessageKey,
}

impl<M> Sorted<M> {
    pub(crate) fn new() -> Self {
        Sorted {
            lanes: Vec::new(),
            keyed: HashMap::default(),
            length: 0,
            stamps: 0,
            overtaking: 0,
        }
    }

    fn entry(&self, spot: &Spot) -> Option<&Entry<M>> {
        let lane = self
            .lanes
            .iter()
            .find(|lane| lane.priority == spot.priority)?;
        let index = usize::try_from(spot.place.checked_sub(lane.taken)?).ok()?;
        lane.entries.get(index)
    }

    fn take_from(&mut self, index: usize, newest: bool) -> Option<Entry<M>> {
        let lane = &mut self.lanes[index];
        let entry = if newest {
            lane.entries.pop_back()?
        } else {
            lane.taken += 1;
            lane.entries.pop_front()?
        };
        self.length -= 1;
        if let Some(key) = &entry.key {
            self.forget(key.hash, entry.stamp);
        }
        Some(entry)
    }

    /// A message with a key has gone.
    fn forget(&mut self, hash: u64, stamp: u64) {
        let std::collections::hash_map::Entry::Occupied(mut first) = self.keyed.entry(hash) else {
            return;
        };
        if first.get().stamp != stamp {
            first.get_mut().others.retain(|spot| spot.stamp != stamp);
            return;
        }
        let mut others = core::mem::take(&mut first.get_mut().others);
        match others.pop() {
            None => drop(first.remove()),
            Some(mut next) => {
                next.others = others;
                first.insert(next);
            }
        }
    }
}

impl<M: Send + 'static> SortedMailbox<M> for Sorted<M> {
    fn len(&self) -> usize {
        self.length
    }

    fn twin(&self, hash: u64, others: &[u64]) -> Option<Twin> {
        let first = self.keyed.get(&hash)?;
        let spot = core::iter::once(first)
            .chain(&first.others)
            .find(|spot| !others.contains(&spot.stamp))?;
        let key = self.entry(spot)?.key.clone()?;
        Some(Twin {
            stamp: spot.stamp,
            key,
        })
    }

    fn replace(&mut self, hash: u64, stamp: u64, message: M) -> Result<M, M> {
        let spot = self.keyed.get(&hash).and_then(|first| {
            core::iter::once(first)
                .chain(&first.others)
                .find(|spot| spot.stamp == stamp)
        });
        let Some((priority, place)) = spot.map(|spot| (spot.priority, spot.place)) else {
            return Err(message);
        };
        let entry = self
            .lanes
            .iter_mut()
            .find(|lane| lane.priority == priority)
            .and_then(|lane| {
                let index = usize::try_from(place - lane.taken).ok()?;
                lane.entries.get_mut(index)
            });
        match entry {
            Some(entry) => Ok(core::mem::replace(&mut entry.message, message)),
            None => Err(message),
        }
    }

    fn append(&mut self, letter: Letter<M>) {
        let Letter { message, label } = letter;
        let stamp = self.stamps;
        self.stamps += 1;
        self.length += 1;
        let found = self
            .lanes
            .binary_search_by(|lane| label.priority.cmp(&lane.priority));
        let index = found.unwrap_or_else(|index| {
            let lane = Lane {
                priority: label.priority,
                entries: VecDeque::new(),
                taken: 0,
            };
            self.lanes.insert(index, lane);
            index
        });
        let lane = &mut self.lanes[index];
        if let Some(key) = &label.key {
            let spot = Spot {
                stamp,
                priority: label.priority,
                place: lane.taken + lane.entries.len() as u64,
                others: Vec::new(),
            };
            match self.keyed.entry(key.hash) {
                std::collections::hash_map::Entry::Occupied(mut first) => {
                    first.get_mut().others.push(spot);
                }
                std::collections::hash_map::Entry::Vacant(none) => {
                    none.insert(spot);
                }
            }
        }
        lane.entries.push_back(Entry {
            message,
            key: label.key,
            stamp,
        });
    }

    fn take(&mut self) -> Option<Entry<M>> {
        let mut first: Option<(usize, u64)> = None;
        let mut oldest: Option<(usize, u64)> = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            if let Some(front) = lane.entries.front() {
                let this = (index, front.stamp);
                first.get_or_insert(this);
                if oldest.is_none_or(|(_, stamp)| front.stamp < stamp) {
                    oldest = Some(this);
                }
            }
        }
        let (first, oldest) = (first?.0, oldest?.0);
        let mut index = first;
        if first != oldest {
            self.overtaking += 1;
            if self.overtaking > MOST_OVERTAKING {
                self.overtaking = 0;
                index = oldest;
            }
        }
        self.take_from(index, false)
    }

    fn make_room(&mut self, priority: u8, newest: bool) -> Option<Entry<M>> {
        let index = self
            .lanes
            .iter()
            .rposition(|lane| !lane.entries.is_empty())?;
        let lowest = self.lanes[index].priority;
        // Of equals, the one that comes is the newest.
        if lowest > priority || newest && lowest == priority {
            return None;
        }
        self.take_from(index, newest)
    }

    #[cfg(feature = "serde")]
    fn oldest(&self) -> Option<u64> {
        let fronts = self.lanes.iter().filter_map(|lane| lane.entries.front());
        fronts.map(|entry| entry.stamp).min()
    }

    fn spare(&mut self) -> Option<Box<dyn SortedMailbox<M>>> {
        if self.length != 0 {
            return None;
        }
        let large = |lane: &Lane<M>| lane.entries.capacity() > MOST_KEPT;
        // A map has room for more than it was asked for.
        let is_large = self.lanes.iter().any(large) || self.keyed.capacity() > 4 * MOST_KEPT;
        is_large.then(|| {
            // Its stamps go on: a sender may have one in hand.
            let rest = Sorted {
                stamps: self.stamps,
                overtaking: self.overtaking,
                ..Sorted::new()
            };
            Box::new(core::mem::replace(self, rest)) as Box<dyn SortedMailbox<M>>
        })
    }
}
