//! Mailboxes with rules: priorities, keys of which the latest message counts, and what becomes of what is lost.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::support::{Gate, Hold, LONG, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{Address, AskError, DeadLetter, Loss, Overflow, Pool, Reply, on_dead_letter};

enum Mail {
    Hold(Hold),
    /// A priority, a key, and a number.
    Item(u8, u32, u64),
    Ask(Reply<()>),
}

impl Mail {
    fn priority(&self) -> u8 {
        match self {
            Mail::Item(priority, ..) => *priority,
            _ => 255,
        }
    }
}

fn handler(sender: mpsc::Sender<u64>) -> impl FnMut(Mail, &mut tamtam_actor::Here<Mail>) + Send {
    move |mail, _| match mail {
        Mail::Hold(hold) => hold.wait(),
        Mail::Item(_, _, number) => drop(sender.send(number)),
        Mail::Ask(reply) => reply.send(()),
    }
}

fn with_priorities(
    pool: &Pool,
    limit: usize,
    overflow: Overflow,
) -> (Address<Mail>, mpsc::Receiver<u64>, Gate) {
    let (sender, receiver) = mpsc::channel();
    let actor = pool
        .spawner()
        .limited(limit, overflow)
        .priorities(Mail::priority)
        .spawn_fn(handler(sender));
    let (wait, gate) = hold();
    actor.tell(Mail::Hold(wait)).unwrap();
    gate.until_entered();
    (actor, receiver, gate)
}

fn numbers(receiver: &mpsc::Receiver<u64>, count: usize) -> Vec<u64> {
    (0..count)
        .map(|_| receiver.recv_timeout(LONG).expect("a number"))
        .collect()
}

#[test]
fn a_higher_priority_goes_first_and_equals_keep_their_order() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, receiver, gate) = with_priorities(&pool, 100, Overflow::Fail);
        for (priority, number) in [(1, 0), (9, 1), (1, 2), (0, 3), (9, 4), (255, 5), (0, 6)] {
            actor.tell(Mail::Item(priority, 0, number)).unwrap();
        }
        actor.map(|it| Mail::Item(9, 0, it)).tell(7).unwrap();
        gate.open();
        assert_eq!(numbers(&receiver, 8), [5, 1, 4, 7, 0, 2, 3, 6]);
    });
}

#[test]
fn a_low_priority_does_not_starve() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, receiver, gate) = with_priorities(&pool, 1_000, Overflow::Fail);
        // Two that are always overtaken.
        actor.tell(Mail::Item(0, 0, 1_000)).unwrap();
        actor.tell(Mail::Item(0, 0, 1_001)).unwrap();
        for number in 0..500 {
            actor.tell(Mail::Item(9, 0, number)).unwrap();
        }
        gate.open();
        let all = numbers(&receiver, 502);
        let place = |number| all.iter().position(|it| *it == number).unwrap();
        assert_eq!((place(1_000), place(1_001)), (64, 64 + 65));
    });
}

#[test]
fn the_limit_holds_for_all_priorities_and_the_lowest_goes() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let send = |actor: &Address<Mail>, items: &[(u8, u64)]| {
            for &(priority, number) in items {
                actor.tell(Mail::Item(priority, 0, number)).unwrap();
            }
        };
        let (actor, receiver, gate) = with_priorities(&pool, 3, Overflow::DropOldest);
        // 1 goes for 3, then 0 for 4; 5 is itself the oldest of the lowest.
        send(&actor, &[(5, 0), (1, 1), (9, 2), (5, 3), (9, 4), (1, 5)]);
        assert_eq!(actor.lost(), 3);
        gate.open();
        assert_eq!(numbers(&receiver, 3), [2, 4, 3]);

        let (actor, receiver, gate) = with_priorities(&pool, 3, Overflow::DropNewest);
        // 1 goes for 3; 4 is itself the newest of the lowest; 3 goes for 5.
        send(&actor, &[(5, 0), (1, 1), (9, 2), (5, 3), (5, 4), (9, 5)]);
        assert_eq!(actor.lost(), 3);
        gate.open();
        assert_eq!(numbers(&receiver, 3), [2, 5, 0]);

        let (actor, receiver, gate) = with_priorities(&pool, 3, Overflow::Fail);
        send(&actor, &[(1, 0), (1, 1), (1, 2)]);
        assert!(actor.tell(Mail::Item(9, 0, 3)).unwrap_err().is_full());
        gate.open();
        assert_eq!(numbers(&receiver, 3), [0, 1, 2]);
        assert_eq!(actor.lost(), 0);
    });
}

