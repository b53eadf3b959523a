//! A stream of bytes through shared memory, from one writer to one reader.
//!
//! The bytes lie in a ring. The writer counts what it has written, the reader what it has read; each keeps its own count to itself and only
//! shows it, so that nothing the other side writes makes it forget where it is. The other's count is read once, and what cannot be true is an
//! error: a reader is never led outside of the ring.
//!
//! What comes may be for several threads of the reader's process, each of which waits for something of its own and reads when it is woken. Such a
//! thread sleeps at a **seat**, a bell among some, and the writer rings the seats of those for whom it has written: one wake-up for each, where one thread
//! that reads for all would be a second. What comes is read under a lock of that process' own. So a thread that finds nothing for itself, and all that was
//! shown read and handled, may sleep: what is for it is still to be shown, and the writer will look at its seat after that.

use tamtam_wait::seam::ORIGIN;
use tamtam_wait::seam::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::bell::Bell;

/// What the two sides of a stream show each other.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C))]
pub(crate) struct Control {
    /// Shown by the writer.
    written: Shown,
    /// Shown by the reader.
    read: Shown,
    /// The reader, while it waits for bytes.
    pub(crate) reader: Bell,
    /// The writer, while it waits for room.
    pub(crate) writer: Bell,
    /// Threads of the reader's process, each while it waits for what is for it.
    seats: [Bell; SEATS],
    /// The thread of the reader's process that leaves the reading to those, while it does.
    rest: Bell,
}

/// So many seats there are. Threads that share one are woken together.
#[cfg(not(tamtam_loom))]
pub const SEATS: usize = 16;
#[cfg(tamtam_loom)]
const SEATS: usize = 2;

/// One side's count, on cache lines of its own.
#[derive(Debug)]
#[cfg_attr(not(tamtam_loom), repr(C, align(128)))]
struct Shown {
    /// Bytes so far; wraps, at 40 GB/s after 14 years, and only differences count.
    count: AtomicU64,
    /// This side is gone.
    is_over: AtomicU32,
}

/// Where counts begin.
pub(crate) const BEGIN: u64 = ORIGIN as u64;

impl Control {
    #[cfg(any(test, tamtam_loom))]
    pub(crate) fn new() -> Self {
        let shown = || Shown {
            count: AtomicU64::new(BEGIN),
            is_over: AtomicU32::new(0),
        };
        Control {
            written: shown(),
            read: shown(),
            reader: Bell::new(),
            writer: Bell::new(),
            seats: std::array::from_fn(|_| Bell::new()),
            rest: Bell::new(),
        }
    }

    /// Makes what was filled with zeroes an empty stream.
    pub(crate) fn prepare(&self) {
        self.written.count.store(BEGIN, Ordering::Relaxed);
        self.read.count.store(BEGIN, Ordering::Relaxed);
        self.reader.prepare();
        self.writer.prepare();
        self.seats.iter().for_each(Bell::prepare);
        self.rest.prepare();
    }

    /// The bell at which a thread waits in that manner.
    pub(crate) fn bell(&self, place: Place) -> &Bell {
        match place {
            Place::Reader => &self.reader,
            Place::Writer => &self.writer,
            Place::Rest => &self.rest,
            Place::Seat(number) => &self.seats[number % SEATS],
        }
    }

    /// Those of these places at which a thread sleeps, and has to be woken for what was shown.
    pub(crate) fn sleepers_at(&self, places: Places) -> Places {
        let sleeps = |place: &Place| self.bell(*place).has_sleeper();
        places.iter().filter(sleeps).fold(Places::NONE, Places::and)
    }

    /// Wakes the threads that sleep at these places.
    pub(crate) fn ring(&self, places: Places) {
        places
            .iter()
            .for_each(|place| self.bell(place).ring_unmet());
    }

    /// Whether the writer is gone in order: what it has written is there.
    pub(crate) fn is_ended(&self) -> bool {
        self.written.is_over.load(Ordering::SeqCst) != 0
    }

    /// Whether something was shown that is not among what was read and handled until there.
    pub(crate) fn has_more_than(&self, handled: u64) -> bool {
        // SYNC stream-written, and the seat's bell.
        self.written.count.load(Ordering::SeqCst) != handled
    }
}

