//! Everything at once: all flavours, timers and threads in selects on both sides.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Flavour, LONG, Random, ms, soak, until, within_limit};
use tamtam_channel::{
    Receiver, RecvError, Select, SelectedOperation, Sender, after, bounded, never, tick,
};

#[test]
fn all_flavours_and_timers_in_one_select() {
    within_limit(|| {
        let pairs: Vec<_> = Flavour::ALL.iter().map(|flavour| flavour.pair()).collect();
        let (senders, receivers): (Vec<_>, Vec<Receiver<usize>>) = pairs.into_iter().unzip();
        let out: Vec<_> = Flavour::ALL
            .iter()
            .map(|flavour| flavour.pair::<usize>())
            .collect();
        let (ticker, distant, nothing) = (tick(ms(1)), after(LONG * 10), never::<u8>());
        let per_sender = 500;
        let drained = AtomicUsize::new(0);
        thread::scope(|scope| {
            for (me, sender) in senders.into_iter().enumerate() {
                scope.spawn(move || {
                    (0..per_sender)
                        .for_each(|number| sender.send(me * per_sender + number).unwrap())
                });
            }
            let (out_senders, out_receivers): (Vec<_>, Vec<_>) = out.into_iter().unzip();
            for receiver in out_receivers {
                let drained = &drained;
                scope.spawn(move || drained.fetch_add(receiver.iter().count(), Ordering::SeqCst));
            }
            let mut seen = vec![false; 5 * per_sender];
            let (mut ends, mut sent, mut ticks) = (0, 0, 0);
            let mut select = Select::new();
            for receiver in &receivers {
                select.recv(receiver);
            }
            for sender in &out_senders {
                select.send(sender);
            }
            let ticker_index = select.recv(&ticker);
            select.recv(&distant);
            select.recv(&nothing);
            while ends < 5 {
                let selected = select.select();
                let index = selected.index();
                match index {
                    0..5 => match selected.recv(&receivers[index]) {
                        Ok(message) => {
                            assert_eq!(message / per_sender, index);
                            assert!(!std::mem::replace(&mut seen[message], true));
                        }
                        Err(RecvError) => {
                            select.remove(index);
                            ends += 1;
                        }
                    },
                    5..10 => {
                        selected.send(&out_senders[index - 5], index).unwrap();
                        sent += 1;
                    }
                    _ => {
                        assert_eq!(index, ticker_index);
                        selected.recv(&ticker).unwrap();
                        ticks += 1;
                    }
                }
            }
            assert!(seen.into_iter().all(|seen| seen));
            drop(out_senders);
            assert!(sent > 0, "sends were always ready, {ticks} ticks");
            drained.fetch_sub(sent, Ordering::SeqCst);
        });
        assert_eq!(
            drained.into_inner(),
            0,
            "what was sent was not what was drained"
        );
    });
}

