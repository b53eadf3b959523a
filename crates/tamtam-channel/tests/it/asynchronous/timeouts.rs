//! Deadlines of tasks, which need no runtime's timer, and the thread that keeps them.

use std::future::Future;
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tamtam_channel::{
    Event, Latch, Property, RecvTimeoutError, SendTimeoutError, Slot, after, bounded, unbounded,
};

use crate::asynchronous::executor::{Executor, task};
use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Flavour, LONG, SHORT, for_every_flavour, ms, within_limit};

for_every_flavour!(
    a_receive_gives_up_in_time,
    a_send_gives_up_in_time_and_gives_its_message_back,
    what_comes_in_time_is_received,
    the_end_comes_before_the_deadline,
    a_deadline_that_has_passed_still_looks_once,
);

fn a_receive_gives_up_in_time(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair::<u8>();
        executor.run_one(async move {
            let start = Instant::now();
            let timeout = Err(RecvTimeoutError::Timeout);
            assert_eq!(receiver.recv_timeout_async(ms(3)).await, timeout);
            assert!(start.elapsed() >= ms(3));
            let deadline = Instant::now() + ms(3);
            assert_eq!(receiver.recv_deadline_async(deadline).await, timeout);
            assert!(Instant::now() >= deadline);
            drop(sender);
        });
    }
}

fn a_send_gives_up_in_time_and_gives_its_message_back(flavour: Flavour) {
    if flavour == Flavour::Unbounded {
        return;
    }
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        for _ in 0..flavour.room() {
            sender.send(0).unwrap();
        }
        executor.run_one(async move {
            let start = Instant::now();
            let refused = sender.send_timeout_async(7, ms(3)).await;
            assert_eq!(refused, Err(SendTimeoutError::Timeout(7)));
            assert!(start.elapsed() >= ms(3));
            let deadline = Instant::now() + ms(3);
            let refused = sender.send_deadline_async(8, deadline).await;
            assert_eq!(refused, Err(SendTimeoutError::Timeout(8)));
            assert!(Instant::now() >= deadline);
            assert_eq!(receiver.try_iter().count(), flavour.room());
        });
    }
}

fn what_comes_in_time_is_received(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair();
        let sends = task(async move {
            for number in 0..100 {
                sender.send_timeout_async(number, LONG).await.unwrap();
            }
        });
        let receives = task(async move {
            for number in 0..100 {
                assert_eq!(receiver.recv_timeout_async(LONG).await, Ok(number));
            }
            let ended = receiver.recv_timeout_async(Duration::MAX).await;
            assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
        });
        executor.run(vec![sends, receives]);
    }
}

fn the_end_comes_before_the_deadline(flavour: Flavour) {
    for executor in Executor::ALL {
        let (sender, receiver) = flavour.pair::<u8>();
        let receives = task(async move {
            let ended = receiver.recv_timeout_async(LONG).await;
            assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
        });
        executor.run(vec![receives, task(async move { drop(sender) })]);
    }
}

fn a_deadline_that_has_passed_still_looks_once(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let past = Instant::now();
    let hand = Hand::new();
    let none = hand.ready(&mut receiver.recv_deadline_async(past));
    assert_eq!(none, Err(RecvTimeoutError::Timeout));
    let mut send = sender.send_deadline_async(1, past);
    let sent = hand.ready(&mut send);
    assert_eq!(sent.is_ok(), !flavour.is_rendezvous());
    drop(send);
    let mut offer = sender.send_async(2);
    let _ = Hand::new().poll(&mut offer);
    let received = hand.ready(&mut receiver.recv_deadline_async(past));
    assert_eq!(received, Ok(if flavour.is_rendezvous() { 2 } else { 1 }));
    assert_eq!(hand.wakes(), 0);
}

