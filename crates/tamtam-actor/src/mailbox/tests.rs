//! The mailbox's parts, one by one: small enough for Miri.

use std::sync::Arc;
use std::thread;

use super::block::Block;
use super::limited::{Limited, LimitedMailbox};
use super::streak::Streak;
use super::{Head, Loss, Overflow, Popped, Pushed, Seen, StreakLock, Tail, Urgent, oneshot};

/// A tail and a head whose receiver is this thread.
struct Mailbox<M> {
    tail: Tail<M>,
    head: Head<M>,
    seen: Seen,
}

impl<M> Mailbox<M> {
    fn new() -> Self {
        Mailbox {
            tail: Tail::new(),
            head: Head::new(),
            seen: Seen::new(),
        }
    }

    fn pop(&self) -> Popped<M> {
        // SAFETY: each test has one receiver.
        unsafe { self.head.pop(&self.tail, &self.seen) }
    }

    fn rest(&self) -> bool {
        // SAFETY: each test has one receiver.
        unsafe { self.head.rest(&self.tail) }
    }

    fn message(&self) -> Option<M> {
        match self.pop() {
            Popped::Message(message) => Some(message),
            Popped::Woken => panic!("a node without a message"),
            Popped::Empty => None,
        }
    }
}

impl<M> Drop for Mailbox<M> {
    fn drop(&mut self) {
        // SAFETY: the mailbox is being dropped, so no other thread has it.
        unsafe {
            while self.head.take_left(&self.tail, &self.seen).is_some() {}
            self.head.free(&self.tail);
        }
    }
}

#[test]
fn the_first_message_wakes_and_the_others_do_not() {
    let mailbox = Mailbox::new();
    for _ in 0..3 {
        assert!(mailbox.tail.push(Box::new(1)));
        assert!(!mailbox.tail.push(Box::new(2)));
        assert_eq!(mailbox.message().as_deref(), Some(&1));
        assert!(!mailbox.rest(), "there is another one");
        assert_eq!(mailbox.message().as_deref(), Some(&2));
        assert!(mailbox.message().is_none());
        assert!(mailbox.rest());
    }
}

#[test]
fn a_node_without_a_message_wakes_alone() {
    let mailbox = Mailbox::new();
    assert!(mailbox.tail.wake());
    assert!(!mailbox.tail.push("text".to_owned()));
    assert!(!mailbox.tail.wake());
    assert!(matches!(mailbox.pop(), Popped::Woken));
    assert_eq!(mailbox.message().as_deref(), Some("text"));
    assert!(!mailbox.rest());
    assert!(matches!(mailbox.pop(), Popped::Woken));
    assert!(matches!(mailbox.pop(), Popped::Empty));
    assert!(mailbox.rest());
    assert!(mailbox.tail.push("more".to_owned()));
}

#[test]
fn a_mark_is_reached_by_the_message_that_was_the_youngest() {
    let mailbox = Mailbox::new();
    assert!(mailbox.tail.push(1));
    assert!(!mailbox.tail.push(2));
    let mark = mailbox.tail.mark();
    assert!(!mailbox.tail.push(3));
    assert!(!mailbox.head.is_at(mark));
    assert_eq!(mailbox.message(), Some(1));
    assert!(!mailbox.head.is_at(mark));
    assert_eq!(mailbox.message(), Some(2));
    assert!(mailbox.head.is_at(mark));
    assert!(!mailbox.head.has_reached_end(&mailbox.tail));
    assert_eq!(mailbox.message(), Some(3));
    assert!(mailbox.head.has_reached_end(&mailbox.tail));
}

#[test]
fn messages_of_all_sizes_and_alignments_come_out_as_they_went_in() {
    #[repr(align(256))]
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Aligned(u8);

    fn goes_through<M: Clone + PartialEq + std::fmt::Debug>(message: M) {
        let mailbox = Mailbox::new();
        // More than a thread keeps of a size.
        let count = if cfg!(miri) { 3 } else { 500 };
        for _ in 0..2 {
            for place in 0..count {
                assert_eq!(mailbox.tail.push(message.clone()), place == 0);
            }
            for _ in 0..count {
                assert_eq!(mailbox.message().as_ref(), Some(&message));
            }
            assert!(mailbox.rest());
        }
    }
    goes_through(());
    goes_through(7_u8);
    goes_through([1_u64; 7]);
    goes_through([2_u64; 15]);
    goes_through([3_u64; 23]);
    goes_through([4_u64; 31]);
    goes_through([5_u64; 100]);
    goes_through(Aligned(6));
    goes_through(vec![String::from("text")]);
}

