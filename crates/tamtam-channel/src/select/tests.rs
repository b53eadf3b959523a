//! What happens to a select between two of its steps.

use super::*;
use crate::{bounded, never};

#[test]
fn the_numbers_of_operations_that_are_there_are_not_given_again_when_they_wrap() {
    let (sender, receiver) = bounded(1);
    let never = never::<u8>();
    let mut select = Select::new();
    let kept = select.recv(&never);
    select.next_index = u32::MAX;
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
