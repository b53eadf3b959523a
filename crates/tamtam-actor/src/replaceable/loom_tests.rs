//! Models of the hand-over: an instance that comes to the end of what it is at, against one who replaces it.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use core::task::{Context as TaskContext, Poll, Waker};
use std::pin::pin;
use std::sync::{Arc, Mutex as Unlocked};

use tamtam_wait::seam::thread;

use crate::actor::Actor;
use crate::address::Address;
use crate::context::Context;
use crate::error::AskError;
use crate::models::{ModelHome, model};
use crate::reply::Reply;

/// What became of messages. Not loom's counts: they add nothing to what threads know of each other.
#[derive(Default)]
struct Fate {
    handled: Unlocked<Vec<u32>>,
    /// Which instance has handled each of them.
    handled_by: Unlocked<Vec<u32>>,
    dropped: Count,
    /// Instances that there are, and that there were.
    living: Count,
    made: Count,
}

enum Message {
    Note(Told),
    Ask(Reply<u32>),
}

struct Told(u32, Arc<Fate>);

impl Drop for Told {
    fn drop(&mut self) {
        self.1.dropped.fetch_add(1, Relaxed);
    }
}

struct Noting {
    fate: Arc<Fate>,
    number: u32,
}

impl Noting {
    fn new(fate: &Arc<Fate>) -> Self {
        fate.living.fetch_add(1, Relaxed);
        Noting {
            fate: Arc::clone(fate),
            number: fate.made.fetch_add(1, Relaxed),
        }
    }
}

impl Drop for Noting {
    fn drop(&mut self) {
        self.fate.living.fetch_sub(1, Relaxed);
    }
}

impl Actor for Noting {
    type Message = Message;

    fn handle(&mut self, message: Message, _: &mut Context<Self>) {
        // Here it hangs: the one who replaces it may come now.
        thread::yield_now();
        match message {
            Message::Note(told) => {
                self.fate.handled.lock().unwrap().push(told.0);
                self.fate.handled_by.lock().unwrap().push(self.number);
            }
            Message::Ask(reply) => reply.send(1),
        }
    }
}

fn spawn(stage: &Arc<ModelHome>, fate: &Arc<Fate>) -> Address<Message> {
    let fate = Arc::clone(fate);
    stage
        .spawner()
        .replaceable()
        .spawn_with(move |_| Noting::new(&fate))
}

/// Each of so many messages was handled, once, or is counted, and none lies anywhere. At most so many were at hand when the
/// instance was replaced that had them, and count though they may have been handled.
fn check(address: &Address<Message>, fate: &Fate, sent: u32, replaced: u64) {
    assert_eq!(fate.dropped.load(Relaxed), sent, "a message lies about");
    let handled = fate.handled.lock().unwrap().clone();
    let mut numbers = handled.clone();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), handled.len(), "a message was handled twice");
    assert!(address.lost() <= replaced);
    assert!(handled.len() as u64 + address.lost() >= u64::from(sent));
    if address.lost() == 0 {
        assert!(handled.is_sorted(), "messages changed places: {handled:?}");
    }
}

/// The actor still answers, and ends when it is to.
fn end(stage: &Arc<ModelHome>, fate: &Arc<Fate>, address: Address<Message>) {
    let mut answer = pin!(address.ask_async(Message::Ask));
    stage.run();
    let polled = answer
        .as_mut()
        .poll(&mut TaskContext::from_waker(Waker::noop()));
    assert_eq!(polled, Poll::Ready(Ok(1)));
    assert_eq!(
        fate.living.load(Relaxed),
        1,
        "instances that were replaced are gone"
    );
    drop(address);
    stage.run();
    assert_eq!(fate.living.load(Relaxed), 0);
}

/// What was accepted is handled once, in its order, or was at hand and is counted; and the next instance goes on.
#[test]
fn loom_done_against_replaced() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = spawn(&stage, &fate);
        for number in 1..=2 {
            address
                .tell(Message::Note(Told(number, Arc::clone(&fate))))
                .unwrap();
        }
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                assert!(address.replace());
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        check(&address, &fate, 2, 1);
        end(&stage, &fate, address);
        // No trace of it is left.
        assert_eq!(Arc::strong_count(&stage), 1);
        assert!(fate.made.load(Relaxed) <= 2);
    });
}

/// What is told after the replacement is for the next instance, though the one before comes back and looks for more.
#[test]
fn loom_come_back_against_the_next_instance() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = spawn(&stage, &fate);
        let note = |number| Message::Note(Told(number, Arc::clone(&fate)));
        address.tell(note(1)).unwrap();
        let other = {
            let (stage, address, later) = (Arc::clone(&stage), address.clone(), note(2));
            let fate = Arc::clone(&fate);
            thread::spawn(move || {
                let made = fate.made.load(Relaxed);
                assert!(address.replace());
                address.tell(later).unwrap();
                stage.run();
                made
            })
        };
        stage.run();
        let made = other.join().unwrap();
        stage.run();
        let handled = fate.handled.lock().unwrap().clone();
        let place = handled.iter().position(|number| *number == 2).unwrap();
        let by = fate.handled_by.lock().unwrap()[place];
        assert!(by >= made, "handled by {by} of {made} that were before");
        check(&address, &fate, 2, 1);
        end(&stage, &fate, address);
    });
}

/// A message that comes beside the replacement wakes the instance that is there then.
#[test]
fn loom_replaced_against_tell() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = spawn(&stage, &fate);
        stage.run();
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                assert!(address.replace());
                stage.run();
            })
        };
        address
            .tell(Message::Note(Told(1, Arc::clone(&fate))))
            .unwrap();
        stage.run();
        other.join().unwrap();
        stage.run();
        check(&address, &fate, 1, 1);
        end(&stage, &fate, address);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// The asker hears the answer, or that there will be none; and if the question was at hand, then before the replacement is done.
#[test]
fn loom_an_answer_against_replaced() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = spawn(&stage, &fate);
        let mut answer = Box::pin(address.ask_async(Message::Ask));
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                assert!(address.replace());
                let was_at_hand = address.lost() == 1;
                let polled = answer
                    .as_mut()
                    .poll(&mut TaskContext::from_waker(Waker::noop()));
                assert!(polled.is_ready() || !was_at_hand, "it is not heard at once");
                stage.run();
                (polled, answer)
            })
        };
        stage.run();
        let (mut polled, mut answer) = other.join().unwrap();
        stage.run();
        if polled.is_pending() {
            polled = answer
                .as_mut()
                .poll(&mut TaskContext::from_waker(Waker::noop()));
        }
        match polled {
            Poll::Ready(Ok(1)) => {}
            Poll::Ready(Err(AskError::Hung(actor))) => {
                assert_eq!((actor, address.lost()), (address.id(), 1));
            }
            other => panic!("{other:?}"),
        }
        end(&stage, &fate, address);
    });
}

/// A stop beside the replacement ends the actor, whichever instance has it.
#[test]
fn loom_stop_against_replaced() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = spawn(&stage, &fate);
        address
            .tell(Message::Note(Told(1, Arc::clone(&fate))))
            .unwrap();
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.replace();
                stage.run();
            })
        };
        address.stop();
        stage.run();
        other.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        assert_eq!(fate.dropped.load(Relaxed), 1);
        assert_eq!(fate.living.load(Relaxed), 0);
        assert!(!address.replace());
        drop(address);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}
