//! Processes that are killed, or stopped, after each single step of what they do with shared memory, while a thread of another process sleeps there
//! until they are done.
//!
//! What a survivor sees may depend on the step, and each test says how: first as if nothing had been begun, perhaps then that something was begun, and at last
//! that it was done. So the order in which an operation does its steps is tested, too.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt::Debug;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tamtam_channel::RecvTimeoutError;
use tamtam_ipc::{
    Arena, BytesReceiver, BytesSender, CarrierError, Condition, Event, Mutex, Properties, Property,
    Receiver, Sender, Slot, Value, Wait, attach, bytes_channel, carrier, channel,
};
use tamtam_testing::in_a_process_of_its_own;

use crate::left::{Names, Temporary, held};
use crate::other::{LONG, Waiting, further, half, memory_of};
use crate::traced::{Fate, Halted, Traced, traced};

/// For a call that has to end without what it waits for.
const SOON: Duration = Duration::from_millis(3);
/// More than an operation has steps.
const MOST_STEPS: usize = 100;

/// The step after which a process is halted, and how.
struct Place {
    path: &'static str,
    changes: usize,
    fate: Fate,
    is_over: Cell<bool>,
}

impl Place {
    /// Starts the other half, and halts it there. `before` runs when it is about to begin.
    fn halt(&self, memory: BorrowedFd<'_>, before: impl FnOnce()) -> Halted {
        let mut led = Traced::start(self.path, "does it", memory);
        before();
        led.lead(self.changes);
        self.is_over.set(led.is_over());
        led.halt(self.fate)
    }

    fn is_stopped(&self) -> bool {
        self.fate == Fate::Stopped
    }
}

/// Has a process that does something killed, and another one stopped, after each step of it. What the survivor sees of those that were killed, in
/// the order of the steps, is `of_killed`; of those that were stopped and went on it is the last of these.
fn at_each_step<Seen: PartialEq + Debug>(
    path: &'static str,
    of_killed: &[Seen],
    survive: impl Fn(&Place) -> Seen,
) {
    let temporary = Temporary::new(path);
    in_a_process_of_its_own(
        path,
        Duration::from_secs(120),
        |command| {
            command.env("TMPDIR", temporary.path());
        },
        || {
            let names_at_first = Names::now();
            let mut held_at_first = None;
            for fate in [Fate::Killed, Fate::Stopped] {
                let mut seen = Vec::new();
                let mut steps = 0;
                loop {
                    let place = Place {
                        path,
                        changes: steps,
                        fate,
                        is_over: Cell::new(false),
                    };
                    let now = survive(&place);
                    if seen.last() != Some(&now) {
                        seen.push(now);
                    }
                    // What is there once for all, such as the thread that keeps lives, is there after the first.
                    assert_eq!(held(), *held_at_first.get_or_insert_with(held));
                    if place.is_over.get() {
                        break;
                    }
                    steps += 1;
                    assert!(steps < MOST_STEPS);
                }
                println!("{fate:?} after each of {steps} steps: {seen:?}");
                assert!(steps > 1);
                let expected = match fate {
                    Fate::Killed => of_killed,
                    Fate::Stopped => &of_killed[of_killed.len() - 1..],
                };
                assert_eq!(seen, expected);
            }
            let left = names_at_first.left_since(LONG);
            assert!(left.is_empty(), "{left:?}");
        },
    );
}

/// What has been brought about just now ends the wait, and not its deadline, which is farther away than this.
fn in_time<'scope, R: Send + 'scope>(waiting: Waiting<'scope, R>) -> R {
    let brought = Instant::now();
    let result = waiting.join();
    assert!(
        brought.elapsed() < LONG / 3,
        "it has slept until its deadline"
    );
    result
}

const WHOLE: &[u8] = b"a whole message, longer than a word";

/// The steps after which a process has begun a message that it has not finished, as those have shown that were killed there.
type Begun = RefCell<HashSet<usize>>;

