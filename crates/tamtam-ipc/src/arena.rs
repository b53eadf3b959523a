//! Memory for many channels, locks and bytes: one descriptor, one mapping and one place among the parties for all of them.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use rustix::fs::fstat;

use crate::error::{AttachError, CreateError};
use crate::header::{Kind, LABEL_BYTES, Label, Shape};
use crate::regions::{REGION_ALIGNMENT, Regions};
use crate::segment::Segment;
use crate::tenancy::Tenancy;

/// Memory for many channels between this process and one other: thousands of them need one descriptor. Also for a [`Mutex`](crate::Mutex) and
/// [`SharedBytes`](crate::SharedBytes), so that a name of [`Properties`](crate::Properties) can stand for what lies here.
///
/// The process that has made it makes what is in it ([`channel`](Arena::channel), [`bytes_channel`](Arena::bytes_channel), [`mutex`](Arena::mutex),
/// [`shared_bytes`](Arena::shared_bytes)). Ends are as those of other channels. With the feature `link` they go in messages to actors: any number of ends in one message, with one descriptor, and the other process
/// keeps one for all. Without a link it attaches to the arena's [`memory`](Arena::memory), and then to each end by its
/// [`place`](crate::Sender::place) in there.
///
/// The memory is as large as it was made. What a channel takes of it is free for the next one when no process has an end of it any more, also by death: 1.5 KiB
/// and its messages, each of which takes 8 bytes more than it is long and a multiple of 64.
///
/// **Who has one end has the memory of all.** It can spoil what is said in any of the channels, so make an arena for each process with which you share.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Arena;
///
/// let arena = Arena::create(1 << 20)?;
/// let channels = (0..100).map(|_| arena.channel::<u64>(4)).collect::<Result<Vec<_>, _>>()?;
///
/// // The descriptor and the places go to another process; here they stay in this one.
/// let there = Arena::attach(arena.memory().try_clone_to_owned()?)?;
/// let place = channels[7].0.place().unwrap();
/// let sender = there.sender::<u64>(place)?;
/// sender.send(5)?;
/// assert_eq!(channels[7].1.recv()?, 5);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone)]
pub struct Arena {
    memory: Arc<ArenaMemory>,
}

/// Where something lies in an [`Arena`]: two numbers, which another process needs beside the arena's memory.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Arena, ArenaPlace};
///
/// let arena = Arena::create(1 << 20)?;
/// let (sender, receiver) = arena.channel::<u64>(4)?;
/// let place = sender.place().unwrap();
/// assert_eq!(receiver.place(), Some(place));
/// drop((sender, receiver));
/// // It is over, and what follows it there is another one.
/// let (_sender, _receiver) = arena.channel::<u64>(4)?;
/// let there = Arena::attach(arena.memory().try_clone_to_owned()?)?;
/// let again = ArenaPlace { generation: place.generation + 100, ..place };
/// assert!(there.sender::<u64>(again).is_err());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ArenaPlace {
    /// In bytes.
    pub offset: u64,
    /// Which of those that were there one after the other; 1 or more.
    pub generation: u64,
}

/// An arena as one process has it.
pub(crate) struct ArenaMemory {
    segment: Segment,
    identity: Identity,
    /// Of the maker.
    regions: Option<Mutex<Regions>>,
}

fn identity_of(memory: impl AsFd) -> io::Result<Identity> {
    let stat = fstat(memory)?;
    Ok((stat.st_dev as _, stat.st_ino as _))
}

/// What tells the memory of a descriptor from that of others, as long as any process has it.
pub(crate) type Identity = (u64, u64);

/// Arenas of which any end is here.
type Attached = Vec<(Identity, Weak<ArenaMemory>)>;

