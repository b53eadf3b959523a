//! Values by name, which processes share.

use std::any::Any;
use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tamtam_channel::WaitTimeoutError;
use tamtam_wait::Wait;

use crate::arena::{Arena, Identity};
use crate::bell::Bell;
use crate::claim::Lives;
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::lock::Lock;
use crate::published::{Published, Torn, Unpublished};
use crate::segment::Segment;
use crate::value::{HEAD, LONGEST_NAME, Record, Reference, Value};

/// One for the latest value of a name, and for this many writers less one that are at work at once.
const BUFFERS: usize = 4;
/// A thread that waits so long to give a new name a place, or for a buffer of a name, tells that there was none.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// So often a name is looked for again when another process has changed it in between.
const MOST_SEARCHES: u32 = 10_000;

/// What lies in the segment before the places.
#[derive(Debug)]
#[repr(C, align(128))]
struct State {
    capacity: AtomicU64,
    longest_value: AtomicU64,
    /// The last version that was given out.
    versions: AtomicU64,
    bell: Bell,
    /// Held while a new name is given a place, so that none gets two.
    naming: Lock,
}

const _: () = assert!(size_of::<State>() == 512);

/// What stands before the buffers of one place.
#[derive(Debug)]
#[repr(C, align(64))]
struct Place {
    published: Published<BUFFERS>,
    /// Of the name that was given the place last. One that has no value any more is not forgotten here.
    hash: AtomicU64,
}

const _: () = assert!(size_of::<Place>() == 64);

/// How large everything is. Each process computes it once, from numbers that it has checked, and keeps it to itself.
#[derive(Clone, Copy, Debug)]
struct Layout {
    capacity: usize,
    longest_value: usize,
    stride: usize,
}

impl Layout {
    /// `None` if that is too large to count.
    fn new(capacity: usize, longest_value: usize) -> Option<Self> {
        let buffer = HEAD.checked_add(longest_value)?;
        let buffer = buffer.checked_next_multiple_of(64)?;
        u32::try_from(buffer).ok()?;
        Some(Layout {
            capacity,
            longest_value,
            stride: buffer,
        })
    }

    fn place_bytes(self) -> usize {
        size_of::<Place>() + BUFFERS * self.stride
    }

    fn bytes(self) -> Option<usize> {
        let places = self.place_bytes().checked_mul(self.capacity)?;
        places.checked_add(size_of::<State>())
    }

    fn place(self, place: usize) -> usize {
        size_of::<State>() + place * self.place_bytes()
    }

    fn buffer(self, place: usize, buffer: usize) -> usize {
        self.place(place) + size_of::<Place>() + buffer * self.stride
    }
}

/// A value with its place.
struct Found {
    place: usize,
    /// Of the place's state, for what is written over it.
    state: u64,
    record: Record,
}

/// Named values in shared memory, which any process sets, reads and removes: `tamtam_channel::Properties` between processes.
///
/// So many names, and values up to so many bytes, as was said when it was made. A [`Value`] is a truth value, a number, text or bytes, or it stands for what
/// lies in an [`Arena`] that both processes have and is not copied: a [`Mutex`](crate::Mutex), [`SharedBytes`](crate::SharedBytes), an end of a channel
/// ([`set_shared`](Properties::set_shared), [`set_receiver`](Properties::set_receiver)). What has a descriptor of its own cannot be a value: that would have to
/// go along, which memory cannot do.
///
/// Reading never waits. Setting the value of a name that has one waits for no other process either; a new name waits for its place while another process
/// gives one to another name. A process that dies in the middle of it leaves what was.
///
/// # Ordering
///
/// As for a [`Property`](crate::Property), for each name by itself.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Properties, Value};
///
/// let settings = Properties::create(100, 1024)?;
/// settings.set("title", "Orders")?;
/// settings.set("rows", 20_i64)?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let there = Properties::attach(settings.memory().try_clone_to_owned()?)?;
/// assert_eq!(there.get("title"), Some(Value::from("Orders")));
///
/// let (version, _) = there.versioned("rows").unwrap();
/// settings.set("rows", 30_i64)?;
/// assert_ne!(there.wait_changed("rows", version), version);
/// assert!(there.remove("rows"));
/// assert_eq!(settings.names(), ["title"]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Properties {
    segment: Segment,
    layout: Layout,
    /// In which what names refer to may lie.
    arenas: Vec<Arena>,
    /// What this handle has given names that they have still, as far as it has looked.
    kept: Mutex<Vec<Kept>>,
}

