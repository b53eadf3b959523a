//! Models of a line: what is brought is done or abandoned, whoever lives there is dropped before it ends, and the
//! loop of somebody's own is told once.
//!
//! Threads of a model share their thread-local values, so all tasks come in from outside.

mod at_words;
mod own_turns;

use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool as Flag, AtomicU32 as Count, Ordering::Relaxed};
use std::sync::Arc;

use tamtam_wait::Wait;
use tamtam_wait::seam::thread;

use super::{Allowed, Line, Quit};
use crate::frame::FrameHandle;
use crate::models::model;
use crate::spawner::Spawner;
use crate::task::{Due, Home, Task};
use crate::worker::Worker;

/// Counts its turns, and how often it was abandoned. Not by loom's counts: they would add to what threads know of each
/// other.
#[derive(Default)]
struct Turns {
    run: Count,
    abandoned: Count,
}

impl Due for Turns {
    unsafe fn run(this: NonNull<Self>) {
        // SAFETY: the counter outlives the model's threads, which run all tasks.
        unsafe { this.as_ref() }.run.fetch_add(1, Relaxed);
    }

    unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: the counter outlives the model's threads, which run all tasks.
        unsafe { this.as_ref() }.abandoned.fetch_add(1, Relaxed);
    }
}

fn task(turns: &Arc<Turns>) -> Task {
    // SAFETY: the counter outlives the model's threads, which run all tasks.
    unsafe { Task::new(NonNull::from(&**turns).cast(), Turns::ACTS) }
}

/// A thread that keeps the line until it is told to quit.
fn keep(line: &Arc<Line>) -> thread::JoinHandle<()> {
    let line = Arc::clone(line);
    // SAFETY: this thread is the keeper.
    thread::spawn(move || unsafe { line.work() })
}

/// Tasks from two threads; the keeper sleeps in between, and is told to end when they have come.
#[test]
fn loom_the_keeper_of_a_line_does_what_comes_in() {
    model(2, || {
        let line = Arc::new(Line::new(Wait::Adaptive, false, None));
        let turns = Arc::new(Turns::default());
        let keeper = keep(&line);
        let other = {
            let (line, turns) = (Arc::clone(&line), Arc::clone(&turns));
            thread::spawn(move || line.schedule(task(&turns)))
        };
        line.schedule(task(&turns));
        other.join().unwrap();
        // How a line ends has models of its own.
        loom::stop_exploring();
        line.quit(Quit::Drain);
        keeper.join().unwrap();
        assert_eq!(turns.run.load(Relaxed), 2);
    });
}

/// What is brought when the line ends is done or abandoned, by the keeper or by the one who brings it.
#[test]
fn loom_a_task_against_the_end_of_a_line() {
    model(2, || {
        let line = Arc::new(Line::new(Wait::Adaptive, false, None));
        let turns = Arc::new(Turns::default());
        let keeper = keep(&line);
        let other = {
            let (line, turns) = (Arc::clone(&line), Arc::clone(&turns));
            thread::spawn(move || line.schedule(task(&turns)))
        };
        line.quit(Quit::Discard);
        keeper.join().unwrap();
        other.join().unwrap();
        assert_eq!(turns.run.load(Relaxed) + turns.abandoned.load(Relaxed), 1);
        // Nobody is left who would see to it.
        line.schedule(task(&turns));
        assert_eq!(turns.run.load(Relaxed) + turns.abandoned.load(Relaxed), 2);
    });
}

/// What an actor is dropped with tells whether the line had ended.
struct Gone {
    line: Arc<Line>,
    on_time: Arc<Flag>,
}

impl Drop for Gone {
    fn drop(&mut self) {
        self.on_time.store(!self.line.is_closed(), Relaxed);
    }
}

fn a_message_against_the_end(preemptions: usize, quit: Quit) {
    model(preemptions, move || {
        let line = Arc::new(Line::new(Wait::Adaptive, false, None));
        let (handled, on_time) = (Arc::new(Count::new(0)), Arc::new(Flag::new(false)));
        let gone = Gone {
            line: Arc::clone(&line),
            on_time: Arc::clone(&on_time),
        };
        let count = Arc::clone(&handled);
        let actor = Spawner::<Worker>::on_line(&line).spawn_fn(move |(): (), _| {
            let _ = &gone;
            count.fetch_add(1, Relaxed);
        });
        let keeper = keep(&line);
        let other = {
            let actor = actor.clone();
            thread::spawn(move || u32::from(actor.tell(()).is_ok()))
        };
        line.quit(quit);
        let accepted = other.join().unwrap();
        keeper.join().unwrap();
        assert_eq!(
            u64::from(handled.load(Relaxed)) + actor.lost(),
            u64::from(accepted)
        );
        assert!(actor.is_stopped() && on_time.load(Relaxed));
        assert!(actor.tell(()).is_err());
    });
}

