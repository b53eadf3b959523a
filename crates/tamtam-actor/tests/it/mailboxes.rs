//! Mailboxes with a limit, and addresses for other messages.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Drops, Hold, LONG, SHORT, Token, block_on, hold, panic_on_purpose, until, within_limit,
};
use tamtam_actor::{Address, AskError, Overflow, Pool, Reply};

enum Mail {
    Number(u64),
    Counted(
        u64,
        #[expect(dead_code, reason = "its drop is counted")] Token,
    ),
    Hold(Hold),
    Ask(Reply<u64>),
}

/// An actor with a limited mailbox that passes numbers on.
fn limited(pool: &Pool, limit: usize, overflow: Overflow) -> (Address<Mail>, mpsc::Receiver<u64>) {
    let (sender, receiver) = mpsc::channel();
    let actor = pool
        .spawner()
        .limited(limit, overflow)
        .spawn_fn(move |mail, _| match mail {
            Mail::Number(number) | Mail::Counted(number, _) => sender.send(number).unwrap(),
            Mail::Hold(hold) => hold.wait(),
            Mail::Ask(reply) => reply.send(1),
        });
    (actor, receiver)
}

fn next(numbers: &mpsc::Receiver<u64>) -> u64 {
    numbers.recv_timeout(LONG).expect("a number")
}

#[test]
fn a_full_mailbox_gives_the_message_back() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = limited(&pool, 3, Overflow::Fail);
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        (0..3).for_each(|number| actor.tell(Mail::Number(number)).unwrap());
        let refused = actor.tell(Mail::Number(3)).unwrap_err();
        assert!(refused.is_full());
        assert!(matches!(refused.into_inner(), Mail::Number(3)));
        assert_eq!(actor.ask(Mail::Ask), Err(AskError::Full(actor.id())));
        assert_eq!(actor.lost(), 0);
        gate.open();
        (0..3).for_each(|number| assert_eq!(next(&numbers), number));
        until(|| actor.ask(Mail::Ask) == Ok(1));
        assert_eq!(actor.lost(), 0);
    });
}

#[test]
fn the_newest_are_dropped_and_counted() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = limited(&pool, 3, Overflow::DropNewest);
        let drops = Drops::default();
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        let mapped = actor.map(Mail::Number);
        for number in 0..10 {
            actor.tell(Mail::Counted(number, drops.token())).unwrap();
        }
        mapped.tell(99).unwrap();
        assert_eq!((actor.lost(), drops.count()), (8, 7));
        assert_eq!(actor.ask(Mail::Ask), Err(AskError::Dropped(actor.id())));
        assert_eq!(actor.lost(), 9);
        let mapped_question = actor.map(|reply: Reply<u64>| Mail::Ask(reply));
        let asked = mapped_question.ask(|reply| reply);
        assert_eq!(asked, Err(AskError::Dropped(actor.id())));
        assert_eq!(actor.lost(), 10);
        gate.open();
        (0..3).for_each(|number| assert_eq!(next(&numbers), number));
        assert_eq!(mapped.lost(), 10);
    });
}

#[test]
fn the_oldest_are_dropped_and_counted() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = limited(&pool, 3, Overflow::DropOldest);
        let drops = Drops::default();
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        let asked = actor.ask_async(Mail::Ask);
        for number in 0..10 {
            actor.tell(Mail::Counted(number, drops.token())).unwrap();
        }
        assert_eq!(block_on(asked), Err(AskError::Dropped(actor.id())));
        actor.map(Mail::Number).tell(10).unwrap();
        assert_eq!((actor.lost(), drops.count()), (9, 8));
        gate.open();
        (8..11).for_each(|number| assert_eq!(next(&numbers), number));
        assert_eq!(actor.ask(Mail::Ask), Ok(1));
        assert_eq!(actor.lost(), 9);
    });
}

#[test]
fn a_panic_in_the_drop_of_the_oldest_leaves_the_newest_in_the_mailbox() {
    struct Bomb(bool);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 {
                panic_on_purpose();
            }
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let actor = pool.spawner().limited(1, Overflow::DropOldest).spawn_fn(
            move |(number, _bomb): (u64, Bomb), _| {
                wait.take().into_iter().for_each(Hold::wait);
                sender.send(number).unwrap();
            },
        );
        actor.tell((0, Bomb(false))).unwrap();
        gate.until_entered();
        actor.tell((1, Bomb(true))).unwrap();
        let told = catch_unwind(AssertUnwindSafe(|| actor.tell((2, Bomb(false)))));
        assert!(told.is_err());
        assert_eq!(actor.lost(), 1);
        gate.open();
        assert_eq!([next(&receiver), next(&receiver)], [0, 2]);
    });
}

#[test]
fn a_sender_waits_for_room_and_gets_it() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = limited(&pool, 2, Overflow::Fail);
        let mapped = actor.map(Mail::Number);
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        thread::scope(|scope| {
            for sender in 0..4 {
                let (actor, mapped) = (&actor, &mapped);
                scope.spawn(move || {
                    for number in 0..500 {
                        let number = sender * 1_000 + number;
                        if sender % 2 == 0 {
                            actor.tell_timeout(Mail::Number(number), LONG).unwrap();
                        } else {
                            mapped.tell_timeout(number, LONG).unwrap();
                        }
                    }
                });
            }
            gate.open();
            let mut counts = [0; 4];
            for _ in 0..2_000 {
                let number = next(&numbers);
                let count = &mut counts[number as usize / 1_000];
                assert_eq!(number % 1_000, *count, "in the order in which it was sent");
                *count += 1;
            }
        });
        assert_eq!(actor.lost(), 0);
    });
}

