//! Actors in the caller's own loop.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Answers, Drops, Hold, LONG, SHORT, Soak, hold, panic_on_purpose, within, within_limit,
};
use tamtam_actor::{
    Actor, Address, AskError, Budget, Context, Frame, FrameHandle, Overflow, Pool, Reply, Spawner,
};

fn send_and_sync<T: Send + Sync>() {}

#[test]
fn a_handle_goes_to_any_thread() {
    send_and_sync::<FrameHandle>();
    send_and_sync::<Spawner<FrameHandle>>();
}

/// An actor that shares what it has seen with its loop.
fn seen(frame: &Frame) -> (Rc<RefCell<Vec<u32>>>, Address<u32>) {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let shared = Rc::clone(&seen);
    let address = frame.spawn_fn(move |number, _| shared.borrow_mut().push(number));
    (seen, address)
}

#[test]
fn mail_waits_for_the_pump_and_is_handled_on_its_thread() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (seen, address) = seen(&frame);
        address.tell(1).unwrap();
        let other = address.clone();
        thread::spawn(move || other.tell(2).unwrap())
            .join()
            .unwrap();
        assert!(seen.borrow().is_empty());
        assert!(frame.has_mail());
        let pumped = frame.pump(Budget::unlimited());
        assert_eq!((pumped.handled, pumped.left), (2, false));
        assert_eq!(*seen.borrow(), [1, 2]);
        assert!(!frame.has_mail());
        assert_eq!(frame.pump(Budget::unlimited()).handled, 0);
    });
}

#[test]
fn a_budget_of_messages_is_kept_and_what_is_left_is_said() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (seen, address) = seen(&frame);
        for number in 0..1_000 {
            address.tell(number).unwrap();
        }
        let nothing = frame.pump(Budget::messages(0));
        assert_eq!((nothing.handled, nothing.left), (0, true));
        for pump in 1..4 {
            let pumped = frame.pump(Budget::messages(300));
            assert_eq!((pumped.handled, pumped.left), (300, true));
            assert_eq!(seen.borrow().len(), 300 * pump);
        }
        let pumped = frame.pump(Budget::messages(300).and_time(LONG));
        assert_eq!((pumped.handled, pumped.left), (100, false));
        assert_eq!(*seen.borrow(), Vec::from_iter(0..1_000));
    });
}

#[test]
fn a_budget_of_time_ends_a_pump_soon_after() {
    within_limit(|| {
        let mut frame = Frame::new();
        let slow = frame.spawn_fn(|_: (), _| {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(1) {}
        });
        for _ in 0..1_000 {
            slow.tell(()).unwrap();
        }
        // One that has no core for so long comes to nothing.
        let pumped = loop {
            let pumped = frame.pump(Budget::time(Duration::from_millis(4)));
            if pumped.handled > 0 {
                break pumped;
            }
            assert!(pumped.left);
        };
        // Each message takes a millisecond at least, and the clock is looked at between them.
        assert!((1..=4).contains(&pumped.handled), "{pumped:?}");
        assert!(pumped.left);
        assert_eq!(frame.pump(Budget::time(Duration::ZERO)).handled, 0);
    });
}

#[test]
fn a_message_is_passed_on_within_a_pump() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (seen, mut next) = seen(&frame);
        for _ in 0..10 {
            let after = next.clone();
            next = frame.spawn_fn(move |number: u32, _| after.tell(number + 1).unwrap());
        }
        next.tell(0).unwrap();
        let pumped = frame.pump(Budget::unlimited());
        assert_eq!((pumped.handled, pumped.left), (11, false));
        assert_eq!(*seen.borrow(), [10]);
    });
}

