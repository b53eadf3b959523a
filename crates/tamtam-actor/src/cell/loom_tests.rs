//! Models of actors: the whole way from an address to a handler, and to the end of the actor.
//!
//! Their home keeps what is due in one queue, and each thread of a model, once it has done what it came for, runs
//! what is there: so what was scheduled has run when all threads are through, if it was scheduled at all.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex as Unlocked};
use std::time::Duration;

use tamtam_wait::seam::atomic::{AtomicBool, Ordering};
use tamtam_wait::seam::{self, Mutex, thread};

use crate::actor::Actor;
use crate::address::Address;
use crate::at_work::Muted;
use crate::at_work::State;
use crate::cell::System;
use crate::context::{Context, Here};
use crate::error::AskError;
use crate::home::{Home, Task};
use crate::life::{Born, EndReason, Policy, Restart, WatchKey};
use crate::mailbox::Overflow;
use crate::reply::Reply;
use crate::spawner::Spawner;

mod room;

fn model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(program);
}

/// A home whose tasks are run by whoever asks it to.
struct Stage {
    due: Mutex<Due>,
    /// Messages come back. Not loom's: it is set before threads are.
    refuses: core::sync::atomic::AtomicBool,
}

struct Due {
    tasks: VecDeque<Task>,
    closed: bool,
}

impl Stage {
    fn new() -> Arc<Self> {
        Arc::new(Stage {
            due: Mutex::new(Due {
                tasks: VecDeque::new(),
                closed: false,
            }),
            refuses: core::sync::atomic::AtomicBool::new(false),
        })
    }

    fn spawner(self: &Arc<Self>) -> Spawner {
        Spawner::on(Arc::clone(self) as Arc<dyn Home>)
    }

    fn run(&self) {
        loop {
            let task = self.due.lock().tasks.pop_front();
            match task {
                Some(task) => task.run(),
                None => return,
            }
        }
    }

    fn close(&self) {
        let left = {
            let mut due = self.due.lock();
            due.closed = true;
            core::mem::take(&mut due.tasks)
        };
        left.into_iter().for_each(Task::abandon);
    }
}

impl Home for Stage {
    fn schedule(&self, task: Task) {
        let mut due = self.due.lock();
        if due.closed {
            drop(due);
            task.abandon();
        } else {
            due.tasks.push_back(task);
        }
    }

    fn schedule_or_refuse(&self, task: Task) -> Result<(), Task> {
        if self.refuses.load(Relaxed) {
            return Err(task);
        }
        self.schedule(task);
        Ok(())
    }

    fn schedule_again(&self, task: Task) {
        self.schedule(task);
        // Perhaps for the sake of somebody who is in the middle of sending.
        seam::yield_now();
    }
}

/// What became of messages. Not loom's counts: they add nothing to what threads know of each other.
#[derive(Default)]
struct Fate {
    handled: Count,
    dropped: Count,
    order: Unlocked<Vec<u32>>,
}

/// A message that tells what became of it.
struct Told(u32, Arc<Fate>);

impl Told {
    fn handled(self) {
        self.1.handled.fetch_add(1, Relaxed);
        // Turns never overlap, so this never waits.
        self.1.order.try_lock().unwrap().push(self.0);
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Relaxed);
    }
}

fn handle(message: Told, _: &mut Here<Told>) {
    message.handled();
}

/// So many messages were refused; each of the others was handled, or is counted as lost; and none of them lies
/// anywhere, though the address is still there.
fn check(address: &Address<Told>, fate: &Fate, sent: u32, refused: u32) {
    assert_eq!(fate.dropped.load(Relaxed), sent, "a message lies about");
    assert_eq!(
        fate.handled.load(Relaxed) + address.lost() + refused,
        sent,
        "handled, lost and refused"
    );
}

