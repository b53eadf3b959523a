//! Subscribers of a topic that gather: batches, keyed and recycled ones, the latest message. Time is moved by hand.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{LONG, hold, panic_on_purpose, until, within_limit};
use tamtam_actor::{
    Address, Batch, Budget, Ending, Frame, Overflow, Pool, Time, Topic, Until, WhenFull,
};

const INTERVAL: Duration = Duration::from_millis(10);

/// A pool whose time the test moves.
struct Place {
    pool: Pool,
    time: Time,
}

impl Place {
    fn new() -> Self {
        Self::with_threads(1)
    }

    fn with_threads(threads: usize) -> Self {
        let time = Time::manual();
        let pool = Pool::builder().threads(threads).time(time.clone());
        Place {
            pool: pool.build().expect("a thread"),
            time,
        }
    }

    /// An actor that passes on what it gets.
    fn collector<M: Send + 'static>(&self) -> (Address<M>, mpsc::Receiver<M>) {
        let (sender, receiver) = mpsc::channel();
        let address = self
            .pool
            .spawn_fn(move |message, _| drop(sender.send(message)));
        (address, receiver)
    }

    fn intervals(&self) -> usize {
        self.time.timers()
    }

    /// Ends the intervals that have begun.
    fn pass(&self) {
        self.time.advance(INTERVAL);
    }
}

fn next<M>(receiver: &mpsc::Receiver<M>) -> M {
    receiver.recv_timeout(LONG).expect("a message")
}

#[test]
fn a_batch_is_what_came_within_an_interval() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<Vec<u32>>();
        let subscription = topic.feed().batched(INTERVAL).subscribe(&batches);
        assert_eq!(place.intervals(), 0, "nothing runs while nothing comes");
        for number in 0..5 {
            assert_eq!(topic.publish(number).unwrap(), 1);
        }
        assert_eq!(
            place.intervals(),
            1,
            "the first message begins the interval"
        );
        assert_eq!(subscription.delivered(), 0);
        place.pass();
        assert_eq!(next(&received), [0, 1, 2, 3, 4]);
        assert_eq!(subscription.delivered(), 5);
        assert_eq!(place.intervals(), 0);
        topic.publish(5).unwrap();
        assert_eq!(place.intervals(), 1);
        assert!(received.try_recv().is_err());
        place.pass();
        assert_eq!(next(&received), [5]);
    });
}

#[test]
fn a_filter_comes_before_gathering() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<Vec<u32>>();
        let _subscription = topic
            .feed()
            .filter(|number| number % 2 == 0)
            .batched(INTERVAL)
            .filter(|number| number % 3 == 0)
            .subscribe(&batches);
        for number in 1..=5 {
            assert_eq!(topic.publish(number).unwrap(), 0);
        }
        assert_eq!(place.intervals(), 0);
        for number in 6..=18 {
            topic.publish(number).unwrap();
        }
        place.pass();
        assert_eq!(next(&received), [6, 12, 18]);
    });
}

#[test]
fn a_keyed_batch_is_the_latest_of_each_key() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<HashMap<u32, (u32, u32)>>();
        let subscription = topic
            .feed()
            .latest_by(INTERVAL, |(key, _)| *key)
            .subscribe(&batches);
        // So many that they are put in order meanwhile, too.
        for number in 0..1000 {
            topic.publish((number % 2, number)).unwrap();
        }
        assert_eq!(place.intervals(), 1);
        assert!(subscription.replaced() > 800, "memory for the keys alone");
        place.pass();
        let latest = next(&received);
        assert_eq!(latest, HashMap::from([(0, (0, 998)), (1, (1, 999))]));
        assert_eq!(subscription.delivered(), 2);
        assert_eq!(subscription.replaced(), 998);
        topic.publish((7, 1)).unwrap();
        place.pass();
        assert_eq!(next(&received), HashMap::from([(7, (7, 1))]));
    });
}

#[test]
fn the_latest_message_stands_for_those_before_it() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (latest, received) = place.collector::<u32>();
        let subscription = topic.feed().latest(INTERVAL).subscribe(&latest);
        for number in 0..5 {
            topic.publish(number).unwrap();
        }
        assert_eq!(place.intervals(), 1);
        assert!(received.try_recv().is_err());
        place.pass();
        assert_eq!(next(&received), 4);
        assert_eq!((subscription.delivered(), subscription.replaced()), (1, 4));
        topic.publish(5).unwrap();
        place.pass();
        assert_eq!(next(&received), 5);
        assert!(received.try_recv().is_err());
    });
}

