//! What users of other libraries ran into, each test named after the public issue.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{
    Drops, Flavour, LIMIT, LONG, Random, for_every_flavour, ms, within, within_limit,
};
use tamtam_channel::{
    Receiver, RecvTimeoutError, Select, SendTimeoutError, Sender, after, bounded, unbounded,
};

for_every_flavour!(
    crossbeam_821_more_threads_than_cores_get_on,
    std_39364_recv_timeout_does_not_panic,
    std_39364_recv_timeout_while_senders_come_and_go,
    flume_120_the_last_message_is_not_lost_when_the_sender_goes,
    quickwit_2862_the_last_receiver_takes_queued_messages_with_it,
    quickwit_2862_a_message_that_holds_its_own_sender_does_not_live_for_ever,
    kameo_220_channels_that_hold_each_other_are_dropped_in_any_order,
    kameo_220_a_drop_may_use_the_channel_that_drops_it,
    dropping_all_ends_at_once_in_any_order_ends_every_wait,
);

/// Strict turns over a pair of channels; the time of one round trip.
fn round_trip(flavour: Flavour, count: usize) -> Duration {
    let ((ask, asked), (answer, answered)) = (flavour.pair(), flavour.pair());
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in asked {
                if answer.send(number + 1).is_err() {
                    break;
                }
            }
        });
        let start = Instant::now();
        for number in 0..count {
            ask.send(number).unwrap();
            assert_eq!(answered.recv(), Ok(number + 1));
        }
        let time = start.elapsed() / count as u32;
        drop(ask);
        time
    })
}

fn crossbeam_821_more_threads_than_cores_get_on(flavour: Flavour) {
    // Waiting must not take the cores from those who are waited for: eight threads for every core, all in strict turns.
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let pairs = 4 * cores;
    let alone = round_trip(flavour, 300);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..pairs {
            scope.spawn(|| round_trip(flavour, 300));
        }
    });
    let crowded = start.elapsed() / (300 * pairs as u32);
    // In a crowd each core has work all the time; a wait that spins blindly would cost time slices of milliseconds.
    assert!(
        crowded < alone.max(ms(1)) * 10,
        "{crowded:?} a round trip in a crowd, {alone:?} alone"
    );
}

fn std_39364_recv_timeout_does_not_panic(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let count = 2_000;
    thread::scope(|scope| {
        scope.spawn(|| (0..count).for_each(|number| sender.send_timeout(number, LONG).unwrap()));
        let mut random = Random::new(5);
        let mut next = 0;
        while next < count {
            match receiver.recv_timeout(Duration::from_nanos(random.below(60_000))) {
                Ok(number) => {
                    assert_eq!(number, next);
                    next += 1;
                }
                Err(error) => assert_eq!(error, RecvTimeoutError::Timeout),
            }
        }
    });
}

fn std_39364_recv_timeout_while_senders_come_and_go(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    thread::scope(|scope| {
        let receiver = &receiver;
        let taker = scope.spawn(move || {
            let mut got = 0;
            loop {
                match receiver.recv_timeout(Duration::from_micros(20)) {
                    Ok(()) => got += 1,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break got,
                }
            }
        });
        for _ in 0..500 {
            // The receiver waits while the number of senders goes up and down.
            let clone = sender.clone();
            clone.send_timeout((), LONG).unwrap();
            drop(clone);
        }
        drop(sender);
        assert_eq!(taker.join().unwrap(), 500);
    });
}

fn flume_120_the_last_message_is_not_lost_when_the_sender_goes(flavour: Flavour) {
    for number in 0..500 {
        let (sender, receiver) = flavour.pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.send(number).unwrap();
                drop(sender);
            });
            match number % 3 {
                0 => assert_eq!(receiver.recv(), Ok(number)),
                1 => assert_eq!(receiver.recv_timeout(LONG), Ok(number)),
                _ => {
                    let mut select = Select::new();
                    select.recv(&receiver);
                    assert_eq!(select.select().recv(&receiver), Ok(number));
                }
            }
            assert!(receiver.recv().is_err());
        });
    }
}

