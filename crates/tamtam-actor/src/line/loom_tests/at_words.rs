//! Models of a keeper with listeners at what other processes bring: it sleeps at words that they share and for its mail in one sleep.

use std::sync::{Mutex as Unlocked, Weak};
use std::task::{Wake, Waker};

use tamtam_wait::seam::{self, atomic};
use tamtam_wait::{Context, Futex, Operation, Scope, SharedWords, Source, Token};

use super::*;
use crate::line::SharedSource;

/// The receiver sleeps at the bell, or is about to.
const SLEEPS: u32 = 1;

/// What two processes share: the protocol of the bells of `tamtam-ipc`.
struct Memory {
    brought: atomic::AtomicU32,
    bell: Futex,
}

impl Memory {
    fn new() -> Arc<Self> {
        Arc::new(Memory {
            brought: atomic::AtomicU32::new(0),
            bell: Futex::new(0),
        })
    }

    /// What the other process does.
    fn bring(&self) {
        self.brought.fetch_add(1, atomic::Ordering::SeqCst);
        seam::model_fence();
        let word = self.bell.load(atomic::Ordering::SeqCst);
        if word & SLEEPS != 0 {
            let awake = word.wrapping_add(1);
            let rung = self.bell.compare_exchange(
                word,
                awake,
                atomic::Ordering::SeqCst,
                atomic::Ordering::SeqCst,
            );
            if rung.is_ok() {
                self.bell.wake_all(Scope::Shared);
            }
        }
    }
}

/// The receiving end, and how much it has received.
struct End {
    memory: Arc<Memory>,
    received: Count,
}

impl Source for End {
    fn try_begin(&self, _: &mut Token) -> bool {
        self.is_ready()
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        unreachable!("it has words")
    }

    fn unregister(&self, _: Operation, _: &Context) {
        unreachable!("it has words")
    }

    fn is_ready(&self) -> bool {
        self.memory.brought.load(atomic::Ordering::SeqCst) > self.received.load(Relaxed)
    }

    fn watch(&self, _: Operation, _: &Context) -> bool {
        unreachable!("it has words")
    }

    fn unwatch(&self, _: Operation, _: &Context) {
        unreachable!("it has words")
    }

    fn sleep_at<'a>(&'a self, words: &mut SharedWords<'a>) -> Option<bool> {
        let bell = &self.memory.bell;
        let asleep = bell.fetch_or(SLEEPS, atomic::Ordering::SeqCst) | SLEEPS;
        seam::model_fence();
        words.push(bell, asleep);
        Some(self.is_ready())
    }
}

/// A listener: in its turns it receives what is there, and waits for more at words.
struct Listening {
    line: Arc<Line>,
    /// None once it was told to end.
    end: Unlocked<Option<Arc<End>>>,
    received: Count,
}

impl Listening {
    fn new(line: &Arc<Line>, memory: &Arc<Memory>) -> Arc<Self> {
        let end = End {
            memory: Arc::clone(memory),
            received: Count::new(0),
        };
        Arc::new(Listening {
            line: Arc::clone(line),
            end: Unlocked::new(Some(Arc::new(end))),
            received: Count::new(0),
        })
    }

    /// As its handler does: it looks, and says that it is to be woken for what comes later.
    fn turn(self: &Arc<Self>) {
        let end = self.end.try_lock().unwrap();
        let Some(end) = &*end else { return };
        while end.is_ready() {
            end.received.fetch_add(1, Relaxed);
            self.received.fetch_add(1, Relaxed);
        }
        let source: Weak<SharedSource> = Arc::downgrade(end) as Weak<End>;
        // SAFETY: turns are on the keeper's thread.
        unsafe { self.line.list(source, &Waker::from(Arc::clone(self))) };
    }
}

impl Wake for Listening {
    fn wake(self: Arc<Self>) {
        let listening = Arc::clone(&self);
        let act = move || listening.turn();
        self.line.schedule(Act::task(act));
    }
}

/// What is to be done on the keeper's thread.
struct Act(Box<dyn Fn() + Send + Sync>);

impl Act {
    fn task(act: impl Fn() + Send + Sync + 'static) -> Task {
        let act = Box::into_raw(Box::new(Act(Box::new(act))));
        // SAFETY: it is there until it runs or is abandoned, which takes it back.
        unsafe { Task::new(NonNull::new_unchecked(act).cast(), Act::ACTS) }
    }
}

