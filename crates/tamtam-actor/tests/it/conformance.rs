//! What every kind of mailbox keeps to, wherever its actor lives.
//!
//! A kind is a line in [`kinds`], a home is one in [`homes`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Drops, Hold, LONG, Token, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{Address, Budget, Frame, Loss, Overflow, Pool, Reply, Stepper, Worker};

struct Mail {
    /// No two messages have the same, unless they are to take each other's place.
    key: u64,
    lane: u8,
    what: What,
    /// Its drop is counted.
    _token: Token,
}

enum What {
    Number { sender: usize, number: u64 },
    Hold(Hold),
    Ask(Reply<()>),
}

#[derive(Clone, Copy, Debug)]
struct Kind {
    limit: Option<(usize, Overflow)>,
    keyed: bool,
    lanes: bool,
    undelivered: bool,
}

fn kinds() -> Vec<Kind> {
    let mut limits = vec![None];
    for overflow in [
        Overflow::Fail,
        Overflow::Wait,
        Overflow::DropNewest,
        Overflow::DropOldest,
    ] {
        limits.extend([1, 3, 200].map(|limit| Some((limit, overflow))));
    }
    let mut kinds = Vec::new();
    for limit in limits {
        for (keyed, lanes) in [(false, false), (true, false), (false, true), (true, true)] {
            kinds.push(Kind {
                limit,
                keyed,
                lanes,
                undelivered: keyed != lanes,
            });
        }
    }
    kinds
}

type Handler = Box<dyn FnMut(Mail) + Send>;

/// Where an actor lives, with a mailbox of a kind.
struct Home {
    name: &'static str,
    spawn: Box<dyn Fn(Kind, Handler) -> Address<Mail>>,
}

/// Says all that a kind asks for, to a spawner of whichever home.
macro_rules! spawn {
    ($spawner:expr, $kind:expr, $handler:expr) => {{
        let (kind, mut handler): (Kind, Handler) = ($kind, $handler);
        let handle = move |mail: Mail, _: &mut tamtam_actor::Here<Mail>| handler(mail);
        let (limit, overflow) = kind.limit.unzip();
        let spawner = $spawner.limited(limit, overflow.unwrap_or_default());
        match (kind.keyed, kind.lanes, kind.undelivered) {
            (false, false, false) => spawner.spawn_fn(handle),
            (keyed, lanes, undelivered) => {
                // One of them first, for the type.
                let mut spawner = if keyed {
                    spawner.latest_by(|mail: &Mail| mail.key)
                } else if lanes {
                    spawner.priorities(|mail: &Mail| mail.lane)
                } else {
                    spawner.undelivered(|_: Mail, _| {})
                };
                if lanes {
                    spawner = spawner.priorities(|mail| mail.lane);
                }
                if undelivered {
                    spawner = spawner.undelivered(|mail, why| {
                        assert!(matches!(
                            why,
                            Loss::Stopped
                                | Loss::DroppedNewest
                                | Loss::DroppedOldest
                                | Loss::Replaced
                        ));
                        drop(mail);
                    });
                }
                spawner.spawn_fn(handle)
            }
        }
    }};
}

/// How long a loop waits at most before it looks whether it is over.
const A_LOOK: Duration = Duration::from_millis(10);

/// A thread with a loop of its own, in which actors have their turns.
struct Looping<S> {
    spawner: S,
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl<S: Send + 'static> Looping<S> {
    fn new(turn: impl FnOnce(mpsc::Sender<S>, &AtomicBool) + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (sender, spawners) = mpsc::channel();
        let thread = {
            let over = Arc::clone(&over);
            thread::spawn(move || turn(sender, &over))
        };
        Looping {
            spawner: spawners.recv_timeout(LONG).expect("a loop that has begun"),
            over,
            thread: Some(thread),
        }
    }
}

impl<S> Drop for Looping<S> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }
}

fn homes() -> Vec<Home> {
    let mut homes = Vec::new();
    for (name, threads) in [("a pool of one", 1), ("a pool of two", 2)] {
        let pool = Pool::with_threads(threads);
        homes.push(Home {
            name,
            spawn: Box::new(move |kind, handler| spawn!(pool.spawner(), kind, handler)),
        });
    }
    let worker = Worker::new();
    homes.push(Home {
        name: "a worker",
        spawn: Box::new(move |kind, handler| spawn!(worker.spawner(), kind, handler)),
    });
    let looping = Looping::new(|spawners, over| {
        let mut frame = Frame::new();
        spawners.send(frame.handle()).unwrap();
        while !over.load(Ordering::SeqCst) {
            // A message at a time, or some, or what there is.
            frame.pump(Budget::messages(1));
            frame.pump(Budget::time(Duration::from_micros(5)));
            frame.pump(Budget::unlimited());
            frame.wait(A_LOOK);
        }
    });
    homes.push(Home {
        name: "a frame",
        spawn: Box::new(move |kind, handler| spawn!(looping.spawner.spawner(), kind, handler)),
    });
    let looping = Looping::new(|spawners, over| {
        let stepper = Stepper::with_seed(7);
        spawners.send(stepper.spawner()).unwrap();
        while !over.load(Ordering::SeqCst) {
            if stepper.run_steps(100) == 0 {
                thread::yield_now();
            }
        }
    });
    homes.push(Home {
        name: "a stepper",
        spawn: Box::new(move |kind, handler| spawn!(looping.spawner.clone(), kind, handler)),
    });
    homes
}

