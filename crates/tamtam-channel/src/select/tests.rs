//! What happens to a select between two of its steps.

use tamtam_wait::Operation;

use super::*;
use crate::{Event, bounded, never};

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
