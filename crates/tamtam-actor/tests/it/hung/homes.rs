//! Supervisors, pools and threads with an actor that hangs.

use super::*;

#[test]
fn a_supervisor_hears_of_it_as_of_a_panic() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let beside = Log::default();
        let mut tree = Supervision::new(Strategy::OneForAll).limit(2, LONG);
        let (own, other) = (log.clone(), beside.clone());
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let sibling = tree.child("beside", pool.spawner(), move |_| other.worker());
        let supervisor = tree.start(pool.spawner());
        assert_eq!((which(&worker), which(&sibling)), (0, 0));
        let mut gates = Vec::new();
        for round in 1..=2 {
            gates.push(hang(&worker));
            worker.tell(Job::Note(round)).unwrap();
            assert!(worker.replace());
            assert_eq!(which(&worker), round);
            until(|| supervisor.restarts() == u64::from(round));
            // With its sibling, and what waited is not lost.
            until(|| which(&sibling) == round);
        }
        assert_eq!(log.notes(), [(1, 1), (2, 2)]);
        assert_eq!(worker.lost(), 2);
        // Once more is too often.
        gates.push(hang(&worker));
        assert!(worker.replace());
        let reason = supervisor.end().wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 2, .. }),
            "{reason}"
        );
        assert!(reason.to_string().contains("not come back"), "{reason}");
        gates.into_iter().for_each(Gate::open);
    });
}

#[test]
fn a_supervisor_that_waits_for_a_hung_child_goes_on_when_that_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let mut tree = Supervision::new(Strategy::OneForAll).limit(10, LONG);
        let (own, other) = (log.clone(), Log::default());
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let sibling = tree.child("panics", pool.spawner(), move |_| other.worker());
        let supervisor = tree.start(pool.spawner());
        let gate = hang(&worker);
        // All are to begin again, and the one that hangs cannot pause.
        sibling.tell(Job::Panic).unwrap();
        until(|| supervisor.restarts() == 1);
        assert!(worker.replace());
        assert_eq!(which(&sibling), 1);
        assert_eq!(which(&worker), 1);
        assert_eq!(supervisor.restarts(), 1);
        gate.open();
        supervisor.shutdown();
        supervisor.end().wait();
    });
}

#[test]
fn a_tree_that_is_shut_down_leaves_a_hung_child_behind() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let own = log.clone();
        let mut tree = Supervision::new(Strategy::OneForOne).deadline(crate::support::SHORT);
        let worker = tree.child("hangs", pool.spawner().replaceable(), move |_| own.worker());
        let supervisor = tree.start(pool.spawner());
        let (wait, gate) = hold();
        let question = worker.ask_async(|reply| Job::HangAndAnswer(wait, reply));
        gate.until_entered();
        supervisor.shutdown();
        supervisor.end().wait();
        assert_eq!(block_on(question), Err(AskError::Hung(worker.id())));
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        assert_eq!(left_behind(&pool), 1);
        gate.open();
    });
}

#[test]
fn the_end_of_a_pool_does_not_wait_for_a_thread_that_was_left_behind() {
    within_limit(|| {
        let log = Log::default();
        for is_told in [false, true] {
            let pool = pool();
            let worker = log.spawn(pool.spawner().replaceable());
            let gate = hang(&worker);
            worker.tell(Job::Note(1)).unwrap();
            assert!(worker.replace());
            pool.wait_idle().unwrap();
            if is_told {
                let shutdown = pool.shutdown_timeout(LONG);
                assert!(shutdown.finished);
                assert_eq!((shutdown.at_work, shutdown.left_behind), (0, 1));
            } else {
                drop(pool);
            }
            assert_eq!(worker.lost(), 1);
            let before = log.drops.count();
            gate.open();
            // It comes back to a pool that has ended.
            until(|| log.drops.count() > before);
        }
        assert_eq!(log.notes().len(), 2);
    });
}

#[test]
fn a_pool_that_ends_beside_a_hung_handler_ends_when_that_is_replaced() {
    within_limit(|| {
        let log = Log::default();
        let pool = pool();
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        let (ended, has_ended) = mpsc::channel();
        let ending = thread::spawn(move || {
            drop(pool);
            ended.send(()).unwrap();
        });
        assert!(has_ended.recv_timeout(crate::support::SHORT).is_err());
        assert!(worker.replace());
        ending.join().unwrap();
        assert_eq!(log.notes(), [(1, 1)]);
        gate.open();
        until(|| log.drops.count() == 2);
    });
}

