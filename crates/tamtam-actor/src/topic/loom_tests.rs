//! Models of subscribers that gather: one thread publishes, while another one ends the interval, or the subscription.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Kept};
use std::time::Duration;

use tamtam_wait::seam::thread;

use super::{Subscription, Topic};
use crate::address::Address;
use crate::context::Here;
use crate::models::{ModelHome, model};

const SECOND: Duration = Duration::from_secs(1);

/// What an actor was sent. Not loom's lock: it adds nothing to what threads know of each other.
type Seen<M> = Arc<Kept<Vec<M>>>;

fn collector<M: Send + 'static>(stage: &Arc<ModelHome>) -> (Address<M>, Seen<M>) {
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    let address = stage
        .spawner()
        .spawn_fn(move |message, _| kept.lock().unwrap().push(message));
    (address, seen)
}

/// Publishes 0 and 1 while another thread lets an interval end, and then, perhaps, publishes 2; in the end whatever is
/// gathered is delivered.
fn publish_against_the_end_of_an_interval(stage: &Arc<ModelHome>, topic: &Topic<u32>, both: bool) {
    let ender = {
        let (stage, topic) = (Arc::clone(stage), topic.clone());
        thread::spawn(move || {
            stage.time.advance(SECOND);
            stage.run();
            if both {
                assert_eq!(topic.publish(2).unwrap(), 1);
            }
        })
    };
    for number in 0..2 {
        assert_eq!(topic.publish(number).unwrap(), 1);
    }
    ender.join().unwrap();
    stage.time.advance(SECOND);
    stage.run();
    assert_eq!(stage.time.timers(), 0);
}

fn batches(both: bool) {
    model(2, move || {
        let (stage, topic) = (ModelHome::new(), Topic::new());
        let (address, seen) = collector::<Vec<u32>>(&stage);
        let subscription = topic.feed().batched(SECOND).subscribe(&address);
        publish_against_the_end_of_an_interval(&stage, &topic, both);
        let mut seen = seen.lock().unwrap().concat();
        assert_eq!(subscription.delivered(), seen.len() as u64);
        if both {
            let place = seen.iter().position(|number| *number == 2);
            seen.remove(place.expect("what the other one has published"));
        }
        assert_eq!(seen, [0, 1], "once, and in order");
        drop(address);
        stage.run();
    });
}

#[test]
fn loom_publish_against_the_end_of_an_interval() {
    batches(false);
}

#[test]
fn loom_two_publish_against_the_end_of_an_interval() {
    batches(true);
}

#[test]
fn loom_the_end_of_an_interval_against_what_puts_keys_in_order() {
    model(2, || {
        let (stage, topic) = (ModelHome::new(), Topic::new());
        let (address, seen) = collector::<HashMap<u32, u32>>(&stage);
        let subscription = topic.feed().latest_by(SECOND, |_| 0).subscribe(&address);
        publish_against_the_end_of_an_interval(&stage, &topic, false);
        let seen: Vec<u32> = seen
            .lock()
            .unwrap()
            .iter()
            .map(|latest| latest[&0])
            .collect();
        assert!(seen == [1] || seen == [0, 1], "the latest comes last");
        assert_eq!(subscription.delivered() + subscription.replaced(), 2);
        drop(address);
        stage.run();
    });
}

/// One thread publishes and perhaps ends the interval, the other one ends the subscription.
fn publish_against_unsubscribe(
    rings: bool,
    subscribe: impl Fn(&Topic<Arc<()>>, &Address<Vec<Arc<()>>>) -> Subscription + Sync + Send + 'static,
) {
    model(2, move || {
        let (stage, topic) = (ModelHome::new(), Topic::new());
        let (address, seen) = collector::<Vec<Arc<()>>>(&stage);
        let subscription = subscribe(&topic, &address);
        let message = Arc::new(());
        let publisher = {
            let (stage, topic, message) = (Arc::clone(&stage), topic.clone(), Arc::clone(&message));
            thread::spawn(move || {
                drop(topic.publish(message));
                if rings {
                    stage.time.advance(SECOND);
                }
                stage.run();
            })
        };
        subscription.unsubscribe();
        stage.run();
        publisher.join().unwrap();
        assert_eq!(topic.publish(Arc::clone(&message)).unwrap(), 0);
        assert_eq!(topic.subscribers(), 0);
        stage.run();
        assert_eq!(stage.time.timers(), 0, "nothing is left in the clock");
        let delivered = seen.lock().unwrap().concat().len();
        assert!(delivered <= 1);
        seen.lock().unwrap().clear();
        assert_eq!(Arc::strong_count(&message), 1, "nothing is kept");
        drop(address);
        stage.run();
    });
}

