//! Two streams of bytes between two processes, one in each direction: what carries a link where both sides are on one machine.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use tamtam_wait::{Futex, Scope, TimedOut, Wait};

use crate::bell::OwnSleepers;
use crate::copy;
use crate::error::{AttachError, CreateError};
use crate::header::{Kind, Shape};
use crate::party;
use crate::segment::Segment;
use crate::stream::{BEGIN, Control, Place, Places, ReadCursor, WriteCursor};

pub use crate::stream::SEATS;

/// What one direction's control takes, with what keeps it apart from others.
const CONTROL: usize = size_of::<Control>();
/// No direction has fewer bytes, nor more.
const SIZES: std::ops::RangeInclusive<usize> = 4096..=1 << 30;

/// Which side of a carrier a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Maker = 0,
    Taker = 1,
}

#[derive(Debug)]
struct Shared {
    segment: Segment,
    /// The bytes of one direction: a power of two.
    size: usize,
    side: Side,
    /// Where the other process was met last among the parties.
    met: AtomicUsize,
    /// How many bytes were read here, and handled. In memory of this process: the other one could write a count into what both share at which
    /// a thread would not sleep any more, or for good.
    handled: AtomicU64,
    /// Threads of this process that sleep, for each place.
    sleepers: [OwnSleepers; Place::COUNT],
}

/// Not met yet.
const NOWHERE: usize = usize::MAX;

impl Shared {
    /// How long the streams are is said by the length of the memory.
    fn shape() -> Shape {
        Shape {
            size: 1,
            align: 1,
            capacity: 2,
            name: "stream".to_owned(),
        }
    }

    fn bytes(size: usize) -> usize {
        2 * (CONTROL + size)
    }

    /// The control of a direction: 0 from the maker, 1 from the taker.
    fn control(&self, direction: usize) -> &Control {
        // SAFETY: the segment is at least so large, as was seen when it was made or attached; zeroes and any other bytes are a control, and all
        // access to it is atomic.
        unsafe { self.segment.place::<Control>(direction * CONTROL).as_ref() }
    }

    /// The bytes of a direction.
    fn ring(&self, direction: usize) -> *mut u8 {
        let offset = 2 * CONTROL + direction * self.size;
        // All of it lies in the segment, as was seen when that was made or attached.
        self.segment.place::<u8>(offset).as_ptr()
    }

    /// The direction in which this process reads.
    fn reading(&self) -> usize {
        1 - self.side as usize
    }

    /// The direction in which it writes.
    fn writing(&self) -> usize {
        self.side as usize
    }

    /// Those of this process that sleep at a place of a direction.
    fn sleepers(&self, place: Place) -> &OwnSleepers {
        &self.sleepers[place.number()]
    }

    /// Wakes threads of this process, whatever the other one has written of them.
    fn wake_own(&self, direction: usize, places: Places) {
        let control = self.control(direction);
        for place in places.iter() {
            self.sleepers(place).wake(control.bell(place));
        }
    }

    /// Whether the other process was there and is there no more, in whatever way it went.
    fn was_left(&self) -> bool {
        // This is asked at each look of a thread that waits awake.
        let met = self.segment.parties().get(self.met.load(Ordering::Relaxed));
        met.is_none_or(|party| party.look().is_none()) && self.meets_none()
    }

    /// The words to sleep on for the end of the other process.
    fn lives(&self) -> impl Iterator<Item = (&Futex, u32, Scope)> {
        party::lives(self.segment.parties(), self.segment.member().stay())
    }

    #[cold]
    fn meets_none(&self) -> bool {
        let own = self.segment.member().stay();
        let parties = self.segment.parties().iter().enumerate();
        let others = parties.filter(|(place, _)| *place != own.place as usize);
        let mut was_there = false;
        for (place, party) in others {
            was_there |= party.was_taken();
            if party.look().is_some() {
                self.met.store(place, Ordering::Relaxed);
                return false;
            }
        }
        was_there
    }
}