fn everywhere(test: impl Fn(&Home, Kind) + Send + 'static) {
    within_limit(move || {
        for home in homes() {
            for kind in kinds() {
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| test(&home, kind))) {
                    eprintln!("in {}, {kind:?}", home.name);
                    std::panic::resume_unwind(panic);
                }
            }
        }
    });
}

/// What an actor has handled.
#[derive(Clone, Default)]
struct Handled(Arc<Mutex<Vec<(usize, u8, u64)>>>);

impl Handled {
    fn handler(&self) -> Handler {
        let handled = Arc::clone(&self.0);
        Box::new(move |mail| match mail.what {
            What::Number { sender, number } => {
                handled.lock().unwrap().push((sender, mail.lane, number));
            }
            What::Hold(hold) => hold.wait(),
            What::Ask(reply) => reply.send(()),
        })
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// What a test sends.
#[derive(Clone, Default)]
struct Sent(Drops);

impl Sent {
    fn number(&self, sender: usize, number: u64) -> Mail {
        Mail {
            key: number * 100 + sender as u64,
            lane: (number % 3) as u8,
            what: What::Number { sender, number },
            _token: self.0.token(),
        }
    }

    fn of(&self, key: u64, what: What) -> Mail {
        Mail {
            key,
            lane: 7,
            what,
            _token: self.0.token(),
        }
    }
}

/// Keys of messages that are not numbers.
const HOLD: u64 = u64::MAX;
const ASK: u64 = u64::MAX - 1;

fn held(actor: &Address<Mail>, sent: &Sent) -> crate::support::Gate {
    let (wait, gate) = hold();
    actor.tell(sent.of(HOLD, What::Hold(wait))).unwrap();
    gate.until_entered();
    gate
}

#[test]
fn order_is_kept_and_the_bound_and_nothing_is_forgotten() {
    everywhere(|home, kind| {
        const SENDERS: usize = 3;
        const EACH: u64 = 200;
        let (handled, sent) = (Handled::default(), Sent::default());
        let actor = (home.spawn)(kind, handled.handler());
        let accepted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for sender in 0..SENDERS {
                let (actor, sent, accepted) = (actor.clone(), sent.clone(), &accepted);
                scope.spawn(move || {
                    for number in 0..EACH {
                        let mail = sent.number(sender, number);
                        let told = match number % 3 {
                            0 => actor.tell_timeout(mail, LONG),
                            1 => actor.tell(mail),
                            _ => actor.try_tell(mail),
                        };
                        match told {
                            Ok(()) => drop(accepted.fetch_add(1, Ordering::Relaxed)),
                            Err(refused) => {
                                assert!(refused.is_full());
                                let What::Number { number: same, .. } = refused.into_inner().what
                                else {
                                    panic!("another message came back")
                                };
                                assert_eq!(same, number);
                            }
                        }
                    }
                });
            }
        });
        let accepted = accepted.into_inner();
        until(|| handled.count() + actor.lost() as usize == accepted);
        until(|| sent.0.count() == SENDERS * EACH as usize);
        let refuses = matches!(kind.limit, Some((_, Overflow::Fail | Overflow::Wait)));
        if !matches!(
            kind.limit,
            Some((_, Overflow::DropNewest | Overflow::DropOldest))
        ) {
            assert_eq!(actor.lost(), 0, "no two messages are about the same");
        }
        if !refuses {
            assert_eq!(accepted, SENDERS * EACH as usize);
        }
        for sender in 0..SENDERS {
            for lane in 0..3 {
                let all = handled.0.lock().unwrap();
                let numbers = all
                    .iter()
                    .filter(|it| it.0 == sender && (!kind.lanes || it.1 == lane));
                assert!(numbers.is_sorted_by_key(|it| it.2), "{all:?}");
            }
        }
        let level = actor.level();
        assert_eq!(
            level.is_some(),
            kind.limit.is_some() || kind.keyed || kind.lanes
        );
        if let Some(level) = level {
            assert_eq!(level.queued, 0);
            assert_eq!(level.capacity, kind.limit.map(|(limit, _)| limit));
            assert!(level.high_water <= kind.limit.map_or(usize::MAX, |(limit, _)| limit));
            assert!(level.high_water >= 1);
        }
    });
}

