//! Mailboxes whose senders wait for room: threads, tasks, and actors, which do not wait but are muted.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::support::{Gate, Hold, LONG, SHORT, block_on, hold, until, within_limit};
use tamtam_actor::{Address, AskError, Budget, Frame, Overflow, Pool, Reply};

enum Mail {
    Number(u64),
    Hold(Hold),
    Ask(Reply<u64>),
}

/// An actor that passes numbers on, whose senders wait.
fn waiting(pool: &Pool, limit: usize) -> (Address<Mail>, mpsc::Receiver<u64>) {
    let (sender, receiver) = mpsc::channel();
    let actor = pool
        .spawner()
        .limited(limit, Overflow::Wait)
        .spawn_fn(move |mail, _| match mail {
            Mail::Number(number) => drop(sender.send(number)),
            Mail::Hold(hold) => hold.wait(),
            Mail::Ask(reply) => reply.send(1),
        });
    (actor, receiver)
}

fn next(numbers: &mpsc::Receiver<u64>) -> u64 {
    numbers.recv_timeout(LONG).expect("a number")
}

/// Keeps the actor where it is, and fills its mailbox with numbers from 0.
fn fill(actor: &Address<Mail>, limit: u64) -> Gate {
    let (wait, gate) = hold();
    actor.tell(Mail::Hold(wait)).unwrap();
    gate.until_entered();
    (0..limit).for_each(|number| actor.try_tell(Mail::Number(number)).unwrap());
    gate
}

fn queued(actor: &Address<Mail>) -> usize {
    actor.level().unwrap().queued
}

#[test]
fn a_thread_waits_for_room() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, numbers) = waiting(&pool, 3);
        let gate = fill(&actor, 3);
        let refused = actor.try_tell(Mail::Number(9)).unwrap_err();
        assert!(refused.is_full());
        let refused = actor.tell_timeout(Mail::Number(9), SHORT).unwrap_err();
        assert!(refused.is_full());
        assert_eq!(
            actor.ask_timeout(Mail::Ask, SHORT),
            Err(AskError::Full(actor.id())),
            "it was never asked"
        );
        thread::scope(|scope| {
            let mapped = actor.map(Mail::Number);
            let tellers = [
                scope.spawn(|| actor.tell(Mail::Number(3)).unwrap()),
                scope.spawn(move || mapped.tell(3).unwrap()),
                scope.spawn(|| assert_eq!(actor.ask(Mail::Ask), Ok(1))),
            ];
            thread::sleep(SHORT);
            assert!(tellers.iter().all(|teller| !teller.is_finished()));
            gate.open();
        });
        let mut all: Vec<_> = (0..5).map(|_| next(&numbers)).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 3]);
        assert_eq!((actor.lost(), actor.level().unwrap().high_water), (0, 3));
    });
}

#[test]
fn who_waits_for_room_hears_that_the_actor_stops() {
    within_limit(|| {
        for _ in 0..30 {
            let pool = Pool::with_threads(2);
            let (actor, _numbers) = waiting(&pool, 1);
            let gate = fill(&actor, 1);
            let accepted: u64 = thread::scope(|scope| {
                let mapped = actor.map(Mail::Number);
                let tellers = [
                    scope.spawn(|| actor.tell(Mail::Number(7)).map_err(|it| it.is_stopped())),
                    scope.spawn(move || mapped.tell(7).map_err(|it| it.is_stopped())),
                    scope.spawn(|| {
                        block_on(actor.tell_async(Mail::Number(7))).map_err(|it| it.is_stopped())
                    }),
                ];
                actor.stop();
                gate.open();
                tellers
                    .into_iter()
                    .map(|teller| match teller.join().unwrap() {
                        Ok(()) => 1,
                        Err(is_stopped) => {
                            assert!(is_stopped);
                            0
                        }
                    })
                    .sum()
            });
            until(|| actor.lost() == 1 + accepted);
        }
    });
}

#[test]
fn a_task_awaits_room() {
    within_limit(|| {
        for overflow in [Overflow::Wait, Overflow::Fail] {
            let pool = Pool::with_threads(1);
            let (sender, numbers) = mpsc::channel();
            let actor = pool.spawner().limited(2, overflow).spawn_fn({
                move |mail, _| match mail {
                    Mail::Number(number) => drop(sender.send(number)),
                    Mail::Hold(hold) => hold.wait(),
                    Mail::Ask(reply) => reply.send(1),
                }
            });
            let gate = fill(&actor, 2);
            let mapped = actor.map(Mail::Number);
            let mut cx = TaskContext::from_waker(Waker::noop());
            {
                let mut direct = pin!(actor.tell_async(Mail::Number(2)));
                let mut through = pin!(mapped.tell_async(3));
                for _ in 0..3 {
                    assert!(direct.as_mut().poll(&mut cx).is_pending());
                    assert!(through.as_mut().poll(&mut cx).is_pending());
                }
                // Both are given up.
            }
            let mut given_up = Box::pin(mapped.tell_async(4));
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
            let unpinned = *std::pin::Pin::into_inner(given_up);
            assert_eq!(unpinned.into_inner(), Some(4));
            thread::scope(|scope| {
                let teller = scope.spawn(|| {
                    block_on(async {
                        actor.tell_async(Mail::Number(2)).await.unwrap();
                        mapped.tell_async(3).await.unwrap();
                    });
                });
                gate.open();
                teller.join().unwrap();
            });
            assert_eq!(
                (0..4).map(|_| next(&numbers)).collect::<Vec<_>>(),
                [0, 1, 2, 3]
            );
            if overflow == Overflow::Wait {
                assert_eq!(block_on(actor.ask_async(Mail::Ask)), Ok(1));
            }
            assert_eq!(queued(&actor), 0);
            assert!(numbers.try_recv().is_err());
        }
    });
}

