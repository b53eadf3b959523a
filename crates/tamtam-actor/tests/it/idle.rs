//! Waiting until a pool is idle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{LONG, SHORT, block_on, hold, within_limit};
use tamtam_actor::{Actor, Address, Context, Pool, WaitIdleError};

/// Actors in a row, each of which passes on what it gets until that was handled so often as it says; every third one may
/// block, so that what goes along the row leaves the pool's threads and comes back.
fn row(pool: &Pool, length: usize, handled: &Arc<AtomicU64>) -> Address<u32> {
    let mut next: Option<Address<u32>> = None;
    for place in 0..length {
        let (after, handled) = (next.take(), Arc::clone(handled));
        let spawner = match place % 3 {
            0 => pool.spawner().blocking(),
            _ => pool.spawner(),
        };
        next = Some(spawner.spawn_fn(move |left: u32, _| {
            if left != 0
                && let Some(after) = &after
            {
                after.tell(left - 1).unwrap();
            }
            handled.fetch_add(1, Ordering::Relaxed);
        }));
    }
    next.expect("a row has actors")
}

fn all_is_handled(threads: usize, rounds: u64) {
    within_limit(move || {
        let pool = Pool::with_threads(threads);
        let handled = Arc::new(AtomicU64::new(0));
        let rows: Vec<_> = (0..4).map(|_| row(&pool, 10, &handled)).collect();
        for round in 1..=rounds {
            for row in &rows {
                row.tell(9).unwrap();
            }
            if round % 2 == 0 {
                pool.wait_idle().unwrap();
            } else {
                block_on(pool.wait_idle_async()).unwrap();
            }
            assert_eq!(handled.load(Ordering::Relaxed), round * 40);
        }
    });
}

#[test]
fn what_was_sent_and_what_came_of_it_is_handled_when_a_pool_is_idle() {
    all_is_handled(1, 200);
    all_is_handled(2, 300);
    all_is_handled(4, 300);
}

#[test]
fn many_wait_at_once_beside_those_who_send() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let handled = Arc::new(AtomicU64::new(0));
        let first = row(&pool, 4, &handled);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        // Another thread may be in the middle of its own `tell`, and owe this message its turn, too.
                        first.tell(0).unwrap();
                        pool.wait_idle().unwrap();
                    }
                });
            }
        });
        pool.wait_idle().unwrap();
        assert_eq!(handled.load(Ordering::Relaxed), 400);
    });
}

#[test]
fn a_handler_at_work_keeps_a_pool_from_being_idle_also_one_that_may_block() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for spawner in [pool.spawner(), pool.spawner().blocking()] {
            let (wait, gate) = hold();
            let mut wait = Some(wait);
            let actor = spawner.spawn_fn(move |(): (), _| wait.take().unwrap().wait());
            pool.wait_idle().unwrap();
            actor.tell(()).unwrap();
            gate.until_entered();
            assert_eq!(pool.wait_idle_timeout(SHORT), Err(WaitIdleError::TimedOut));
            let idle = pool.wait_idle_async();
            gate.open();
            block_on(idle).unwrap();
            pool.wait_idle_timeout(LONG).unwrap();
        }
    });
}

#[test]
fn in_a_handler_of_the_pool_itself_it_is_an_error() {
    within_limit(|| {
        let pool = Arc::new(Pool::with_threads(1));
        for spawner in [pool.spawner(), pool.spawner().blocking()] {
            let (sender, results) = mpsc::channel();
            let own = Arc::clone(&pool);
            let actor = spawner.spawn_fn(move |(): (), _| {
                sender.send(own.wait_idle()).unwrap();
                sender.send(own.wait_idle_timeout(LONG)).unwrap();
            });
            actor.tell(()).unwrap();
            for _ in 0..2 {
                let result = results.recv_timeout(LONG).unwrap();
                assert_eq!(result, Err(WaitIdleError::OwnThread));
            }
            // What the handler owns of the pool goes here, not there.
            actor.stop();
            actor.end().wait();
        }
    });
}

#[test]
fn an_actor_pipes_the_wait_for_its_own_pool() {
    struct Loader(Arc<Pool>, mpsc::Sender<Result<(), WaitIdleError>>);

    impl Actor for Loader {
        type Message = Address<u32>;

        fn handle(&mut self, first: Address<u32>, cx: &mut Context<Self>) {
            first.tell(9).unwrap();
            let idle = self.0.wait_idle_async();
            cx.pipe(idle, |this, result, _| this.1.send(result).unwrap());
        }
    }

    within_limit(|| {
        // The only thread of a pool is also the one that finds it idle, and by that makes the loader due.
        for threads in [1, 2] {
            let pool = Arc::new(Pool::with_threads(threads));
            let handled = Arc::new(AtomicU64::new(0));
            let first = row(&pool, 10, &handled);
            let (sender, results) = mpsc::channel();
            let loader = pool.spawn(Loader(Arc::clone(&pool), sender));
            loader.tell(first).unwrap();
            assert_eq!(results.recv_timeout(LONG).unwrap(), Ok(()));
            assert_eq!(handled.load(Ordering::Relaxed), 10);
            loader.stop();
            loader.end().wait();
        }
    });
}

#[test]
fn a_handler_of_another_pool_waits_and_a_thread_stands_in() {
    within_limit(|| {
        let (near, far) = (Pool::with_threads(1), Arc::new(Pool::with_threads(1)));
        let (sender, numbers) = mpsc::channel();
        let helper = near.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
        let (own, from_far) = (Arc::clone(&far), helper.clone());
        let worker = far.spawn_fn(move |(): (), _| from_far.tell(1).unwrap());
        let waiter = near.spawn_fn(move |(): (), _| {
            worker.tell(()).unwrap();
            own.wait_idle().unwrap();
            helper.tell(2).unwrap();
        });
        waiter.tell(()).unwrap();
        let got: Vec<_> = (0..2)
            .map(|_| numbers.recv_timeout(LONG).unwrap())
            .collect();
        assert_eq!(got, [1, 2]);
        waiter.stop();
        waiter.end().wait();
    });
}

#[test]
fn timers_that_are_pending_are_not_waited_for() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let actor = pool.spawn_fn(|(): (), _| {});
        let timer = actor.tell_after(Duration::from_secs(3_600), ());
        pool.wait_idle().unwrap();
        timer.cancel();
    });
}

#[test]
fn a_wait_that_is_left_over_ends_with_its_pool() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let actor = pool.spawn_fn(move |(): (), _| wait.take().unwrap().wait());
        actor.tell(()).unwrap();
        gate.until_entered();
        let idle = pool.wait_idle_async();
        drop(pool.wait_idle_async());
        let shutdown = pool.shutdown_timeout(SHORT);
        assert!(!shutdown.finished);
        gate.open();
        assert_eq!(block_on(idle), Ok(()));

        let pool = Pool::with_threads(1);
        let idle = pool.wait_idle_async();
        pool.shutdown();
        assert_eq!(block_on(idle), Ok(()));
    });
}
