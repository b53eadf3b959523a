//! Listeners on channels, and functions that answer by callbacks.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Drops, LONG, Soak, hold, panic_on_purpose, until, within, within_limit};
use tamtam_actor::{
    Actor, AskError, Budget, Comm, Context, Frame, Listener, Pool, Quit, Reply, Worker,
};
use tamtam_channel::{after, bounded, never, spsc, unbounded};

fn send_and_sync<T: Send + Sync>() {}

#[test]
fn listeners_and_comms_go_to_any_thread() {
    send_and_sync::<Listener>();
    send_and_sync::<Comm<u32, Cell<u32>>>();
}

/// Sends 2,000 numbers from each of two threads, and looks whether they come in order and then the end.
macro_rules! numbers_arrive {
    ($home:expr, $sender:expr, $receiver:expr) => {{
        const NUMBERS: u32 = 2_000;
        let (report, arrived) = mpsc::channel();
        let mut next = [0; 2];
        let listener = $home.on($receiver, move |(from, number): (usize, u32)| {
            assert_eq!(number, next[from]);
            next[from] += 1;
            if next == [NUMBERS; 2] {
                report.send(()).unwrap();
            }
        });
        let senders = [0, 1].map(|from| {
            let mut sender = $sender.clone();
            thread::spawn(move || {
                for number in 0..NUMBERS {
                    let _ = &mut sender;
                    sender.send((from, number)).unwrap();
                    if number.is_multiple_of(100) {
                        thread::yield_now();
                    }
                }
            })
        });
        drop($sender);
        arrived.recv_timeout(LONG).unwrap();
        senders
            .into_iter()
            .for_each(|sender| sender.join().unwrap());
        until(|| listener.has_ended());
    }};
}

#[test]
fn what_is_sent_on_any_kind_of_channel_is_heard_in_order_until_its_end() {
    let soak = Soak::rounds(2);
    within(soak.limit(), move || {
        for _ in soak {
            let (pool, worker) = (Pool::with_threads(2), Worker::new());
            let (sender, receiver) = unbounded();
            numbers_arrive!(pool, sender, receiver);
            let (sender, receiver) = bounded(3);
            numbers_arrive!(worker, sender, receiver);
            let (sender, receiver) = bounded(0);
            numbers_arrive!(pool, sender, receiver);
            let (sender, receiver) = tamtam_channel::mpsc::bounded(100);
            numbers_arrive!(worker, sender, receiver);
        }
    });
}

#[test]
fn lanes_and_timers_are_heard() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = spsc::bounded(4);
        let (report, arrived) = mpsc::channel();
        let again = report.clone();
        pool.on(receiver, move |number| report.send(number).unwrap())
            .detach();
        for number in 0..100 {
            sender.send(number).unwrap();
        }
        for number in 0..100 {
            assert_eq!(arrived.recv_timeout(LONG), Ok(number));
        }
        pool.on(after(Duration::from_millis(1)), move |_| {
            again.send(7).unwrap()
        })
        .detach();
        assert_eq!(arrived.recv_timeout(LONG), Ok(7));
    });
}

#[test]
fn nothing_is_taken_out_of_a_bounded_channel_before_the_handler_is_ready() {
    within_limit(|| {
        let worker = Worker::new();
        let (sender, receiver) = bounded(2);
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let (report, arrived) = mpsc::channel();
        worker
            .on(receiver, move |number| {
                if let Some(hold) = hold.take() {
                    hold.wait();
                }
                report.send(number).unwrap();
            })
            .detach();
        sender.send(0).unwrap();
        gate.until_entered();
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert!(sender.try_send(3).is_err());
        gate.open();
        sender.send(3).unwrap();
        drop(sender);
        assert_eq!(arrived.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    });
}

#[test]
fn a_listener_that_is_stopped_takes_nothing_more() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = unbounded();
        let other = receiver.clone();
        let (hold, gate) = hold();
        let mut hold = Some(hold);
        let listener = pool.on(receiver, move |_: u32| {
            if let Some(hold) = hold.take() {
                hold.wait();
            }
        });
        for number in 0..10 {
            sender.send(number).unwrap();
        }
        gate.until_entered();
        listener.stop();
        gate.open();
        until(|| listener.has_ended());
        assert_eq!(other.try_iter().collect::<Vec<_>>(), Vec::from_iter(1..10));
        drop(other);
        // Its own end goes with it, a moment after it has ended.
        until(|| sender.send(10).is_err());
    });
}