/// Two threads send numbers, which come whole and in each one's order.
fn numbers_of_two_threads_come(
    count: usize,
    push: impl Fn(&Tail<(usize, Box<usize>)>, (usize, Box<usize>)) -> bool + Sync,
) {
    let mailbox = Mailbox::new();
    // Never idle, so no sender has to care for turns.
    assert!(mailbox.tail.push((0, Box::new(0))));
    thread::scope(|scope| {
        let (tail, push) = (&mailbox.tail, &push);
        for sender in 0..2_usize {
            scope.spawn(move || {
                for number in 1..=count {
                    let woken = push(tail, (sender, Box::new(number)));
                    assert!(!woken);
                }
            });
        }
        let mut last = [0, 0];
        let mut got = 0;
        while got < 2 * count + 1 {
            match mailbox.message() {
                Some((_, number)) if *number == 0 => got += 1,
                Some((sender, number)) => {
                    assert_eq!(*number, last[sender] + 1, "from sender {sender}");
                    last[sender] = *number;
                    got += 1;
                }
                None => thread::yield_now(),
            }
        }
    });
    assert!(mailbox.message().is_none());
    assert!(mailbox.rest());
}

#[test]
fn nodes_travel_between_threads() {
    let count = if cfg!(miri) { 20 } else { 20_000 };
    numbers_of_two_threads_come(count, Tail::push);
}

/// A stream of numbers that is the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % count
    }
}

/// Messages of two senders by turns and in streaks, with wake-ups between them, while the receiver takes some and rests
/// when it can: beside a queue that is a list.
#[test]
fn streaks_of_two_senders_come_out_in_the_order_in_which_they_went_in() {
    fn goes_well<M>(seed: u64, message: impl Fn(u64) -> M, number: impl Fn(&M) -> u64) {
        let mut dice = Dice(seed);
        let mailbox = Mailbox::new();
        let streaks = [Streak::new(), Streak::new()];
        let mut is_idle = true;
        let mut inside = std::collections::VecDeque::new();
        let mut next = 0;
        for _ in 0..if cfg!(miri) { 16 } else { 1_000 } {
            match dice.below(8) {
                0 => {
                    let woken = mailbox.tail.wake();
                    assert_eq!(woken, is_idle);
                    is_idle = false;
                }
                1..=4 => {
                    let streak = &streaks[dice.below(2) as usize];
                    for _ in 0..dice.below(60) {
                        let woken = mailbox.tail.push_of(streak, message(next));
                        assert_eq!(woken, is_idle);
                        is_idle = false;
                        inside.push_back(next);
                        next += 1;
                    }
                }
                _ if is_idle => {}
                _ => {
                    let mut left = dice.below(150);
                    let mark = mailbox.tail.mark();
                    let marked = inside.len();
                    let before = inside.len();
                    while left != 0 {
                        match mailbox.pop() {
                            Popped::Message(message) => {
                                assert_eq!(Some(number(&message)), inside.pop_front());
                                assert_eq!(mailbox.head.has_reached_end(&mailbox.tail), {
                                    inside.is_empty() && mailbox.head.is_at(mailbox.tail.mark())
                                });
                                if mailbox.head.is_at(mark) {
                                    assert_eq!(before - inside.len(), marked);
                                }
                            }
                            Popped::Woken => {}
                            Popped::Empty => break,
                        }
                        left -= 1;
                    }
                    if left != 0 {
                        assert!(inside.is_empty());
                        assert!(mailbox.rest());
                        is_idle = true;
                    } else if !inside.is_empty() {
                        assert!(!mailbox.rest());
                    }
                }
            }
        }
    }

    for seed in 0..if cfg!(miri) { 1 } else { 20 } {
        goes_well(seed, |number| number, |number| *number);
        goes_well(seed, Box::new, |number| **number);
        goes_well(seed, |number| [number; 7], |numbers| numbers[6]);
        goes_well(seed, |number| [number; 8], |numbers| numbers[7]);
    }
}

