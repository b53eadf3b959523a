//! Models of how a pool's threads sleep: with something due nobody sleeps while nobody is awake to do it.
//!
//! A thread of a model has the place of one of the pool's. A thread that is never woken shows as a deadlock.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;

use tamtam_wait::seam::atomic::Ordering;
use tamtam_wait::seam::thread;

use super::stand_in::LeftForWait;
use super::{IdleWait, NoTask, Role, Shared, Stealer, ThreadRound};
use crate::models::model;
use crate::task::{Due, Home, Task};

/// Counts its turns. Not by loom's counts: they would add to what threads know of each other.
struct Turns(AtomicU32);

impl Due for Turns {
    unsafe fn run(this: NonNull<Self>) {
        // SAFETY: the counter outlives the model's threads, which run all tasks.
        unsafe { this.as_ref() }.0.fetch_add(1, Relaxed);
    }

    unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: the counter outlives the model's threads, which run or abandon all tasks.
        unsafe { Self::run(this) };
    }
}

/// A pool with so many threads, all at work, and tasks that count their turns.
fn pool(threads: usize) -> (Arc<Shared>, Arc<Turns>) {
    let shared = Arc::new(Shared::new(threads, String::new(), None));
    shared.people.lock().alive = threads;
    (shared, Arc::new(Turns(AtomicU32::new(0))))
}

fn task(turns: &Arc<Turns>) -> Task {
    // SAFETY: the counter outlives the model's threads, which run all tasks.
    unsafe { Task::new(NonNull::from(&**turns).cast(), Turns::ACTS) }
}

/// The life of a thread that begins with nothing to do.
fn work(shared: &Shared, ring: usize) {
    let mut round = ThreadRound::default();
    let mut stealer = Stealer::default();
    loop {
        let task = shared
            .find(shared.desks.at(ring), ring, &mut round)
            .or_else(|| shared.wait(ring, Role::Own, &mut stealer).ok());
        match task {
            Some(task) => task.run(),
            None => break,
        }
        shared.desks.at(ring).count_turn();
        // A model has no clock: whether a theft was worth it is not for it to say.
        stealer = Stealer::default();
    }
    shared.leave(ring, Role::Own, false);
}

fn start(shared: &Arc<Shared>, ring: usize) -> thread::JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || work(&shared, ring))
}

fn end(shared: &Shared) {
    shared.ending.store(true, Ordering::SeqCst);
    shared.idle.notify_all();
}

/// Tasks from outside, and then the end: everything that came before the end is done, and all threads end.
fn tasks_from_outside(preemptions: usize, threads: usize, tasks: u32) {
    model(preemptions, move || {
        let (shared, turns) = pool(threads);
        let workers: Vec<_> = (0..threads).map(|ring| start(&shared, ring)).collect();
        for _ in 0..tasks {
            shared.bring(task(&turns));
        }
        end(&shared);
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(turns.0.load(Relaxed), tasks);
    });
}

#[test]
fn loom_a_thread_does_what_comes_in_and_ends() {
    tasks_from_outside(3, 1, 2);
}

#[test]
fn loom_two_threads_do_what_comes_in_and_end() {
    tasks_from_outside(1, 2, 1);
}

/// Two threads that sleep and two tasks from two others: both are done without the end as a wake-up, each by one
/// of the threads, which does nothing else.
#[test]
fn loom_two_tasks_wake_two_threads() {
    model(2, || {
        let (shared, turns) = pool(2);
        let workers = [0, 1].map(|ring| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let task = shared.wait(ring, Role::Own, &mut Stealer::default());
                task.ok().expect("the pool is not at its end").run();
            })
        });
        shared.bring(task(&turns));
        shared.bring(task(&turns));
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(turns.0.load(Relaxed), 2);
    });
}

/// A thread is kept by a long turn, with two tasks behind it: another one is woken and takes one of them.
#[test]
fn loom_the_second_task_of_a_thread_wakes_another_one() {
    model(2, || {
        let (shared, turns) = pool(2);
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let task = shared.wait(1, Role::Own, &mut Stealer::default());
                task.ok().expect("the pool is not at its end").run();
            })
        };
        shared.append(shared.desks.at(0), task(&turns));
        shared.append(shared.desks.at(0), task(&turns));
        other.join().unwrap();
        assert_eq!(turns.0.load(Relaxed), 1);
        let mut round = ThreadRound::default();
        while let Some(task) = shared.find(shared.desks.at(0), 0, &mut round) {
            task.run();
        }
        assert_eq!(turns.0.load(Relaxed), 2);
    });
}

