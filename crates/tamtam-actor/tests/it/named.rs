//! What goes wrong has a name: who it was, and what the panic said.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;

use crate::support::{Answers, LONG, block_on, hold, until, within_limit};
use tamtam_actor::{
    Actor, Address, AskError, Budget, Context, EndReason, Frame, Overflow, Panicked, Pool, Reply,
    Restart, Worker, on_dead_letter,
};

type Question = Reply<u32>;

/// Panics with these words, and without one of the panic hook.
fn panic_with(words: &'static str) -> ! {
    resume_unwind(Box::new(words))
}

fn panicked(answer: Result<u32, AskError>) -> Panicked {
    match answer {
        Err(AskError::Panicked(panicked)) => panicked,
        other => panic!("{other:?}"),
    }
}

/// Whoever asks, and wherever the one lives who is asked.
#[test]
fn an_asker_hears_who_panicked_and_what_it_said() {
    struct Asker(Address<Question>, mpsc::Sender<Result<u32, AskError>>);

    impl Actor for Asker {
        type Message = bool;

        fn handle(&mut self, waits: bool, cx: &mut Context<Self>) {
            if waits {
                let answer = self.0.ask(|reply| reply);
                self.1.send(answer).unwrap();
            } else {
                cx.ask(
                    &self.0,
                    |reply| reply,
                    |this, answer, _| this.1.send(answer).unwrap(),
                );
            }
        }
    }

    fn check(sick: &Address<Question>, answer: Result<u32, AskError>) {
        let panicked = panicked(answer);
        assert_eq!(panicked.actor(), sick.id());
        assert_eq!(panicked.name(), Some("sick"));
        assert_eq!(panicked.message(), "no more ink");
        let said = AskError::Panicked(panicked).to_string();
        let start = format!("actor \"sick\" ({}) panicked: no more ink", sick.id());
        assert!(said.starts_with(&start), "{said}");
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let worker = Worker::new();
        let sick = |reply: Question, _: &mut tamtam_actor::Here<Question>| {
            let _reply = reply;
            panic_with("no more ink")
        };
        let homes: [&dyn Fn() -> Address<Question>; 3] = [
            &|| pool.spawner().name("sick").spawn_fn(sick),
            &|| pool.spawner().blocking().name("sick").spawn_fn(sick),
            &|| worker.spawner().name("sick").spawn_fn(sick),
        ];
        for home in homes {
            let actor = home();
            check(&actor, actor.ask(|reply| reply));
            let actor = home();
            check(&actor, block_on(actor.ask_async(|reply| reply)));
            for waits in [false, true] {
                let actor = home();
                let (heard, answers) = mpsc::channel();
                pool.spawn(Asker(actor.clone(), heard)).tell(waits).unwrap();
                check(&actor, answers.recv_timeout(LONG).unwrap());
            }
        }
        let mut frame = Frame::new();
        let actor = frame.spawner().name("sick").spawn_fn(sick);
        let asked = actor.ask_async(|reply| reply);
        frame.pump(Budget::unlimited());
        check(&actor, block_on(asked));
    });
}

/// Not only the question at hand: what it has kept, and what nobody handles any more.
#[test]
fn all_whose_questions_go_with_the_actor_hear_of_the_panic() {
    enum Mail {
        Keep(Question),
        Wait(crate::support::Hold),
        Panic,
    }

    #[derive(Default)]
    struct Keeper(Vec<Question>);

    impl Actor for Keeper {
        type Message = Mail;

        fn handle(&mut self, mail: Mail, _: &mut Context<Self>) {
            match mail {
                Mail::Keep(reply) => self.0.push(reply),
                Mail::Wait(hold) => hold.wait(),
                Mail::Panic => panic_with("no more ink"),
            }
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        for restarts in [false, true] {
            let restart = match restarts {
                false => Restart::never(),
                true => Restart::on_panic(),
            };
            let keeper = pool
                .spawner()
                .restart(restart)
                .spawn_with(|_| Keeper::default());
            let kept = keeper.ask_async(Mail::Keep);
            let (wait, gate) = hold();
            keeper.tell(Mail::Wait(wait)).unwrap();
            gate.until_entered();
            keeper.tell(Mail::Panic).unwrap();
            let waiting = keeper.ask_async(Mail::Keep);
            gate.open();
            assert_eq!(panicked(block_on(kept)).message(), "no more ink");
            if restarts {
                // That one is for the next instance.
                keeper.stop();
                assert_eq!(block_on(waiting), Err(AskError::Unanswered));
            } else {
                assert_eq!(panicked(block_on(waiting)).name(), None);
                let ended = keeper.end().wait().reason;
                assert_eq!(ended, EndReason::Panicked("no more ink".into()));
            }
        }
    });
}