#[test]
fn a_streak_is_shown_to_who_has_its_own_lock() {
    let (lock, other) = (StreakLock::new(), StreakLock::new());
    let streak = lock.streak();
    for _ in 0..2 {
        let guard = lock.try_lock().expect("it is free");
        assert!(lock.try_lock().is_none());
        assert!(streak.get(&guard).is_some());
        let other = other.try_lock().expect("the other one is free");
        assert!(streak.get(&other).is_none());
    }
}

#[test]
fn what_does_not_fit_into_a_block_comes_back() {
    let (mailbox, other) = (Mailbox::new(), Mailbox::new());
    let streak = Streak::new();
    let mut sent = 0..;
    let mut next = || sent.next().expect("numbers without end");
    // There is no block, and then there is one.
    assert_eq!(mailbox.tail.push_into_block(&streak, 99), Err(99));
    while mailbox.tail.push_into_block(&streak, 99).is_err() {
        let _ = mailbox.tail.push_in_streak_of(&streak, next());
    }
    // Not in another mailbox, nor behind what another sender has sent.
    assert_eq!(other.tail.push_into_block(&streak, 99), Err(99));
    assert!(!mailbox.tail.push(98));
    assert_eq!(mailbox.tail.push_into_block(&streak, 99), Err(99));
    let before = next();
    for number in 0..before {
        assert_eq!(mailbox.message(), Some(number));
    }
    assert_eq!((mailbox.message(), mailbox.message()), (Some(99), Some(98)));
    assert_eq!(mailbox.message(), None);
}

#[test]
fn messages_without_a_size_are_counted_in_blocks_too() {
    let mailbox = Mailbox::new();
    let streak = Streak::new();
    const { assert!(Block::<()>::SERVES) };
    for round in 0..3 * Block::<()>::ROOM {
        assert_eq!(mailbox.tail.push_of(&streak, ()), round == 0);
    }
    for _ in 0..3 * Block::<()>::ROOM {
        assert_eq!(mailbox.message(), Some(()));
    }
    assert!(mailbox.message().is_none());
    assert!(mailbox.rest());
}

