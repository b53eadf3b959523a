//! Who gives and who takes, in every pair of ways that must deliver, on everything that hands something over.
//!
//! A way *polls* if it never waits itself. With capacity zero two that poll never meet: one side has to be there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;

use crate::support::{LONG, until, within};
use tamtam_channel::{
    Builder, Event, Overflow, Property, Receiver, Select, Sender, Slot, bounded, mpsc, select,
    spsc, unbounded,
};

const SOON: Duration = Duration::from_secs(60);

/// So many messages pass in each pairing.
const MESSAGES: u32 = 3;

struct Way<F> {
    name: &'static str,
    polls: bool,
    run: F,
}

const fn way<F>(name: &'static str, run: F) -> Way<F> {
    Way {
        name,
        polls: false,
        run,
    }
}

const fn polling<F>(name: &'static str, run: F) -> Way<F> {
    Way {
        name,
        polls: true,
        run,
    }
}

/// Repeats an attempt that never waits until it brings something.
fn persist<R>(mut attempt: impl FnMut() -> Option<R>) -> R {
    let mut result = None;
    until(|| {
        result = attempt();
        result.is_some()
    });
    result.expect("it was brought")
}

type Give = fn(&Sender<u32>, u32);
type Take = fn(&Receiver<u32>) -> u32;

const GIVERS: [Way<Give>; 9] = [
    way("send", |sender, message| sender.send(message).unwrap()),
    way("send_timeout", |sender, message| {
        sender.send_timeout(message, LONG).unwrap();
    }),
    way("send_async", |sender, message| {
        block_on(sender.send_async(message)).unwrap();
    }),
    way("send_timeout_async", |sender, message| {
        block_on(sender.send_timeout_async(message, LONG)).unwrap();
    }),
    way("select", |sender, message| {
        let never = Slot::<u8>::new();
        select! {
            send(sender, message) -> sent => sent.unwrap(),
            take(never) -> _ => unreachable!("nothing was put"),
        }
    }),
    way("ready", |sender, message| {
        persist(|| {
            let mut select = Select::new();
            select.send(sender);
            select.ready();
            sender.try_send(message).ok()
        });
    }),
    polling("try_send", |sender, message| {
        persist(|| sender.try_send(message).ok());
    }),
    polling("try_select", |sender, message| {
        persist(|| {
            let mut select = Select::new();
            select.send(sender);
            let operation = select.try_select().ok()?;
            operation.send(sender, message).unwrap();
            Some(())
        });
    }),
    polling("select beside default", |sender, message| {
        let never = Slot::<u8>::new();
        persist(|| {
            select! {
                send(sender, message) -> sent => sent.ok(),
                take(never) -> _ => unreachable!("nothing was put"),
                default => None,
            }
        });
    }),
];

const TAKERS: [Way<Take>; 9] = [
    way("recv", |receiver| receiver.recv().unwrap()),
    way("recv_timeout", |receiver| {
        receiver.recv_timeout(LONG).unwrap()
    }),
    way("recv_many", |receiver| {
        let mut buffer = Vec::new();
        assert_eq!(receiver.recv_many(&mut buffer, 1), Ok(1));
        buffer[0]
    }),
    way("recv_async", |receiver| {
        block_on(receiver.recv_async()).unwrap()
    }),
    way("recv_timeout_async", |receiver| {
        block_on(receiver.recv_timeout_async(LONG)).unwrap()
    }),
    way("select", |receiver| {
        let never = Slot::<u8>::new();
        select! {
            recv(receiver) -> message => message.unwrap(),
            take(never) -> _ => unreachable!("nothing was put"),
        }
    }),
    polling("ready", |receiver| {
        persist(|| {
            let mut select = Select::new();
            select.recv(receiver);
            select.ready_timeout(Duration::from_millis(1)).ok()?;
            receiver.try_recv().ok()
        })
    }),
    polling("try_recv", |receiver| persist(|| receiver.try_recv().ok())),
    polling("try_select", |receiver| {
        persist(|| {
            let mut select = Select::new();
            select.recv(receiver);
            let operation = select.try_select().ok()?;
            Some(operation.recv(receiver).unwrap())
        })
    }),
];