/// The handler goes on, and so does the one who has asked.
#[test]
fn a_question_that_goes_with_a_panic_that_the_handler_catches_is_unanswered() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let careful = pool.spawn_fn(|reply: Question, _| {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let _reply = reply;
                panic_with("caught")
            }));
            assert!(caught.is_err());
        });
        for _ in 0..3 {
            assert_eq!(careful.ask(|reply| reply), Err(AskError::Unanswered));
        }
        assert!(!careful.is_stopped());
        // And with one that is not: only then is it the actor's panic.
        let answers = Answers::new();
        let mixed = pool.spawn_fn(|replies: [Question; 2], _| {
            let [first, second] = replies;
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _first = first;
                panic_with("caught")
            }));
            let _second = second;
            panic_with("not caught")
        });
        mixed.tell([answers.reply(), answers.reply()]).unwrap();
        for _ in 0..2 {
            assert_eq!(panicked(answers.next()).message(), "not caught");
        }
    });
}

/// A thread that panics is no actor.
#[test]
fn a_question_that_goes_with_a_thread_is_unanswered() {
    within_limit(|| {
        let answers = Answers::new();
        let reply: Question = answers.reply();
        let thread = std::thread::spawn(move || {
            let _reply = reply;
            panic_with("elsewhere")
        });
        assert!(thread.join().is_err());
        assert_eq!(answers.next(), Err(AskError::Unanswered));
    });
}

#[test]
fn refusals_and_dead_letters_carry_the_name() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let writer = pool
            .spawner()
            .name("writer")
            .limited(1, Overflow::Fail)
            .spawn_fn(move |(): (), _| {
                wait.take().into_iter().for_each(crate::support::Hold::wait)
            });
        writer.tell(()).unwrap();
        gate.until_entered();
        writer.tell(()).unwrap();
        for address in [writer.clone(), writer.map(|()| ())] {
            let full = address.tell(()).unwrap_err();
            assert_eq!(
                (full.actor(), full.name().as_deref()),
                (writer.id(), Some("writer"))
            );
            let said = full.to_string();
            let start = format!("the mailbox of actor \"writer\" ({}) is full", writer.id());
            assert!(said.starts_with(&start), "{said}");
        }
        let (sender, letters) = mpsc::channel();
        let id = writer.id();
        let watch = on_dead_letter(move |letter| {
            if letter.actor == id {
                let _ = sender.send(letter.clone());
            }
        });
        writer.stop();
        gate.open();
        let letter = letters.recv_timeout(LONG).unwrap();
        drop(watch);
        assert_eq!(letter.name.as_deref(), Some("writer"));
        let named = format!("actor \"writer\" ({id})");
        assert!(letter.to_string().contains(&named), "{letter}");
        until(|| writer.is_stopped());
        let stopped = writer.tell(()).unwrap_err();
        assert!(stopped.to_string().starts_with(&named), "{stopped}");
        // The name goes with the last address; the number stays.
        drop(writer);
        until(|| stopped.name().is_none());
        assert_eq!(stopped.actor(), id);
    });
}

