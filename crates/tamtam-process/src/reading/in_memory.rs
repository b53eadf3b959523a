//! Reading from memory that is shared with the process: each thread that asks waits at a seat of its own, where the process wakes it for its answer, and reads
//! what is there, for the others, too. So an answer takes one wake-up, however many ask at once; and one that comes while its asker is still awake none.
//!
//! An asker may also be a thread that gives actors their turns. It reads when no turn is due and no other thread waits, and does not sleep at that: if the
//! answer takes long, or something else becomes due, the thread of the link reads again, and rests less readily.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use tamtam_actor::link::AwaitedAnswer;
use tamtam_ipc::{CarrierReader, CarrierSeats, SEATS, Wait};
use tamtam_link::carrier::{Room, RoomWait};
use tamtam_link::{Link, Seats, own_seat};

use super::{KEEP, Received, STREAK};
use crate::carried::{Beside, read_memory};
use crate::lock::lock;
use crate::rhythm::Rhythm;

/// So many times in a row at most it takes to rest, after that was in vain.
const LONGEST_STREAK: u32 = 1 << 15;
/// So long a thread that gives turns looks for an answer. What takes longer is worth a wake-up.
const LONGEST_LOOK: Duration = Duration::from_micros(20);
/// So often it looks before others that wait for the processor have it for a moment: seldom where the other process runs on another one, and soon where
/// it has to be let run.
const MOST_LOOKS: u32 = 64;
const FEWEST_LOOKS: u32 = 4;
/// What was away for so long has let another thread run.
const AWAY: Duration = Duration::from_micros(1);

/// So often the thread looks at what is beside the memory, also while it rests.
const LOOK_BESIDE: Duration = Duration::from_millis(100);
/// And so often where nothing comes: each look takes a thread some time, and only a process that has spoiled the memory is found by it.
const SELDOM: Duration = Duration::from_secs(1);

/// After so long those who are still at their seats at the end are woken once more.
const TELL_AGAIN: Duration = Duration::from_millis(1);

// A link says by a bit for each seat where it is answered.
const _: () = assert!(SEATS == Seats::BITS as usize);

pub(super) struct InMemory {
    link: Link,
    seats: CarrierSeats,
    /// What wakes who waits at each of them, from here.
    bells: [Arc<SeatBell>; SEATS],
    beside: Arc<Beside>,
    /// Until the process says no more. What is read is handled under the lock: a thread that has it, and finds nothing more, has what was for it.
    reader: Mutex<Option<Reader>>,
    /// Questions so far of threads that wait; of 2^64 there are a thousand million a second for 500 years.
    asked: AtomicU64,
    /// Threads that wait now.
    waiting: AtomicU32,
    /// So often askers have read; of 2^64 reads there are a thousand million a second for 500 years.
    reads: AtomicU64,
    /// The seat at which a thread has asked last.
    last_seat: AtomicUsize,
    /// The thread of the link rests.
    rests: AtomicBool,
    /// It is to read again.
    is_called: AtomicBool,
    /// The process says no more.
    is_over: AtomicBool,
    /// So many times in a row it takes to rest, if that was in vain.
    streak_in_vain: AtomicU32,
}

/// Wakes the thread that waits at a seat: for an answer that another one has read, and for one that does not come over the link.
struct SeatBell {
    /// Not held: who waits for something keeps what wakes it, perhaps until it waits for something else, and the memory is to go before.
    memory: Weak<InMemory>,
    seat: usize,
    /// So often it was rung. Wraps; a thread would have to miss all of 2^64.
    rung: AtomicU64,
}

impl SeatBell {
    fn rung(&self) -> u64 {
        self.rung.load(Ordering::SeqCst)
    }
}

impl Wake for SeatBell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        if let Some(memory) = self.memory.upgrade() {
            memory.seats.wake(self.seat);
        }
    }
}

struct Reader {
    received: Received,
    incoming: CarrierReader,
    beside: Arc<Beside>,
    /// So often a thread that gives turns looks before others have the processor for a moment.
    looks: u32,
}

impl Reader {
    /// Reads once; `None` if nothing is there or is to be read now, `false` if the process says no more.
    fn read(&mut self) -> Option<bool> {
        if self.received.is_full() {
            return None;
        }
        let (incoming, beside) = (&mut self.incoming, &self.beside);
        let read = self
            .received
            .read_by(|portion, _| read_memory(incoming, beside, portion));
        self.incoming.handled();
        read
    }

