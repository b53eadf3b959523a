//! Publishing by tasks: who has no room is awaited, and no thread waits.
//!
//! `TAMTAM_SOAK_SECONDS` makes the last test longer.

use std::pin::{Pin, pin};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::support::{
    Drops, Gate, LONG, Random, Soak, Token, block_on, hold, panic_on_purpose, until, within,
    within_limit,
};
use tamtam_actor::{Address, Ending, Overflow, Pool, PublishFuture, Time, Topic, WhenFull, Worker};

/// An actor with room for so many messages, which stands at its first one until it is let go.
fn held_back<M: Send + 'static>(
    pool: &Pool,
    room: usize,
    overflow: Overflow,
    first: M,
) -> (Address<M>, Gate, mpsc::Receiver<M>) {
    let (held, gate) = hold();
    let (sender, receiver) = mpsc::channel();
    let mut held = Some(held);
    let address = pool
        .spawner()
        .limited(room, overflow)
        .spawn_fn(move |message, _| match held.take() {
            Some(held) => held.wait(),
            None => drop(sender.send(message)),
        });
    assert!(address.tell(first).is_ok());
    gate.until_entered();
    (address, gate, receiver)
}

fn poll<M: Clone + Send + 'static>(
    future: Pin<&mut PublishFuture<M>>,
) -> Poll<Result<usize, tamtam_actor::PublishError<M>>> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn those_whose_mailboxes_wait_are_awaited_and_all_others_have_it_meanwhile() {
    within_limit(|| {
        let pool = Pool::with_threads(3);
        let topic = Topic::new();
        let (slow, gate, slow_heard) = held_back(&pool, 1, Overflow::Wait, 0);
        let (other, other_gate, other_heard) = held_back(&pool, 1, Overflow::Wait, 0);
        let (sender, quick_heard) = mpsc::channel();
        let quick = pool.spawn_fn(move |number, _| sender.send(number).unwrap());
        let slow = topic.subscribe(&slow);
        // Through a mapping, too.
        let other = topic.subscribe(&other.map(|number: u32| number + 100));
        let quick = topic.subscribe(&quick);
        assert_eq!(block_on(topic.publish_async(1)).unwrap(), 3);
        let mut publishing = pin!(topic.publish_async(2));
        for _ in 0..3 {
            assert!(poll(publishing.as_mut()).is_pending());
        }
        assert_eq!(quick_heard.recv_timeout(LONG), Ok(1));
        assert_eq!(quick_heard.recv_timeout(LONG), Ok(2));
        gate.open();
        assert_eq!(slow_heard.recv_timeout(LONG), Ok(1));
        let opener = thread::spawn(move || other_gate.open());
        assert_eq!(block_on(publishing).unwrap(), 3);
        opener.join().unwrap();
        assert_eq!(slow_heard.recv_timeout(LONG), Ok(2));
        assert_eq!(other_heard.recv_timeout(LONG), Ok(101));
        assert_eq!(other_heard.recv_timeout(LONG), Ok(102));
        for subscription in [slow, other, quick] {
            assert_eq!((subscription.delivered(), subscription.refused()), (2, 0));
        }
    });
}

/// Where a tell would be refused a `tell_async` waits, and so does a publish. Not for one who would rather lose something.
#[test]
fn those_whose_mailboxes_refuse_are_awaited_but_not_those_who_would_rather_lose() {
    within_limit(|| {
        let pool = Pool::with_threads(3);
        let topic = Topic::new();
        let (full, gate, heard) = held_back(&pool, 1, Overflow::Fail, 0);
        let (lossy, _lossy_gate, _) = held_back(&pool, 1, Overflow::Fail, 0);
        let (leaving, _leaving_gate, _) = held_back(&pool, 1, Overflow::Fail, 0);
        let full = topic.subscribe(&full);
        let lossy = topic.feed().when_full(WhenFull::Drop).subscribe(&lossy);
        let leaving = topic
            .feed()
            .when_full(WhenFull::Unsubscribe)
            .subscribe(&leaving);
        assert_eq!(block_on(topic.publish_async(1)).unwrap(), 3);
        let mut publishing = pin!(topic.publish_async(2));
        assert!(poll(publishing.as_mut()).is_pending());
        assert_eq!(
            (lossy.dropped(), leaving.ending()),
            (1, Some(Ending::Lagged))
        );
        // One that does not await is told, and may then.
        let error = topic.publish(3).unwrap_err();
        assert_eq!((error.delivered(), error.refused()), (0, 1));
        assert_eq!(error.subscriptions().collect::<Vec<_>>(), [full.id()]);
        let mut again = pin!(error.retry_async());
        let opener = thread::spawn(move || gate.open());
        assert_eq!(block_on(publishing).unwrap(), 1);
        assert_eq!(block_on(again.as_mut()).unwrap(), 1);
        opener.join().unwrap();
        for number in 1..=3 {
            assert_eq!(heard.recv_timeout(LONG), Ok(number));
        }
    });
}

