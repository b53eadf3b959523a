//! What happens to a select between two of its steps.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tamtam_wait::Operation;

use super::*;
use crate::{
    Event, Latch, Property, Receiver, Sender, TryRecvError, after, bounded, never, spsc, unbounded,
};

/// Sets and resets an event while a select enters its lists, and is never ready.
struct Pulse<'a>(&'a Event);

impl Source for Pulse<'_> {
    fn try_begin(&self, _: &mut Token) -> bool {
        false
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        self.0.set();
        self.0.reset();
        false
    }

    fn unregister(&self, _: Operation, _: &Context) {}

    fn is_ready(&self) -> bool {
        false
    }

    fn watch(&self, operation: Operation, context: &Context) -> bool {
        self.register(operation, context)
    }

    fn unwatch(&self, _: Operation, _: &Context) {}
}

const SHORT: Duration = Duration::from_millis(20);

/// The event is the last to be entered, so that the select stands in its list only after it was reset.
#[test]
fn a_manual_event_that_is_reset_at_once_ends_a_select_that_has_begun() {
    let event = Event::manual();
    let pulse = Pulse(&event);
    let mut select = Select::new_biased();
    select.add(&pulse, &pulse, Direction::Out);
    let waited = select.wait(&event);
    let operation = select.select_timeout(SHORT).expect("it was set");
    assert_eq!(operation.index(), waited);
    operation.wait(&event);
    assert_eq!(select.ready_timeout(SHORT), Ok(waited));
    assert!(!event.is_set());
}

/// A select that begins after the reset waits, also if it has waited before.
#[test]
fn a_manual_event_that_was_reset_before_does_not_end_a_select() {
    let event = Event::manual();
    let never = never::<u8>();
    let mut select = Select::new();
    select.recv(&never);
    select.wait(&event);
    for _ in 0..3 {
        event.set();
        event.reset();
        assert!(select.try_select().is_err() && select.try_ready().is_err());
        assert!(select.select_timeout(SHORT).is_err());
    }
}

#[test]
fn the_numbers_of_operations_that_are_there_are_not_given_again_when_they_wrap() {
    let (sender, receiver) = bounded(1);
    let never = never::<u8>();
    let mut select = Select::new();
    let kept = select.recv(&never);
    select.next_index = u32::MAX.into();
    let last = select.recv(&never);
    let after = select.recv(&receiver);
    assert_eq!((kept, last, after), (0, u32::MAX as usize, 1));
    sender.send(5).unwrap();
    let operation = select.try_select().expect("there is a message");
    assert_eq!(operation.index(), after);
    assert_eq!(operation.recv(&receiver), Ok(5));
    for index in [after, kept, last] {
        select.remove(index);
    }
    assert!(select.try_select().is_err());
}

/// What is asked says nothing while it is ready, the same while it is not, and something else once it was ready meanwhile: `make` makes it ready, and
/// `take` unready.
fn tells_since_when_it_is_not_ready(source: &dyn Source, make: impl Fn(), take: impl Fn()) {
    let before = source.unready_since();
    assert!(before.is_some());
    assert_eq!(source.unready_since(), before);
    make();
    assert_eq!(source.unready_since(), None);
    take();
    let after = source.unready_since();
    assert!(after.is_some() && after != before, "{before:?} {after:?}");
}

#[test]
fn channels_tell_since_when_they_are_empty_or_full() {
    let rings = [1, 3].map(bounded::<usize>);
    for (sender, receiver) in rings.into_iter().chain([unbounded()]) {
        // Over many blocks and laps.
        for number in 0..if cfg!(miri) { 40 } else { 200 } {
            let send = || sender.send(number).unwrap();
            tells_since_when_it_is_not_ready(&receiver, send, || assert!(receiver.recv().is_ok()));
        }
        if let Some(capacity) = receiver.capacity() {
            for number in 0..capacity {
                sender.send(number).unwrap();
            }
            let send = || sender.send(7).unwrap();
            for _ in 0..20 {
                tells_since_when_it_is_not_ready(
                    &sender,
                    || assert!(receiver.recv().is_ok()),
                    send,
                );
            }
            drop(receiver);
            assert_eq!(sender.unready_since(), None, "closed");
        } else {
            drop(sender);
            assert_eq!(receiver.unready_since(), None, "closed");
        }
    }
}

#[test]
fn a_rendezvous_tells_since_when_there_is_no_partner() {
    let (sender, receiver) = bounded(0);
    let partner = receiver.clone();
    let (before, other_way) = (sender.unready_since(), receiver.unready_since());
    assert!(before.is_some() && other_way.is_some());
    assert_eq!(
        (sender.unready_since(), receiver.unready_since()),
        (before, other_way)
    );
    let receiving = std::thread::spawn(move || partner.recv());
    while sender.unready_since().is_some() {
        std::thread::yield_now();
    }
    sender.send(5).unwrap();
    assert_eq!(receiving.join().unwrap(), Ok(5));
    assert_ne!(sender.unready_since(), before);
    assert!(sender.unready_since().is_some());
    drop(receiver);
    assert_eq!(sender.unready_since(), None, "closed");
}

