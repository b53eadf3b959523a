//! Reading from a socket: an asker that asks question after question is **lent** the reading. When two ask at once the thread reads again, and each only
//! waits (as a leader among followers does, Schmidt and others, *Leader/Followers*, 2000).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tamtam_actor::link::AwaitedAnswer;
use tamtam_link::carrier::{Room, RoomWait};

use super::{KEEP, Received, STREAK};
use crate::carried::Incoming;
use crate::lock::lock;
use crate::rhythm::Rhythm;

pub(super) struct OverSocket {
    state: Mutex<State>,
    changed: Condvar,
}

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
    /// The process says no more.
    is_over: bool,
}

struct Reader {
    received: Received,
    incoming: Incoming,
}

impl Reader {
    /// Reads once, or waits until the deadline in vain; `false` if the process says no more.
    fn read(&mut self, deadline: Option<Instant>) -> bool {
        let incoming = &mut self.incoming;
        let read = self
            .received
            .read_by(|portion, descriptors| incoming.read(portion, descriptors, deadline));
        read.unwrap_or(true)
    }

    /// Waits until there is room for what comes; `false` if nothing more is to be read.
    fn wait_for_room(&mut self, room: &Room) -> bool {
        if !self.received.is_full() {
            return true;
        }
        let waited = room.wait(&self.received.link, || self.incoming.is_gone());
        self.received.is_last = waited == RoomWait::IsLast;
        waited != RoomWait::IsOver
    }

    /// `false` if the process says no more.
    fn read_until(&mut self, answer: &dyn AwaitedAnswer, deadline: Option<Instant>) -> bool {
        while !answer.is_there() && !self.received.is_full() {
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                return true;
            }
            if !self.read(deadline) {
                return false;
            }
        }
        true
    }
}

impl OverSocket {
    pub(super) fn new(received: Received, incoming: Incoming) -> Self {
        OverSocket {
            state: Mutex::new(State {
                reader: Some(Reader { received, incoming }),
                asked: 0,
                waiting: 0,
                is_lent: false,
                reads: 0,
                is_over: false,
            }),
            changed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread that reads, or rests while an asker does.
    pub(super) fn read_all(&self, room: &Room) {
        let mut state = self.lock();
        let (mut streak, mut asked, mut rhythm) = (0, state.asked, Rhythm::new());
        loop {
            if state.is_over {
                state.reader = None;
                return;
            }
            if state.is_lent {
                let reads_before = state.reads;
                let waited = self.changed.wait_timeout(state, rhythm.pause());
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                let reads = state.reads - reads_before;
                rhythm.learn(reads);
                state.is_lent = state.waiting <= 1 && reads >= KEEP;
                continue;
            }
            let Some(mut reader) = state.reader.take() else {
                state = self.wait(state);
                continue;
            };
            drop(state);
            let goes_on = reader.wait_for_room(room) && reader.read(None);
            state = self.lock();
            state.reader = Some(reader);
            state.is_over |= !goes_on;
            let is_one_answer = state.asked - asked == 1 && state.waiting <= 1;
            streak = if is_one_answer { streak + 1 } else { 0 };
            asked = state.asked;
            if streak >= STREAK {
                streak = 0;
                state.is_lent = true;
                rhythm = Rhythm::new();
            }
        }
    }

    /// A thread waits for an answer; it may read meanwhile, until that is there or the deadline.
    pub(super) fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
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
            let goes_on = reader.read_until(answer, deadline);
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
