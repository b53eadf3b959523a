//! What is replaced, when, and by what.

use super::*;

#[test]
fn a_handler_that_comes_back_does_no_harm_and_its_value_goes_on_its_thread() {
    within_limit(|| {
        let ends: [fn(Hold) -> Job; 3] = [Job::Hang, Job::HangAndStop, Job::HangAndPanic];
        for end in ends {
            let (pool, log) = (pool(), Log::default());
            let worker = log.spawn(pool.spawner().replaceable());
            let (wait, gate) = hold();
            worker.tell(end(wait)).unwrap();
            gate.until_entered();
            assert!(worker.replace());
            assert_eq!(which(&worker), 1);
            assert_eq!(log.drops.count(), 0);
            gate.open();
            until(|| left_behind(&pool) == 0);
            // The value was dropped before the thread was back.
            assert_eq!(log.drops.count(), 1);
            assert_eq!(
                *log.dropped_on.lock().unwrap(),
                *log.hung_on.lock().unwrap()
            );
            assert_eq!(log.stopped.load(Ordering::SeqCst), 0);
            assert_eq!(which(&worker), 1);
            assert_eq!(worker.lost(), 1);
            drop(worker);
            drop(pool);
            assert_eq!(log.drops.count(), 2);
            assert_eq!(log.stopped.load(Ordering::SeqCst), 1);
        }
    });
}

/// What a replaced instance would have gone on with is dropped.
#[test]
fn nothing_is_gone_on_with_by_an_instance_that_was_replaced() {
    struct Asks(Address<Reply<u32>>, Arc<AtomicU32>);

    impl Actor for Asks {
        type Message = Hold;

        fn handle(&mut self, gate: Hold, cx: &mut Context<Self>) {
            cx.ask(
                &self.0,
                |reply| reply,
                |this, _, _| {
                    this.1.fetch_add(1, Ordering::SeqCst);
                },
            );
            cx.after(Duration::from_millis(1), |this, _| {
                this.1.fetch_add(1, Ordering::SeqCst);
            });
            gate.wait();
        }
    }

    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let (answered, was_answered) = mpsc::channel();
        let answerer = pool.spawn_fn(move |reply: Reply<u32>, _| {
            reply.send(1);
            answered.send(()).unwrap();
        });
        let count = Arc::new(AtomicU32::new(0));
        let own = Arc::clone(&count);
        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Asks(answerer.clone(), Arc::clone(&own)));
        let (wait, gate) = hold();
        actor.tell(wait).unwrap();
        gate.until_entered();
        was_answered.recv_timeout(LONG).unwrap();
        time.advance(Duration::from_millis(1));
        assert!(actor.replace());
        gate.open();
        until(|| left_behind(&pool) == 0);
        let end = actor.end();
        // Its timer was its own: it does not keep the actor.
        drop(actor);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
        assert_eq!(count.load(Ordering::SeqCst), 0);
    });
}

#[test]
fn one_that_does_not_hang_can_be_replaced_and_loses_nothing() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        for number in 0..100 {
            assert_eq!(which(&worker), number);
            // Until then the handler that has answered may not have returned.
            pool.wait_idle().unwrap();
            assert!(worker.replace());
        }
        assert_eq!(which(&worker), 100);
        assert_eq!(worker.lost(), 0);
        until(|| log.drops.count() == 100 && left_behind(&pool) == 0);
    });
}

#[test]
fn one_that_hangs_again_is_replaced_again() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gates: Vec<Gate> = (1..=5)
            .map(|times| {
                let gate = hang(&worker);
                assert!(worker.replace());
                assert_eq!(left_behind(&pool), times);
                gate
            })
            .collect();
        assert_eq!((which(&worker), worker.lost()), (5, 5));
        for (back, gate) in gates.into_iter().enumerate() {
            gate.open();
            until(|| left_behind(&pool) == 4 - back);
        }
        assert_eq!(log.drops.count(), 5);
    });
}

#[test]
fn who_replaces_at_the_same_time_replaces_one() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        // Beside another replacement of the idle successor, it may be one more each.
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(worker.replace()));
            }
        });
        // One that was replaced while it began comes back by itself.
        until(|| left_behind(&pool) == 1);
        assert_eq!(worker.lost(), 1);
        assert!((1..=4).contains(&which(&worker)));
        gate.open();
    });
}

#[test]
fn an_actor_that_is_not_replaceable_is_not_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let plain = pool.spawn_blocking(log.worker());
        let gate = hang(&plain);
        assert!(!plain.replace());
        gate.open();
        let worker = log.spawn(pool.spawner().replaceable());
        worker.stop();
        worker.end().wait();
        assert!(!worker.replace());
    });
}

