//! How a pool that is dropped ends, and what becomes of its actors and of those who wait for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use crate::support::{Drops, Hold, LONG, Soak, Token, hold, until, within, within_limit};
use tamtam_actor::{Actor, Address, Context, Pool, Reply};

#[test]
fn a_pool_that_is_dropped_handles_what_is_queued() {
    within_limit(|| {
        for threads in [1, 2, 3] {
            let pool = Pool::with_threads(threads);
            let handled = Arc::new(AtomicU64::new(0));
            let (wait, gate) = hold();
            let holder = pool.spawn_fn(|hold: Hold, _| hold.wait());
            holder.tell(wait).unwrap();
            gate.until_entered();
            let last = pool.spawn_fn({
                let handled = Arc::clone(&handled);
                move |_: u64, _| {
                    handled.fetch_add(1, Ordering::Relaxed);
                }
            });
            let actors: Vec<_> = (0..300)
                .map(|_| {
                    let last = last.clone();
                    pool.spawn_fn(move |number: u64, _| last.tell(number).unwrap())
                })
                .collect();
            for number in 0..20 {
                for actor in &actors {
                    actor.tell(number).unwrap();
                }
            }
            drop(actors);
            thread::scope(|scope| {
                scope.spawn(move || drop(pool));
                gate.open();
            });
            assert_eq!(handled.load(Ordering::Relaxed), 6_000);
            assert_eq!(last.lost(), 0);
        }
    });
}

