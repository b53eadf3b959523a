//! What writes for a link, to one process after another.
//!
//! A thread of its own writes, so that a process that does not read keeps no sender. But a thread that is about to wait for an answer
//! writes its question itself, as far as the socket takes it at once: to wake another thread for that takes as long as the whole way to the
//! process. And shared memory is lent to the link whenever nothing waits to go: then senders write there without a word to this.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use tamtam_link::{Attached, Link, Seats};

use crate::carried::{Halter, Outgoing};
use crate::lock::lock;

thread_local! {
    /// This thread is about to wait for an answer.
    static IS_ABOUT_TO_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// This thread is about to ask, and to wait for the answer.
pub(crate) fn note_wait() {
    IS_ABOUT_TO_WAIT.set(true);
}

#[derive(Default)]
pub(crate) struct Courier {
    state: Mutex<State>,
    changed: Condvar,
    link: OnceLock<Link>,
}

#[derive(Default)]
struct State {
    /// Where to write; with the thread that writes while one does, or with the link.
    outgoing: Option<Outgoing>,
    /// The link has it.
    is_lent: bool,
    /// Ends that, for the thread that has to.
    halter: Option<Halter>,
    /// There is a process to write to.
    is_open: bool,
    /// There may be something to write.
    is_woken: bool,
    /// A thread is writing.
    is_writing: bool,
    /// What the socket did not take at once.
    rest: Vec<u8>,
    /// Descriptors that go with the rest.
    attached: Vec<Attached>,
    /// For whom there are answers in the rest.
    answered: Seats,
    is_over: bool,
}

impl Courier {
    /// Says for which link.
    pub(crate) fn serve(&self, link: Link) {
        let _ = self.link.set(link);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Takes where to write, if that is here or with the link.
    fn take(&self, state: &mut State) -> Option<Outgoing> {
        let lent = || Outgoing::take_from(self.link.get()?);
        match std::mem::take(&mut state.is_lent) {
            true => lent(),
            false => state.outgoing.take(),
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let woken = self.changed.wait(state);
        woken.unwrap_or_else(PoisonError::into_inner)
    }

    /// The link has something to send.
    pub(crate) fn wake(&self) {
        let mut state = self.lock();
        state.is_woken = true;
        if state.is_writing {
            // The thread that writes looks once more when it is done.
            return;
        }
        let is_cheap = state.is_lent || state.outgoing.as_ref().is_some_and(Outgoing::is_cheap);
        if (IS_ABOUT_TO_WAIT.replace(false) || is_cheap) && state.rest.is_empty() {
            return self.write_at_once(state);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Writes what is taken at once; the rest is for the thread.
    fn write_at_once<'a>(&'a self, mut state: MutexGuard<'a, State>) {
        let (Some(mut outgoing), Some(link)) = (self.take(&mut state), self.link.get()) else {
            drop(state);
            return self.changed.notify_all();
        };
        state.is_writing = true;
        // The memory of what was written before; there is no rest.
        let mut bytes = std::mem::take(&mut state.rest);
        let mut attached = Vec::new();
        let mut answered = 0;
        while state.is_woken && bytes.is_empty() {
            state.is_woken = false;
            drop(state);
            answered |= link.take_outgoing_with(&mut bytes, &mut attached);
            let written = outgoing.write_now(&bytes, &mut attached, answered);
            if written == bytes.len() {
                bytes.clear();
            } else {
                bytes.drain(..written);
            }
            state = self.lock();
        }
        // What a burst has taken is given back.
        bytes.shrink_to(1 << 20);
        state.rest = bytes;
        state.attached = attached;
        state.answered = answered;
        let is_left = !state.rest.is_empty() || state.is_woken;
        if self.give_back(&mut state, outgoing) || is_left {
            drop(state);
            self.changed.notify_all();
        }
    }

    /// A thread has written; `true` if there is one that waits for that.
    fn give_back(&self, state: &mut State, outgoing: Outgoing) -> bool {
        state.is_writing = false;
        if state.is_open {
            let is_left = !state.rest.is_empty() || state.is_woken;
            let kept = match self.link.get() {
                // Who has added something meanwhile wakes this for it.
                Some(link) if !is_left => outgoing.lend_to(link),
                _ => Some(outgoing),
            };
            state.is_lent = kept.is_none();
            state.outgoing = kept;
        }
        !state.is_open || state.is_over
    }

    /// From now on this is where to write.
    pub(crate) fn write_to(&self, outgoing: Outgoing) {
        let mut state = self.lock();
        state.halter = Some(outgoing.halter());
        state.outgoing = Some(outgoing);
        state.is_open = true;
        state.is_woken = true;
        drop(state);
        self.changed.notify_all();
    }

    /// The process is gone: what was being written to it is forgotten, and nothing is written before there is another.
    pub(crate) fn take_back(&self) {
        let mut state = self.lock();
        state.is_open = false;
        if let Some(halter) = state.halter.take() {
            halter.halt();
        }
        while state.is_writing {
            state = self.wait(state);
        }
        drop(self.take(&mut state));
        state.rest = Vec::new();
        state.answered = 0;
        let attached = std::mem::take(&mut state.attached);
        drop(state);
        drop(attached);
    }

    /// Nothing will be written any more.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
    }

    /// The thread that writes, until the end.
    pub(crate) fn write_all(&self) {
        let Some(link) = self.link.get() else {
            return;
        };
        let (mut bytes, mut attached) = (Vec::new(), Vec::new());
        let mut state = self.lock();
        loop {
            if state.is_over {
                return;
            }
            let has_to_write = state.is_woken || !state.rest.is_empty();
            let taken = if has_to_write && !state.is_writing {
                self.take(&mut state)
            } else {
                None
            };
            let Some(mut outgoing) = taken else {
                state = self.wait(state);
                continue;
            };
            state.is_woken = false;
            state.is_writing = true;
            bytes.clear();
            bytes.append(&mut state.rest);
            attached.append(&mut state.attached);
            let mut answered = std::mem::take(&mut state.answered);
            drop(state);
            answered |= link.take_outgoing_with(&mut bytes, &mut attached);
            let written = outgoing.write_all(&bytes, &mut attached, answered);
            // Those that a process does not take any more are given up.
            attached.clear();
            // What a burst has taken is given back.
            bytes.shrink_to(1 << 20);
            state = self.lock();
            if written.is_err() {
                // The one who reads finds it, too, and sees to what is next.
                state.is_open = false;
            }
            self.give_back(&mut state, outgoing);
            self.changed.notify_all();
        }
    }
}
