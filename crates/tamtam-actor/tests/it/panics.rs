//! A panic ends one actor alone, wherever in its code it happens.

use std::panic::panic_any;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::support::{
    Answers, Drops, Hold, LONG, Token, hold, panic_on_purpose, until, within_limit,
};
use tamtam_actor::{
    Actor, Address, AskError, Context, EndReason, Here, Overflow, Pool, Reply, Worker,
};

/// Where an actor is to panic.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Trouble {
    Birth,
    Started,
    Handle,
    Message,
    Continuation,
    Stopped,
    Drop,
    Queued,
    Payload,
}

struct Troubled {
    trouble: Trouble,
    stopped: mpsc::Sender<()>,
    _token: Token,
}

/// Its drop panics.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic_on_purpose();
        }
    }
}

enum Poke {
    Go,
    Bomb { _bomb: Bomb },
    Ask { _reply: Reply<()> },
}

impl Actor for Troubled {
    type Message = Poke;

    fn started(&mut self, _: &mut Context<Self>) {
        if self.trouble == Trouble::Started {
            panic_on_purpose();
        }
    }

    fn handle(&mut self, message: Poke, cx: &mut Context<Self>) {
        match message {
            Poke::Go => match self.trouble {
                Trouble::Handle => panic_on_purpose(),
                Trouble::Message => drop(Bomb),
                Trouble::Payload => panic_any(Bomb),
                Trouble::Continuation => {
                    let own = cx.address();
                    cx.ask(
                        &own,
                        |reply| Poke::Ask { _reply: reply },
                        |_, answer, _| {
                            assert_eq!(answer, Err(AskError::Unanswered));
                            panic_on_purpose();
                        },
                    );
                }
                _ => cx.stop(),
            },
            Poke::Bomb { .. } | Poke::Ask { .. } => {}
        }
    }

    fn stopped(&mut self, _: &mut Context<Self>) {
        let _ = self.stopped.send(());
        if self.trouble == Trouble::Stopped {
            panic_on_purpose();
        }
    }
}

impl Drop for Troubled {
    fn drop(&mut self) {
        if self.trouble == Trouble::Drop {
            panic_on_purpose();
        }
    }
}

/// One thread, so that one that ends by the panic is missed.
fn panics_alone(trouble: Trouble) {
    within_limit(move || {
        let pool = Pool::with_threads(1);
        let other = pool.spawn_fn(|reply: Reply<u8>, _| reply.send(7));
        // Keeps the thread until all is told: an actor may panic at its birth.
        let keeper = pool.spawn_fn(|hold: Hold, _| hold.wait());
        let (wait, gate) = hold();
        keeper.tell(wait).unwrap();
        gate.until_entered();
        let drops = Drops::default();
        let token = drops.token();
        let (stopped, has_stopped) = mpsc::channel();
        let actor = pool.spawn_with(move |_| {
            let actor = Troubled {
                trouble,
                stopped,
                _token: token,
            };
            if trouble == Trouble::Birth {
                panic_on_purpose();
            }
            actor
        });
        let answers = Answers::new();
        actor.tell(Poke::Go).unwrap();
        if trouble == Trouble::Queued {
            actor.tell(Poke::Bomb { _bomb: Bomb }).unwrap();
        }
        actor
            .tell(Poke::Ask {
                _reply: answers.reply(),
            })
            .unwrap();
        gate.open();
        let answer = answers.next();
        match trouble {
            // It panicked with the question in its mailbox.
            Trouble::Birth
            | Trouble::Started
            | Trouble::Handle
            | Trouble::Message
            | Trouble::Payload => {
                assert!(matches!(answer, Err(AskError::Panicked(_))), "{answer:?}");
            }
            _ => assert_eq!(answer, Err(AskError::Unanswered)),
        }
        until(|| drops.count() == 1);
        until(|| actor.tell(Poke::Go).is_err());
        assert_eq!(other.ask(|reply| reply), Ok(7), "the pool goes on");
        let in_order = matches!(trouble, Trouble::Stopped | Trouble::Drop | Trouble::Queued);
        assert_eq!(has_stopped.try_recv().is_ok(), in_order, "{trouble:?}");
        assert!(has_stopped.try_recv().is_err());
        pool.shutdown();
    });
}

