//! A panic ends one actor alone, wherever in its code it happens.

use std::panic::panic_any;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::support::{Answers, Drops, Hold, Token, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{Actor, Address, AskError, Context, Pool, Reply};

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