#[test]
fn loom_two_senders_are_handled_in_order() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, Arc::clone(&fate))).unwrap();
                address.tell(Told(2, Arc::clone(&fate))).unwrap();
                stage.run();
            })
        };
        address.tell(Told(11, Arc::clone(&fate))).unwrap();
        stage.run();
        other.join().unwrap();
        check(&address, &fate, 3, 0);
        assert_eq!(address.lost(), 0);
        let order = fate.order.lock().unwrap();
        let place = |number| order.iter().position(|it| *it == number).unwrap();
        assert!(place(1) < place(2));
    });
}

fn stop_against_senders(preemptions: usize, senders: u32) {
    model(preemptions, move || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let others: Vec<_> = (0..senders)
            .map(|number| {
                let (stage, fate, address) =
                    (Arc::clone(&stage), Arc::clone(&fate), address.clone());
                thread::spawn(move || {
                    let refused = address.tell(Told(number, fate)).is_err();
                    stage.run();
                    u32::from(refused)
                })
            })
            .collect();
        address.stop();
        stage.run();
        let refused = others.into_iter().map(|it| it.join().unwrap()).sum();
        assert!(address.is_stopped());
        check(&address, &fate, senders, refused);
    });
}

#[test]
fn loom_stop_against_tell() {
    stop_against_senders(3, 1);
}

#[test]
fn loom_stop_against_two_who_tell() {
    stop_against_senders(2, 2);
}

#[test]
fn loom_the_last_address_goes_after_what_was_sent() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let weak = address.downgrade();
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, fate)).unwrap();
                drop(address);
                stage.run();
            })
        };
        address.tell(Told(2, Arc::clone(&fate))).unwrap();
        drop(address);
        stage.run();
        other.join().unwrap();
        assert_eq!(fate.handled.load(Relaxed), 2);
        assert!(weak.upgrade().is_none());
        // The actor itself is gone, too.
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// An actor that has lost its last address makes one of its own, somebody sends through that, and drops it.
#[test]
fn loom_an_address_that_an_orphan_makes_is_good_for_a_message() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let place: Arc<Mutex<Option<Address<Told>>>> = Arc::new(Mutex::new(None));
        let address = {
            let place = Arc::clone(&place);
            stage
                .spawner()
                .spawn_fn(move |message: Told, here: &mut Here<Told>| {
                    if message.0 == 0 {
                        *place.lock() = Some(here.address());
                    }
                    message.handled();
                })
        };
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        drop(address);
        let told = {
            let (stage, fate, place) = (Arc::clone(&stage), Arc::clone(&fate), Arc::clone(&place));
            move || {
                let address = place.lock().take();
                let told = address.map(|address| address.tell(Told(1, fate)).unwrap());
                stage.run();
                u32::from(told.is_some())
            }
        };
        let other = thread::spawn(told.clone());
        stage.run();
        let told = other.join().unwrap() + told();
        assert_eq!(told, 1);
        assert_eq!(fate.handled.load(Relaxed), 2);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// Asks somebody who keeps the reply.
struct Asker {
    other: Address<Reply<u32>>,
    fate: Arc<Fate>,
}

impl Actor for Asker {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        cx.ask(
            &self.other,
            |reply| reply,
            |asker, answer, _| {
                assert_eq!(answer, Err(AskError::Unanswered));
                asker.fate.handled.fetch_add(1, Relaxed);
            },
        );
    }
}

#[test]
fn loom_an_answer_against_becoming_idle() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let place = Arc::new(Mutex::new(None));
        let other = {
            let place = Arc::clone(&place);
            stage
                .spawner()
                .spawn_fn(move |reply: Reply<u32>, _: &mut Here<_>| {
                    *place.lock() = Some(reply);
                })
        };
        let asker = stage.spawner().spawn(Asker {
            other,
            fate: Arc::clone(&fate),
        });
        asker.tell(()).unwrap();
        let refuse = {
            let (stage, place) = (Arc::clone(&stage), Arc::clone(&place));
            move || {
                let reply = place.lock().take();
                drop(reply);
                stage.run();
            }
        };
        let refuser = thread::spawn(refuse.clone());
        stage.run();
        refuser.join().unwrap();
        refuse();
        assert_eq!(fate.handled.load(Relaxed), 1);
    });
}