#[test]
fn a_later_message_takes_the_place_of_an_earlier_one_about_the_same() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        for overflow in [
            Overflow::Fail,
            Overflow::Wait,
            Overflow::DropNewest,
            Overflow::DropOldest,
        ] {
            let (sender, receiver) = mpsc::channel();
            let actor = pool
                .spawner()
                .limited(3, overflow)
                .latest_by(|mail| match mail {
                    Mail::Item(_, key, _) => Some(key.to_string()),
                    _ => None,
                })
                .spawn_fn(handler(sender));
            let (wait, gate) = hold();
            actor.tell(Mail::Hold(wait)).unwrap();
            gate.until_entered();
            for (key, number) in [(0, 0), (1, 1), (0, 2), (2, 3), (1, 4), (2, 5), (0, 6)] {
                actor.tell(Mail::Item(0, key, number)).unwrap();
            }
            // There is room for no other key, but for each of these.
            let level = actor.level().unwrap();
            assert_eq!((level.queued, level.high_water, actor.lost()), (3, 3, 4));
            let refuses = matches!(overflow, Overflow::Fail | Overflow::Wait);
            let told = actor.try_tell(Mail::Item(0, 3, 7));
            assert_eq!(told.is_err(), refuses);
            let lost = actor.lost();
            gate.open();
            let expected = match overflow {
                Overflow::DropOldest => [4, 5, 7],
                _ => [6, 4, 5],
            };
            assert_eq!(numbers(&receiver, 3), expected, "{overflow:?}");
            // One that was handled is not there any more.
            until(|| actor.level().unwrap().queued == 0);
            for number in 8..10 {
                actor.tell(Mail::Item(0, 0, number)).unwrap();
                assert_eq!(numbers(&receiver, 1), [number]);
            }
            assert_eq!(actor.lost(), lost);
        }
    });
}

#[test]
fn a_limit_may_be_said_after_the_other_rules() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let actor = pool
            .spawner()
            .priorities(Mail::priority)
            .limited(2, Overflow::Fail)
            .spawn_fn(handler(sender));
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        actor.tell(Mail::Item(1, 0, 1)).unwrap();
        actor.tell(Mail::Item(2, 0, 2)).unwrap();
        assert!(actor.try_tell(Mail::Item(3, 0, 3)).is_err());
        gate.open();
        assert_eq!(numbers(&receiver, 2), [2, 1]);
    });
}

#[test]
fn a_message_through_a_map_gives_its_place_back_if_it_needs_none() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let actor = pool
            .spawner()
            .limited(2, Overflow::Wait)
            .latest_by(|mail| match mail {
                Mail::Item(_, key, _) => *key,
                _ => u32::MAX,
            })
            .spawn_fn(handler(sender));
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        let mapped = actor.map(|number| Mail::Item(0, 5, number));
        for number in 0..10 {
            mapped.try_tell(number).unwrap();
        }
        let level = actor.level().unwrap();
        assert_eq!((level.queued, level.high_water, actor.lost()), (1, 1, 9));
        actor.try_tell(Mail::Item(0, 6, 10)).unwrap();
        assert!(mapped.try_tell(11).unwrap_err().is_full());
        gate.open();
        assert_eq!(numbers(&receiver, 2), [9, 10]);
    });
}

/// Keys of which all look the same, whose comparison uses the very mailbox.
#[derive(Clone)]
struct Awkward(u32, Arc<Mutex<Option<Address<Keyed>>>>);

struct Keyed(Awkward, u64, Option<Hold>);