/// What the receiver gets besides the message of the survivor, and how many it has met that were not finished.
fn received(place: &Place, begun: &Begun) -> (Vec<Vec<u8>>, u64) {
    let (sender, receiver) = bytes_channel(4, 100).unwrap();
    let memory = sender.memory().try_clone_to_owned().unwrap();
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let receiving = Waiting::start(scope, move || {
            let mut messages = Vec::new();
            let mut buffer = Vec::new();
            while receiver.recv_bytes(&mut buffer).is_ok() {
                messages.push(buffer.clone());
                let _ = tell.send(buffer.clone());
            }
            (messages, receiver.abandoned())
        });
        let halted = place.halt(memory.as_fd(), || receiving.sleeps());
        // There is room, whatever the other one has begun.
        sender.try_send(b"last").unwrap();
        if place.is_stopped() && !begun.borrow().contains(&place.changes) {
            // No message is unfinished: nothing has to wait until the other one goes on.
            while told.recv_timeout(LONG).expect("it was sent") != b"last" {}
        }
        halted.go_on();
        drop(sender);
        let (mut messages, abandoned) = receiving.join();
        if abandoned > 0 {
            begun.borrow_mut().insert(place.changes);
        }
        // One that goes on after this was sent may come behind it, if it had not claimed its place before.
        let last = messages.iter().position(|message| message == b"last");
        messages.remove(last.expect("it was sent"));
        (messages, abandoned)
    })
}

#[test]
fn a_message_is_sent_whole_or_not_at_all() {
    const PATH: &str = "steps::a_message_is_sent_whole_or_not_at_all";
    if let Some(memory) = half("does it") {
        let sender = BytesSender::attach(memory).unwrap();
        return traced(|| {
            let mut loan = sender.loan(WHOLE.len()).unwrap();
            loan.copy_from(WHOLE);
            loan.commit().unwrap();
        });
    }
    // Claimed and written, it is met as one that was begun; published, it is received, also by a receiver that it has not woken.
    let expected = [(vec![], 0), (vec![], 1), (vec![WHOLE.to_vec()], 0)];
    let begun = Begun::default();
    at_each_step(PATH, &expected, |place| received(place, &begun));
}

#[test]
fn messages_of_a_batch_are_sent_together_or_not_at_all() {
    const PATH: &str = "steps::messages_of_a_batch_are_sent_together_or_not_at_all";
    const BATCH: [[u64; 2]; 4] = [[1; 2], [2; 2], [3; 2], [4; 2]];
    const LAST: [u64; 2] = [9; 2];
    if let Some(memory) = half("does it") {
        let sender = Sender::<[u64; 2]>::attach(memory).unwrap();
        return traced(|| assert_eq!(sender.send_many(BATCH), Ok(4)));
    }
    // All slots are claimed by one step; until all are published by another one, none is a message, whatever was written.
    let expected = [(vec![], 0), (vec![], 4), (BATCH.to_vec(), 0)];
    let begun = Begun::default();
    at_each_step(PATH, &expected, |place| {
        let (sender, receiver) = channel::<[u64; 2]>(8).unwrap();
        let memory = sender.memory().try_clone_to_owned().unwrap();
        std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let receiving = Waiting::start(scope, move || {
                let mut messages = Vec::new();
                while receiver.recv_many(&mut messages, 8).is_ok() {
                    let _ = tell.send(messages.contains(&LAST));
                }
                (messages, receiver.abandoned())
            });
            let halted = place.halt(memory.as_fd(), || receiving.sleeps());
            // There is room, whatever the other one has begun.
            sender.try_send(LAST).unwrap();
            if place.is_stopped() && !begun.borrow().contains(&place.changes) {
                while !told.recv_timeout(LONG).expect("it was sent") {}
            }
            halted.go_on();
            drop(sender);
            let (mut messages, abandoned) = receiving.join();
            if abandoned > 0 {
                begun.borrow_mut().insert(place.changes);
            }
            messages.remove(messages.iter().position(|it| *it == LAST).unwrap());
            (messages, abandoned)
        })
    });
}

#[test]
fn a_batch_is_received_until_its_places_are_given_back() {
    const PATH: &str = "steps::a_batch_is_received_until_its_places_are_given_back";
    if let Some(memory) = half("does it") {
        let receiver = Receiver::<u64>::attach(memory).unwrap();
        let mut messages = Vec::with_capacity(4);
        traced(|| receiver.recv_many(&mut messages, 3).unwrap());
        assert_eq!(messages, [1, 2, 3]);
        return;
    }
    // How many the next receiver gets once more: they are given back by one step.
    at_each_step(PATH, &[3, 0], |place| {
        let (sender, receiver) = channel::<u64>(4).unwrap();
        let memory = receiver.hand_over().unwrap();
        assert_eq!(sender.send_many(1..=4), Ok(4));
        let (sent, messages) = std::thread::scope(|scope| {
            let more = sender.clone();
            let sending = Waiting::start(scope, move || match more.send_many(5..=7) {
                Ok(count) => count,
                // The receiver may have died when there was room for some.
                Err(error) => error.sent,
            });
            let halted = place.halt(memory.as_fd(), || sending.sleeps());
            halted.go_on();
            // There is room, or no receiver any more.
            let sent = sending.join();
            let receiver = Receiver::<u64>::attach(memory).unwrap();
            drop(sender);
            let messages: Vec<_> = receiver.iter().collect();
            assert_eq!(receiver.abandoned(), 0);
            (sent, messages)
        });
        let again = messages.iter().position(|it| *it == 4).unwrap();
        let last = 4 + sent as u64;
        assert!(messages.iter().copied().eq(4 - again as u64..=last));
        again
    });
}

