//! What was sent to an actor that hangs, and what its askers hear.

use super::*;

/// Why a message was lost, the name of the actor, and the type of the message.
type Told = (Loss, Option<Arc<str>>, String);

/// What is lost by this actor, as others are told.
fn letters(of: &Address<Job>) -> (DeadLetterWatch, mpsc::Receiver<Told>) {
    let (sender, receiver) = mpsc::channel();
    let (sender, id) = (Mutex::new(sender), of.id());
    let watch = on_dead_letter(move |letter| {
        if letter.actor == id {
            let told = (
                letter.why,
                letter.name.clone(),
                letter.message_type.to_owned(),
            );
            let _ = sender.lock().unwrap().send(told);
        }
    });
    (watch, receiver)
}

#[test]
fn what_waits_behind_a_hung_handler_is_for_the_next_instance_in_order() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell(Job::Note(1)).unwrap();
        let gate = hang(&worker);
        for number in 2..1_000 {
            worker.tell(Job::Note(number)).unwrap();
        }
        assert_eq!(left_behind(&pool), 0);
        assert!(worker.replace());
        assert_eq!(left_behind(&pool), 1);
        assert_eq!(which(&worker), 1);
        let expected: Vec<_> = [(0, 1)]
            .into_iter()
            .chain((2..1_000).map(|n| (1, n)))
            .collect();
        assert_eq!(log.notes(), expected);
        assert_eq!(worker.lost(), 1);
        gate.open();
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn whoever_asked_the_hung_handler_hears_so_at_once() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        let (wait, gate) = hold();
        let asker = {
            let worker = worker.clone();
            thread::spawn(move || worker.ask(|reply| Job::HangAndAnswer(wait, reply)))
        };
        gate.until_entered();
        assert!(worker.replace());
        // The handler still hangs.
        let error = asker.join().unwrap().unwrap_err();
        assert_eq!(error, AskError::Hung(worker.id()));
        assert_eq!(error.actor(), Some(worker.id()));
        assert_eq!(error.name().as_deref(), Some("miner"));
        assert!(error.to_string().contains("\"miner\""), "{error}");
        // Its answer comes too late, and is dropped.
        gate.open();
        until(|| left_behind(&pool) == 0);
        assert_eq!(which(&worker), 1);
    });
}

