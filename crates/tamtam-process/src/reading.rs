//! What reads for a link, from one process after another.
//!
//! A thread of its own reads. But where one thread asks question after question, that would wake it for each answer, and it the asker: twice
//! the way. So after some answers in a row that were all there was to read, the thread **lends** the reading to the asker, which then
//! reads its answer itself. The thread looks once a millisecond whether it is still to stay away: that is how late a message may be that
//! comes when the asker has stopped asking. When two ask at once the thread reads again, and each only waits (as a leader among
//! followers does, Schmidt and others, *Leader/Followers*, 2000).
//!
//! An asker may also be a thread that gives actors their turns. It reads when no turn is due, and does not sleep at that: if the answer takes long,
//! or something else becomes due, the thread of the link reads again, and lends it less readily.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tamtam_actor::link::AwaitedAnswer;
use tamtam_link::{AnswerReader, Inbound};

use crate::carried::Incoming;
use crate::lock::lock;

/// How much is read at once.
const PORTION: usize = 64 << 10;
/// So many answers in a row to one asker make that read itself; at most, after it was in vain.
const STREAK: u32 = 8;
const LONGEST_STREAK: u32 = 1 << 15;
/// So long a thread that gives turns looks for an answer. What takes longer is worth a wake-up.
const LONGEST_LOOK: Duration = Duration::from_micros(20);
/// So often it looks before others that wait for the processor have it for a moment: seldom where the other process runs on another one, and soon where
/// it has to be let run.
const MOST_LOOKS: u32 = 64;
const FEWEST_LOOKS: u32 = 4;
/// What was away for so long has let another thread run.
const AWAY: Duration = Duration::from_micros(1);
/// And so many answers that it has read between two looks of the thread leave it to that.
const KEEP: u64 = 2;
/// So often the thread looks whether it is still to stay away.
const LOOK: Duration = Duration::from_millis(1);

/// So often the thread looks at what is beside shared memory; and after so many of those looks.
const LOOK_BESIDE: Duration = Duration::from_millis(100);
/// And so often where nothing comes: each look takes a thread some time, and only a process that has spoiled the memory is found by it.
const SELDOM: Duration = Duration::from_secs(1);
const TICKS_BESIDE: u32 = 100;

#[derive(Default)]
pub(crate) struct Reading {
    state: Mutex<State>,
    changed: Condvar,
    /// Questions so far of turns, whose threads may read; of 2^64 there are a thousand million a second for 500 years.
    asked_in_turns: AtomicU64,
}

#[derive(Default)]
struct State {
    /// There unless a thread reads.
    reader: Option<Reader>,
    /// Questions so far of threads that wait; of 2^64 there are a thousand million a second for 500 years.
    asked: u64,
    /// Threads that wait now.
    waiting: u32,
    is_lent: bool,
    /// So often askers have read, of which there are no more than questions.
    reads: u64,
    /// So many answers in a row it takes to be lent, if it was in vain.
    streak_in_vain: u32,
    /// The process says no more.
    is_over: bool,
}

/// How many questions there were, of threads and of turns.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Asked {
    by_threads: u64,
    in_turns: u64,
}

impl Asked {
    /// Whether there was one since, of an asker that may read: those in turns only read what comes into memory. A turn that waits for its answer
    /// counts twice.
    fn one_since(self, before: Self, is_memory: bool) -> bool {
        let threads = self.by_threads - before.by_threads;
        let turns = self.in_turns - before.in_turns;
        matches!((threads, turns), (1, 0 | 1)) || (is_memory && (threads, turns) == (0, 1))
    }
}

impl State {
    /// Lending it was of use, or in vain: then it takes more answers in a row until it is lent again.
    fn learn(&mut self, was_of_use: bool) {
        let streak = STREAK.max(self.streak_in_vain);
        self.streak_in_vain = if was_of_use {
            streak / 2
        } else {
            (4 * streak).min(LONGEST_STREAK)
        };
    }
}

struct Reader {
    incoming: Incoming,
    inbound: Inbound,
    portion: Box<[u8]>,
    /// So often a thread that gives turns looks before others have the processor for a moment.
    looks: u32,
}

impl Reader {
    /// Reads once, or waits until the deadline in vain; `false` if the process says no more.
    fn read(&mut self, deadline: Option<Instant>) -> bool {
        self.read_by(deadline).unwrap_or(true)
    }

    /// As `read`, and `None` if the deadline has passed.
    fn read_by(&mut self, deadline: Option<Instant>) -> Option<bool> {
        let mut descriptors = Vec::new();
        let read = self
            .incoming
            .read(&mut self.portion, &mut descriptors, deadline);
        self.receive(read, descriptors)
    }

    /// As `read`, and `None` if nothing is there.
    fn read_now(&mut self) -> Option<bool> {
        let read = self.incoming.read_now(&mut self.portion);
        self.receive(read, Vec::new())
    }

    fn receive(
        &mut self,
        read: io::Result<Option<usize>>,
        descriptors: Vec<OwnedFd>,
    ) -> Option<bool> {
        match read {
            Ok(None) => None,
            Ok(Some(0)) => Some(false),
            Ok(Some(count)) => {
                let bytes = &self.portion[..count];
                Some(self.inbound.receive_with(bytes, descriptors).is_ok())
            }
            // It has died with something unread, or talks nonsense.
            Err(_) => Some(false),
        }
    }
}

