//! Answers that a thread waits for together with other things.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tamtam_channel::{Select, after, select, unbounded};

use crate::support::{LONG, SHORT, until, within_limit};
use tamtam_actor::{AskError, Overflow, PendingAnswer, Pool, Reply, Worker};

/// Gives the replies that it gets to the test.
fn keeper(
    pool: &Pool,
) -> (
    tamtam_actor::Address<Reply<u32>>,
    mpsc::Receiver<Reply<u32>>,
) {
    let (keep, kept) = mpsc::channel();
    let actor = pool.spawn_fn(move |reply, _| keep.send(reply).unwrap());
    (actor, kept)
}

#[test]
fn an_answer_a_message_and_a_timer_each_end_a_select() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let (actor, kept) = keeper(&pool);
        let (sender, receiver) = unbounded();
        for round in 0..300_u32 {
            let answer = actor.ask_pending(|reply| reply).unwrap();
            let reply = kept.recv().unwrap();
            assert!(!answer.has_come() && answer.try_take().is_none());
            let sender = sender.clone();
            let other = thread::spawn(move || {
                // Later than the select falls asleep, sometimes.
                thread::sleep(Duration::from_micros(u64::from(round % 7) * 40));
                match round % 3 {
                    0 => reply.send(round),
                    1 => drop(reply),
                    _ => {
                        sender.send(round).unwrap();
                        return Some(reply);
                    }
                }
                None
            });
            let timeout = after(LONG);
            let ended = select! {
                wait(answer) => answer.try_take(),
                recv(receiver) -> message => Some(Ok(message.unwrap() + 1_000)),
                recv(timeout) -> _ => panic!("nothing came"),
            };
            let expected = match round % 3 {
                0 => Ok(round),
                1 => Err(AskError::Unanswered),
                _ => Ok(round + 1_000),
            };
            assert_eq!(ended, Some(expected));
            // It stays ready, and is there once.
            assert_eq!(answer.has_come(), round % 3 < 2);
            assert_eq!(answer.try_take(), None);
            let reply = other.join().unwrap();
            assert!(reply.as_ref().is_none_or(Reply::is_awaited));
            drop(answer);
            assert!(!reply.as_ref().is_some_and(Reply::is_awaited));
        }
        let answer = actor.ask_pending(|reply| reply).unwrap();
        let _kept = kept.recv().unwrap();
        let timeout = after(SHORT);
        select! {
            wait(answer) => panic!("it is kept"),
            recv(receiver) -> _ => panic!("nothing was sent"),
            recv(timeout) -> _ => {}
        }
    });
}

/// Each thread that waits for it is told, and one of them takes it.
#[test]
fn all_threads_that_wait_for_an_answer_are_told() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (actor, kept) = keeper(&pool);
        let answer: PendingAnswer<u32> = actor.ask_pending(|reply| reply).unwrap();
        let reply = kept.recv().unwrap();
        let taken: Vec<_> = thread::scope(|threads| {
            let waiting: Vec<_> = (0..4)
                .map(|kind| {
                    let answer = &answer;
                    threads.spawn(move || {
                        let mut select = Select::new();
                        // Also in two places of one select.
                        select.wait(answer);
                        select.wait(answer);
                        if kind % 2 == 0 {
                            select.ready();
                        } else {
                            let operation = select.select();
                            operation.wait(answer);
                        }
                        answer.try_take()
                    })
                })
                .collect();
            thread::sleep(Duration::from_millis(20));
            reply.send(5);
            let each = waiting.into_iter().map(|thread| thread.join().unwrap());
            each.collect()
        });
        let answers: Vec<_> = taken.into_iter().flatten().collect();
        assert_eq!(answers, [Ok(5)]);
    });
}

#[test]
fn what_cannot_be_asked_is_told_at_once_and_what_ends_later_is_the_answer() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let (keep, kept) = mpsc::channel();
        let actor = pool.spawner().limited(1, Overflow::Fail).spawn_fn(
            move |(go_on, reply): (mpsc::Receiver<()>, Reply<u32>), _| {
                keep.send(()).unwrap();
                let _ = go_on.recv();
                drop(reply);
            },
        );
        let (enough, go_on) = mpsc::channel();
        let first = actor.ask_pending(|reply| (go_on, reply)).unwrap();
        kept.recv().unwrap();
        let ask = || actor.ask_pending(|reply| (mpsc::channel().1, reply));
        let second = ask().unwrap();
        assert_eq!(ask().unwrap_err(), AskError::Full(actor.id()));
        actor.stop();
        enough.send(()).unwrap();
        until(|| actor.is_stopped());
        assert_eq!(ask().unwrap_err(), AskError::Stopped(actor.id()));
        for pending in [first, second] {
            let mut select = Select::new();
            select.wait(&pending);
            select.ready();
            drop(select);
            assert!(pending.try_take().unwrap().is_err());
        }
    });
}

/// The thread that would have to answer is the one that asks.
#[test]
fn on_its_own_thread_nothing_is_asked() {
    within_limit(|| {
        let worker = Worker::new();
        let asked = worker.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
        let (told, is_told) = mpsc::channel();
        let asks = worker.spawn_fn(move |(), _| {
            told.send(asked.ask_pending(|reply| reply).map(|_| ()))
                .unwrap();
        });
        asks.tell(()).unwrap();
        assert_eq!(is_told.recv().unwrap(), Err(AskError::OwnThread));
    });
}
