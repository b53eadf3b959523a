//! What an end says of its channel, both answers of each question.

use tamtam_channel::{mpsc, spsc};

use super::for_each_kind;

for_each_kind! {
    fn both_ends_count_the_messages(open) {
        let (sender, receiver) = open!(4);
        for count in 0..=4 {
            assert_eq!((sender.len(), receiver.len()), (count, count));
            assert_eq!((sender.is_empty(), receiver.is_empty()), (count == 0, count == 0));
            if count < 4 {
                sender.send(count).unwrap();
            }
        }
        for count in (0..4).rev() {
            receiver.recv().unwrap();
            assert_eq!((sender.len(), receiver.len()), (count, count));
            assert_eq!((sender.is_empty(), receiver.is_empty()), (count == 0, count == 0));
        }
    }

    fn what_was_sent_before_the_senders_went_is_counted(open) {
        let (sender, receiver) = open!(4);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        drop(sender);
        assert!(receiver.is_closed() && !receiver.is_empty());
        assert_eq!(receiver.len(), 2);
    }

    fn both_ends_know_that_one_was_closed(open) {
        let (sender, receiver) = open!(1);
        assert!(!sender.is_closed() && !receiver.is_closed());
        assert!(receiver.close() && !receiver.close());
        assert!(sender.is_closed() && receiver.is_closed());
        sender.send(1).unwrap_err();

        let (sender, receiver) = open!(1);
        assert!(sender.close() && !sender.close());
        assert!(sender.is_closed() && receiver.is_closed());
        sender.send(1).unwrap_err();

        let (sender, receiver) = open!(1);
        drop(receiver);
        assert!(sender.is_closed());
        sender.send(1).unwrap_err();
    }
}

#[test]
fn a_channel_is_itself_and_no_other() {
    let ((one, _one), (other, _other)) = (spsc::bounded::<u8>(1), spsc::bounded(1));
    assert!(one.same_channel(&one) && !one.same_channel(&other));
    let ((one, _one), (other, _other)) = (mpsc::bounded::<u8>(1), mpsc::bounded(1));
    assert!(one.same_channel(&one.clone()) && !one.same_channel(&other));
}

#[test]
fn a_bound_is_that_of_each_sender() {
    for bound in [1, 2, 3, 100] {
        let (sender, receiver) = spsc::bounded(bound);
        assert_eq!(sender.capacity(), Some(bound));
        assert_eq!(receiver.capacity(), Some(bound));
        for number in 0..bound {
            assert!(!sender.is_full() && !receiver.is_full(), "{number}");
            sender.send(number).unwrap();
        }
        assert!(sender.is_full() && receiver.is_full());
        receiver.recv().unwrap();
        assert!(!sender.is_full() && !receiver.is_full());

        let (sender, receiver) = mpsc::bounded(bound);
        let other = sender.clone();
        for number in 0..bound {
            sender.send(number).unwrap();
        }
        // The other one has room.
        assert!(sender.is_full() && !other.is_full() && !receiver.is_full());
        assert_eq!(
            (sender.len(), other.len(), receiver.len()),
            (bound, 0, bound)
        );
        assert!(other.is_empty() && !receiver.is_empty());
    }
    let (sender, receiver) = mpsc::unbounded();
    sender.send(1).unwrap();
    assert_eq!((sender.capacity(), receiver.capacity()), (None, None));
    assert!(!sender.is_full() && !receiver.is_full());
}