#[test]
fn what_is_left_in_a_block_is_dropped_whoever_goes_first() {
    for sender_first in [false, true] {
        let witness = Arc::new(());
        let mailbox = Mailbox::new();
        let streak = Streak::new();
        for _ in 0..12 {
            let _ = mailbox.tail.push_of(&streak, Arc::clone(&witness));
        }
        for _ in 0..6 {
            drop(mailbox.message().unwrap());
        }
        assert_eq!(Arc::strong_count(&witness), 7);
        if sender_first {
            drop(streak);
            drop(mailbox);
        } else {
            drop(mailbox);
            // To another mailbox, of another type, which may lie where the first one did.
            let other = Mailbox::new();
            for number in 0..12 {
                let _ = other.tail.push_of(&streak, number);
            }
            for number in 0..12 {
                assert_eq!(other.message(), Some(number));
            }
            drop(streak);
        }
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}

#[test]
fn streaks_of_two_threads_come_whole_and_in_order() {
    let count = if cfg!(miri) { 60 } else { 200_000 };
    numbers_of_two_threads_come(count, |tail, message| {
        let number = *message.1;
        let woken = tail.push_in_streak(message);
        // Now and then the other one has its turn.
        if number % 1_000 == 0 {
            thread::yield_now();
        }
        woken
    });
}

#[test]
fn what_is_urgent_comes_in_order_and_is_dropped_with_the_rest() {
    let urgent = Urgent::new();
    assert!(urgent.is_empty());
    let witness = Arc::new(());
    for number in 0..4 {
        urgent.push((number, Arc::clone(&witness)));
    }
    assert!(!urgent.is_empty());
    let mut things = urgent.take_all();
    assert!(urgent.is_empty());
    assert_eq!(things.next().map(|(number, _)| number), Some(0));
    assert_eq!(things.next().map(|(number, _)| number), Some(1));
    drop(things);
    urgent.push((4, Arc::clone(&witness)));
    drop(urgent);
    assert_eq!(Arc::strong_count(&witness), 1);
}

#[test]
fn a_limited_mailbox_does_with_the_rest_what_it_was_told_to() {
    let limited = |overflow| {
        let limited = Limited::new(2, overflow, None);
        assert!(matches!(limited.push(1), Pushed::In(true)));
        assert!(matches!(limited.push(2), Pushed::In(false)));
        limited
    };
    let fails = limited(Overflow::Fail);
    assert!(matches!(fails.push(3), Pushed::Full(3)));
    assert_eq!(fails.pop(), Some(1));
    assert!(matches!(fails.push(3), Pushed::In(false)));
    assert_eq!(
        [fails.pop(), fails.pop(), fails.pop()],
        [Some(2), Some(3), None]
    );
    assert!(matches!(fails.push(4), Pushed::In(true)));

    let drops_newest = limited(Overflow::DropNewest);
    assert!(matches!(
        drops_newest.push(3),
        Pushed::Dropped(3, Loss::DroppedNewest)
    ));
    assert_eq!([drops_newest.pop(), drops_newest.pop()], [Some(1), Some(2)]);

    let drops_oldest = limited(Overflow::DropOldest);
    assert!(matches!(
        drops_oldest.push(3),
        Pushed::InsteadOf(1, Loss::DroppedOldest)
    ));
    assert_eq!([drops_oldest.pop(), drops_oldest.pop()], [Some(2), Some(3)]);
}

#[test]
fn answers_of_all_sizes_come_to_the_one_who_waits() {
    /// Larger than what lies in a oneshot by itself.
    #[derive(Debug, PartialEq)]
    struct Large([u64; 9]);
    /// Of a stricter alignment.
    #[derive(Debug, PartialEq)]
    #[repr(align(32))]
    struct Aligned(u8);

    fn sent<T: Send>(value: T) -> Option<T> {
        let (filler, taker) = oneshot();
        thread::scope(|scope| {
            scope.spawn(|| filler.fill(value));
            taker.take(None)
        })
    }

    for round in 0..5 {
        assert_eq!(sent(()), Some(()));
        assert_eq!(sent(round), Some(round));
        assert_eq!(sent(round.to_string()), Some(round.to_string()));
        assert_eq!(sent(Large([round; 9])), Some(Large([round; 9])));
        let aligned = round as u8;
        assert_eq!(sent(Aligned(aligned)), Some(Aligned(aligned)));
    }
}

#[test]
fn an_answer_that_nobody_takes_is_dropped_once() {
    for answers_first in [false, true] {
        let witness = Arc::new(());
        let (filler, taker) = oneshot();
        assert!(filler.is_awaited());
        if answers_first {
            filler.fill(Arc::clone(&witness));
            drop(taker);
        } else {
            drop(taker);
            assert!(!filler.is_awaited());
            filler.fill(Arc::clone(&witness));
        }
        assert_eq!(Arc::strong_count(&witness), 1);
    }
}

#[test]
fn a_oneshot_is_used_again_only_when_the_other_side_has_left_it() {
    let (filler, taker) = oneshot();
    let (late, early) = (Arc::new(1), Arc::new(2));
    // As if the one who answers were held up after the answer is in: by a second side that is still there.
    filler.fill(Arc::clone(&early));
    let taken = taker.take(None);
    assert_eq!(taken.as_deref(), Some(&2));
    let pairs: Vec<_> = (0..6).map(|_| oneshot()).collect();
    let mut takers = Vec::new();
    for (filler, taker) in pairs {
        filler.fill(Arc::clone(&late));
        takers.push(taker);
    }
    for taker in takers {
        assert_eq!(taker.take(None).as_deref(), Some(&1));
    }
    assert_eq!(Arc::strong_count(&late), 1);
}
