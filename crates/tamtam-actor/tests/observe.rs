//! What is seen of pools and actors, and that it is right.
//!
//! A program of its own: it observes, and has observed, all pools and actors of the process.

mod support;

use std::sync::mpsc;
use std::time::Duration;

use support::{Answers, Hold, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::observe::{self, HomeKind, Order};
use tamtam_actor::{
    Actor, Address, Context, Frame, Overflow, Pool, Reply, Restart, Strategy, Supervision, Worker,
};

struct Clerk;

enum Work {
    Count,
    Hold(Hold),
    Read(Reply<()>),
    Panic,
}

impl Actor for Clerk {
    type Message = Work;

    fn handle(&mut self, message: Work, _: &mut Context<Self>) {
        match message {
            Work::Count => {}
            Work::Hold(hold) => hold.wait(),
            Work::Read(reply) => reply.send(()),
            Work::Panic => panic_on_purpose(),
        }
    }
}

fn observed(threads: usize) -> Pool {
    Pool::builder()
        .threads(threads)
        .observe(true)
        .build()
        .unwrap()
}

fn count(clerk: &Address<Work>, messages: usize) {
    for _ in 0..messages {
        assert!(clerk.tell(Work::Count).is_ok());
    }
}

#[test]
fn each_message_is_counted_once() {
    within_limit(|| {
        let pool = observed(2);
        let clerks: Vec<_> = (0..3).map(|_| pool.spawn(Clerk)).collect();
        let answers = Answers::new();
        for (clerk, messages) in clerks.iter().zip([10, 1_000, 100]) {
            // All are there before it goes on: a turn that finds a message half sent ends, and is one of its own.
            let (wait, gate) = hold();
            assert!(clerk.tell(Work::Hold(wait)).is_ok());
            gate.until_entered();
            count(clerk, messages);
            assert!(clerk.tell(Work::Read(answers.reply())).is_ok());
            gate.open();
            answers.next().unwrap();
        }
        let busiest = pool.busiest(2, Order::Handled);
        assert_eq!(busiest.len(), 2);
        assert_eq!(busiest[0].id, clerks[1].id());
        assert_eq!((busiest[0].handled, busiest[1].handled), (1_002, 102));
        assert_eq!((busiest[0].queued, busiest[0].lost), (0, 0));
        assert!(busiest[0].type_name.ends_with("Clerk"), "{busiest:?}");
        assert!(busiest[0].message_type.ends_with("Work"), "{busiest:?}");
        assert_eq!(busiest[0].home, "pool");
        // A turn is counted at its end, which may be after the answer.
        until(|| pool.busiest(1, Order::Handled)[0].at_work.is_none());
        let clerk = &pool.busiest(1, Order::Handled)[0];
        assert!((1..=1_002).contains(&clerk.turns), "{clerk:?}");
        assert!(clerk.longest_turn <= clerk.turn_time, "{clerk:?}");
        let totals = pool.snapshot().actors.unwrap();
        assert_eq!((totals.living, totals.born, totals.handled), (3, 3, 1_116));
    });
}

#[test]
fn what_waits_in_a_mailbox_is_seen_while_a_handler_is_kept() {
    within_limit(|| {
        let pool = observed(1);
        let clerk = pool.spawn(Clerk);
        let (wait, gate) = hold();
        assert!(clerk.tell(Work::Hold(wait)).is_ok());
        gate.until_entered();
        count(&clerk, 300);
        let seen = &pool.busiest(10, Order::Queued)[0];
        assert_eq!((seen.handled, seen.queued), (1, 300));
        assert_eq!(seen.most_queued, 300);
        assert!(seen.at_work.is_some());
        let later = pool.busiest(10, Order::Queued)[0].at_work;
        assert!(later >= seen.at_work, "the same turn goes on");
        gate.open();
        clerk.ask(Work::Read).unwrap();
        let seen = &pool.busiest(10, Order::Queued)[0];
        assert_eq!((seen.handled, seen.queued), (302, 0));
        assert!(seen.most_queued >= 300, "it was noted: {seen:?}");
    });
}

#[test]
fn a_limited_mailbox_counts_what_it_loses() {
    within_limit(|| {
        let pool = observed(1);
        for (overflow, lost) in [
            (Overflow::Fail, 0),
            (Overflow::DropNewest, 15),
            (Overflow::DropOldest, 15),
        ] {
            let clerk = pool.spawner().limited(5, overflow).spawn(Clerk);
            let (wait, gate) = hold();
            assert!(clerk.tell(Work::Hold(wait)).is_ok());
            gate.until_entered();
            for _ in 0..20 {
                let _ = clerk.tell(Work::Count);
            }
            let all = pool.busiest(10, Order::Queued);
            let seen = all.iter().find(|seen| seen.id == clerk.id()).unwrap();
            assert_eq!((seen.queued, seen.lost), (5, lost), "{overflow:?}");
            gate.open();
            let seen = || {
                let all = pool.busiest(10, Order::Lost);
                all.into_iter().find(|seen| seen.id == clerk.id()).unwrap()
            };
            until(|| seen().handled == 6);
            assert_eq!((seen().queued, seen().lost), (0, lost));
        }
    });
}

#[test]
fn messages_through_a_mapped_address_are_counted() {
    within_limit(|| {
        let pool = observed(1);
        for limit in [None, Some(100)] {
            let clerk = pool.spawner().limited(limit, Overflow::Fail).spawn(Clerk);
            let mapped = clerk.map(|()| Work::Count);
            for _ in 0..10 {
                mapped.tell(()).unwrap();
            }
            clerk.ask(Work::Read).unwrap();
            let all = pool.busiest(10, Order::Handled);
            let seen = all.iter().find(|seen| seen.id == clerk.id()).unwrap();
            assert_eq!((seen.handled, seen.queued), (11, 0));
        }
    });
}

#[test]
fn what_the_dead_have_done_stays_in_the_sums() {
    within_limit(|| {
        let pool = observed(2);
        let (gone, panicked) = (pool.spawn(Clerk), pool.spawn(Clerk));
        count(&gone, 9);
        gone.ask(Work::Read).unwrap();
        gone.stop();
        count(&panicked, 4);
        assert!(panicked.tell(Work::Panic).is_ok());
        until(|| gone.is_stopped() && panicked.is_stopped());
        until(|| pool.snapshot().actors.unwrap().living == 0);
        let totals = pool.snapshot().actors.unwrap();
        assert_eq!((totals.born, totals.handled), (2, 15));
        assert!(pool.busiest(10, Order::Handled).is_empty());
        assert!(totals.turn_time > Duration::ZERO);
    });
}

#[test]
fn what_dies_with_its_mailbox_is_lost_in_the_sums() {
    within_limit(|| {
        let pool = observed(1);
        let clerk = pool.spawn(Clerk);
        let (wait, gate) = hold();
        assert!(clerk.tell(Work::Hold(wait)).is_ok());
        gate.until_entered();
        count(&clerk, 7);
        clerk.stop();
        gate.open();
        until(|| clerk.lost() == 7);
        // The actor's own figure comes first.
        until(|| pool.snapshot().actors.unwrap().lost == 7);
        assert_eq!(pool.snapshot().actors.unwrap().handled, 1);
    });
}

#[test]
fn a_long_turn_is_counted() {
    within_limit(|| {
        let builder = Pool::builder().threads(1).observe(true);
        let pool = builder.long_turn(Duration::ZERO).build().unwrap();
        let clerk = pool.spawn(Clerk);
        clerk.ask(Work::Read).unwrap();
        until(|| pool.snapshot().actors.unwrap().long_turns >= 1);

        let builder = Pool::builder().threads(1).observe(true);
        let pool = builder.long_turn(Duration::MAX).build().unwrap();
        let clerk = pool.spawn(Clerk);
        clerk.ask(Work::Read).unwrap();
        until(|| pool.busiest(1, Order::TurnTime)[0].turns >= 1);
        assert_eq!(pool.snapshot().actors.unwrap().long_turns, 0);
    });
}

/// While one works the others look after it again and again; then they sleep until they are woken.
#[test]
fn threads_with_nothing_to_do_look_for_a_while_and_then_sleep_without_end() {
    within_limit(|| {
        let pool = Pool::with_threads(3);
        let (wait, gate) = hold();
        let clerk = pool.spawn(Clerk);
        clerk.tell(Work::Hold(wait)).ok().unwrap();
        let before = pool.snapshot().sleeps;
        until(|| pool.snapshot().sleeps >= before + 3);
        gate.open();
        let calm = || {
            let seen = pool.snapshot().sleeps;
            // Three times as long as the longest nap.
            std::thread::sleep(Duration::from_millis(300));
            pool.snapshot().sleeps == seen
        };
        until(calm);
    });
}

#[test]
fn a_pool_counts_its_threads_and_what_they_do() {
    within_limit(|| {
        let builder = Pool::builder().threads(3).name("counted").observe(false);
        let pool = builder.build().unwrap();
        let clerk = pool.spawn(Clerk);
        for turns in 1..=10 {
            clerk.ask(Work::Read).unwrap();
            // All come to rest, and say so. Then the actor does, too, and the next message is another turn.
            until(|| {
                let seen = pool.snapshot();
                seen.idle_threads == 3 && seen.turns >= turns
            });
        }
        assert!(pool.busiest(10, Order::Queued).is_empty());
        let seen = pool.snapshot();
        assert_eq!((seen.kind, seen.name.as_str()), (HomeKind::Pool, "counted"));
        assert_eq!((seen.threads, seen.stand_ins, seen.due), (3, 0, 0));
        assert_eq!((seen.entered, seen.turns), (10, 10), "{seen:?}");
        until(|| pool.snapshot().sleeps >= 3);
        assert!(seen.actors.is_none());
        let all = observe::snapshot(0, Order::Queued);
        assert_eq!(
            all.homes
                .iter()
                .filter(|home| home.name == "counted")
                .count(),
            1
        );
        drop(pool);
        let all = observe::snapshot(0, Order::Queued);
        assert!(all.homes.iter().all(|home| home.name != "counted"));
    });
}

#[test]
fn a_stealer_is_counted() {
    within_limit(|| {
        let pool = observed(2);
        let held = pool.spawn(Clerk);
        let (wait, gate) = hold();
        assert!(held.tell(Work::Hold(wait)).is_ok());
        gate.until_entered();
        // The other thread is kept, too, at an actor that has made two others due there: those are stolen once the
        // first thread is free.
        let others = [pool.spawn(Clerk), pool.spawn(Clerk)];
        let (done, is_done) = mpsc::channel();
        let (wait, second) = hold();
        let giver = pool.spawn_fn(move |wait: Hold, _| {
            for other in &others {
                let done = done.clone();
                let reply = Reply::to(move |answer| done.send(answer).unwrap());
                assert!(other.tell(Work::Read(reply)).is_ok());
            }
            wait.wait();
        });
        giver.tell(wait).unwrap();
        second.until_entered();
        gate.open();
        for _ in 0..2 {
            is_done.recv().unwrap().unwrap();
        }
        assert!(pool.snapshot().steals >= 1);
        second.open();
    });
}

#[test]
fn sums_never_go_back_while_actors_come_and_go() {
    within_limit(|| {
        let pool = observed(2);
        let (rounds, each) = (if cfg!(debug_assertions) { 100 } else { 1_000 }, 20);
        std::thread::scope(|scope| {
            let spawner = scope.spawn(|| {
                for _ in 0..rounds {
                    let clerk = pool.spawn(Clerk);
                    count(&clerk, each);
                    if clerk.ask(Work::Read).is_ok() {
                        clerk.stop();
                    }
                }
            });
            let mut before = pool.snapshot();
            while !spawner.is_finished() {
                let now = pool.snapshot();
                let (old, new) = (before.actors.unwrap(), now.actors.unwrap());
                assert!(now.turns >= before.turns && now.entered >= before.entered);
                assert!(new.handled >= old.handled && new.born >= old.born);
                assert!(new.turn_time >= old.turn_time);
                before = now;
            }
        });
        until(|| pool.snapshot().actors.unwrap().living == 0);
        let totals = pool.snapshot().actors.unwrap();
        let rounds = rounds as u64;
        assert_eq!(totals.handled, rounds * (each as u64 + 1));
        assert_eq!((totals.born, totals.queued, totals.lost), (rounds, 0, 0));
    });
}

#[test]
fn a_worker_that_is_observed_is_seen_as_long_as_there_is_one() {
    within_limit(|| {
        let builder = Worker::builder().name("disk").observe(true);
        let worker = builder.build().unwrap();
        let clerk = worker.spawner().name("archivist").spawn(Clerk);
        count(&clerk, 5);
        clerk.ask(Work::Read).unwrap();
        let disk = || {
            let all = observe::snapshot(1_000, Order::Handled);
            let home = all.homes.into_iter().find(|home| home.name == "disk")?;
            Some((home, all.actors))
        };
        let (home, actors) = disk().unwrap();
        assert_eq!((home.kind, home.threads), (HomeKind::Worker, 1));
        let seen = actors.iter().find(|seen| seen.id == clerk.id()).unwrap();
        assert_eq!((seen.handled, seen.home.as_str()), (6, "disk"));
        assert_eq!(seen.name.as_deref(), Some("archivist"));
        assert!(seen.type_name.ends_with("Clerk"), "{seen:?}");
        until(|| disk().unwrap().0.idle_threads == 1);
        drop(worker);
        // Who takes a snapshot keeps what there was, as other tests do at any time.
        until(|| disk().is_none());

        // Others are not seen.
        let worker = Worker::builder().name("disk").observe(false).build();
        assert!(disk().is_none());
        drop(worker);
    });
}

#[test]
fn those_who_do_not_say_do_as_it_is_said_for_all() {
    within_limit(|| {
        let before = Pool::builder().threads(1).build().unwrap();
        observe::observe_all();
        let after = Pool::builder().threads(1).build().unwrap();
        let mut frame = Frame::new();
        assert!(after.snapshot().actors.is_some());
        // Decided when a pool is made.
        assert!(before.snapshot().actors.is_none());
        let clerk = frame.spawn(Clerk);
        count(&clerk, 3);
        frame.pump(tamtam_actor::Budget::unlimited());
        let all = observe::snapshot(1_000, Order::Handled);
        let seen = all.actors.iter().find(|seen| seen.id == clerk.id());
        assert_eq!(seen.map(|seen| seen.handled), Some(3));
        // It is idle by now, and hears from its own thread.
        count(&clerk, 2);
        let seen_now = || {
            let all = observe::snapshot(1_000, Order::Handled).actors;
            all.into_iter().find(|seen| seen.id == clerk.id()).unwrap()
        };
        assert_eq!((seen_now().handled, seen_now().queued), (3, 2));
        frame.pump(tamtam_actor::Budget::unlimited());
        assert_eq!((seen_now().handled, seen_now().queued), (5, 0));
        assert!(seen_now().turns >= 2);
        assert!(all.homes.iter().any(|home| home.kind == HomeKind::Frame));
    });
}

#[test]
fn what_an_observed_actor_gets_from_its_own_thread_is_counted() {
    struct Passing(Address<Work>);

    impl Actor for Passing {
        type Message = (usize, Reply<()>);

        fn handle(&mut self, (messages, reply): Self::Message, _: &mut Context<Self>) {
            count(&self.0, messages);
            assert!(self.0.tell(Work::Read(reply)).is_ok());
        }
    }

    within_limit(|| {
        let worker = Worker::builder().observe(true).build().unwrap();
        let clerk = worker.spawn(Clerk);
        let passing = worker.spawn(Passing(clerk.clone()));
        for messages in [0, 1, 2, 40] {
            assert_eq!(passing.ask(|reply| (messages, reply)), Ok(()));
        }
        let all = observe::snapshot(1_000, Order::Handled).actors;
        let seen = all.iter().find(|seen| seen.id == clerk.id()).unwrap();
        assert_eq!((seen.handled, seen.queued, seen.lost), (47, 0, 0));
        assert!((1..=47).contains(&seen.turns), "{seen:?}");
    });
}

#[test]
fn each_time_an_actor_begins_again_is_counted_by_its_restart_and_by_its_supervisor() {
    struct Fragile;

    impl Actor for Fragile {
        type Message = Option<Reply<()>>;

        fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
            match reply {
                Some(reply) => reply.send(()),
                None => panic_on_purpose(),
            }
        }
    }

    within_limit(|| {
        let pool = observed(2);
        let alone = pool
            .spawner()
            .restart(Restart::on_panic().no_limit())
            .spawn_with(|_| Fragile);
        let mut tree = Supervision::new(Strategy::OneForAll);
        let [first, second] =
            ["first", "second"].map(|name| tree.child(name, pool.spawner(), |_| Fragile));
        let _supervisor = tree.start(pool.spawner());
        let restarts = |of: &Address<_>| {
            let all = pool.busiest(10, Order::Restarts);
            let seen = all.iter().find(|seen| seen.id == of.id());
            seen.map_or(0, |seen| seen.restarts)
        };
        assert_eq!(alone.ask(Some), Ok(()));
        assert_eq!(second.ask(Some), Ok(()));
        assert_eq!([&alone, &first, &second].map(restarts), [0; 3]);
        for _ in 0..3 {
            alone.tell(None).unwrap();
        }
        first.tell(None).unwrap();
        assert_eq!(alone.ask(Some), Ok(()));
        until(|| [&alone, &first, &second].map(restarts) == [3, 1, 1]);
        let busiest = pool.busiest(1, Order::Restarts);
        assert_eq!(busiest[0].id, alone.id());
        alone.stop();
        alone.end().wait();
        assert_eq!(pool.snapshot().actors.unwrap().restarts, 5);
    });
}