/// Where a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// For whatever comes.
    Reader,
    /// For room.
    Writer,
    /// For the end of a rest.
    Rest,
    /// For what is for it. Any number is that of one.
    Seat(usize),
}

impl Place {
    /// So many places there are.
    pub(crate) const COUNT: usize = 19;

    /// The number of the place among all.
    pub(crate) const fn number(self) -> usize {
        match self {
            Place::Reader => 16,
            Place::Writer => 17,
            Place::Rest => 18,
            Place::Seat(number) => number % SEATS,
        }
    }
}

/// Some places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places(u32);

impl Places {
    pub(crate) const NONE: Places = Places(0);
    const READER: u32 = Place::Reader.number() as u32;
    const WRITER: u32 = Place::Writer.number() as u32;
    const REST: u32 = Place::Rest.number() as u32;

    /// The places of all who read.
    pub(crate) const READERS: Places =
        Places(Self::of_seats(u16::MAX).0 | 1 << Self::READER | 1 << Self::REST);

    /// Those seats whose bits are set.
    pub(crate) const fn of_seats(seats: u16) -> Self {
        Places(seats as u32 & (u32::MAX >> (u32::BITS as usize - SEATS)))
    }

    pub(crate) const fn and(self, place: Place) -> Self {
        Places(self.0 | 1 << place.number())
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Place> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = (left != 0).then(|| left.trailing_zeros())?;
            left &= left - 1;
            Some(match number {
                Self::READER => Place::Reader,
                Self::WRITER => Place::Writer,
                Self::REST => Place::Rest,
                seat => Place::Seat(seat as usize),
            })
        })
    }
}

/// The other side has shown a count that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Impossible;

/// Where the writer is.
#[derive(Debug)]
pub(crate) struct WriteCursor {
    written: u64,
    /// What the reader has shown last.
    read: u64,
}

impl WriteCursor {
    pub(crate) fn new() -> Self {
        WriteCursor {
            written: BEGIN,
            read: BEGIN,
        }
    }

    /// How many bytes have room now in a ring of so many. Looks at the reader's count only if that of before does not make room for `wanted`.
    pub(crate) fn room(
        &mut self,
        control: &Control,
        size: usize,
        wanted: usize,
    ) -> Result<usize, Impossible> {
        let room = |read| {
            let unread = self.written.wrapping_sub(read);
            let room = (size as u64).checked_sub(unread);
            room.map(|room| room as usize).ok_or(Impossible)
        };
        let before = room(self.read)?;
        if before >= wanted {
            return Ok(before);
        }
        // SYNC stream-read: bytes that were read may be written over.
        let read = control.read.count.load(Ordering::SeqCst);
        let now = room(read)?;
        self.read = read;
        Ok(now)
    }

    /// Where in a ring of so many bytes the next one goes.
    pub(crate) fn place(&self, size: usize) -> usize {
        self.written as usize & (size - 1)
    }

    /// So many bytes more were put there, and are not shown yet.
    pub(crate) fn put(&mut self, bytes: usize) {
        self.written = self.written.wrapping_add(bytes as u64);
    }

    /// Shows all that was put there; whether the reader sleeps, and has to be woken for it.
    pub(crate) fn show_all(&self, control: &Control) -> bool {
        // SYNC stream-written, and the bell's.
        control.written.count.swap(self.written, Ordering::SeqCst);
        control.reader.has_sleeper()
    }

    /// Nothing will be written any more.
    pub(crate) fn end(&self, control: &Control) {
        control.written.is_over.swap(1, Ordering::SeqCst);
        control.ring(Places::READERS);
    }

    /// Whether the reader is gone in order.
    pub(crate) fn is_over(&self, control: &Control) -> bool {
        control.read.is_over.load(Ordering::SeqCst) != 0
    }
}

/// Where the reader is.
#[derive(Debug)]
pub(crate) struct ReadCursor {
    read: u64,
}

impl ReadCursor {
    pub(crate) fn new() -> Self {
        ReadCursor { read: BEGIN }
    }

    /// What was read so far.
    pub(crate) fn position(&self) -> u64 {
        self.read
    }

