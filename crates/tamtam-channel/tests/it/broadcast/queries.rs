//! What an end says of its broadcast, both answers of each question.

use tamtam_channel::broadcast::{self, Lag};

#[test]
fn ends_count_the_messages_that_are_kept() {
    let (sender, receiver) = broadcast::bounded(3);
    let other = sender.subscribe(Lag::Wait);
    for count in 0..=3 {
        assert_eq!(
            (sender.len(), receiver.len(), other.len()),
            (count, count, count)
        );
        assert_eq!(
            (sender.is_empty(), receiver.is_empty()),
            (count == 0, count == 0)
        );
        assert_eq!(sender.is_full(), count == 3);
        if count < 3 {
            sender.send(count).unwrap();
        }
    }
    receiver.recv().unwrap();
    // The other one has taken none.
    assert_eq!((sender.len(), receiver.len(), other.len()), (3, 2, 3));
    assert!(sender.is_full());
    other.recv().unwrap();
    assert_eq!((sender.len(), receiver.len(), other.len()), (2, 2, 2));
    assert!(!sender.is_full());
}

#[test]
fn a_broadcast_is_full_only_for_those_who_are_waited_for() {
    let (sender, receiver) = broadcast::bounded(2);
    let receiver = receiver.with_lag(Lag::Lose);
    assert!(receiver.lag() == Lag::Lose);
    for number in 0..5_u64 {
        assert!(!sender.is_full());
        assert_eq!(receiver.lost(), number.saturating_sub(2));
        sender.send(number).unwrap();
    }
    assert_eq!((sender.len(), receiver.len(), receiver.lost()), (2, 2, 3));
    // Told of it, and counted once.
    assert!(receiver.recv().is_err());
    assert_eq!((receiver.len(), receiver.lost()), (2, 3));
    assert_eq!(receiver.clone().lost(), 3);
    let receiver = receiver.with_lag(Lag::Wait);
    assert!(receiver.lag() == Lag::Wait && sender.is_full());
}

#[test]
fn both_ends_know_that_a_broadcast_was_closed() {
    let (sender, receiver) = broadcast::bounded::<u8>(1);
    assert!(!sender.is_closed() && !receiver.is_closed());
    assert!(sender.close() && !sender.close());
    assert!(sender.is_closed() && receiver.is_closed());

    let (sender, receiver) = broadcast::bounded::<u8>(1);
    let other = sender.clone();
    drop(sender);
    assert!(!receiver.is_closed());
    drop(other);
    assert!(receiver.is_closed());
}

#[test]
fn a_broadcast_is_itself_and_no_other_and_knows_its_receivers() {
    let (sender, receiver) = broadcast::bounded::<u8>(7);
    let (other, other_receiver) = broadcast::bounded::<u8>(7);
    assert!(sender.same_channel(&sender.clone()) && !sender.same_channel(&other));
    assert!(receiver.same_channel(&receiver.clone()));
    assert!(!receiver.same_channel(&other_receiver));
    assert_eq!((sender.capacity(), receiver.capacity()), (7, 7));
    assert_eq!(sender.receiver_count(), 1);
    let more = (receiver.clone(), sender.subscribe(Lag::Lose));
    assert_eq!(sender.receiver_count(), 3);
    drop(more);
    assert_eq!(sender.receiver_count(), 1);
    drop(receiver);
    assert_eq!(sender.receiver_count(), 0);
}
