//! Models of the mailbox's queue and of what comes before messages.
//!
//! Whoever finds the receiver idle is the receiver, at once and on the same thread: so these models need nobody
//! who would bring a task from one thread to another.

use tamtam_wait::seam::{self, Arc, UnsafeCell, thread};

use super::streak::Streak;
use super::{Head, LockedStreak, Popped, Seen, StreakLock, Tail, Urgent, oneshot};
use crate::models::model;

/// A queue with what its receiver has got.
struct Mailbox<M> {
    tail: Tail<M>,
    head: Head<M>,
    seen: Seen,
    urgent: Urgent<u32>,
    /// loom reports two receivers at once.
    received: UnsafeCell<Vec<u32>>,
}

// SAFETY: `received` is the receiver's, and that there is one at a time is what the models check.
unsafe impl<M: Send> Sync for Mailbox<M> {}
// SAFETY: all of it may go to another thread.
unsafe impl<M: Send> Send for Mailbox<M> {}

impl<M: Into<u32>> Mailbox<M> {
    fn new() -> Arc<Self> {
        Arc::new(Mailbox {
            tail: Tail::new(),
            head: Head::new(),
            seen: Seen::new(),
            urgent: Urgent::new(),
            received: UnsafeCell::new(Vec::new()),
        })
    }

    fn push(&self, message: M) {
        if self.tail.push(message) {
            self.receive();
        }
    }

    fn push_of(&self, streak: &Streak, message: M) {
        if self.tail.push_of(streak, message) {
            self.receive();
        }
    }

    fn push_urgent(&self, number: u32) {
        self.urgent.push(number);
        if self.tail.wake() {
            self.receive();
        }
    }

    fn note(&self, number: u32) {
        // SAFETY: loom checks that nobody else is at it.
        self.received
            .with_mut(|received| unsafe { (*received).push(number) });
    }

    fn receive(&self) {
        loop {
            loop {
                if !self.urgent.is_empty() {
                    self.urgent.take_all().for_each(|number| self.note(number));
                }
                // SAFETY: this thread has been told that the receiver was idle.
                match unsafe { self.head.pop(&self.tail, &self.seen) } {
                    Popped::Message(message) => self.note(message.into()),
                    Popped::Woken => {}
                    Popped::Empty => break,
                }
            }
            // SAFETY: this thread has been told that the receiver was idle, and is the receiver until it rests; if it has
            // become idle it goes.
            if unsafe { self.head.rest(&self.tail) } {
                return;
            }
            // Somebody is in the middle of sending.
            seam::yield_now();
        }
    }

    /// What was received; nobody sends any more.
    fn received(&self) -> Vec<u32> {
        // SAFETY: all senders and receivers are joined when this is called.
        self.received
            .with(|received| unsafe { (*received).clone() })
    }
}

/// A message in memory of its own: loom reports one that is lost or dropped twice.
struct Boxed(
    Box<u32>,
    #[expect(dead_code, reason = "counted by loom")] Arc<()>,
);

impl Boxed {
    fn new(number: u32) -> Self {
        Boxed(Box::new(number), Arc::new(()))
    }
}

impl From<Boxed> for u32 {
    fn from(boxed: Boxed) -> u32 {
        *boxed.0
    }
}

fn position(received: &[u32], number: u32) -> usize {
    received.iter().position(|it| *it == number).unwrap()
}

#[test]
fn loom_two_senders_and_one_receiver_at_a_time() {
    model(3, || {
        let mailbox = Mailbox::new();
        let other = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                mailbox.push(Boxed::new(1));
                mailbox.push(Boxed::new(2));
            })
        };
        mailbox.push(Boxed::new(11));
        mailbox.push(Boxed::new(12));
        other.join().unwrap();
        let received = mailbox.received();
        assert_eq!(received.len(), 4);
        assert!(position(&received, 1) < position(&received, 2));
        assert!(position(&received, 11) < position(&received, 12));
    });
}

#[test]
fn loom_three_senders() {
    model(2, || {
        let mailbox = Mailbox::new();
        let others = [1, 2].map(|number| {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || mailbox.push(Boxed::new(number)))
        });
        mailbox.push(Boxed::new(3));
        for other in others {
            other.join().unwrap();
        }
        let mut received = mailbox.received();
        received.sort_unstable();
        assert_eq!(received, [1, 2, 3]);
    });
}

/// One thread's messages share a block, as far as the receiver lets them; the other one sends between them.
#[test]
fn loom_a_streak_beside_another_sender() {
    model(3, || {
        let mailbox = Mailbox::new();
        let other = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || mailbox.push(Boxed::new(11)))
        };
        let streak = Streak::new();
        for number in 1..=4 {
            mailbox.push_of(&streak, Boxed::new(number));
        }
        other.join().unwrap();
        let mut received = mailbox.received();
        received.retain(|number| *number != 11);
        assert_eq!(received, [1, 2, 3, 4]);
        assert_eq!(mailbox.received().len(), 5);
    });
}

