//! Topics that keep their latest message for those who subscribe later.
//!
//! `TAMTAM_SOAK_SECONDS` makes the last test longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Drops, LONG, Soak, Token, hold, until, within, within_limit};
use tamtam_actor::{Address, Overflow, Pool, Time, Topic, WhenFull};

fn collector<M: Send + 'static>(pool: &Pool) -> (Address<M>, mpsc::Receiver<M>) {
    let (sender, receiver) = mpsc::channel();
    let address = pool.spawn_fn(move |message, _| drop(sender.send(message)));
    (address, receiver)
}

fn next<M>(receiver: &mpsc::Receiver<M>) -> M {
    receiver.recv_timeout(LONG).expect("a message")
}

#[test]
fn who_comes_late_gets_the_latest_first_and_then_what_others_get() {
    within_limit(|| {
        let pool = Pool::with_threads(2);
        let topic = Topic::retaining();
        let (early, heard_early) = collector(&pool);
        let early = topic.subscribe(&early);
        assert_eq!(topic.retained(), None);
        for number in 1..=3 {
            assert_eq!(topic.publish(number).unwrap(), 1);
        }
        assert_eq!(topic.retained(), Some(3));
        let (late, heard_late) = collector(&pool);
        let late = topic.subscribe(&late);
        assert_eq!(topic.publish(4).unwrap(), 2);
        assert_eq!([(); 4].map(|()| next(&heard_early)), [1, 2, 3, 4]);
        assert_eq!([(); 2].map(|()| next(&heard_late)), [3, 4]);
        assert_eq!((early.delivered(), late.delivered()), (4, 2));
        // Others keep nothing.
        let topic = Topic::new();
        assert_eq!(topic.publish(1).unwrap(), 0);
        assert_eq!(topic.retained(), None);
        let (nothing, heard) = collector(&pool);
        let _subscription = topic.subscribe(&nothing);
        assert_eq!(topic.publish(2).unwrap(), 1);
        assert_eq!(next(&heard), 2);
    });
}

#[test]
fn what_is_retained_goes_through_the_feed() {
    within_limit(|| {
        let time = Time::manual();
        let pool = Pool::builder().time(time.clone()).build().unwrap();
        let topic = Topic::retaining();
        topic.publish(5).unwrap();
        let (uninterested, heard) = collector(&pool);
        let filtered = topic
            .feed()
            .filter(|number| *number > 9)
            .subscribe(&uninterested);
        assert_eq!(topic.publish(10).unwrap(), 1);
        assert_eq!(next(&heard), 10);
        assert_eq!(filtered.delivered(), 1);
        let (chart, charted) = collector::<Vec<u32>>(&pool);
        let second = Duration::from_secs(1);
        let _batched = topic.feed().batched(second).subscribe(&chart);
        topic.publish(11).unwrap();
        time.advance(second);
        assert_eq!(next(&charted), [10, 11]);
        let (mapped, words) = collector::<String>(&pool);
        let _mapped = topic.subscribe(&mapped.map(|number: u32| number.to_string()));
        assert_eq!(next(&words), "11");
    });
}

#[test]
fn what_finds_no_room_is_counted_and_keeps_nobody() {
    within_limit(|| {
        let pool = Pool::with_threads(1);
        let topic = Topic::retaining();
        topic.publish(1).unwrap();
        for overflow in [Overflow::Fail, Overflow::Wait] {
            for when_full in [WhenFull::Refuse, WhenFull::Drop, WhenFull::Unsubscribe] {
                let (held, gate) = hold();
                let mut held = Some(held);
                let full = pool.spawner().limited(1, overflow).spawn_fn(move |_, _| {
                    if let Some(held) = held.take() {
                        held.wait();
                    }
                });
                full.tell(0).unwrap();
                gate.until_entered();
                full.tell(0).unwrap();
                let subscription = topic.feed().when_full(when_full).subscribe(&full);
                assert_eq!((subscription.delivered(), subscription.dropped()), (0, 1));
                assert!(subscription.is_active());
            }
        }
    });
}

#[test]
fn only_the_latest_is_kept_and_it_goes_with_the_topic() {
    #[derive(Clone)]
    struct Shared(Arc<Token>);

    let drops = Drops::default();
    let topic = Topic::retaining();
    for number in 0..3 {
        let shared = Shared(Arc::new(drops.token()));
        assert_eq!(topic.publish(shared).unwrap(), 0);
        assert_eq!(drops.count(), number);
    }
    let copy = topic.retained().unwrap();
    drop(topic);
    assert_eq!(drops.count(), 2);
    drop(copy.0);
    assert_eq!(drops.count(), 3);
}

/// Whoever comes while one publishes without a pause hears at once of something, then only of what is newer, and all that is
/// published after it has subscribed.
#[test]
fn who_comes_while_one_publishes_misses_nothing_afterwards() {
    let soak = Soak::rounds(20);
    within(soak.limit(), move || {
        for _ in soak {
            let pool = Pool::with_threads(2);
            let topic = Topic::retaining();
            let is_over = Arc::new(AtomicBool::new(false));
            let publisher = {
                let (topic, is_over) = (topic.clone(), Arc::clone(&is_over));
                thread::spawn(move || {
                    let mut last = 0_u64;
                    while !is_over.load(Ordering::SeqCst) {
                        last += 1;
                        topic.publish(last).unwrap();
                    }
                    last
                })
            };
            until(|| topic.retained().is_some());
            let guests: Vec<_> = (0..20)
                .map(|_| {
                    let (guest, heard) = collector(&pool);
                    let subscription = topic.subscribe(&guest);
                    let since = topic.retained().unwrap();
                    (guest, subscription, since, heard)
                })
                .collect();
            is_over.store(true, Ordering::SeqCst);
            let last = publisher.join().unwrap();
            for (_guest, _subscription, since, heard) in guests {
                let mut before = next(&heard);
                while before != last {
                    let number = next(&heard);
                    assert!(number > before, "{number} after {before}");
                    assert!(
                        number == before + 1 || number <= since,
                        "{number} after {before}"
                    );
                    before = number;
                }
                assert!(heard.try_recv().is_err());
            }
        }
    });
}