#[test]
fn room_where_messages_are_gathered_is_awaited() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder().time(time.clone()).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let chart = pool.spawn_fn(move |numbers: Vec<u32>, _| sender.send(numbers).unwrap());
        let topic = Topic::new();
        let interval = Duration::from_secs(1);
        let feed = topic.feed().batched(interval).gather_at_most(2);
        let subscription = feed.subscribe(&chart);
        for number in 0..2 {
            assert_eq!(topic.publish(number).unwrap(), 1);
        }
        let mut publishing = pin!(topic.publish_async(2));
        assert!(poll(publishing.as_mut()).is_pending());
        thread::scope(|scope| {
            let waiter = scope.spawn(|| block_on(publishing.as_mut()).unwrap());
            time.advance(interval);
            assert_eq!(receiver.recv_timeout(LONG), Ok(vec![0, 1]));
            assert_eq!(waiter.join().unwrap(), 1);
        });
        // One that waits when the subscription ends has nobody to wait for.
        assert_eq!(topic.publish(3).unwrap(), 1);
        let mut given_up = pin!(topic.publish(4).unwrap_err().retry_async());
        assert!(poll(given_up.as_mut()).is_pending());
        drop(subscription);
        assert_eq!(block_on(given_up).unwrap(), 0);
    });
}

#[test]
fn one_that_is_given_up_leaves_the_room_to_others_and_its_message_comes_back() {
    within_limit(|| {
        let drops = Drops::default();
        #[derive(Clone)]
        struct Copied {
            _token: Arc<Token>,
        }
        {
            let pool = Pool::with_threads(1);
            let topic = Topic::new();
            let copied = || Copied {
                _token: Arc::new(drops.token()),
            };
            let (slow, gate, heard) = held_back(&pool, 1, Overflow::Wait, copied());
            let _subscription = topic.subscribe(&slow);
            assert_eq!(topic.publish(copied()).unwrap(), 1);
            for _ in 0..3 {
                // Dropped in mid-await.
                assert!(poll(pin!(topic.publish_async(copied()))).is_pending());
            }
            let mut back = Box::pin(topic.publish_async(copied()));
            assert!(poll(back.as_mut()).is_pending());
            assert!(Pin::into_inner(back).into_inner().is_some());
            assert!(
                topic.publish_async(copied()).into_inner().is_some(),
                "never polled"
            );
            let mut publishing = pin!(topic.publish_async(copied()));
            assert!(poll(publishing.as_mut()).is_pending());
            gate.open();
            assert_eq!(block_on(publishing).unwrap(), 1);
            for _ in 0..2 {
                heard.recv_timeout(LONG).unwrap();
            }
            assert!(
                heard.try_recv().is_err(),
                "nothing of those that were given up"
            );
        }
        assert_eq!(drops.count(), 8);
    });
}

#[test]
fn one_who_is_awaited_may_stop_or_panic() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::new();
        let (stopping, gate, _) = held_back(&pool, 1, Overflow::Wait, 0);
        let _stopping = topic.subscribe(&stopping);
        let (fragile, fragile_gate, heard) = held_back(&pool, 1, Overflow::Wait, 0);
        let fragile = topic.subscribe(&fragile.map(|number| match number {
            2 => panic_on_purpose(),
            number => number,
        }));
        assert_eq!(topic.publish(1).unwrap(), 2);
        let mut publishing = pin!(topic.publish_async(2));
        assert!(poll(publishing.as_mut()).is_pending());
        stopping.stop();
        gate.open();
        fragile_gate.open();
        assert_eq!(block_on(publishing).unwrap(), 0);
        assert_eq!(fragile.ending(), Some(Ending::Panicked));
        assert_eq!(heard.recv_timeout(LONG), Ok(1));
        until(|| topic.subscribers() == 0);
    });
}

#[test]
fn the_future_can_be_sent() {
    fn sent<T: Send>(_: &T) {}
    let topic = Topic::<std::cell::Cell<u8>>::new();
    sent(&topic.publish_async(std::cell::Cell::new(1)));
}

/// Tasks publish to slow subscribers that are few and have little room; each gets all of each publisher, in order.
#[test]
fn tasks_that_publish_lose_nothing_and_keep_their_order() {
    const PUBLISHERS: usize = 3;
    const MESSAGES: u64 = 200;
    let soak = Soak::rounds(5);
    within(soak.limit(), move || {
        for round in soak {
            let pool = Pool::with_threads(2);
            let worker = Worker::new();
            let topic = Topic::new();
            let (sender, receiver) = mpsc::channel();
            let mut subscriptions = Vec::new();
            for subscriber in 0..3 {
                let sender = sender.clone();
                let mut next = [0; PUBLISHERS];
                let mut random = Random::new((round ^ subscriber << 32) as u64);
                let handle = move |(from, number): (usize, u64), _: &mut tamtam_actor::Here<_>| {
                    assert_eq!(number, next[from], "of {from}");
                    next[from] += 1;
                    if random.below(20) == 0 {
                        thread::yield_now();
                    }
                    if next == [MESSAGES; PUBLISHERS] {
                        sender.send(subscriber).unwrap();
                    }
                };
                let room = 1 + subscriber;
                let address = if subscriber == 0 {
                    worker
                        .spawner()
                        .limited(room, Overflow::Wait)
                        .spawn_fn(handle)
                } else {
                    pool.spawner()
                        .limited(room, Overflow::Wait)
                        .spawn_fn(handle)
                };
                subscriptions.push((topic.subscribe(&address), address));
            }
            thread::scope(|scope| {
                for from in 0..PUBLISHERS {
                    let topic = topic.clone();
                    scope.spawn(move || {
                        block_on(async {
                            for number in 0..MESSAGES {
                                assert_eq!(topic.publish_async((from, number)).await.unwrap(), 3);
                            }
                        });
                    });
                }
            });
            for _ in 0..3 {
                receiver.recv_timeout(LONG).expect("all of it");
            }
        }
    });
}