#[test]
fn a_panic_in_birth_ends_this_actor_alone() {
    panics_alone(Trouble::Birth);
}

#[test]
fn a_panic_in_started_ends_this_actor_alone() {
    panics_alone(Trouble::Started);
}

#[test]
fn a_panic_in_handle_ends_this_actor_alone() {
    panics_alone(Trouble::Handle);
}

#[test]
fn a_panic_in_the_drop_of_a_message_ends_this_actor_alone() {
    panics_alone(Trouble::Message);
}

#[test]
fn a_panic_in_a_continuation_ends_this_actor_alone() {
    panics_alone(Trouble::Continuation);
}

#[test]
fn a_panic_in_stopped_ends_this_actor_alone() {
    panics_alone(Trouble::Stopped);
}

#[test]
fn a_panic_in_the_drop_of_an_actor_is_its_own_business() {
    panics_alone(Trouble::Drop);
}

#[test]
fn a_panic_in_the_drop_of_a_lost_message_does_not_keep_the_others() {
    panics_alone(Trouble::Queued);
}

#[test]
fn a_panic_whose_payload_panics_when_dropped_ends_this_actor_alone() {
    // The one panic that is reported: only with a payload of one's own.
    panics_alone(Trouble::Payload);
}

#[test]
fn a_continuation_whose_drop_panics_does_not_take_others_with_it() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        // It waits for answers, and is stopped when some have come; what it would have done with them is dropped.
        let answers = Answers::<()>::new();
        let kept: Arc<Mutex<Vec<Reply<()>>>> = Arc::default();
        let keeper = pool.spawn_fn({
            let kept = Arc::clone(&kept);
            move |reply: Reply<()>, _| kept.lock().unwrap().push(reply)
        });
        struct Asker(Address<Reply<()>>);
        enum Step {
            Ask(Bomb, Reply<()>),
            Hold(Hold),
        }
        impl Actor for Asker {
            type Message = Step;
            fn handle(&mut self, step: Step, cx: &mut Context<Self>) {
                match step {
                    Step::Ask(bomb, reply) => {
                        let kept = (bomb, reply);
                        cx.ask(&self.0, |reply| reply, move |_, _, _| drop(kept));
                    }
                    Step::Hold(hold) => hold.wait(),
                }
            }
        }
        let asker = pool.spawn(Asker(keeper));
        for _ in 0..3 {
            asker.tell(Step::Ask(Bomb, answers.reply())).unwrap();
        }
        until(|| kept.lock().unwrap().len() == 3);
        let (wait, gate) = hold();
        asker.tell(Step::Hold(wait)).unwrap();
        gate.until_entered();
        asker.stop();
        let replies = core::mem::take(&mut *kept.lock().unwrap());
        replies.into_iter().for_each(|reply| reply.send(()));
        gate.open();
        for _ in 0..3 {
            assert_eq!(answers.next(), Err(AskError::Unanswered));
        }
    });
}

/// A key whose drop panics, if it says so.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    panics: bool,
    number: u32,
}

impl Drop for Key {
    fn drop(&mut self) {
        if self.panics && !thread::panicking() {
            panic_on_purpose();
        }
    }
}

/// Messages are held, or noted. Those of 100 and more have keys whose drop panics.
enum Keyed {
    Hold(Hold),
    Number(u32),
}

fn key(message: &Keyed) -> Key {
    match message {
        Keyed::Hold(_) => Key {
            panics: false,
            number: 0,
        },
        Keyed::Number(number) => Key {
            panics: *number >= 100,
            number: *number,
        },
    }
}

/// What a keyed actor does: it tells the numbers that it gets.
fn note(to: mpsc::Sender<u32>) -> impl FnMut(Keyed, &mut Here<Keyed>) + Send {
    move |message, _| match message {
        Keyed::Hold(hold) => hold.wait(),
        Keyed::Number(number) => to.send(number).unwrap(),
    }
}