#[test]
fn a_pool_that_is_dropped_waits_for_those_who_stand_in() {
    within_limit(|| {
        for _ in Soak::rounds(100) {
            let pool = Pool::with_threads(1);
            let done = Arc::new(AtomicU64::new(0));
            let inner = pool.spawn_fn({
                let done = Arc::clone(&done);
                move |reply: Option<Reply<()>>, cx| match reply {
                    Some(reply) => {
                        // More to do, for the one who stands in.
                        let _ = cx.address().tell(None);
                        reply.send(());
                    }
                    None => {
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
            let (wait, gate) = hold();
            let outer = pool.spawn_fn(move |hold: Hold, _| {
                hold.wait();
                inner.ask(Some).unwrap();
            });
            outer.tell(wait).unwrap();
            gate.until_entered();
            thread::scope(|scope| {
                scope.spawn(move || drop(pool));
                gate.open();
            });
            assert_eq!(done.load(Ordering::SeqCst), 1);
        }
    });
}

#[test]
fn a_chain_of_actors_on_a_dropped_pool_goes_without_deep_recursion() {
    within_limit(|| {
        /// Goes on to the next one in its drop.
        struct Link {
            _next: Option<Address<()>>,
            _token: Token,
        }

        impl Actor for Link {
            type Message = ();
            fn handle(&mut self, (): (), _: &mut Context<Self>) {}
        }

        let drops = Drops::default();
        let pool = Pool::with_threads(1);
        let mut first = None;
        for _ in 0..100_000 {
            first = Some(pool.spawn(Link {
                _next: first.take(),
                _token: drops.token(),
            }));
        }
        drop(pool);
        drop(first);
        assert_eq!(drops.count(), 100_000);
    });
}

#[test]
fn a_pool_may_be_dropped_by_one_of_its_own_actors() {
    within_limit(|| {
        for threads in [1, 2] {
            let pool = Pool::builder()
                .threads(threads)
                .name("own-goal")
                .build()
                .unwrap();
            let handled = Arc::new(AtomicU64::new(0));
            let (wait, gate) = hold();
            let (over, is_over) = mpsc::channel::<()>();
            let mut kept = None;
            let owner = pool.spawn_fn({
                let handled = Arc::clone(&handled);
                move |message: Option<(Pool, Hold)>, _| match message {
                    Some((pool, hold)) => {
                        hold.wait();
                        drop(pool);
                    }
                    None => {
                        let _over = &over;
                        handled.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
            let weak = owner.downgrade();
            kept.replace(owner);
            let owner = kept.take().unwrap();
            owner.tell(Some((pool, wait))).unwrap();
            gate.until_entered();
            for _ in 0..100 {
                owner.tell(None).unwrap();
            }
            drop(owner);
            gate.open();
            // The actor goes when it has handled what it was sent.
            assert!(is_over.recv_timeout(LONG).is_err());
            assert_eq!(handled.load(Ordering::SeqCst), 100);
            assert!(weak.upgrade().is_none());
        }
        #[cfg(target_os = "linux")]
        until(|| {
            !std::fs::read_dir("/proc/self/task").unwrap().any(|task| {
                let name = task.unwrap().path().join("comm");
                std::fs::read_to_string(name).is_ok_and(|name| name.starts_with("own-goal"))
            })
        });
    });
}

/// Threads send to actors of a pool that is being dropped; the actors send on in their drop.
#[test]
fn a_pool_that_ends_beside_senders_forgets_nobody() {
    /// Asks the next one when it goes.
    struct Heir {
        next: Option<Address<Reply<()>>>,
        answered: Arc<AtomicU64>,
    }

    impl Heir {
        fn reply(answered: &Arc<AtomicU64>) -> Reply<()> {
            let answered = Arc::clone(answered);
            Reply::to(move |_| {
                answered.fetch_add(1, Ordering::SeqCst);
            })
        }
    }

    impl Actor for Heir {
        type Message = Reply<()>;

        fn handle(&mut self, reply: Reply<()>, _: &mut Context<Self>) {
            reply.send(());
        }
    }

    impl Drop for Heir {
        fn drop(&mut self) {
            if let Some(next) = &self.next {
                let _ = next.tell(Heir::reply(&self.answered));
            }
        }
    }

    let rounds = Soak::rounds(if cfg!(debug_assertions) { 300 } else { 1_500 });
    within(rounds.limit(), move || {
        for round in rounds {
            let pool = Pool::with_threads(1 + round % 2);
            let answered = Arc::new(AtomicU64::new(0));
            let pairs: Vec<_> = (0..8)
                .map(|_| {
                    let last = pool.spawn(Heir {
                        next: None,
                        answered: Arc::clone(&answered),
                    });
                    let first = pool.spawn(Heir {
                        next: Some(last.clone()),
                        answered: Arc::clone(&answered),
                    });
                    (first, last)
                })
                .collect();
            let asked = AtomicU64::new(8);
            thread::scope(|scope| {
                for number in 0..2 {
                    let (pairs, asked, answered) = (&pairs, &asked, &answered);
                    scope.spawn(move || {
                        for _ in 0..20 {
                            for (first, _) in pairs.iter().skip(4 * number).take(4) {
                                asked.fetch_add(1, Ordering::SeqCst);
                                let _ = first.tell(Heir::reply(answered));
                            }
                        }
                    });
                }
                scope.spawn(move || drop(pool));
            });
            // Now all first ones stop, if they have not yet, and ask the last ones.
            for (first, _) in &pairs {
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = first.tell(Heir::reply(&answered));
                assert!(first.is_stopped());
            }
            let asked = asked.into_inner();
            until(|| answered.load(Ordering::SeqCst) == asked);
            drop(pairs);
        }
    });
}

#[test]
fn a_pool_whose_name_has_a_zero_byte_is_an_error() {
    let built = Pool::builder().name("a\0b").build();
    assert_eq!(
        built.err().map(|error| error.kind()),
        Some(std::io::ErrorKind::InvalidInput)
    );
}

#[test]
fn handlers_that_block_have_as_many_threads_as_there_are_at_work() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let meet = Arc::new(std::sync::Barrier::new(3));
        let actors = [(); 3].map(|()| {
            let meet = Arc::clone(&meet);
            pool.spawn_blocking(Meets(meet))
        });
        // One thread is there, and has nothing to do.
        assert_eq!(actors[0].ask(|reply| (false, reply)), Ok(()));
        let (met, all) = mpsc::channel();
        for actor in &actors {
            let met = met.clone();
            let reply = Reply::to(move |answer| met.send(answer).unwrap());
            actor.tell((true, reply)).unwrap();
        }
        for _ in &actors {
            assert_eq!(all.recv_timeout(LONG), Ok(Ok(())));
        }
    });
}

/// Waits in its handler for the others, if it is told to.
struct Meets(Arc<std::sync::Barrier>);

impl Actor for Meets {
    type Message = (bool, Reply<()>);

    fn handle(&mut self, (meets, reply): Self::Message, _: &mut Context<Self>) {
        if meets {
            self.0.wait();
        }
        reply.send(());
    }
}
