//! What actors get from the thread that they live on, beside what others send.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as Polling, Poll, Waker};
use std::thread;

use crate::support::{panic_on_purpose, within_limit};
use tamtam_actor::{Actor, Address, Budget, Context, Frame, Quit, Reply, Restart, Worker};

/// Messages in the order in which they were handled.
type Log = Arc<Mutex<Vec<(u8, u32)>>>;

/// Those of one sender, by their numbers.
fn of(log: &Log, sender: u8) -> Vec<u32> {
    let log = log.lock().unwrap();
    let of = log.iter().filter(|(from, _)| *from == sender);
    of.map(|(_, number)| *number).collect()
}

fn pump_until(frame: &mut Frame, is_done: impl Fn() -> bool) {
    while frame.pump(Budget::unlimited()).left || !is_done() {
        thread::yield_now();
    }
}

#[test]
fn each_senders_order_is_kept_while_the_loops_thread_sends_too() {
    const MESSAGES: u32 = 20_000;
    within_limit(|| {
        let mut frame = Frame::new();
        let log = Log::default();
        let noted = Arc::clone(&log);
        let own = Arc::new(AtomicU64::new(0));
        let passed_on = Arc::clone(&own);
        let actor: Address<(u8, u32)> = frame.spawn_fn(move |message, here| {
            noted.lock().unwrap().push(message);
            // What it tells itself has one sender more.
            if message.0 == 1 && message.1.is_multiple_of(3) {
                here.address().tell((3, message.1)).unwrap();
                passed_on.fetch_add(1, Ordering::Relaxed);
            }
        });
        let relay = {
            let actor = actor.clone();
            frame.spawn_fn(move |number, _| actor.tell((2, number)).unwrap())
        };
        let other = {
            let actor = actor.clone();
            thread::spawn(move || (0..MESSAGES).for_each(|number| actor.tell((1, number)).unwrap()))
        };
        for number in 0..MESSAGES {
            if number.is_multiple_of(2) {
                relay.tell(number).unwrap();
            } else {
                // Between turns, in the same order: behind it if it has gone on.
                actor.tell((4, number)).unwrap();
            }
            if number.is_multiple_of(7) {
                frame.pump(Budget::messages(number as usize % 11));
            }
        }
        other.join().unwrap();
        let all = || u64::from(MESSAGES) * 2 + own.load(Ordering::Relaxed);
        pump_until(&mut frame, || log.lock().unwrap().len() as u64 == all());
        assert_eq!(of(&log, 1), Vec::from_iter(0..MESSAGES));
        assert_eq!(of(&log, 2), Vec::from_iter((0..MESSAGES).step_by(2)));
        assert_eq!(of(&log, 3), Vec::from_iter((0..MESSAGES).step_by(3)));
        assert_eq!(of(&log, 4), Vec::from_iter((1..MESSAGES).step_by(2)));
    });
}

#[test]
fn what_a_message_has_led_to_comes_behind_it() {
    within_limit(|| {
        let mut frame = Frame::new();
        let log = Log::default();
        let noted = Arc::clone(&log);
        let actor: Address<(u8, u32)> =
            frame.spawn_fn(move |message, _| noted.lock().unwrap().push(message));
        for number in 0..100 {
            // Before and behind what another thread sends, each time it has been told of what lies there.
            for _ in 0..number % 9 {
                actor.tell((1, number)).unwrap();
            }
            let other = actor.clone();
            thread::spawn(move || other.tell((2, number)).unwrap())
                .join()
                .unwrap();
            actor.tell((3, number)).unwrap();
            if number.is_multiple_of(4) {
                frame.pump(Budget::unlimited());
            }
        }
        pump_until(&mut frame, || true);
        let mut expected = Vec::new();
        for number in 0..100 {
            expected.extend((0..number % 9).map(|_| (1, number)));
            expected.extend([(2, number), (3, number)]);
        }
        assert_eq!(*log.lock().unwrap(), expected);
    });
}

/// Counts the messages that are gone.
#[derive(Clone, Default)]
struct Gone(Arc<AtomicU64>);