#[test]
fn two_vectors_of_a_recycling_subscriber_take_turns() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let places = Arc::new(Mutex::new(Vec::new()));
        let (sender, received) = mpsc::channel();
        let noted = Arc::clone(&places);
        let batches = place.pool.spawn_fn(move |mut batch: Batch<u64>, _| {
            noted.lock().unwrap().push(batch.as_ptr().addr());
            let messages: Vec<u64> = batch.take().collect();
            drop(batch);
            let _ = sender.send(messages);
        });
        let _subscription = topic.feed().recycled(INTERVAL).subscribe(&batches);
        for round in 0..10 {
            for number in 0..4 {
                topic.publish(10 * round + number).unwrap();
            }
            place.pass();
            assert_eq!(
                next(&received),
                (10 * round..10 * round + 4).collect::<Vec<_>>()
            );
        }
        let mut places = places.lock().unwrap().clone();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 2, "{places:x?}");
    });
}

#[test]
fn what_finds_no_room_in_the_mailbox_waits_for_the_next_interval() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (entered, has_entered) = mpsc::channel();
        let (open, opened) = mpsc::channel::<()>();
        let (sender, received) = mpsc::channel();
        let batches =
            place
                .pool
                .spawner()
                .limited(1, Overflow::Fail)
                .spawn_fn(move |batch: Vec<u32>, _| {
                    let _ = entered.send(());
                    let _ = opened.recv_timeout(LONG);
                    let _ = sender.send(batch);
                });
        let subscription = topic.feed().batched(INTERVAL).subscribe(&batches);
        batches.tell(vec![100]).unwrap();
        next(&has_entered);
        batches.tell(vec![101]).unwrap();
        topic.publish(1).unwrap();
        place.pass();
        // It comes before the next message, and finds the mailbox full.
        open.send(()).unwrap();
        assert_eq!(next(&received), [100]);
        next(&has_entered);
        assert_eq!(subscription.delivered(), 0);
        assert_eq!(place.intervals(), 1, "there will be another try");
        topic.publish(2).unwrap();
        place.pass();
        // Now there is room.
        drop(open);
        assert_eq!(next(&received), [101]);
        assert_eq!(next(&received), [1, 2]);
        assert_eq!(subscription.delivered(), 2);
        assert_eq!((subscription.dropped(), subscription.refused()), (0, 0));
    });
}

#[test]
fn a_limit_on_what_is_gathered_is_kept_by_each_policy() {
    within_limit(|| {
        let place = Place::new();
        let (batches, received) = place.collector::<Vec<u32>>();
        let by = |when_full| {
            let topic = Topic::new();
            let feed = topic.feed().batched(INTERVAL).gather_at_most(2);
            let feed = feed.when_full(when_full);
            (feed.subscribe(&batches), topic)
        };

        let (subscription, topic) = by(WhenFull::Refuse);
        topic.publish(1).unwrap();
        topic.publish(2).unwrap();
        let error = topic.publish(3).unwrap_err();
        assert_eq!((error.refused(), error.delivered()), (1, 0));
        assert_eq!(
            error.subscriptions().collect::<Vec<_>>(),
            [subscription.id()]
        );
        let error = error.retry().unwrap_err();
        place.pass();
        assert_eq!(next(&received), [1, 2]);
        assert_eq!(error.retry().unwrap(), 1);
        place.pass();
        assert_eq!(next(&received), [3]);
        assert_eq!(subscription.refused(), 2);

        let (subscription, topic) = by(WhenFull::Drop);
        for number in 1..=5 {
            topic.publish(number).unwrap();
        }
        place.pass();
        assert_eq!(next(&received), [1, 2]);
        assert_eq!(subscription.dropped(), 3);

        let (subscription, topic) = by(WhenFull::Unsubscribe);
        for number in 1..=5 {
            topic.publish(number).unwrap();
        }
        assert_eq!(subscription.ending(), Some(Ending::Lagged));
        assert_eq!(topic.subscribers(), 0);
        assert_eq!(subscription.dropped(), 3, "what was gathered counts, too");
        place.pass();
        assert!(received.try_recv().is_err());
    });
}