#[test]
fn a_full_channel_with_room_that_is_kept_does_not_tell_how_long_it_is_full() {
    let (sender, receiver) = bounded::<u8>(1);
    let permit = sender.try_reserve().expect("it is empty");
    assert!(!sender.is_ready());
    assert_eq!(sender.unready_since(), None);
    assert!(receiver.unready_since().is_some());
    drop(permit);
}

#[test]
fn what_becomes_ready_once_tells_that_it_is_not_yet() {
    let latch = Latch::new(1);
    assert_eq!(latch.unready_since(), Some(0));
    latch.count_down();
    assert_eq!(latch.unready_since(), None);

    let property = Property::new(1);
    let changed = property.changed_since(property.version());
    assert_eq!(changed.unready_since(), Some(0));
    property.set(2);
    assert_eq!(changed.unready_since(), None);

    assert_eq!(never::<u8>().unready_since(), Some(0));
    let (late, soon) = (after(Duration::from_secs(3_600)), after(Duration::ZERO));
    assert_eq!(late.unready_since(), Some(0));
    assert_eq!(soon.unready_since(), None);
    soon.recv().unwrap();
    assert_eq!(soon.unready_since(), Some(1));
}

/// Another thread may have seen that it was delivered, and sleeps without an end.
#[test]
fn the_moment_of_a_select_that_is_not_completed_is_not_given_back() {
    let timer = after(Duration::ZERO);
    let mut select = Select::new();
    select.recv(&timer);
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(select.select())));
    assert!(dropped.is_err());
    assert_eq!(timer.try_recv(), Err(TryRecvError::Empty));
    assert_eq!(timer.unready_since(), Some(1));
    assert!(!timer.is_ready());
}

#[test]
fn events_tell_since_when_they_are_not_set_if_that_can_be_told() {
    let event = Event::manual();
    tells_since_when_it_is_not_ready(&event, || event.set(), || event.reset());
    assert_eq!(Event::auto().unready_since(), None);
}

#[test]
fn the_end_of_a_lane_tells_since_when_it_is_not_ready() {
    let (sender, mut receiver) = spsc::bounded(1);
    let end = receiver.selectable();
    let send = || sender.send(1).unwrap();
    tells_since_when_it_is_not_ready(&end, send, || assert!(end.try_recv().is_ok()));
}

/// None of them sleeps: a select that may not wait enters no list where every source tells how long it is not ready.
#[test]
fn a_select_that_may_not_wait_enters_no_list() {
    let (empty, full) = (unbounded::<u8>().1, bounded(1));
    full.0.send(1).unwrap();
    let pairs: Vec<_> = (0..12).map(|_| bounded::<u8>(1)).collect();
    let receivers = || pairs.iter().map(|(_, receiver)| receiver);
    for few in [2, 8, 12] {
        let mut select = Select::new();
        for receiver in receivers().take(few) {
            select.recv(receiver);
        }
        assert!(none_was_ready(select.handles.as_slice()));
        assert!(select.try_select().is_err() && select.try_ready().is_err());
        select.send(&full.0);
        assert!(none_was_ready(select.handles.as_slice()));
        assert!(select.try_select().is_err() && select.try_ready().is_err());
    }
    let disconnected: &Receiver<u8> = &empty;
    let mut select = Select::new();
    select.recv(&pairs[0].1);
    select.recv(disconnected);
    assert!(!none_was_ready(select.handles.as_slice()));
    assert_eq!(select.try_ready(), Ok(1));
}

/// Moves a message between two channels whenever it is looked at, and is never ready.
struct Mover<'a>([(&'a Sender<u8>, &'a Receiver<u8>); 2]);

impl Source for Mover<'_> {
    fn try_begin(&self, _: &mut Token) -> bool {
        false
    }

    fn register(&self, _: Operation, _: &Context) -> bool {
        false
    }

    fn unregister(&self, _: Operation, _: &Context) {}

    fn is_ready(&self) -> bool {
        false
    }

    fn unready_since(&self) -> Option<u64> {
        let [one, other] = self.0;
        let (from, to) = if one.1.is_empty() {
            (other, one)
        } else {
            (one, other)
        };
        // So it is in both for a while, and never in none.
        to.0.send(1).unwrap();
        from.1.recv().unwrap();
        Some(0)
    }

    fn watch(&self, _: Operation, _: &Context) -> bool {
        false
    }

    fn unwatch(&self, _: Operation, _: &Context) {}
}

/// Each of four looks finds a channel empty, and the message is always in the other one.
#[test]
fn a_message_that_is_never_where_a_select_looks_is_there_at_every_moment() {
    for pair in [|| bounded(1), unbounded] {
        let pairs = [pair(), pair()];
        let ends = pairs
            .each_ref()
            .map(|(sender, receiver)| (sender, receiver));
        pairs[0].0.send(1).unwrap();
        let mover = Mover(ends);
        let mut select = Select::new_biased();
        for (_, receiver) in ends {
            select.add(&mover, &mover, Direction::Out);
            select.recv(receiver);
        }
        // Over many laps and blocks.
        for _ in 0..if cfg!(miri) { 40 } else { 1_000 } {
            assert!(!none_was_ready(select.handles.as_slice()));
        }
    }
}