/// Asks in each of the ways that there are; the answers come here.
#[test]
fn all_ways_to_ask_hear_that_there_will_be_no_answer() {
    /// Asks by `Context::ask` or `Context::ask_timeout`.
    struct Asker(Address<Job>);

    impl Actor for Asker {
        type Message = (bool, Hold, Reply<Result<u32, AskError>>);

        fn handle(&mut self, (limited, gate, reply): Self::Message, cx: &mut Context<Self>) {
            let question = |reply| Job::HangAndAnswer(gate, reply);
            let then = |_: &mut Self, answer, _: &mut Context<Self>| reply.send(answer);
            match limited {
                false => cx.ask(&self.0, question, then),
                true => cx.ask_timeout(&self.0, question, LONG, then),
            }
        }
    }

    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let mapped = worker.map(|(gate, reply)| Job::HangAndAnswer(gate, reply));
        let asker = pool.spawn(Asker(worker.clone()));
        let answers = Answers::new();
        let blocking = {
            let worker = worker.clone();
            pool.spawn_fn(move |(gate, reply): (Hold, Reply<_>), _| {
                reply.send(worker.ask(|reply| Job::HangAndAnswer(gate, reply)));
            })
        };
        type Answered<'a> = Box<dyn FnOnce() -> Result<u32, AskError> + 'a>;
        type Way<'a> = &'a dyn Fn(Hold) -> Answered<'a>;
        let ways: [Way<'_>; 7] = [
            &|gate| {
                let future = worker.ask_async(|reply| Job::HangAndAnswer(gate, reply));
                Box::new(move || block_on(future))
            },
            &|gate| {
                let future =
                    worker.ask_timeout_async(|reply| Job::HangAndAnswer(gate, reply), LONG);
                Box::new(move || block_on(future))
            },
            &|gate| {
                let worker = worker.clone();
                let asker = thread::spawn(move || {
                    worker.ask_timeout(|reply| Job::HangAndAnswer(gate, reply), LONG)
                });
                Box::new(move || asker.join().unwrap())
            },
            &|gate| {
                let mapped = mapped.clone();
                let asker = thread::spawn(move || mapped.ask(|reply| (gate, reply)));
                Box::new(move || asker.join().unwrap())
            },
            &|gate| {
                asker.tell((false, gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
            &|gate| {
                asker.tell((true, gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
            &|gate| {
                blocking.tell((gate, answers.reply())).unwrap();
                Box::new(|| answers.next().unwrap())
            },
        ];
        for (number, ask) in ways.into_iter().enumerate() {
            let (wait, gate) = hold();
            let answer = ask(wait);
            gate.until_entered();
            assert!(worker.replace());
            assert_eq!(answer(), Err(AskError::Hung(worker.id())), "{number}");
            gate.open();
        }
        until(|| left_behind(&pool) == 0);
    });
}

#[test]
fn questions_that_the_instance_has_kept_are_told_too_and_others_are_not() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().replaceable());
        let kept = worker.ask_async(Job::Keep);
        let answered = worker.ask_async(Job::Which);
        let gate = hang(&worker);
        let waits = worker.ask_async(Job::Which);
        assert!(worker.replace());
        assert_eq!(block_on(kept), Err(AskError::Hung(worker.id())));
        assert_eq!(block_on(answered), Ok(0));
        assert_eq!(block_on(waits), Ok(1));
        assert_eq!(worker.lost(), 1);
        gate.open();
    });
}

#[test]
fn limits_and_rules_of_the_mailbox_hold_while_it_hangs() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let full = log.spawn(pool.spawner().limited(2, Overflow::Fail).replaceable());
        let gate = hang(&full);
        full.tell(Job::Note(1)).unwrap();
        full.tell(Job::Note(2)).unwrap();
        let refused = full.tell(Job::Note(3)).unwrap_err();
        assert!(refused.is_full() && matches!(refused.into_inner(), Job::Note(3)));
        let level = full.level().unwrap();
        assert_eq!((level.queued, level.capacity), (2, Some(2)));
        assert!(full.replace());
        until(|| full.level().unwrap().queued == 0);
        assert_eq!(which(&full), 1);
        gate.open();

        // A sender that waits for room gets it from the next instance.
        let waits = log.spawn(pool.spawner().limited(1, Overflow::Wait).replaceable());
        let gate = hang(&waits);
        waits.tell(Job::Note(4)).unwrap();
        let sender = {
            let waits = waits.clone();
            thread::spawn(move || waits.tell(Job::Note(5)))
        };
        assert!(waits.replace());
        sender.join().unwrap().unwrap();
        which(&waits);
        gate.open();

        let (undelivered, came) = mpsc::channel();
        let undelivered = Mutex::new(undelivered);
        let latest = pool
            .spawner()
            .latest_by(|job: &Job| match job {
                Job::Note(number) => number % 10,
                _ => 1_000,
            })
            .undelivered(move |job, why| {
                if let Job::Note(number) = job {
                    undelivered.lock().unwrap().send((number, why)).unwrap();
                }
            });
        let latest = log.spawn(latest.replaceable());
        let gate = hang(&latest);
        for number in [11, 12, 21] {
            latest.tell(Job::Note(number)).unwrap();
        }
        assert_eq!(came.try_recv(), Ok((11, Loss::Replaced)));
        assert!(latest.replace());
        let number = which(&latest);
        let notes: Vec<u32> = log.notes().iter().map(|note| note.1).collect();
        assert_eq!(notes, [1, 2, 4, 5, 21, 12]);
        assert_ne!(number, 0);
        gate.open();
    });
}