fn quickwit_2862_the_last_receiver_takes_queued_messages_with_it(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    // A question with the way to answer it lies in the queue when its receiver goes: the asker must learn of it,
    // though a sender of the queue is still alive.
    let (sender, receiver) = flavour.pair::<Sender<u8>>();
    let (answer, answered) = bounded(1);
    sender.send(answer).unwrap();
    thread::scope(|scope| {
        let asker = scope.spawn(move || answered.recv_timeout(LONG));
        drop(receiver);
        assert_eq!(asker.join().unwrap(), Err(RecvTimeoutError::Disconnected));
    });
    drop(sender);
}

fn quickwit_2862_a_message_that_holds_its_own_sender_does_not_live_for_ever(flavour: Flavour) {
    /// A message that keeps its own channel's sender as long as it lies in the queue.
    struct Knot {
        _sender: Sender<Knot>,
        _token: crate::support::Token,
    }

    if flavour.is_rendezvous() {
        return;
    }
    let drops = Drops::default();
    let (sender, receiver) = flavour.pair();
    sender
        .send(Knot {
            _sender: sender.clone(),
            _token: drops.token(),
        })
        .unwrap();
    drop(sender);
    drop(receiver);
    assert_eq!(drops.count(), 1);
}

/// A message that holds an end of the other channel.
struct Link {
    _other: Option<(Sender<Link>, Receiver<Link>)>,
    _token: crate::support::Token,
}

fn kameo_220_channels_that_hold_each_other_are_dropped_in_any_order(flavour: Flavour) {
    if flavour.is_rendezvous() {
        return;
    }
    for round in 0..100 {
        let drops = Drops::default();
        let (first_sender, first) = flavour.pair();
        let (second_sender, second) = flavour.pair();
        // The first holds a sender of the second in its queue; both are then dropped from two sides at once.
        let (spare_sender, spare) = flavour.pair();
        drop(spare_sender);
        first_sender
            .send(Link {
                _other: Some((second_sender.clone(), spare.clone())),
                _token: drops.token(),
            })
            .unwrap();
        second_sender
            .send(Link {
                _other: Some((first_sender.clone(), spare)),
                _token: drops.token(),
            })
            .unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                if round % 2 == 0 {
                    drop(first);
                    drop(first_sender);
                } else {
                    drop(first_sender);
                    drop(first);
                }
            });
            scope.spawn(move || {
                if round % 4 < 2 {
                    drop(second);
                    drop(second_sender);
                } else {
                    drop(second_sender);
                    drop(second);
                }
            });
        });
        assert_eq!(drops.count(), 2, "round {round}");
    }
}