#[test]
fn loom_a_message_against_a_line_that_discards() {
    a_message_against_the_end(2, Quit::Discard);
}

#[test]
fn loom_a_message_against_a_line_that_drains() {
    a_message_against_the_end(2, Quit::Drain);
}

/// An actor is born while the line ends: it is stopped by the keeper, or by the one who makes it.
#[test]
fn loom_a_birth_against_the_end_of_a_line() {
    model(2, || {
        let line = Arc::new(Line::new(Wait::Adaptive, false, None));
        let keeper = keep(&line);
        let other = {
            let line = Arc::clone(&line);
            thread::spawn(move || Spawner::<Worker>::on_line(&line).spawn_fn(|(): (), _| {}))
        };
        line.quit(Quit::Discard);
        let actor = other.join().unwrap();
        keeper.join().unwrap();
        assert!(actor.is_stopped());
    });
}

/// A loop sleeps until its hook is called, and pumps; two threads bring something: the hook is called for all that
/// comes, and not again before a pump that left nothing.
#[test]
fn loom_the_hook_is_called_once_before_each_pump() {
    model(2, || {
        let line = Arc::new(Line::new(Wait::Adaptive, true, None));
        let turns = Arc::new(Turns::default());
        let told = Arc::new(Flag::new(false));
        let bell = tamtam_wait::seam::Task::new();
        let (waker, flag) = (bell.waker().clone(), Arc::clone(&told));
        let call = move || {
            assert!(!flag.swap(true, Relaxed), "told twice");
            waker.wake_by_ref();
        };
        // SAFETY: this thread is the keeper, here and below.
        unsafe { line.set_hook(Some(Arc::new(call)), false) };
        let others = [0, 1].map(|_| {
            let (line, turns) = (Arc::clone(&line), Arc::clone(&turns));
            thread::spawn(move || line.schedule(task(&turns)))
        });
        let allowed = Allowed {
            time: None,
            messages: None,
        };
        while turns.run.load(Relaxed) < 2 {
            bell.wait();
            told.store(false, Relaxed);
            // SAFETY: this thread is the keeper: it has made the line and pumps it alone.
            while unsafe { line.pump(&allowed) }.1 {
                thread::yield_now();
            }
        }
        for other in others {
            other.join().unwrap();
        }
        // SAFETY: this thread is the keeper, and the others have been joined.
        unsafe { line.end() };
    });
}

/// Mail comes while the loop says what is to be called: it is called for it, by one side and once.
#[test]
fn loom_mail_against_a_new_hook() {
    model(3, || {
        let line = Arc::new(Line::new(Wait::Adaptive, true, None));
        let turns = Arc::new(Turns::default());
        let calls = Arc::new(Count::new(0));
        let other = {
            let (line, turns) = (Arc::clone(&line), Arc::clone(&turns));
            thread::spawn(move || line.schedule(task(&turns)))
        };
        let count = Arc::clone(&calls);
        // SAFETY: this thread is the keeper, here and below.
        unsafe {
            line.set_hook(
                Some(Arc::new(move || _ = count.fetch_add(1, Relaxed))),
                false,
            )
        };
        other.join().unwrap();
        assert_eq!(calls.load(Relaxed), 1);
        // SAFETY: this thread is the keeper, and the other one was joined.
        unsafe { line.end() };
    });
}

/// A frame's handle makes an actor while the frame ends.
#[test]
fn loom_a_handle_against_the_end_of_a_frame() {
    model(2, || {
        let line = Arc::new(Line::new(Wait::Adaptive, true, None));
        let other = {
            let line = Arc::clone(&line);
            thread::spawn(move || {
                let actor = Spawner::<FrameHandle>::on_line(&line).spawn_fn(|(): (), _| {});
                let accepted = u32::from(actor.tell(()).is_ok());
                (actor, accepted)
            })
        };
        // SAFETY: this thread is the keeper.
        unsafe { line.end() };
        let (actor, accepted) = other.join().unwrap();
        assert!(actor.is_stopped());
        assert!(actor.lost() <= u64::from(accepted));
    });
}
