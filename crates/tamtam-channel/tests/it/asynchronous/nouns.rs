//! Slots, events, latches and timers, awaited on every executor and beside threads that block.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{Event, Latch, Slot, after, at, never, tick};

use crate::asynchronous::executor::{Executor, Task, task};
use crate::support::{LONG, SHORT, ms, within_limit};

fn on_every_executor(test: impl Fn(Executor) + Send + 'static) {
    within_limit(move || Executor::ALL.into_iter().for_each(&test));
}

#[test]
fn slots_hand_over_in_turns() {
    on_every_executor(|executor| {
        let slots = Arc::new((Slot::new(), Slot::new()));
        let other = Arc::clone(&slots);
        let server = task(async move {
            for _ in 0..300 {
                let number: u64 = other.0.take_async().await;
                other.1.put_async(number + 1).await;
            }
        });
        let client = task(async move {
            for number in 0..300 {
                slots.0.put_async(number).await;
                assert_eq!(slots.1.take_async().await, number + 1);
            }
        });
        executor.run(vec![server, client]);
    });
}

#[test]
fn slots_join_tasks_and_threads() {
    on_every_executor(|executor| {
        let slot = Arc::new(Slot::new());
        let putting = [(); 2].map(|()| {
            let slot = Arc::clone(&slot);
            thread::spawn(move || (0..200).for_each(|number| slot.put(number)))
        });
        let sum = Arc::new(AtomicUsize::new(0));
        let mut tasks: Vec<Task> = (0..2)
            .map(|_| {
                let (slot, sum) = (Arc::clone(&slot), Arc::clone(&sum));
                task(async move {
                    for _ in 0..300 {
                        sum.fetch_add(slot.take_async().await, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let putter = Arc::clone(&slot);
        tasks.push(task(async move {
            for number in 0..200 {
                putter.put_async(number).await;
            }
        }));
        executor.run(tasks);
        for thread in putting {
            thread.join().unwrap();
        }
        assert!(slot.is_empty());
        assert_eq!(sum.load(Ordering::Relaxed), 3 * 199 * 200 / 2);
    });
}

#[test]
fn auto_events_take_turns() {
    on_every_executor(|executor| {
        let events = Arc::new((Event::auto(), Event::auto()));
        let count = Arc::new(AtomicUsize::new(0));
        let (other, counter) = (Arc::clone(&events), Arc::clone(&count));
        let server = task(async move {
            for _ in 0..300 {
                other.0.wait_async().await;
                counter.fetch_add(1, Ordering::Relaxed);
                other.1.set();
            }
        });
        let client = task(async move {
            for round in 0..300 {
                assert_eq!(count.load(Ordering::Relaxed), round);
                events.0.set();
                events.1.wait_async().await;
            }
        });
        executor.run(vec![server, client]);
    });
}

/// As many get past as it was set, whether they are tasks or threads.
#[test]
fn an_auto_event_lets_tasks_and_threads_pass_one_by_one() {
    on_every_executor(|executor| {
        let event = Arc::new(Event::auto());
        let (passed, told) = std::sync::mpsc::channel();
        let threads = [(); 2].map(|()| {
            let (event, passed) = (Arc::clone(&event), passed.clone());
            thread::spawn(move || {
                for _ in 0..50 {
                    event.wait();
                    passed.send(()).unwrap();
                }
            })
        });
        let tasks = (0..2)
            .map(|_| {
                let (event, passed) = (Arc::clone(&event), passed.clone());
                task(async move {
                    for _ in 0..50 {
                        event.wait_async().await;
                        passed.send(()).unwrap();
                    }
                })
            })
            .collect();
        let setter = Arc::clone(&event);
        let setting = thread::spawn(move || {
            for _ in 0..200 {
                setter.set();
                told.recv_timeout(LONG).expect("nobody got past");
            }
            assert!(told.try_recv().is_err(), "one too many got past");
        });
        drop(passed);
        executor.run(tasks);
        for thread in threads {
            thread.join().unwrap();
        }
        setting.join().unwrap();
        assert!(!event.is_set());
    });
}

#[test]
fn a_manual_event_and_a_latch_let_all_pass() {
    on_every_executor(|executor| {
        let (event, latch) = (Arc::new(Event::manual()), Arc::new(Latch::new(4)));
        let opened = Arc::new(AtomicBool::new(false));
        let waits = {
            let (event, latch) = (Arc::clone(&event), Arc::clone(&latch));
            thread::spawn(move || {
                event.wait();
                latch.count_down();
            })
        };
        let mut tasks: Vec<Task> = (0..3)
            .map(|_| {
                let (event, latch) = (Arc::clone(&event), Arc::clone(&latch));
                task(async move {
                    event.wait_async().await;
                    event.wait_async().await;
                    latch.count_down();
                })
            })
            .collect();
        let (seen, all) = (Arc::clone(&opened), Arc::clone(&latch));
        tasks.push(task(async move {
            all.wait_async().await;
            seen.store(true, Ordering::SeqCst);
        }));
        tasks.push(task(async move { event.set() }));
        executor.run(tasks);
        waits.join().unwrap();
        assert!(opened.load(Ordering::SeqCst) && latch.is_open());
    });
}

#[test]
fn events_and_latches_give_up_in_time() {
    on_every_executor(|executor| {
        executor.run_one(async {
            let start = Instant::now();
            let (auto, manual, latch) = (Event::auto(), Event::manual(), Latch::new(1));
            assert!(auto.wait_timeout_async(ms(2)).await.is_err());
            assert!(manual.wait_timeout_async(ms(2)).await.is_err());
            assert!(latch.wait_timeout_async(ms(2)).await.is_err());
            assert!(start.elapsed() >= ms(6));
            // Waiting in vain leaves nothing behind.
            auto.set();
            assert!(auto.wait_timeout_async(LONG).await.is_ok());
            assert!(!auto.is_set());
            manual.set();
            assert!(manual.wait_timeout_async(Duration::ZERO).await.is_ok());
            latch.count_down();
            assert!(latch.wait_timeout_async(Duration::MAX).await.is_ok());
        });
    });
}

#[test]
fn timers_can_be_awaited() {
    on_every_executor(|executor| {
        executor.run_one(async {
            let start = Instant::now();
            let due = start + ms(5);
            assert_eq!(at(due).recv_async().await, Ok(due));
            assert!(start.elapsed() >= ms(5));
            let late = after(ms(5));
            assert!(late.recv_async().await.is_ok());
            assert!(start.elapsed() >= ms(10));
            // Once only.
            assert!(late.recv_timeout_async(SHORT).await.is_err());
            let start = Instant::now();
            let ticks = tick(ms(3));
            for _ in 0..3 {
                ticks.recv_async().await.unwrap();
            }
            assert!(start.elapsed() >= ms(9));
            assert!(never::<u8>().recv_timeout_async(ms(2)).await.is_err());
            assert!(after(LONG).recv_timeout_async(ms(2)).await.is_err());
        });
    });
}

/// Two tasks and one message at a moment: one of them gets it, and the other one goes on waiting.
#[test]
fn a_moment_is_delivered_to_one_task() {
    on_every_executor(|executor| {
        let timer = after(ms(5));
        let got = Arc::new(AtomicUsize::new(0));
        let tasks = (0..3)
            .map(|_| {
                let (timer, got) = (timer.clone(), Arc::clone(&got));
                task(async move {
                    if timer.recv_timeout_async(ms(30)).await.is_ok() {
                        got.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        executor.run(tasks);
        assert_eq!(got.load(Ordering::SeqCst), 1);
    });
}