#[test]
fn a_turn_that_lasts_too_long_is_replaced_by_the_time_of_its_home() {
    within_limit(|| {
        let time = Time::manual();
        let (pool, log) = (
            Pool::builder()
                .threads(1)
                .time(time.clone())
                .build()
                .unwrap(),
            Log::default(),
        );
        let limit = Duration::from_secs(10);
        let worker = log.spawn(pool.spawner().replaceable().replace_after(limit));
        assert_eq!(which(&worker), 0);
        // A turn that began later than the timer was set for, and not that which has answered.
        pool.wait_idle().unwrap();
        time.advance(Duration::from_secs(6));
        let gate = hang(&worker);
        let waits = worker.ask_async(Job::Which);
        time.advance(Duration::from_secs(9));
        assert_eq!(left_behind(&pool), 0);
        time.advance(Duration::from_secs(1));
        assert_eq!(block_on(waits), Ok(1));
        assert_eq!(left_behind(&pool), 1);
        // Its successor is looked after, too.
        let other = hang(&worker);
        time.advance(Duration::from_secs(40));
        assert_eq!(which(&worker), 2);
        gate.open();
        other.open();
        until(|| left_behind(&pool) == 0);
        drop(worker);
        until(|| log.drops.count() == 3);
        until(|| time.timers() == 0);
    });
}

#[test]
fn a_turn_that_lasts_too_long_is_replaced_by_the_systems_time() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        // Not so short that a turn which is only kept from a processor takes as long.
        let limit = Duration::from_millis(500);
        let worker = log.spawn(pool.spawner().replaceable().replace_after(limit));
        let (wait, gate) = hold();
        let answer = worker.ask(|reply| Job::HangAndAnswer(wait, reply));
        assert_eq!(answer, Err(AskError::Hung(worker.id())));
        assert_eq!(left_behind(&pool), 1);
        gate.open();
    });
}

#[test]
fn one_that_hangs_at_birth_or_at_its_end_is_replaced() {
    struct Hangs {
        at_birth: Option<Hold>,
        at_end: Option<Hold>,
        number: u32,
    }

    impl Actor for Hangs {
        type Message = Reply<u32>;

        fn started(&mut self, _: &mut Context<Self>) {
            self.at_birth.take().into_iter().for_each(Hold::wait);
        }

        fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
            reply.send(self.number);
        }

        fn stopped(&mut self, _: &mut Context<Self>) {
            self.at_end.take().into_iter().for_each(Hold::wait);
        }
    }

    within_limit(|| {
        let pool = pool();
        let ((born, birth), (ended, end)) = (hold(), hold());
        let (mut at_birth, mut at_end, mut number) = (Some(born), Some(ended), 0);
        let actor = pool.spawner().replaceable().spawn_with(move |_| {
            number += 1;
            Hangs {
                at_birth: at_birth.take(),
                // The second one.
                at_end: (number == 2).then(|| at_end.take()).flatten(),
                number,
            }
        });
        birth.until_entered();
        let waits = actor.ask_async(|reply| reply);
        assert!(actor.replace());
        assert_eq!(block_on(waits), Ok(2));
        actor.stop();
        end.until_entered();
        let ending = actor.end();
        assert!(actor.replace());
        assert_eq!(ending.wait().reason, EndReason::Stopped);
        assert_eq!(left_behind(&pool), 2);
        birth.open();
        end.open();
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn one_whose_birth_does_not_come_back_cannot_be_made_again() {
    within_limit(|| {
        let pool = pool();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let log = Log::default();
        let own = log.clone();
        let worker = pool.spawner().replaceable().spawn_with(move |_| {
            wait.take().into_iter().for_each(Hold::wait);
            own.worker()
        });
        gate.until_entered();
        assert!(worker.replace());
        let EndReason::Panicked(message) = worker.end().wait().reason else {
            panic!("it ended otherwise");
        };
        assert!(
            message.contains("not come back from its birth"),
            "{message}"
        );
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.drops.count(), 1);
    });
}

#[test]
fn to_be_stopped_waits_for_the_handler_unless_it_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        worker.stop();
        let mut end = worker.end();
        assert!(end.wait_timeout(crate::support::SHORT).is_none());
        assert!(worker.replace());
        // No other instance follows.
        assert_eq!(end.wait().reason, EndReason::Stopped);
        assert_eq!(worker.lost(), 2);
        assert!(worker.is_stopped() && !worker.replace());
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(log.instances.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn one_that_finishes_handles_what_it_has_accepted_also_if_it_is_replaced() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let gate = hang(&worker);
        for number in 0..100 {
            worker.tell(Job::Note(number)).unwrap();
        }
        worker.finish();
        until(|| worker.tell(Job::Note(1_000)).is_err());
        assert!(worker.replace());
        assert_eq!(worker.end().wait().reason, EndReason::Stopped);
        let notes: Vec<u32> = log.notes().into_iter().map(|(_, number)| number).collect();
        // Those that came while it was told to finish are handled or refused.
        assert!(notes.len() >= 100 && notes[..100].iter().copied().eq(0..100));
        assert_eq!(worker.lost(), 1);
        assert_eq!(log.stopped.load(Ordering::SeqCst), 1);
        gate.open();
    });
}

