//! Descriptors that go beside the frames of a link: which of them are on their way, and which have come.
//!
//! A message with descriptors has a number, which a frame of its own says right before it. What is sent stays lent until the other side
//! says that it has read the message, so that what depends on it (the end of a channel, say) is never nowhere.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tamtam_actor::link::{LentDescriptor, TakenDescriptor};

use crate::attachments::Attachments;

/// So many descriptors are in one message at most.
pub(crate) const MOST_IN_MESSAGE: usize = 16;
/// So many descriptors of a link are on their way at most, in each direction: the system takes them out of what the process may have open.
const MOST_ON_THEIR_WAY: usize = 128;

/// How many descriptors of a link are on their way from this side.
#[derive(Debug, Default)]
pub(crate) struct Ways(AtomicUsize);

impl Ways {
    fn add(&self) -> Result<(), String> {
        let more = |count| (count < MOST_ON_THEIR_WAY).then_some(count + 1);
        let added = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, more);
        added.map(drop).map_err(|count| {
            format!(
                "{count} descriptors are on their way over this link, which is the most: send it again when the other side has read some"
            )
        })
    }
}

/// The descriptors of one message, counted as long as they are here.
pub(crate) struct Lot {
    descriptors: Vec<LentDescriptor>,
    /// The places of those that several things in the message are of, and what else is lent of them.
    shared: BTreeMap<RawDescriptor, u64>,
    further: Vec<LentDescriptor>,
    ways: Arc<Ways>,
}

impl Lot {
    pub(crate) fn new(ways: &Arc<Ways>) -> Self {
        Lot {
            descriptors: Vec::new(),
            shared: BTreeMap::new(),
            further: Vec::new(),
            ways: Arc::clone(ways),
        }
    }

    /// One more; its place among them.
    pub(crate) fn push(&mut self, descriptor: LentDescriptor) -> Result<u64, String> {
        let place = self.descriptors.len();
        if place == MOST_IN_MESSAGE {
            return Err(format!(
                "a message has {MOST_IN_MESSAGE} descriptors at most: send it in parts"
            ));
        }
        self.ways.add()?;
        self.descriptors.push(descriptor);
        Ok(place as u64)
    }

    /// One that may be among them already; its place.
    pub(crate) fn push_shared(&mut self, descriptor: LentDescriptor) -> Result<u64, String> {
        // What is lent stays open, so its number is no other one's.
        let number = number(&descriptor);
        if let Some(place) = self.shared.get(&number) {
            self.further.push(descriptor);
            return Ok(*place);
        }
        let place = self.push(descriptor)?;
        self.shared.insert(number, place);
        Ok(place)
    }

    pub(crate) fn len(&self) -> u64 {
        self.descriptors.len() as u64
    }
}

/// What this process calls a descriptor.
#[cfg(unix)]
type RawDescriptor = std::os::fd::RawFd;
#[cfg(not(unix))]
type RawDescriptor = i32;

#[cfg(unix)]
fn number(descriptor: &LentDescriptor) -> RawDescriptor {
    std::os::fd::AsRawFd::as_raw_fd(&descriptor.as_fd())
}

#[cfg(not(unix))]
fn number(descriptor: &LentDescriptor) -> RawDescriptor {
    match *descriptor {}
}

impl Drop for Lot {
    fn drop(&mut self) {
        let count = self.descriptors.len();
        self.ways.0.fetch_sub(count, Ordering::SeqCst);
    }
}

/// A message's descriptors, under its number.
#[derive(Clone)]
pub(crate) struct Lent {
    pub(crate) number: u64,
    pub(crate) lot: Arc<Lot>,
}

/// Descriptors that are to go with a frame, which says their number.
#[doc(hidden)]
pub struct Attached {
    /// Where the frame stands among the bytes that are to go.
    pub frame: Range<usize>,
    pub(crate) lent: Lent,
}

impl Attached {
    /// So many more bytes stand before it now.
    pub(crate) fn shift(&mut self, bytes: usize) {
        self.frame = self.frame.start + bytes..self.frame.end + bytes;
    }

    /// The number that the frame says.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.lent.number
    }

    /// The descriptors, in order.
    #[cfg(unix)]
    #[must_use]
    pub fn descriptors(&self) -> Vec<std::os::fd::BorrowedFd<'_>> {
        let lent = self.lent.lot.descriptors.iter();
        lent.map(|descriptor| descriptor.as_fd()).collect()
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached")
            .field("number", &self.number())
            .field("frame", &self.frame)
            .finish_non_exhaustive()
    }
}

/// The descriptors that have come with a message. Those that are not taken are closed.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) number: u64,
    /// That of the process that has sent them.
    pub(crate) generation: u64,
    places: Vec<Option<TakenDescriptor>>,
    /// Why they are not here, if there were too many.
    refused: Option<String>,
}

const NOT_COME: &str =
    "its descriptor has not come: the limit of open files is reached here, or it was not sent";

impl Arrived {
    /// With a message that should have so many.
    pub(crate) fn new(
        number: u64,
        generation: u64,
        count: u64,
        mut descriptors: Vec<TakenDescriptor>,
        attachments: &Attachments,
    ) -> Self {
        let mut refused = None;
        // Which of them are missing is not known.
        if descriptors.len() as u64 == count {
            refused = attachments.add(&descriptors).err();
        }
        if refused.is_some() || descriptors.len() as u64 != count {
            descriptors.clear();
        }
        Arrived {
            number,
            generation,
            places: descriptors.into_iter().map(Some).collect(),
            refused,
        }
    }

    pub(crate) fn take(&mut self, place: u64) -> Result<TakenDescriptor, String> {
        let place = usize::try_from(place).ok();
        let taken = place.and_then(|place| self.places.get_mut(place)?.take());
        taken.ok_or_else(|| self.missing())
    }

    /// A copy of it.
    pub(crate) fn share(
        &self,
        place: u64,
        attachments: &Attachments,
    ) -> Result<TakenDescriptor, String> {
        let place = usize::try_from(place).ok();
        let shared = place.and_then(|place| copy(self.places.get(place)?.as_ref()?));
        let shared = shared.ok_or_else(|| self.missing())?;
        attachments.add(std::slice::from_ref(&shared))?;
        Ok(shared)
    }

    /// Why one is not here.
    fn missing(&self) -> String {
        self.refused.clone().unwrap_or_else(not_come)
    }
}

/// Why a descriptor is not here that should have come.
pub(crate) fn not_come() -> String {
    NOT_COME.to_owned()
}

#[cfg(unix)]
fn copy(descriptor: &TakenDescriptor) -> Option<TakenDescriptor> {
    descriptor.try_clone().ok()
}

#[cfg(not(unix))]
fn copy(descriptor: &TakenDescriptor) -> Option<TakenDescriptor> {
    match *descriptor {}
}

/// Gives the descriptors of a number, where they do not come with the frames: as many of them as have come.
pub(crate) type Fetch = Box<dyn FnMut(u64) -> Vec<TakenDescriptor> + Send>;