#[test]
fn both_sides_select_over_many_rendezvous_channels() {
    within_limit(|| {
        // Four threads, each may send or receive on each of three rendezvous channels: exact conservation.
        let channels: Vec<_> = (0..3).map(|_| bounded::<u64>(0)).collect();
        let (stop, met) = (AtomicBool::new(false), AtomicBool::new(false));
        let (mut sent, mut received) = ((0_u64, 0_u64), (0_u64, 0_u64));
        thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|me| {
                    let (channels, stop, met) = (&channels, &stop, &met);
                    scope.spawn(move || {
                        let mut random = Random::new(me + 1);
                        let (mut sent, mut received) = ((0, 0), (0, 0));
                        while !stop.load(Ordering::Relaxed) {
                            let mut select = Select::new();
                            let arms: Vec<(bool, usize)> = (0..4)
                                .map(|_| (random.below(2) == 0, random.below(3) as usize))
                                .collect();
                            for (sends, channel) in &arms {
                                if *sends {
                                    select.send(&channels[*channel].0);
                                } else {
                                    select.recv(&channels[*channel].1);
                                }
                            }
                            let Ok(selected) = select.select_timeout(ms(2)) else {
                                continue;
                            };
                            let (sends, channel) = arms[selected.index()];
                            if sends {
                                let message = random.below(1_000_000);
                                selected.send(&channels[channel].0, message).unwrap();
                                sent = (sent.0 + 1, sent.1 + message);
                                met.store(true, Ordering::Relaxed);
                            } else {
                                let message = selected.recv(&channels[channel].1).unwrap();
                                received = (received.0 + 1, received.1 + message);
                            }
                        }
                        (sent, received)
                    })
                })
                .collect();
            let nothing = never::<u8>();
            let _ = nothing.recv_timeout(soak(ms(700)));
            // They wait two milliseconds for each other, which on a loaded machine is not long.
            until(|| met.load(Ordering::Relaxed));
            stop.store(true, Ordering::Relaxed);
            for worker in workers {
                let (of_one_sent, of_one_received) = worker.join().unwrap();
                sent = (sent.0 + of_one_sent.0, sent.1 + of_one_sent.1);
                received = (
                    received.0 + of_one_received.0,
                    received.1 + of_one_received.1,
                );
            }
        });
        assert!(sent.0 > 0);
        assert_eq!(sent, received);
    });
}

/// A way to look without waiting: the index that it finds, after putting back what it took.
type Look = fn(&[(Sender<u8>, Receiver<u8>); 2]) -> Option<usize>;

/// Ends a begun operation and gives its message back to the channel from which it came.
fn put_back(channels: &[(Sender<u8>, Receiver<u8>); 2], selected: SelectedOperation<'_>) -> usize {
    let index = selected.index();
    let message = selected.recv(&channels[index].1).unwrap();
    channels[index].0.send(message).unwrap();
    index
}

fn both(channels: &[(Sender<u8>, Receiver<u8>); 2]) -> Select<'_> {
    let mut select = Select::new();
    for (_, receiver) in channels {
        select.recv(receiver);
    }
    select
}

#[test]
fn looks_without_waiting_see_one_moment() {
    // A message is always in one of two channels, but it moves between them all the time. Who looks at one after the
    // other may find both empty; a select has to see that there was no such moment.
    let looks: [(&str, Look); 5] = [
        ("try_select", |channels| {
            let selected = both(channels).try_select().ok()?;
            Some(put_back(channels, selected))
        }),
        ("select_timeout", |channels| {
            let selected = both(channels).select_timeout(Duration::ZERO).ok()?;
            Some(put_back(channels, selected))
        }),
        ("select_deadline", |channels| {
            let selected = both(channels).select_deadline(Instant::now()).ok()?;
            Some(put_back(channels, selected))
        }),
        ("try_ready", |channels| both(channels).try_ready().ok()),
        ("ready_timeout", |channels| {
            both(channels).ready_timeout(Duration::ZERO).ok()
        }),
    ];
    within_limit(move || {
        for flavour in Flavour::ALL {
            if flavour.room() < 2 {
                // The message on its way and the one that is put back need a place each.
                continue;
            }
            for (name, look) in looks {
                let channels = [flavour.pair(), flavour.pair()];
                channels[0].0.send(0).unwrap();
                let stop = AtomicBool::new(false);
                let missed = thread::scope(|scope| {
                    scope.spawn(|| {
                        while !stop.load(Ordering::Relaxed) {
                            for (from, to) in [(0, 1), (1, 0)] {
                                channels[to].0.send(0).unwrap();
                                channels[from].1.try_iter().for_each(drop);
                            }
                        }
                    });
                    let missed = (0..20_000).filter(|_| look(&channels).is_none()).count();
                    stop.store(true, Ordering::Relaxed);
                    missed
                });
                assert_eq!(
                    missed, 0,
                    "{name}, {flavour:?}: saw nothing though something was there"
                );
            }
        }
    });
}