#[test]
fn a_question_of_a_task_awaits_room() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, _numbers) = waiting(&pool, 1);
        let gate = fill(&actor, 1);
        let mut asked = pin!(actor.ask_async(Mail::Ask));
        let mut cx = TaskContext::from_waker(Waker::noop());
        assert!(asked.as_mut().poll(&mut cx).is_pending());
        assert_eq!(queued(&actor), 1);
        gate.open();
        assert_eq!(block_on(asked), Ok(1));
    });
}

#[test]
fn one_who_gives_up_passes_the_room_on() {
    within_limit(|| {
        for round in 0..200 {
            let pool = Pool::with_threads(1);
            let (actor, numbers) = waiting(&pool, 1);
            let gate = fill(&actor, 1);
            let mut cx = TaskContext::from_waker(Waker::noop());
            let mut given_up = Box::pin(actor.tell_async(Mail::Number(8)));
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
            thread::scope(|scope| {
                let waits = scope.spawn(|| actor.tell(Mail::Number(9)).unwrap());
                gate.open();
                if round % 3 == 0 {
                    assert_eq!(next(&numbers), 0);
                }
                drop(given_up);
                waits.join().unwrap();
            });
            until(|| queued(&actor) == 0);
        }
    });
}

/// Sends numbers in a handler, as many as it is told to, and counts its calls.
fn flooder(pool: &Pool, to: Address<u64>) -> (Address<u64>, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let mut number = 0;
    let flooder = pool.spawn_fn(move |count: u64, _| {
        for _ in 0..count {
            to.tell(number).unwrap();
            number += 1;
        }
        counted.fetch_add(1, Ordering::SeqCst);
    });
    (flooder, calls)
}

#[test]
fn an_actor_that_floods_is_muted_and_its_thread_is_not_blocked() {
    within_limit(|| {
        for threads in [2, 3] {
            let pool = Pool::with_threads(threads);
            let (actor, numbers) = waiting(&pool, 4);
            let gate = fill(&actor, 0);
            // Each call sends three.
            let (flooder, calls) = flooder(&pool, actor.map(Mail::Number));
            for _ in 0..100 {
                flooder.tell(3).unwrap();
            }
            // Four in the first two calls, and two above the limit.
            until(|| calls.load(Ordering::SeqCst) == 2);
            // Others have the thread that it was on.
            let others = pool.spawn_fn(|reply: Reply<u64>, _| reply.send(5));
            for _ in 0..1_000 {
                assert_eq!(others.ask(|reply| reply), Ok(5));
            }
            assert_eq!((queued(&actor), calls.load(Ordering::SeqCst)), (6, 2));
            assert_eq!(pool.blocking_asks(), 0);
            gate.open();
            for number in 0..300 {
                assert_eq!(next(&numbers), number);
            }
            assert_eq!(actor.lost(), 0);
            // A call that begins when it is just full ends with three too many.
            assert!(actor.level().unwrap().high_water <= 4 + 3);
            until(|| calls.load(Ordering::SeqCst) == 100);
        }
    });
}

#[test]
fn a_muted_actor_may_be_stopped_and_so_may_the_one_that_mutes_it() {
    within_limit(|| {
        for stop_flooder in [true, false] {
            let pool = Pool::with_threads(2);
            let (actor, _numbers) = waiting(&pool, 1);
            let gate = fill(&actor, 0);
            let to = actor.map(Mail::Number);
            let (done, is_done) = mpsc::channel();
            let flooder = pool.spawn_fn(move |(): (), _| {
                let _ = done.send(to.tell(0).is_ok() && to.tell(1).is_ok());
            });
            flooder.tell(()).unwrap();
            flooder.tell(()).unwrap();
            assert_eq!(is_done.recv_timeout(LONG), Ok(true));
            if stop_flooder {
                // It gets its end all the same.
                flooder.stop();
                // It is closed first, and emptied then.
                until(|| flooder.is_stopped() && flooder.lost() == 1);
                gate.open();
                until(|| queued(&actor) == 0);
            } else {
                actor.stop();
                gate.open();
                assert_eq!(
                    is_done.recv_timeout(LONG),
                    Ok(false),
                    "it went on, and was refused"
                );
                until(|| actor.lost() == 2);
            }
        }
    });
}