#[test]
fn without_addresses_it_ends_when_it_has_handled_what_it_was_sent() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        for is_replaced in [false, true] {
            let worker = log.spawn(pool.spawner().replaceable());
            let gate = hang(&worker);
            let before = log.notes().len();
            for number in 0..100 {
                worker.tell(Job::Note(number)).unwrap();
            }
            if is_replaced {
                assert!(worker.replace());
            }
            let end = worker.end();
            drop(worker);
            if !is_replaced {
                gate.open();
            }
            assert_eq!(end.wait().reason, EndReason::NoAddresses);
            assert_eq!(log.notes().len(), before + 100);
        }
    });
}

/// An actor's own address, its number and its name are those that others know.
#[test]
fn an_instance_is_the_actor_to_itself_and_to_others() {
    struct Own;

    enum Ask {
        Address(Reply<Address<Ask>>),
        Id(Reply<(tamtam_actor::ActorId, Option<Arc<str>>)>),
        Itself(Reply<bool>),
        Hang(Hold),
        Told(Reply<()>),
    }

    impl Actor for Own {
        type Message = Ask;

        fn handle(&mut self, ask: Ask, cx: &mut Context<Self>) {
            match ask {
                Ask::Address(reply) => reply.send(cx.address()),
                Ask::Id(reply) => reply.send((cx.id(), cx.name())),
                Ask::Itself(reply) => {
                    let asked = cx.address().ask(Ask::Told);
                    reply.send(matches!(asked, Err(AskError::Cycle(_))));
                }
                Ask::Hang(gate) => gate.wait(),
                Ask::Told(reply) => reply.send(()),
            }
        }
    }

    within_limit(|| {
        let pool = pool();
        let actor = pool
            .spawner()
            .name("self")
            .replaceable()
            .spawn_with(|_| Own);
        let own = actor.ask(Ask::Address).unwrap();
        assert_eq!(own.id(), actor.id());
        assert_eq!(
            actor.ask(Ask::Id),
            Ok((actor.id(), Some(Arc::from("self"))))
        );
        assert_eq!(actor.name().as_deref(), Some("self"));
        assert_eq!(actor.ask(Ask::Itself), Ok(true));
        // An address from one instance is good for the next.
        let (wait, gate) = hold();
        own.tell(Ask::Hang(wait)).unwrap();
        gate.until_entered();
        assert!(own.replace());
        assert_eq!(own.ask(Ask::Told), Ok(()));
        assert_eq!(actor.downgrade().upgrade().unwrap().id(), own.id());
        gate.open();
    });
}

#[test]
fn a_panic_ends_it_or_begins_it_again_as_its_restart_says() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell(Job::Panic).unwrap();
        assert!(worker.end().wait().reason.is_abnormal());
        assert_eq!(worker.lost(), 1);

        let own = log.clone();
        let restart =
            Restart::on_panic()
                .limit(2, LONG)
                .backoff(Duration::ZERO, 1.0, Duration::ZERO);
        let worker =
            (pool.spawner().replaceable().restart(restart)).spawn_with(move |_| own.worker());
        let first = which(&worker);
        worker.tell(Job::Panic).unwrap();
        assert_eq!(which(&worker), first + 1);
        let gate = hang(&worker);
        assert!(worker.replace());
        assert_eq!(which(&worker), first + 2);
        worker.tell(Job::Panic).unwrap();
        assert_eq!(which(&worker), first + 3);
        // The limit is of all instances together, and to be replaced is no restart.
        worker.tell(Job::Panic).unwrap();
        let reason = worker.end().wait().reason;
        assert!(
            matches!(reason, EndReason::GaveUp { restarts: 2, .. }),
            "{reason}"
        );
        assert_eq!(worker.lost(), 4);
        gate.open();
    });
}

#[test]
fn it_is_observed_as_one_actor() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        for number in 0..10 {
            worker.tell(Job::Note(number)).unwrap();
        }
        let gate = hang(&worker);
        let look = || {
            let mut actors = pool.busiest(10, Order::Handled);
            assert_eq!(actors.len(), 1);
            actors.remove(0)
        };
        let seen = look();
        assert_eq!(
            (seen.id, seen.name.as_deref()),
            (worker.id(), Some("miner"))
        );
        assert!(seen.type_name.ends_with("Worker") && seen.message_type.ends_with("Job"));
        assert!(seen.may_block);
        assert_eq!((seen.handled, seen.restarts), (11, 0));
        assert!(seen.at_work.is_some());
        assert!(worker.replace());
        which(&worker);
        until(|| look().at_work.is_none());
        let seen = look();
        assert_eq!((seen.handled, seen.restarts, seen.lost), (12, 1, 1));
        let turns = seen.turns;
        gate.open();
        until(|| left_behind(&pool) == 0);
        // What the old instance did after that is not counted as this actor's.
        let seen = look();
        assert_eq!((seen.turns, seen.at_work), (turns, None));
        let totals = pool.snapshot().actors.unwrap();
        assert_eq!((totals.born, totals.living, totals.queued), (1, 1, 0));
    });
}
