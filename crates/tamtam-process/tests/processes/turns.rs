//! Questions of actors, one after the other: the threads that give these their turns read the answers by themselves.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use tamtam_actor::{Actor, Address, AskError, Context, Pool, ProcessEnd, Reply, Restart, Worker};
use tamtam_process::Process;

use crate::actors::{Count, Counter, Death};

crate::tests! { "turns":
    what_is_told_before_an_answer_is_there_before_it
    an_actor_that_asks_one_by_one_hears_of_a_death_and_goes_on
    what_comes_when_no_actor_asks_any_more_comes_by_itself
    threads_may_ask_between_turns_that_do
    answers_come_also_to_threads_that_are_never_idle
}

/// More than it takes until threads read by themselves.
const MANY: u64 = 300;

enum Heard {
    Number,
    All(Reply<u64>),
}

/// Asks one by one until its thread reads by itself, and then ten times a millisecond while it is never idle.
struct Restless {
    counter: Address<Count>,
    one_by_one: u64,
    asked: Instant,
    answers: u64,
    done: Sender<()>,
}

impl Restless {
    fn ask(&mut self, cx: &mut Context<Self>) {
        self.asked = Instant::now();
        cx.ask(&self.counter, Count::Read, |this, answer, cx| {
            assert_eq!(answer, Ok(0));
            if this.one_by_one > 0 {
                this.one_by_one -= 1;
                return this.ask(cx);
            }
            if this.answers == 0 {
                cx.address().tell(()).unwrap();
            }
            this.answers += 1;
        });
    }
}

impl Actor for Restless {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        if self.one_by_one > 0 {
            return self.ask(cx);
        }
        if self.answers > MANY {
            return self.done.send(()).unwrap();
        }
        if self.asked.elapsed() > Duration::from_micros(100) {
            self.ask(cx);
        }
        cx.address().tell(()).unwrap();
    }
}

/// A home whose threads read.
trait Home {
    fn spawn_restless(&self, restless: Restless) -> Address<()>;
    fn spawn_asker(&self, asker: Asker) -> Address<Option<u64>>;
    fn spawn_listener(&self, count: u64) -> Address<Heard>;
}

fn hear(count: &mut u64, heard: Heard) {
    match heard {
        Heard::Number => *count += 1,
        Heard::All(reply) => reply.send(*count),
    }
}

impl Home for Pool {
    fn spawn_restless(&self, restless: Restless) -> Address<()> {
        self.spawn(restless)
    }

    fn spawn_asker(&self, asker: Asker) -> Address<Option<u64>> {
        self.spawn(asker)
    }

    fn spawn_listener(&self, mut count: u64) -> Address<Heard> {
        self.spawn_fn(move |heard, _| hear(&mut count, heard))
    }
}

impl Home for Worker {
    fn spawn_restless(&self, restless: Restless) -> Address<()> {
        self.spawn(restless)
    }

    fn spawn_asker(&self, asker: Asker) -> Address<Option<u64>> {
        self.spawn(asker)
    }

    fn spawn_listener(&self, mut count: u64) -> Address<Heard> {
        self.spawn_fn(move |heard, _| hear(&mut count, heard))
    }
}

/// Has the counter tell the listener, asks it, and then asks the listener whether that came first; so often.
struct Asker {
    counter: Address<Count>,
    listener: Address<Heard>,
    numbers: Address<u64>,
    left: u64,
    heard: u64,
    done: Sender<Result<u64, AskError>>,
}

impl Asker {
    fn ask(&mut self, cx: &mut Context<Self>) {
        if self.left == 0 {
            let _ = self.done.send(Ok(self.heard));
            return;
        }
        self.left -= 1;
        let tell = Count::TellMany(1, self.numbers.clone());
        self.counter.tell(tell).unwrap();
        cx.ask(
            &self.counter,
            Count::Read,
            |this, answer, cx| match answer {
                Ok(_) => this.look(cx),
                Err(error) => this.done.send(Err(error)).unwrap(),
            },
        );
    }