#[test]
fn a_loan_that_is_given_back_holds_up_no_message() {
    const PATH: &str = "steps::a_loan_that_is_given_back_holds_up_no_message";
    if let Some(memory) = half("does it") {
        let sender = BytesSender::attach(memory).unwrap();
        return traced(|| drop(sender.loan(10).unwrap()));
    }
    let expected = [(vec![], 0), (vec![], 1), (vec![], 0)];
    let begun = Begun::default();
    at_each_step(PATH, &expected, |place| received(place, &begun));
}

#[test]
fn a_message_is_received_until_its_place_is_given_back() {
    const PATH: &str = "steps::a_message_is_received_until_its_place_is_given_back";
    if let Some(memory) = half("does it") {
        let receiver = BytesReceiver::attach(memory).unwrap();
        let mut buffer = Vec::with_capacity(100);
        traced(|| receiver.recv_bytes(&mut buffer).unwrap());
        assert_eq!(buffer, b"one");
        return;
    }
    // Whether the next receiver gets it once more.
    at_each_step(PATH, &[true, false], |place| {
        let (sender, receiver) = bytes_channel(2, 100).unwrap();
        let memory = receiver.hand_over().unwrap();
        sender.try_send(b"one").unwrap();
        sender.try_send(b"two").unwrap();
        let (sent, mut messages) = std::thread::scope(|scope| {
            let third = sender.clone();
            let sending = Waiting::start(scope, move || third.send(b"three").is_ok());
            let halted = place.halt(memory.as_fd(), || sending.sleeps());
            if place.is_stopped() {
                assert!(!sender.is_closed(), "it lives");
                let again = BytesReceiver::attach(memory.try_clone().unwrap());
                assert!(again.is_err(), "it receives");
            }
            halted.go_on();
            // There is room, or no receiver any more.
            let sent = sending.join();
            let receiver = BytesReceiver::attach(memory).unwrap();
            drop(sender);
            let mut messages = Vec::new();
            let mut buffer = Vec::new();
            while receiver.recv_bytes(&mut buffer).is_ok() {
                messages.push(buffer.clone());
            }
            assert_eq!(receiver.abandoned(), 0);
            (sent, messages)
        });
        let comes_again = messages[0] == b"one";
        messages.drain(..usize::from(comes_again));
        let rest: &[&[u8]] = if sent { &[b"two", b"three"] } else { &[b"two"] };
        assert_eq!(messages, rest);
        comes_again
    });
}

#[test]
fn a_lock_is_abandoned_from_the_moment_on_that_it_is_taken() {
    const PATH: &str = "steps::a_lock_is_abandoned_from_the_moment_on_that_it_is_taken";
    if let Some(memory) = half("does it") {
        let mutex = Mutex::<u64>::attach(memory).unwrap();
        let _guard = traced(|| mutex.lock().unwrap());
        return;
    }
    // Whether it is abandoned, or was held by one that has given it back in order.
    at_each_step(PATH, &[false, true], |place| {
        let mutex = Mutex::create(1_u64).unwrap();
        let halted = place.halt(mutex.memory(), || ());
        if place.is_stopped() {
            // It has it, or has it not; the survivor is told in time, and does not take it away.
            let is_free = mutex.lock_timeout(SOON).map(drop).is_ok();
            assert!(!is_free || !place.is_over.get());
        }
        halted.go_on();
        let is_abandoned = mutex.lock_timeout(LONG).unwrap().is_abandoned();
        assert!(!(place.is_stopped() && is_abandoned));
        is_abandoned || place.is_stopped()
    });
}