/// Two actors that send to each other for ever.
fn ping_pong(frame: &Frame) -> Address<u64> {
    let there = Rc::new(OnceLock::<Address<u64>>::new());
    let back = Rc::clone(&there);
    let ping = frame.spawn_fn(move |number: u64, _| back.get().unwrap().tell(number + 1).unwrap());
    let forth = ping.downgrade();
    let pong = frame.spawn_fn(move |number: u64, _| {
        if let Some(ping) = forth.upgrade() {
            ping.tell(number + 1).unwrap();
        }
    });
    there.set(pong).unwrap();
    ping
}

#[test]
fn actors_that_send_to_each_other_for_ever_do_not_keep_the_frame() {
    within_limit(|| {
        let mut frame = Frame::new();
        let ping = ping_pong(&frame);
        ping.tell(0).unwrap();
        let pumped = frame.pump(Budget::unlimited());
        assert!(pumped.left);
        assert!((2..1_000).contains(&pumped.handled), "{pumped:?}");
        // A budget is used up by them.
        assert_eq!(frame.pump(Budget::messages(5_000)).handled, 5_000);
        assert!(frame.pump(Budget::time(Duration::from_millis(1))).left);
    });
}

#[test]
fn the_loop_is_told_once_when_mail_comes_and_again_after_a_pump_that_left_nothing() {
    within_limit(|| {
        let mut frame = Frame::new();
        let told = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&told);
        frame.on_mail(move || _ = count.fetch_add(1, Ordering::SeqCst));
        let told = || told.load(Ordering::SeqCst);
        let (_, address) = seen(&frame);
        assert_eq!(told(), 0);
        for number in 0..10 {
            let other = address.clone();
            thread::spawn(move || other.tell(number).unwrap())
                .join()
                .unwrap();
        }
        assert_eq!(told(), 1);
        // Still the same mail: the caller knows that something is left.
        assert!(frame.pump(Budget::messages(4)).left);
        address.tell(10).unwrap();
        assert_eq!(told(), 1);
        assert!(!frame.pump(Budget::messages(100)).left);
        assert_eq!(told(), 1);
        // From the frame's own thread.
        address.tell(11).unwrap();
        address.tell(12).unwrap();
        assert_eq!(told(), 2);
        assert_eq!(frame.pump(Budget::unlimited()).handled, 2);
        // What handlers send within a pump is that pump's business.
        let ping = ping_pong(&frame);
        ping.tell(0).unwrap();
        assert_eq!(told(), 3);
        assert!(frame.pump(Budget::unlimited()).left);
        assert_eq!(told(), 3);
    });
}

#[test]
fn who_asks_to_be_told_when_mail_is_there_is_told_at_once() {
    within_limit(|| {
        let frame = Frame::new();
        let (_, address) = seen(&frame);
        address.tell(1).unwrap();
        let (sender, told) = mpsc::channel();
        let again = sender.clone();
        frame.on_mail(move || sender.send("first").unwrap());
        frame.on_mail(move || again.send("second").unwrap());
        assert_eq!(told.try_iter().collect::<Vec<_>>(), ["first", "second"]);
        // A panic in it ends there.
        frame.on_mail(|| panic_on_purpose());
    });
}

/// A loop that sleeps until it is told, while others send at all times: all arrives.
#[test]
fn a_loop_that_pumps_when_it_is_told_misses_nothing() {
    const SENDERS: usize = 2;
    const MESSAGES: usize = 2_000;

    let soak = Soak::rounds(2);
    within(soak.limit(), move || {
        for _ in soak {
            let mut frame = Frame::new();
            let handled = Rc::new(Cell::new(0));
            let count = Rc::clone(&handled);
            let address = frame.spawn_fn(move |_: usize, _| count.set(count.get() + 1));
            let (post, events) = mpsc::channel();
            frame.on_mail(move || post.send(()).unwrap());
            thread::scope(|scope| {
                for _ in 0..SENDERS {
                    let address = &address;
                    scope.spawn(move || {
                        for number in 0..MESSAGES {
                            address.tell(number).unwrap();
                            if number.is_multiple_of(7) {
                                thread::yield_now();
                            }
                        }
                    });
                }
                while handled.get() < SENDERS * MESSAGES {
                    events.recv_timeout(LONG).expect("the loop is told");
                    while frame.pump(Budget::messages(5)).left {}
                }
            });
            assert!(events.try_recv().is_err());
        }
    });
}

