//! What reads for a link, from one process after another.
//!
//! A thread of its own reads. But where one thread asks question after question, that would wake it for each answer, and it the asker: twice
//! the way. So after some answers in a row that were all there was to read, the thread **lends** the reading to the asker, which then
//! reads its answer itself. The thread looks once a millisecond whether it is still to stay away: that is how late a message may be that
//! comes when the asker has stopped asking. When two ask at once the thread reads again, and each only waits (as a leader among
//! followers does, Schmidt and others, *Leader/Followers*, 2000).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tamtam_actor::link::AwaitedAnswer;
use tamtam_link::Inbound;

use crate::carried::Incoming;
use crate::lock::lock;

/// How much is read at once.
const PORTION: usize = 64 << 10;
/// So many answers in a row to one asker make that read itself.
const STREAK: u32 = 8;
/// And so many questions between two looks of the thread leave it to that.
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
    /// The process says no more.
    is_over: bool,
}

struct Reader {
    incoming: Incoming,
    inbound: Inbound,
    portion: Box<[u8]>,
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
        });
        let beside = state.reader.as_ref().and_then(|it| it.incoming.beside());
        let (mut streak, mut asked, mut ticks) = (0, state.asked, 0_u32);
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
                let before = state.asked;
                let waited = self.changed.wait_timeout(state, LOOK);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                if state.waiting > 1 || state.asked - before < KEEP {
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
            let is_one_answer = state.asked == asked + 1 && state.waiting <= 1;
            streak = if is_one_answer { streak + 1 } else { 0 };
            asked = state.asked;
            if streak >= STREAK {
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