#[test]
fn a_sender_that_waits_for_room_in_vain_gets_its_message_back() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, _numbers) = limited(&pool, 1, Overflow::Fail);
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        actor.tell(Mail::Number(0)).unwrap();
        let began = Instant::now();
        let refused = actor.tell_timeout(Mail::Number(1), SHORT).unwrap_err();
        assert!(refused.is_full() && began.elapsed() >= SHORT);
        assert!(matches!(refused.into_inner(), Mail::Number(1)));
        let mapped = actor.map(|_: u64| -> Mail { panic!("is not called") });
        let refused = mapped.tell_timeout(2, SHORT).unwrap_err();
        assert!(refused.is_full());
        assert_eq!(refused.into_inner(), 2);
        assert!(mapped.tell_timeout(2, Duration::ZERO).is_err());
        gate.open();
    });
}

#[test]
fn a_sender_that_waits_for_room_hears_that_the_actor_stops() {
    within_limit(|| {
        for _ in 0..50 {
            let pool = Pool::with_threads(2);
            let (actor, numbers) = limited(&pool, 1, Overflow::Fail);
            let (wait, gate) = hold();
            actor.tell(Mail::Hold(wait)).unwrap();
            gate.until_entered();
            actor.tell(Mail::Number(0)).unwrap();
            let told = thread::scope(|scope| {
                let senders: Vec<_> = (1..4)
                    .map(|number| {
                        let (actor, mapped) = (&actor, actor.map(Mail::Number));
                        scope.spawn(move || {
                            if number == 1 {
                                mapped.tell_timeout(number, LONG).is_ok()
                            } else {
                                match actor.tell_timeout(Mail::Number(number), LONG) {
                                    Ok(()) => true,
                                    Err(error) => {
                                        assert!(error.is_stopped());
                                        assert!(matches!(
                                            error.into_inner(),
                                            Mail::Number(same) if same == number
                                        ));
                                        false
                                    }
                                }
                            }
                        })
                    })
                    .collect();
                actor.stop();
                gate.open();
                senders
                    .into_iter()
                    .map(|sender| u64::from(sender.join().unwrap()))
                    .sum::<u64>()
            });
            // Who got in while the mailbox was emptied is counted, too.
            until(|| actor.lost() == 1 + told);
            assert!(numbers.try_recv().is_err());
        }
    });
}

#[test]
fn a_map_of_a_map_makes_one_message_out_of_another() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = limited(&pool, 100, Overflow::Fail);
        let text = actor
            .map(Mail::Number)
            .map(|small: u32| u64::from(small) + 1)
            .map(|text: &str| text.len() as u32);
        text.tell("four").unwrap();
        assert_eq!(next(&numbers), 5);
        let asks = actor.map(Mail::Ask);
        assert_eq!(asks.ask(|reply| reply), Ok(1));
        text.stop();
        until(|| text.is_stopped());
        assert_eq!(text.tell("again").unwrap_err().into_inner(), "again");
        assert_eq!(asks.ask(|reply| reply), Err(AskError::Stopped(asks.id())));
    });
}

#[test]
fn a_refused_message_is_not_mapped() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, _numbers) = limited(&pool, 1, Overflow::Fail);
        let mapped = actor.map(|_: u64| -> Mail { panic!("is not called") });
        let (wait, gate) = hold();
        actor.tell(Mail::Hold(wait)).unwrap();
        gate.until_entered();
        actor.tell(Mail::Number(0)).unwrap();
        assert_eq!(mapped.tell(5).unwrap_err().into_inner(), 5);
        actor.stop();
        gate.open();
        until(|| actor.is_stopped());
        assert_eq!(mapped.tell(6).unwrap_err().into_inner(), 6);
    });
}

#[test]
fn a_panic_while_a_message_is_mapped_gives_the_place_back() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, numbers) = limited(&pool, 1, Overflow::Fail);
        let picky = actor.map(|number: u64| match number {
            0 => panic_on_purpose(),
            number => Mail::Number(number),
        });
        for number in 1..20 {
            assert!(catch_unwind(AssertUnwindSafe(|| picky.tell(0))).is_err());
            picky.tell_timeout(number, LONG).unwrap();
            assert_eq!(next(&numbers), number);
        }
        // Also for one who waits for it.
        thread::scope(|scope| {
            let (inside, is_inside) = mpsc::channel();
            let (go, may_go) = mpsc::channel::<()>();
            let may_go = std::sync::Mutex::new(may_go);
            let slow = actor.map(move |(): ()| {
                inside.send(()).unwrap();
                let _ = may_go.lock().unwrap().recv_timeout(LONG);
                panic_on_purpose()
            });
            scope.spawn(move || {
                assert!(catch_unwind(AssertUnwindSafe(|| slow.tell_timeout((), LONG))).is_err());
            });
            is_inside.recv_timeout(LONG).unwrap();
            assert!(actor.tell(Mail::Number(1)).unwrap_err().is_full());
            let waiting = scope.spawn(|| actor.tell_timeout(Mail::Number(7), LONG).is_ok());
            go.send(()).unwrap();
            assert!(waiting.join().unwrap());
        });
        assert_eq!(next(&numbers), 7);
        assert_eq!(actor.lost(), 0);
    });
}