#[test]
fn a_message_that_comes_back_from_a_pool_that_ends_does_not_count_as_queued() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(2)
            .name("ends")
            .observe(true)
            .build()
            .unwrap();
        let (held, idle) = (pool.spawn(Clerk), pool.spawn(Clerk));
        let (wait, gate) = hold();
        assert!(held.tell(Work::Hold(wait)).is_ok());
        gate.until_entered();
        let ending = std::thread::spawn(move || drop(pool));
        until(|| idle.tell(Work::Count).is_err());
        until(|| {
            let all = observe::snapshot(0, Order::Queued);
            let home = all.homes.iter().find(|home| home.name == "ends").unwrap();
            home.actors.as_ref().unwrap().queued == 0
        });
        gate.open();
        ending.join().unwrap();
    });
}

/// Those whose handlers may block have threads of their own, and are seen as all others are.
#[test]
fn who_may_block_is_seen_with_its_restarts_and_losses() {
    within_limit(|| {
        let pool = Pool::builder()
            .threads(1)
            .observe(true)
            .long_turn(Duration::ZERO)
            .build()
            .unwrap();
        let spawner = pool.spawner().blocking().name("digger");
        let digger = spawner
            .limited(3, Overflow::DropNewest)
            .restart(Restart::on_panic())
            .spawn_with(|_| Clerk);
        assert_eq!(digger.ask(Work::Read), Ok(()));
        digger.tell(Work::Panic).unwrap();
        assert_eq!(digger.ask(Work::Read), Ok(()));
        let (wait, gate) = hold();
        digger.tell(Work::Hold(wait)).unwrap();
        gate.until_entered();
        for _ in 0..5 {
            digger.tell(Work::Count).unwrap();
        }
        let seen = &pool.busiest(1, Order::AtWork)[0];
        assert_eq!(
            (seen.id, seen.name.as_deref()),
            (digger.id(), Some("digger"))
        );
        assert!(seen.may_block && seen.at_work.is_some());
        // The one at which it panicked, and two of five for which there was no room.
        assert_eq!((seen.handled, seen.queued), (4, 3));
        assert_eq!((seen.restarts, seen.lost), (1, 3));
        let home = pool.snapshot();
        assert!(home.blocking_threads >= 1);
        let all = home.actors.unwrap();
        assert_eq!((all.living, all.restarts, all.lost), (1, 1, 3));
        // It keeps none of the pool's own threads.
        assert_eq!(all.in_long_turn, 0);
        let everything = observe::snapshot(1_000, Order::AtWork);
        assert!(
            everything
                .actors
                .iter()
                .any(|actor| actor.id == digger.id())
        );
        gate.open();
        drop(digger);
        until(|| pool.snapshot().actors.unwrap().living == 0);
        assert_eq!(pool.snapshot().actors.unwrap().lost, 3);
    });
}