impl Reading {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn asked(&self, state: &State) -> Asked {
        Asked {
            by_threads: state.asked,
            in_turns: self.asked_in_turns.load(Ordering::Relaxed),
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads once, on the thread that reads.
    fn read_here(reader: &mut Reader) -> bool {
        let Some(beside) = reader.incoming.beside() else {
            return reader.read(None);
        };
        let mut pause = LOOK_BESIDE;
        loop {
            match reader.read_by(Some(Instant::now() + pause)) {
                Some(goes_on) => return goes_on,
                None => beside.look(),
            }
            pause = SELDOM.min(2 * pause);
        }
    }

    /// Reads what a process says, or sees to it that it is read, until the process says no more.
    pub(crate) fn read_all(&self, incoming: Incoming, mut inbound: Inbound) {
        incoming.serve_descriptors(&mut inbound);
        let mut state = self.lock();
        state.is_over = false;
        state.is_lent = false;
        state.reader = Some(Reader {
            incoming,
            inbound,
            portion: vec![0; PORTION].into(),
            looks: MOST_LOOKS,
        });
        let beside = state.reader.as_ref().and_then(|it| it.incoming.beside());
        let is_memory = beside.is_some();
        let (mut streak, mut asked, mut ticks) = (0, self.asked(&state), 0_u32);
        loop {
            if state.is_over {
                state.reader = None;
                return;
            }
            if state.is_lent {
                ticks += 1;
                if ticks >= TICKS_BESIDE {
                    ticks = 0;
                    // The thread that reads meanwhile may not hear of it otherwise.
                    beside.iter().for_each(|beside| beside.look());
                }
                let (asked_before, reads_before) = (self.asked(&state), state.reads);
                let waited = self.changed.wait_timeout(state, LOOK);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                let reads = state.reads - reads_before;
                if state.waiting > 1 || reads < KEEP {
                    if reads == 0 && self.asked(&state) != asked_before {
                        // An asker that has something else to do does not read.
                        state.learn(false);
                    }
                    state.is_lent = false;
                }
                continue;
            }
            let Some(mut reader) = state.reader.take() else {
                state = self.wait(state);
                continue;
            };
            drop(state);
            let goes_on = Self::read_here(&mut reader);
            state = self.lock();
            state.reader = Some(reader);
            state.is_over |= !goes_on;
            let asked_now = self.asked(&state);
            let is_one_answer = asked_now.one_since(asked, is_memory) && state.waiting <= 1;
            streak = if is_one_answer { streak + 1 } else { 0 };
            asked = asked_now;
            if streak >= STREAK.max(state.streak_in_vain) {
                streak = 0;
                state.is_lent = true;
            }
        }
    }

    /// A thread waits for an answer; it may read meanwhile, until that is there or the deadline.
    pub(crate) fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        let mut state = self.lock();
        state.asked += 1;
        state.waiting += 1;
        let lent = if state.is_lent && state.waiting == 1 && answer.is_lent() {
            state.reader.take()
        } else {
            None
        };
        drop(state);
        if let Some(mut reader) = lent {
            let goes_on = read_until(&mut reader, answer, deadline);
            let mut state = self.lock();
            state.reader = Some(reader);
            state.reads += 1;
            state.is_over |= !goes_on;
            // The thread may want it back by now.
            let is_wanted = state.is_over || state.waiting > 1 || !state.is_lent;
            drop(state);
            if is_wanted {
                self.changed.notify_all();
            }
        }
        answer.wait();
        self.lock().waiting -= 1;
    }
}

impl AnswerReader for Reading {
    fn asked(&self) {
        self.asked_in_turns.fetch_add(1, Ordering::Relaxed);
    }

    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool) {
        let mut state = self.lock();
        let is_mine = state.is_lent && state.waiting == 0;
        let Some(mut reader) = state
            .reader
            .take_if(|it| is_mine && it.incoming.is_memory())
        else {
            return;
        };
        drop(state);
        let read = look(&mut reader, goes_on);
        let mut state = self.lock();
        state.reader = Some(reader);
        state.is_over |= read == Some(false);
        state.reads += u64::from(read.is_some());
        state.learn(read.is_some());
        // The thread has it back, too, if one waits that has asked meanwhile.
        state.is_lent &= read.is_some() && state.waiting == 0;
        let is_wanted = state.is_over || !state.is_lent;
        drop(state);
        if is_wanted {
            self.changed.notify_all();
        }
    }
}

/// Reads as soon as something is there; `None` if nothing comes in time.
fn look(reader: &mut Reader, goes_on: &mut dyn FnMut() -> bool) -> Option<bool> {
    let (mut begun, mut was_away) = (None, false);
    loop {
        for _ in 0..reader.looks {
            let read = reader.read_now();
            if read.is_some() {
                reader.looks = if was_away {
                    FEWEST_LOOKS
                } else {
                    MOST_LOOKS.min(2 * reader.looks)
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

/// `false` if the process says no more.
fn read_until(reader: &mut Reader, answer: &dyn AwaitedAnswer, deadline: Option<Instant>) -> bool {
    while !answer.is_there() {
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return true;
        }
        if !reader.read(deadline) {
            return false;
        }
    }
    true
}