    fn look(&mut self, cx: &mut Context<Self>) {
        self.heard += 1;
        cx.ask(&self.listener, Heard::All, |this, heard, cx| {
            assert_eq!(heard, Ok(this.heard));
            this.ask(cx);
        });
    }
}

impl Actor for Asker {
    /// So many questions; or one at which the process dies.
    type Message = Option<u64>;

    fn handle(&mut self, message: Option<u64>, cx: &mut Context<Self>) {
        match message {
            Some(questions) => {
                self.left = questions;
                self.ask(cx);
            }
            None => cx.ask(
                &self.counter,
                |reply| Count::DieAsking(Death::Signal, reply),
                |this, answer, _| this.done.send(answer).unwrap(),
            ),
        }
    }
}

fn asker(
    home: &dyn Home,
    counter: &Address<Count>,
) -> (Address<Option<u64>>, Receiver<Result<u64, AskError>>) {
    let (done, is_done) = channel();
    let listener = home.spawn_listener(0);
    let asker = home.spawn_asker(Asker {
        counter: counter.clone(),
        numbers: listener.map(|_| Heard::Number),
        listener,
        left: 0,
        heard: 0,
        done,
    });
    (asker, is_done)
}

fn counter() -> Address<Count> {
    let at_once = Restart::on_panic().backoff(Duration::ZERO, 1.0, Duration::ZERO);
    let spawner = Process::spawner().restart(at_once);
    spawner.spawn::<Counter>(0).unwrap()
}

/// On each home whose threads read.
fn on_each_home(test: impl Fn(&dyn Home)) {
    for threads in [1, 2] {
        test(&Pool::with_threads(threads));
    }
    test(&Worker::new());
}

fn what_is_told_before_an_answer_is_there_before_it() {
    on_each_home(|home| {
        let (asker, is_done) = asker(home, &counter());
        asker.tell(Some(MANY)).unwrap();
        assert_eq!(is_done.recv().unwrap(), Ok(MANY));
    });
}

fn an_actor_that_asks_one_by_one_hears_of_a_death_and_goes_on() {
    on_each_home(|home| {
        let (asker, is_done) = asker(home, &counter());
        for round in 1..=3 {
            asker.tell(Some(MANY)).unwrap();
            assert_eq!(is_done.recv().unwrap(), Ok(round * MANY));
            asker.tell(None).unwrap();
            let killed = AskError::ProcessEnded(ProcessEnd::Killed(8));
            assert_eq!(is_done.recv().unwrap(), Err(killed));
        }
    });
}

fn what_comes_when_no_actor_asks_any_more_comes_by_itself() {
    on_each_home(|home| {
        let counter = counter();
        let (asker, is_done) = asker(home, &counter);
        for round in 1..=10 {
            asker.tell(Some(MANY)).unwrap();
            assert_eq!(is_done.recv().unwrap(), Ok(round * MANY));
            let other = home.spawn_listener(0);
            counter
                .tell(Count::TellMany(1, other.map(|_| Heard::Number)))
                .unwrap();
            crate::until("it is heard", || other.ask(Heard::All) == Ok(1));
        }
    });
}

fn threads_may_ask_between_turns_that_do() {
    on_each_home(|home| {
        let counter = counter();
        let (asker, is_done) = asker(home, &counter);
        asker.tell(Some(20 * MANY)).unwrap();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    let answers = (0..MANY).map(|_| counter.ask(Count::Read).unwrap());
                    assert!(answers.is_sorted());
                });
            }
        });
        assert_eq!(is_done.recv().unwrap(), Ok(20 * MANY));
    });
}

fn answers_come_also_to_threads_that_are_never_idle() {
    on_each_home(|home| {
        let (done, is_done) = channel();
        let restless = home.spawn_restless(Restless {
            counter: counter(),
            one_by_one: MANY,
            asked: Instant::now(),
            answers: 0,
            done,
        });
        restless.tell(()).unwrap();
        is_done.recv().unwrap();
    });
}