/// The two ends that one process has of a carrier.
fn ends_of(shared: Shared) -> (CarrierWriter, CarrierReader) {
    let shared = Arc::new(shared);
    (
        CarrierWriter {
            shared: Arc::clone(&shared),
            cursor: WriteCursor::new(),
        },
        CarrierReader {
            shared,
            cursor: ReadCursor::new(),
        },
    )
}

/// Makes a carrier in new shared memory, with room for so many bytes in each direction (rounded up to a power of two, from 4 KiB to 1 GiB).
///
/// The other process [`attach`]es to the descriptor that [`CarrierReader::memory`] gives.
///
/// # Errors
///
/// [`CreateError`] if there is no such memory.
pub fn carrier(bytes: usize) -> Result<(CarrierWriter, CarrierReader), CreateError> {
    let size = bytes
        .clamp(*SIZES.start(), *SIZES.end())
        .next_power_of_two();
    let segment = Segment::create(Kind::Carrier, Shared::shape(), Shared::bytes(size))?;
    let shared = Shared {
        segment,
        size,
        side: Side::Maker,
        met: AtomicUsize::new(NOWHERE),
        handled: AtomicU64::new(BEGIN),
        sleepers: std::array::from_fn(|_| OwnSleepers::new()),
    };
    for direction in 0..2 {
        shared.control(direction).prepare();
    }
    Ok(ends_of(shared))
}

/// The other end of a carrier, from the descriptor of its memory. There is one such end: a second process that attaches would take bytes that are
/// for the first.
///
/// # Errors
///
/// [`AttachError`] if that is no carrier's memory, or nothing can be done with it.
pub fn attach(memory: OwnedFd) -> Result<(CarrierWriter, CarrierReader), AttachError> {
    let segment = Segment::attach(memory, Kind::Carrier, &Shared::shape())?;
    let size = (segment.bytes() / 2).saturating_sub(CONTROL);
    if !SIZES.contains(&size) || !size.is_power_of_two() || Shared::bytes(size) != segment.bytes() {
        return Err(AttachError::NotOurs);
    }
    let shared = Shared {
        segment,
        size,
        side: Side::Taker,
        met: AtomicUsize::new(NOWHERE),
        handled: AtomicU64::new(BEGIN),
        sleepers: std::array::from_fn(|_| OwnSleepers::new()),
    };
    // A thread that sleeps there does not sleep on the life of this process yet.
    for direction in 0..2 {
        let control = shared.control(direction);
        control.ring(Places::READERS.and(Place::Writer));
    }
    Ok(ends_of(shared))
}

/// Why a carrier carries no more.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{CarrierError, attach, carrier};
///
/// let (mut writer, mut reader) = carrier(64 << 10)?;
/// let (mut their_writer, their_reader) = attach(reader.memory().try_clone_to_owned()?)?;
/// their_writer.write(b"bye")?;
/// drop((their_writer, their_reader));
/// let mut bytes = [0; 8];
/// assert_eq!(reader.read(&mut bytes)?, 3); // what was written before comes first
/// assert_eq!(reader.read(&mut bytes), Err(CarrierError::Closed));
/// assert_eq!(writer.write(b"?"), Err(CarrierError::Closed));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CarrierError {
    /// The other process has ended, or has given up its end. What it had written before was read.
    #[error("the other process has ended or given up the memory that both share")]
    Closed,
    /// The other process has written nonsense.
    #[error(
        "the other process has written counts into the shared memory that cannot be; nothing that comes from there is believed any more"
    )]
    Corrupt,
}

impl From<CarrierError> for io::Error {
    fn from(error: CarrierError) -> Self {
        let kind = match error {
            CarrierError::Closed => io::ErrorKind::BrokenPipe,
            CarrierError::Corrupt => io::ErrorKind::InvalidData,
        };
        io::Error::new(kind, error)
    }
}