#[test]
fn keys_and_not_messages_count_against_the_limit() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<HashMap<u32, u32>>();
        let _subscription = topic
            .feed()
            .latest_by(INTERVAL, |number: &u32| number % 100)
            .gather_at_most(3)
            .subscribe(&batches);
        for number in 1..=9 {
            topic.publish(100 * number + number % 2).unwrap();
        }
        topic.publish(2).unwrap();
        let error = topic.publish(3).unwrap_err();
        place.pass();
        assert_eq!(next(&received), HashMap::from([(0, 800), (1, 901), (2, 2)]));
        assert_eq!(error.retry().unwrap(), 1);
    });
}

#[test]
fn a_publisher_waits_for_the_end_of_an_interval() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<Vec<u32>>();
        let _subscription = topic
            .feed()
            .batched(INTERVAL)
            .gather_at_most(1)
            .subscribe(&batches);
        let publisher = {
            let topic = topic.clone();
            thread::spawn(move || {
                for number in 0..20 {
                    assert_eq!(topic.publish_timeout(number, LONG).unwrap(), 1);
                }
            })
        };
        let mut all = Vec::new();
        while all.len() < 20 {
            place.pass();
            all.extend(received.try_iter().flatten());
            thread::yield_now();
        }
        publisher.join().unwrap();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn what_was_gathered_is_dropped_with_the_subscription() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, received) = place.collector::<Vec<Arc<()>>>();
        let subscription = topic.feed().batched(INTERVAL).subscribe(&batches);
        let message = Arc::new(());
        topic.publish(Arc::clone(&message)).unwrap();
        assert_eq!(Arc::strong_count(&message), 2);
        subscription.unsubscribe();
        assert_eq!(Arc::strong_count(&message), 1);
        place.pass();
        assert!(received.try_recv().is_err());
        assert_eq!(topic.publish(message).unwrap(), 0);
    });
}

#[test]
fn a_stopped_actor_gathers_nothing() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        let (batches, _received) = place.collector::<Vec<u32>>();
        let subscription = topic.feed().batched(INTERVAL).subscribe(&batches);
        topic.publish(1).unwrap();
        batches.stop();
        until(|| batches.is_stopped());
        place.pass();
        assert_eq!(subscription.ending(), Some(Ending::Stopped));
        assert_eq!(subscription.dropped(), 1);
        assert_eq!(topic.publish(2).unwrap(), 0);
        assert_eq!(topic.subscribers(), 0);
        assert_eq!(place.intervals(), 0);
    });
}

/// A key that runs user code when it is hashed: it publishes, or panics.
#[derive(PartialEq, Eq)]
struct Odd(u32);

thread_local! {
    static WITHIN: Cell<u32> = const { Cell::new(0) };
}

static TOPIC: OnceLock<Topic<u32>> = OnceLock::new();

impl Hash for Odd {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if self.0 == 13 {
            panic_on_purpose();
        }
        if self.0 == 1 && WITHIN.replace(1) == 0 {
            TOPIC.get().unwrap().publish(2).unwrap();
        }
        self.0.hash(state);
    }
}

#[test]
fn user_code_of_a_key_may_publish_and_panic() {
    within_limit(|| {
        let (place, topic) = (Place::new(), Topic::new());
        TOPIC.set(topic.clone()).unwrap();
        let (sums, received) = place.collector::<u32>();
        let subscription = topic
            .feed()
            .latest_by(INTERVAL, |number| Odd(*number))
            .subscribe(&sums.map(|latest: HashMap<Odd, u32>| latest.into_values().sum()));
        topic.publish(1).unwrap();
        place.pass();
        assert_eq!(next(&received), 1, "what its hash published comes after it");
        place.pass();
        assert_eq!(next(&received), 2);
        topic.publish(4).unwrap();
        topic.publish(13).unwrap();
        place.pass();
        until(|| subscription.dropped() == 2);
        assert_eq!(subscription.ending(), Some(Ending::Panicked));
        assert_eq!(topic.publish(5).unwrap(), 0);
        assert_eq!(place.intervals(), 0);
        assert!(!sums.is_stopped(), "the actor itself goes on");
    });
}

