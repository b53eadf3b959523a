//! Messages that are told later, once or again and again, by a time that is moved by hand.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Drops, Hold, LONG, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{Address, AskError, Every, Overflow, Pool, Reply, Time};

const SECOND: Duration = Duration::from_secs(1);

fn pool() -> (Pool, Time) {
    let time = Time::manual();
    let pool = Pool::builder()
        .threads(2)
        .time(time.clone())
        .build()
        .unwrap();
    (pool, time)
}

/// An actor that passes on what it gets, and its address.
fn passing(pool: &Pool) -> (Address<u32>, mpsc::Receiver<u32>) {
    let (sender, receiver) = mpsc::channel();
    let actor = pool.spawn_fn(move |number: u32, _| sender.send(number).unwrap());
    (actor, receiver)
}

#[test]
fn a_message_is_told_after_its_delay() {
    within_limit(|| {
        let (pool, time) = pool();
        let (actor, got) = passing(&pool);
        actor.tell_after(2 * SECOND, 2);
        actor.tell_after(SECOND, 1);
        let never = actor.tell_after(SECOND, 7);
        assert!(never.cancel());
        time.advance(2 * SECOND);
        assert_eq!(got.recv_timeout(LONG), Ok(1));
        assert_eq!(got.recv_timeout(LONG), Ok(2));
        assert_eq!((time.timers(), actor.lost()), (0, 0));
    });
}

#[test]
fn a_message_on_its_way_keeps_its_actor_until_it_is_handled() {
    within_limit(|| {
        let (pool, time) = pool();
        let (actor, got) = passing(&pool);
        let weak = actor.downgrade();
        let timer = actor.tell_after(SECOND, 1);
        drop(actor);
        assert!(weak.upgrade().is_some());
        time.advance(SECOND);
        assert_eq!(got.recv_timeout(LONG), Ok(1));
        // And no longer: the actor ends, with its end of the channel.
        assert_eq!(
            got.recv_timeout(LONG),
            Err(mpsc::RecvTimeoutError::Disconnected)
        );
        assert!(!timer.is_pending());
    });
}

#[test]
fn messages_are_told_again_and_again_as_long_as_there_is_somebody() {
    within_limit(|| {
        let (pool, time) = pool();
        let (actor, got) = passing(&pool);
        let drops = Drops::default();
        let (token, mut number) = (drops.token(), 0);
        let timer = actor.tell_every(Every::rate(SECOND), move || {
            let _ = &token;
            number += 1;
            number
        });
        for number in 1..=5 {
            time.advance(SECOND);
            assert_eq!(got.recv_timeout(LONG), Ok(number));
        }
        assert!(timer.is_pending());
        drop(actor);
        assert_eq!(
            got.recv_timeout(LONG),
            Err(mpsc::RecvTimeoutError::Disconnected)
        );
        // Who makes the messages goes when the next one would be due.
        time.advance(2 * SECOND);
        until(|| drops.count() == 1 && time.timers() == 0);
        assert!(!timer.is_pending());
    });
}

#[test]
fn who_makes_or_maps_a_message_does_so_in_the_actors_turn() {
    within_limit(|| {
        let (pool, time) = pool();
        let (sender, receiver) = mpsc::channel();
        let actor = pool.spawn_fn(move |threads: [thread::ThreadId; 2], _| {
            sender.send(threads).unwrap();
        });
        let mapped = actor.map(|maker| [maker, thread::current().id()]);
        let here = thread::current().id();
        let timer = mapped.tell_every(Every::rate(SECOND), || thread::current().id());
        time.advance(SECOND);
        let threads = receiver.recv_timeout(LONG).unwrap();
        assert!(!threads.contains(&here));
        assert!(timer.cancel());
        mapped.tell_after(SECOND, here);
        time.advance(SECOND);
        let threads = receiver.recv_timeout(LONG).unwrap();
        assert!(threads[0] == here && threads[1] != here);
    });
}

