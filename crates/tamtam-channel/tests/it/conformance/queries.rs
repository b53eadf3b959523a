//! Asking a channel about itself: `len`, `is_empty`, `is_full`, `capacity`, `same_channel`, `Debug`, `Clone`.

use tamtam_channel::{Receiver, Sender};

use crate::support::{Flavour, for_every_flavour};

for_every_flavour!(
    len_and_its_questions_agree_on_both_ends,
    capacity_is_what_was_asked_for,
    same_channel_means_same_channel,
    clones_are_handles_to_the_same_channel,
    ends_print_without_printing_messages,
    questions_still_answered_after_the_end,
);

/// Checks both ends against the number of messages held.
fn check<T>(flavour: Flavour, sender: &Sender<T>, receiver: &Receiver<T>, held: usize) {
    assert_eq!((sender.len(), receiver.len()), (held, held));
    assert_eq!(
        (sender.is_empty(), receiver.is_empty()),
        (held == 0, held == 0)
    );
    let full = flavour.capacity() == Some(held);
    assert_eq!((sender.is_full(), receiver.is_full()), (full, full));
}

fn len_and_its_questions_agree_on_both_ends(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let room = flavour.room();
    for _ in 0..4 {
        check(flavour, &sender, &receiver, 0);
        for held in 1..=room {
            sender.send(held).unwrap();
            check(flavour, &sender, &receiver, held);
        }
        // An odd number stays behind, so that later rounds begin in the middle of the ring.
        for held in (0..room).rev() {
            receiver.recv().unwrap();
            check(flavour, &sender, &receiver, held);
            if held > 0 {
                sender.send(0).unwrap();
                check(flavour, &sender, &receiver, held + 1);
                receiver.recv().unwrap();
            }
        }
    }
}

fn capacity_is_what_was_asked_for(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    assert_eq!(sender.capacity(), flavour.capacity());
    assert_eq!(receiver.capacity(), flavour.capacity());
}

fn same_channel_means_same_channel(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let (other_sender, other_receiver) = flavour.pair::<u8>();
    assert!(sender.same_channel(&sender) && sender.same_channel(&sender.clone()));
    assert!(receiver.same_channel(&receiver) && receiver.same_channel(&receiver.clone()));
    assert!(!sender.same_channel(&other_sender) && !other_sender.clone().same_channel(&sender));
    assert!(
        !receiver.same_channel(&other_receiver) && !other_receiver.clone().same_channel(&receiver)
    );
    for different in Flavour::ALL {
        let (other_sender, other_receiver) = different.pair::<u8>();
        assert!(!sender.same_channel(&other_sender));
        assert!(!receiver.same_channel(&other_receiver));
    }
}

fn clones_are_handles_to_the_same_channel(flavour: Flavour) {
    struct NotClone(usize);
    let (sender, receiver) = flavour.pair();
    let (sender_clone, receiver_clone) = (sender.clone(), receiver.clone());
    let second_clone = receiver_clone.clone();
    for number in 0..flavour.room() {
        [&sender, &sender_clone][number % 2]
            .send(NotClone(number))
            .unwrap();
    }
    for number in 0..flavour.room() {
        let receiver = [&receiver, &receiver_clone, &second_clone][number % 3];
        assert_eq!(receiver.recv().unwrap().0, number);
    }
    check(flavour, &sender_clone, &receiver_clone, 0);
}

fn ends_print_without_printing_messages(flavour: Flavour) {
    struct Opaque;
    let (sender, receiver) = flavour.pair::<Opaque>();
    assert_eq!(format!("{sender:?}"), "Sender { .. }");
    assert_eq!(format!("{receiver:?}"), "Receiver { .. }");
    assert_eq!(format!("{sender:>15?}"), "  Sender { .. }");
}

fn questions_still_answered_after_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    drop(sender);
    assert_eq!(receiver.len(), flavour.room());
    assert_eq!(receiver.is_empty(), flavour.room() == 0);
    assert_eq!(receiver.is_full(), flavour.capacity().is_some());
    assert_eq!(receiver.capacity(), flavour.capacity());
    let (sender, receiver) = flavour.pair::<u8>();
    drop(receiver);
    assert!(sender.is_empty());
    assert_eq!(sender.capacity(), flavour.capacity());
}