#[test]
fn channels() {
    within(SOON, || {
        for capacity in [Some(0), Some(1), Some(2), None] {
            for giver in &GIVERS {
                for taker in &TAKERS {
                    // One that waits for readiness does not stand there to be met.
                    let giver_waits = !giver.polls && giver.name != "ready";
                    if capacity == Some(0) && !giver_waits && taker.polls {
                        continue;
                    }
                    let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
                    thread::scope(|scope| {
                        scope.spawn(move || {
                            (0..MESSAGES).for_each(|number| (giver.run)(&sender, number));
                        });
                        for number in 0..MESSAGES {
                            let taken = (taker.run)(&receiver);
                            assert_eq!(taken, number, "{} to {}", giver.name, taker.name);
                        }
                    });
                }
            }
        }
    });
}

#[test]
fn channels_that_drop() {
    within(SOON, || {
        for overflow in [Overflow::DropNewest, Overflow::DropOldest] {
            for capacity in [0, 1, 2] {
                for giver in &GIVERS {
                    for taker in &TAKERS {
                        if capacity == 0 && taker.polls {
                            continue;
                        }
                        let (sender, receiver) =
                            Builder::new().capacity(capacity).overflow(overflow).build();
                        let enough = AtomicBool::new(false);
                        thread::scope(|scope| {
                            scope.spawn(|| {
                                let mut number = 0;
                                while !enough.load(Ordering::Relaxed) {
                                    (giver.run)(&sender, number);
                                    number += 1;
                                    thread::yield_now();
                                }
                            });
                            let taken = [(); MESSAGES as usize].map(|()| (taker.run)(&receiver));
                            enough.store(true, Ordering::Relaxed);
                            assert!(taken.is_sorted(), "{} to {}", giver.name, taker.name);
                        });
                    }
                }
            }
        }
    });
}

type LaneGive = fn(&mut spsc::Sender<u32>, u32);
type LaneTake = fn(&mut spsc::Receiver<u32>) -> u32;

const LANE_GIVERS: [Way<LaneGive>; 5] = [
    way("send", |sender, message| sender.send(message).unwrap()),
    way("send_timeout", |sender, message| {
        sender.send_timeout(message, LONG).unwrap();
    }),
    way("send_async", |sender, message| {
        block_on(sender.send_async(message)).unwrap();
    }),
    way("select", |sender, message| {
        let end = sender.selectable();
        let never = Slot::<u8>::new();
        select! {
            wait(end) => end.try_send(message).unwrap(),
            take(never) -> _ => unreachable!("nothing was put"),
        }
    }),
    polling("try_send", |sender, message| {
        persist(|| sender.try_send(message).ok());
    }),
];

const LANE_TAKERS: [Way<LaneTake>; 6] = [
    way("recv", |receiver| receiver.recv().unwrap()),
    way("recv_timeout", |receiver| {
        receiver.recv_timeout(LONG).unwrap()
    }),
    way("recv_many", |receiver| {
        let mut buffer = Vec::new();
        assert_eq!(receiver.recv_many(&mut buffer, 1), Ok(1));
        buffer[0]
    }),
    way("recv_async", |receiver| {
        block_on(receiver.recv_async()).unwrap()
    }),
    way("select", |receiver| {
        let end = receiver.selectable();
        let never = Slot::<u8>::new();
        select! {
            wait(end) => end.try_recv().unwrap(),
            take(never) -> _ => unreachable!("nothing was put"),
        }
    }),
    polling("try_recv", |receiver| persist(|| receiver.try_recv().ok())),
];

#[test]
fn lanes_of_one_sender() {
    within(SOON, || {
        for capacity in [Some(1), Some(2), None] {
            for giver in &LANE_GIVERS {
                for taker in &LANE_TAKERS {
                    let (mut sender, mut receiver) =
                        capacity.map_or_else(spsc::unbounded, spsc::bounded);
                    thread::scope(|scope| {
                        scope.spawn(move || {
                            (0..MESSAGES).for_each(|number| (giver.run)(&mut sender, number));
                        });
                        for number in 0..MESSAGES {
                            let taken = (taker.run)(&mut receiver);
                            assert_eq!(taken, number, "{} to {}", giver.name, taker.name);
                        }
                    });
                }
            }
        }
    });
}

