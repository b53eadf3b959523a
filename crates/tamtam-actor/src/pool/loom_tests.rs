//! Models of what is due on a pool, and of how its threads sleep.

use core::sync::atomic::{AtomicU32 as Count, Ordering::Relaxed};
use std::sync::Arc as Unseen;

use tamtam_wait::seam::{Arc, thread};

use super::deque::Deque;
use super::lifo_slot::LifoSlot;
use crate::models::model;
use crate::task::InjectSlot;

/// An item that loom reports if it is lost, or dropped twice.
struct Item(
    u32,
    #[expect(dead_code, reason = "counted by loom")] Arc<()>,
);

impl Item {
    fn new(number: u32) -> Self {
        Item(number, Arc::new(()))
    }
}

fn push(ring: &Deque<Item>, numbers: impl IntoIterator<Item = u32>) {
    for number in numbers {
        // SAFETY: each model's thread has one ring of its own, and uses the owner's methods of no other one.
        assert!(unsafe { ring.push(Item::new(number)) }.is_ok());
    }
}

fn pop(ring: &Deque<Item>) -> Option<u32> {
    // SAFETY: each model's thread has one ring of its own, and uses the owner's methods of no other one.
    unsafe { ring.pop() }.map(|item| item.0)
}

/// What a stealer gets: the one that it is given, then those in its own ring.
fn steal(victim: &Deque<Item>) -> Vec<u32> {
    let own = Deque::new();
    // SAFETY: the ring was made here, so this thread owns it.
    let first = unsafe { victim.steal_into(&own) }.map(|item| item.0);
    let rest = core::iter::from_fn(|| pop(&own));
    first.into_iter().chain(rest).collect()
}

fn assert_ascending(numbers: &[u32]) {
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
}

fn owner_against_stealers(preemptions: usize, stealers: usize) {
    model(preemptions, move || {
        let ring = Arc::new(Deque::new());
        push(&ring, 0..3);
        let stealers: Vec<_> = (0..stealers)
            .map(|_| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || steal(&ring))
            })
            .collect();
        let mut own = Vec::new();
        own.extend(pop(&ring));
        // Around the end, over places that were just left.
        // SAFETY: this thread owns the ring: the others only steal.
        let more: u32 = (3..6)
            .map(|number| u32::from(unsafe { ring.push(Item::new(number)) }.is_ok()))
            .sum();
        own.extend(core::iter::from_fn(|| pop(&ring)));
        assert_ascending(&own);
        let mut all = own;
        for stealer in stealers {
            let stolen = stealer.join().unwrap();
            assert_ascending(&stolen);
            all.extend(stolen);
        }
        // A stealer may have been at it when the ring was empty for its owner: nothing comes after that.
        assert!(pop(&ring).is_none());
        assert_eq!(all.len() as u32, 3 + more);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u32, 3 + more);
    });
}

#[test]
fn loom_the_owner_against_a_stealer() {
    owner_against_stealers(3, 1);
}

#[test]
fn loom_the_owner_against_two_stealers() {
    owner_against_stealers(2, 2);
}

/// The owner's own ring is empty for it, but a stealer is still reading half of it.
#[test]
fn loom_a_stealer_whose_own_ring_is_being_copied_out_takes_less() {
    model(2, || {
        let rings = Arc::new([Deque::new(), Deque::new()]);
        push(&rings[0], 0..4);
        push(&rings[1], 10..14);
        let stealer = {
            let rings = Arc::clone(&rings);
            thread::spawn(move || steal(&rings[0]))
        };
        let mut all: Vec<_> = core::iter::from_fn(|| pop(&rings[0])).collect();
        // SAFETY: this thread owns the first ring, and takes nothing from the second one as its owner meanwhile.
        all.extend(unsafe { rings[1].steal_into(&rings[0]) }.map(|item| item.0));
        all.extend(core::iter::from_fn(|| pop(&rings[0])));
        all.extend(stealer.join().unwrap());
        all.extend(core::iter::from_fn(|| pop(&rings[1])));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 10, 11, 12, 13]);
    });
}

#[test]
fn loom_a_ring_that_is_dropped_drops_what_is_in_it() {
    model(2, || {
        let ring = Arc::new(Deque::new());
        push(&ring, 0..3);
        let stealer = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || steal(&ring).len())
        };
        drop(ring);
        assert_eq!(stealer.join().unwrap(), 2);
    });
}

#[test]
fn loom_next_against_a_stealer() {
    model(3, || {
        let next = Arc::new(LifoSlot::new());
        let stealer = {
            let next = Arc::clone(&next);
            thread::spawn(move || {
                [next.steal(), next.steal()].map(|item| item.map(|item: Item| item.0))
            })
        };
        let mut all = Vec::new();
        for number in 0..3 {
            // SAFETY: this thread is the owner.
            all.extend(unsafe { next.put(Item::new(number)) }.map(|item| item.0));
        }
        // SAFETY: this thread is the owner: the other one only steals.
        all.extend(unsafe { next.take() }.map(|item| item.0));
        all.extend(stealer.join().unwrap().into_iter().flatten());
        // SAFETY: this thread is the owner, and the other one was joined.
        assert!(unsafe { next.take() }.is_none());
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

#[test]
fn loom_next_against_two_stealers() {
    model(3, || {
        let next = Arc::new(LifoSlot::new());
        let stolen = Unseen::new(Count::new(0));
        let stealers = [(); 2].map(|()| {
            let (next, stolen) = (Arc::clone(&next), Unseen::clone(&stolen));
            thread::spawn(move || {
                if next.is_full() {
                    let item: Option<Item> = next.steal();
                    stolen.fetch_add(u32::from(item.is_some()), Relaxed);
                }
            })
        });
        // SAFETY: this thread is the owner.
        let mut back = u32::from(unsafe { next.put(Item::new(1)) }.is_some());
        // SAFETY: this thread is the owner: the others only steal.
        back += u32::from(unsafe { next.put(Item::new(2)) }.is_some());
        for stealer in stealers {
            stealer.join().unwrap();
        }
        // SAFETY: this thread is the owner, and the others were joined.
        back += u32::from(unsafe { next.take() }.is_some());
        assert_eq!(back + stolen.load(Relaxed), 2);
    });
}

#[test]
fn loom_two_bring_to_an_inject_slot_and_two_take() {
    model(2, || {
        let inject_slot = Arc::new(InjectSlot::new());
        let others: Vec<_> = (1..3)
            .map(|number| {
                let inject_slot = Arc::clone(&inject_slot);
                thread::spawn(move || {
                    let refused = inject_slot.put(Item::new(number)).err();
                    [refused, inject_slot.take()]
                })
            })
            .collect();
        let mut all: Vec<_> = inject_slot.take().into_iter().collect();
        for other in others {
            all.extend(other.join().unwrap().into_iter().flatten());
        }
        all.extend(inject_slot.take());
        assert!(!inject_slot.is_full());
        let mut all: Vec<_> = all.into_iter().map(|item| item.0).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
    });
}

#[test]
fn loom_an_inject_slot_closes_against_one_who_brings() {
    model(3, || {
        let inject_slot = Arc::new(InjectSlot::new());
        let other = {
            let inject_slot = Arc::clone(&inject_slot);
            thread::spawn(move || inject_slot.put(Item::new(1)).err())
        };
        let left = inject_slot.close();
        let refused = other.join().unwrap();
        assert_eq!(
            usize::from(left.is_some()) + usize::from(refused.is_some()),
            1
        );
        assert!(inject_slot.put(Item::new(2)).is_err());
        assert!(inject_slot.close().is_none());
    });
}
