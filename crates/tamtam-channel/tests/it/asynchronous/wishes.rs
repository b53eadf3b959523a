//! What users of other libraries ran into with tasks, each test named after the public issue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, select};
use tamtam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded, unbounded};

use crate::asynchronous::executor::{Executor, task};
use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Drops, Flavour, LONG, for_every_flavour, ms, within_limit};

for_every_flavour!(
    tokio_6817_length_and_capacity_are_known_at_both_ends,
    flume_104_a_receive_that_loses_a_race_loses_no_message,
    flume_104_a_wake_up_for_a_cancelled_receive_reaches_another,
    kanal_50_a_cancelled_receive_destroys_nothing,
    quickwit_2862_an_ask_ends_when_its_server_goes,
    comlink_692_an_answer_to_one_that_gave_up_is_refused,
    nats_223_a_drain_that_returns_has_drained,
    tokio_5662_blocking_with_a_timeout_works_inside_and_outside_of_a_runtime,
    flume_124_the_last_message_of_a_task_that_ends_arrives,
);

#[cfg(feature = "futures")]
for_every_flavour!(@module streams, Flavour::Bounded(3), kanal_19_buffered_streams_drop_each_message_once);

/// The length and the capacity are known at both ends, while tasks wait, too.
fn tokio_6817_length_and_capacity_are_known_at_both_ends(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let hand = Hand::new();
    for number in 0..flavour.room() {
        hand.ready(&mut sender.send_async(number)).unwrap();
        assert_eq!((sender.len(), receiver.len()), (number + 1, number + 1));
    }
    assert_eq!(sender.capacity(), flavour.capacity());
    assert_eq!(receiver.capacity(), flavour.capacity());
    if flavour != Flavour::Unbounded {
        // What waits outside does not count, and neither does what was given up.
        let mut waiting = sender.send_async(0);
        hand.pends(&mut waiting);
        assert!(sender.is_full());
        assert_eq!(sender.len(), flavour.room());
        drop(waiting);
        assert_eq!(sender.len(), flavour.room());
    }
}

/// In a race of a receive with something else, again and again, nothing is lost and nothing hangs.
fn flume_104_a_receive_that_loses_a_race_loses_no_message(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let (tick, ticks) = bounded(1);
        let sends = task(async move {
            for number in 0..300 {
                sender.send_async(number).await.unwrap();
                let _ = tick.try_send(());
            }
        });
        let receives = task(async move {
            let mut next = 0;
            while next < 300 {
                let race = select(receiver.recv_async(), ticks.recv_async());
                match race.await {
                    Either::Left((received, _)) => {
                        assert_eq!(received, Ok(next));
                        next += 1;
                    }
                    Either::Right((Err(_), receive)) => {
                        assert_eq!(receive.await, Ok(next));
                        next += 1;
                    }
                    // The receive is dropped, perhaps after it was woken.
                    Either::Right((Ok(()), _)) => {}
                }
            }
        });
        executor.run(vec![sends, receives]);
    }
}

fn flume_104_a_wake_up_for_a_cancelled_receive_reaches_another(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let hands = Hand::several::<2>();
    let mut cancelled = receiver.recv_async();
    let mut other = receiver.recv_async();
    hands[0].pends(&mut cancelled);
    hands[1].pends(&mut other);
    let giver = Hand::new();
    let mut send = sender.send_async(1);
    let _ = giver.poll(&mut send);
    assert_eq!(hands[0].wakes(), 1);
    drop(cancelled);
    assert_eq!(wakes(&hands), [1, 1]);
    assert_eq!(hands[1].ready(&mut other), Ok(1));
}

/// A task that is torn down in the middle of a hand-over leaves the message to the next receive.
fn kanal_50_a_cancelled_receive_destroys_nothing(flavour: Flavour) {
    let drops = Drops::default();
    for number in 0..200 {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        let mut receive = receiver.recv_async();
        hand.pends(&mut receive);
        let giver = Hand::new();
        let mut send = sender.send_async(drops.numbered(number));
        let _ = giver.poll(&mut send);
        drop(receive);
        assert_eq!(drops.count(), number);
        let received = hand.ready(&mut receiver.recv_async()).ok().unwrap();
        assert_eq!(received.number, number);
    }
}

/// One message in flight, answered through a channel inside of it.
struct Ask {
    number: u64,
    reply: Sender<u64>,
}

/// Asks wait inside of the channel when its last receiver goes: they are dropped there and then, so that those who ask
/// learn it at once.
fn quickwit_2862_an_ask_ends_when_its_server_goes(flavour: Flavour) {
    within_limit(move || {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<3>();
        let (mut answers, mut sends) = (Vec::new(), Vec::new());
        for number in 0..3 {
            let (reply, answer) = bounded(1);
            answers.push(answer);
            sends.push(sender.send_async(Ask { number, reply }));
        }
        for send in &mut sends {
            // Some are inside, the others wait for room.
            if Hand::new().poll(send).is_ready() {
                continue;
            }
        }
        let mut waits: Vec<_> = answers.iter().map(Receiver::recv_async).collect();
        for (hand, wait) in hands.iter().zip(&mut waits) {
            hand.pends(wait);
        }
        drop(receiver);
        // Those that were refused are with their futures, which give them back.
        for send in sends {
            drop(send.into_inner());
        }
        assert_eq!(wakes(&hands), [1; 3], "{flavour:?}");
        for (hand, wait) in hands.iter().zip(&mut waits) {
            assert!(hand.ready(wait).is_err());
        }
        drop(sender);
    });
}