impl Hash for Awkward {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Awkward {
    fn eq(&self, other: &Self) -> bool {
        let address = self.1.lock().unwrap().clone();
        if let Some(address) = address {
            // Would wait for ever if a lock were held.
            let _ = address.level();
        }
        self.0 == other.0
    }
}

impl Eq for Awkward {}

#[test]
fn keys_with_one_hash_are_told_apart_without_a_lock() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let actor = pool
            .spawner()
            .latest_by(|keyed: &Keyed| keyed.0.clone())
            .spawn_fn(move |keyed: Keyed, _| {
                keyed.2.into_iter().for_each(Hold::wait);
                sender.send(keyed.1).unwrap();
            });
        let place = Arc::new(Mutex::new(Some(actor.clone())));
        let (wait, gate) = hold();
        let key = |key| Awkward(key, Arc::clone(&place));
        actor.tell(Keyed(key(99), 99, Some(wait))).unwrap();
        gate.until_entered();
        for number in 0..40 {
            actor
                .tell(Keyed(key(number % 10), number.into(), None))
                .unwrap();
        }
        assert_eq!(actor.level().unwrap().queued, 10);
        gate.open();
        let mut expected = vec![99];
        expected.extend(30..40);
        assert_eq!(numbers(&receiver, 11), expected);
        assert_eq!(actor.lost(), 30);
        place.lock().unwrap().take();
    });
}

#[test]
fn the_latest_of_each_key_arrives_from_many_senders() {
    within_limit(|| {
        const KEYS: u32 = 7;
        const EACH: u64 = 3_000;
        let pool = Pool::with_threads(2);
        let seen = Arc::new(Mutex::new([0; KEYS as usize]));
        let handled = Arc::clone(&seen);
        let actor = pool
            .spawner()
            .limited(4, Overflow::Wait)
            .latest_by(|&(key, _): &(u32, u64)| key)
            .spawn_fn(move |(key, number): (u32, u64), _| {
                let last = &mut handled.lock().unwrap()[key as usize];
                assert!(number > *last, "each one later than the one before");
                *last = number;
            });
        thread::scope(|scope| {
            for key in 0..KEYS {
                let actor = &actor;
                scope.spawn(move || (1..=EACH).for_each(|it| actor.tell((key, it)).unwrap()));
            }
        });
        until(|| seen.lock().unwrap().iter().all(|last| *last == EACH));
        assert!(actor.level().unwrap().high_water <= 4);
    });
}

#[test]
fn a_panic_in_a_rule_reaches_the_sender_and_leaves_the_mailbox_usable() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let actor = pool
            .spawner()
            .limited(1, Overflow::Wait)
            .priorities(|number: &u64| if *number == 0 { panic_on_purpose() } else { 1 })
            .spawn_fn(move |number: u64, _| sender.send(number).unwrap());
        let mapped = actor.map(|number: u64| number);
        for number in 1..10 {
            assert!(catch_unwind(AssertUnwindSafe(|| actor.tell(0))).is_err());
            assert!(catch_unwind(AssertUnwindSafe(|| mapped.tell(0))).is_err());
            mapped.tell(number).unwrap();
        }
        assert_eq!(numbers(&receiver, 9), (1..10).collect::<Vec<_>>());
    });
}

#[test]
fn what_is_lost_comes_back() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        for (overflow, expected) in [
            (Overflow::DropNewest, (2, Loss::DroppedNewest)),
            (Overflow::DropOldest, (0, Loss::DroppedOldest)),
        ] {
            let (sender, receiver) = mpsc::channel();
            let (loser, lost) = mpsc::channel();
            let actor = pool
                .spawner()
                .limited(2, overflow)
                .undelivered(move |mail, why| match mail {
                    Mail::Item(_, _, number) => loser.send((number, why)).unwrap(),
                    // It may still be answered.
                    Mail::Ask(reply) => reply.send(()),
                    Mail::Hold(_) => panic!("it is handled"),
                })
                .spawn_fn(handler(sender));
            let (wait, gate) = hold();
            actor.tell(Mail::Hold(wait)).unwrap();
            gate.until_entered();
            for number in 0..3 {
                actor.tell(Mail::Item(0, 0, number)).unwrap();
            }
            assert_eq!(lost.try_recv(), Ok(expected));
            if overflow == Overflow::DropNewest {
                assert_eq!(actor.ask(Mail::Ask), Ok(()));
            }
            actor.stop();
            gate.open();
            let left: Vec<_> = (0..2).map(|_| lost.recv_timeout(LONG).unwrap()).collect();
            assert!(left.iter().all(|(_, why)| *why == Loss::Stopped));
            assert!(receiver.try_recv().is_err());
            assert!(actor.tell(Mail::Item(0, 0, 9)).unwrap_err().is_stopped());
            assert!(lost.try_recv().is_err(), "what is refused is not lost");
        }
    });
}