/// Whoever waits for an answer hears of the actor's end.
#[test]
fn loom_a_question_against_stop() {
    model(2, || {
        let stage = Stage::new();
        let address = stage
            .spawner()
            .spawn_fn(|reply: Reply<u32>, _: &mut Here<_>| reply.send(7));
        let done = seam::Arc::new(AtomicBool::new(false));
        let asker = {
            let (address, done) = (address.clone(), seam::Arc::clone(&done));
            thread::spawn(move || {
                let answer = address.ask(|reply| reply);
                done.store(true, Ordering::Release);
                answer
            })
        };
        address.stop();
        // What the question makes due may come at any time.
        while !done.load(Ordering::Acquire) {
            stage.run();
            seam::yield_now();
        }
        let answer = asker.join().unwrap();
        assert!(matches!(
            answer,
            Ok(7) | Err(AskError::Stopped | AskError::Unanswered)
        ));
    });
}

fn limited(overflow: Overflow) {
    model(2, move || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, overflow).spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        let mut refused = 0;
        for number in 2..4 {
            let message = Told(number, Arc::clone(&fate));
            refused += u32::from(address.tell(message).is_err());
        }
        stage.run();
        refused += other.join().unwrap();
        check(&address, &fate, 3, refused);
    });
}

#[test]
fn loom_a_limited_mailbox_that_refuses() {
    limited(Overflow::Fail);
}

#[test]
fn loom_a_limited_mailbox_that_drops_the_oldest() {
    limited(Overflow::DropOldest);
}

#[test]
fn loom_a_limited_mailbox_against_stop() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().limited(1, Overflow::Fail).spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        address.stop();
        stage.run();
        let refused = other.join().unwrap();
        check(&address, &fate, 1, refused);
    });
}

#[test]
fn loom_the_end_of_the_home_against_tell() {
    model(3, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        stage.close();
        let refused = u32::from(address.tell(Told(2, Arc::clone(&fate))).is_err());
        let refused = refused + other.join().unwrap();
        check(&address, &fate, 2, refused);
    });
}

/// Awaits a future that is ready once somebody has opened it, and keeps its messages back until then.
struct Holding(Arc<Gate>, Arc<Fate>);

/// A future that is ready once it is opened.
struct Gate {
    inner: Mutex<(bool, Option<core::task::Waker>)>,
}

impl Gate {
    fn new() -> Self {
        Gate {
            inner: Mutex::new((false, None)),
        }
    }

    fn open(&self) {
        let waker = {
            let mut inner = self.inner.lock();
            inner.0 = true;
            inner.1.take()
        };
        waker.into_iter().for_each(core::task::Waker::wake);
    }
}

struct Opened(Arc<Gate>);

impl Future for Opened {
    type Output = ();

    fn poll(
        self: core::pin::Pin<&mut Self>,
        cx: &mut core::task::Context<'_>,
    ) -> core::task::Poll<()> {
        let mut inner = self.0.inner.lock();
        if inner.0 {
            return core::task::Poll::Ready(());
        }
        inner.1 = Some(cx.waker().clone());
        core::task::Poll::Pending
    }
}

impl Actor for Holding {
    type Message = Option<Told>;

    fn handle(&mut self, message: Option<Told>, cx: &mut Context<Self>) {
        let Some(message) = message else {
            cx.hold(Opened(Arc::clone(&self.0)), |this, (), _| {
                this.1.order.try_lock().unwrap().push(100);
            });
            return;
        };
        message.handled();
    }
}