/// Writes bytes for the other process.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{attach, carrier};
///
/// let (mut writer, reader) = carrier(64 << 10)?;
/// // The descriptor goes to another process over a socket; here it stays in this one.
/// let memory = reader.memory().try_clone_to_owned()?;
/// let (_, mut other) = attach(memory)?;
/// assert_eq!(writer.write(b"news")?, 4);
/// let mut bytes = [0; 8];
/// assert_eq!(other.read(&mut bytes)?, 4);
/// assert_eq!(&bytes[..4], b"news");
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct CarrierWriter {
    shared: Arc<Shared>,
    cursor: WriteCursor,
}

impl CarrierWriter {
    fn control(&self) -> &Control {
        self.shared.control(self.shared.writing())
    }

    /// Writes as many of these bytes as there is room for now, and wakes a reader that waits. `0` if there is no room.
    ///
    /// # Errors
    ///
    /// [`CarrierError`] if no process will read them.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, CarrierError> {
        self.write_to(bytes, 0)
    }

    /// As [`write`](CarrierWriter::write), of what is for threads that wait at these [seats](CarrierSeats), a bit for each: it wakes those of them that
    /// sleep. If not all bytes have room, the rest is to be written to the same seats.
    ///
    /// # Errors
    ///
    /// [`CarrierError`] if no process will read them.
    pub fn write_to(&mut self, bytes: &[u8], seats: u16) -> Result<usize, CarrierError> {
        if self.cursor.is_over(self.control()) {
            return Err(CarrierError::Closed);
        }
        let count = self.room(bytes.len())?.min(bytes.len());
        if count == 0 {
            return Ok(0);
        }
        self.copy(&bytes[..count]);
        if let Some(sleeper) = self.show_to(seats) {
            sleeper.wake();
        }
        Ok(count)
    }

    /// Puts these bytes where the other process finds them once they are [shown](CarrierWriter::show), or by a later
    /// [`write`](CarrierWriter::write). `false`, and none, if there is no room for all of them now.
    ///
    /// What is not shown is never read, also if this is dropped.
    ///
    /// # Errors
    ///
    /// [`CarrierError::Corrupt`]. Whether a process will read them is not looked at.
    pub fn put(&mut self, bytes: &[u8]) -> Result<bool, CarrierError> {
        let has_room = self.room(bytes.len())? >= bytes.len();
        if has_room {
            self.copy(bytes);
        }
        Ok(has_room)
    }

    /// Shows the other process all that was [put](CarrierWriter::put). If it sleeps, what this gives wakes it, once it is asked to: that takes a system
    /// call, so under a lock it would keep others waiting.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(target_os = "linux")] {
    /// use tamtam_ipc::{attach, carrier};
    ///
    /// let (mut writer, reader) = carrier(4096)?;
    /// let (_, mut other) = attach(reader.memory().try_clone_to_owned()?)?;
    /// assert!(writer.put(b"one ")? && writer.put(b"two")?);
    /// assert!(other.is_empty());
    /// if let Some(sleeper) = writer.show() {
    ///     sleeper.wake();
    /// }
    /// assert_eq!(other.len()?, 7);
    /// assert!(!writer.put(&[0; 4096])?); // there is no room for all
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    /// ```
    #[must_use = "the other process may sleep"]
    pub fn show(&mut self) -> Option<CarrierWaker> {
        self.show_to(0)
    }

    /// As [`show`](CarrierWriter::show), of what is for threads that wait at these [seats](CarrierSeats), a bit for each: what this gives wakes those of
    /// them that sleep, too.
    #[must_use = "the other process may sleep"]
    pub fn show_to(&mut self, seats: u16) -> Option<CarrierWaker> {
        let control = self.control();
        let has_sleeper = self.cursor.show_all(control);
        let mut places = control.sleepers_at(Places::of_seats(seats));
        if has_sleeper {
            places = places.and(Place::Reader);
        }
        (places != Places::NONE).then(|| CarrierWaker {
            shared: Arc::clone(&self.shared),
            direction: self.shared.writing(),
            places,
            wakes_own: false,
        })
    }

    /// How many bytes have room now, if that is to be known of so many.
    fn room(&mut self, wanted: usize) -> Result<usize, CarrierError> {
        let control = self.shared.control(self.shared.writing());
        let room = self.cursor.room(control, self.shared.size, wanted);
        room.map_err(|_| CarrierError::Corrupt)
    }

    /// Copies bytes for which there is room.
    fn copy(&mut self, bytes: &[u8]) {
        let size = self.shared.size;
        let place = self.cursor.place(size);
        let (first, second) = bytes.split_at(bytes.len().min(size - place));
        let ring = self.shared.ring(self.shared.writing());
        // SAFETY: the ring has `size` bytes, of which the caller has room for these, and both parts lie in it: the first up to its end, the
        // second, which is shorter than what is before the first, from its beginning.
        unsafe {
            copy::into_shared(first, ring.add(place));
            copy::into_shared(second, ring);
        }
        self.cursor.put(bytes.len());
    }

    /// Waits until there is room, or `is_wanted` says otherwise: that is asked whenever [`CarrierWaker::wake`] was called.
    ///
    /// # Errors
    ///
    /// [`CarrierError`] if no process will read any more.
    pub fn wait(&mut self, is_wanted: impl Fn() -> bool) -> Result<(), CarrierError> {
        let size = self.shared.size;
        let control = self.shared.control(self.shared.writing());
        let (shared, cursor) = (&self.shared, &mut self.cursor);
        let mut outcome = Ok(());
        let is_there = || {
            if cursor.is_over(control) || shared.was_left() {
                outcome = Err(CarrierError::Closed);
                return true;
            }
            match cursor.room(control, size, 1) {
                Ok(room) => room > 0 || !is_wanted(),
                Err(_) => {
                    outcome = Err(CarrierError::Corrupt);
                    true
                }
            }
        };
        let lives = || shared.lives();
        let sleepers = shared.sleepers(Place::Writer);
        let _ = sleepers.wait_at(
            &control.writer,
            Wait::Adaptive,
            None,
            || {},
            is_there,
            lives,
        );
        outcome
    }

    /// Wakes a [`wait`](CarrierWriter::wait) from another thread of this process.
    #[must_use]
    pub fn waker(&self) -> CarrierWaker {
        CarrierWaker {
            shared: Arc::clone(&self.shared),
            direction: self.shared.writing(),
            places: Places::NONE.and(Place::Writer),
            wakes_own: true,
        }
    }
}

