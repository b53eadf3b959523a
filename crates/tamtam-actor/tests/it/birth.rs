//! Actors begin by themselves soon after their birth, wherever they live.

use std::rc::Rc;
use std::sync::mpsc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use crate::support::{
    Drops, LONG, Log, Soak, Token, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{
    Actor, Address, Budget, Context, EndReason, Frame, FrameHandle, Pool, Quit, Restart, Stepper,
    Time, Topic, Worker,
};

/// Says where it begins, and sets a timer there.
struct Beginning {
    said: mpsc::Sender<(&'static str, ThreadId)>,
}

impl Beginning {
    fn say(&self, what: &'static str) {
        let _ = self.said.send((what, thread::current().id()));
    }
}

impl Actor for Beginning {
    type Message = ();

    fn started(&mut self, cx: &mut Context<Self>) {
        self.say("started");
        cx.after(Duration::ZERO, |this, _| this.say("due"));
    }

    fn handle(&mut self, (): (), _: &mut Context<Self>) {
        self.say("handled");
    }
}

/// It begins, and its timer comes, though nobody sends to it; on which threads that was.
fn begins(spawn: impl FnOnce(Beginning) -> Address<()>) -> [ThreadId; 2] {
    let (said, heard) = mpsc::channel();
    let address = spawn(Beginning { said });
    let threads = ["started", "due"].map(|expected| {
        let (what, thread) = heard.recv_timeout(LONG).expect("it begins by itself");
        assert_eq!(what, expected);
        thread
    });
    assert!(!address.is_stopped());
    address.tell(()).unwrap();
    assert_eq!(heard.recv_timeout(LONG).unwrap().0, "handled");
    drop(address);
    assert_eq!(
        heard.recv_timeout(LONG),
        Err(mpsc::RecvTimeoutError::Disconnected)
    );
    threads
}

#[test]
fn on_a_pool() {
    within_limit(|| {
        for threads in [1, 2] {
            let pool = Pool::with_threads(threads);
            for _ in 0..10 {
                begins(|actor| pool.spawn(actor));
                begins(|actor| pool.spawn_with(move |_| actor));
                begins(|actor| pool.spawn_blocking(actor));
            }
        }
    });
}

#[test]
fn on_a_worker() {
    within_limit(|| {
        let worker = Worker::new();
        let (sender, receiver) = mpsc::channel();
        let told = worker.spawn_fn(move |(), _| sender.send(thread::current().id()).unwrap());
        told.tell(()).unwrap();
        let its_thread = receiver.recv_timeout(LONG).unwrap();
        for _ in 0..10 {
            assert_eq!(begins(|actor| worker.spawn(actor)), [its_thread; 2]);
            let with = begins(|actor| worker.spawn_with(move |_| actor));
            assert_eq!(with, [its_thread; 2]);
        }
    });
}

#[test]
fn in_a_pump_of_a_frame() {
    within_limit(|| {
        let time = Time::manual();
        let mut frame = Frame::with_time(time.clone());
        let (told, is_told) = mpsc::channel();
        frame.on_mail(move || told.send(()).unwrap());
        let births: [fn(&Frame, Beginning) -> Address<()>; 3] = [
            |frame, actor| frame.spawn(actor),
            |frame, actor| frame.spawn_with(move |_| actor),
            |frame, actor| {
                let handle: FrameHandle = frame.handle();
                thread::spawn(move || handle.spawn(actor)).join().unwrap()
            },
        ];
        for birth in births {
            let (said, heard) = mpsc::channel();
            let address = birth(&frame, Beginning { said });
            is_told.recv_timeout(LONG).expect("the loop is to pump");
            assert!(heard.try_recv().is_err());
            let pumped = frame.pump(Budget::unlimited());
            assert_eq!((pumped.handled, pumped.left), (0, false));
            let here = thread::current().id();
            assert_eq!(heard.try_recv(), Ok(("started", here)));
            time.advance(Duration::from_millis(1));
            is_told.recv_timeout(LONG).expect("the timer is due");
            frame.pump(Budget::unlimited());
            assert_eq!(heard.try_recv(), Ok(("due", here)));
            drop(address);
            frame.pump(Budget::unlimited());
            let _ = is_told.try_iter().count();
        }
    });
}

#[test]
fn in_a_step() {
    let stepper = Stepper::new();
    for birth in [
        (|stepper, actor| stepper.spawn(actor)) as fn(&Stepper, Beginning) -> Address<()>,
        |stepper, actor| stepper.spawn_with(move |_| actor),
    ] {
        let (said, heard) = mpsc::channel();
        let address = birth(&stepper, Beginning { said });
        assert!(heard.try_recv().is_err());
        assert_eq!(stepper.due(), 1);
        assert!(stepper.step());
        assert_eq!(heard.try_recv().unwrap().0, "started");
        stepper.advance(Duration::from_millis(1));
        assert_eq!(heard.try_recv().unwrap().0, "due");
        drop(address);
        stepper.run();
    }
    // A function has nothing to do before its first message.
    let address = stepper.spawn_fn(|(), _| {});
    assert_eq!(stepper.due(), 0);
    drop(address);
}

#[test]
fn one_that_subscribes_when_it_begins_needs_no_message() {
    struct Subscriber(Topic<u32>, mpsc::Sender<u32>);

    impl Actor for Subscriber {
        type Message = u32;

        fn started(&mut self, cx: &mut Context<Self>) {
            self.0.subscribe(&cx.address()).detach();
        }

        fn handle(&mut self, number: u32, cx: &mut Context<Self>) {
            self.1.send(number).unwrap();
            cx.stop();
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::new();
        let (sender, receiver) = mpsc::channel();
        let _address = pool.spawn(Subscriber(topic.clone(), sender));
        until(|| topic.subscribers() == 1);
        assert_eq!(topic.publish(7).unwrap(), 1);
        assert_eq!(receiver.recv_timeout(LONG), Ok(7));
    });
}

#[test]
fn what_cannot_be_made_ends_or_begins_again_without_a_message() {
    struct Never;

    impl Actor for Never {
        type Message = ();
        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let unborn = pool.spawn_with(|_: &mut Context<Never>| -> Never { panic_on_purpose() });
        assert!(matches!(unborn.end().wait().reason, EndReason::Panicked(_)));
        let log = Log::default();
        let written = log.clone();
        let (sender, receiver) = mpsc::channel();
        let late = pool
            .spawner()
            .restart(Restart::on_panic().no_limit())
            .spawn_with(move |_| {
                written.add("tried");
                if written.lines().len() < 3 {
                    panic_on_purpose();
                }
                sender.send(()).unwrap();
                Never
            });
        receiver.recv_timeout(LONG).unwrap();
        assert_eq!(log.lines().len(), 3);
        assert!(!late.is_stopped());
    });
}

#[test]
fn one_that_is_not_send_begins_on_its_thread_and_one_that_comes_too_late_does_not() {
    struct Local {
        here: Rc<()>,
        log: Log,
        _token: Token,
    }

    impl Actor for Local {
        type Message = ();

        fn started(&mut self, _: &mut Context<Self>) {
            let _ = Rc::clone(&self.here);
            self.log.add("started");
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}
    }

    within_limit(|| {
        let (log, drops) = (Log::default(), Drops::default());
        let worker = Worker::new();
        let spawner = worker.spawner();
        let spawn = || {
            let (log, token) = (log.clone(), drops.token());
            let spawner = spawner.clone();
            spawner.spawn_with(move |_| Local {
                here: Rc::new(()),
                log,
                _token: token,
            })
        };
        let _address = spawn();
        until(|| log.lines() == ["started"]);
        worker.quit(Quit::Drain);
        worker.join();
        assert_eq!(drops.count(), 1);
        assert!(spawn().is_stopped());
        assert_eq!((log.lines().len(), drops.count()), (1, 2));
    });
}

#[test]
fn births_beside_the_end_of_their_home_begin_and_end_or_do_neither() {
    struct Brief {
        begun: mpsc::Sender<i32>,
        _token: Token,
    }

    impl Actor for Brief {
        type Message = ();

        fn started(&mut self, _: &mut Context<Self>) {
            self.begun.send(1).unwrap();
        }

        fn handle(&mut self, (): (), _: &mut Context<Self>) {}

        fn stopped(&mut self, _: &mut Context<Self>) {
            self.begun.send(-1).unwrap();
        }
    }

    let soak = Soak::rounds(100);
    within(soak.limit(), move || {
        for round in soak {
            let (sender, receiver) = mpsc::channel();
            let drops = Drops::default();
            let pool = Pool::with_threads(2);
            let worker = Worker::new();
            let brief = || Brief {
                begun: sender.clone(),
                _token: drops.token(),
            };
            let (by_pool, by_worker) = (pool.spawner(), worker.spawner());
            thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..50 {
                        drop(by_pool.clone().spawn(brief()));
                        drop(by_worker.clone().spawn(brief()));
                    }
                });
                scope.spawn(|| {
                    (0..round % 50).for_each(|_| thread::yield_now());
                    drop(pool);
                    drop(worker);
                });
            });
            until(|| drops.count() == 100);
            assert_eq!(receiver.try_iter().sum::<i32>(), 0);
        }
    });
}
