//! Slots.

use tamtam_wait::seam::{Arc, thread};
use tamtam_wait::{Source, Token};

use super::{block_on, model, wide_model};
use crate::{Select, Slot};

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

/// A taker sleeps while a selected operation holds the place for its value, and wakes up for it.
#[test]
fn loom_slot_held_for_a_value_wakes_a_taker() {
    model(|| {
        let slot = Arc::new(Slot::new());
        let taker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.take())
        };
        let mut select = Select::new();
        select.put(&slot);
        select.select().put(&slot, Box::new(1));
        assert_eq!(taker.join().unwrap(), Box::new(1));
    });
}

/// A place that was held and given up is there for the one who waits, in both directions.
#[test]
fn loom_slot_held_and_given_up_wakes_who_waits() {
    model(|| {
        let slot = Arc::new(Slot::new());
        let putting = slot.putting::<true>();
        let mut token = Token::default();
        assert!(putting.try_begin(&mut token));
        let putter = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.put(1))
        };
        // SAFETY: the token was filled by `try_begin` above, and is used once.
        unsafe { putting.abandon(&mut token) };
        putter.join().unwrap();
        let taking = slot.taking::<true>();
        assert!(taking.try_begin(&mut token));
        let taker = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.take())
        };
        // SAFETY: the token was filled by `try_begin` above, and is used once.
        unsafe { taking.abandon(&mut token) };
        assert_eq!(taker.join().unwrap(), 1);
    });
}

/// A value that replaces another waits for the place's holder, whatever that one does.
#[test]
fn loom_slot_held_is_replaced_afterwards() {
    model(|| {
        let slot = Arc::new(Slot::new());
        let putting = slot.putting::<true>();
        assert!(putting.try_begin(&mut Token::default()));
        let replacer = {
            let slot = Arc::clone(&slot);
            thread::spawn(move || slot.replace(2))
        };
        putting.finish(1);
        assert_eq!(replacer.join().unwrap(), Some(1));
        assert_eq!(slot.try_take(), Some(2));
    });
}