#[test]
fn a_circle_carries_the_names() {
    /// Asks the other one back, and waits.
    struct Ask(Address<Question>, Question);

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let own = std::sync::Arc::new(std::sync::OnceLock::<Address<Question>>::new());
        let ring = std::sync::Arc::clone(&own);
        let (heard_there, answers) = mpsc::channel();
        let mut heard = Some(heard_there.clone());
        let back = pool
            .spawner()
            .name("back")
            .spawn_fn(move |reply: Question, _| {
                // Once, or they would ask each other for ever.
                if let Some(heard) = heard.take() {
                    heard.send(ring.get().unwrap().ask(|reply| reply)).unwrap();
                }
                drop(reply);
            });
        let there = pool
            .spawner()
            .name("there")
            .spawn_fn(move |Ask(other, reply): Ask, _| {
                let _ = heard_there.send(other.ask(|reply| reply));
                drop(reply);
            });
        let other = back.clone();
        let again = there.map(move |reply| Ask(other.clone(), reply));
        own.set(again.clone()).unwrap();
        assert_eq!(again.ask(|reply| reply), Err(AskError::Unanswered));
        // The one that waits last finds it; the other one hears that there is no answer.
        let cycle = loop {
            match answers.recv_timeout(LONG).unwrap() {
                Err(AskError::Cycle(cycle)) => break cycle,
                Err(AskError::Unanswered) => {}
                other => panic!("{other:?}"),
            }
        };
        let mut both = [("back", back.id()), ("there", there.id())];
        if cycle.actors()[0] == there.id() {
            both.reverse();
        }
        let [(one, first), (other, second)] = both;
        assert_eq!(cycle.actors(), [first, second]);
        assert_eq!(cycle.names().collect::<Vec<_>>(), [Some(one), Some(other)]);
        let said = format!("\"{one}\" ({first}) -> \"{other}\" ({second}) -> \"{one}\" ({first})");
        assert_eq!(cycle.to_string(), said);
    });
}

/// Whoever asks, and by whatever way: a question that is refused says by whom.
#[test]
fn a_refused_question_says_by_whom() {
    struct Asker(Address<Question>, mpsc::Sender<AskError>);

    impl Actor for Asker {
        type Message = ();

        fn handle(&mut self, (): (), cx: &mut Context<Self>) {
            let Asker(other, errors) = self;
            errors.send(other.ask(|reply| reply).unwrap_err()).unwrap();
            cx.ask(
                &self.0,
                |reply| reply,
                |this, answer, _| this.1.send(answer.unwrap_err()).unwrap(),
            );
        }
    }

    /// The errors of all ways to ask.
    fn errors(pool: &Pool, other: &Address<Question>) -> Vec<AskError> {
        let (sender, errors) = mpsc::channel();
        pool.spawn(Asker(other.clone(), sender)).tell(()).unwrap();
        let mut errors: Vec<_> = (0..2).map(|_| errors.recv_timeout(LONG).unwrap()).collect();
        errors.push(other.ask(|reply| reply).unwrap_err());
        errors.push(other.map(|reply| reply).ask(|reply| reply).unwrap_err());
        errors.push(block_on(other.ask_async(|reply| reply)).unwrap_err());
        errors
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let other = pool
            .spawner()
            .name("press")
            .limited(1, Overflow::Fail)
            .spawn_fn(move |reply: Question, _| {
                wait.take().into_iter().for_each(crate::support::Hold::wait);
                reply.send(1);
            });
        let first = other.ask_async(|reply| reply);
        gate.until_entered();
        let second = other.ask_async(|reply| reply);
        for error in errors(&pool, &other) {
            assert_eq!(error, AskError::Full(other.id()));
            assert_eq!(error.actor(), Some(other.id()));
            assert_eq!(error.name().as_deref(), Some("press"));
            let start = format!("the mailbox of actor \"press\" ({}) is full", other.id());
            assert!(error.to_string().starts_with(&start), "{error}");
        }
        gate.open();
        assert_eq!((block_on(first), block_on(second)), (Ok(1), Ok(1)));
        other.stop();
        until(|| other.is_stopped());
        for error in errors(&pool, &other) {
            assert_eq!(error, AskError::Stopped(other.id()));
            let start = format!("actor \"press\" ({}) has stopped", other.id());
            assert!(error.to_string().starts_with(&start), "{error}");
        }
        assert_eq!(AskError::TimedOut.actor(), None);
        assert_eq!(AskError::TimedOut.name(), None);
    });
}