#[test]
fn who_sends_to_itself_gets_it_back_when_there_is_no_room() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (sender, refusals) = mpsc::channel();
        let actor = pool
            .spawner()
            .limited(2, Overflow::Wait)
            .spawn_fn(move |number: u64, here| {
                let address = here.address();
                let mapped = address.map(|number: u64| number);
                for _ in 0..number {
                    let told = [address.tell(0), mapped.tell(0)];
                    let full = told.map(|it| it.is_err_and(|error| error.is_full()));
                    sender.send(full).unwrap();
                }
            });
        actor.tell(2).unwrap();
        let refusals: Vec<_> = (0..2)
            .map(|_| refusals.recv_timeout(LONG).unwrap())
            .collect();
        assert_eq!(refusals, [[false, false], [true, true]]);
        until(|| actor.level().unwrap().queued == 0);
    });
}

/// Two actors that send to each other without end, more than there is room for.
#[test]
fn a_circle_of_senders_gets_on() {
    within_limit(|| {
        for actors in [2, 3, 5] {
            let pool = Pool::with_threads(2);
            let (done, is_done) = mpsc::channel();
            let (sender, receiver) = mpsc::channel::<Vec<Address<u32>>>();
            let receiver = Arc::new(std::sync::Mutex::new(receiver));
            let mut all: Vec<Address<u32>> = Vec::new();
            for place in 0..actors {
                let (receiver, done) = (Arc::clone(&receiver), done.clone());
                let mut next = None;
                all.push(pool.spawner().limited(2, Overflow::Wait).spawn_fn(
                    move |left: u32, _| {
                        let next: &Address<u32> = next.get_or_insert_with(|| {
                            let all = receiver.lock().unwrap().recv_timeout(LONG).unwrap();
                            all[(place + 1) % all.len()].clone()
                        });
                        if left == 0 {
                            let _ = done.send(());
                        } else {
                            let _ = next.tell(left - 1);
                        }
                    },
                ));
            }
            for _ in 0..actors {
                sender.send(all.clone()).unwrap();
            }
            // More messages than all mailboxes hold together, so that all are full at times.
            let count = 4 * actors;
            thread::scope(|scope| {
                for number in 0..count {
                    let first = &all[number % actors];
                    scope.spawn(move || first.tell(2_000).unwrap());
                }
            });
            for _ in 0..count {
                is_done.recv_timeout(LONG).expect("it goes round");
            }
            assert!(all.iter().all(|actor| actor.lost() == 0));
            all.iter().for_each(Address::stop);
        }
    });
}

/// A chain of actors in which the last one is the slowest.
#[test]
fn pressure_goes_back_to_the_source() {
    within_limit(|| {
        const COUNT: u64 = 5_000;
        let pool = Pool::with_threads(2);
        let (sender, receiver) = mpsc::sync_channel(0);
        let last = pool
            .spawner()
            .limited(10, Overflow::Wait)
            .spawn_fn(move |number: u64, _| sender.send(number).unwrap());
        let mut stages = vec![last];
        for _ in 0..4 {
            let next = stages[stages.len() - 1].clone();
            stages.push(
                pool.spawner()
                    .limited(10, Overflow::Wait)
                    .spawn_fn(move |number: u64, _| next.tell(number).unwrap()),
            );
        }
        let first = stages[stages.len() - 1].clone();
        let source = thread::spawn(move || (0..COUNT).for_each(|it| first.tell(it).unwrap()));
        for number in 0..COUNT {
            assert_eq!(receiver.recv_timeout(LONG), Ok(number));
        }
        source.join().unwrap();
        for stage in &stages {
            // One sender, one message a call.
            assert!(stage.level().unwrap().high_water <= 11);
            assert_eq!(stage.lost(), 0);
        }
    });
}

/// The thread on which the actor lives would wait for itself.
#[test]
fn the_own_thread_of_a_full_actor_gets_its_message_back() {
    within_limit(|| {
        let mut frame = Frame::new();
        let actor = frame
            .spawner()
            .limited(2, Overflow::Wait)
            .spawn_fn(|_: u64, _| {});
        let mapped = actor.map(u64::from);
        actor.tell(1).unwrap();
        mapped.tell(2_u32).unwrap();
        assert!(actor.tell(3).unwrap_err().is_full());
        assert!(mapped.tell(3).unwrap_err().is_full());
        assert!(actor.tell_timeout(3, LONG).unwrap_err().is_full());
        frame.pump(Budget::unlimited());
        assert_eq!(actor.level().map(|level| level.queued), Some(0));
        actor.tell(3).unwrap();
    });
}

#[test]
fn a_wait_of_no_time_does_not_wait() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, _numbers) = waiting(&pool, 1);
        let gate = fill(&actor, 1);
        assert!(
            actor
                .tell_timeout(Mail::Number(1), Duration::ZERO)
                .is_err_and(|error| error.is_full())
        );
        let mut told = pin!(actor.tell_async(Mail::Number(1)));
        let mut cx = TaskContext::from_waker(Waker::noop());
        assert!(matches!(told.as_mut().poll(&mut cx), Poll::Pending));
        gate.open();
    });
}
