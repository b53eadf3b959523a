//! An operation that was selected and is not finished yet: whom it holds up, and what it leaves behind.

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{LONG, ms, thread_number, until_asleep, within};
use tamtam_channel::{Select, SendError, Slot, TryRecvError, bounded, select, unbounded};

/// Long enough for what ends at once, on however loaded a machine.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn the_last_receiver_may_go_while_a_send_is_selected() {
    within(SOON, || {
        for (sender, receiver) in [bounded(1), bounded(2), unbounded()] {
            let mut select = Select::new();
            select.send(&sender);
            let operation = select.select();
            drop(receiver);
            assert_eq!(operation.send(&sender, 7), Err(SendError(7)));
            assert!(sender.is_empty());
        }
    });
}

#[test]
fn a_selected_send_that_is_dropped_leaves_nothing() {
    within(SOON, || {
        for (sender, receiver) in [bounded(1), bounded(2), unbounded()] {
            let mut select = Select::new();
            select.send(&sender);
            let operation = select.select();
            assert_eq!((sender.len(), receiver.len()), (0, 0));
            panic::catch_unwind(AssertUnwindSafe(|| drop(operation))).unwrap_err();
            assert_eq!((sender.len(), receiver.len()), (0, 0));
            assert!(sender.is_empty() && receiver.is_empty() && !sender.is_full());
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
            sender.try_send(1).unwrap();
            assert_eq!(receiver.recv(), Ok(1));
        }
    });
}

#[test]
fn a_value_may_be_received_from_the_channel_it_is_sent_into() {
    within(SOON, || {
        for (sender, receiver) in [bounded(2), unbounded()] {
            let never = Slot::<u8>::new();
            sender.send(1).unwrap();
            select! {
                send(sender, receiver.recv().unwrap() + 1) -> sent => sent.unwrap(),
                take(never) -> _ => unreachable!("nothing was put"),
            }
            assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2]);
        }
    });
}

#[test]
fn a_held_send_holds_up_no_other_message() {
    within(SOON, || {
        for (sender, receiver) in [bounded(2), unbounded()] {
            let mut select = Select::new();
            select.send(&sender);
            let operation = select.select();
            sender.send("later, and first").unwrap();
            assert_eq!(receiver.recv(), Ok("later, and first"));
            operation.send(&sender, "selected").unwrap();
            assert_eq!(receiver.recv(), Ok("selected"));
        }
    });
}

#[test]
fn the_room_of_a_held_send_is_nobody_elses() {
    within(SOON, || {
        let (sender, receiver) = bounded(1);
        let mut select = Select::new();
        select.send(&sender);
        let operation = select.select();
        assert!(sender.try_send(2).unwrap_err().is_full());
        operation.send(&sender, 1).unwrap();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
    });
}

#[test]
fn a_value_may_look_at_the_slot_that_it_is_put_into() {
    within(SOON, || {
        let (slot, never) = (Slot::new(), Slot::<u8>::new());
        select! {
            put(slot, (slot.is_empty(), slot.is_full(), slot.try_take().is_none(), format!("{slot:?}"))) => {}
            take(never) -> _ => unreachable!("nothing was put"),
        }
        let (empty, full, nothing, text) = slot.take();
        assert_eq!((empty, full, nothing), (true, false, true));
        assert!(text.contains("full: false"), "{text}");
    });
}

#[test]
fn a_selected_place_is_neither_room_nor_value_for_others() {
    within(SOON, || {
        let slot = Slot::new();
        let mut select = Select::new();
        select.put(&slot);
        let operation = select.select();
        assert_eq!(slot.try_put(2).unwrap_err().into_inner(), 2);
        assert_eq!(slot.put_timeout(2, ms(1)).unwrap_err().into_inner(), 2);
        assert!(slot.take_timeout(ms(1)).is_err());
        assert!(slot.try_take().is_none());
        operation.put(&slot, 1);
        assert!(slot.is_full());

        let mut select = Select::new();
        select.take(&slot);
        let operation = select.select();
        assert!(slot.is_full() && !slot.is_empty());
        assert!(slot.try_take().is_none());
        assert!(slot.take_timeout(ms(1)).is_err());
        assert_eq!(slot.try_put(2).unwrap_err().into_inner(), 2);
        assert_eq!(operation.take(&slot), 1);
        assert!(slot.is_empty());
    });
}