impl Drop for CarrierWriter {
    fn drop(&mut self) {
        self.cursor.end(self.control());
    }
}

/// Reads what the other process has written.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{CarrierError, attach, carrier};
///
/// let (writer, reader) = carrier(64 << 10)?;
/// let (_, mut other) = attach(reader.memory().try_clone_to_owned()?)?;
/// drop((writer, reader));
/// assert!(other.wait(None, || true)?);
/// assert_eq!(other.read(&mut [0; 8]), Err(CarrierError::Closed));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct CarrierReader {
    shared: Arc<Shared>,
    cursor: ReadCursor,
}

impl CarrierReader {
    /// The memory, for the other process.
    #[must_use]
    pub fn memory(&self) -> BorrowedFd<'_> {
        self.shared.segment.memory()
    }

    /// How many bytes are there.
    ///
    /// # Errors
    ///
    /// [`CarrierError::Corrupt`].
    pub fn len(&self) -> Result<usize, CarrierError> {
        let control = self.shared.control(self.shared.reading());
        let there = self.cursor.there(control, self.shared.size);
        there.map_err(|_| CarrierError::Corrupt)
    }

    /// Whether nothing is there to be read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == Ok(0)
    }

    /// Reads what is there, as far as it fits; `0` if nothing is there now.
    ///
    /// # Errors
    ///
    /// [`CarrierError`] if nothing is there and no process will write more.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, CarrierError> {
        let size = self.shared.size;
        let direction = self.shared.reading();
        let control = self.shared.control(direction);
        // Before the count is looked at: what was written before the end is there.
        let is_over = self.cursor.is_over(control);
        let there = self.len()?;
        let count = there.min(bytes.len());
        if count == 0 {
            let ends = there == 0 && (is_over || (self.shared.was_left() && self.is_empty()));
            return if ends {
                Err(CarrierError::Closed)
            } else {
                Ok(0)
            };
        }
        let place = self.cursor.place(size);
        let (first, second) = bytes[..count].split_at_mut(count.min(size - place));
        let ring = self.shared.ring(direction);
        // SAFETY: the ring has `size` bytes, and both parts lie in it: the first up to its end, the second, which is shorter than what is
        // before the first, from its beginning.
        unsafe {
            copy::out_of_shared(ring.add(place), first);
            copy::out_of_shared(ring, second);
        }
        self.cursor.show(control, count);
        Ok(count)
    }

    /// Waits until there is something to read, or the other process is gone, which [`read`](CarrierReader::read) will say; or until `is_wanted`
    /// says otherwise: that is asked whenever [`CarrierWaker::wake`] was called. `false` if the deadline has passed before.
    ///
    /// # Errors
    ///
    /// [`CarrierError::Corrupt`].
    pub fn wait(
        &self,
        deadline: Option<Instant>,
        is_wanted: impl Fn() -> bool,
    ) -> Result<bool, CarrierError> {
        let control = self.shared.control(self.shared.reading());
        let mut outcome = Ok(true);
        let is_there = || {
            match self.len() {
                Ok(0) if !is_wanted() => outcome = Ok(true),
                Ok(0) if self.cursor.is_over(control) || self.shared.was_left() => {
                    outcome = Ok(true)
                }
                Ok(0) => return false,
                Ok(_) => outcome = Ok(true),
                Err(error) => outcome = Err(error),
            }
            true
        };
        let lives = || self.shared.lives();
        let sleepers = self.shared.sleepers(Place::Reader);
        let bell = &control.reader;
        match sleepers.wait_at(bell, Wait::Adaptive, deadline, || {}, is_there, lives) {
            Ok(()) => outcome,
            Err(TimedOut) => Ok(false),
        }
    }

    /// Wakes a [`wait`](CarrierReader::wait) from another thread of this process.
    #[must_use]
    pub fn waker(&self) -> CarrierWaker {
        CarrierWaker {
            shared: Arc::clone(&self.shared),
            direction: self.shared.reading(),
            places: Places::NONE.and(Place::Reader),
            wakes_own: true,
        }
    }

    /// Where threads wait, each for what is for it. There is one such place a carrier: what is read from now on has to be said to be
    /// [handled](CarrierReader::handled).
    #[must_use]
    pub fn seats(&self) -> CarrierSeats {
        self.handled();
        CarrierSeats {
            shared: Arc::clone(&self.shared),
        }
    }

    /// All that was [read](CarrierReader::read) was handled: a thread at a [seat](CarrierSeats) for which it was finds that.
    pub fn handled(&self) {
        // SYNC stream-handled: what was done with it is seen by who sees this.
        self.shared
            .handled
            .store(self.cursor.position(), Ordering::Release);
    }
}