#[test]
fn a_panic_in_who_makes_a_message_ends_the_timer_alone() {
    within_limit(|| {
        let (pool, time) = pool();
        let (actor, got) = passing(&pool);
        let timer = actor.tell_every(Every::rate(SECOND), || panic_on_purpose());
        let mapped = actor.map(|()| panic_on_purpose());
        let once = mapped.tell_after(SECOND, ());
        time.advance(SECOND);
        until(|| !timer.is_pending() && !once.is_pending());
        actor.tell(1).unwrap();
        assert_eq!(got.recv_timeout(LONG), Ok(1));
        until(|| time.timers() == 0);
        assert!(!timer.cancel());
    });
}

#[test]
fn what_finds_no_room_is_counted() {
    within_limit(|| {
        for overflow in [Overflow::Fail, Overflow::DropNewest, Overflow::DropOldest] {
            let (pool, time) = pool();
            let (wait, gate) = hold();
            let mut wait = Some(wait);
            let (sender, receiver) = mpsc::channel();
            let actor = pool
                .spawner()
                .limited(1, overflow)
                .spawn_fn(move |number: u32, _| {
                    wait.take().into_iter().for_each(Hold::wait);
                    sender.send(number).unwrap();
                });
            actor.tell(0).unwrap();
            gate.until_entered();
            // They are all told in one turn, into a mailbox for one.
            for number in 1..=3 {
                actor.tell_after(SECOND, number);
            }
            assert_eq!(time.advance(SECOND), 3);
            gate.open();
            assert_eq!(receiver.recv_timeout(LONG), Ok(0));
            let kept = if overflow == Overflow::DropOldest {
                3
            } else {
                1
            };
            assert_eq!(receiver.recv_timeout(LONG), Ok(kept), "{overflow:?}");
            assert_eq!(actor.lost(), 2, "{overflow:?}");
        }
    });
}

#[test]
fn what_would_come_to_an_actor_that_has_stopped_is_counted_and_goes() {
    within_limit(|| {
        let (pool, time) = pool();
        let drops = Drops::default();
        let actor = pool.spawn_fn(|_: crate::support::Token, _| unreachable!("it has stopped"));
        let timer = actor.tell_after(SECOND, drops.token());
        actor.stop();
        // Told when nothing is left in its mailbox: what comes from then on goes at once.
        actor.end().wait();
        assert!(!timer.is_pending());
        assert_eq!(time.advance(SECOND), 1);
        assert_eq!((drops.count(), actor.lost()), (1, 1));
        assert!(!timer.cancel());
    });
}

#[test]
fn a_question_that_is_told_later_and_finds_no_room_is_told_so() {
    enum Mail {
        Hold(Hold),
        Ask(Reply<u32>),
    }
    within_limit(|| {
        for overflow in [Overflow::Fail, Overflow::DropNewest] {
            let (pool, time) = pool();
            let spawner = pool.spawner().limited(1, overflow);
            let actor = spawner.spawn_fn(|mail: Mail, _| match mail {
                Mail::Hold(hold) => hold.wait(),
                Mail::Ask(reply) => reply.send(1),
            });
            let (wait, gate) = hold();
            actor.tell(Mail::Hold(wait)).unwrap();
            gate.until_entered();
            let (answer, told) = mpsc::channel();
            // They are all told in one turn, into a mailbox for one.
            for _ in 0..2 {
                let answer = answer.clone();
                let then = move |said| answer.send(said).unwrap();
                actor.tell_after(SECOND, Mail::Ask(Reply::to(then)));
            }
            assert_eq!(time.advance(SECOND), 2);
            gate.open();
            let refused = match overflow {
                Overflow::Fail => AskError::Full(actor.id()),
                _ => AskError::Dropped(actor.id()),
            };
            let said = [(); 2].map(|()| told.recv_timeout(LONG).unwrap());
            assert_eq!(said, [Err(refused), Ok(1)], "{overflow:?}");
        }
    });
}