#[test]
fn a_dropped_operation_of_a_slot_lets_the_next_one_on() {
    within(SOON, || {
        let slot = Slot::new();
        for full in [false, true] {
            let mut select = Select::new();
            if full {
                select.take(&slot);
            } else {
                select.put(&slot);
            }
            let operation = select.select();
            let (start, started) = mpsc::channel();
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    start.send(thread_number()).unwrap();
                    if full {
                        assert_eq!(slot.take(), 1);
                    } else {
                        slot.put(1);
                    }
                });
                until_asleep(&[started.recv().unwrap()]);
                panic::catch_unwind(AssertUnwindSafe(|| drop(operation))).unwrap_err();
                other.join().unwrap();
            });
        }
    });
}

#[test]
fn a_value_replaces_what_was_selected_when_that_is_finished() {
    within(SOON, || {
        let slot = Slot::new();
        let mut select = Select::new();
        select.put(&slot);
        let operation = select.select();
        let (start, started) = mpsc::channel();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                start.send(thread_number()).unwrap();
                slot.replace(2)
            });
            until_asleep(&[started.recv().unwrap()]);
            operation.put(&slot, 1);
            assert_eq!(other.join().unwrap(), Some(1));
        });
        assert_eq!(slot.take(), 2);
    });
}

/// How long a thread of this process has used a processor.
#[cfg(target_os = "linux")]
fn processor_time(thread: u64) -> Duration {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).unwrap();
    let used = text.split(' ').next().unwrap().parse().unwrap();
    Duration::from_nanos(used)
}

/// What waits for a value that takes its time uses no processor meanwhile.
#[cfg(target_os = "linux")]
fn waits_without_work(waiting: impl FnOnce() + Send, finish: impl FnOnce()) {
    thread::scope(|scope| {
        let (start, started) = mpsc::channel();
        let waiter = scope.spawn(move || {
            start.send(thread_number()).unwrap();
            waiting();
        });
        let thread = started.recv_timeout(LONG).unwrap();
        until_asleep(&[thread]);
        let before = processor_time(thread);
        thread::sleep(ms(100));
        let used = processor_time(thread) - before;
        // A spin uses all of it, a nap of 640 µs at a time about 2 ms.
        assert!(used < Duration::from_micros(500), "used {used:?} of 100 ms");
        finish();
        waiter.join().unwrap();
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_receiver_sleeps_while_a_selected_value_is_made() {
    within(SOON, || {
        for (sender, receiver) in [bounded(1), unbounded()] {
            let mut select = Select::new();
            select.send(&sender);
            let operation = select.select();
            waits_without_work(
                || assert_eq!(receiver.recv(), Ok(1)),
                || operation.send(&sender, 1).unwrap(),
            );
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_taker_sleeps_while_a_selected_value_is_made() {
    within(SOON, || {
        let slot = Slot::new();
        let mut select = Select::new();
        select.put(&slot);
        let operation = select.select();
        waits_without_work(|| assert_eq!(slot.take(), 1), || operation.put(&slot, 1));
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_receiver_that_was_chosen_sleeps_while_the_value_is_made() {
    within(SOON, || {
        let (sender, receiver) = bounded(0);
        let chosen = sender.clone();
        let (tell, told) = mpsc::channel();
        let (go, gone) = mpsc::channel();
        let chooser = thread::spawn(move || {
            let mut select = Select::new();
            select.send(&chosen);
            let operation = select.select();
            tell.send(()).unwrap();
            gone.recv().unwrap();
            operation.send(&chosen, 1).unwrap();
        });
        let (start, started) = mpsc::channel();
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                start.send(thread_number()).unwrap();
                assert_eq!(receiver.recv(), Ok(1));
            });
            let thread = started.recv().unwrap();
            told.recv().unwrap();
            until_asleep(&[thread]);
            let before = processor_time(thread);
            thread::sleep(ms(100));
            let used = processor_time(thread) - before;
            assert!(used < Duration::from_micros(500), "used {used:?} of 100 ms");
            go.send(()).unwrap();
            waiter.join().unwrap();
        });
        chooser.join().unwrap();
    });
}