#[test]
fn waiting_ends_with_mail_or_with_the_time() {
    within_limit(|| {
        let mut frame = Frame::new();
        let (seen, address) = seen(&frame);
        assert!(!frame.wait(SHORT));
        let (go, begin) = mpsc::channel();
        let other = thread::spawn(move || {
            begin.recv().unwrap();
            address.tell(1).unwrap();
            address
        });
        go.send(()).unwrap();
        assert!(frame.wait(LONG));
        // It is there or on its way.
        while seen.borrow().is_empty() {
            frame.pump(Budget::unlimited());
        }
        let address = other.join().unwrap();
        address.tell(2).unwrap();
        assert!(frame.wait(Duration::ZERO));
    });
}

#[test]
fn other_threads_spawn_by_a_handle() {
    struct Local(Rc<Cell<u32>>);

    impl Actor for Local {
        type Message = Reply<(thread::ThreadId, u32)>;

        fn handle(&mut self, reply: Self::Message, _: &mut Context<Self>) {
            self.0.set(self.0.get() + 1);
            reply.send((thread::current().id(), self.0.get()));
        }
    }

    within_limit(|| {
        let mut frame = Frame::new();
        let handle = frame.handle();
        let (sender, answered) = mpsc::channel();
        let (refused, was_refused) = mpsc::channel();
        let other = thread::spawn(move || {
            let local = handle.spawn_with(|_| Local(Rc::new(Cell::new(6))));
            let limited = handle.spawner().limited(1, Overflow::Fail);
            let limited = limited.spawn_fn(|_: (), _| {});
            limited.tell(()).unwrap();
            assert!(limited.tell(()).unwrap_err().is_full());
            refused.send(()).unwrap();
            let answer = local.ask(|reply| reply);
            sender.send(answer).unwrap();
            (handle, local)
        });
        // Until then nobody makes room.
        was_refused.recv_timeout(LONG).unwrap();
        let answer = loop {
            frame.wait(LONG);
            frame.pump(Budget::unlimited());
            if let Ok(answer) = answered.try_recv() {
                break answer;
            }
        };
        assert_eq!(answer, Ok((thread::current().id(), 7)));
        let (handle, local) = other.join().unwrap();
        assert!(!handle.has_ended());
        drop(frame);
        assert!(handle.has_ended());
        assert!(local.is_stopped());
        let late = handle.spawn_fn(|_: u32, _| {});
        assert_eq!(late.tell(4).unwrap_err().into_inner(), 4);
    });
}

