//! Readiness of what is no channel: it is seen without being taken, and a sleeper hears of it.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{LONG, thread_number, until_asleep, within_limit};
use tamtam_channel::{Event, Latch, Select, Slot, TryRecvError, TrySendError, spsc};

/// What `enter` adds is not ready before `makes_ready`, wakes a sleeper then, and stays ready, since nothing is done.
fn becomes_ready<'a>(enter: impl Fn(&mut Select<'a>) -> usize + Sync, makes_ready: impl FnOnce()) {
    let mut select = Select::new();
    let index = enter(&mut select);
    assert!(select.try_ready().is_err());
    assert!(select.ready_timeout(Duration::ZERO).is_err());
    let (post, inbox) = mpsc::channel();
    thread::scope(|scope| {
        let enter = &enter;
        scope.spawn(move || {
            let mut select = Select::new();
            let index = enter(&mut select);
            post.send(thread_number()).unwrap();
            assert_eq!(select.ready(), index);
        });
        until_asleep(&[inbox.recv().unwrap()]);
        makes_ready();
    });
    for _ in 0..2 {
        assert_eq!(select.try_ready(), Ok(index));
        assert_eq!(select.ready_timeout(LONG), Ok(index));
    }
}

#[test]
fn a_slot_is_ready_for_a_taker_when_full_and_for_a_putter_when_empty() {
    within_limit(|| {
        let slot = Slot::new();
        becomes_ready(|select| select.take(&slot), || slot.put(1));
        assert_eq!(slot.replace(2), Some(1));
        becomes_ready(|select| select.put(&slot), || assert_eq!(slot.take(), 2));
        assert_eq!(slot.try_put(3), Ok(()));
    });
}

#[test]
fn a_selected_place_of_a_slot_is_ready_for_no_other() {
    within_limit(|| {
        for slot in [Slot::new(), Slot::from(1)] {
            let mut holder = Select::new();
            if slot.is_full() {
                holder.take(&slot);
            } else {
                holder.put(&slot);
            }
            let held = holder.select();
            let mut others = Select::new();
            others.put(&slot);
            others.take(&slot);
            assert!(others.try_ready().is_err());
            if slot.is_full() {
                assert_eq!(held.take(&slot), 1);
            } else {
                held.put(&slot, 2);
            }
            assert_eq!(others.try_ready(), Ok(usize::from(slot.is_full())));
        }
    });
}

#[test]
fn an_event_is_ready_while_it_is_set() {
    within_limit(|| {
        for event in [Event::manual(), Event::auto()] {
            becomes_ready(|select| select.wait(&event), || event.set());
            assert!(event.is_set());
            event.reset();
            becomes_ready(|select| select.wait(&event), || event.set());
            assert!(event.try_wait());
        }
    });
}

#[test]
fn a_latch_is_ready_when_the_last_has_counted_down() {
    within_limit(|| {
        let latch = Latch::new(2);
        latch.count_down();
        becomes_ready(|select| select.wait(&latch), || latch.count_down());
        assert!(latch.is_open());
    });
}

#[test]
fn a_lane_is_ready_for_its_receiver_when_it_has_a_message_or_its_end() {
    within_limit(|| {
        let (sender, mut receiver) = spsc::bounded(1);
        let end = receiver.selectable();
        let sender = std::sync::Mutex::new(sender);
        becomes_ready(
            |select| select.wait(&end),
            || sender.lock().unwrap().send(1).unwrap(),
        );
        assert_eq!(end.try_recv(), Ok(1));
        becomes_ready(|select| select.wait(&end), move || drop(sender));
        assert_eq!(end.try_recv(), Err(TryRecvError::Disconnected));
    });
}

#[test]
fn a_lane_is_ready_for_its_sender_when_it_has_room_or_no_receiver() {
    within_limit(|| {
        let (mut sender, receiver) = spsc::bounded(1);
        sender.send(1).unwrap();
        let end = sender.selectable();
        becomes_ready(
            |select| select.wait(&end),
            || assert_eq!(receiver.try_recv(), Ok(1)),
        );
        end.try_send(2).unwrap();
        becomes_ready(|select| select.wait(&end), move || drop(receiver));
        assert_eq!(end.try_send(3), Err(TrySendError::Disconnected(3)));
    });
}
