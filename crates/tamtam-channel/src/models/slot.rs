//! Slots.

use tamtam_wait::seam::{Arc, thread};

use super::{block_on, model, wide_model};
use crate::Slot;

#[test]
fn loom_slot_hands_over_in_turns() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let giver = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                slot.put(Box::new(1));
                slot.put(Box::new(2));
            })
        };
        assert_eq!(*slot.take(), 1);
        assert_eq!(*slot.take(), 2);
        giver.join().unwrap();
    });
}

#[test]
fn loom_slot_two_takers() {
    wide_model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let takers = [(); 2].map(|()| {
            let slot = Arc::clone(&slot);
            thread::spawn(move || *slot.take())
        });
        slot.put(Box::new(1));
        slot.put(Box::new(1));
        for taker in takers {
            assert_eq!(taker.join().unwrap(), 1);
        }
    });
}

#[test]
fn loom_slot_replace_meets_take() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let taker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || *slot.take())
        };
        slot.put(Box::new(1));
        let unread = slot.replace(Box::new(2));
        let taken = taker.join().unwrap();
        match unread {
            Some(unread) => assert_eq!((*unread, taken), (1, 2)),
            None => assert_eq!((taken, slot.try_take().map(|left| *left)), (1, Some(2))),
        }
    });
}

#[test]
fn loom_async_slot_hands_over_in_turns() {
    model(|| {
        let slot = Arc::new(Slot::<Box<u32>>::new());
        let giver = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || {
                block_on(slot.put_async(Box::new(1)));
                block_on(slot.put_async(Box::new(2)));
            })
        };
        assert_eq!(*block_on(slot.take_async()), 1);
        assert_eq!(*block_on(slot.take_async()), 2);
        giver.join().unwrap();
    });
}