#[test]
fn actors_that_are_not_send_are_dropped_with_the_frame_and_askers_hear_of_it() {
    struct Kept(Rc<Cell<bool>>);

    impl Drop for Kept {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    within_limit(|| {
        let frame = Frame::new();
        let gone = [(); 3].map(|()| Rc::new(Cell::new(false)));
        let [idle, due, unborn] = gone.clone().map(Kept);
        let idle = frame.spawn_fn(move |_: Reply<()>, _| {
            let _ = &idle;
        });
        let due = frame.spawn_fn(move |_: Reply<()>, _| {
            let _ = &due;
        });
        let unborn = frame.spawn_with(move |_: &mut Context<Never>| {
            drop(unborn);
            Never
        });
        let answers = Answers::new();
        due.tell(answers.reply()).unwrap();
        let spawner = frame.spawner();
        drop(frame);
        assert!(gone.iter().all(|gone| gone.get()));
        assert_eq!(answers.next(), Err(AskError::Unanswered));
        assert_eq!(due.lost(), 1);
        for address in [idle, due] {
            assert!(address.tell(answers.reply()).unwrap_err().is_stopped());
        }
        assert!(unborn.is_stopped());
        // A spawner that was kept.
        let late = Kept(Rc::new(Cell::new(false)));
        let is_gone = Rc::clone(&late.0);
        let late = spawner.spawn_fn(move |_: (), _| {
            let _ = &late;
        });
        assert!(late.is_stopped());
        assert!(is_gone.get());
    });
}

struct Never;

impl Actor for Never {
    type Message = ();

    fn handle(&mut self, (): (), _: &mut Context<Self>) {}
}

#[test]
fn a_blocking_ask_on_the_frames_own_thread_is_an_error() {
    within_limit(|| {
        let mut frame = Frame::new();
        let here = frame.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        assert_eq!(here.ask(|reply| reply), Err(AskError::OwnThread));
        // Within a pump it is the same; another home answers.
        let pool = Pool::with_threads(1);
        let there = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(2));
        let (sender, answers) = mpsc::channel();
        let own = here.clone();
        let asker = frame.spawn_fn(move |(): (), _| {
            let both = [own.ask(|reply| reply), there.ask(|reply| reply)];
            sender.send(both).unwrap();
        });
        asker.tell(()).unwrap();
        frame.pump(Budget::unlimited());
        assert_eq!(answers.try_recv(), Ok([Err(AskError::OwnThread), Ok(2)]));
    });
}

#[test]
fn answers_come_in_a_pump() {
    struct Asker {
        other: Address<Reply<u32>>,
        got: Rc<Cell<u32>>,
    }

    impl Actor for Asker {
        type Message = ();

        fn handle(&mut self, (): (), cx: &mut Context<Self>) {
            let then = |this: &mut Self, answer: Result<u32, AskError>, _: &mut _| {
                this.got.set(answer.unwrap());
            };
            cx.ask(&self.other, |reply| reply, then);
        }
    }

    within_limit(|| {
        let mut frame = Frame::new();
        let pool = Pool::with_threads(1);
        let other = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(5));
        let got = Rc::new(Cell::new(0));
        let asker = frame.spawn(Asker {
            other,
            got: Rc::clone(&got),
        });
        asker.tell(()).unwrap();
        while got.get() == 0 {
            assert!(frame.wait(LONG));
            frame.pump(Budget::unlimited());
        }
        assert_eq!(got.get(), 5);
    });
}

/// They were all handled in one turn, whatever the budget.
#[test]
fn answers_keep_to_the_budget_of_a_pump_and_to_their_order() {
    struct Asker {
        other: Address<(u32, Reply<u32>)>,
        got: Rc<RefCell<Vec<u32>>>,
    }

    impl Actor for Asker {
        type Message = (u32, u32);

        fn handle(&mut self, (first, last): (u32, u32), cx: &mut Context<Self>) {
            for number in first..last {
                let then = |this: &mut Self, answer: Result<u32, AskError>, _: &mut _| {
                    this.got.borrow_mut().push(answer.unwrap());
                };
                cx.ask(&self.other, |reply| (number, reply), then);
            }
        }
    }

    within_limit(|| {
        let mut frame = Frame::new();
        let pool = Pool::with_threads(1);
        let other = pool.spawn_fn(|(number, reply): (u32, Reply<u32>), _| reply.send(number));
        let got = Rc::new(RefCell::new(Vec::new()));
        let asker = frame.spawn(Asker {
            other,
            got: Rc::clone(&got),
        });
        asker.tell((0, 100)).unwrap();
        assert_eq!(frame.pump(Budget::messages(1)).handled, 1);
        pool.wait_idle().unwrap();
        let pumped = frame.pump(Budget::messages(10));
        assert_eq!((pumped.handled, pumped.left), (10, true));
        assert_eq!(got.borrow().len(), 10);
        // What comes since comes behind what is left; and before it a message is handled, and the next one behind all.
        asker.tell((100, 200)).unwrap();
        assert_eq!(frame.pump(Budget::messages(91)).handled, 91);
        pool.wait_idle().unwrap();
        for _ in 0..10 {
            assert_eq!(frame.pump(Budget::messages(10)).handled, 10);
        }
        let pumped = frame.pump(Budget::messages(10));
        assert_eq!((pumped.handled, pumped.left), (0, false));
        assert_eq!(*got.borrow(), (0..200).collect::<Vec<_>>());

        asker.tell((0, 100)).unwrap();
        frame.pump(Budget::messages(1));
        pool.wait_idle().unwrap();
        frame.pump(Budget::messages(10));
        // What is left was there before the frame's end: it comes before that.
        drop(frame);
        assert_eq!(got.borrow().len(), 300);
    });
}