fn answer(reply: Reply<u32>, _: &mut Here<Reply<u32>>) {
    reply.send(1);
}

/// The thread of the home went with it, and with that all that lived there; the actor's end was not told.
#[test]
fn a_panic_in_the_drop_of_a_key_does_not_end_the_thread_of_a_home() {
    fn stops_in_order(actor: &Address<Keyed>, other: &Address<Reply<u32>>) {
        let (wait, gate) = hold();
        actor.tell(Keyed::Hold(wait)).unwrap();
        gate.until_entered();
        for number in [100, 1, 101] {
            actor.tell(Keyed::Number(number)).unwrap();
        }
        let mut end = actor.end();
        actor.stop();
        gate.open();
        let ended = end.wait_timeout(LONG).expect("the end is told");
        assert_eq!(ended.reason, EndReason::Stopped);
        assert_eq!(actor.lost(), 3);
        assert!(actor.tell(Keyed::Number(2)).is_err());
        assert_eq!(other.ask_timeout(|reply| reply, LONG), Ok(1));
    }

    within_limit(|| {
        let (sender, _receiver) = mpsc::channel();
        let pool = Pool::with_threads(1);
        let actor = pool.spawner().latest_by(key).spawn_fn(note(sender.clone()));
        stops_in_order(&actor, &pool.spawn_fn(answer));
        drop(pool);
        let worker = Worker::new();
        let actor = worker.spawner().latest_by(key).spawn_fn(note(sender));
        stops_in_order(&actor, &worker.spawn_fn(answer));
        assert!(!worker.has_ended());
    });
}

/// The message that was taken was lost with it, and the sender that waited for its room was not told.
#[test]
fn a_panic_in_the_drop_of_a_key_keeps_neither_its_message_nor_the_room() {
    within_limit(|| {
        let (sender, receiver) = mpsc::channel();
        let pool = Pool::with_threads(2);
        let spawner = pool.spawner().latest_by(key).limited(1, Overflow::Wait);
        let actor = spawner.spawn_fn(note(sender));
        let (wait, gate) = hold();
        actor.tell(Keyed::Hold(wait)).unwrap();
        gate.until_entered();
        actor.tell(Keyed::Number(100)).unwrap();
        let (own, waits) = (actor.clone(), mpsc::channel());
        let waiting = thread::spawn(move || {
            waits.0.send(()).unwrap();
            own.tell(Keyed::Number(101)).is_ok()
        });
        waits.1.recv_timeout(LONG).unwrap();
        // Room that is refused, and a message that takes the place of another one: each with a key of its own.
        assert!(actor.try_tell(Keyed::Number(102)).unwrap_err().is_full());
        actor.tell(Keyed::Number(100)).unwrap();
        gate.open();
        assert_eq!(receiver.recv_timeout(LONG), Ok(100));
        assert_eq!(receiver.recv_timeout(LONG), Ok(101));
        assert!(waiting.join().unwrap());
        // The one that was replaced.
        assert_eq!(actor.lost(), 1);
    });
}

/// They go with the last reference to the actor's cell, on the thread of its home.
#[test]
fn a_panic_in_the_drop_of_a_mailboxs_closures_does_not_end_the_thread_of_a_home() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let bomb = Arc::new(Mutex::new(Bomb));
        let of_key = Arc::clone(&bomb);
        let spawner = pool.spawner().latest_by(move |number: &u32| {
            let _ = &of_key;
            *number
        });
        let spawner = spawner.undelivered(move |_, _| {
            let _ = &bomb;
        });
        let actor = spawner.spawn_fn(|_: u32, _| {});
        actor.tell(1).unwrap();
        let end = actor.end();
        drop(actor);
        assert_eq!(end.wait().reason, EndReason::NoAddresses);
        let other = pool.spawn_fn(answer);
        for _ in 0..10 {
            assert_eq!(other.ask_timeout(|reply| reply, LONG), Ok(1));
        }
    });
}
