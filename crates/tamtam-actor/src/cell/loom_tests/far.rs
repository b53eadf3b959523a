//! Models of room at an actor in another process: a sender that waits, the confirmation that gives room, and the end.

use super::*;
use crate::cell::far_room::FarRoom;
use crate::id::ActorId;
use crate::mailbox::{Reserved, WhenNoRoom};

/// Waits for a place; `true` if it got one.
fn waits_for_place(room: &FarRoom, closed: &AtomicBool) -> bool {
    let closed = || closed.load(Ordering::SeqCst);
    let when = WhenNoRoom::WaitUntil(None);
    let reserved = room.reserve(ActorId::next(), when, &closed, &|| {});
    matches!(reserved, Reserved::Place)
}

#[test]
fn loom_a_confirmation_wakes_each_sender_that_waits_for_its_place() {
    model(2, || {
        let room = seam::Arc::new(FarRoom::new());
        let closed = seam::Arc::new(AtomicBool::new(false));
        // Both places are taken by messages on their way.
        room.open(2, 2, true);
        let others = [(); 2].map(|()| {
            let (room, closed) = (seam::Arc::clone(&room), seam::Arc::clone(&closed));
            thread::spawn(move || waits_for_place(&room, &closed))
        });
        room.give_back(2);
        for other in others {
            assert!(other.join().unwrap());
        }
        assert!(!room.has_room());
    });
}

#[test]
fn loom_a_place_is_handed_from_sender_to_sender() {
    model(2, || {
        let room = seam::Arc::new(FarRoom::new());
        let closed = seam::Arc::new(AtomicBool::new(false));
        room.open(1, 0, true);
        let other = {
            let (room, closed) = (seam::Arc::clone(&room), seam::Arc::clone(&closed));
            thread::spawn(move || {
                assert!(waits_for_place(&room, &closed));
                room.give_back(1);
            })
        };
        assert!(waits_for_place(&room, &closed));
        room.give_back(1);
        other.join().unwrap();
        assert!(room.has_room());
    });
}

#[test]
fn loom_the_end_wakes_who_waits_for_room() {
    model(2, || {
        let room = seam::Arc::new(FarRoom::new());
        let closed = seam::Arc::new(AtomicBool::new(false));
        room.open(1, 1, true);
        let other = {
            let (room, closed) = (seam::Arc::clone(&room), seam::Arc::clone(&closed));
            thread::spawn(move || waits_for_place(&room, &closed))
        };
        closed.store(true, Ordering::SeqCst);
        room.close();
        assert!(!other.join().unwrap());
    });
}

#[test]
fn loom_a_place_that_is_taken_as_the_window_opens_is_one_of_the_window() {
    model(2, || {
        let room = seam::Arc::new(FarRoom::new());
        let senders = [(); 2].map(|()| {
            let room = seam::Arc::clone(&room);
            thread::spawn(move || {
                let reserved =
                    room.reserve(ActorId::next(), WhenNoRoom::GiveBack, &|| false, &|| {});
                matches!(reserved, Reserved::Place)
            })
        });
        room.open(1, 0, true);
        let sent = senders.map(|sender| u64::from(sender.join().unwrap()));
        let sent: u64 = sent.iter().sum();
        // Both may have come before the window was open.
        assert!(sent >= 1 && !room.has_room());
        // All that were sent are confirmed but one.
        room.give_back(sent - 1);
        assert!(!room.has_room());
        room.give_back(1);
        assert!(room.has_room());
    });
}