/// One that asks and gives up takes its reply channel with it: the server's answer comes back to the server, not lost.
fn comlink_692_an_answer_to_one_that_gave_up_is_refused(flavour: Flavour) {
    within_limit(move || {
        let (sender, receiver) = flavour.pair();
        let server = thread::spawn(move || {
            let mut refused = 0;
            for ask in receiver {
                let Ask { number, reply } = ask;
                match reply.send(number * 2) {
                    Ok(()) => {}
                    Err(error) => {
                        assert_eq!(error.into_inner(), number * 2);
                        refused += 1;
                    }
                }
            }
            refused
        });
        block_on(async {
            for number in 0..100 {
                let (reply, answer) = bounded(1);
                if number % 2 == 0 {
                    sender.send_async(Ask { number, reply }).await.unwrap();
                    assert_eq!(answer.recv_async().await, Ok(number * 2));
                } else {
                    // Dropped in the middle of its wait, before the question is answered.
                    let hand = Hand::new();
                    hand.pends(&mut answer.recv_async());
                    drop(answer);
                    sender.send_async(Ask { number, reply }).await.unwrap();
                }
            }
        });
        drop(sender);
        assert_eq!(server.join().unwrap(), 50);
    });
}

/// Draining is receiving until the end: when that returns, everything accepted was handled.
fn nats_223_a_drain_that_returns_has_drained(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let (accepted, handled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let mut tasks: Vec<_> = (0..3)
            .map(|_| {
                let (sender, accepted) = (sender.clone(), Arc::clone(&accepted));
                task(async move {
                    for number in 0..100 {
                        if sender.send_async(number).await.is_ok() {
                            accepted.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                })
            })
            .collect();
        drop(sender);
        let counter = Arc::clone(&handled);
        tasks.push(task(async move {
            let mut stream = receiver.into_stream();
            while std::future::poll_fn(|context| stream.poll_next(context))
                .await
                .is_some()
            {
                counter.fetch_add(1, Ordering::SeqCst);
            }
            // Returned: nothing is inside, and nothing will be.
            assert!(stream.receiver().is_empty());
        }));
        executor.run(tasks);
        assert_eq!(accepted.load(Ordering::SeqCst), 300);
        assert_eq!(handled.load(Ordering::SeqCst), 300);
    }
}

/// A plain thread, a thread that has entered a runtime, and a runtime's own thread, all of which block.
fn tokio_5662_blocking_with_a_timeout_works_inside_and_outside_of_a_runtime(flavour: Flavour) {
    within_limit(move || {
        let blocks = move || {
            let (sender, receiver) = flavour.pair::<u8>();
            let start = Instant::now();
            let nothing = receiver.recv_timeout(ms(2));
            assert_eq!(nothing, Err(RecvTimeoutError::Timeout));
            assert!(start.elapsed() >= ms(2));
            if let Some(room) = flavour.capacity() {
                (0..room).for_each(|_| sender.send(0).unwrap());
                let full = sender.send_timeout(1, ms(2));
                assert_eq!(full, Err(SendTimeoutError::Timeout(1)));
            }
            thread::scope(|scope| {
                scope.spawn(|| sender.send_timeout(9, LONG).unwrap());
                while receiver.recv_timeout(LONG).unwrap() != 9 {}
            });
        };
        blocks();
        for mut builder in [
            tokio::runtime::Builder::new_current_thread(),
            tokio::runtime::Builder::new_multi_thread(),
        ] {
            let runtime = builder.build().unwrap();
            {
                let _entered = runtime.enter();
                blocks();
            }
            runtime.block_on(async move { blocks() });
            let spawned = runtime.spawn(async move { blocks() });
            runtime.block_on(spawned).unwrap();
        }
        block_on(async move { blocks() });
    });
}

fn flume_124_the_last_message_of_a_task_that_ends_arrives(flavour: Flavour) {
    for executor in Executor::ALL {
        for _ in 0..20 {
            let (sender, receiver) = flavour.pair();
            let sends = task(async move { sender.send_async(1).await.unwrap() });
            let receives = task(async move {
                assert_eq!(receiver.recv_async().await, Ok(1));
                assert!(receiver.recv_async().await.is_err());
            });
            executor.run(vec![receives, sends]);
        }
    }
}

/// With capacity zero an awaiting sender goes on when a receiver has its message, not when one might come.
#[test]
fn flume_140_a_rendezvous_stays_one_with_tasks_at_its_ends() {
    let (sender, receiver) = bounded(0);
    let (giver, taker) = (Hand::new(), Hand::new());
    let mut receive = receiver.recv_async();
    taker.pends(&mut receive);
    let mut send = sender.send_async(1);
    giver.pends(&mut send);
    assert_eq!(taker.wakes(), 1);
    giver.pends(&mut send);
    assert_eq!((sender.len(), giver.wakes()), (0, 0));
    // It goes away without it: nobody has it, and the sender does not say so.
    drop(receive);
    giver.pends(&mut send);
    assert_eq!(giver.wakes(), 0);
    let mut receive = receiver.recv_async();
    assert_eq!(taker.ready(&mut receive), Ok(1));
    assert_eq!(giver.wakes(), 1);
    giver.ready(&mut send).unwrap();
}

/// As above, with threads and tasks at both ends: whoever was told `Ok` finds that it was received.
#[test]
fn flume_140_no_send_returns_before_its_message_is_received() {
    for executor in Executor::ALL {
        within_limit(move || {
            let (sender, receiver) = bounded::<usize>(0);
            // What was received, as the receivers saw it.
            let received: Arc<Vec<_>> = Arc::new((0..400).map(|_| AtomicUsize::new(0)).collect());
            let gone = Arc::new(AtomicUsize::new(0));
            let mut tasks: Vec<_> = (0..2)
                .map(|me| {
                    let (sender, gone) = (sender.clone(), Arc::clone(&gone));
                    task(async move {
                        for number in 0..100 {
                            let number = me * 100 + number;
                            let sent = sender.send_timeout_async(number, LONG).await;
                            assert_eq!(sent, Ok(()));
                            gone.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            for _ in 0..2 {
                let (receiver, received, gone) =
                    (receiver.clone(), Arc::clone(&received), Arc::clone(&gone));
                tasks.push(task(async move {
                    while let Ok(number) = receiver.recv_async().await {
                        received[number].fetch_add(1, Ordering::SeqCst);
                        // In this order: whatever is told to a sender later is received later.
                        let told = gone.load(Ordering::SeqCst);
                        let all: usize =
                            received.iter().map(|one| one.load(Ordering::SeqCst)).sum();
                        // The other receiver may have one that it has not counted yet.
                        assert!(told <= all + 1);
                    }
                }));
            }
            drop((sender, receiver));
            executor.run(tasks);
            let all: usize = received.iter().map(|one| one.load(Ordering::SeqCst)).sum();
            assert_eq!(all, 200);
        });
    }
}

/// A message for one task costs one wake-up, in that task alone, however many wait.
#[test]
fn tokio_4941_a_message_wakes_no_other_task_for_nothing() {
    let (sender, receiver) = unbounded();
    let hands = Hand::several::<32>();
    let mut futures: Vec<_> = (0..32).map(|_| receiver.recv_async()).collect();
    for (hand, future) in hands.iter().zip(&mut futures) {
        hand.pends(future);
    }
    for number in 0..32 {
        sender.send(number).unwrap();
        assert_eq!(wakes(&hands).iter().sum::<usize>(), number + 1);
        assert_eq!(hands[number].ready(&mut futures[number]), Ok(number));
    }
}

/// Receives of a stream, some of which are buffered and given up at the end: no message is dropped twice or read before
/// it was written.
#[cfg(feature = "futures")]
fn kanal_19_buffered_streams_drop_each_message_once(flavour: Flavour) {
    use futures::StreamExt;
    for stop in [0, 1, 5, 49, 50] {
        let drops = Drops::default();
        let (sender, receiver) = flavour.pair();
        let made = drops.clone();
        let sends = thread::spawn(move || {
            for number in 0..50 {
                if sender.send(made.numbered(number)).is_err() {
                    // The refused one is dropped, too.
                    return number + 1;
                }
            }
            50
        });
        let handled = block_on(async {
            let answers = unbounded::<usize>();
            let handled = receiver
                .into_stream()
                .map(|token| {
                    let (answer, answered) = (&answers.0, &answers.1);
                    async move {
                        answer.send_async(token.number).await.unwrap();
                        let number = answered.recv_async().await.unwrap();
                        drop(token);
                        number
                    }
                })
                .buffer_unordered(4)
                .take(stop)
                .collect::<Vec<_>>()
                .await;
            handled.len()
        });
        assert_eq!(handled, stop);
        let made = sends.join().unwrap();
        assert_eq!(drops.count(), made, "{stop}");
    }
}

/// A deadline in a task does not need a timer of the runtime, which has none here, and is not late by much.
#[test]
fn tokio_5084_deadlines_need_no_runtime() {
    within_limit(|| {
        let (_sender, receiver) = unbounded::<u8>();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let start = Instant::now();
        let ended = runtime.block_on(receiver.recv_timeout_async(ms(10)));
        assert_eq!(ended, Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= ms(10));
        assert!(start.elapsed() < Duration::from_secs(30));
    });
}