#[test]
fn a_lock_is_abandoned_until_the_moment_in_which_it_is_given_back() {
    const PATH: &str = "steps::a_lock_is_abandoned_until_the_moment_in_which_it_is_given_back";
    const NEW: [u64; 4] = [7; 4];
    if let Some(memory) = half("does it") {
        let mutex = Mutex::<[u64; 4]>::attach(memory).unwrap();
        let mut guard = mutex.lock().unwrap();
        return traced(move || {
            guard.set(NEW);
            drop(guard);
        });
    }
    at_each_step(PATH, &[true, false], |place| {
        let mutex = Mutex::create([1; 4]).unwrap();
        std::thread::scope(|scope| {
            let (may_lock, is_locked) = mpsc::channel();
            let mutex = &mutex;
            let locking = Waiting::start(scope, move || {
                is_locked.recv().unwrap();
                let guard = mutex.lock_timeout(LONG).unwrap();
                (guard.is_abandoned(), guard.get())
            });
            let halted = place.halt(mutex.memory(), || {
                may_lock.send(()).unwrap();
                while mutex
                    .holder()
                    .is_none_or(|it| it.process == std::process::id())
                {
                    std::thread::yield_now();
                }
                locking.sleeps();
            });
            if place.is_stopped()
                && let Ok(guard) = mutex.try_lock()
            {
                // It was given back: the next one that gives it back wakes those whom the other one was to wake.
                drop(guard);
                let woken = in_time(locking);
                halted.go_on();
                assert_eq!(woken, (false, NEW));
                return false;
            }
            halted.go_on();
            let (is_abandoned, value) = locking.join();
            assert!(is_abandoned || value == NEW, "{value:?}");
            is_abandoned
        })
    });
}

#[test]
fn a_slot_is_full_when_the_whole_value_is_there() {
    const PATH: &str = "steps::a_slot_is_full_when_the_whole_value_is_there";
    if let Some(memory) = half("does it") {
        let slot = Slot::<[u64; 4]>::attach(memory).unwrap();
        return traced(|| slot.put([1; 4]));
    }
    at_each_step(PATH, &[2, 1], |place| {
        let slot = Slot::<[u64; 4]>::create().unwrap();
        std::thread::scope(|scope| {
            let taking = Waiting::start(scope, || slot.take_timeout(LONG).unwrap());
            let halted = place.halt(slot.memory(), || taking.sleeps());
            if place.is_stopped() && !slot.is_full() && !taking.thread.is_finished() {
                assert_eq!(slot.take_timeout(SOON).ok(), None);
            }
            if place.is_stopped()
                && let Some(value) = slot.try_take()
            {
                // The next value wakes the one whom the other process was to wake.
                slot.put([2; 4]);
                assert_eq!(in_time(taking), [2; 4]);
                halted.go_on();
                return value[0];
            }
            halted.go_on();
            if place.is_stopped() {
                return taking.join()[0];
            }
            slot.put([2; 4]);
            let value = taking.join();
            assert_eq!(value, [value[0]; 4]);
            value[0]
        })
    });
}

#[test]
fn a_slot_is_empty_when_the_value_was_read() {
    const PATH: &str = "steps::a_slot_is_empty_when_the_value_was_read";
    if let Some(memory) = half("does it") {
        let slot = Slot::<[u64; 4]>::attach(memory).unwrap();
        let value = traced(|| slot.take());
        assert_eq!(value, [1; 4]);
        return;
    }
    at_each_step(PATH, &[1, 2], |place| {
        let slot = Slot::<[u64; 4]>::create().unwrap();
        slot.put([1; 4]);
        std::thread::scope(|scope| {
            let putting = Waiting::start(scope, || slot.put_timeout([2; 4], LONG).unwrap());
            let halted = place.halt(slot.memory(), || putting.sleeps());
            if place.is_stopped() && slot.try_put([3; 4]).is_ok() {
                // The place that is free again wakes the one whom the other process was to wake.
                let values = [(); 2].map(|()| slot.take_timeout(LONG).unwrap()[0]);
                assert!(values == [3, 2] || values == [2, 3], "{values:?}");
                in_time(putting);
                halted.go_on();
                return 2;
            }
            halted.go_on();
            let value = slot.take_timeout(LONG).unwrap();
            assert_eq!(value, [value[0]; 4]);
            putting.join();
            if value[0] == 1 {
                assert_eq!(slot.take_timeout(LONG), Ok([2; 4]));
            }
            value[0]
        })
    });
}

