//! A stepper: one turn after the other, in an order that is chosen.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::within_limit;
use tamtam_actor::{Actor, Address, AskError, Context, Every, Pool, Reply, Stepper};

/// Actors of these names, each of which says its own when it gets a message.
fn named(stepper: &Stepper, names: &str) -> (Vec<Address<()>>, mpsc::Receiver<char>) {
    let (sender, receiver) = mpsc::channel();
    let actors = names.chars().map(|name| {
        let sender = sender.clone();
        stepper.spawn_fn(move |(), _| sender.send(name).unwrap())
    });
    (actors.collect(), receiver)
}

fn said(stepper: &Stepper) -> String {
    let (actors, said) = named(stepper, "abcd");
    for actor in actors.iter().chain(&actors) {
        actor.tell(()).unwrap();
    }
    assert_eq!(stepper.due(), 4);
    assert_eq!(stepper.run(), 8);
    said.try_iter().collect()
}

#[test]
fn turns_come_in_the_order_of_mail() {
    assert_eq!(said(&Stepper::new()), "abcdabcd");
}

#[test]
fn a_seed_gives_one_order() {
    let once = said(&Stepper::with_seed(7));
    assert_eq!(once, said(&Stepper::with_seed(7)));
    let others: BTreeSet<_> = (0..20)
        .map(|seed| said(&Stepper::with_seed(seed)))
        .collect();
    assert!(others.len() > 10, "{others:?}");
}

#[test]
fn a_path_repeats_an_order() {
    let stepper = Stepper::with_seed(3);
    let once = said(&stepper);
    assert_eq!(said(&Stepper::replay(&stepper.path())), once);
}

#[test]
fn a_step_is_one_message() {
    let stepper = Stepper::new();
    let (actors, said) = named(&stepper, "a");
    for _ in 0..3 {
        actors[0].tell(()).unwrap();
    }
    for _ in 0..3 {
        assert!(stepper.step());
        assert_eq!(said.try_iter().count(), 1);
    }
    assert!(!stepper.step());
    assert_eq!(stepper.steps(), 3);
}

#[test]
fn every_order_is_explored_once() {
    let orders = |names: &str, each: usize| {
        let mut seen = Vec::new();
        let explored = Stepper::explore(100_000, |stepper| {
            let (actors, said) = named(stepper, names);
            for actor in &actors {
                (0..each).for_each(|_| actor.tell(()).unwrap());
            }
            stepper.run();
            seen.push(said.try_iter().collect::<String>());
        });
        assert!(explored.is_complete);
        assert_eq!(explored.runs, seen.len());
        let different: BTreeSet<_> = seen.iter().cloned().collect();
        assert_eq!(different.len(), seen.len(), "one order came twice");
        seen.len()
    };
    assert_eq!(orders("a", 3), 1);
    // As many as there are ways to deal the messages out.
    assert_eq!(orders("abc", 1), 6);
    assert_eq!(orders("ab", 2), 6);
    assert_eq!(orders("abcd", 1), 24);
    assert_eq!(orders("ab", 4), 70);
}

#[test]
fn exploring_ends_at_its_limit() {
    let explored = Stepper::explore(5, |stepper| {
        said(stepper);
    });
    assert_eq!((explored.runs, explored.is_complete), (5, false));
}

/// An account that can be read and written, but not changed in one step.
struct Account(u32);

enum Access {
    Read(Reply<u32>),
    Write(u32),
}

impl Actor for Account {
    type Message = Access;

    fn handle(&mut self, access: Access, _: &mut Context<Self>) {
        match access {
            Access::Read(reply) => reply.send(self.0),
            Access::Write(amount) => self.0 = amount,
        }
    }
}

/// Adds one: reads, and writes what it has read and one more.
struct Payer {
    account: Address<Access>,
    holds: bool,
}

impl Actor for Payer {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        let pay = |this: &mut Payer, amount: Result<u32, AskError>| {
            this.account
                .tell(Access::Write(amount.unwrap() + 1))
                .unwrap();
        };
        if self.holds {
            let amount = self.account.ask_async(Access::Read);
            cx.hold(amount, move |this, amount, _| pay(this, amount));
        } else {
            let account = self.account.clone();
            cx.ask(&account, Access::Read, move |this, amount, _| {
                pay(this, amount);
            });
        }
    }
}