impl Due for Act {
    unsafe fn run(this: NonNull<Self>) {
        // SAFETY: it was made by `task`, and runs once.
        let act = unsafe { Box::from_raw(this.as_ptr()) };
        (act.0)();
    }

    unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: it was made by `task`, and is abandoned once.
        drop(unsafe { Box::from_raw(this.as_ptr()) });
    }
}

/// Runs the line here, as its keeper, until that is done. One that sleeps on is a deadlock for loom: no end of the line wakes it.
fn keep_until(line: &Line, is_done: impl Fn() -> bool) {
    // SAFETY: this thread is the keeper.
    unsafe { line.run_while(|| !is_done()) };
}

fn end(line: &Line) {
    // How a line ends has models of its own.
    loom::stop_exploring();
    // SAFETY: this thread is the keeper, and no turn is under way.
    unsafe { line.end() };
}

fn line() -> Arc<Line> {
    Arc::new(Line::new(Wait::Adaptive, false, None))
}

fn bring(memory: &Arc<Memory>) -> thread::JoinHandle<()> {
    let memory = Arc::clone(memory);
    thread::spawn(move || memory.bring())
}

/// Another process brings something and another thread brings mail, while the keeper goes to sleep for both: neither is slept past.
#[test]
fn loom_what_processes_bring_and_mail_reach_a_keeper_that_goes_to_sleep() {
    model(2, || {
        let (line, memory) = (line(), Memory::new());
        let listening = Listening::new(&line, &memory);
        listening.turn();
        let turns = Arc::new(Turns::default());
        let process = bring(&memory);
        let other = {
            let (line, turns) = (Arc::clone(&line), Arc::clone(&turns));
            thread::spawn(move || line.schedule(task(&turns)))
        };
        keep_until(&line, || {
            turns.run.load(Relaxed) == 1 && listening.received.load(Relaxed) == 1
        });
        process.join().unwrap();
        other.join().unwrap();
        end(&line);
    });
}

/// What comes while the keeper is about to sleep for it once more: each of two is heard.
#[test]
fn loom_each_of_two_that_a_process_brings_is_heard() {
    model(3, || {
        let (line, memory) = (line(), Memory::new());
        let listening = Listening::new(&line, &memory);
        listening.turn();
        let process = {
            let memory = Arc::clone(&memory);
            thread::spawn(move || {
                memory.bring();
                memory.bring();
            })
        };
        keep_until(&line, || listening.received.load(Relaxed) == 2);
        process.join().unwrap();
        end(&line);
    });
}

/// A listener comes by mail while the keeper sleeps for another one, and the process brings something at the same time.
#[test]
fn loom_a_listener_that_comes_while_the_keeper_sleeps_hears() {
    model(2, || {
        let (line, memory) = (line(), Memory::new());
        let before = Listening::new(&line, &Memory::new());
        before.turn();
        let listening = Listening::new(&line, &memory);
        let process = bring(&memory);
        let other = {
            let listening = Arc::clone(&listening);
            thread::spawn(move || listening.wake())
        };
        keep_until(&line, || listening.received.load(Relaxed) == 1);
        process.join().unwrap();
        other.join().unwrap();
        assert_eq!(before.received.load(Relaxed), 0);
        end(&line);
    });
}

/// A listener is told to end while the keeper sleeps for it and for another one: that one is heard, and of the first nothing is left.
#[test]
fn loom_a_listener_that_goes_while_the_keeper_sleeps_keeps_nothing_up() {
    model(2, || {
        let (line, memory, gone) = (line(), Memory::new(), Memory::new());
        let goes = Listening::new(&line, &gone);
        let stays = Listening::new(&line, &memory);
        goes.turn();
        stays.turn();
        let left = Arc::downgrade(goes.end.try_lock().unwrap().as_ref().unwrap());
        let process = {
            let (gone, memory) = (Arc::clone(&gone), Arc::clone(&memory));
            thread::spawn(move || {
                gone.bring();
                memory.bring();
            })
        };
        let other = {
            let (line, goes) = (Arc::clone(&line), Arc::clone(&goes));
            let go = move || drop(goes.end.try_lock().unwrap().take());
            thread::spawn(move || line.schedule(Act::task(go)))
        };
        keep_until(&line, || {
            let has_gone = goes.end.try_lock().unwrap().is_none();
            has_gone && stays.received.load(Relaxed) == 1
        });
        process.join().unwrap();
        other.join().unwrap();
        assert!(left.upgrade().is_none());
        end(&line);
    });
}
