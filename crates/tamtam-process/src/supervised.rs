//! A process whose supervisor decides when it begins, pauses and begins again.
//!
//! The thread that has the process waits here while there is none. What the supervisor wants comes from any thread, and none of those waits:
//! what is done is told by calls that it brings.

use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_actor::link::Call;
use tamtam_actor::{EndReason, ReportFailure};
use tamtam_link::{Link, Supervised};

use crate::lock::{lock, wait_for};

/// What the supervisor of a process wants of it.
pub(crate) struct Control {
    state: Mutex<State>,
    changed: Condvar,
    /// Tells the supervisor that the process has died, and waits to be begun again.
    failed: ReportFailure,
    /// So long a process may take to pause, before it is killed.
    deadline: Duration,
    kill: Box<dyn Fn() + Send + Sync>,
    this: Weak<Control>,
}

struct State {
    phase: Phase,
    link: Option<Link>,
    /// To be called when the process has begun.
    begun: Option<Call>,
    /// To be called when there is none any more.
    paused: Option<Call>,
    /// How often a process was to begin.
    times: u64,
    /// It is to stop: if it dies meanwhile, none takes its place.
    is_to_stop: bool,
    /// The process has died, which is not told yet: what is sent by the link from now on may be for the next one.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// There is no process, and the thread waits.
    Paused,
    /// There is one, or is about to be.
    Running,
    /// There is one that is to pause.
    Pausing,
    /// There is none, and there will not be.
    Stopped,
}

impl Control {
    pub(crate) fn new(
        failed: ReportFailure,
        deadline: Duration,
        kill: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new_cyclic(|this| Control {
            state: Mutex::new(State {
                phase: Phase::Paused,
                link: None,
                begun: None,
                paused: None,
                times: 0,
                is_to_stop: false,
                is_over: false,
            }),
            changed: Condvar::new(),
            failed,
            deadline,
            kill: Box::new(kill),
            this: Weak::clone(this),
        })
    }

    /// Says by which link the process is told.
    pub(crate) fn serve(&self, link: Link) {
        lock(&self.state).link = Some(link);
    }

    /// Whether the process ends because it is to pause.
    pub(crate) fn is_pausing(&self) -> bool {
        lock(&self.state).phase == Phase::Pausing
    }

    /// Whether it was to stop, in order or not.
    pub(crate) fn is_to_stop(&self) -> bool {
        lock(&self.state).is_to_stop
    }

    /// The process has died, and is about to have [ended](Self::ended).
    pub(crate) fn note_over(&self) {
        lock(&self.state).is_over = true;
    }

    /// There is no process any more. If that is no wish of the supervisor's, this is why.
    pub(crate) fn ended(&self, why: EndReason) {
        let mut state = lock(&self.state);
        let was_to_pause = state.phase == Phase::Pausing;
        state.is_over = false;
        if state.phase != Phase::Stopped {
            state.phase = Phase::Paused;
        }
        let calls = [state.begun.take(), state.paused.take()];
        drop(state);
        self.changed.notify_all();
        // A step is done before a failure is told.
        calls.into_iter().flatten().for_each(|call| call());
        if !was_to_pause {
            (self.failed)(why);
        }
    }

    /// The thread waits until a process is to begin; `false` if there will be none.
    pub(crate) fn wait(&self) -> bool {
        let state = lock(&self.state);
        let is_paused = |state: &mut State| state.phase == Phase::Paused;
        let state = self.changed.wait_while(state, is_paused);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        state.phase != Phase::Stopped
    }

    /// There is nothing more to wait for.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.phase = Phase::Stopped;
        let calls = [state.begun.take(), state.paused.take()];
        // With it this would keep itself.
        let link = state.link.take();
        drop(state);
        self.changed.notify_all();
        calls.into_iter().flatten().for_each(|call| call());
        drop(link);
    }

    /// Kills the process if it has not paused in this time.
    fn watch_pause(&self, times: u64, time: Duration) {
        // A time beyond the clock's end is none: then it is never killed.
        let deadline = Instant::now().checked_add(time);
        let mut state = lock(&self.state);
        while state.phase == Phase::Pausing && state.times == times && !state.is_over {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                // Under the lock: else it might pause just now, and the next process be killed in its place.
                return (self.kill)();
            }
            state = wait_for(&self.changed, state, left);
        }
    }
}