#[test]
fn a_property_has_the_value_of_before_or_the_whole_new_one() {
    const PATH: &str = "steps::a_property_has_the_value_of_before_or_the_whole_new_one";
    if let Some(memory) = half("does it") {
        let property = Property::<[u64; 6]>::attach(memory).unwrap();
        return traced(|| property.set([1; 6]));
    }
    at_each_step(PATH, &[0, 1], |place| {
        let property = Property::create([0_u64; 6]).unwrap();
        std::thread::scope(|scope| {
            let before = property.version();
            let property = &property;
            let waiting = Waiting::start(scope, move || {
                property.wait_changed_timeout(before, LONG).unwrap()
            });
            let halted = place.halt(property.memory(), || waiting.sleeps());
            // Also while the other one is stopped.
            let value = property.get();
            assert_eq!(value, [value[0]; 6]);
            let is_new = property.version() != before;
            assert_eq!(is_new, value[0] == 1);
            halted.go_on();
            if place.is_stopped() || is_new {
                // It is told, by the one that has set it or by the end of that.
                waiting.join();
                return property.get()[0];
            }
            // The next one that sets it has no trouble.
            property.set([2; 6]);
            waiting.join();
            assert_eq!(property.get(), [2; 6]);
            0
        })
    });
}

#[test]
fn a_property_is_set_while_another_process_is_halted_as_it_sets_it() {
    const PATH: &str = "steps::a_property_is_set_while_another_process_is_halted_as_it_sets_it";
    if let Some(memory) = half("does it") {
        let property = Property::<[u64; 6]>::attach(memory).unwrap();
        return traced(|| property.set([1; 6]));
    }
    at_each_step(PATH, &[2], |place| {
        let property = Property::create([0_u64; 6]).unwrap();
        let halted = std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, || property.wait_changed_timeout(0, LONG));
            let halted = place.halt(property.memory(), || waiting.sleeps());
            property.set([2; 6]);
            assert_eq!(property.get(), [2; 6]);
            in_time(waiting).unwrap();
            halted
        });
        halted.go_on();
        let value = property.get();
        assert_eq!(value, [value[0]; 6]);
        // The one that was stopped may set it after that.
        assert!(value[0] == 2 || place.is_stopped());
        2
    });
}

#[test]
fn the_setting_of_a_name_to_what_lies_in_an_arena() {
    const PATH: &str = "steps::the_setting_of_a_name_to_what_lies_in_an_arena";
    if let Some(memory) = half("does it") {
        let properties = Properties::attach(memory).unwrap();
        let Some(Value::Integer(arena)) = properties.get("arena") else {
            panic!("the test has set it");
        };
        let arena = Arena::attach(further(arena as u32)).unwrap();
        let properties = properties.with_arena(&arena);
        let new: Mutex<u64> = properties.get_shared("new").unwrap();
        return traced(|| properties.set_shared("name", &new).unwrap());
    }
    at_each_step(PATH, &[1, 2], |place| {
        let arena = Arena::create(1 << 14).unwrap();
        let properties = Properties::create(3, 32).unwrap().with_arena(&arena);
        let number = i64::from(arena.memory().as_raw_fd());
        properties.set("arena", number).unwrap();
        let [old, new] = [1_u64, 2].map(|value| arena.mutex(value).unwrap());
        properties.set_shared("new", &new).unwrap();
        properties.set_shared("name", &old).unwrap();
        let halted = place.halt(properties.memory(), || ());
        let value = || {
            let there: Mutex<u64> = properties.get_shared("name").unwrap();
            there.lock().unwrap().get()
        };
        let seen = value();
        if place.is_stopped() {
            halted.go_on();
            return value();
        }
        seen
    });
}

