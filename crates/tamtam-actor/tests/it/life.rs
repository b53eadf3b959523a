//! How actors begin and end, and what becomes of the messages of those who have ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Answers, Hold, LONG, Log, Random, Soak, hold, until, within, within_limit};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Every, Pool, Registry, Reply, WeakAddress,
};

/// Writes down what happens to it, and says when it is over.
struct Diarist {
    log: Log,
    over: mpsc::Sender<()>,
}

enum Entry {
    Note(u32),
    Hold(Hold),
    Ask(Reply<u32>),
    StopYourself,
    Keep(Address<Entry>),
}

impl Actor for Diarist {
    type Message = Entry;

    fn handle(&mut self, message: Entry, cx: &mut Context<Self>) {
        match message {
            Entry::Note(number) => self.log.add(number.to_string()),
            Entry::Hold(hold) => hold.wait(),
            Entry::Ask(reply) => reply.send(1),
            Entry::StopYourself => {
                self.log.add("stops");
                cx.stop();
                self.log.add("goes on to the end");
            }
            Entry::Keep(own) => drop(own),
        }
    }

    fn started(&mut self, _: &mut Context<Self>) {
        self.log.add("started");
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        self.log.add("stopped");
    }
}

impl Drop for Diarist {
    fn drop(&mut self) {
        self.log.add("dropped");
        let _ = self.over.send(());
    }
}

/// A diarist, its log, and what tells that it was dropped.
fn diarist(pool: &Pool) -> (Address<Entry>, Log, mpsc::Receiver<()>) {
    let log = Log::default();
    let (over, is_over) = mpsc::channel();
    let actor = pool.spawn(Diarist {
        log: log.clone(),
        over,
    });
    (actor, log, is_over)
}

#[test]
fn hooks_are_called_once_and_in_order() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, log, over) = diarist(&pool);
        let (wait, gate) = hold();
        actor.tell(Entry::Note(1)).unwrap();
        actor.tell(Entry::Hold(wait)).unwrap();
        actor.tell(Entry::Note(2)).unwrap();
        actor.tell(Entry::StopYourself).unwrap();
        actor.tell(Entry::Note(3)).unwrap();
        let answers = Answers::new();
        actor.tell(Entry::Ask(answers.reply())).unwrap();
        gate.open();
        over.recv_timeout(LONG).unwrap();
        assert_eq!(
            log.lines(),
            [
                "started",
                "1",
                "2",
                "stops",
                "goes on to the end",
                "stopped",
                "dropped"
            ]
        );
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        assert_eq!(actor.lost(), 2);
        assert!(actor.is_stopped());
    });
}

#[test]
fn stop_from_outside_loses_what_is_queued_and_tells_who_asked() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, log, over) = diarist(&pool);
        let (wait, gate) = hold();
        actor.tell(Entry::Hold(wait)).unwrap();
        gate.until_entered();
        let answers = Answers::new();
        for _ in 0..5 {
            actor.tell(Entry::Note(1)).unwrap();
            actor.tell(Entry::Ask(answers.reply())).unwrap();
        }
        actor.stop();
        actor.stop();
        gate.open();
        for _ in 0..5 {
            assert_eq!(answers.next(), Err(AskError::Unanswered));
        }
        over.recv_timeout(LONG).unwrap();
        until(|| actor.lost() == 10);
        assert_eq!(log.lines(), ["started", "stopped", "dropped"]);
        // Wish 28 (kameo 362): what comes after is refused, with the message.
        let refused = actor.tell(Entry::Note(77)).unwrap_err();
        assert!(refused.is_stopped());
        assert!(matches!(refused.into_inner(), Entry::Note(77)));
        assert_eq!(actor.ask(Entry::Ask), Err(AskError::Stopped(actor.id())));
        assert_eq!(actor.lost(), 10, "a refused message is not lost");
    });
}