fn kameo_220_a_drop_may_use_the_channel_that_drops_it(flavour: Flavour) {
    /// On its drop it asks and uses the channel in whose queue it lay.
    struct Curious {
        sender: Sender<Option<Curious>>,
        failures: Arc<AtomicUsize>,
    }

    impl Drop for Curious {
        fn drop(&mut self) {
            let _ = (
                self.sender.len(),
                self.sender.is_full(),
                self.sender.clone().is_empty(),
            );
            // The receiver has gone, or this very message would not be dropped.
            if self
                .sender
                .try_send(None)
                .is_err_and(|error| error.is_disconnected())
            {
                self.failures.fetch_add(1, Ordering::SeqCst);
            }
            if self.sender.send(None).is_err() {
                self.failures.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    let failures = Arc::new(AtomicUsize::new(0));
    let count = flavour.room().min(50);
    let (sender, receiver) = flavour.pair();
    for _ in 0..count {
        sender
            .send(Some(Curious {
                sender: sender.clone(),
                failures: failures.clone(),
            }))
            .unwrap();
    }
    drop(receiver);
    assert_eq!(failures.load(Ordering::SeqCst), 2 * count);
}

fn dropping_all_ends_at_once_in_any_order_ends_every_wait(flavour: Flavour) {
    let mut random = Random::new(9);
    for _ in 0..60 {
        let (sender, receiver) = flavour.pair::<u64>();
        let delay = random.below(300);
        thread::scope(|scope| {
            for me in 0..6 {
                let sender = sender.clone();
                let receiver = receiver.clone();
                scope.spawn(move || match me {
                    // Each keeps one kind of end and waits until the others of the other kind have gone.
                    0 | 1 => {
                        drop(receiver);
                        while sender.send(me).is_ok() {
                            if sender.len() > 1_000 {
                                break;
                            }
                        }
                    }
                    2 | 3 => {
                        drop(sender);
                        receiver.iter().take(100).for_each(drop);
                    }
                    4 => {
                        drop(sender);
                        let mut select = Select::new();
                        select.recv(&receiver);
                        for _ in 0..50 {
                            if select.select().recv(&receiver).is_err() {
                                break;
                            }
                        }
                    }
                    _ => {
                        drop(receiver);
                        let timer = after(Duration::from_micros(delay));
                        let mut select = Select::new();
                        select.send(&sender);
                        let alarm = select.recv(&timer);
                        loop {
                            let selected = select.select();
                            if selected.index() == alarm {
                                selected.recv(&timer).unwrap();
                                break;
                            }
                            if selected.send(&sender, me).is_err() || sender.len() > 1_000 {
                                break;
                            }
                        }
                    }
                });
            }
            drop((sender, receiver));
        });
    }
}

#[test]
fn flume_172_a_rendezvous_send_returns_when_somebody_has_the_message() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let begun = AtomicUsize::new(0);
        assert_eq!(
            sender.send_timeout(0, ms(10)),
            Err(SendTimeoutError::Timeout(0))
        );
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 1..=1_000 {
                    begun.store(number, Ordering::SeqCst);
                    assert_eq!(receiver.recv(), Ok(number));
                }
            });
            for number in 1..=1_000 {
                sender.send(number).unwrap();
                // The receive of this message, not only that of the one before, must have begun.
                assert!(begun.load(Ordering::SeqCst) >= number);
            }
        });
    });
}

#[test]
fn freenet_core_2316_latency_stays_bounded_under_mixed_load() {
    within_limit(|| {
        // Every core is busy and other channels are, too; a message a millisecond still arrives soon.
        let stop = AtomicBool::new(false);
        let mut latencies = thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(2, usize::from);
            for _ in 0..cores {
                scope.spawn(|| {
                    let mut random = Random::new(1);
                    while !stop.load(Ordering::Relaxed) {
                        std::hint::black_box(random.next());
                    }
                });
            }
            for flavour in [Flavour::Bounded(100), Flavour::Unbounded] {
                let (sender, receiver) = flavour.pair();
                let stop = &stop;
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        if sender.len() < 100 {
                            sender.send([0_u64; 4]).unwrap();
                        } else {
                            thread::yield_now();
                        }
                    }
                });
                scope.spawn(move || receiver.iter().count());
            }
            let (sender, receiver) = bounded::<Instant>(1);
            let (std_sender, std_receiver) = std::sync::mpsc::sync_channel::<Instant>(1);
            let latencies = |sent: Instant| sent.elapsed();
            let taker = scope.spawn(move || receiver.iter().map(latencies).collect::<Vec<_>>());
            let std_taker =
                scope.spawn(move || std_receiver.iter().map(latencies).collect::<Vec<_>>());
            for _ in 0..200 {
                for ours in [true, false] {
                    after(ms(1)).recv().unwrap();
                    if ours {
                        sender.send(Instant::now()).unwrap();
                    } else {
                        std_sender.send(Instant::now()).unwrap();
                    }
                }
            }
            drop((sender, std_sender));
            let latencies = [taker.join().unwrap(), std_taker.join().unwrap()];
            stop.store(true, Ordering::Relaxed);
            latencies
        });
        latencies.iter_mut().for_each(|all| all.sort_unstable());
        let [ours, std] = latencies;
        assert_eq!(ours.len(), 200);
        // With five busy threads on each core a turn of the scheduler takes some 20 ms, on a busier machine longer,
        // which the standard library's channel beside ours then shows; a lost wake-up takes for ever.
        assert!(
            ours[100] < ms(200).max(std[100] * 5),
            "half of all messages took {:?} or more, and through the standard library's channel {:?}",
            ours[100],
            std[100]
        );
        assert!(ours[199] < LONG, "the slowest took {:?}", ours[199]);
    });
}