#[test]
fn loom_publish_against_unsubscribe() {
    publish_against_unsubscribe(false, |topic, address| {
        topic.subscribe(&address.map(|message| vec![message]))
    });
}

#[test]
fn loom_gathering_against_unsubscribe() {
    publish_against_unsubscribe(false, |topic, address| {
        topic.feed().batched(SECOND).subscribe(address)
    });
}

#[test]
fn loom_delivery_of_a_batch_against_unsubscribe() {
    publish_against_unsubscribe(true, |topic, address| {
        topic.feed().batched(SECOND).subscribe(address)
    });
}

/// A subscriber that comes during a publish gets what is retained first, and then all that is published later.
#[test]
fn loom_one_who_comes_late_against_publish() {
    model(2, || {
        let (stage, topic) = (ModelHome::new(), Topic::retaining());
        let (address, seen) = collector::<u32>(&stage);
        topic.publish(0).unwrap();
        let publisher = {
            let topic = topic.clone();
            thread::spawn(move || {
                for number in 1..3 {
                    topic.publish(number).unwrap();
                }
            })
        };
        let subscription = topic.subscribe(&address);
        publisher.join().unwrap();
        stage.run();
        let seen = seen.lock().unwrap();
        assert!(seen.is_sorted_by(|one, other| one < other), "{seen:?}");
        assert_eq!(seen.last(), Some(&2), "{seen:?}");
        assert_eq!(subscription.delivered(), seen.len() as u64);
        drop(address);
        stage.run();
    });
}

/// What two threads publish comes to a subscriber once, in the order of each, and is counted, whoever uses the streak.
#[test]
fn loom_two_publish_to_one() {
    model(2, || {
        let (stage, topic) = (ModelHome::new(), Topic::new());
        let (address, seen) = collector::<u32>(&stage);
        let subscription = topic.subscribe(&address);
        topic.publish(0).unwrap();
        let other = {
            let topic = topic.clone();
            thread::spawn(move || {
                for number in 11..13 {
                    assert_eq!(topic.publish(number).unwrap(), 1);
                }
            })
        };
        for number in 1..3 {
            assert_eq!(topic.publish(number).unwrap(), 1);
        }
        other.join().unwrap();
        stage.run();
        let (theirs, ours): (Vec<u32>, Vec<u32>) =
            (seen.lock().unwrap().iter()).partition(|number| **number > 10);
        assert_eq!((ours, theirs), (vec![0, 1, 2], vec![11, 12]));
        assert_eq!(subscription.delivered(), 5);
        drop(address);
        stage.run();
    });
}

/// What is put into a block while the actor stops, by itself, so that nothing else comes into its mailbox, is handled, or lost
/// and counted.
#[test]
fn loom_publish_into_a_block_against_stop() {
    model(2, || {
        let (stage, topic) = (ModelHome::new(), Topic::new());
        let mut left = 2;
        let address = stage
            .spawner()
            .spawn_fn(move |_: Arc<()>, here: &mut Here<Arc<()>>| {
                left -= 1;
                if left == 0 {
                    here.stop();
                }
            });
        let subscription = topic.subscribe(&address);
        let message = Arc::new(());
        for _ in 0..2 {
            topic.publish(Arc::clone(&message)).unwrap();
        }
        let publisher = {
            let (topic, message) = (topic.clone(), Arc::clone(&message));
            thread::spawn(move || topic.publish(message).unwrap())
        };
        stage.run();
        let taken = publisher.join().unwrap() as u64;
        assert_eq!(subscription.delivered(), 2 + taken);
        assert_eq!(address.lost(), taken);
        assert_eq!(Arc::strong_count(&message), 1, "nothing is left behind");
        drop((address, subscription));
    });
}
