//! Receivers as iterators: `iter`, `try_iter`, `into_iter`.

use std::iter::FusedIterator;
use std::thread;

use tamtam_channel::{IntoIter, Iter, Sender, TryIter};

use crate::support::{Flavour, for_every_flavour, until};

for_every_flavour!(
    iter_ends_with_the_senders,
    iter_waits_for_each_message,
    try_iter_takes_what_is_there_and_goes_on_later,
    into_iter_by_value_and_by_reference,
    iterators_stay_at_their_end,
    a_shared_receiver_is_iterated_by_many,
    iterators_print,
);

fn send_all(sender: Sender<usize>, count: usize) {
    (0..count).for_each(|number| sender.send(number).unwrap());
}

fn iter_ends_with_the_senders(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(|| send_all(sender, 250));
        assert!(receiver.iter().eq(0..250));
        assert_eq!(receiver.iter().next(), None);
    });
}

fn iter_waits_for_each_message(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let (seen, is_seen) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(move || {
            for message in receiver.iter() {
                seen.send(message).unwrap();
            }
        });
        for number in 0..50 {
            sender.send(number).unwrap();
            assert_eq!(is_seen.recv(), Ok(number));
        }
        drop(sender);
    });
}

fn try_iter_takes_what_is_there_and_goes_on_later(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    assert_eq!(receiver.try_iter().count(), 0);
    let mut iterator = receiver.try_iter();
    for _ in 0..3 {
        (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
        assert!(iterator.by_ref().eq(0..flavour.room()));
        // Nothing now is not the end for ever: TryIter is not fused.
        assert_eq!(iterator.next(), None);
    }
    drop(sender);
    assert_eq!(iterator.next(), None);
    if flavour.is_rendezvous() {
        let (sender, receiver) = flavour.pair();
        thread::scope(|scope| {
            scope.spawn(|| sender.send(4).unwrap());
            until(|| receiver.try_iter().next() == Some(4));
        });
    }
}

fn into_iter_by_value_and_by_reference(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    thread::scope(|scope| {
        scope.spawn(|| send_all(sender, 10));
        let mut sum = 0;
        for number in &receiver {
            sum += number;
            if number == 4 {
                break;
            }
        }
        for number in receiver {
            sum += number;
        }
        assert_eq!(sum, 45);
    });
}

fn iterators_stay_at_their_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let clone = receiver.clone();
    drop(sender);
    let mut borrowed = receiver.iter();
    let mut owned = clone.into_iter();
    for _ in 0..3 {
        assert_eq!(borrowed.next(), None);
        assert_eq!(owned.next(), None);
    }
}

fn a_shared_receiver_is_iterated_by_many(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sum: usize = thread::scope(|scope| {
        let takers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| receiver.iter().sum::<usize>()))
            .collect();
        scope.spawn(|| send_all(sender, 1_000));
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(sum, 999 * 1_000 / 2);
}

fn iterators_print(flavour: Flavour) {
    struct Opaque;
    let (_sender, receiver) = flavour.pair::<Opaque>();
    assert_eq!(format!("{:?}", receiver.iter()), "Iter { .. }");
    assert_eq!(format!("{:?}", receiver.try_iter()), "TryIter { .. }");
    assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { .. }");
}

#[test]
fn the_blocking_iterators_are_fused() {
    fn is_fused<I: FusedIterator>() {}
    fn is_iterator<I: Iterator<Item = u8>>() {}
    is_fused::<Iter<'static, u8>>();
    is_fused::<IntoIter<u8>>();
    is_iterator::<TryIter<'static, u8>>();
}