#[test]
fn what_is_lost_is_told_with_the_name_and_the_type_of_the_message() {
    within_limit(|| {
        let (pool, log) = (pool(), Log::default());
        let worker = log.spawn(pool.spawner().name("miner").replaceable());
        let (_watch, letters) = letters(&worker);
        let gate = hang(&worker);
        worker.tell(Job::Note(1)).unwrap();
        assert!(worker.replace());
        let (why, name, message_type) = letters.recv_timeout(LONG).unwrap();
        assert_eq!((why, name.as_deref()), (Loss::Hung, Some("miner")));
        assert!(message_type.ends_with("Job"), "{message_type}");
        which(&worker);
        // Nothing else was lost.
        assert!(letters.try_recv().is_err());
        let other = hang(&worker);
        worker.tell(Job::Note(2)).unwrap();
        worker.stop();
        other.open();
        worker.end().wait();
        let (why, name, message_type) = letters.recv_timeout(LONG).unwrap();
        assert_eq!((why, name.as_deref()), (Loss::Stopped, Some("miner")));
        assert!(message_type.ends_with("Job"), "{message_type}");
        gate.open();
    });
}

#[test]
fn a_message_that_is_told_later_comes_to_the_instance_of_that_time() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder()
            .threads(1)
            .time(time.clone())
            .build()
            .unwrap();
        let log = Log::default();
        let worker = log.spawn(pool.spawner().replaceable());
        worker.tell_after(Duration::from_secs(1), Job::Note(1));
        let gate = hang(&worker);
        time.advance(Duration::from_secs(1));
        assert!(worker.replace());
        until(|| log.notes() == [(1, 1)]);
        gate.open();
    });
}

/// Random replacements beside senders: what was accepted is handled once, in each sender's order, or is counted.
#[test]
fn replacements_beside_senders_lose_what_was_at_hand_and_nothing_else() {
    const SENDERS: u32 = 3;
    const EACH: u32 = 2_000;

    struct Notes(Arc<Mutex<Vec<u32>>>);

    impl Actor for Notes {
        type Message = u32;

        fn handle(&mut self, number: u32, _: &mut Context<Self>) {
            self.0.lock().unwrap().push(number);
            thread::yield_now();
        }
    }

    within_limit(|| {
        let pool = Pool::builder()
            .threads(2)
            .blocking_threads(8)
            .build()
            .unwrap();
        let notes = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&notes);
        let actor = pool
            .spawner()
            .replaceable()
            .spawn_with(move |_| Notes(Arc::clone(&own)));
        let replaced = thread::scope(|scope| {
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let actor = actor.clone();
                    scope.spawn(move || {
                        for number in 0..EACH {
                            actor.tell(sender * EACH + number).unwrap();
                        }
                    })
                })
                .collect();
            let mut replaced = 0_u64;
            // On a loaded machine the senders may be done before this thread has its first turn.
            let is_at_work = || notes.lock().unwrap().len() < (SENDERS * EACH) as usize;
            while senders.iter().any(|sender| !sender.is_finished())
                || (replaced == 0 && is_at_work())
            {
                replaced += u64::from(actor.replace());
                thread::yield_now();
            }
            replaced
        });
        let end = actor.end();
        actor.finish();
        end.wait();
        assert!(replaced > 0 && actor.lost() <= replaced);
        let mut notes = core::mem::take(&mut *notes.lock().unwrap());
        // A message that was at hand counts as lost, though its handler may have come to its end.
        let handled = notes.len() as u64;
        let all = u64::from(SENDERS * EACH);
        assert!(
            handled <= all && handled + actor.lost() >= all,
            "{handled} + {}",
            actor.lost()
        );
        notes.sort_unstable();
        notes.dedup();
        assert_eq!(notes.len() as u64, handled, "none twice");
        until(|| left_behind(&pool) == 0);
    });
}