#[test]
fn what_is_lost_in_a_mailbox_without_a_limit_comes_back_also_after_a_panic() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (loser, lost) = mpsc::channel();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let actor = pool
            .spawner()
            .undelivered(move |number: u64, why| {
                loser.send((number, why)).unwrap();
                panic_on_purpose();
            })
            .spawn_fn(move |_, _| {
                wait.take().into_iter().for_each(Hold::wait);
                panic_on_purpose()
            });
        actor.tell(0).unwrap();
        gate.until_entered();
        (1..4).for_each(|number| actor.tell(number).unwrap());
        assert_eq!(actor.level(), None);
        gate.open();
        for number in 1..4 {
            assert_eq!(lost.recv_timeout(LONG), Ok((number, Loss::Stopped)));
        }
        // With the one that it has panicked at.
        until(|| actor.is_stopped() && actor.lost() == 4);
    });
}

#[test]
fn dead_letters_are_told_outside_of_locks() {
    struct Special(u64);

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let actor = pool
            .spawner()
            .limited(1, Overflow::DropOldest)
            .spawn_fn(move |_: Special, _| wait.take().into_iter().for_each(Hold::wait));
        let letters: Arc<Mutex<Vec<DeadLetter>>> = Arc::default();
        let (id, seen) = (actor.id(), Arc::clone(&letters));
        let again = actor.clone();
        // Other tests of this program lose messages, too.
        let watch = on_dead_letter(move |letter| {
            if letter.actor == id {
                seen.lock().unwrap().push(letter.clone());
                // Loses another one, which is counted, and not told: this would never end.
                let number = again.level().map_or(0, |level| level.queued as u64);
                let _ = again.tell(Special(number));
                panic_on_purpose();
            }
        });
        actor.tell(Special(0)).unwrap();
        gate.until_entered();
        actor.tell(Special(1)).unwrap();
        assert!(letters.lock().unwrap().is_empty());
        actor.tell(Special(2)).unwrap();
        {
            let letters = letters.lock().unwrap();
            assert_eq!(letters.len(), 1);
            assert_eq!(letters[0].why, Loss::DroppedOldest);
            assert!(letters[0].message_type.ends_with("Special"));
            let text = letters[0].to_string();
            assert!(text.contains("Special") && text.contains(&id.to_string()));
        }
        assert_eq!(actor.lost(), 2);
        drop(watch);
        actor.tell(Special(3)).unwrap();
        assert_eq!(letters.lock().unwrap().len(), 1, "nobody watches any more");
        let mapped = actor.map(Special);
        assert_eq!(mapped.id(), id);
        let number = Special(7).0;
        mapped.tell(number).unwrap();
        assert_eq!(actor.lost(), 4);
        gate.open();
    });
}

#[test]
fn a_question_that_is_replaced_is_told_that_it_was_dropped() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, _receiver) = mpsc::channel();
        let actor = pool
            .spawner()
            .latest_by(|mail| matches!(mail, Mail::Ask(_)))
            .spawn_fn(handler(sender));
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        thread::scope(|scope| {
            let first = scope.spawn(|| actor.ask(Mail::Ask));
            until(|| actor.level().unwrap().queued == 1);
            let second = scope.spawn(|| actor.ask(Mail::Ask));
            assert_eq!(first.join().unwrap(), Err(AskError::Dropped(actor.id())));
            gate.open();
            assert_eq!(second.join().unwrap(), Ok(()));
        });
    });
}