/// Where threads of a process wait while what comes is for one of them at a time: each at a **seat**, of which there are [`SEATS`], and the other process
/// [wakes](CarrierWriter::write_to) it for what it is to have. The thread that is woken reads, under a lock of the process' own, whatever is there.
///
/// One wake-up for each is half of what a thread takes that reads for all and wakes them. Such a thread is there all the same: for what is for no seat, and for the
/// end of the other process.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::sync::Mutex;
/// use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
/// use tamtam_ipc::{Wait, attach, carrier};
///
/// let (_writer, reader) = carrier(4096)?;
/// let (mut other, _reader) = attach(reader.memory().try_clone_to_owned()?)?;
/// let seats = reader.seats();
/// let reader = Mutex::new(reader);
/// let answers = [AtomicU8::new(0), AtomicU8::new(0)];
/// std::thread::scope(|threads| {
///     for (number, answer) in answers.iter().enumerate() {
///         let (seats, reader, answers) = (&seats, &reader, &answers);
///         threads.spawn(move || {
///             while answer.load(SeqCst) == 0 {
///                 seats.wait(number, Wait::Park, None, || answer.load(SeqCst) != 0);
///                 let mut reader = reader.lock().unwrap();
///                 let mut message = [0; 2]; // for whom, and what
///                 while reader.read(&mut message).unwrap() > 0 {
///                     answers[usize::from(message[0])].store(message[1], SeqCst);
///                 }
///                 reader.handled();
///             }
///         });
///     }
///     other.write_to(&[1, 22], 1 << 1).unwrap();
///     other.write_to(&[0, 11], 1 << 0).unwrap();
/// });
/// assert_eq!(answers.map(|answer| answer.into_inner()), [11, 22]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CarrierSeats {
    shared: Arc<Shared>,
}