/// Many at once, in any order: each is woken once, not before its time, and those taken back are not.
#[test]
fn each_deadline_wakes_its_task_once() {
    within_limit(|| {
        let (sender, receiver) = unbounded::<u8>();
        let hands = Hand::several::<20>();
        let start = Instant::now();
        let time = |index: usize| ms(((index * 7) % 20 + 1) as u64);
        let mut futures: Vec<_> = (0..20)
            .map(|index| Some(receiver.recv_deadline_async(start + time(index))))
            .collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            // On a loaded machine its time may be over by now.
            if hand.poll(future.as_mut().unwrap()).is_ready() {
                *future = None;
            }
        }
        for index in (0..20).step_by(3) {
            futures[index] = None;
        }
        for (index, future) in futures.iter_mut().enumerate() {
            if let Some(future) = future {
                hands[index].until_woken(1);
                assert!(start.elapsed() >= time(index));
                let ended = hands[index].ready(future);
                assert_eq!(ended, Err(RecvTimeoutError::Timeout));
            }
        }
        assert!(wakes(&hands).iter().all(|count| *count <= 1));
        drop(sender);
    });
}

/// An earlier deadline than the thread sleeps for, asked for later.
#[test]
fn a_nearer_deadline_is_not_overslept() {
    within_limit(|| {
        let (_sender, receiver) = unbounded::<u8>();
        let hand = Hand::new();
        let mut far = receiver.recv_timeout_async(LONG);
        hand.pends(&mut far);
        // The thread goes to sleep for the far one, whenever it comes to that.
        for _ in 0..5 {
            let start = Instant::now();
            assert!(block_on(receiver.recv_timeout_async(ms(5))).is_err());
            assert!(start.elapsed() < LONG / 2, "it was overslept");
        }
        assert_eq!(hand.wakes(), 0);
    });
}

/// A deadline that passes while its task is being chosen: the message goes to it or to the next, never to nobody.
#[test]
fn a_deadline_races_with_a_message() {
    within_limit(|| {
        let (sender, receiver) = bounded(1);
        let (done, finished) = unbounded();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..1_000_u64 {
                    sender.send(number).unwrap();
                    thread::sleep(Duration::from_micros(number % 150));
                    if finished.try_recv().is_ok() {
                        return;
                    }
                }
            });
            let mut next = 0;
            while next < 1_000 {
                let time = Duration::from_micros(20 + next % 100);
                match block_on(receiver.recv_timeout_async(time)) {
                    Ok(number) => {
                        assert_eq!(number, next);
                        next += 1;
                    }
                    Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
                }
            }
            done.send(()).unwrap();
        });
    });
}

/// Whether the thread that keeps the deadlines is there.
#[cfg(target_os = "linux")]
fn timer_runs() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    threads.flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("comm"))
            .is_ok_and(|name| name.trim() == "tamtam-timer")
    })
}

/// In a process of its own: the other tests wait with deadlines, too.
#[cfg(target_os = "linux")]
#[test]
fn the_timer_ends_when_nobody_waits_with_a_deadline() {
    tamtam_testing::in_a_process_of_its_own(
        "asynchronous::timeouts::the_timer_ends_when_nobody_waits_with_a_deadline",
        crate::support::LIMIT,
        |_| {},
        the_timer_ends,
    );
}

#[cfg(target_os = "linux")]
fn the_timer_ends() {
    within_limit(|| {
        assert!(!timer_runs(), "it runs before it is needed");
        // A thread has its name a moment after it was started.
        let runs = || crate::support::until(timer_runs);
        let ended = || crate::support::until(|| !timer_runs());
        let (sender, receiver) = unbounded::<u8>();
        // A burst of short ones.
        let futures = (0..100).map(|n| receiver.recv_timeout_async(ms(n % 10)));
        block_on(futures::future::join_all(futures));
        ended();
        // A far one that was taken back, which the thread was asleep for.
        let hand = Hand::new();
        let mut far = receiver.recv_timeout_async(Duration::from_secs(100_000));
        hand.pends(&mut far);
        runs();
        thread::sleep(SHORT);
        drop(far);
        ended();
        // A far one among near ones, and a timer channel.
        let mut far = receiver.recv_timeout_async(Duration::from_secs(100_000));
        hand.pends(&mut far);
        block_on(after(ms(1)).recv_async()).unwrap();
        runs();
        drop(far);
        ended();
        // And again.
        assert!(block_on(receiver.recv_timeout_async(ms(1))).is_err());
        drop(sender);
    });
}

