//! Topics: what is published reaches all who have subscribed. Subscribers that gather have tests of their own beside
//! the code.
//!
//! `TAMTAM_SOAK_SECONDS` makes the last test longer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{
    Drops, LONG, Random, SHORT, Soak, hold, panic_on_purpose, until, within, within_limit,
};
use tamtam_actor::{
    Actor, Address, Batch, Context, Ending, Overflow, Pool, PublishError, Subscription, Topic,
    WhenFull,
};

/// An actor that passes on what it gets.
fn collector<M: Send + 'static>(pool: &Pool) -> (Address<M>, mpsc::Receiver<M>) {
    let (sender, receiver) = mpsc::channel();
    let address = pool.spawn_fn(move |message, _| drop(sender.send(message)));
    (address, receiver)
}

fn next<M>(receiver: &mpsc::Receiver<M>) -> M {
    receiver.recv_timeout(LONG).expect("a message")
}

/// An actor with room for so many messages, which waits at its first one until it is let go.
fn held_back(
    pool: &Pool,
    room: usize,
) -> (Address<u32>, crate::support::Gate, mpsc::Receiver<u32>) {
    let (held, gate) = hold();
    let (sender, receiver) = mpsc::channel();
    let mut held = Some(held);
    let address = pool
        .spawner()
        .limited(room, Overflow::Fail)
        .spawn_fn(move |message, _| {
            if let Some(held) = held.take() {
                held.wait();
            }
            let _ = sender.send(message);
        });
    address.tell(0).expect("room for one");
    gate.until_entered();
    (address, gate, receiver)
}

#[test]
fn all_who_have_subscribed_get_what_is_published_afterwards() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::new();
        assert_eq!(topic.publish("nobody").unwrap(), 0);
        let (first, heard_by_first) = collector(&pool);
        let (second, heard_by_second) = collector(&pool);
        let _first = topic.subscribe(&first);
        assert_eq!(topic.publish("one").unwrap(), 1);
        let _second = topic.subscribe(&second);
        assert_eq!(topic.publish("two").unwrap(), 2);
        assert_eq!(topic.subscribers(), 2);
        assert_eq!(
            [next(&heard_by_first), next(&heard_by_first)],
            ["one", "two"]
        );
        assert_eq!(next(&heard_by_second), "two");
    });
}

#[test]
fn an_actor_that_subscribes_twice_gets_everything_twice() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector(&pool);
        let subscriptions = [topic.subscribe(&listener), topic.subscribe(&listener)];
        assert_ne!(subscriptions[0].id(), subscriptions[1].id());
        assert_eq!(topic.publish(7).unwrap(), 2);
        assert_eq!([next(&heard), next(&heard)], [7, 7]);
    });
}

#[test]
fn a_filter_lets_pass_what_it_likes() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector(&pool);
        let subscription = topic
            .feed()
            .filter(|number| number % 2 == 0)
            .subscribe(&listener);
        let got: Vec<usize> = (0..=4)
            .map(|number| topic.publish(number).unwrap())
            .collect();
        assert_eq!(got, [1, 0, 1, 0, 1]);
        assert_eq!([next(&heard), next(&heard), next(&heard)], [0, 2, 4]);
        assert_eq!(subscription.delivered(), 3);
    });
}

#[test]
fn the_end_of_a_subscription_is_the_end_of_its_messages() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector(&pool);
        let subscription = topic.subscribe(&listener);
        topic.publish(1).unwrap();
        subscription.unsubscribe();
        assert_eq!(topic.publish(2).unwrap(), 0);
        assert_eq!(topic.subscribers(), 0);
        drop(topic.subscribe(&listener));
        assert_eq!(topic.publish(3).unwrap(), 0);
        topic.subscribe(&listener).detach();
        assert_eq!(topic.publish(4).unwrap(), 1);
        assert_eq!([next(&heard), next(&heard)], [1, 4]);
    });
}

#[test]
fn a_subscription_may_be_longer_than_its_topic() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let drops = Drops::default();
        let topic = Topic::<u32>::new();
        let (listener, _heard) = collector(&pool);
        let token = drops.token();
        let subscription = topic
            .feed()
            .filter(move |_| {
                let _ = &token;
                true
            })
            .subscribe(&listener);
        drop(topic);
        assert!(subscription.is_active());
        assert_eq!(subscription.ending(), None);
        drop(subscription);
        assert_eq!(drops.count(), 1);
    });
}