impl CarrierSeats {
    /// Waits at a seat until there is something to read, or the other process is gone in order, which [`CarrierReader::read`] will say, or `is_over` says so:
    /// that is asked for whenever the thread was woken. `false` if the deadline has passed before. Any number is that of a seat.
    ///
    /// The death of the other process is for one thread to find, which waits [for all](CarrierSeats::wait_for_any) or [rests](CarrierSeats::rest), and then
    /// [wakes](CarrierSeats::waker) the others: to sleep at two words takes twice as long.
    ///
    /// What ends a wait may be for another thread: then this one has read it for that. Where more threads wait than there are processors to spare, they
    /// should [sleep at once](Wait::Park): one that waits awake keeps a processor from the thread for which there is something.
    pub fn wait(
        &self,
        number: usize,
        wait: Wait,
        deadline: Option<Instant>,
        is_over: impl FnMut() -> bool,
    ) -> bool {
        self.wait_announced(number, wait, deadline, || {}, is_over)
    }

    /// As [`wait`](CarrierSeats::wait); `announce` is called before each sleep, and before the last look: what else may end the wait is told of it then, if it has to be,
    /// and need not be where the thread does not sleep.
    pub fn wait_announced(
        &self,
        number: usize,
        wait: Wait,
        deadline: Option<Instant>,
        announce: impl FnMut(),
        is_over: impl FnMut() -> bool,
    ) -> bool {
        let place = Place::Seat(number);
        let (bell, sleepers) = (self.control().bell(place), self.shared.sleepers(place));
        let is_there = self.look(is_over);
        let none = std::iter::empty;
        sleepers
            .wait_at(bell, wait, deadline, announce, is_there, none)
            .is_ok()
    }

    /// As [`wait`](CarrierSeats::wait), where whatever comes wakes the thread, as in [`CarrierReader::wait`]; but what was read is to be
    /// [handled](CarrierReader::handled), too.
    pub fn wait_for_any(&self, deadline: Option<Instant>, is_over: impl FnMut() -> bool) -> bool {
        let mut look = self.look(is_over);
        let is_there = || look() || self.shared.was_left();
        let bell = self.control().bell(Place::Reader);
        let lives = || self.shared.lives();
        let sleepers = self.shared.sleepers(Place::Reader);
        sleepers
            .wait_at(bell, Wait::Adaptive, deadline, || {}, is_there, lives)
            .is_ok()
    }

    /// Waits, whatever comes, until the other process is gone, or `is_over` says so: that is asked for whenever the thread was woken. `false` if the deadline
    /// has passed before. So a thread leaves the reading to those at the seats.
    pub fn rest(&self, deadline: Instant, mut is_over: impl FnMut() -> bool) -> bool {
        let control = self.control();
        let is_there = || is_over() || control.is_ended() || self.shared.was_left();
        let bell = control.bell(Place::Rest);
        let lives = || self.shared.lives();
        let sleepers = self.shared.sleepers(Place::Rest);
        sleepers
            .wait_at(bell, Wait::Park, Some(deadline), || {}, is_there, lives)
            .is_ok()
    }