/// While somebody waits for a far one, it is there; and receiving in time, again and again, does not disturb it.
#[test]
fn deadlines_that_are_taken_back_cost_the_timer_nothing() {
    within_limit(|| {
        let (sender, receiver) = unbounded();
        let hand = Hand::new();
        for number in 0..2_000 {
            let mut future = receiver.recv_timeout_async(LONG);
            hand.pends(&mut future);
            sender.send(number).unwrap();
            assert_eq!(hand.ready(&mut future), Ok(number));
        }
        assert_eq!(hand.wakes(), 2_000);
    });
}

/// Polls once what waits for long, gives it up, and looks whether it stands in a list or in the clock still.
fn is_gone_without_a_trace<F: Future + Unpin>(what: &str, mut future: F) {
    let hand = Hand::new();
    hand.pends(&mut future);
    assert!(hand.wakers_about() > 0, "{what}");
    drop(future);
    assert_eq!(hand.wakers_about(), 0, "{what} left its waker behind");
}

#[test]
fn a_timed_wait_that_is_given_up_leaves_no_waker() {
    for flavour in Flavour::ALL {
        let (sender, receiver) = flavour.pair();
        let name = |what: &str| format!("{what} of {flavour:?}");
        is_gone_without_a_trace(&name("recv"), receiver.recv_timeout_async(LONG));
        let mut buffer = Vec::new();
        let many = receiver.recv_timeout_many_async(&mut buffer, 3, LONG);
        is_gone_without_a_trace(&name("recv_many"), many);
        if flavour.capacity().is_none() {
            continue;
        }
        (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
        is_gone_without_a_trace(&name("send"), sender.send_timeout_async(7, LONG));
        if !flavour.is_rendezvous() {
            is_gone_without_a_trace(&name("reserve"), sender.reserve_timeout_async(LONG));
        }
    }

    let (mut sender, mut receiver) = tamtam_channel::mpsc::bounded(1);
    is_gone_without_a_trace("recv of lanes", receiver.recv_timeout_async(LONG));
    let mut buffer = Vec::new();
    let many = receiver.recv_timeout_many_async(&mut buffer, 3, LONG);
    is_gone_without_a_trace("recv_many of lanes", many);
    sender.send(1).unwrap();
    is_gone_without_a_trace("send of a lane", sender.send_timeout_async(2, LONG));
    is_gone_without_a_trace("reserve of a lane", sender.reserve_timeout_async(LONG));

    let (sender, receiver) = tamtam_channel::broadcast::bounded(1);
    is_gone_without_a_trace("recv of a broadcast", receiver.recv_timeout_async(LONG));
    sender.send(1).unwrap();
    let send = sender.send_timeout_async(2, LONG);
    is_gone_without_a_trace("send of a broadcast", send);

    let event = Event::manual();
    is_gone_without_a_trace("wait for an event", event.wait_timeout_async(LONG));
    let event = Event::auto();
    is_gone_without_a_trace("wait for a turn", event.wait_timeout_async(LONG));
    let latch = Latch::new(1);
    is_gone_without_a_trace("wait for a latch", latch.wait_timeout_async(LONG));
    let property = Property::new(1);
    let changed = property.wait_changed_timeout_async(0, LONG);
    is_gone_without_a_trace("wait for a change", changed);
}

/// The second in line stands in the list behind the place for one.
#[test]
fn a_taker_and_a_putter_that_give_up_leave_no_waker() {
    let slot = Slot::new();
    let (first, mut taker) = (Hand::new(), slot.take_async());
    first.pends(&mut taker);
    is_gone_without_a_trace("take", slot.take_async());
    drop(taker);
    slot.put(1);
    let mut putter = slot.put_async(2);
    first.pends(&mut putter);
    is_gone_without_a_trace("put", slot.put_async(3));
}