#[test]
fn a_stop_in_the_middle_loses_nothing_in_silence() {
    everywhere(|home, kind| {
        let (handled, sent) = (Handled::default(), Sent::default());
        let actor = (home.spawn)(kind, handled.handler());
        let start = Barrier::new(3);
        let (accepted, made) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for sender in 0..2 {
                let (actor, sent, start) = (actor.clone(), sent.clone(), &start);
                let (accepted, made) = (&accepted, &made);
                scope.spawn(move || {
                    start.wait();
                    for number in 0.. {
                        made.fetch_add(1, Ordering::Relaxed);
                        let mail = sent.number(sender, number);
                        let told = if sender == 0 {
                            actor.tell(mail)
                        } else {
                            actor.tell_timeout(mail, LONG)
                        };
                        match told {
                            Ok(()) => drop(accepted.fetch_add(1, Ordering::Relaxed)),
                            Err(refused) if refused.is_stopped() => return,
                            Err(_) => thread::yield_now(),
                        }
                    }
                });
            }
            start.wait();
            until(|| handled.count() >= 5);
            actor.stop();
        });
        until(|| handled.count() + actor.lost() as usize == accepted.load(Ordering::Relaxed));
        until(|| sent.0.count() == made.load(Ordering::Relaxed));
        let refused = actor.try_tell(sent.number(9, 9)).unwrap_err();
        assert!(refused.is_stopped());
        assert!(matches!(
            refused.into_inner().what,
            What::Number {
                sender: 9,
                number: 9
            }
        ));
    });
}

#[test]
fn what_is_full_is_not_mapped() {
    everywhere(|home, kind| {
        let (handled, sent) = (Handled::default(), Sent::default());
        let actor = (home.spawn)(kind, handled.handler());
        let gate = held(&actor, &sent);
        let Some((limit, overflow)) = kind.limit else {
            gate.open();
            return;
        };
        for number in 0..limit as u64 {
            actor.try_tell(sent.number(0, number)).unwrap();
        }
        let calls = Arc::new(AtomicUsize::new(0));
        let mapped = {
            let (calls, sent) = (Arc::clone(&calls), sent.clone());
            actor.map(move |number: u64| {
                calls.fetch_add(1, Ordering::Relaxed);
                sent.number(1, number)
            })
        };
        let told = mapped.try_tell(1_000);
        match overflow {
            Overflow::Fail | Overflow::Wait => {
                let refused = told.unwrap_err();
                assert!(refused.is_full());
                assert_eq!(refused.into_inner(), 1_000);
            }
            _ => assert!(told.is_ok()),
        }
        let is_made = overflow == Overflow::DropOldest;
        assert_eq!(calls.load(Ordering::Relaxed), usize::from(is_made));
        let lost = u64::from(matches!(
            overflow,
            Overflow::DropNewest | Overflow::DropOldest
        ));
        assert_eq!((actor.lost(), mapped.lost()), (lost, lost));
        // A panic in the middle gives the place back.
        gate.open();
        until(|| actor.level().is_some_and(|level| level.queued == 0));
        let picky = actor.map(|(): ()| -> Mail { panic_on_purpose() });
        for _ in 0..2 * limit.min(3) {
            assert!(catch_unwind(AssertUnwindSafe(|| picky.tell_timeout((), LONG))).is_err());
        }
        let asks = {
            let sent = sent.clone();
            actor.map(move |reply| sent.of(ASK, What::Ask(reply)))
        };
        until(|| asks.ask(|reply| reply) == Ok(()));
    });
}

#[test]
fn an_address_knows_how_full_a_mailbox_is() {
    everywhere(|home, kind| {
        let (handled, sent) = (Handled::default(), Sent::default());
        let actor = (home.spawn)(kind, handled.handler());
        let gate = held(&actor, &sent);
        let count = kind.limit.map_or(10, |(limit, _)| limit);
        for number in 0..count as u64 {
            actor.try_tell(sent.number(0, number)).unwrap();
        }
        if let Some(level) = actor.level() {
            let mapped = actor.map(|mail: Mail| mail).level();
            assert_eq!(mapped, Some(level));
            assert_eq!((level.queued, level.high_water), (count, count));
        }
        gate.open();
        until(|| handled.count() == count);
        assert!(actor.level().is_none_or(|level| level.queued == 0));
        assert!(actor.level().is_none_or(|level| level.high_water == count));
    });
}