    /// Reads as soon as something is there; `None` if nothing comes in time.
    fn look(&mut self, goes_on: &mut dyn FnMut() -> bool) -> Option<bool> {
        let (mut begun, mut was_away) = (None, false);
        loop {
            for _ in 0..self.looks {
                let read = self.read();
                if read.is_some() {
                    self.looks = if was_away {
                        FEWEST_LOOKS
                    } else {
                        MOST_LOOKS.min(2 * self.looks)
                    };
                    return read;
                }
                if !goes_on() {
                    return None;
                }
                std::hint::spin_loop();
            }
            let now = Instant::now();
            if now - *begun.get_or_insert(now) > LONGEST_LOOK {
                return None;
            }
            std::thread::yield_now();
            was_away = now.elapsed() > AWAY;
        }
    }
}

/// How many questions there were, of threads and of turns.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asked {
    by_threads: u64,
    in_turns: u64,
}

impl Asked {
    /// Whether what has come since was for askers that read: those that wait, or one in a turn. A turn that waits for its answer counts twice.
    fn by_readers_since(self, before: Self) -> bool {
        let threads = self.by_threads - before.by_threads;
        let turns = self.in_turns - before.in_turns;
        turns <= threads.max(1) && threads + turns > 0
    }
}

impl InMemory {
    pub(super) fn new(
        received: Received,
        incoming: CarrierReader,
        beside: Arc<Beside>,
    ) -> Arc<Self> {
        let bell = |memory: &Weak<Self>, seat| {
            Arc::new(SeatBell {
                memory: Weak::clone(memory),
                seat,
                rung: AtomicU64::new(0),
            })
        };
        Arc::new_cyclic(|this| InMemory {
            link: received.link.clone(),
            bells: std::array::from_fn(|seat| bell(this, seat)),
            seats: incoming.seats(),
            beside: Arc::clone(&beside),
            reader: Mutex::new(Some(Reader {
                received,
                incoming,
                beside,
                looks: MOST_LOOKS,
            })),
            asked: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            reads: AtomicU64::new(0),
            last_seat: AtomicUsize::new(0),
            rests: AtomicBool::new(false),
            is_called: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            streak_in_vain: AtomicU32::new(0),
        })
    }