/// What keeps a thing in its place while a name stands for it.
pub(crate) type Keeper = Box<dyn Any + Send + Sync>;

/// What a name stands for, as long as its place has the value that was published there.
struct Kept {
    at: At,
    _thing: Keeper,
}

/// A value that was published: in which place, and which of those that were there one after the other.
#[derive(Clone, Copy, Debug)]
struct At {
    place: usize,
    state: u64,
}

/// FNV-1a (Fowler, Noll and Vo), which both sides compute alike. Two names of one hash are told apart by what stands in the buffer.
fn hash(name: &str) -> u64 {
    name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

impl Properties {
    fn shape() -> Shape {
        Shape {
            size: 0,
            align: 1,
            capacity: 0,
            name: "value".to_owned(),
        }
    }

    fn of(segment: Segment, layout: Layout) -> Self {
        Properties {
            segment,
            layout,
            arenas: Vec::new(),
            kept: Mutex::default(),
        }
    }

    /// Room for so many names, each with a value of up to so many bytes. It takes about four times that.
    ///
    /// # Errors
    ///
    /// [`CreateError`] if there is no such memory.
    pub fn create(capacity: usize, longest_value: usize) -> Result<Self, CreateError> {
        let layout = Layout::new(capacity, longest_value);
        let sized = layout.and_then(|layout| Some((layout, layout.bytes()?)));
        let (layout, bytes) = sized.ok_or(CreateError::TooLarge { bytes: usize::MAX })?;
        let segment = Segment::create(Kind::Properties, Self::shape(), bytes)?;
        let properties = Properties::of(segment, layout);
        let state = properties.state();
        state.capacity.store(capacity as u64, Ordering::SeqCst);
        state
            .longest_value
            .store(longest_value as u64, Ordering::SeqCst);
        state.bell.prepare();
        state.naming.prepare();
        Ok(properties)
    }

    /// The values that another process has made, by the descriptor of their memory.
    ///
    /// # Errors
    ///
    /// [`AttachError`] if that is something else, or nothing can be done with it.
    pub fn attach(memory: OwnedFd) -> Result<Self, AttachError> {
        let segment = Segment::attach(memory, Kind::Properties, &Self::shape())?;
        if segment.bytes() < size_of::<State>() {
            return Err(AttachError::NotOurs);
        }
        let none = Layout {
            capacity: 0,
            longest_value: 0,
            stride: 0,
        };
        let mut properties = Properties::of(segment, none);
        let number =
            |word: &AtomicU64| usize::try_from(word.load(Ordering::SeqCst)).unwrap_or(usize::MAX);
        let state = properties.state();
        let layout = Layout::new(number(&state.capacity), number(&state.longest_value));
        let bytes = properties.segment.bytes();
        let layout = layout.filter(|layout| layout.bytes() == Some(bytes));
        properties.layout = layout.ok_or(AttachError::NotOurs)?;
        // Those who sleep here are to sleep on the life of this process, too.
        properties.state().bell.ring();
        properties.state().naming.greet();
        Ok(properties)
    }

    /// The memory, for another process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.segment.memory()
    }

    /// The same properties, whose names may stand for what lies in this arena, too. Each process says so for itself, of arenas that it shares with those who
    /// have the properties: a name gets at nothing that lies elsewhere, whatever another process has written.
    ///
    /// # Examples
    ///
    /// See [`set_shared`](Properties::set_shared).
    #[must_use]
    pub fn with_arena(mut self, arena: &Arena) -> Self {
        self.arenas.push(arena.clone());
        self
    }

    /// The arenas that it was given.
    #[must_use]
    pub fn arenas(&self) -> &[Arena] {
        &self.arenas
    }

    pub(crate) fn arena(&self, identity: Identity) -> Option<&Arena> {
        self.arenas
            .iter()
            .find(|arena| arena.identity() == identity)
    }

    /// How many names have room.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.layout.capacity
    }

    fn state(&self) -> &State {
        // SAFETY: it lies in the mapping, as `place` sees to, which lives as long as the segment; any bytes are such a state, and all access to it is
        // atomic.
        unsafe { self.segment.place::<State>(0).as_ref() }
    }

    fn place(&self, place: usize) -> &Place {
        let offset = self.layout.place(place);
        // SAFETY: it lies in the mapping, as `Segment::place` sees to, which lives as long as the segment; any bytes are such a place, and all access to it
        // is atomic.
        unsafe { self.segment.place::<Place>(offset).as_ref() }
    }

    // ------------------------------------------------------------------------------- reading

    /// What lies in a place, and the state of that.
    fn read(&self, place: usize) -> Result<(u64, Option<Record>), Torn> {
        let mut bytes = Vec::new();
        let state = self.place(place).published.read(|buffer| {
            let offset = self.layout.buffer(place, buffer);
            let mut head = [0; HEAD];
            self.segment.read_bytes(offset, &mut head);
            // What is there while it is written, or was written by a process that lies, is no reason to read beyond the buffer.
            let len = Record::value_len_in(&head).min(self.layout.longest_value);
            bytes.clear();
            bytes.extend_from_slice(&head);
            bytes.resize(HEAD + len, 0);
            self.segment.read_bytes(offset + HEAD, &mut bytes[HEAD..]);
        })?;
        Ok((state, Record::decode(&bytes)))
    }

    /// What lies in a place, if it can be read.
    fn record(&self, place: usize) -> Option<Record> {
        self.read(place).ok()?.1
    }

    /// Whether a name has a value in a place, by what stands before that, and the state of the place.
    fn look(&self, place: usize) -> Result<(u64, bool), Torn> {
        let mut head = [0; HEAD];
        let state = self.place(place).published.read(|buffer| {
            let offset = self.layout.buffer(place, buffer);
            self.segment.read_bytes(offset, &mut head);
        })?;
        Ok((state, Record::is_in(&head)))
    }

    fn find(&self, name: &str) -> Result<Option<Found>, Torn> {
        let hash = hash(name);
        for place in 0..self.layout.capacity {
            if self.place(place).hash.load(Ordering::SeqCst) != hash {
                continue;
            }
            let (state, record) = self.read(place)?;
            if let Some(record) = record.filter(|record| record.name == name) {
                return Ok(Some(Found {
                    place,
                    state,
                    record,
                }));
            }
        }
        Ok(None)
    }

    /// As [`find`](Properties::find); what cannot be read has no value.
    fn find_whole(&self, name: &str) -> Option<Found> {
        self.find(name).ok().flatten()
    }

    /// A copy of the value of this name. `None` also if no copy of 10,000 was whole, as [`Property::get_whole`](crate::Property::get_whole) says of its value.
    ///
    /// # Blocking
    ///
    /// Never, as [`Property::get`](crate::Property::get).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Value> {
        self.find_whole(name).map(|found| found.record.value)
    }

    /// A copy of the value of this name, and its version: no two values that were ever set here have one version, and none has zero.
    #[must_use]
    pub fn versioned(&self, name: &str) -> Option<(u64, Value)> {
        let found = self.find_whole(name)?;
        Some((found.record.version, found.record.value))
    }

    /// Whether the name has a value.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.find_whole(name).is_some()
    }

    /// All names that have a value, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let records = (0..self.layout.capacity).filter_map(|place| self.record(place));
        let mut names: Vec<String> = records.map(|record| record.name).collect();
        names.sort();
        names.dedup();
        names
    }

    // ------------------------------------------------------------------------------- setting

    /// Writes into a place, if it is still in this state.
    fn publish(
        &self,
        place: usize,
        state: u64,
        bytes: &[u8],
    ) -> Result<Option<At>, SetPropertyError> {
        let published = &self.place(place).published;
        let write = |buffer| {
            let offset = self.layout.buffer(place, buffer);
            self.segment.write_bytes(offset, bytes);
        };
        let outcome = published.publish(&self.segment, Some(state), Some(LONGEST_WAIT), write);
        self.state().bell.ring();
        match outcome {
            Ok(state) => Ok(Some(At { place, state })),
            Err(Unpublished::Changed(_)) => Ok(None),
            Err(Unpublished::Crowded) => Err(SetPropertyError::Stuck),
        }
    }

    /// Sets the value of a name.
    ///
    /// # Blocking
    ///
    /// Not if the name has a value (but for three other threads that are in the middle of setting it). Else while another thread gives a name its
    /// place. For some seconds at most in either case.
    ///
    /// # Errors
    ///
    /// [`SetPropertyError`]; the name has the value that it had.
    pub fn set(&self, name: &str, value: impl Into<Value>) -> Result<(), SetPropertyError> {
        self.set_value(name, value.into())?;
        self.give_up();
        Ok(())
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives up what was kept for values that are no more, also those that other processes have changed. Each is judged by its own place: what another
    /// thread keeps meanwhile is of a value that is there.
    fn give_up(&self) {
        let is_over = |kept: &mut Kept| !self.is_there(kept.at);
        let over: Vec<Kept> = self.kept().extract_if(.., is_over).collect();
        // Under no lock: a receiver that goes wakes those who send.
        drop(over);
    }

    /// Whether what was published is still what its place has. That is one look, and once it is not, it never is.
    fn is_there(&self, at: At) -> bool {
        self.place(at.place).published.version() == at.state
    }

    /// Sets the value of a name to a reference, and keeps what that refers to until the name has another value.
    pub(crate) fn set_kept(
        &self,
        name: &str,
        reference: Reference,
        thing: Keeper,
    ) -> Result<(), SetPropertyError> {
        let at = self.set_value(name, Value::Shared(reference))?;
        self.kept().push(Kept { at, _thing: thing });
        // Another thread may have set it anew before it was kept.
        self.give_up();
        Ok(())
    }

    fn version_of(&self, name: &str) -> u64 {
        self.find_whole(name)
            .map_or(0, |found| found.record.version)
    }

    /// Sets the value of a name, and says where it was published.
    fn set_value(&self, name: &str, value: Value) -> Result<At, SetPropertyError> {
        let len = Record::value_len(&value);
        let longest = self.layout.longest_value;
        if len > longest {
            return Err(SetPropertyError::ValueTooLong { len, longest });
        }
        if name.len() > LONGEST_NAME {
            let name = name.to_owned();
            return Err(SetPropertyError::NameTooLong { name });
        }
        let before = self.state().versions.fetch_add(1, Ordering::SeqCst);
        let version = before.wrapping_add(1).max(1);
        let record = Record {
            version,
            name: name.to_owned(),
            value,
        };
        let bytes = record.encode();
        for _ in 0..MOST_SEARCHES {
            let set = match self.find(name)? {
                Some(Found { place, state, .. }) => self.publish(place, state, &bytes)?,
                None => self.name(name, &bytes)?,
            };
            if let Some(at) = set {
                return Ok(at);
            }
        }
        Err(SetPropertyError::Stuck)
    }

    /// Gives a new name a place, with its first value.
    fn name(&self, name: &str, bytes: &[u8]) -> Result<Option<At>, SetPropertyError> {
        let lock = &self.state().naming;
        let deadline = Instant::now().checked_add(LONGEST_WAIT);
        // A dead holder has left nothing that is half done: a place has a name from the moment on that it has a value.
        lock.take(&self.segment, deadline)
            .map_err(|_| SetPropertyError::Stuck)?;
        let outcome = self.name_in_order(name, bytes);
        lock.release(&self.segment, false);
        outcome
    }

    /// Gives a new name a place, as the only one that does.
    fn name_in_order(&self, name: &str, bytes: &[u8]) -> Result<Option<At>, SetPropertyError> {
        if self.find(name)?.is_some() {
            return Ok(None);
        }
        let (place, state) = self.first_free(name)?;
        self.place(place).hash.store(hash(name), Ordering::SeqCst);
        self.publish(place, state, bytes)
    }

    fn first_free(&self, name: &str) -> Result<(usize, u64), SetPropertyError> {
        let mut places = 0..self.layout.capacity;
        let free = places.find_map(|place| match self.look(place) {
            Ok((state, false)) => Some((place, state)),
            _ => None,
        });
        // Else one where another process has written nonsense.
        let free = free.or_else(|| {
            let mut places = 0..self.layout.capacity;
            places.find_map(|place| match self.read(place) {
                Ok((state, None)) => Some((place, state)),
                _ => None,
            })
        });
        free.ok_or_else(|| SetPropertyError::Full {
            name: name.to_owned(),
            capacity: self.layout.capacity,
        })
    }

    /// Removes a name with its value. `false` if it had none, or other threads were in the middle of setting it for some seconds.
    pub fn remove(&self, name: &str) -> bool {
        let is_removed = self.remove_if(name, |_| true);
        self.give_up();
        is_removed
    }

    /// Removes a name with its value while that is of this version.
    pub(crate) fn remove_version(&self, name: &str, version: u64) {
        self.remove_if(name, |there| there == version);
    }

    fn remove_if(&self, name: &str, is_it: impl Fn(u64) -> bool) -> bool {
        for _ in 0..MOST_SEARCHES {
            let found = self.find_whole(name);
            let found = found.filter(|found| is_it(found.record.version));
            let Some(Found { place, state, .. }) = found else {
                return false;
            };
            match self.publish(place, state, &Record::nothing()) {
                Ok(Some(_)) => return true,
                Ok(None) => {}
                Err(_) => return false,
            }
        }
        false
    }

    // ------------------------------------------------------------------------------- waiting

    /// Waits until the name's version is another one than `since`, and gives it. The version of a name without a value is zero.
    ///
    /// # Blocking
    ///
    /// Until then: without end if no process sets it any more.
    pub fn wait_changed(&self, name: &str, since: u64) -> u64 {
        loop {
            if let Ok(version) = self.wait_until(name, since, None) {
                return version;
            }
        }
    }

    /// As [`wait_changed`](Properties::wait_changed), for so long at most.
    ///
    /// # Errors
    ///
    /// [`WaitTimeoutError`] if it did not change in time.
    pub fn wait_changed_timeout(
        &self,
        name: &str,
        since: u64,
        timeout: Duration,
    ) -> Result<u64, WaitTimeoutError> {
        // A time beyond the clock's end is none.
        self.wait_until(name, since, Instant::now().checked_add(timeout))
    }

    fn wait_until(
        &self,
        name: &str,
        since: u64,
        deadline: Option<Instant>,
    ) -> Result<u64, WaitTimeoutError> {
        let mut version = since;
        let is_changed = || {
            version = self.version_of(name);
            version != since
        };
        let words = || self.segment.words();
        let bell = &self.state().bell;
        let waited = bell.wait(Wait::Adaptive, deadline, is_changed, words);
        waited.map(|()| version).map_err(|_| WaitTimeoutError)
    }

    /// How many processes have it now, this one included.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.segment.processes()
    }
}

impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = (0..self.layout.capacity).filter_map(|place| self.record(place));
        let entries = records.map(|record| (record.name, record.value));
        f.debug_map().entries(entries).finish()
    }
}

/// The error of [`Properties::set`].
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Properties, SetPropertyError};
///
/// let settings = Properties::create(1, 4)?;
/// let error = settings.set("title", "Orders").unwrap_err();
/// assert_eq!(error.to_string(), "the value has 6 bytes, and 4 have room");
/// settings.set("a", 1_i64).unwrap_err();
/// settings.set("a", true)?;
/// assert!(matches!(
///     settings.set("b", true),
///     Err(SetPropertyError::Full { .. })
/// ));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetPropertyError {
    /// The name is longer than any may be.
    #[error("the name {name:?} is longer than 112 bytes")]
    NameTooLong {
        /// The name.
        name: String,
    },
    /// The value is longer than was said when the properties were made.
    #[error("the value has {len} bytes, and {longest} have room")]
    ValueTooLong {
        /// What it has.
        len: usize,
        /// What it may have.
        longest: usize,
    },
    /// As many names have a value as have room.
    #[error("no room for the name {name:?}: there are {capacity} already")]
    Full {
        /// The name.
        name: String,
        /// How many have room.
        capacity: usize,
    },
    /// Another process was stopped in the middle of giving a name its place, or three threads in the middle of setting this one, or a process writes nonsense.
    #[error(
        "other processes have been in the middle of setting a name for seconds, or one writes nonsense"
    )]
    Stuck,
}

impl From<Torn> for SetPropertyError {
    fn from(_: Torn) -> Self {
        SetPropertyError::Stuck
    }
}