/// The receiver comes while a block is being filled, and becomes idle where it can.
#[test]
fn loom_a_block_is_filled_and_emptied() {
    for is_given_up in [false, true] {
        model(3, move || {
            let mailbox = Mailbox::new();
            let streak = Streak::new();
            assert!(mailbox.tail.push_of(&streak, Boxed::new(1)));
            assert!(!mailbox.tail.push_of(&streak, Boxed::new(2)));
            let receiver = {
                let mailbox = Arc::clone(&mailbox);
                thread::spawn(move || mailbox.receive())
            };
            mailbox.push_of(&streak, Boxed::new(3));
            if is_given_up {
                drop(streak);
            } else {
                for number in 4..=6 {
                    mailbox.push_of(&streak, Boxed::new(number));
                }
            }
            receiver.join().unwrap();
            let all: Vec<u32> = (1..=if is_given_up { 3 } else { 6 }).collect();
            assert_eq!(mailbox.received(), all);
        });
    }
}

/// Two threads send in one streak, each when it has the lock, and otherwise by themselves.
#[test]
fn loom_a_streak_of_two_threads() {
    model(2, || {
        let mailbox = Mailbox::new();
        let lock = Arc::new(StreakLock::new());
        let streak = Arc::new(lock.streak());
        let send = {
            let mailbox = Arc::clone(&mailbox);
            move |lock: &StreakLock, streak: &LockedStreak, number| {
                let woken = match lock.try_lock() {
                    Some(guard) => {
                        let streak = streak.get(&guard).expect("a streak of this lock");
                        let message = Boxed::new(number);
                        let back = mailbox.tail.push_into_block(streak, message).err();
                        back.is_some_and(|back| mailbox.tail.push_in_streak_of(streak, back))
                    }
                    None => mailbox.tail.push(Boxed::new(number)),
                };
                if woken {
                    mailbox.receive();
                }
            }
        };
        let other = {
            let (lock, streak, send) = (Arc::clone(&lock), Arc::clone(&streak), send.clone());
            thread::spawn(move || {
                send(&lock, &streak, 11);
                send(&lock, &streak, 12);
            })
        };
        for number in 1..=3 {
            send(&lock, &streak, number);
        }
        other.join().unwrap();
        let received = mailbox.received();
        assert_eq!(received.len(), 5);
        let (theirs, ours): (Vec<u32>, Vec<u32>) =
            received.into_iter().partition(|number| *number > 10);
        assert!(theirs.is_sorted() && ours.is_sorted());
    });
}

/// Whoever knows that another one has sent before him is behind him.
#[test]
fn loom_a_streak_stays_behind_what_its_thread_has_heard_of() {
    model(3, || {
        let mailbox = Mailbox::new();
        let streak = Streak::new();
        assert!(mailbox.tail.push_of(&streak, Boxed::new(1)));
        assert!(!mailbox.tail.push_of(&streak, Boxed::new(2)));
        let other = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || mailbox.tail.push(Boxed::new(11)))
        };
        assert!(!mailbox.tail.push_of(&streak, Boxed::new(3)));
        assert!(!other.join().unwrap());
        assert!(!mailbox.tail.push_of(&streak, Boxed::new(4)));
        mailbox.receive();
        let received = mailbox.received();
        assert!(position(&received, 11) < position(&received, 4));
        assert!(received.iter().filter(|number| **number != 11).is_sorted());
    });
}

#[test]
fn loom_what_is_urgent_wakes_the_receiver() {
    model(3, || {
        let mailbox = Mailbox::new();
        let other = {
            let mailbox = Arc::clone(&mailbox);
            thread::spawn(move || {
                mailbox.push_urgent(1);
                mailbox.push_urgent(2);
            })
        };
        mailbox.push(Boxed::new(11));
        other.join().unwrap();
        let received = mailbox.received();
        assert_eq!(received.len(), 3);
        assert!(position(&received, 1) < position(&received, 2));
    });
}

#[test]
fn loom_urgent_things_of_two_threads_are_taken_once() {
    model(3, || {
        let urgent = Arc::new(Urgent::new());
        let other = {
            let urgent = Arc::clone(&urgent);
            thread::spawn(move || {
                urgent.push(Boxed::new(1));
                urgent.push(Boxed::new(2));
            })
        };
        urgent.push(Boxed::new(11));
        let mut taken: Vec<u32> = urgent.take_all().map(u32::from).collect();
        other.join().unwrap();
        taken.extend(urgent.take_all().map(u32::from));
        assert_eq!(taken.len(), 3);
        assert!(position(&taken, 1) < position(&taken, 2));
    });
}

#[test]
fn loom_an_answer_against_the_one_who_waits() {
    model(3, || {
        let (filler, taker) = oneshot();
        let other = thread::spawn(move || filler.fill(Arc::new(7)));
        let answer = taker.take(None);
        assert_eq!(answer.as_deref(), Some(&7));
        other.join().unwrap();
    });
}

/// loom reports an answer that is lost, or dropped twice.
#[test]
fn loom_an_answer_against_giving_up() {
    for waits in [false, true] {
        model(3, move || {
            let (filler, taker) = oneshot();
            let other = thread::spawn(move || {
                // Gone or not, the answer goes where it may.
                filler.is_awaited();
                filler.fill(Arc::new(7));
            });
            if waits {
                // The time may be over at any moment.
                let answer = taker.take(Some(std::time::Instant::now()));
                assert!(answer.is_none_or(|answer| *answer == 7));
            } else {
                drop(taker);
            }
            other.join().unwrap();
        });
    }
}

#[test]
fn loom_a_question_without_an_answer() {
    model(3, || {
        let (filler, taker) = oneshot::<Arc<u32>>();
        let other = thread::spawn(move || drop(filler));
        drop(taker);
        other.join().unwrap();
    });
}