#[test]
fn lanes_of_several_senders() {
    within(SOON, || {
        for capacity in [Some(1), None] {
            for taker in &LANE_TAKERS {
                let (sender, mut receiver) = capacity.map_or_else(mpsc::unbounded, mpsc::bounded);
                let mut other = sender.clone();
                thread::scope(|scope| {
                    scope.spawn(move || (0..MESSAGES).for_each(|_| sender.send(1).unwrap()));
                    scope.spawn(move || {
                        (0..MESSAGES).for_each(|_| block_on(other.send_async(1)).unwrap());
                    });
                    let taken = (0..2 * MESSAGES).map(|_| (taker.run)(&mut receiver));
                    assert_eq!(taken.sum::<u32>(), 2 * MESSAGES, "{}", taker.name);
                });
            }
        }
    });
}

type Put = fn(&Slot<u32>, u32);
type TakeOut = fn(&Slot<u32>) -> u32;

#[test]
fn slots() {
    let givers: [Way<Put>; 6] = [
        way("put", |slot, value| slot.put(value)),
        way("put_timeout", |slot, value| {
            slot.put_timeout(value, LONG).unwrap()
        }),
        way("put_async", |slot, value| block_on(slot.put_async(value))),
        way("select", |slot, value| {
            let never = Slot::<u8>::new();
            select! {
                put(slot, value) => {}
                take(never) -> _ => unreachable!("nothing was put"),
            }
        }),
        polling("try_put", |slot, value| {
            persist(|| slot.try_put(value).ok())
        }),
        polling("select beside default", |slot, value| {
            persist(|| {
                select! {
                    put(slot, value) => Some(()),
                    default => None,
                }
            });
        }),
    ];
    let takers: [Way<TakeOut>; 6] = [
        way("take", |slot| slot.take()),
        way("take_timeout", |slot| slot.take_timeout(LONG).unwrap()),
        way("take_async", |slot| block_on(slot.take_async())),
        way("select", |slot| {
            let never = Slot::<u8>::new();
            select! {
                take(slot) -> value => value,
                take(never) -> _ => unreachable!("nothing was put"),
            }
        }),
        polling("try_take", |slot| persist(|| slot.try_take())),
        polling("select beside default", |slot| {
            persist(|| {
                select! {
                    take(slot) -> value => Some(value),
                    default => None,
                }
            })
        }),
    ];
    within(SOON, move || {
        for giver in &givers {
            for taker in &takers {
                let slot = Slot::new();
                thread::scope(|scope| {
                    scope.spawn(|| {
                        (0..MESSAGES).for_each(|number| (giver.run)(&slot, number));
                    });
                    for number in 0..MESSAGES {
                        let taken = (taker.run)(&slot);
                        assert_eq!(taken, number, "{} to {}", giver.name, taker.name);
                    }
                });
            }
        }
    });
}

#[test]
fn properties_and_events() {
    let watchers: [fn(&Property<u32>, u64); 5] = [
        |property, seen| _ = property.wait_changed(seen),
        |property, seen| _ = property.wait_changed_timeout(seen, LONG).unwrap(),
        |property, seen| _ = block_on(property.wait_changed_async(seen)),
        |property, seen| {
            let never = Slot::<u8>::new();
            let changed = property.changed_since(seen);
            select! {
                wait(changed) => {}
                take(never) -> _ => unreachable!("nothing was put"),
            }
        },
        |property, seen| until(|| property.version() != seen),
    ];
    let waiters: [fn(&Event); 4] = [
        |event| event.wait(),
        |event| event.wait_timeout(LONG).unwrap(),
        |event| block_on(event.wait_async()),
        |event| {
            let never = Slot::<u8>::new();
            select! {
                wait(event) => {}
                take(never) -> _ => unreachable!("nothing was put"),
            }
        },
    ];
    within(SOON, move || {
        for watch in watchers {
            let property = Property::new(0);
            let seen = property.version();
            thread::scope(|scope| {
                scope.spawn(|| property.set(1));
                watch(&property, seen);
            });
            assert_eq!(property.get(), 1);
        }
        for wait in waiters {
            for event in [Event::auto(), Event::manual()] {
                thread::scope(|scope| {
                    scope.spawn(|| event.set());
                    wait(&event);
                });
            }
        }
    });
}
