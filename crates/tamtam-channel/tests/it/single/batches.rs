use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use tamtam_channel::{RecvTimeoutError, TryRecvError, spsc};

use super::{counter, for_each_kind};
use crate::support::{LONG, thread_number, until_asleep};

for_each_kind! {
    fn batches_arrive_whole_and_in_order(open) {
        let (sender, receiver) = open!(100);
        let sends = thread::spawn(move || {
            let mut next = 0_u64;
            for size in (0..200).chain([1000, 1, 0, 5000]) {
                assert_eq!(sender.send_many(next..next + size), Ok(size as usize));
                next += size;
            }
            next
        });
        let mut received = 0;
        let mut buffer = Vec::new();
        while let Ok(count) = receiver.recv_many(&mut buffer, 77) {
            assert_eq!(count, buffer.len());
            assert!((1..=77).contains(&count));
            for number in buffer.drain(..) {
                assert_eq!(number, received);
                received += 1;
            }
        }
        assert_eq!(received, sends.join().unwrap());
    }

    fn a_batch_is_appended(open) {
        let (sender, receiver) = open!(10);
        sender.send_many([1, 2, 3]).unwrap();
        let mut buffer = vec![0];
        assert_eq!(receiver.recv_many(&mut buffer, 0), Ok(0));
        assert_eq!(receiver.try_recv_many(&mut buffer, 2), Ok(2));
        assert_eq!(receiver.try_recv_many(&mut buffer, usize::MAX), Ok(1));
        assert_eq!(buffer, [0, 1, 2, 3]);
        assert_eq!(receiver.try_recv_many(&mut buffer, 1), Err(TryRecvError::Empty));
        assert_eq!(
            receiver.recv_timeout_many(&mut buffer, 1, Duration::from_millis(2)),
            Err(RecvTimeoutError::Timeout)
        );
        drop(sender);
        assert_eq!(receiver.try_recv_many(&mut buffer, 1), Err(TryRecvError::Disconnected));
        assert!(receiver.recv_many(&mut buffer, 1).is_err());
    }

    fn a_drain_ends_with_what_was_there(open) {
        let (sender, receiver) = open!(10);
        sender.send_many(0..5).unwrap();
        let mut seen = Vec::new();
        for number in receiver.drain() {
            sender.send(number + 100).unwrap();
            seen.push(number);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        let mut drain = receiver.drain();
        assert_eq!(drain.next(), Some(100));
        drop(drain);
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [101, 102, 103, 104]);
    }

    fn what_an_iterator_yielded_before_it_panicked_is_sent(open) {
        let (sender, receiver) = open!(500);
        let panics = catch_unwind(AssertUnwindSafe(|| {
            sender.send_many((0..300).inspect(|number| assert!(*number < 200, "as planned")))
        }));
        assert!(panics.is_err());
        sender.send(1000).unwrap();
        assert!(receiver.drain().eq((0..200).chain([1000])));
    }
}

#[test]
fn a_batch_for_which_there_is_no_room_waits_only_for_a_message_that_exists() {
    let (sender, receiver) = spsc::bounded(4);
    assert_eq!(sender.send_many(0..4), Ok(4));
    assert_eq!(sender.send_many(std::iter::empty()), Ok(0));
    let mut rest = 4..6;
    let sends = thread::spawn(move || sender.send_many(rest.by_ref()));
    assert!(receiver.iter().eq(0..6));
    assert_eq!(sends.join().unwrap(), Ok(2));
}

/// The cursor is with the batch meanwhile: what the iterator did to the sender used to set its count back.
#[test]
fn an_iterator_that_closes_the_sender_or_asks_for_room_is_told_so() {
    for close in [true, false] {
        let (sender, receiver) = spsc::bounded(100);
        sender.send_many(0..50).unwrap();
        let panics = catch_unwind(AssertUnwindSafe(|| {
            sender.send_many((50..53).inspect(|_| {
                if close {
                    sender.close();
                } else {
                    let _ = sender.try_send(0);
                }
            }))
        }));
        assert!(panics.is_err());
        assert_eq!(receiver.len(), 50);
        assert!(receiver.drain().eq(0..50));
        sender.send(50).unwrap();
        assert_eq!(receiver.recv(), Ok(50));
    }
}

#[test]
fn an_iterator_that_uses_the_sender_is_told_so() {
    let (sender, receiver) = spsc::unbounded();
    let sender = Rc::new(sender);
    let seen = RefCell::new(Vec::new());
    let panics = catch_unwind(AssertUnwindSafe(|| {
        let inner = Rc::clone(&sender);
        sender.send_many((0..3).inspect(|number| {
            seen.borrow_mut().push(*number);
            if *number == 1 {
                inner.send(10).unwrap();
            }
        }))
    }));
    assert!(panics.is_err());
    sender.send(2).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(*seen.borrow(), [0, 1]);
}

for_each_kind! {
    fn what_an_iterator_that_panics_has_yielded_is_sent(open) {
        let (sender, receiver) = open!(100);
        catch_unwind(AssertUnwindSafe(|| sender.send_many(fails_at(3)))).unwrap_err();
        assert_eq!((sender.len(), receiver.len()), (3, 3));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [0, 1, 2]);
        sender.send(7).unwrap();
        assert_eq!(receiver.recv(), Ok(7));
    }

    #[cfg_attr(miri, ignore = "looks at /proc")]
    fn what_an_iterator_that_panics_has_yielded_wakes_the_receiver(open) {
        let (sender, receiver) = open!(100);
        let (tell, told) = std::sync::mpsc::channel();
        let waits = thread::spawn(move || {
            tell.send(thread_number()).unwrap();
            receiver.recv_timeout(LONG)
        });
        until_asleep(&[told.recv().unwrap()]);
        catch_unwind(AssertUnwindSafe(|| sender.send_many(fails_at(3)))).unwrap_err();
        // Neither another message nor the end comes before this.
        assert_eq!(waits.join().unwrap(), Ok(0));
        drop(sender);
    }

    fn what_an_iterator_that_panics_has_yielded_is_dropped_if_the_channel_is_closed(open) {
        let (dropped, make) = counter();
        let (sender, receiver) = open!(100);
        let messages = fails_at(3).map(|number| {
            if number == 2 {
                // In the middle of the batch, for which there was room.
                receiver.close();
            }
            make()
        });
        catch_unwind(AssertUnwindSafe(|| sender.send_many(messages))).unwrap_err();
        assert_eq!((sender.len(), dropped.load(Ordering::SeqCst)), (0, 3));
        assert!(receiver.try_recv().is_err() && sender.send(make()).is_err());
    }
}

/// Numbers from 0 on, of which that one panics.
fn fails_at(last: u32) -> impl Iterator<Item = u32> {
    (0..).inspect(move |&number| assert!(number < last, "an iterator panics on purpose"))
}