#[test]
fn a_topic_keeps_nobody_alive_and_forgets_who_has_stopped() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let drops = Drops::default();
        let topic = Topic::new();
        let token = drops.token();
        let listener = pool.spawn_fn(move |_: u32, _| {
            let _ = &token;
        });
        let plain = topic.subscribe(&listener);
        let mapped = topic.subscribe(&listener.map(|number: u32| number + 1));
        assert_eq!(
            topic.publish(1).unwrap(),
            2,
            "also through an address that is gone"
        );
        drop(listener);
        until(|| drops.count() == 1);
        assert_eq!(topic.subscribers(), 2);
        assert_eq!(topic.publish(2).unwrap(), 0);
        assert_eq!(topic.subscribers(), 0);
        assert_eq!(plain.ending(), Some(Ending::Stopped));
        assert_eq!(mapped.ending(), Some(Ending::Stopped));
        assert_eq!(plain.delivered(), 1);
    });
}

#[test]
fn detached_subscriptions_of_ended_actors_go_without_a_publish() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (lasting, heard) = collector(&pool);
        topic.subscribe(&lasting).detach();
        let drops = Drops::default();
        for generation in 1..=50 {
            for place in 0..20 {
                let token = drops.token();
                let listener = pool.spawn_fn(move |_: u32, _| {
                    let _ = &token;
                });
                match place % 3 {
                    0 => topic.subscribe(&listener).detach(),
                    1 => topic.subscribe(&listener.map(|n: u32| n + 1)).detach(),
                    _ => topic.feed().latest(LONG).subscribe(&listener).detach(),
                }
            }
            until(|| drops.count() == 20 * generation);
        }
        let kept = topic.subscribers();
        assert!(kept <= 200, "{kept} subscriptions");
        assert_eq!(topic.publish(7).unwrap(), 1);
        assert_eq!(next(&heard), 7);
    });
}

/// Counts how often it is cloned.
struct Original {
    clones: Arc<AtomicUsize>,
}

impl Clone for Original {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::SeqCst);
        Original {
            clones: Arc::clone(&self.clones),
        }
    }
}

#[test]
fn the_last_one_who_wants_a_message_gets_the_original() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector::<Original>(&pool);
        let clones = Arc::new(AtomicUsize::new(0));
        let publish = || {
            let clones = Arc::clone(&clones);
            topic.publish(Original { clones }).unwrap()
        };
        let _first = topic.subscribe(&listener);
        assert_eq!(publish(), 1);
        assert_eq!(clones.load(Ordering::SeqCst), 0);
        let _more: Vec<Subscription> = (0..3).map(|_| topic.subscribe(&listener)).collect();
        let _not = topic.feed().filter(|_| false).subscribe(&listener);
        assert_eq!(publish(), 4);
        assert_eq!(clones.load(Ordering::SeqCst), 3);
        (0..5).for_each(|_| drop(next(&heard)));
    });
}

#[test]
fn a_full_mailbox_is_told_to_the_publisher_who_may_try_again() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::new();
        let (slow, gate, heard_by_slow) = held_back(&pool, 2);
        let (quick, heard) = collector(&pool);
        let subscription = topic.subscribe(&slow);
        let _quick = topic.subscribe(&quick);
        assert_eq!(topic.publish(1).unwrap(), 2);
        assert_eq!(topic.publish(2).unwrap(), 2);
        let error = topic.publish(3).unwrap_err();
        assert_eq!((error.delivered(), error.refused()), (1, 1));
        assert_eq!(
            error.subscriptions().collect::<Vec<_>>(),
            [subscription.id()]
        );
        assert_eq!(
            error.to_string(),
            "no room at 1 of the subscribers who wanted the message, 1 have got it; try the others later, or wait \
             for room"
        );
        let error = error.retry().unwrap_err();
        let error = error.retry_timeout(SHORT).unwrap_err();
        assert_eq!((error.delivered(), error.refused()), (1, 1));
        assert_eq!(subscription.refused(), 3);
        gate.open();
        assert_eq!(error.retry_timeout(LONG).unwrap(), 2);
        assert_eq!(topic.publish_timeout(4, LONG).unwrap(), 2);
        assert_eq!([1, 2, 3, 4], [(); 4].map(|()| next(&heard)), "each once");
        assert_eq!([0, 1, 2, 3, 4], [(); 5].map(|()| next(&heard_by_slow)));
        assert_eq!(subscription.dropped(), 0);
        assert_eq!(subscription.delivered(), 4);
    });
}

#[test]
fn a_message_that_all_refuse_comes_back() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (slow, gate, _heard) = held_back(&pool, 1);
        let subscriptions = [topic.subscribe(&slow), topic.subscribe(&slow)];
        let error = topic.publish(1).unwrap_err();
        assert_eq!((error.delivered(), error.refused()), (1, 1));
        let error = topic.publish(2).unwrap_err();
        assert_eq!((error.delivered(), error.refused()), (0, 2));
        assert_eq!(error.into_inner(), 2);
        // One who has unsubscribed meanwhile is not tried again.
        let error = topic.publish(3).unwrap_err();
        drop(subscriptions);
        assert_eq!(error.retry().unwrap(), 0);
        let _: Box<dyn std::error::Error + Send + Sync> = {
            let _again = topic.subscribe(&slow);
            topic.publish(4).unwrap_err().into()
        };
        gate.open();
    });
}