#[test]
fn a_pool_that_is_ended_at_its_deadline_says_what_hangs() {
    within_limit(|| {
        let log = Log::default();
        let pool = pool();
        let (hangs, left) = (
            log.spawn(pool.spawner().replaceable()),
            log.spawn(pool.spawner().replaceable()),
        );
        let (gate, other) = (hang(&hangs), hang(&left));
        hangs.tell(Job::Note(1)).unwrap();
        assert!(left.replace());
        let shutdown = pool.shutdown_timeout(crate::support::SHORT);
        assert!(!shutdown.finished);
        // A thread that has not come to leaving counts, too.
        assert!((1..=2).contains(&shutdown.at_work));
        assert_eq!(shutdown.left_behind, 1);
        assert_eq!(hangs.end().wait().reason, EndReason::HomeEnded);
        assert_eq!(hangs.lost(), 1);
        gate.open();
        other.open();
        until(|| log.drops.count() >= 2);
    });
}

#[test]
fn threads_that_were_left_behind_keep_no_place_but_there_is_a_limit_for_them() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(2)
            .build()
            .unwrap();
        let log = Log::default();
        let workers: Vec<_> = (0..3)
            .map(|_| log.spawn(pool.spawner().replaceable()))
            .collect();
        let gates: Vec<Gate> = workers[..2].iter().map(hang).collect();
        // All threads hang: the third one has none, until another is left behind.
        let waits = workers[2].ask_async(Job::Which);
        assert!(workers[0].replace());
        assert!(block_on(waits).is_ok());
        assert!(workers[1].replace());
        assert!(
            workers
                .iter()
                .all(|worker| worker.ask_timeout(Job::Which, LONG).is_ok())
        );
        // There are as many as there may be.
        let third = hang(&workers[2]);
        assert!(!workers[2].replace());
        assert_eq!(left_behind(&pool), 2);
        assert_eq!(workers[2].lost(), 0);
        for gate in gates {
            gate.open();
        }
        until(|| left_behind(&pool) < 2);
        assert!(workers[2].replace());
        third.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.drops.count(), 3);
    });
}

/// A handler that hangs because it waits for another actor counts as one that waits: not any more, once it is left behind.
#[test]
fn a_thread_that_waits_is_left_behind_like_any_other() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let (kept, replies) = mpsc::channel();
        let silent = pool.spawn_fn(move |reply: Reply<u32>, _| kept.send(reply).unwrap());
        let asker = {
            let silent = silent.clone();
            move |reply: Reply<bool>| reply.send(silent.ask(|reply| reply).is_ok())
        };
        struct Asks<F>(F);

        impl<F: Fn(Reply<bool>) + Send + 'static> Actor for Asks<F> {
            type Message = Option<Reply<bool>>;

            fn handle(&mut self, reply: Option<Reply<bool>>, _: &mut Context<Self>) {
                if let Some(reply) = reply {
                    (self.0)(reply);
                }
            }
        }

        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Asks(asker.clone()));
        let answer = actor.ask_async(Some);
        let reply = replies.recv_timeout(LONG).unwrap();
        assert!(actor.replace());
        assert_eq!(block_on(answer), Err(AskError::Hung(actor.id())));
        // The limit of one thread holds for those that are left.
        let echo = (pool.spawner().blocking()).spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        assert_eq!(echo.ask_timeout(|reply| reply, LONG), Ok(1));
        assert!(pool.snapshot().blocking_threads <= 1);
        reply.send(1);
        until(|| left_behind(&pool) == 0);
        assert_eq!(echo.ask_timeout(|reply| reply, LONG), Ok(1));
    });
}

/// One that may block asks one that can be replaced, beyond the limit of threads: it has its turn as others have.
#[test]
fn one_that_is_asked_by_the_last_thread_has_a_turn_beyond_the_limit() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .blocking_threads(1)
            .build()
            .unwrap();
        let worker = Log::default().spawn(pool.spawner().replaceable());
        let asker =
            pool.spawner()
                .blocking()
                .spawn_fn(move |reply: Reply<Result<u32, AskError>>, _| {
                    reply.send(worker.ask(Job::Which))
                });
        assert_eq!(asker.ask_timeout(|reply| reply, LONG), Ok(Ok(0)));
    });
}