/// The arenas that this process has attached to. The same one may come with each message.
static ATTACHED: LazyLock<Mutex<Attached>> = LazyLock::new(Mutex::default);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    fn shape() -> Shape {
        Shape {
            size: 0,
            align: 1,
            capacity: 0,
            name: "channel".to_owned(),
        }
    }

    /// New memory of so many bytes for channels.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create(bytes: usize) -> Result<Self, CreateError> {
        let segment = Segment::create(Kind::Arena, Self::shape(), bytes)?;
        let identity = identity_of(segment.memory()).map_err(|source| CreateError::System {
            doing: "what it is cannot be asked for",
            bytes,
            source,
        })?;
        let regions = Some(Mutex::new(Regions::new(bytes)));
        let memory = Arc::new(ArenaMemory {
            segment,
            identity,
            regions,
        });
        Ok(Arena { memory })
    }

    /// The arena of another process. Of a descriptor of one that this process has attached to already nothing new is made, and it is closed.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is no arena, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let identity = identity_of(&memory).map_err(|source| AttachError::System {
            doing: "what it is cannot be asked for",
            source,
        })?;
        let mut attached = lock(&ATTACHED);
        let known = attached.iter().find(|(of, _)| *of == identity);
        if let Some(memory) = known.and_then(|(_, known)| known.upgrade()) {
            return Ok(Arena { memory });
        }
        let segment = Segment::attach(memory, Kind::Arena, &Self::shape())?;
        let memory = Arc::new(ArenaMemory {
            segment,
            identity,
            regions: None,
        });
        attached.retain(|(of, known)| *of != identity && known.strong_count() > 0);
        attached.push((identity, Arc::downgrade(&memory)));
        Ok(Arena { memory })
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.memory.segment.memory()
    }

    /// How many processes have it now.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.memory.segment.processes()
    }

    pub(crate) fn identity(&self) -> Identity {
        self.memory.identity
    }

    /// A region for what is of this kind and shape and takes so many bytes. Nothing is in it but these, and what was there before.
    pub(crate) fn take(
        &self,
        kind: Kind,
        shape: Shape,
        bytes: usize,
    ) -> Result<Region, CreateError> {
        let memory = &self.memory;
        let Some(regions) = &memory.regions else {
            return Err(CreateError::NotTheMaker);
        };
        let Some(needed) = bytes.checked_add(LABEL_BYTES) else {
            return Err(CreateError::TooLarge { bytes });
        };
        let mut regions = lock(regions);
        let taken = regions.take(needed).or_else(|| {
            regions.sweep(|offset, generation| memory.is_over(offset, generation));
            regions.take(needed)
        });
        let (offset, generation) = taken.ok_or_else(|| CreateError::ArenaFull {
            bytes: needed,
            free: regions.longest_free(),
        })?;
        drop(regions);
        memory.label(offset).write(kind, shape, bytes as u64);
        Ok(Region {
            memory: Arc::clone(memory),
            offset,
            bytes,
            generation,
        })
    }

    /// The region at a place that another process has named, which should be that of something of this kind and shape.
    pub(crate) fn region(
        &self,
        place: ArenaPlace,
        kind: Kind,
        shape: &Shape,
    ) -> Result<Region, AttachError> {
        let ArenaPlace { offset, generation } = place;
        let space = self.memory.segment.bytes();
        let offset = usize::try_from(offset).map_err(|_| AttachError::NotOurs)?;
        let behind = offset.checked_add(LABEL_BYTES);
        let room = behind.and_then(|behind| space.checked_sub(behind));
        let Some(room) = room.filter(|_| offset.is_multiple_of(REGION_ALIGNMENT)) else {
            return Err(AttachError::NotOurs);
        };
        // From here on the maker gives it to no other channel, so what the label says stays true.
        if !self.memory.enter(offset, generation) {
            return Err(AttachError::Over);
        }
        let mut region = Region {
            memory: Arc::clone(&self.memory),
            offset,
            bytes: 0,
            generation,
        };
        let bytes = self.memory.label(offset).check(kind, shape)?;
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= room);
        region.bytes = bytes.ok_or(AttachError::NotOurs)?;
        Ok(region)
    }
}

impl AsFd for Arena {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory()
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena")
            .field("bytes", &self.memory.segment.bytes())
            .field("is_maker", &self.memory.regions.is_some())
            .finish_non_exhaustive()
    }
}

impl ArenaMemory {
    /// What stands before a region.
    ///
    /// # Panics
    ///
    /// If it would not lie in the arena.
    fn label(&self, offset: usize) -> &Label {
        // SAFETY: `place` sees that it lies in the segment, aligned; any bytes are a label, and all access to it is atomic.
        unsafe { self.segment.place::<Label>(offset).as_ref() }
    }

    /// Counts one more handle of a region, if this is the maker; `false` if it knows that there is something later, or nothing.
    fn enter(&self, offset: usize, generation: u64) -> bool {
        let regions = self.regions.as_ref();
        regions.is_none_or(|regions| lock(regions).enter(offset, generation))
    }

    /// Whether no process holds what is in a region that the maker has left, which then belongs to the maker again.
    fn is_over(&self, offset: usize, generation: u64) -> bool {
        let offset = offset + LABEL_BYTES;
        // SAFETY: `place` sees that it lies in the segment, aligned; any bytes are a tenancy, and all access to it is atomic.
        let tenancy = unsafe { self.segment.place::<Tenancy>(offset).as_ref() };
        tenancy.end(generation, |place, stay| self.segment.stays(place, stay))
    }
}

/// A piece of an arena that a channel has: a handle of it, which the maker counts.
pub(crate) struct Region {
    memory: Arc<ArenaMemory>,
    /// Of its label.
    offset: usize,
    /// Behind the label.
    bytes: usize,
    generation: u64,
}

impl Region {
    pub(crate) fn segment(&self) -> &Segment {
        &self.memory.segment
    }

    /// Where in the segment what is in it begins.
    pub(crate) fn begin(&self) -> usize {
        self.offset + LABEL_BYTES
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn arena(&self) -> Identity {
        self.memory.identity
    }

    /// The same region once more.
    pub(crate) fn again(&self) -> Self {
        let is_there = self.memory.enter(self.offset, self.generation);
        debug_assert!(is_there, "this handle keeps it");
        Region {
            memory: Arc::clone(&self.memory),
            offset: self.offset,
            bytes: self.bytes,
            generation: self.generation,
        }
    }

    pub(crate) fn place(&self) -> ArenaPlace {
        ArenaPlace {
            offset: self.offset as u64,
            generation: self.generation,
        }
    }

    /// What it says lies in it.
    pub(crate) fn shape(&self) -> Shape {
        self.memory.label(self.offset).shape()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if let Some(regions) = &self.memory.regions {
            lock(regions).leave(self.offset);
        }
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("offset", &self.offset)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}