#[test]
fn an_actor_that_was_never_told_anything_has_its_hooks_called_when_it_is_stopped() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, log, over) = diarist(&pool);
        actor.stop();
        over.recv_timeout(LONG).unwrap();
        assert_eq!(log.lines(), ["started", "stopped", "dropped"]);
    });
}

#[test]
fn an_actor_without_addresses_handles_what_it_was_sent_and_stops() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        for count in [0, 1, 3, 1_000] {
            let (actor, log, over) = diarist(&pool);
            let (wait, gate) = hold();
            actor.tell(Entry::Hold(wait)).unwrap();
            let weak = actor.downgrade();
            for number in 0..count {
                actor.tell(Entry::Note(number)).unwrap();
            }
            // Also what it is sent through a mapped address, and by an address that lies in its own mailbox.
            let mapped = actor.map(Entry::Note);
            mapped.tell(count).unwrap();
            actor.tell(Entry::Keep(actor.clone())).unwrap();
            drop(mapped);
            drop(actor);
            gate.open();
            over.recv_timeout(LONG).unwrap();
            let mut expected = vec!["started".to_owned()];
            expected.extend((0..=count).map(|number| number.to_string()));
            expected.extend(["stopped".to_owned(), "dropped".to_owned()]);
            assert_eq!(log.lines(), expected);
            assert!(weak.upgrade().is_none());
        }
    });
}

#[test]
fn an_idle_actor_stops_when_its_last_address_is_dropped() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, log, over) = diarist(&pool);
        assert_eq!(actor.ask(Entry::Ask), Ok(1));
        let second = actor.clone();
        drop(actor);
        assert_eq!(second.ask(Entry::Ask), Ok(1));
        drop(second);
        over.recv_timeout(LONG).unwrap();
        assert_eq!(log.lines(), ["started", "stopped", "dropped"]);
    });
}

#[test]
fn a_weak_address_reaches_an_actor_as_long_as_there_are_others() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, _, over) = diarist(&pool);
        let weak = actor.downgrade();
        let again = weak.clone().upgrade().expect("there is an address");
        drop(actor);
        assert_eq!(again.ask(Entry::Ask), Ok(1), "an upgraded address counts");
        drop(again);
        over.recv_timeout(LONG).unwrap();
        assert!(weak.upgrade().is_none());

        let (actor, _, over) = diarist(&pool);
        let mapped = actor.map(Entry::Note);
        let weak: WeakAddress<u32> = mapped.downgrade();
        drop(actor);
        weak.upgrade().expect("there is one").tell(1).unwrap();
        drop(mapped);
        over.recv_timeout(LONG).unwrap();
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn an_actor_that_keeps_its_own_address_is_ended_by_stop() {
    struct Narcissus {
        own: Option<Address<Reply<u32>>>,
        over: mpsc::Sender<()>,
    }

    impl Actor for Narcissus {
        type Message = Reply<u32>;

        fn started(&mut self, cx: &mut Context<Self>) {
            self.own = Some(cx.address());
        }

        fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
            reply.send(5);
        }
    }

    impl Drop for Narcissus {
        fn drop(&mut self) {
            let _ = self.over.send(());
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (over, is_over) = mpsc::channel();
        let actor = pool.spawn(Narcissus { own: None, over });
        assert_eq!(actor.ask(|reply| reply), Ok(5));
        let weak = actor.downgrade();
        drop(actor);
        let again = weak.upgrade().expect("it keeps its own");
        assert_eq!(again.ask(|reply| reply), Ok(5));
        again.stop();
        is_over.recv_timeout(LONG).unwrap();
        assert_eq!(again.ask(|reply| reply), Err(AskError::Stopped(again.id())));
    });
}