#[test]
fn frames_on_one_thread_pump_within_each_other() {
    within_limit(|| {
        let mut outer = Frame::new();
        let mut inner = Frame::new();
        let (outer_seen, to_outer) = seen(&outer);
        let (inner_seen, to_inner) = seen(&inner);
        let both = outer.spawn_fn(move |number: u32, _| {
            to_inner.tell(number).unwrap();
            to_outer.tell(number).unwrap();
            let pumped = inner.pump(Budget::unlimited());
            assert_eq!((pumped.handled, pumped.left), (1, false));
            to_outer.tell(number + 1).unwrap();
        });
        both.tell(1).unwrap();
        let pumped = outer.pump(Budget::unlimited());
        assert_eq!((pumped.handled, pumped.left), (3, false));
        assert_eq!(*outer_seen.borrow(), [1, 2]);
        assert_eq!(*inner_seen.borrow(), [1]);
    });
}

#[test]
fn a_panic_ends_one_actor_and_not_the_pump() {
    within_limit(|| {
        let mut frame = Frame::new();
        let drops = Drops::default();
        let token = drops.token();
        let sick = frame.spawn_fn(move |_: (), _| {
            let _ = &token;
            panic_on_purpose()
        });
        let (seen, well) = seen(&frame);
        sick.tell(()).unwrap();
        well.tell(1).unwrap();
        assert!(!frame.pump(Budget::unlimited()).left);
        assert_eq!(*seen.borrow(), [1]);
        assert!(sick.is_stopped());
        assert_eq!(drops.count(), 1);
    });
}

/// Elsewhere an actor gives way to others after 50 µs; in a frame the caller's budget says how long it may take.
#[test]
fn an_actor_of_a_frame_keeps_its_turn_however_long_a_message_takes() {
    let mut frame = Frame::new();
    let seen = Rc::new(RefCell::new(String::new()));
    let actors = ['a', 'b'].map(|name| {
        let seen = Rc::clone(&seen);
        frame.spawn_fn(move |(): (), _| {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_micros(200) {}
            seen.borrow_mut().push(name);
        })
    });
    for _ in 0..100 {
        actors[0].tell(()).unwrap();
    }
    actors[1].tell(()).unwrap();
    frame.pump(Budget::unlimited());
    assert_eq!(*seen.borrow(), "a".repeat(100) + "b");
}

/// It kept all timers of the process meanwhile.
#[test]
fn a_hook_that_takes_long_does_not_keep_the_timers_of_others() {
    within_limit(|| {
        let frame = Frame::new();
        let slow = frame.spawn_fn(|_: u32, _| {});
        let (wait, gate) = hold();
        let wait = Mutex::new(Some(wait));
        frame.on_mail(move || {
            let wait = wait.lock().unwrap().take();
            wait.into_iter().for_each(Hold::wait);
        });
        slow.tell_after(Duration::from_millis(1), 1);
        gate.until_entered();
        let (sender, told) = mpsc::channel();
        let pool = Pool::with_threads(1);
        let other = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
        other.tell_after(Duration::from_millis(1), 2);
        assert_eq!(told.recv_timeout(LONG / 2), Ok(2));
        gate.open();
    });
}