    /// Whether nothing more will be read, or the other side is gone, which the next one who reads will find.
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || self.beside.is_gone()
    }

    /// Reads once what is there; `None` if nothing is or is to be read now, `false` if the process says no more, which all are told.
    fn read(&self) -> Option<bool> {
        self.read_by(lock(&self.reader))
    }

    fn read_by(&self, mut reader: MutexGuard<'_, Option<Reader>>) -> Option<bool> {
        let read = match &mut *reader {
            Some(reader) => reader.read(),
            None => Some(false),
        };
        drop(reader);
        if read == Some(false) {
            self.end();
        }
        read
    }

    /// As [`read`](Self::read), unless another thread is at it for longer than it takes to read: what it has read may be handled by code of the program, as
    /// an answer is that a closure waits for. Or this thread is, of which such code has asked. Then it is `None`, and the thread of the link reads next.
    fn read_soon(&self) -> Option<Option<bool>> {
        let mut begun = None;
        loop {
            match self.reader.try_lock() {
                Ok(reader) => return Some(self.read_by(reader)),
                Err(TryLockError::Poisoned(reader)) => {
                    return Some(self.read_by(reader.into_inner()));
                }
                Err(TryLockError::WouldBlock) => {}
            }
            let now = Instant::now();
            if now - *begun.get_or_insert(now) > LONGEST_LOOK {
                self.is_called.store(true, Ordering::SeqCst);
                self.seats.waker().wake();
                return None;
            }
            std::thread::yield_now();
        }
    }

    /// The process says no more.
    fn end(&self) {
        self.is_over.swap(true, Ordering::SeqCst);
        self.seats.waker().wake();
    }

    /// A rest was of use, or in vain: then it takes more answers in a row until the thread rests again.
    fn learn(&self, was_of_use: bool) {
        let streak = STREAK.max(self.streak_in_vain.load(Ordering::Relaxed));
        let streak = if was_of_use {
            streak / 2
        } else {
            (4 * streak).min(LONGEST_STREAK)
        };
        self.streak_in_vain.store(streak, Ordering::Relaxed);
    }

    /// The thread that reads, or rests while askers do.
    pub(super) fn read_all(&self, asked_in_turns: &AtomicU64, room: &Room) {
        let asked_now = || Asked {
            by_threads: self.asked.load(Ordering::Relaxed),
            in_turns: asked_in_turns.load(Ordering::Relaxed),
        };
        let (mut streak, mut asked, mut pause) = (0, asked_now(), LOOK_BESIDE);
        loop {
            let deadline = Instant::now() + pause;
            if !self.seats.wait_for_any(Some(deadline), || self.is_over()) {
                self.beside.look();
                pause = SELDOM.min(2 * pause);
                continue;
            }
            pause = LOOK_BESIDE;
            if !self.wait_for_room(room) {
                self.end();
                break;
            }
            // What ends it may have been read by an asker, and then nothing is left to be read.
            if self.read() == Some(false) || self.is_over.load(Ordering::SeqCst) {
                break;
            }
            let before = std::mem::replace(&mut asked, asked_now());
            streak = if asked.by_readers_since(before) {
                streak + 1
            } else {
                0
            };
            if streak >= STREAK.max(self.streak_in_vain.load(Ordering::Relaxed)) {
                streak = 0;
                self.rest(&asked_now);
                asked = asked_now();
            }
        }
        self.tell_until_none_waits();
        // Who waits was told, and reads no more.
        *lock(&self.reader) = None;
    }

    /// The process says no more: wakes those at the seats until none is left there. A process that is not to be trusted can write into the word on which a
    /// thread is about to sleep what that remembers of it, in the very moment in which it was changed to wake the thread. One that it has led away to another word
    /// looks within a second by itself.
    fn tell_until_none_waits(&self) {
        while self.waiting.load(Ordering::SeqCst) > 0 {
            self.seats.waker().wake();
            std::thread::sleep(TELL_AGAIN);
        }
    }

    /// Waits until there is room for what comes; `false` if nothing more is to be read.
    fn wait_for_room(&self, room: &Room) -> bool {
        let is_gone = || {
            self.beside.look();
            self.is_over()
        };
        let waited = room.wait(&self.link, is_gone);
        if waited == RoomWait::IsLast
            && let Some(reader) = &mut *lock(&self.reader)
        {
            reader.received.is_last = true;
        }
        waited != RoomWait::IsOver
    }

    /// The thread rests, as long as askers read.
    fn rest(&self, asked_now: &dyn Fn() -> Asked) {
        self.is_called.store(false, Ordering::SeqCst);
        self.rests.store(true, Ordering::SeqCst);
        let is_called = || self.is_called.load(Ordering::SeqCst) || self.is_over();
        let (mut rhythm, mut looked_beside) = (Rhythm::new(), Instant::now());
        loop {
            let (asked, reads) = (asked_now(), self.reads.load(Ordering::Relaxed));
            let now = Instant::now();
            if now - looked_beside >= LOOK_BESIDE {
                // Those that read may not hear of it otherwise.
                self.beside.look();
                looked_beside = now;
            }
            if self.seats.rest(now + rhythm.pause(), is_called) {
                break;
            }
            let reads = self.reads.load(Ordering::Relaxed) - reads;
            rhythm.learn(reads);
            if reads < KEEP {
                if reads == 0 && asked_now() != asked {
                    // An asker that has something else to do does not read.
                    self.learn(false);
                }
                break;
            }
        }
        self.rests.store(false, Ordering::SeqCst);
    }

    /// A thread waits for an answer, and reads, until that is there or the deadline.
    pub(super) fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        if !answer.is_lent() {
            return;
        }
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let seat = own_seat();
        let bell = &self.bells[seat];
        // Of several that ask by turns, one that waits awake would do so in the time of another one.
        let is_alone = self.last_seat.swap(seat, Ordering::Relaxed) == seat;
        let wait = if is_alone { Wait::Adaptive } else { Wait::Park };
        let answer = RefCell::new(answer);
        // One that does not sleep needs nothing that wakes it.
        let announce = || {
            answer.borrow_mut().poll(&Waker::from(Arc::clone(bell)));
        };
        loop {
            let rung = bell.rung();
            let is_there = || answer.borrow().is_there();
            let is_over = || is_there() || self.is_over() || bell.rung() != rung;
            let seats = &self.seats;
            if self.is_over()
                || !seats.wait_announced(seat, wait, deadline, announce, is_over)
                || is_there()
                // Then the thread reads, and tells this one.
                || !self.link.has_room()
            {
                break;
            }
            let Some(read) = self.read_soon() else { break };
            self.reads.fetch_add(1, Ordering::Relaxed);
            if read == Some(false) {
                break;
            }
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// A thread that gives turns waits for an answer: reads until something was read or `goes_on` says otherwise.
    pub(super) fn read_while(&self, goes_on: &mut dyn FnMut() -> bool) {
        let has_it_alone =
            || self.rests.load(Ordering::SeqCst) && self.waiting.load(Ordering::Relaxed) == 0;
        if !has_it_alone() {
            return;
        }
        let Ok(mut reader) = self.reader.try_lock() else {
            return;
        };
        let Some(reader) = &mut *reader else { return };
        let read = reader.look(&mut || goes_on() && has_it_alone());
        self.learn(read.is_some());
        match read {
            Some(true) => _ = self.reads.fetch_add(1, Ordering::Relaxed),
            Some(false) => self.end(),
            None => {
                self.is_called.swap(true, Ordering::SeqCst);
                self.seats.waker().wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::os::unix::net::UnixStream;

    use super::*;
    use tamtam_ipc::CarrierWriter;

    /// An answer that no bytes bring.
    #[derive(Clone, Default)]
    struct FromHere {
        is_there: Arc<AtomicBool>,
        waker: Arc<Mutex<Option<Waker>>>,
    }

    impl AwaitedAnswer for FromHere {
        fn is_lent(&self) -> bool {
            true
        }

        fn is_there(&self) -> bool {
            self.is_there.load(Ordering::SeqCst)
        }

        fn poll(&mut self, waker: &Waker) -> bool {
            *lock(&self.waker) = Some(waker.clone());
            self.is_there()
        }

        fn wait(&mut self) {
            unreachable!("it is waited for at a seat");
        }
    }

    /// The memory, and what is at its other side.
    struct Sides {
        memory: Arc<InMemory>,
        there: (CarrierWriter, CarrierReader),
        /// They are open as long as this.
        _ends: (CarrierWriter, UnixStream),
    }

    fn sides() -> Sides {
        let (writer, reader) = tamtam_ipc::carrier(4096).unwrap();
        let there = tamtam_ipc::attach(reader.memory().try_clone_to_owned().unwrap()).unwrap();
        let (socket, other_socket) = UnixStream::pair().unwrap();
        let beside = Beside::new(Arc::new(socket), reader.seats().waker());
        let (link, inbound) = Link::builder().build(|| {});
        Sides {
            memory: InMemory::new(Received::new(inbound, &link), reader, beside),
            there,
            _ends: (writer, other_socket),
        }
    }

    #[test]
    fn nonsense_that_an_asker_has_read_ends_the_thread_of_the_link_too() {
        tamtam_testing::within(Duration::from_secs(20), || {
            let mut sides = sides();
            // Nothing that a link says begins so.
            sides.there.0.write_to(&[0xff; 64], Seats::MAX).unwrap();
            sides.memory.while_waiting(&mut FromHere::default(), None);
            assert!(sides.memory.is_over());
            sides.memory.read_all(&AtomicU64::new(0), &Room::default());
        });
    }

    /// What it has said before is there to be read; the death is found by another thread, which wakes who waits.
    #[test]
    fn an_asker_hears_of_the_end_whatever_the_process_has_written_where_it_sleeps() {
        tamtam_testing::within(Duration::from_secs(20), || {
            let sides = sides();
            let memory = Arc::clone(&sides.memory);
            let file = File::from(sides.there.1.memory().try_clone_to_owned().unwrap());
            let look = || {
                let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
                file.read_exact_at(&mut bytes, 0).unwrap();
                bytes
            };
            let before = look();
            let (tell, told) = std::sync::mpsc::channel();
            let asking = std::thread::spawn(move || {
                tell.send(rustix::thread::gettid()).unwrap();
                memory.while_waiting(&mut FromHere::default(), None);
            });
            let thread = told.recv().unwrap().as_raw_nonzero();
            let status = format!("/proc/self/task/{thread}/stat");
            let sleeps = || std::fs::read_to_string(&status).is_ok_and(|it| it.contains(") S "));
            while look() == before || !sleeps() {
                std::thread::yield_now();
            }
            file.write_all_at(&before, 0).unwrap();
            sides.memory.beside.look();
            assert!(!sides.memory.is_over());
            drop(sides._ends);
            sides.memory.read_all(&AtomicU64::new(0), &Room::default());
            asking.join().unwrap();
        });
    }

    #[test]
    fn what_is_answered_here_wakes_who_waits_at_a_seat() {
        tamtam_testing::within(Duration::from_secs(20), || {
            let sides = sides();
            let memory = &sides.memory;
            for _ in 0..100 {
                let answer = FromHere::default();
                let (mut awaited, waiting) = (answer.clone(), Arc::clone(memory));
                let waits = std::thread::spawn(move || waiting.while_waiting(&mut awaited, None));
                let waker = loop {
                    if let Some(waker) = lock(&answer.waker).take() {
                        break waker;
                    }
                    std::thread::yield_now();
                };
                answer.is_there.store(true, Ordering::SeqCst);
                waker.wake();
                waits.join().unwrap();
            }
        });
    }
}