#[test]
fn a_named_value_is_there_as_a_whole_or_not_at_all() {
    const PATH: &str = "steps::a_named_value_is_there_as_a_whole_or_not_at_all";
    if let Some(memory) = half("does it") {
        let properties = Properties::attach(memory).unwrap();
        return traced(|| properties.set("name", "value").unwrap());
    }
    at_each_step(PATH, &[None, Some(Value::from("value"))], |place| {
        let properties = Properties::create(3, 16).unwrap();
        properties.set("old", 1_i64).unwrap();
        let (version, _) = properties.versioned("old").unwrap();
        let halted = std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, || {
                properties.wait_changed_timeout("old", version, LONG)
            });
            let halted = place.halt(properties.memory(), || waiting.sleeps());
            // A name that has a value gets another one, and who waits for that is told, also while the other one is stopped.
            properties.set("old", 2_i64).unwrap();
            in_time(waiting).unwrap();
            halted
        });
        let value = properties.get("name");
        if place.is_stopped() {
            halted.go_on();
            assert!(value.is_none() || value == properties.get("name"));
            return properties.get("name");
        }
        // Names can be given, in the place of one that was not finished, too.
        properties.set("other", 1_i64).unwrap();
        if value.is_none() {
            properties.set("name", 2_i64).unwrap();
        }
        assert_eq!(properties.names(), ["name", "old", "other"]);
        value
    });
}

#[test]
fn an_event_is_set_for_all_that_sleep() {
    const PATH: &str = "steps::an_event_is_set_for_all_that_sleep";
    if let Some(memory) = half("does it") {
        let event = Event::attach(memory).unwrap();
        return traced(|| event.set());
    }
    at_each_step(PATH, &[false, true], |place| {
        let event = Event::manual().unwrap();
        std::thread::scope(|scope| {
            let waiting =
                [(); 2].map(|()| Waiting::start(scope, || event.wait_timeout(LONG).unwrap()));
            let halted = place.halt(event.memory(), || {
                waiting.iter().for_each(Waiting::sleeps);
            });
            if place.is_stopped() {
                event.set();
                waiting.into_iter().for_each(in_time);
                halted.go_on();
                return event.is_set();
            }
            let is_set = event.is_set();
            if !is_set {
                event.set();
            }
            // If it was set, no help is needed.
            waiting.into_iter().for_each(Waiting::join);
            is_set
        })
    });
}

#[test]
fn a_notification_or_the_end_of_who_gives_it_ends_a_wait() {
    const PATH: &str = "steps::a_notification_or_the_end_of_who_gives_it_ends_a_wait";
    if let Some(memory) = half("does it") {
        let condition = Condition::attach(memory).unwrap();
        return traced(|| condition.notify_all());
    }
    at_each_step(PATH, &[true], |place| {
        let condition = Condition::create().unwrap();
        let mutex = Mutex::create(0_u8).unwrap();
        std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, || {
                let guard = mutex.lock().unwrap();
                condition.wait_timeout(guard, LONG).unwrap().1
            });
            let halted = place.halt(condition.memory(), || waiting.sleeps());
            if place.is_stopped() {
                condition.notify_all();
            }
            let is_notified = in_time(waiting);
            halted.go_on();
            is_notified
        })
    });
}

#[test]
fn a_process_that_has_left_ends_a_wait_or_its_death_does() {
    const PATH: &str = "steps::a_process_that_has_left_ends_a_wait_or_its_death_does";
    if let Some(memory) = half("does it") {
        let condition = Condition::attach(memory).unwrap();
        return traced(|| drop(condition));
    }
    at_each_step(PATH, &[true], |place| {
        let condition = Condition::create().unwrap();
        let mutex = Mutex::create(0_u8).unwrap();
        std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, || {
                let guard = mutex.lock().unwrap();
                condition.wait_timeout(guard, LONG).unwrap().1
            });
            place.halt(condition.memory(), || waiting.sleeps()).go_on();
            in_time(waiting)
        })
    });
}

/// The kernel wakes one of those that sleep until the end of a process. That one may be killed, too, and then a process finds the dead one that is stopped next.
#[test]
fn a_death_that_a_stopped_process_has_found_ends_the_waits_of_others() {
    const PATH: &str = "steps::a_death_that_a_stopped_process_has_found_ends_the_waits_of_others";
    /// Where the life of the second process lies, behind the label and that of the first.
    const LIFE: u64 = 384 + 32;
    const IS_DEAD: u8 = 0x40;
    if let Some(memory) = half("does it") {
        let condition = Condition::attach(memory).unwrap();
        traced(|| condition.processes());
        return;
    }
    at_each_step(PATH, &[true], |place| {
        let condition = Condition::create().unwrap();
        let second = Condition::attach(condition.memory().try_clone_to_owned().unwrap()).unwrap();
        let memory = memory_of(condition.memory());
        let life = || {
            let mut bytes = [0; 8];
            memory.read_exact_at(&mut bytes, LIFE).unwrap();
            bytes
        };
        let before = life();
        let mutex = Mutex::create(0_u8).unwrap();
        std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, || {
                let guard = mutex.lock().unwrap();
                condition.wait_timeout(guard, LONG).unwrap().1
            });
            let halted = place.halt(condition.memory(), || {
                waiting.sleeps();
                // What the kernel does, but for the wake-up.
                memory
                    .write_all_at(&[before[3] | IS_DEAD], LIFE + 3)
                    .unwrap();
            });
            let is_freed = life()[4..] != before[4..];
            if place.is_stopped() && is_freed {
                assert!(in_time(waiting));
                halted.go_on();
                return true;
            }
            halted.go_on();
            let _ = condition.processes();
            drop(second);
            in_time(waiting)
        })
    });
}