/// The one that has been at its turn for the longest is the first; those that are at none come last.
#[test]
fn turns_that_go_on_are_counted_and_sorted_by_their_age() {
    within_limit(|| {
        let builder = Pool::builder().threads(2).observe(true);
        let pool = builder.long_turn(Duration::ZERO).build().unwrap();
        let [idle, first, second] = [(); 3].map(|()| pool.spawn(Clerk));
        assert_eq!(idle.ask(Work::Read), Ok(()));
        until(|| pool.snapshot().actors.unwrap().in_long_turn == 0);
        let gates = [&first, &second].map(|clerk| {
            let (wait, gate) = hold();
            clerk.tell(Work::Hold(wait)).unwrap();
            gate.until_entered();
            // The clock goes on in between.
            let began = std::time::Instant::now();
            until(|| began.elapsed() > Duration::from_micros(1));
            gate
        });
        assert_eq!(pool.snapshot().actors.unwrap().in_long_turn, 2);
        let seen = pool.busiest(3, Order::AtWork);
        let ids: Vec<_> = seen.iter().map(|seen| seen.id).collect();
        assert_eq!(ids, [first.id(), second.id(), idle.id()]);
        assert!(seen[0].at_work >= seen[1].at_work && seen[2].at_work.is_none());
        gates.into_iter().for_each(support::Gate::open);
        until(|| pool.snapshot().actors.unwrap().in_long_turn == 0);
    });
}