/// A stand-in that has slept for long looks around once more, and goes if there is nothing: what comes at that moment another thread is woken
/// for, or the stand-in does it.
#[test]
fn loom_a_stand_in_that_goes_takes_no_wake_up_with_it() {
    model(2, || {
        let mut shared = Shared::new(1, String::new(), None);
        shared.allow_stand_ins(1);
        let shared = Arc::new(shared);
        {
            let mut people = shared.people.lock();
            people.alive = 2;
            assert_eq!(shared.take_ring(&mut people), Some(1));
        }
        // It is made here: a model does not see what a lock of the standard library orders.
        let _ = shared.desks.at(1);
        shared.busy.begin();
        let turns = Arc::new(Turns(AtomicU32::new(0)));
        let own = start(&shared, 0);
        let stand_in = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                loop {
                    match shared.wait(1, Role::StandIn, &mut Stealer::default()) {
                        Ok(task) => task.run(),
                        Err(NoTask::Resigned) => break,
                        Err(NoTask::End) => unreachable!("the pool is not at its end"),
                    }
                    shared.desks.at(1).count_turn();
                }
                shared.hand_over(1);
                shared.leave(1, Role::StandIn, true);
            })
        };
        shared.bring(task(&turns));
        stand_in.join().unwrap();
        IdleWait::begin(&shared).wait_until(None);
        assert_eq!(turns.0.load(Relaxed), 1);
        // How a pool ends has models of its own.
        loom::stop_exploring();
        end(&shared);
        own.join().unwrap();
    });
}

/// What is brought when the last thread ends is abandoned, by that thread or by the one who brings it.
#[test]
fn loom_a_task_against_the_end() {
    model(2, || {
        let (shared, turns) = pool(1);
        let worker = start(&shared, 0);
        let other = {
            let (shared, turns) = (Arc::clone(&shared), Arc::clone(&turns));
            thread::spawn(move || shared.bring(task(&turns)))
        };
        end(&shared);
        worker.join().unwrap();
        other.join().unwrap();
        assert_eq!(turns.0.load(Relaxed), 1);
    });
}

/// Two threads that wait, one of which comes back in between and waits again: whenever both wait, one of them has been told
/// that no other is left.
#[test]
fn loom_of_threads_that_all_wait_one_watches() {
    model(3, || {
        let (shared, _turns) = pool(2);
        let is_last =
            |shared: &Arc<Shared>, ring| matches!(shared.block(ring, None), LeftForWait::Nobody(_));
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                is_last(&shared, 1);
                shared.unblock(1, None);
                is_last(&shared, 1)
            })
        };
        let this_watches = is_last(&shared, 0);
        let other_watches = other.join().unwrap();
        assert!(this_watches || other_watches);
    });
}

/// Makes another one due when it has its turn.
struct Chain {
    shared: Arc<Shared>,
    turns: Arc<Turns>,
}

impl Due for Chain {
    unsafe fn run(this: NonNull<Self>) {
        // SAFETY: it outlives the model's threads, which run all tasks.
        let Chain { shared, turns } = unsafe { this.as_ref() };
        turns.0.fetch_add(1, Relaxed);
        shared.bring(task(turns));
    }

    unsafe fn abandon(this: NonNull<Self>) {
        // SAFETY: it is abandoned in place of its run, for which the same holds.
        unsafe { Self::run(this) };
    }
}

/// Who waits until a pool is idle is told, and then what was brought before has had its turn, and what came of that.
fn wait_until_idle(preemptions: usize, threads: usize) {
    model(preemptions, move || {
        let (shared, turns) = pool(threads);
        let chain = Box::new(Chain {
            shared: Arc::clone(&shared),
            turns: Arc::clone(&turns),
        });
        let workers: Vec<_> = (0..threads).map(|ring| start(&shared, ring)).collect();
        // SAFETY: it outlives the threads, which are joined below.
        shared.bring(unsafe { Task::new(NonNull::from(&*chain).cast(), Chain::ACTS) });
        IdleWait::begin(&shared).wait_until(None);
        assert_eq!(turns.0.load(Relaxed), 2);
        // How a pool ends has models of its own.
        loom::stop_exploring();
        end(&shared);
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn loom_a_pool_of_one_thread_is_idle_when_all_is_done() {
    wait_until_idle(2, 1);
}

#[test]
fn loom_a_pool_of_two_threads_is_idle_when_all_is_done() {
    wait_until_idle(1, 2);
}

/// A thread has found the pool idle for one wait, which another look has told meanwhile. Who waits anew for something that was sent
/// since is not told by that: it is told when the thread that works then has counted its turn.
#[test]
fn loom_a_look_for_one_wait_tells_none_that_has_begun_since() {
    model(3, || {
        let (shared, turns) = pool(1);
        let first = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.rest())
        };
        IdleWait::begin(&shared).wait_until(None);
        shared.busy.begin();
        let second = {
            let (shared, turns) = (Arc::clone(&shared), Arc::clone(&turns));
            thread::spawn(move || {
                turns.0.fetch_add(1, Relaxed);
                shared.rest();
            })
        };
        IdleWait::begin(&shared).wait_until(None);
        assert_eq!(turns.0.load(Relaxed), 1);
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// An actor goes on, since there is room for what it has sent, while the pool ends that waits for that: it has its turn.
#[test]
fn loom_a_pool_that_ends_waits_for_an_actor_that_is_muted() {
    model(2, || {
        let (shared, turns) = pool(1);
        shared.waits_for_muted.store(true, Ordering::SeqCst);
        shared.note_muted();
        let worker = start(&shared, 0);
        let other = {
            let (shared, turns) = (Arc::clone(&shared), Arc::clone(&turns));
            thread::spawn(move || {
                shared.bring(task(&turns));
                shared.note_unmuted();
            })
        };
        end(&shared);
        worker.join().unwrap();
        assert_eq!(shared.desks.at(0).turns(), 1);
        other.join().unwrap();
    });
}