/// An actor that keeps its messages back goes on with them once what it waits for is there, whenever that comes.
#[test]
fn loom_hold_against_the_outcome_and_a_message() {
    model(2, || {
        let stage = Stage::new();
        let fate = Arc::new(Fate::default());
        let gate = Arc::new(Gate::new());
        let address = stage
            .spawner()
            .spawn(Holding(Arc::clone(&gate), Arc::clone(&fate)));
        address.tell(None).unwrap();
        let opener = {
            let (stage, gate) = (Arc::clone(&stage), Arc::clone(&gate));
            thread::spawn(move || {
                gate.open();
                stage.run();
            })
        };
        address.tell(Some(Told(1, Arc::clone(&fate)))).unwrap();
        stage.run();
        opener.join().unwrap();
        stage.run();
        assert_eq!(*fate.order.lock().unwrap(), [100, 1]);
        assert_eq!(fate.dropped.load(Relaxed), 1);
        drop(address);
        stage.run();
    });
}

/// One that keeps its messages back can be stopped, and those are counted.
#[test]
fn loom_hold_against_stop() {
    model(2, || {
        let stage = Stage::new();
        let fate = Arc::new(Fate::default());
        let gate = Arc::new(Gate::new());
        let address = stage
            .spawner()
            .spawn(Holding(Arc::clone(&gate), Arc::clone(&fate)));
        address.tell(None).unwrap();
        address.tell(Some(Told(1, Arc::clone(&fate)))).unwrap();
        let stopper = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        stage.run();
        stopper.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        assert_eq!(fate.dropped.load(Relaxed), 1);
        // The wish to hold may be lost, too.
        assert!((1..=2).contains(&address.lost()));
        gate.open();
        stage.run();
    });
}

/// Sends more than there is room for: it is muted by the one it sends to.
struct Flooding(Arc<Unlocked<Vec<Muted>>>, Arc<Fate>);

impl Actor for Flooding {
    type Message = Told;

    fn handle(&mut self, message: Told, _: &mut Context<Self>) {
        if message.0 == 0 {
            let muted = Muted::at_work().unwrap();
            self.0.try_lock().unwrap().push(muted);
        }
        message.handled();
    }
}

/// A muted actor goes on with its messages once there is room, whenever that comes.
#[test]
fn loom_mute_against_room() {
    model(2, || {
        let stage = Stage::new();
        let fate = Arc::new(Fate::default());
        let muted = Arc::new(Unlocked::new(Vec::new()));
        let address = stage
            .spawner()
            .spawn(Flooding(Arc::clone(&muted), Arc::clone(&fate)));
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, muted) = (Arc::clone(&stage), Arc::clone(&muted));
            thread::spawn(move || {
                let taken = core::mem::take(&mut *muted.lock().unwrap());
                drop(taken);
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        let taken = core::mem::take(&mut *muted.lock().unwrap());
        drop(taken);
        stage.run();
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
        drop(address);
        stage.run();
    });
}

/// Panics, as far as a model can, at one message, and begins again.
struct Fragile {
    _fate: Arc<Fate>,
}

impl Actor for Fragile {
    type Message = Told;

    fn handle(&mut self, message: Told, cx: &mut Context<Self>) {
        if message.0 == 0 {
            // The turn ends with this message, by a panic.
            let state = cx.here().cell().state();
            state.set(State::PANICKED | State::STOPPING);
        }
        message.handled();
    }
}

fn fragile(stage: &Arc<Stage>, fate: &Arc<Fate>) -> Address<Told> {
    let fate = Arc::clone(fate);
    let restart = Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO);
    stage
        .spawner()
        .restart(restart)
        .spawn_with(move |_| Fragile {
            _fate: Arc::clone(&fate),
        })
}