fn two_payments(stepper: &Stepper, holds: bool) -> u32 {
    let account = stepper.spawn(Account(0));
    let payers = [(); 2].map(|()| {
        stepper.spawn(Payer {
            account: account.clone(),
            holds,
        })
    });
    for payer in &payers {
        payer.tell(()).unwrap();
    }
    stepper.run();
    stepper.ask(&account, Access::Read).unwrap()
}

/// What one test in a thousand would find, if it were a matter of luck.
#[test]
fn a_lost_update_is_found_and_can_be_repeated() {
    for holds in [false, true] {
        let mut ends = BTreeSet::new();
        let explored = Stepper::explore(10_000, |stepper| {
            ends.insert(two_payments(stepper, holds));
        });
        assert!(explored.is_complete);
        assert_eq!(ends, BTreeSet::from([1, 2]));
    }
    let mut path = Vec::new();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        Stepper::explore(10_000, |stepper| {
            let amount = two_payments(stepper, false);
            path = stepper.path();
            if amount != 2 {
                crate::support::panic_on_purpose();
            }
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(two_payments(&Stepper::replay(&path), false), 1);
}

#[test]
fn nobody_waits_for_an_answer_in_a_handler() {
    within_limit(|| {
        let stepper = Stepper::new();
        let account = stepper.spawn(Account(3));
        let asker = {
            let account = account.clone();
            stepper.spawn_fn(move |reply: Reply<Result<u32, AskError>>, _| {
                reply.send(account.ask(Access::Read));
            })
        };
        let answer = stepper.ask(&asker, |reply| reply);
        assert_eq!(answer, Ok(Err(AskError::OwnThread)));
    });
}

#[test]
fn a_question_that_nobody_will_answer_ends() {
    let stepper = Stepper::new();
    let mut kept = Vec::new();
    let keeper = stepper.spawn_fn(move |reply: Reply<()>, _| kept.push(reply));
    assert_eq!(stepper.ask(&keeper, |reply| reply), Err(AskError::TimedOut));
}

#[test]
fn its_actors_stop_with_it() {
    struct Guard(Arc<AtomicUsize>);

    impl Actor for Guard {
        type Message = ();

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    let dropped = Arc::new(AtomicUsize::new(0));
    let stepper = Stepper::new();
    let idle = stepper.spawn(Guard(Arc::clone(&dropped)));
    let busy = stepper.spawn(Guard(Arc::clone(&dropped)));
    busy.tell(()).unwrap();
    let unborn = {
        let dropped = Arc::clone(&dropped);
        stepper.spawn_with(move |_| Guard(dropped))
    };
    drop(stepper);
    assert_eq!(dropped.load(Ordering::SeqCst), 2);
    assert_eq!(Arc::strong_count(&dropped), 1);
    for address in [idle, busy, unborn] {
        assert!(address.is_stopped());
        assert!(address.tell(()).is_err());
    }
}

#[test]
fn mail_may_come_from_other_threads() {
    within_limit(|| {
        let stepper = Stepper::new();
        let (actors, said) = named(&stepper, "ab");
        let senders: Vec<_> = actors
            .iter()
            .cloned()
            .map(|actor| thread::spawn(move || (0..100).for_each(|_| actor.tell(()).unwrap())))
            .collect();
        let mut steps = 0;
        while senders.iter().any(|sender| !sender.is_finished()) {
            steps += stepper.run();
        }
        for sender in senders {
            sender.join().unwrap();
        }
        stepper.run();
        assert!(steps <= 200);
        assert_eq!(said.try_iter().count(), 200);
    });
}

/// Says the time when it is due, every second and at each message.
struct Ticking(mpsc::Sender<(char, u128)>, Instant);

impl Actor for Ticking {
    type Message = ();

    fn started(&mut self, cx: &mut Context<Self>) {
        self.1 = cx.now();
        cx.every(Every::rate(Duration::from_secs(1)), |this, cx| {
            this.say('t', cx);
        });
    }

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        self.say('m', cx);
        cx.after(Duration::from_millis(2_500), |this, cx| this.say('a', cx));
    }
}

impl Ticking {
    fn say(&self, what: char, cx: &Context<Self>) {
        let passed = cx.now() - self.1;
        self.0.send((what, passed.as_millis())).unwrap();
    }
}

#[test]
fn time_passes_when_it_is_told_to() {
    let stepper = Stepper::new();
    let (sender, said) = mpsc::channel();
    let ticking = stepper.spawn(Ticking(sender, stepper.time().now()));
    ticking.tell(()).unwrap();
    stepper.advance(Duration::from_millis(3_999));
    assert_eq!(
        said.try_iter().collect::<Vec<_>>(),
        [
            ('m', 0),
            ('t', 1_000),
            ('t', 2_000),
            ('a', 2_500),
            ('t', 3_000)
        ]
    );
    stepper.advance(Duration::from_millis(1));
    assert_eq!(said.try_iter().collect::<Vec<_>>(), [('t', 4_000)]);
}

#[test]
fn the_steps_of_an_advance_are_counted_before_between_and_after_timers() {
    let stepper = Stepper::new();
    let (actors, _names) = named(&stepper, "a");
    let actor = &actors[0];
    actor.tell(()).unwrap();
    for seconds in [1, 2] {
        actor.tell_after(Duration::from_secs(seconds), ());
    }
    let before = stepper.run();
    let first = stepper.advance(Duration::from_secs(1));
    let second = stepper.advance(Duration::from_secs(2));
    assert!(before > 0 && first > 0);
    assert_eq!(first, second);
    for seconds in [1, 2] {
        actor.tell_after(Duration::from_secs(seconds), ());
    }
    assert_eq!(stepper.advance(Duration::from_secs(3)), first + second);
}

/// It was found by its address alone, and never dropped.
#[test]
fn an_actor_that_lives_by_what_it_awaits_ends_with_its_home() {
    struct Awaits(mpsc::Sender<&'static str>);

    impl Actor for Awaits {
        type Message = ();

        fn started(&mut self, cx: &mut Context<Self>) {
            cx.pipe(std::future::pending::<()>(), |_, (), _| {});
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}

        fn stopped(&mut self, _: &mut Context<Self>) {
            self.0.send("stopped").unwrap();
        }
    }

    impl Drop for Awaits {
        fn drop(&mut self) {
            self.0.send("dropped").unwrap();
        }
    }

    within_limit(|| {
        let (sender, said) = mpsc::channel();
        let stepper = Stepper::new();
        drop(stepper.spawn(Awaits(sender.clone())));
        stepper.run();
        drop(stepper);
        assert_eq!(said.try_recv(), Ok("stopped"));
        assert_eq!(said.try_recv(), Ok("dropped"));

        let pool = Pool::with_threads(1);
        drop(pool.spawn(Awaits(sender)));
        pool.wait_idle().unwrap();
        drop(pool);
        assert_eq!(said.try_recv(), Ok("stopped"));
        assert_eq!(said.try_recv(), Ok("dropped"));
    });
}

#[test]
fn time_passes_though_a_timer_is_set_again_and_again_for_now() {
    struct Restless(mpsc::Sender<()>);

    impl Restless {
        fn set(&mut self, cx: &mut Context<Self>) {
            cx.after(Duration::ZERO, |this, cx| {
                this.0.send(()).unwrap();
                this.set(cx);
            });
        }
    }

    impl Actor for Restless {
        type Message = ();

        fn started(&mut self, cx: &mut Context<Self>) {
            self.set(cx);
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    within_limit(|| {
        let (sender, rung) = mpsc::channel();
        let stepper = Stepper::new();
        let _restless = stepper.spawn(Restless(sender));
        stepper.run();
        stepper.advance(Duration::from_millis(5));
        // At its beginning, in each millisecond, and at its end.
        assert_eq!(rung.try_iter().count(), 7);
    });
}

#[test]
fn time_passes_though_a_timer_has_no_pause() {
    struct Restless(mpsc::Sender<()>);

    impl Actor for Restless {
        type Message = ();

        fn started(&mut self, cx: &mut Context<Self>) {
            cx.every(Every::delay(Duration::ZERO), |this, _| {
                this.0.send(()).unwrap()
            });
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    within_limit(|| {
        let (sender, rung) = mpsc::channel();
        let stepper = Stepper::new();
        let _restless = stepper.spawn(Restless(sender));
        stepper.run();
        stepper.advance(Duration::from_millis(5));
        assert_eq!(rung.try_iter().count(), 5);
    });
}