struct Counted(u32, Gone);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_lies_behind_a_stop_is_lost_and_counted() {
    within_limit(|| {
        for behind in [0, 1, 3, 40] {
            let mut frame = Frame::new();
            let gone = Gone::default();
            let actor: Address<Counted> = frame.spawn_fn(|message: Counted, here| {
                if message.0 == 0 {
                    here.stop();
                }
            });
            for number in 0..=behind {
                actor.tell(Counted(number, gone.clone())).unwrap();
            }
            assert!(!frame.pump(Budget::unlimited()).left);
            assert!(actor.is_stopped());
            assert_eq!(actor.lost(), u64::from(behind));
            assert_eq!(gone.0.load(Ordering::Relaxed), u64::from(behind) + 1);
            let refused = actor.tell(Counted(1, gone.clone())).unwrap_err();
            assert_eq!(refused.into_inner().0, 1);
        }
    });
}

#[test]
fn a_frame_that_goes_loses_what_its_thread_has_sent_and_counts_it() {
    within_limit(|| {
        for messages in [1, 2, 50] {
            let frame = Frame::new();
            let gone = Gone::default();
            let actor: Address<Counted> = frame.spawn_fn(|_: Counted, _| {});
            for number in 0..messages {
                actor.tell(Counted(number, gone.clone())).unwrap();
            }
            drop(frame);
            assert_eq!(actor.lost(), u64::from(messages));
            assert_eq!(gone.0.load(Ordering::Relaxed), u64::from(messages));
        }
    });
}

/// A future that is ready once it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(AtomicBool, Mutex<Option<Waker>>)>);

impl Gate {
    fn open(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        let waker = self.0.1.lock().unwrap().take();
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: std::pin::Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<()> {
        *self.0.1.lock().unwrap() = Some(polling.waker().clone());
        match self.0.0.load(Ordering::SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

enum Step {
    Note(u32),
    Hold,
    Panic,
}

struct Steps(Log, Gate);

impl Actor for Steps {
    type Message = Step;

    fn handle(&mut self, step: Step, cx: &mut Context<Self>) {
        match step {
            Step::Note(number) => self.0.lock().unwrap().push((0, number)),
            Step::Hold => cx.hold(self.1.clone(), |this, (), _| {
                this.0.lock().unwrap().push((1, 0));
            }),
            Step::Panic => panic_on_purpose(),
        }
    }
}

#[test]
fn messages_of_the_loops_thread_that_are_held_back_keep_their_order() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (log, gate) = (Log::default(), Gate::default());
        let actor = frame.spawn(Steps(Arc::clone(&log), gate.clone()));
        frame.pump(Budget::unlimited());
        for number in 0..6 {
            actor.tell(Step::Note(number)).unwrap();
        }
        actor.tell(Step::Hold).unwrap();
        for number in 6..20 {
            actor.tell(Step::Note(number)).unwrap();
        }
        frame.pump(Budget::unlimited());
        // Behind those that are held back, which others are not known to.
        for number in 20..30 {
            actor.tell(Step::Note(number)).unwrap();
            frame.pump(Budget::unlimited());
        }
        let other = actor.clone();
        let sent = thread::spawn(move || other.tell(Step::Note(30)));
        sent.join().unwrap().unwrap();
        assert_eq!(log.lock().unwrap().len(), 6);
        gate.open();
        pump_until(&mut frame, || log.lock().unwrap().len() == 32);
        assert_eq!(of(&log, 0), Vec::from_iter(0..=30));
        assert_eq!(log.lock().unwrap()[6], (1, 0));
    });
}

#[test]
fn an_actor_that_begins_again_goes_on_with_what_its_own_thread_has_sent() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (log, gate) = (Log::default(), Gate::default());
        let noted = Arc::clone(&log);
        let actor = frame
            .spawner()
            .restart(Restart::on_panic().backoff(
                std::time::Duration::ZERO,
                1.0,
                std::time::Duration::ZERO,
            ))
            .spawn_with(move |_| Steps(Arc::clone(&noted), gate.clone()));
        frame.pump(Budget::unlimited());
        for number in 0..30 {
            actor.tell(Step::Note(number)).unwrap();
            if number == 9 || number == 10 {
                actor.tell(Step::Panic).unwrap();
            }
        }
        pump_until(&mut frame, || log.lock().unwrap().len() == 30);
        assert_eq!(of(&log, 0), Vec::from_iter(0..30));
        assert_eq!(actor.lost(), 2);
    });
}