#[test]
fn who_tells_an_actor_of_a_dropped_pool_hears_of_it() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, log, _over) = diarist(&pool);
        assert_eq!(actor.ask(Entry::Ask), Ok(1));
        drop(pool);
        let answers = Answers::new();
        match actor.tell(Entry::Ask(answers.reply())) {
            Ok(()) => {
                assert_eq!(answers.next(), Err(AskError::Unanswered));
                assert_eq!(actor.lost(), 1);
            }
            Err(error) => assert!(error.is_stopped()),
        }
        assert!(actor.tell(Entry::Note(1)).unwrap_err().is_stopped());
        assert_eq!(log.lines(), ["started", "stopped", "dropped"]);
        // Nobody has sent to it, but it has begun.
        let (pool, (fresh, log, over)) = {
            let pool = Pool::with_threads(1);
            let fresh = diarist(&pool);
            (pool, fresh)
        };
        drop(pool);
        assert_eq!(log.lines(), ["started"]);
        drop(fresh);
        over.recv_timeout(LONG).unwrap();
        assert_eq!(log.lines(), ["started", "stopped", "dropped"]);
    });
}

/// A message that asks and may be counted.
enum Storm {
    Count,
    Ask(Reply<()>),
}

/// Threads that tell and ask, while others stop the actors: what was accepted is handled or counted, and whoever
/// asked hears.
#[test]
fn kill_storms_lose_nothing_in_silence() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 60 } else { 400 });
    within(rounds.limit(), move || {
        for round in rounds {
            let pool = Pool::with_threads(1 + round % 3);
            let handled = Arc::new(AtomicU64::new(0));
            let actors: Vec<_> = (0..20)
                .map(|number| {
                    let handled = Arc::clone(&handled);
                    let limit = (number % 3 == 0).then_some(10);
                    let spawner = pool.spawner().limited(limit, Default::default());
                    spawner.spawn_fn(move |message: Storm, _| {
                        handled.fetch_add(1, Ordering::SeqCst);
                        if let Storm::Ask(reply) = message {
                            reply.send(());
                        }
                    })
                })
                .collect();
            let accepted = AtomicU64::new(0);
            let refused = AtomicU64::new(0);
            let tried = AtomicU64::new(0);
            let answered = Arc::new(AtomicU64::new(0));
            let asked = AtomicU64::new(0);
            thread::scope(|scope| {
                for teller in 0..3 {
                    let (actors, accepted, refused, tried, answered, asked) =
                        (&actors, &accepted, &refused, &tried, &answered, &asked);
                    scope.spawn(move || {
                        let mut random = Random::new((round * 3 + teller) as u64);
                        for _ in 0..2_000 {
                            let actor = &actors[random.below(20) as usize];
                            let message = if random.below(3) == 0 {
                                asked.fetch_add(1, Ordering::SeqCst);
                                let answered = Arc::clone(answered);
                                Storm::Ask(Reply::to(move |_| {
                                    answered.fetch_add(1, Ordering::SeqCst);
                                }))
                            } else {
                                Storm::Count
                            };
                            tried.fetch_add(1, Ordering::SeqCst);
                            match actor.tell(message) {
                                Ok(()) => accepted.fetch_add(1, Ordering::SeqCst),
                                Err(_) => refused.fetch_add(1, Ordering::SeqCst),
                            };
                            if random.below(50) == 0 {
                                // A lost question would never come back.
                                accepted.fetch_add(1, Ordering::SeqCst);
                                tried.fetch_add(1, Ordering::SeqCst);
                                if let Err(AskError::Full(_) | AskError::Stopped(_)) =
                                    actor.ask(Storm::Ask)
                                {
                                    accepted.fetch_sub(1, Ordering::SeqCst);
                                    refused.fetch_add(1, Ordering::SeqCst);
                                }
                            }
                        }
                    });
                }
                scope.spawn(|| {
                    let mut random = Random::new(round as u64);
                    for actor in &actors {
                        for _ in 0..random.below(2_000) {
                            std::hint::spin_loop();
                        }
                        actor.stop();
                    }
                });
            });
            let lost = || actors.iter().map(|actor| actor.lost()).sum::<u64>();
            let accepted = accepted.into_inner();
            until(|| handled.load(Ordering::SeqCst) + lost() >= accepted);
            pool.shutdown();
            assert_eq!(handled.load(Ordering::SeqCst) + lost(), accepted);
            assert_eq!(accepted + refused.into_inner(), tried.into_inner());
            assert_eq!(
                answered.load(Ordering::SeqCst),
                asked.into_inner(),
                "each question is answered, or dropped and its asker told"
            );
        }
    });
}