#[test]
fn batches_of_two_publishers_are_in_order_while_intervals_end_all_the_time() {
    within_limit(|| {
        const EACH: u32 = if cfg!(debug_assertions) {
            5_000
        } else {
            100_000
        };
        let (place, topic) = (Place::with_threads(2), Topic::new());
        let handled = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&handled);
        let mut expected = [0; 2];
        let batches = place.pool.spawn_fn(move |batch: Batch<(usize, u32)>, _| {
            for (publisher, number) in &batch {
                assert_eq!(*number, expected[*publisher]);
                expected[*publisher] += 1;
            }
            count.fetch_add(batch.len(), Ordering::SeqCst);
        });
        let subscription = topic.feed().recycled(INTERVAL).subscribe(&batches);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let ringers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        while !done.load(Ordering::SeqCst) {
                            place.pass();
                            thread::yield_now();
                        }
                    })
                })
                .collect();
            let publishers: Vec<_> = (0..2)
                .map(|publisher| {
                    let topic = topic.clone();
                    scope.spawn(move || {
                        for number in 0..EACH {
                            topic.publish((publisher, number)).unwrap();
                        }
                    })
                })
                .collect();
            for publisher in publishers {
                publisher.join().unwrap();
            }
            while handled.load(Ordering::SeqCst) < 2 * EACH as usize && !batches.is_stopped() {
                thread::yield_now();
            }
            done.store(true, Ordering::SeqCst);
            for ringer in ringers {
                ringer.join().unwrap();
            }
        });
        assert_eq!(handled.load(Ordering::SeqCst), 2 * EACH as usize);
        assert_eq!(subscription.delivered(), u64::from(2 * EACH));
    });
}

/// Frame and publisher go at the same pace, and neither waits for a clock: no pump is without what came before it.
#[test]
fn each_pump_of_a_frame_delivers_what_was_published_before_it() {
    within_limit(|| {
        let time = Time::manual();
        let mut frame = Frame::with_time(time.clone());
        let (sender, prices) = mpsc::channel();
        let label = frame.spawn_fn(move |price: u32, _| sender.send(price).unwrap());
        let (sender, batches) = mpsc::channel();
        let chart = frame.spawn_fn(move |batch: Vec<u32>, _| sender.send(batch).unwrap());
        let topic = Topic::new();
        let latest = topic.feed().latest(Until::Turn).subscribe(&label);
        let all = topic.feed().batched(Until::Turn).subscribe(&chart);
        for round in 1..=20 {
            for price in [10 * round, 10 * round + 1] {
                assert_eq!(topic.publish(price).unwrap(), 2);
            }
            assert!(frame.has_mail());
            assert!(!frame.pump(Budget::unlimited()).left);
            assert_eq!(prices.try_recv(), Ok(10 * round + 1));
            assert_eq!(batches.try_recv(), Ok(vec![10 * round, 10 * round + 1]));
            assert!(prices.try_recv().is_err() && batches.try_recv().is_err());
        }
        assert_eq!((latest.delivered(), latest.replaced()), (20, 20));
        assert_eq!((all.delivered(), all.replaced()), (40, 0));
        assert_eq!(time.timers(), 0);
        // Nothing comes, nothing is due.
        assert!(!frame.has_mail());
        drop((latest, all));
        assert_eq!(topic.publish(1).unwrap(), 0);
        assert!(!frame.has_mail());
    });
}

/// In every other home, too, it is delivered in the subscriber's turn, and a full mailbox keeps nobody spinning.
#[test]
fn what_finds_no_room_at_the_turn_is_tried_again_later() {
    within_limit(|| {
        let place = Place::new();
        let (wait, gate) = hold();
        let mut wait = Some(wait);
        let (sender, receiver) = mpsc::channel();
        let slow =
            place
                .pool
                .spawner()
                .limited(1, Overflow::Fail)
                .spawn_fn(move |batch: Vec<u32>, _| {
                    wait.take().into_iter().for_each(crate::support::Hold::wait);
                    sender.send(batch).unwrap();
                });
        let topic = Topic::new();
        let subscription = topic.feed().batched(Until::Turn).subscribe(&slow);
        topic.publish(1).unwrap();
        gate.until_entered();
        // It has its mail, and is in its turn: what is gathered meanwhile is for the next one.
        slow.tell(vec![0]).unwrap();
        for number in 2..5 {
            topic.publish(number).unwrap();
        }
        gate.open();
        assert_eq!(next(&receiver), [1]);
        assert_eq!(next(&receiver), [0]);
        let mut rest = Vec::new();
        while rest.len() < 3 {
            place.time.advance(Duration::from_millis(1));
            match receiver.try_recv() {
                Ok(batch) => rest.extend(batch),
                Err(_) => thread::yield_now(),
            }
        }
        assert_eq!(rest, [2, 3, 4]);
        assert_eq!((subscription.delivered(), subscription.dropped()), (4, 0));
    });
}