#[test]
fn frames_within_each_other_have_their_own_mail() {
    within_limit(|| {
        let mut outer = Frame::new();
        let inner = Rc::new(RefCell::new(Frame::new()));
        let (seen, count) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
        let shown = Rc::clone(&seen);
        let adder = inner
            .borrow()
            .spawn_fn(move |more: u32, _| shown.set(shown.get() + more));
        let counted = Rc::clone(&count);
        let counter = outer.spawn_fn(move |(): (), _| counted.set(counted.get() + 1));
        let pumped = Rc::clone(&inner);
        let pumping = outer.spawn_fn(move |more: u32, _| {
            counter.tell(()).unwrap();
            adder.tell(more).unwrap();
            assert!(!pumped.borrow_mut().pump(Budget::unlimited()).left);
            counter.tell(()).unwrap();
            adder.tell(more).unwrap();
        });
        for more in 1..=3 {
            pumping.tell(more).unwrap();
            assert!(!outer.pump(Budget::unlimited()).left);
        }
        assert_eq!((seen.get(), count.get()), (9, 6));
        assert!(!inner.borrow_mut().pump(Budget::unlimited()).left);
        assert_eq!(seen.get(), 12);
        // A frame that goes in a turn of another one.
        drop(pumping);
        drop(inner);
        pump_until(&mut outer, || true);
    });
}

#[test]
fn a_worker_drains_what_its_actors_have_sent_to_each_other() {
    const ROUNDS: u32 = 500;
    within_limit(|| {
        let worker = Worker::new();
        let total = Arc::new(AtomicU64::new(0));
        let added = Arc::clone(&total);
        let adder = worker.spawn_fn(move |number: u32, _| {
            added.fetch_add(u64::from(number), Ordering::Relaxed);
        });
        let passing = worker.spawn_fn(move |number: u32, here| {
            for _ in 0..7 {
                adder.tell(number).unwrap();
            }
            if number > 1 {
                here.address().tell(number - 1).unwrap();
            }
        });
        passing.tell(ROUNDS).unwrap();
        worker.quit(Quit::Drain);
        worker.join();
        let sum = u64::from(ROUNDS) * u64::from(ROUNDS + 1) / 2;
        assert_eq!(total.load(Ordering::Relaxed), 7 * sum);
    });
}

#[test]
fn one_that_tells_itself_for_ever_does_not_keep_a_worker_that_drains() {
    within_limit(|| {
        let worker = Worker::new();
        let forever = worker.spawn_fn(|(): (), here| here.address().tell(()).unwrap());
        forever.tell(()).unwrap();
        worker.quit(Quit::Drain);
        worker.join();
        assert!(forever.is_stopped());
    });
}

#[test]
fn questions_of_a_frames_actors_are_answered_before_their_messages() {
    struct Asking {
        server: Address<(u32, Reply<u32>)>,
        log: Log,
    }

    impl Actor for Asking {
        type Message = u32;

        fn handle(&mut self, number: u32, cx: &mut Context<Self>) {
            self.log.lock().unwrap().push((0, number));
            cx.ask(
                &self.server,
                |reply| (number, reply),
                |this, answer, _| this.log.lock().unwrap().push((1, answer.unwrap())),
            );
        }
    }

    within_limit(|| {
        let mut frame = Frame::new();
        let log = Log::default();
        let server = frame.spawn_fn(|(number, reply): (u32, Reply<u32>), _| reply.send(number));
        let asking = frame.spawn(Asking {
            server,
            log: Arc::clone(&log),
        });
        frame.pump(Budget::unlimited());
        for number in 0..20 {
            asking.tell(number).unwrap();
            asking.tell(number + 100).unwrap();
            frame.pump(Budget::unlimited());
        }
        let mut expected = Vec::new();
        for number in 0..20 {
            let both = [number, number + 100];
            expected.extend(both.map(|number| (0, number)));
            expected.extend(both.map(|number| (1, number)));
        }
        assert_eq!(*log.lock().unwrap(), expected);
    });
}