#[test]
fn a_listener_that_is_dropped_hears_at_most_one_more_and_one_that_is_detached_goes_on() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = unbounded();
        let (report, reported) = mpsc::channel();
        let heard = report.clone();
        let dropped = pool.on(receiver, move |number| heard.send(number).unwrap());
        sender.send(1).unwrap();
        assert_eq!(reported.recv_timeout(LONG), Ok(1));
        drop(dropped);
        // Its receiver goes with it, and it was the only one.
        until(|| sender.send(9).is_err());
        // It may have been about to take one when it was dropped; then it is asked whether it has ended.
        assert!(reported.try_iter().count() <= 1, "it has been told to end");
        let (sender, receiver) = unbounded();
        pool.on(receiver, move |number| report.send(number).unwrap())
            .detach();
        for number in 2..5 {
            sender.send(number).unwrap();
            assert_eq!(reported.recv_timeout(LONG), Ok(number));
        }
        // The end of the channel is its end.
        drop(sender);
        assert!(reported.recv_timeout(LONG).is_err());
    });
}

#[test]
fn who_sends_to_a_listener_whose_home_has_ended_gets_the_message_back() {
    within_limit(|| {
        let worker = Worker::new();
        let (sender, receiver) = unbounded();
        let drops = Drops::default();
        let token = drops.token();
        let listener = worker.on(receiver, move |()| {
            let _ = &token;
        });
        sender.send(()).unwrap();
        worker.quit(Quit::Discard);
        worker.join();
        assert!(listener.has_ended());
        assert!(sender.send(()).is_err());
        assert_eq!(drops.count(), 1);
        // A pool's idle actors stop when somebody sends to them.
        let pool = Pool::with_threads(1);
        let (sender, receiver) = unbounded();
        let (report, arrived) = mpsc::channel();
        let listener = pool.on(receiver, move |number| report.send(number).unwrap());
        sender.send(0).unwrap();
        assert_eq!(arrived.recv_timeout(LONG), Ok(0));
        drop(pool);
        until(|| sender.send(1).is_err());
        assert!(listener.has_ended());
    });
}

#[test]
fn a_listener_on_a_channel_that_stays_silent_goes_with_its_home() {
    within_limit(|| {
        let drops = Drops::default();
        let handler = || {
            let token = drops.token();
            move |()| _ = &token
        };
        let (pool, worker, frame) = (Pool::with_threads(1), Worker::new(), Frame::new());
        pool.on(never(), handler()).detach();
        worker.on(never(), handler()).detach();
        frame.on(never(), handler()).detach();
        drop(frame);
        assert_eq!(drops.count(), 1);
        worker.quit(Quit::Drain);
        worker.join();
        assert_eq!(drops.count(), 2);
        drop(pool);
        assert_eq!(drops.count(), 3);
    });
}

#[test]
fn a_handler_that_panics_ends_its_listener_and_drops_the_receiver() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = unbounded();
        let listener = pool.on(receiver, |()| panic_on_purpose());
        sender.send(()).unwrap();
        until(|| listener.has_ended());
        until(|| sender.send(()).is_err());
    });
}