#[test]
fn a_subscriber_without_room_may_lose_messages_or_its_place() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (slow, gate, heard) = held_back(&pool, 1);
        let dropping = topic.feed().when_full(WhenFull::Drop).subscribe(&slow);
        let leaving = topic
            .feed()
            .when_full(WhenFull::Unsubscribe)
            .subscribe(&slow);
        assert_eq!(topic.publish(1).unwrap(), 1);
        assert_eq!(leaving.ending(), Some(Ending::Lagged));
        assert_eq!(leaving.dropped(), 1);
        assert!(!leaving.is_active());
        assert_eq!(topic.subscribers(), 1);
        assert_eq!(
            topic.publish_timeout(2, LONG).unwrap(),
            0,
            "nobody waits for it"
        );
        assert_eq!((dropping.delivered(), dropping.dropped()), (1, 1));
        gate.open();
        assert_eq!([next(&heard), next(&heard)], [0, 1]);
    });
}

#[test]
fn a_panic_of_a_subscribers_code_is_its_own_affair() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector::<u32>(&pool);
        let filtered = topic
            .feed()
            .filter(|number| *number == 1 || panic_on_purpose())
            .subscribe(&listener);
        let mapped = topic.subscribe(&listener.map(|number| {
            if number == 1 {
                number
            } else {
                panic_on_purpose()
            }
        }));
        let plain = topic.subscribe(&listener);
        assert_eq!(topic.publish(1).unwrap(), 3);
        assert_eq!(topic.publish(2).unwrap(), 1);
        assert_eq!(filtered.ending(), Some(Ending::Panicked));
        assert_eq!(mapped.ending(), Some(Ending::Panicked));
        assert_eq!(mapped.dropped(), 1);
        assert_eq!(plain.ending(), None);
        assert_eq!(topic.subscribers(), 1);
        assert_eq!([(); 4].map(|()| next(&heard)), [1, 1, 1, 2]);
    });
}

#[test]
fn filters_and_drops_may_use_the_topic() {
    /// Publishes when it is dropped.
    struct Last(Topic<u32>);

    impl Drop for Last {
        fn drop(&mut self) {
            let _ = self.0.publish(100);
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector::<u32>(&pool);
        let _plain = topic.subscribe(&listener);
        let other = Topic::new();
        let (inner, last) = (topic.clone(), Last(topic.clone()));
        let (watcher, _) = collector::<u32>(&pool);
        let subscription = other
            .feed()
            .filter(move |number: &u32| {
                let _ = &last;
                inner.publish(*number).unwrap() == 1
            })
            .subscribe(&watcher);
        assert_eq!(other.publish(1).unwrap(), 1);
        drop(subscription);
        assert_eq!(other.publish(2).unwrap(), 0);
        assert_eq!([next(&heard), next(&heard)], [1, 100]);
    });
}

#[test]
fn a_panic_when_a_filter_is_dropped_is_nobody_elses_affair() {
    /// Panics when it is dropped.
    struct Rude;

    impl Drop for Rude {
        fn drop(&mut self) {
            panic_on_purpose()
        }
    }

    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::new();
        let (listener, heard) = collector::<u32>(&pool);
        let stopped = pool.spawn_fn(|_: u32, _| {});
        let rude = Rude;
        topic
            .feed()
            .filter(move |_| {
                let _ = &rude;
                true
            })
            .subscribe(&stopped)
            .detach();
        let _listens = topic.subscribe(&listener);
        stopped.stop();
        until(|| stopped.is_stopped());
        assert_eq!(topic.publish(1).unwrap(), 1);
        assert_eq!(topic.publish(2).unwrap(), 1);
        assert_eq!([next(&heard), next(&heard)], [1, 2]);
    });
}

