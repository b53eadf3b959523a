//! The thread that writes for a link, as those know it who wake it and who end it.
//!
//! A link that has ended still sends what is outgoing. Another side that takes nothing of that keeps the thread in a write which never
//! comes back, so a second thread watches each end: it closes what carries the link once the other side has taken nothing for [`LONGEST_STALL`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use tamtam_wait::seam::{Condvar, Mutex, MutexGuard, thread};

use crate::link::Link;

/// A link that has ended waits so long for another side that takes nothing.
const LONGEST_STALL: Duration = Duration::from_secs(2);
/// So many bytes are written at once: that much is to be taken within [`LONGEST_STALL`].
pub(super) const PIECE: usize = 64 << 10;

/// So long the thread leaves it to a sender to write what that has left.
#[cfg(not(tamtam_loom))]
const PAUSE: Duration = Duration::from_millis(1);

/// Ends a read and a write that wait, where it can.
type Close = Box<dyn FnOnce() + Send>;

/// The state of the thread that writes.
pub(super) struct Writing {
    state: Mutex<State>,
    rung: Condvar,
    /// Something was written, or the thread is over; for the one that watches.
    moved: Condvar,
}

struct State {
    has_rung: bool,
    is_over: bool,
    is_watched: bool,
    /// Something was left to be written by its sender.
    is_to_look: bool,
    /// Pieces so far: one a nanosecond makes 2^64 in 500 years.
    pieces: u64,
    close: Option<Close>,
    /// As long as the thread is there.
    link: Option<Link>,
}

impl Writing {
    pub(super) fn new(close: impl FnOnce() + Send + 'static) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State {
                has_rung: false,
                is_over: false,
                is_watched: false,
                is_to_look: false,
                pieces: 0,
                close: Some(Box::new(close)),
                link: None,
            }),
            rung: Condvar::new(),
            moved: Condvar::new(),
        })
    }

    /// Its thread and that which reads have begun.
    pub(super) fn begin(self: &Arc<Self>, link: &Link) {
        let mut state = self.state.lock();
        if !state.is_over {
            state.link = Some(link.clone());
        }
        drop(state);
        // The link may have ended meanwhile.
        self.ring();
    }

    /// There is something to write, or the link has ended.
    pub(super) fn ring(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.has_rung = true;
        self.rung.notify_one();
        let link = state.link.as_ref();
        let link = link.filter(|link| !state.is_watched && link.is_over());
        let Some(link) = link.cloned() else {
            return;
        };
        drop(state);
        if link.ended().is_none() {
            return;
        }
        let mut state = self.state.lock();
        if state.is_over || std::mem::replace(&mut state.is_watched, true) {
            return;
        }
        drop(state);
        let watching = Arc::clone(self);
        let watcher = thread::Builder::new()
            .name("tamtam-link-end".to_owned())
            .spawn(move || watching.watch());
        if watcher.is_err() {
            // Without a thread to wait, the rest is not waited for.
            self.close();
        }
    }

    /// A sender has left something, which it writes when it is through with other things; the thread looks after a moment whether it has.
    pub(super) fn note_left(&self) {
        let mut state = self.state.lock();
        if !std::mem::replace(&mut state.is_to_look, true) {
            self.rung.notify_one();
        }
    }

    /// Waits until there is something to write, or may be, or the link has ended.
    pub(super) fn wait(&self) {
        let is_idle = |state: &mut State| !state.has_rung && !state.is_to_look;
        let mut state = self.rung.wait_while(self.state.lock(), is_idle);
        if !state.has_rung {
            state = self.pause(state);
        }
        // What is written now is all that was left so far.
        state.has_rung = false;
        state.is_to_look = false;
    }

    /// Leaves it to the sender for a moment, unless there is something to write.
    #[cfg(not(tamtam_loom))]
    fn pause<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let has_not_rung = |state: &mut State| !state.has_rung;
        self.rung.wait_timeout_while(state, PAUSE, has_not_rung).0
    }

    /// As that: a model has no clock, so the moment is as long as other threads have their turns.
    #[cfg(tamtam_loom)]
    fn pause<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        drop(state);
        tamtam_wait::seam::yield_now();
        self.state.lock()
    }

    /// Waits until the link has ended, but not long.
    pub(super) fn wait_for_end(&self, link: &Link) {
        let patience = Instant::now() + LONGEST_STALL;
        while link.ended().is_none() {
            let left = patience.saturating_duration_since(Instant::now());
            let has_not_rung = |state: &mut State| !state.has_rung;
            let state = self.state.lock();
            let (mut state, is_late) = self.rung.wait_timeout_while(state, left, has_not_rung);
            state.has_rung = false;
            if is_late {
                return;
            }
        }
    }

    /// A piece was written.
    pub(super) fn note_piece(&self) {
        let mut state = self.state.lock();
        state.pieces += 1;
        if state.is_watched {
            self.moved.notify_one();
        }
    }

    /// Nothing more is written.
    pub(super) fn end(&self) {
        let link = {
            let mut state = self.state.lock();
            state.is_over = true;
            self.moved.notify_one();
            state.link.take()
        };
        self.close();
        drop(link);
    }

    fn close(&self) {
        let close = self.state.lock().close.take();
        if let Some(close) = close {
            close();
        }
    }

    /// Sees to it that a link which has ended is not kept by another side that takes nothing.
    fn watch(&self) {
        let mut state = self.state.lock();
        while !state.is_over {
            let pieces = state.pieces;
            let is_stuck = |state: &mut State| !state.is_over && state.pieces == pieces;
            let (after, is_late) = self
                .moved
                .wait_timeout_while(state, LONGEST_STALL, is_stuck);
            state = after;
            if is_late {
                drop(state);
                return self.close();
            }
        }
    }
}