#[test]
fn a_frame_hears_within_its_budget_and_is_told_of_mail() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (sender, receiver) = unbounded();
        let heard = Rc::new(RefCell::new(Vec::new()));
        let shared = Rc::clone(&heard);
        let listener = frame.on(receiver, move |number: usize| {
            shared.borrow_mut().push(number)
        });
        assert!(!frame.pump(Budget::unlimited()).left);
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        frame.on_mail(move || _ = count.fetch_add(1, Ordering::SeqCst));
        let other = sender.clone();
        thread::spawn(move || {
            for number in 0..1_000 {
                other.send(number).unwrap();
            }
        })
        .join()
        .unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 1);
        let pumped = frame.pump(Budget::messages(10));
        assert_eq!((pumped.handled, pumped.left), (10, true));
        assert_eq!(heard.borrow().len(), 10);
        // One more to find out that nothing is there.
        let pumped = frame.pump(Budget::unlimited());
        assert_eq!((pumped.handled, pumped.left), (991, false));
        assert_eq!(*heard.borrow(), Vec::from_iter(0..1_000));
        sender.send(1_000).unwrap();
        assert_eq!(told.load(Ordering::SeqCst), 2);
        listener.stop();
        frame.pump(Budget::unlimited());
        assert!(listener.has_ended());
        assert!(sender.send(0).is_err());
        assert_eq!(heard.borrow().len(), 1_000);
    });
}

#[test]
fn a_function_on_a_worker_answers_by_a_callback_in_a_frame() {
    within_limit(|| {
        let worker = Worker::new();
        let mut frame = Frame::new();
        let mut calls = 0;
        let add = worker.comm(move |(a, b): (u32, u32)| {
            calls += 1;
            (a + b, calls)
        });
        let answers = Rc::new(RefCell::new(Vec::new()));
        for number in 0..3 {
            let answers = Rc::clone(&answers);
            frame.call(&add, (number, 10), move |sum| {
                answers.borrow_mut().push(sum.unwrap())
            });
        }
        while answers.borrow().len() < 3 {
            assert!(frame.wait(LONG));
            frame.pump(Budget::unlimited());
        }
        assert_eq!(*answers.borrow(), [(10, 1), (11, 2), (12, 3)]);
        assert_eq!(add.ask((1, 1)), Ok((2, 4)));
        // The other way round: the frame answers, a worker goes on.
        let shown = Rc::new(Cell::new(0));
        let show = Rc::clone(&shown);
        let show = frame.comm(move |number: u32| show.replace(number));
        let (report, reported) = mpsc::channel();
        worker.call(&show, 5, move |before| report.send(before).unwrap());
        while shown.get() == 0 {
            assert!(frame.wait(LONG));
            frame.pump(Budget::unlimited());
        }
        assert_eq!(reported.recv_timeout(LONG), Ok(Ok(0)));
        assert_eq!(show.ask(1), Err(AskError::OwnThread));
    });
}

#[test]
fn a_callback_hears_of_a_function_that_is_gone() {
    within_limit(|| {
        let worker = Worker::new();
        let pool = Pool::with_threads(1);
        let (report, reported) = mpsc::channel();
        let sick = worker.comm(|(): ()| -> u32 { panic_on_purpose() });
        let again = report.clone();
        pool.call(&sick, (), move |answer| again.send(answer).unwrap());
        let answer = reported.recv_timeout(LONG).unwrap();
        assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
        let gone = worker.comm(|(): ()| 1);
        drop(worker);
        pool.call(&gone, (), move |answer| report.send(answer).unwrap());
        let answer = reported.recv_timeout(LONG).unwrap();
        assert!(matches!(answer, Err(AskError::Stopped(_))), "{answer:?}");
    });
}

#[test]
fn an_actor_calls_and_goes_on_with_the_answer() {
    struct Caller(Comm<u32, u32>);

    impl Actor for Caller {
        type Message = Reply<u32>;

        fn handle(&mut self, reply: Reply<u32>, cx: &mut Context<Self>) {
            cx.call(&self.0, 20, |_, answer, _| reply.send(answer.unwrap() + 1));
        }
    }

    within_limit(|| {
        let worker = Worker::new();
        let double = worker.comm(|number: u32| 2 * number);
        let caller = worker.spawn(Caller(double));
        assert_eq!(caller.ask(|reply| reply), Ok(41));
    });
}