    /// How many bytes are there, in a ring of so many.
    pub(crate) fn there(&self, control: &Control, size: usize) -> Result<usize, Impossible> {
        // SYNC stream-written: the bytes that are counted are there.
        let written = control.written.count.load(Ordering::SeqCst);
        let there = written.wrapping_sub(self.read);
        if there > size as u64 {
            return Err(Impossible);
        }
        Ok(there as usize)
    }

    /// Where in a ring of so many bytes the next one is.
    pub(crate) fn place(&self, size: usize) -> usize {
        self.read as usize & (size - 1)
    }

    /// So many bytes were taken out.
    pub(crate) fn show(&mut self, control: &Control, bytes: usize) {
        self.read = self.read.wrapping_add(bytes as u64);
        // SYNC stream-read, and the bell's.
        control.read.count.swap(self.read, Ordering::SeqCst);
        control.writer.ring();
    }

    /// Nothing will be read any more.
    pub(crate) fn end(&self, control: &Control) {
        control.read.is_over.swap(1, Ordering::SeqCst);
        control.writer.ring();
    }

    /// Whether the writer is gone in order: what it has written is there.
    pub(crate) fn is_over(&self, control: &Control) -> bool {
        control.is_ended()
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use tamtam_wait::Wait;
    use tamtam_wait::seam::{Arc, Mutex, UnsafeCell, thread};

    /// A ring of two bytes, of which loom sees each access.
    struct Model {
        control: Control,
        bytes: [UnsafeCell<u8>; 2],
    }

    // SAFETY: the counts say which side each byte belongs to, as the model shows.
    unsafe impl Send for Model {}
    // SAFETY: the counts say which side each byte belongs to, as the model shows.
    unsafe impl Sync for Model {}

    impl Model {
        fn write(&self, cursor: &mut WriteCursor, byte: u8) {
            let mut room = || cursor.room(&self.control, 2, 1).unwrap() > 0;
            if !room() {
                let wait = self
                    .control
                    .writer
                    .wait(Wait::Park, None, room, std::iter::empty);
                wait.unwrap();
            }
            self.put(cursor, byte);
            if cursor.show_all(&self.control) {
                self.control.reader.ring();
            }
        }

        /// Puts a byte for which there is room.
        fn put(&self, cursor: &mut WriteCursor, byte: u8) {
            let place = cursor.place(2);
            // SAFETY: there is room, so the byte is the writer's.
            self.bytes[place].with_mut(|it| unsafe { *it = byte });
            cursor.put(1);
        }

        fn read(&self, cursor: &mut ReadCursor) -> Option<u8> {
            let is_there = || cursor.there(&self.control, 2).unwrap() > 0;
            let is_there_or_over = || cursor.is_over(&self.control) || is_there();
            let wait =
                self.control
                    .reader
                    .wait(Wait::Park, None, is_there_or_over, std::iter::empty);
            wait.unwrap();
            self.take(cursor)
        }

        /// Takes a byte, if one is there.
        fn take(&self, cursor: &mut ReadCursor) -> Option<u8> {
            if cursor.there(&self.control, 2).unwrap() == 0 {
                return None;
            }
            let place = cursor.place(2);
            // SAFETY: it was shown, so the byte is the reader's.
            let byte = self.bytes[place].with(|it| unsafe { *it });
            cursor.show(&self.control, 1);
            Some(byte)
        }
    }

    /// A ring of two bytes whose reader's process has a thread at each of two seats.
    struct Seated {
        model: Model,
        /// What is read is handled under this lock.
        cursor: Mutex<ReadCursor>,
        handled: AtomicU64,
        answered: [AtomicU32; 2],
    }

    impl Seated {
        /// Waits at the seat, and reads whatever comes, until the answer for it is there.
        fn wait(&self, seat: usize) {
            let control = &self.model.control;
            let is_there = || {
                let handled = self.handled.load(Ordering::Acquire);
                control.has_more_than(handled) || self.is_answered(seat)
            };
            while !self.is_answered(seat) {
                let bell = control.bell(Place::Seat(seat));
                bell.wait(Wait::Park, None, is_there, std::iter::empty)
                    .unwrap();
                let mut cursor = self.cursor.lock();
                if let Some(byte) = self.model.take(&mut cursor) {
                    self.answered[usize::from(byte)].store(1, Ordering::Relaxed);
                    self.handled.store(cursor.position(), Ordering::Release);
                }
            }
        }

        fn is_answered(&self, seat: usize) -> bool {
            self.answered[seat].load(Ordering::Relaxed) != 0
        }
    }

    /// Each of two threads is woken for its answer, whichever of them reads it: the writer wakes the one, and no other.
    #[test]
    fn loom_each_at_its_seat_has_its_answer() {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(2);
        bounded.check(|| {
            let seated = Arc::new(Seated {
                model: Model {
                    control: Control::new(),
                    bytes: [UnsafeCell::new(0), UnsafeCell::new(0)],
                },
                cursor: Mutex::new(ReadCursor::new()),
                handled: AtomicU64::new(BEGIN),
                answered: [AtomicU32::new(0), AtomicU32::new(0)],
            });
            let other = {
                let seated = Arc::clone(&seated);
                thread::spawn(move || seated.wait(1))
            };
            let writer = {
                let seated = Arc::clone(&seated);
                thread::spawn(move || {
                    let mut cursor = WriteCursor::new();
                    for seat in [1, 0] {
                        seated.model.put(&mut cursor, seat);
                        let control = &seated.model.control;
                        assert!(!cursor.show_all(control), "no thread reads for all");
                        control.ring(control.sleepers_at(Places::of_seats(1 << seat)));
                    }
                })
            };
            seated.wait(0);
            other.join().unwrap();
            writer.join().unwrap();
        });
    }

    /// Neither side sleeps past the other, no byte is written over before it was read, and the end comes behind all bytes.
    #[test]
    fn loom_bytes_come_in_order_and_then_the_end() {
        let mut bounded = loom::model::Builder::new();
        bounded.preemption_bound = Some(3);
        bounded.check(|| {
            let model = Arc::new(Model {
                control: Control::new(),
                bytes: [UnsafeCell::new(0), UnsafeCell::new(0)],
            });
            let writer = {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    let mut cursor = WriteCursor::new();
                    for byte in 1..=3 {
                        model.write(&mut cursor, byte);
                    }
                    cursor.end(&model.control);
                })
            };
            let mut cursor = ReadCursor::new();
            for byte in 1..=3 {
                assert_eq!(model.read(&mut cursor), Some(byte));
            }
            assert_eq!(model.read(&mut cursor), None);
            writer.join().unwrap();
        });
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_cannot_be_is_an_error_on_either_side() {
        let control = Control::new();
        let (mut writer, mut reader) = (WriteCursor::new(), ReadCursor::new());
        writer.put(5);
        assert_eq!(reader.there(&control, 8), Ok(0));
        assert!(!writer.show_all(&control));
        assert_eq!(reader.there(&control, 8), Ok(5));
        for lie in [9, u64::MAX / 2, u64::MAX - 9] {
            control
                .written
                .count
                .store(BEGIN.wrapping_add(lie), Ordering::SeqCst);
            assert_eq!(reader.there(&control, 8), Err(Impossible));
            control
                .read
                .count
                .store(BEGIN.wrapping_add(lie), Ordering::SeqCst);
            assert_eq!(writer.room(&control, 8, 8), Err(Impossible));
        }
        // Each goes on from its own count once the other tells the truth.
        control
            .written
            .count
            .store(BEGIN.wrapping_add(5), Ordering::SeqCst);
        reader.show(&control, 5);
        assert_eq!(writer.room(&control, 8, 8), Ok(8));
        assert_eq!(
            (writer.place(8), reader.place(8)),
            (
                BEGIN.wrapping_add(5) as usize & 7,
                BEGIN.wrapping_add(5) as usize & 7
            )
        );
    }

    #[test]
    fn places_are_those_that_were_named() {
        let places = Places::of_seats(1 << 3 | 1 << 15)
            .and(Place::Writer)
            .and(Place::Seat(3 + SEATS));
        let all: Vec<_> = places.iter().collect();
        assert_eq!(all, [Place::Seat(3), Place::Seat(15), Place::Writer]);
        assert_eq!(Places::NONE.iter().next(), None);
        assert_eq!(Places::READERS.iter().count(), SEATS + 2);
        assert!(Places::READERS.iter().all(|place| place != Place::Writer));
    }

    #[test]
    fn a_control_takes_eight_lines_and_two_for_each_that_reads_beside() {
        assert_eq!(size_of::<Control>(), 512 + (SEATS + 1) * 128);
    }
}
