//! Who waits for room, and is told of it.

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::*;

/// A mailbox in line.
fn in_line<M: Send + 'static>(limit: usize) -> Limited<M> {
    Limited::new(limit, Overflow::Wait, None)
}

/// A sender that sleeps until there is room.
fn sender(limited: &Arc<Limited<u32>>, message: u32) -> mpsc::Receiver<bool> {
    let (told, is_in) = mpsc::channel();
    let limited = Arc::clone(limited);
    thread::spawn(move || {
        let pushed = limited.push_waiting(message, None, &|| false);
        told.send(matches!(pushed, Pushed::In(_))).unwrap();
    });
    // Long enough for it to sleep; if it is late it finds the room by itself.
    thread::sleep(Duration::from_millis(50));
    is_in
}

const LONG: Duration = Duration::from_secs(20);

/// So many messages are for the turn that begins: a place that is kept is none of them.
#[test]
fn the_messages_are_counted_and_not_the_places_that_are_kept() {
    let limited = in_line(4);
    assert_eq!(limited.len(), 0);
    assert!(matches!(limited.reserve(), Reserved::Place));
    for number in 1..=3 {
        assert!(matches!(limited.push(number), Pushed::In(_)));
        assert_eq!(limited.len(), number);
    }
    assert_eq!((limited.pop(), limited.len()), (Some(1), 2));
    limited.release();
    assert_eq!(limited.len(), 2);
}

#[test]
fn a_place_that_is_given_back_wakes_a_sender() {
    let limited = Arc::new(in_line(1));
    assert!(matches!(limited.reserve(), Reserved::Place));
    let is_in = sender(&limited, 7);
    limited.release();
    assert_eq!(is_in.recv_timeout(LONG), Ok(true));
}

/// It was called for the room, and needed none: the others slept on beside it.
#[test]
fn a_sender_that_waits_and_needs_no_room_in_the_end_calls_another_one() {
    let mut labels = Labels::default();
    labels.set_key(|message: &u32| message % 10);
    let limited = Arc::new(Limited::new(2, Overflow::Wait, Some(Sorting::by(labels))));
    for number in [1, 2] {
        assert!(matches!(limited.push(number), Pushed::In(_)));
    }
    // Senders are called in the order in which they came; and each call comes as room does.
    let (told, is_through) = mpsc::channel();
    let senders: Vec<_> = [3, 13, 4]
        .into_iter()
        .map(|message| {
            let (limited, told) = (Arc::clone(&limited), told.clone());
            let sender = thread::spawn(move || {
                let pushed = limited.push_waiting(message, None, &|| false);
                told.send((message, matches!(pushed, Pushed::InsteadOf(..))))
                    .unwrap();
            });
            // Long enough for it to sleep; if it is late it finds the room by itself.
            thread::sleep(Duration::from_millis(50));
            sender
        })
        .collect();
    // The first one has the room of 1, the second one takes the first one's place, and the third one has the room of 2.
    for _ in 0..2 {
        assert!(limited.pop().is_some());
    }
    let mut through: Vec<_> = (0..3)
        .map(|_| is_through.recv_timeout(LONG).unwrap())
        .collect();
    through.sort_unstable();
    assert_eq!(through[2].0, 13);
    assert_eq!(through.iter().filter(|(_, replaces)| *replaces).count(), 1);
    senders
        .into_iter()
        .for_each(|sender| sender.join().unwrap());
}

#[test]
fn a_place_that_is_not_needed_for_a_message_that_replaces_another_one_wakes_a_sender() {
    let mut labels = Labels::default();
    labels.set_key(|message: &u32| message % 10);
    let limited = Arc::new(Limited::new(2, Overflow::Wait, Some(Sorting::by(labels))));
    assert!(matches!(limited.push(1), Pushed::In(true)));
    assert!(matches!(limited.reserve(), Reserved::Place));
    let is_in = sender(&limited, 2);
    assert!(matches!(
        limited.push_reserved(11),
        Pushed::InsteadOf(1, Loss::Replaced)
    ));
    assert_eq!(is_in.recv_timeout(LONG), Ok(true));
}