/// Bursts, so that messages share blocks, by two threads that tell the subscribers something in between.
#[test]
fn what_is_published_and_told_comes_in_the_order_of_each_thread() {
    const BURST: u64 = 300;
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::new();
        let subscribers: Vec<_> = (0..3).map(|_| collector::<(u64, u64)>(&pool)).collect();
        let subscriptions: Vec<_> = (subscribers.iter())
            .map(|(address, _)| topic.subscribe(address))
            .collect();
        thread::scope(|scope| {
            for sender in 0..2 {
                let topic = &topic;
                let addresses: Vec<_> = subscribers.iter().map(|(it, _)| it.clone()).collect();
                scope.spawn(move || {
                    for number in 0..BURST {
                        if number % 50 == 49 {
                            for address in &addresses {
                                address.tell((sender, number)).expect("it lives");
                            }
                        } else {
                            assert_eq!(topic.publish((sender, number)).unwrap(), 3);
                        }
                    }
                });
            }
        });
        for (_, heard) in &subscribers {
            let mut due = [0, 0];
            while due != [BURST, BURST] {
                let (sender, number) = next(heard);
                let due = &mut due[sender as usize];
                assert_eq!(number, *due, "of sender {sender}");
                *due += 1;
            }
            assert!(heard.try_recv().is_err());
        }
        for subscription in &subscriptions {
            assert_eq!(subscription.delivered(), 2 * (BURST - BURST / 50));
        }
    });
}

#[test]
fn what_topics_are_made_of_can_be_sent_and_shared() {
    fn both<T: Send + Sync>() {}
    // A message that can be sent, but not shared.
    type Message = std::cell::Cell<u32>;

    both::<Topic<Message>>();
    both::<Subscription>();
    both::<PublishError<Message>>();
    both::<Batch<u32>>();
}

/// What two publishers say, numbered by each of them.
#[derive(Clone, Copy)]
struct Said {
    publisher: usize,
    number: u64,
}

/// What a guest has heard of one publisher.
#[derive(Clone, Copy, Default)]
struct Heard {
    messages: u64,
    next: Option<u64>,
    has_gap: bool,
}

/// One who subscribes and leaves again.
struct Guest {
    heard: Arc<Mutex<[Heard; 2]>>,
}

impl Actor for Guest {
    type Message = Said;

    fn handle(&mut self, said: Said, _: &mut Context<Self>) {
        let heard = &mut self.heard.lock().unwrap()[said.publisher];
        heard.has_gap |= heard.next.is_some_and(|next| next != said.number);
        heard.next = Some(said.number + 1);
        heard.messages += 1;
    }
}

#[test]
fn guests_who_come_and_go_hear_each_publisher_without_a_gap() {
    let soak = Soak::rounds(if cfg!(debug_assertions) { 200 } else { 1_000 });
    within(soak.limit(), || {
        let pool = Pool::with_threads(2);
        let topic = Topic::<Said>::new();
        let over = Arc::new(AtomicBool::new(false));
        let publish = |publisher| {
            let (topic, over) = (topic.clone(), Arc::clone(&over));
            thread::spawn(move || {
                let mut number = 0;
                while !over.load(Ordering::SeqCst) {
                    let mut published = topic.publish(Said { publisher, number });
                    // All others have it; the ones without room get it later, unless they leave before.
                    while let Err(error) = published {
                        published = error.retry_timeout(Duration::from_millis(1));
                    }
                    number += 1;
                    thread::yield_now();
                }
                number
            })
        };
        let publishers = [0, 1].map(publish);
        let mut random = Random::new(7);
        let mut here = Vec::new();
        let mut all = Vec::new();
        for round in soak {
            let heard = Arc::<Mutex<[Heard; 2]>>::default();
            all.push(Arc::clone(&heard));
            let guest = Guest {
                heard: Arc::clone(&heard),
            };
            let address = match random.below(2) {
                0 => pool.spawn(guest),
                _ => pool.spawner().limited(16, Overflow::Fail).spawn(guest),
            };
            let subscription = topic.subscribe(&address);
            until(|| heard.lock().unwrap()[round % 2].messages != 0);
            here.push((address, subscription, heard));
            while here.len() > random.below(8) as usize {
                let place = random.below(here.len() as u64) as usize;
                let (address, subscription, _) = here.swap_remove(place);
                // Either may go first. The guest handles what it was sent, and stops.
                if random.below(2) == 0 {
                    drop(address);
                    drop(subscription);
                } else {
                    drop(subscription);
                    drop(address);
                }
            }
        }
        over.store(true, Ordering::SeqCst);
        let said = publishers.map(|publisher| publisher.join().expect("no publisher panics"));
        let delivered: Vec<u64> = here
            .iter()
            .map(|(_, subscription, _)| subscription.delivered())
            .collect();
        // Whatever is due is handled.
        pool.shutdown();
        for ((_, _, heard), delivered) in here.iter().zip(delivered) {
            let heard = *heard.lock().unwrap();
            assert_eq!(heard[0].messages + heard[1].messages, delivered);
            for (heard, said) in heard.iter().zip(said) {
                assert!(
                    heard.next.is_none_or(|next| next == said),
                    "the end is missing"
                );
            }
        }
        for heard in all {
            assert!(
                heard.lock().unwrap().iter().all(|heard| !heard.has_gap),
                "a gap"
            );
        }
    });
}
