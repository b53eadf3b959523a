use std::sync::atomic::Ordering;
use std::thread;

use tamtam_channel::{SendError, TryRecvError, TrySendError, mpsc, spsc};

use super::{counter, for_each_kind};

for_each_kind! {
    fn a_closed_receiver_gets_what_was_sent_before(open) {
        let (sender, receiver) = open!(3);
        sender.send_many([1, 2, 3]).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.close());
        assert!(!receiver.close());
        assert!(receiver.is_closed() && sender.is_closed());
        assert_eq!(sender.send(4), Err(SendError(4)));
        assert_eq!(sender.try_send(5), Err(TrySendError::Disconnected(5)));
        assert_eq!(receiver.recv(), Ok(2));
        assert_eq!(sender.send(6), Err(SendError(6)));
        let mut rest = Vec::new();
        assert_eq!(receiver.recv_many(&mut rest, 10), Ok(1));
        assert_eq!(rest, [3]);
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert!(receiver.recv().is_err());
    }

    fn a_closed_sender_sends_no_more(open) {
        let (sender, receiver) = open!(3);
        sender.send(1).unwrap();
        assert!(sender.close());
        assert!(!sender.close());
        assert_eq!(sender.send(2), Err(SendError(2)));
        assert_eq!(sender.try_send(2), Err(TrySendError::Disconnected(2)));
        assert_eq!(sender.send_many([3, 4]).unwrap_err().into_inner(), [3]);
        assert!(receiver.is_closed());
        assert_eq!(receiver.recv(), Ok(1));
        assert!(receiver.recv().is_err());
    }

    fn a_batch_that_is_too_late_comes_back(open) {
        let (sender, receiver) = open!(1000);
        drop(receiver);
        let error = sender.send_many(0..500).unwrap_err();
        // What the iterator had yielded is in the error, in order; nothing was received.
        assert_eq!(error.sent, 0);
        assert!(!error.unsent.is_empty());
        assert!(error.unsent.iter().copied().eq(0..error.unsent.len() as i32));
    }

    fn nothing_is_lost_between_close_and_send(open) {
        for round in 0..200 {
            let (dropped, message) = counter();
            let (sender, receiver) = open!(10_000);
            let sends = thread::spawn(move || {
                let mut accepted = 0;
                loop {
                    match sender.send(message()) {
                        Ok(()) => accepted += 1,
                        Err(_) => return accepted,
                    }
                    if accepted == 5000 {
                        return accepted;
                    }
                }
            });
            let mut received = 0;
            while received < round {
                match receiver.try_recv() {
                    Ok(_) => received += 1,
                    Err(TryRecvError::Empty) => thread::yield_now(),
                    Err(TryRecvError::Disconnected) => break,
                }
            }
            receiver.close();
            while receiver.try_recv().is_ok() {
                received += 1;
            }
            let accepted = sends.join().unwrap();
            received += receiver.try_iter().count();
            assert_eq!(received, accepted);
            assert!(dropped.load(Ordering::SeqCst) >= accepted);
        }
    }
}

#[test]
fn close_wakes_a_sender_that_waits_for_room() {
    let (sender, receiver) = spsc::bounded(1);
    sender.send(1).unwrap();
    let waits = thread::spawn(move || sender.send(2));
    // Whether it waits already or not, it gets its message back.
    receiver.close();
    assert_eq!(waits.join().unwrap(), Err(SendError(2)));
    assert_eq!(receiver.recv(), Ok(1));
}

#[test]
fn close_reaches_a_lane_that_the_receiver_has_not_seen_yet() {
    let (sender, receiver) = mpsc::bounded(1);
    let other = sender.clone();
    other.send(1).unwrap();
    let waits = thread::spawn(move || other.send(2));
    receiver.close();
    assert_eq!(waits.join().unwrap(), Err(SendError(2)));
    assert_eq!(receiver.recv(), Ok(1));
    let late = sender.clone();
    assert_eq!(late.send(3), Err(SendError(3)));
}

/// A receiver that was told that all senders are gone got messages after that.
#[test]
fn a_clone_of_a_closed_sender_does_not_open_the_channel_again() {
    let (sender, receiver) = mpsc::bounded(1);
    let weak = sender.downgrade();
    sender.send(1).unwrap();
    assert!(sender.close());
    let clone = sender.clone();
    assert!(clone.is_closed() && !clone.close());
    assert!(weak.upgrade().is_none());
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    // Also with the room that there is now, from another thread, in each way.
    thread::spawn(move || {
        assert_eq!(clone.send(2), Err(SendError(2)));
        assert_eq!(clone.try_send(2), Err(TrySendError::Disconnected(2)));
        assert_eq!(clone.send_many([2, 3]).unwrap_err().into_inner(), [2]);
        assert!(clone.clone().send(2).is_err() && clone.try_reserve().is_err());
    })
    .join()
    .unwrap();
    assert!(receiver.recv().is_err());
}