#[test]
fn what_a_carrier_was_given_is_read_as_a_whole_and_then_the_end() {
    const PATH: &str = "steps::what_a_carrier_was_given_is_read_as_a_whole_and_then_the_end";
    if let Some(memory) = half("does it") {
        let (mut writer, _reader) = attach(memory).unwrap();
        let written = traced(|| writer.write(WHOLE).unwrap());
        assert_eq!(written, WHOLE.len());
        return;
    }
    at_each_step(PATH, &[vec![], WHOLE.to_vec()], |place| {
        let (_writer, mut reader) = carrier(4096).unwrap();
        let memory = reader.memory().try_clone_to_owned().unwrap();
        std::thread::scope(|scope| {
            let reading = Waiting::start(scope, move || {
                let mut read = Vec::new();
                let mut bytes = [0; 100];
                loop {
                    match reader.read(&mut bytes) {
                        Ok(0) => {
                            assert!(reader.wait(Some(Instant::now() + LONG), || true).unwrap())
                        }
                        Ok(count) => read.extend_from_slice(&bytes[..count]),
                        Err(error) => {
                            assert_eq!(error, CarrierError::Closed);
                            return read;
                        }
                    }
                }
            });
            place.halt(memory.as_fd(), || reading.sleeps()).go_on();
            reading.join()
        })
    });
}

#[test]
fn the_own_process_ends_a_wait_at_a_seat_whatever_has_become_of_the_other() {
    const PATH: &str =
        "steps::the_own_process_ends_a_wait_at_a_seat_whatever_has_become_of_the_other";
    const SEAT: usize = 3;
    if let Some(memory) = half("does it") {
        let (mut writer, _reader) = attach(memory).unwrap();
        let written = traced(|| writer.write_to(WHOLE, 1 << SEAT).unwrap());
        assert_eq!(written, WHOLE.len());
        return;
    }
    // No seat sleeps on a life: what is wrong with the other one is found by a thread that wakes those who do.
    at_each_step(PATH, &[0, WHOLE.len()], |place| {
        let (_writer, reader) = carrier(4096).unwrap();
        let memory = reader.memory().try_clone_to_owned().unwrap();
        let (seats, is_over) = (reader.seats(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (seats, is_over) = (&seats, &is_over);
            let waiting = Waiting::start(scope, move || {
                let deadline = Some(Instant::now() + LONG);
                seats.wait(SEAT, Wait::Park, deadline, || {
                    is_over.load(Ordering::SeqCst)
                });
            });
            let halted = place.halt(memory.as_fd(), || waiting.sleeps());
            is_over.swap(true, Ordering::SeqCst);
            seats.waker().wake();
            in_time(waiting);
            halted.go_on();
        });
        reader.len().unwrap()
    });
}

#[test]
fn a_receive_ends_in_its_time_while_the_sender_is_stopped() {
    const PATH: &str = "steps::a_receive_ends_in_its_time_while_the_sender_is_stopped";
    if let Some(memory) = half("does it") {
        let sender = BytesSender::attach(memory).unwrap();
        return traced(|| sender.send(WHOLE).unwrap());
    }
    at_each_step(PATH, &[false, true], |place| {
        let (sender, receiver) = bytes_channel(4, 100).unwrap();
        let halted = place.halt(sender.memory(), || ());
        let mut buffer = Vec::new();
        let waited = match receiver.recv_timeout_bytes(&mut buffer, SOON) {
            Ok(_) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(error) => panic!("{error}"),
        };
        halted.go_on();
        if place.is_stopped() && !waited {
            receiver.recv_bytes(&mut buffer).unwrap();
        }
        assert!(buffer.is_empty() || buffer == WHOLE);
        !buffer.is_empty()
    });
}
