//! What waiting costs, and that nobody is kept waiting by others.
//!
//! A program of its own: it measures what idle threads and the clock of the process use.

mod support;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use support::{LONG, hold, until, within_limit};
use tamtam_actor::{Address, Pool, Reply};

#[test]
fn an_actor_is_not_held_up_by_a_handler_that_has_sent_to_it_and_goes_on() {
    within_limit(|| {
        // The pool's other thread may just have looked, or sleep, or never have done anything.
        for pause in [0, 0, 1, 5, 50, 250] {
            let pool = Pool::with_threads(2);
            let (sender, receiver) = mpsc::channel();
            let told = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
            let busy = pool.spawn_fn(move |hold: support::Hold, _| {
                told.tell(1).unwrap();
                // Ends when the other one has been reached, or by a limit that fails the test.
                hold.wait();
            });
            std::thread::sleep(Duration::from_millis(pause));
            for _ in 0..3 {
                let (wait, gate) = hold();
                busy.tell(wait).unwrap();
                gate.until_entered();
                let began = Instant::now();
                assert_eq!(receiver.recv_timeout(LONG / 2), Ok(1), "after {pause} ms");
                println!("after {pause} ms: reached in {:?}", began.elapsed());
                gate.open();
            }
        }
    });
}

#[test]
fn an_actor_is_not_held_up_by_a_handler_that_waits_for_an_answer() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let told = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
        let (keep, kept) = mpsc::channel::<Reply<()>>();
        let keeper = pool.spawn_fn(move |reply: Reply<()>, _| keep.send(reply).unwrap());
        let asker = pool.spawn_fn(move |(): (), _| {
            told.tell(1).unwrap();
            keeper.ask(|reply| reply).unwrap();
        });
        asker.tell(()).unwrap();
        assert_eq!(receiver.recv_timeout(LONG), Ok(1));
        kept.recv_timeout(LONG).unwrap().send(());
    });
}

#[test]
fn a_flooded_actor_does_not_starve_others() {
    within_limit(|| {
        /// Sends itself two messages for each one: it never comes to an end.
        fn flood(pool: &Pool) -> Address<u64> {
            let flooded = pool.spawn_fn(|number: u64, cx| {
                let own = cx.address();
                own.tell(number + 1).unwrap();
                if number < 1_000 {
                    own.tell(number + 1_000).unwrap();
                }
            });
            flooded.tell(0).unwrap();
            flooded
        }

        for threads in [1, 2] {
            let pool = Pool::with_threads(threads);
            let flooded: Vec<_> = (0..3).map(|_| flood(&pool)).collect();
            let others: Vec<_> = (0..50)
                .map(|_| pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1)))
                .collect();
            for _ in 0..4 {
                for other in &others {
                    assert_eq!(other.ask_timeout(|reply| reply, LONG), Ok(1));
                }
            }
            flooded.iter().for_each(Address::stop);
            until(|| flooded.iter().all(Address::is_stopped));
        }
    });
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// The core time of all threads of this process whose name begins so, in nanoseconds.
    fn core_time(name: &str) -> u64 {
        let mut time = 0;
        for task in std::fs::read_dir("/proc/self/task").unwrap() {
            let path = task.unwrap().path();
            let Ok(comm) = std::fs::read_to_string(path.join("comm")) else {
                continue;
            };
            if comm.starts_with(name) {
                let line = std::fs::read_to_string(path.join("schedstat")).unwrap();
                let first = line.split_whitespace().next().unwrap();
                time += first.parse::<u64>().unwrap();
            }
        }
        time
    }

    #[test]
    fn an_idle_pool_uses_no_core() {
        within_limit(|| {
            let pool = Pool::builder().threads(3).name("idlers").build().unwrap();
            let actors: Vec<_> = (0..100)
                .map(|_| pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1)))
                .collect();
            for actor in &actors {
                assert_eq!(actor.ask(|reply| reply), Ok(1));
            }
            // A look now and then would be in each attempt; what others do to the machine is not.
            let best = (0..10)
                .map(|_| {
                    let before = core_time("idlers");
                    std::thread::sleep(Duration::from_millis(300));
                    core_time("idlers") - before
                })
                .min()
                .unwrap();
            println!("an idle pool uses {best} ns of a core in 300 ms");
            assert!(best < 300_000, "{best} ns of a core in 300 ms");
        });
    }

    #[test]
    fn a_timer_that_is_far_away_uses_no_core() {
        within_limit(|| {
            let pool = Pool::with_threads(1);
            let actor = pool.spawn_fn(|(), _| {});
            let timer = actor.tell_after(Duration::from_secs(3_600), ());
            // The clock's thread has begun.
            until(|| core_time("tamtam-timer") > 0);
            let best = (0..10)
                .map(|_| {
                    let before = core_time("tamtam-timer");
                    std::thread::sleep(Duration::from_millis(50));
                    core_time("tamtam-timer") - before
                })
                .min()
                .unwrap();
            println!("a timer that is far away uses {best} ns of a core in 50 ms");
            assert!(best < 50_000, "{best} ns of a core in 50 ms");
            assert!(timer.cancel());
        });
    }

    #[test]
    fn a_pool_works_on_one_core() {
        within_limit(|| {
            std::thread::spawn(|| {
                let allowed = sched_getaffinity(None).expect("the cores of this thread");
                let first = (0..CpuSet::MAX_CPU)
                    .find(|core| allowed.is_set(*core))
                    .expect("at least one core");
                let mut one = CpuSet::new();
                one.set(first);
                sched_setaffinity(None, &one).expect("pinning this thread");
                for threads in [1, 2, 4] {
                    let pool = Pool::with_threads(threads);
                    let inner = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(1));
                    let outer = pool.spawn_fn(move |reply: Reply<u8>, _| {
                        reply.send(inner.ask(|reply| reply).unwrap());
                    });
                    for _ in 0..300 {
                        assert_eq!(outer.ask(|reply| reply), Ok(1));
                    }
                }
            })
            .join()
            .unwrap();
        });
    }
}