/// Many senders at one actor at the very moment at which it stops: the last of them must not leave its message behind.
#[test]
fn a_question_that_comes_while_the_mailbox_is_emptied_is_not_forgotten() {
    let rounds = Soak::rounds(if cfg!(debug_assertions) { 500 } else { 3_000 });
    within(rounds.limit(), move || {
        let pool = Pool::with_threads(2);
        for _ in rounds {
            let actor = pool.spawn_fn(|reply: Reply<()>, _| reply.send(()));
            let (asked, answered) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            if actor.is_stopped() {
                                break;
                            }
                            asked.fetch_add(1, Ordering::SeqCst);
                            let answered = Arc::clone(&answered);
                            let reply = Reply::to(move |_| {
                                answered.fetch_add(1, Ordering::SeqCst);
                            });
                            let _ = actor.tell(reply);
                        }
                    });
                }
                scope.spawn(|| actor.stop());
            });
            // The address is alive, so nobody else comes to empty the mailbox.
            let asked = asked.into_inner();
            until(|| answered.load(Ordering::SeqCst) == asked);
        }
    });
}

/// It was dead from the beginning, for it knew one way to the actor, and no other address went that way.
#[test]
fn a_weak_address_of_each_kind_leads_to_the_actor_as_long_as_that_has_addresses() {
    struct Own(Option<WeakAddress<Reply<u32>>>, Registry);

    impl Actor for Own {
        type Message = Reply<u32>;

        fn started(&mut self, cx: &mut Context<Self>) {
            self.0 = Some(cx.address().downgrade());
            self.1.register("own", &cx.address()).unwrap();
        }

        fn handle(&mut self, reply: Reply<u32>, _: &mut Context<Self>) {
            let weak = self.0.as_ref().unwrap();
            reply.send(u32::from(weak.upgrade().is_some()));
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        for is_replaceable in [false, true] {
            let registry = Registry::new();
            let own = registry.clone();
            let birth = move |_: &mut Context<Own>| Own(None, own.clone());
            let actor = if is_replaceable {
                pool.spawner().replaceable().spawn_with(birth)
            } else {
                pool.spawn_with(birth)
            };
            assert_eq!(actor.ask(|reply| reply), Ok(1));
            let found = registry.find::<Reply<u32>>("own").expect("it lives");
            assert_eq!((found.id(), found.ask(|reply| reply)), (actor.id(), Ok(1)));

            // Through one mapping, and through two.
            let mapped = actor.map(|(reply, _): (Reply<u32>, u8)| reply);
            let twice = mapped.map(|reply: Reply<u32>| (reply, 0));
            let weak = [twice.downgrade(), twice.downgrade().clone()];
            let timer = mapped.tell_every(Every::rate(Duration::from_millis(1)), || {
                (Reply::to(drop), 0)
            });
            registry.register("mapped", &mapped).unwrap();
            drop((mapped, twice));
            for weak in &weak {
                assert_eq!(weak.upgrade().unwrap().ask(|reply| reply), Ok(1));
            }
            assert!(registry.find::<(Reply<u32>, u8)>("mapped").is_ok());
            assert!(timer.is_pending());

            // They do not keep it from ending.
            let end = actor.end();
            drop((actor, found));
            assert_eq!(end.wait().reason, EndReason::NoAddresses);
            assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
            until(|| registry.names().is_empty());
        }
    });
}