#[test]
fn rust_93563_no_wake_up_is_lost_between_a_look_and_a_sleep() {
    // A receiver that polls and one that sleeps see each of a million quick messages once, without naps in between.
    within(LIMIT, || {
        let (sender, receiver) = unbounded();
        let count = 200_000;
        let total = Mutex::new(0_u64);
        thread::scope(|scope| {
            for polls in [true, false] {
                let (receiver, total) = (receiver.clone(), &total);
                scope.spawn(move || {
                    let mut sum = 0;
                    loop {
                        let got = if polls {
                            match receiver.try_recv() {
                                Err(error) if error.is_empty() => {
                                    thread::yield_now();
                                    continue;
                                }
                                got => got.ok(),
                            }
                        } else {
                            receiver.recv().ok()
                        };
                        match got {
                            Some(number) => sum += number,
                            None => break,
                        }
                    }
                    *total.lock().unwrap() += sum;
                });
            }
            (0..count).for_each(|number| sender.send(number).unwrap());
            drop(sender);
        });
        assert_eq!(total.into_inner().unwrap(), count * (count - 1) / 2);
    });
}

/// What needs to ask the kernel about threads and cores.
#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;
    use crate::support::{thread_number, until_asleep};
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Runs `action` on a thread that, with all it starts, is pinned to the first core that this process may use.
    fn on_one_core<R: Send>(action: impl FnOnce() -> R + Send) -> R {
        thread::scope(|scope| {
            let pinned = scope.spawn(|| {
                let allowed = sched_getaffinity(None).expect("the cores of this thread");
                let first = (0..CpuSet::MAX_CPU)
                    .find(|core| allowed.is_set(*core))
                    .expect("at least one core");
                let mut one = CpuSet::new();
                one.set(first);
                sched_setaffinity(None, &one).expect("pinning this thread");
                action()
            });
            pinned.join().unwrap()
        })
    }

    /// What strict turns cost the two threads together: the core time of one round trip. Other than the time that
    /// passes it does not grow with the number of those who want the core, too.
    fn core_time_of_turns(flavour: Flavour, count: u64) -> Duration {
        let ((ask, asked), (answer, answered)) = (flavour.pair(), flavour.pair());
        thread::scope(|scope| {
            let before = core_time(thread_number());
            let answers = scope.spawn(move || {
                asked
                    .iter()
                    .for_each(|number: u64| answer.send(number + 1).unwrap());
                core_time(thread_number())
            });
            for number in 0..count {
                ask.send(number).unwrap();
                assert_eq!(answered.recv(), Ok(number + 1));
            }
            drop(ask);
            let used = answers.join().unwrap() + core_time(thread_number()) - before;
            Duration::from_nanos(used / count)
        })
    }

    /// The best of a few: other processes may disturb some of them.
    fn best(flavour: Flavour) -> Duration {
        (0..7)
            .map(|_| core_time_of_turns(flavour, 1_000))
            .min()
            .expect("some runs")
    }

    fn not_slow_on_one_core(flavour: Flavour) {
        within_limit(move || {
            let free = best(flavour);
            let pinned = on_one_core(|| best(flavour));
            println!("{flavour:?}: {free:?} of a core a round trip free, {pinned:?} on one core");
            // Two switches of a core are about a microsecond and a half; time slices would be thousands.
            let floor = Duration::from_micros(if cfg!(debug_assertions) { 40 } else { 15 });
            assert!(
                pinned <= (free * 4).max(floor),
                "{flavour:?}: {pinned:?} of a core on one core, {free:?} free"
            );
        });
    }

    #[test]
    fn crossbeam_1031_rendezvous_on_one_core_is_not_slow() {
        not_slow_on_one_core(Flavour::Bounded(0));
    }

    #[test]
    fn crossbeam_1031_bounded_and_unbounded_on_one_core_are_not_slow() {
        not_slow_on_one_core(Flavour::Bounded(1));
        not_slow_on_one_core(Flavour::Unbounded);
    }

    #[test]
    fn crossbeam_821_many_pairs_on_one_core_get_on() {
        within_limit(|| {
            on_one_core(|| {
                thread::scope(|scope| {
                    for pair in 0..20 {
                        scope.spawn(move || round_trip(Flavour::ALL[pair % 5], 100));
                    }
                });
            });
        });
    }

    /// Nanoseconds of core time that a thread of this process has used.
    fn core_time(thread: u64) -> u64 {
        let line = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat"))
            .expect("a living thread");
        line.split_whitespace()
            .next()
            .and_then(|first| first.parse().ok())
            .expect("nanoseconds")
    }

    #[test]
    fn rust_93563_waiting_threads_use_no_core() {
        within_limit(|| {
            let mut numbers = Vec::new();
            let (about_to, announced) = unbounded();
            let channels: Vec<_> = Flavour::ALL
                .iter()
                .map(|flavour| flavour.pair::<u8>())
                .collect();
            let (full_sender, full) = bounded(1);
            full_sender.send(0).unwrap();
            let (end, ended) = bounded::<u8>(0);
            let (selected_end, selectors) = unbounded();
            thread::scope(|scope| {
                for (_, receiver) in &channels {
                    for form in 0..3 {
                        let (about_to, ended) = (about_to.clone(), ended.clone());
                        let selected_end = selected_end.clone();
                        scope.spawn(move || {
                            about_to.send(thread_number()).unwrap();
                            match form {
                                0 => _ = receiver.recv(),
                                1 => _ = receiver.recv_timeout(LONG * 10),
                                _ => {
                                    let mut select = Select::new();
                                    select.recv(receiver);
                                    let end = select.recv(&ended);
                                    let selected = select.select();
                                    assert_eq!(selected.index(), end);
                                    assert!(selected.recv(&ended).is_err());
                                    selected_end.send(()).unwrap();
                                }
                            }
                        });
                    }
                }
                let (sender, about_to) = (&full_sender, about_to);
                scope.spawn(move || {
                    about_to.send(thread_number()).unwrap();
                    sender.send(1).unwrap();
                });
                numbers.extend(announced.iter().take(16));
                until_asleep(&numbers);

                let before: u64 = numbers.iter().map(|number| core_time(*number)).sum();
                let window = ms(400);
                after(window).recv().unwrap();
                let used: u64 =
                    numbers.iter().map(|number| core_time(*number)).sum::<u64>() - before;
                println!("16 waiting threads used {used} ns in {window:?}");

                // Let them go before judging, or the scope would wait for them.
                drop(end);
                // A selector that is not yet gone might take a message that is meant for another thread.
                for _ in &channels {
                    selectors.recv().unwrap();
                }
                for (sender, _) in &channels {
                    for _ in 0..2 {
                        sender.send(0).unwrap();
                    }
                }
                assert_eq!((full.recv(), full.recv()), (Ok(0), Ok(1)));
                assert!(
                    used < 2_000_000,
                    "16 waiting threads used {used} ns in {window:?}"
                );
            });
        });
    }
}