impl Supervised for Control {
    fn greeted(&self) {
        let begun = lock(&self.state).begun.take();
        if let Some(begun) = begun {
            begun();
        }
    }

    fn suspend(&self, done: Call) {
        let mut state = lock(&self.state);
        if state.phase != Phase::Running {
            drop(state);
            return done();
        }
        state.phase = Phase::Pausing;
        state.paused = Some(done);
        if state.is_over {
            return;
        }
        let times = state.times;
        // Of the process that is there now: once it is over, a word to it would stop the next one.
        let link = state.link.clone().map(|link| (link.generation(), link));
        drop(state);
        if let Some((generation, link)) = link {
            link.stop_root(generation);
        }
        let Some(this) = self.this.upgrade() else {
            return;
        };
        let deadline = self.deadline;
        let watching = thread::Builder::new()
            .name("tamtam-process-pause".to_owned())
            .spawn(move || this.watch_pause(times, deadline));
        if watching.is_err() {
            // It cannot be given time.
            self.watch_pause(times, Duration::ZERO);
        }
    }

    fn resume(&self, done: Option<Call>) {
        let mut state = lock(&self.state);
        if state.phase != Phase::Paused {
            drop(state);
            if let Some(done) = done {
                done();
            }
            return;
        }
        state.phase = Phase::Running;
        state.begun = done;
        state.times += 1;
        drop(state);
        self.changed.notify_all();
    }

    fn stop(&self) -> bool {
        let mut state = lock(&self.state);
        state.is_to_stop = true;
        if state.phase != Phase::Paused {
            return false;
        }
        state.phase = Phase::Stopped;
        drop(state);
        self.changed.notify_all();
        true
    }

    fn kill(&self) {
        (self.kill)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::mpsc;

    use tamtam_actor::ProcessEnd;
    use tamtam_link::Death;

    #[test]
    fn a_pause_that_comes_after_the_death_stops_no_process_that_follows() {
        let (failed, failures) = mpsc::channel();
        let report: ReportFailure = Arc::new(move |why| failed.send(why).unwrap());
        let control = Control::new(report, Duration::MAX, || panic!("nothing is to be killed"));
        let (link, _inbound) = Link::builder().keep_root().build(|| {});
        control.serve(link.clone());
        control.resume(None);
        let said = || {
            let mut bytes = Vec::new();
            link.take_outgoing(&mut bytes);
            bytes
        };
        let (done, is_done) = mpsc::channel();
        control.note_over();
        let death = Death {
            done: 0,
            begun: 0,
            why: EndReason::ProcessEnded(ProcessEnd::Killed(9)),
        };
        let _next = link.begin_again(death).unwrap();
        assert!(!said().is_empty(), "it says hello");
        control.suspend(Box::new(move || done.send(()).unwrap()));
        assert!(is_done.try_recv().is_err(), "it is not told yet");
        assert!(said().is_empty(), "the next process is told nothing");
        control.ended(EndReason::Stopped);
        // It was to pause, and has.
        assert_eq!(is_done.try_recv(), Ok(()));
        assert!(failures.try_recv().is_err());
        // The next one is paused by a word.
        control.resume(None);
        control.suspend(Box::new(|| {}));
        assert!(!said().is_empty());
        control.ended(EndReason::Stopped);
    }

    #[test]
    fn a_deadline_beyond_the_end_of_the_clock_is_none() {
        let (killed, kills) = mpsc::channel();
        let report: ReportFailure = Arc::new(|_| {});
        let control = Control::new(report, Duration::MAX, move || killed.send(()).unwrap());
        control.resume(None);
        lock(&control.state).phase = Phase::Pausing;
        let watched = Arc::clone(&control);
        let watching = thread::spawn(move || watched.watch_pause(1, Duration::MAX));
        control.ended(EndReason::Stopped);
        assert!(watching.join().is_ok());
        drop(control);
        assert!(kills.recv().is_err(), "it has paused in time");
    }
}