    fn control(&self) -> &Control {
        self.shared.control(self.shared.reading())
    }

    /// Whether there is something to read, or nothing will come any more, or `is_over` says so.
    fn look(&self, mut is_over: impl FnMut() -> bool) -> impl FnMut() -> bool {
        let control = self.control();
        move || {
            // Before the thread looks for what is for it: that was among what was handled, or is still to be shown.
            // SYNC stream-handled.
            let handled = self.shared.handled.load(Ordering::Acquire);
            control.has_more_than(handled) || is_over() || control.is_ended()
        }
    }

    /// Wakes who waits at the seat, from any thread of this process. What it is to see was written before, by a sequentially consistent exchange.
    pub fn wake(&self, number: usize) {
        let place = Place::Seat(number);
        let bell = self.control().bell(place);
        self.shared.sleepers(place).wake(bell);
    }

    /// Wakes all that wait here, from any thread of this process, and who waits for [whatever comes](CarrierReader::wait).
    #[must_use]
    pub fn waker(&self) -> CarrierWaker {
        CarrierWaker {
            shared: Arc::clone(&self.shared),
            direction: self.shared.reading(),
            places: Places::READERS,
            wakes_own: true,
        }
    }
}

impl Drop for CarrierReader {
    fn drop(&mut self) {
        self.cursor.end(self.shared.control(self.shared.reading()));
    }
}

/// Makes threads that wait at a carrier look around: one of this process, or [the other's](CarrierWriter::show) that read.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
/// use tamtam_ipc::carrier;
///
/// let (_writer, reader) = carrier(64 << 10)?;
/// let (waker, is_done) = (reader.waker(), AtomicBool::new(false));
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         is_done.swap(true, SeqCst);
///         waker.wake();
///     });
///     while !is_done.load(SeqCst) {
///         reader.wait(None, || !is_done.load(SeqCst)).unwrap();
/// #       break;
///     }
/// });
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
pub struct CarrierWaker {
    shared: Arc<Shared>,
    direction: usize,
    places: Places,
    /// They are threads of this process.
    wakes_own: bool,
}

impl CarrierWaker {
    /// Wakes them, if they sleep. What it is to see was written before, by a sequentially consistent exchange.
    ///
    /// Threads of this process are woken whatever the other one has written, and also if it was stopped, or has died, while it was to wake them itself.
    pub fn wake(&self) {
        if self.wakes_own {
            self.shared.wake_own(self.direction, self.places);
        } else {
            self.shared.control(self.direction).ring(self.places);
        }
    }
}

// Miri has no memory of several processes, and says of no thread where it runs.
#[cfg(all(test, target_os = "linux", not(tamtam_loom), not(miri)))]
mod tests {
    use super::*;

    /// Who waits at this place takes the thread that was met there last for one on the same processor.
    fn takes_for_near(control: &Control, place: Place) -> bool {
        format!("{:?}", control.bell(place)).contains("peer_on_this_core: true")
    }

    #[test]
    fn a_thread_of_the_own_process_is_not_taken_for_the_peer() {
        let (mut writer, reader) = carrier(64 << 10).unwrap();
        let (seats, place) = (reader.seats(), Place::Seat(3));
        seats.wake(3);
        seats.waker().wake();
        reader.waker().wake();
        let here = reader.shared.control(reader.shared.reading());
        assert!(!takes_for_near(here, place) && !takes_for_near(here, Place::Reader));
        // One that shows something is; but it may be moved to another processor before it looks.
        let is_met = (0..1_000).any(|_| {
            let _ = writer.show_to(1 << 3);
            takes_for_near(writer.control(), place)
        });
        assert!(is_met);
    }
}