/// What comes while an actor begins again is handled by the next instance.
#[test]
fn loom_restart_against_tell() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = fragile(&stage, &fate);
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, fate)).unwrap();
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        check(&address, &fate, 2, 0);
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
        assert!(!address.is_stopped());
        drop(address);
        stage.run();
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// A stop is not lost in a restart, nor a message with it.
#[test]
fn loom_restart_against_stop() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = fragile(&stage, &fate);
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        check(&address, &fate, 2, 0);
        assert_eq!(
            address.place().life().end_reason(),
            Some(EndReason::Stopped)
        );
    });
}

/// An actor that pauses is resumed, whenever that is said.
#[test]
fn loom_resume_against_a_pause_and_a_message() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = {
            let fate = Arc::clone(&fate);
            // Nobody decides but this model.
            let policy = Policy::Reported(Box::new(|_| {}));
            let birth = Born::new(
                move |_: &mut Context<Fragile>| Fragile {
                    _fate: Arc::clone(&fate),
                },
                policy,
            );
            // SAFETY: the actor may be used on any thread.
            unsafe { stage.spawner().settle_birth(Box::new(birth)) }
        };
        let place = address.place();
        Arc::clone(&place).send(System::Resume(None));
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, place) = (Arc::clone(&stage), Arc::clone(&place));
            thread::spawn(move || {
                // Too early, perhaps: then it is for nothing.
                place.send(System::Resume(None));
                stage.run();
            })
        };
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        stage.run();
        other.join().unwrap();
        place.send(System::Resume(None));
        stage.run();
        check(&address, &fate, 2, 0);
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
    });
}

/// Whoever watches is told once, also if the end comes meanwhile.
#[test]
fn loom_watch_against_end() {
    model(3, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        for _ in 0..2 {
            let fate = Arc::clone(&fate);
            address.place().watch(
                WatchKey::next(),
                Box::new(move |ended| {
                    assert_eq!(ended.reason, EndReason::Stopped);
                    fate.handled.fetch_add(1, Relaxed);
                }),
            );
        }
        stage.run();
        other.join().unwrap();
        stage.run();
        assert_eq!(fate.handled.load(Relaxed), 2);
    });
}

/// A watch that is taken back is told of, or not, and never both.
#[test]
fn loom_forgetting_a_watch_against_the_end() {
    model(3, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let key = WatchKey::next();
        let told = Arc::clone(&fate);
        address.place().watch(
            key,
            Box::new(move |_| {
                told.handled.fetch_add(1, Relaxed);
            }),
        );
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        let was_forgotten = address.place().life().forget_watcher(key);
        stage.run();
        other.join().unwrap();
        stage.run();
        assert_eq!(
            fate.handled.load(Relaxed) + u32::from(was_forgotten),
            1,
            "told, or forgotten in time"
        );
    });
}

/// One that finishes handles what it has accepted; what comes meanwhile is handled, comes back, or is counted.
#[test]
fn loom_finish_against_tell() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                stage.run();
                u32::from(refused)
            })
        };
        address.tell(Told(2, Arc::clone(&fate))).unwrap();
        address.finish();
        stage.run();
        let refused = other.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        check(&address, &fate, 2, refused);
        assert!(fate.order.lock().unwrap().contains(&2), "it came before");
    });
}

/// A home that takes no more messages gives them back, and the actor is as idle as before.
#[test]
fn loom_a_home_that_refuses_against_a_message_from_within() {
    model(2, || {
        let (stage, fate) = (Stage::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        stage.refuses.store(true, Relaxed);
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                let refused = address.tell(Told(1, fate)).is_err();
                // What comes before messages still wakes.
                address.place().send(System::Look);
                stage.run();
                u32::from(refused)
            })
        };
        let refused = u32::from(address.tell(Told(2, Arc::clone(&fate))).is_err());
        stage.run();
        let refused = refused + other.join().unwrap();
        stage.run();
        check(&address, &fate, 2, refused);
        stage.refuses.store(false, Relaxed);
        address.tell(Told(3, Arc::clone(&fate))).unwrap();
        stage.run();
        check(&address, &fate, 3, refused);
        assert_eq!(address.lost(), 0);
    });
}
