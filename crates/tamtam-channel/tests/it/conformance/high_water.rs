//! The most messages that a channel has held: sampled within its stated error, exact where it was asked for.

use std::thread;

use tamtam_channel::{Builder, Receiver, Select, Sender, after};

use crate::support::{Flavour, Random, for_every_flavour, ms};

for_every_flavour!(
    it_is_zero_at_first_and_never_falls,
    sampling_is_within_its_error,
    exact_is_exact,
    batches_are_looked_at,
    it_never_exceeds_what_there_was,
);

fn exact<T>(flavour: Flavour) -> (Sender<T>, Receiver<T>) {
    let builder = Builder::new().exact_high_water();
    match flavour.capacity() {
        Some(capacity) => builder.capacity(capacity).build(),
        None => builder.build(),
    }
}

/// How much too low it may be when it is sampled.
fn error(flavour: Flavour) -> usize {
    flavour
        .capacity()
        .map_or(1023, |capacity| (capacity / 16).clamp(63, 1023))
}

fn it_is_zero_at_first_and_never_falls(flavour: Flavour) {
    for (sender, receiver) in [flavour.pair(), exact(flavour)] {
        assert_eq!((sender.high_water(), receiver.high_water()), (0, 0));
        for held in 1..=flavour.room() {
            sender.send(held).unwrap();
            assert_eq!((sender.high_water(), receiver.high_water()), (held, held));
        }
        assert_eq!(receiver.try_iter().count(), flavour.room());
        assert!(receiver.high_water() >= flavour.room().saturating_sub(error(flavour)));
        assert_eq!(sender.high_water(), receiver.high_water());
        drop(sender);
        assert!(receiver.high_water() >= flavour.room().saturating_sub(error(flavour)));
    }
}

/// The same random coming and going on both kinds, one message at a time, compared with what there really was.
fn sampling_is_within_its_error(flavour: Flavour) {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (sender, receiver) = flavour.pair();
        let (exact_sender, exact_receiver) = exact(flavour);
        let mut held = 0;
        let mut most = 0;
        for _ in 0..40 {
            let room = flavour.room() - held;
            for _ in 0..random.below(room as u64 + 1) {
                sender.send(0).unwrap();
                exact_sender.send(0).unwrap();
                held += 1;
            }
            most = most.max(held);
            for _ in 0..random.below(held as u64 + 1) {
                receiver.recv().unwrap();
                exact_receiver.recv().unwrap();
                held -= 1;
            }
            let sampled = receiver.high_water();
            assert!(
                sampled <= most && most - sampled <= error(flavour),
                "{sampled}, {most}"
            );
            assert_eq!(exact_receiver.high_water(), most);
        }
    }
}

fn exact_is_exact(flavour: Flavour) {
    let room = flavour.room();
    let (sender, receiver) = exact(flavour);
    for most in 1..=room {
        // Each way to send takes its turn.
        match most % 3 {
            0 => assert_eq!(sender.send_many(0..most), Ok(most)),
            1 => (0..most).for_each(|number| sender.send(number).unwrap()),
            _ => (0..most).for_each(|number| {
                let mut select = Select::new();
                select.send(&sender);
                select.select().send(&sender, number).unwrap();
            }),
        }
        assert_eq!(receiver.try_iter().count(), most);
        assert_eq!(receiver.high_water(), most);
    }
}

fn batches_are_looked_at(flavour: Flavour) {
    let room = flavour.room().min(200);
    let (sender, receiver) = flavour.pair();
    sender.send_many(0..room).unwrap();
    let mut got = Vec::with_capacity(room);
    let _ = receiver.try_recv_many(&mut got, room);
    assert_eq!(got.len(), room);
    assert_eq!(receiver.high_water(), room);
}

fn it_never_exceeds_what_there_was(flavour: Flavour) {
    for (sender, receiver) in [flavour.pair(), exact(flavour)] {
        let (each, senders) = (2_000, 3);
        thread::scope(|scope| {
            for _ in 0..senders {
                let sender = sender.clone();
                scope.spawn(move || (0..each).for_each(|number| sender.send(number).unwrap()));
            }
            for _ in 0..2 {
                scope.spawn(|| receiver.iter().take(each).count());
            }
            let mut got = Vec::new();
            while got.len() < each {
                let missing = each - got.len();
                receiver.recv_many(&mut got, missing).unwrap();
            }
        });
        assert!(receiver.is_empty());
        let most = flavour.capacity().unwrap_or(each * senders);
        assert!(receiver.high_water() <= most);
        assert_eq!(receiver.high_water() == 0, flavour.is_rendezvous());
    }
}

/// Large enough that the errors above would show.
#[test]
fn the_error_grows_with_the_capacity_and_has_an_end() {
    for (capacity, error) in [(1_000, 63), (8_000, 500), (100_000, 1023)] {
        let (sender, receiver) = tamtam_channel::bounded(capacity);
        let mut seen = 0;
        for most in [capacity / 3, capacity / 2, capacity] {
            sender.send_many(0..most).unwrap();
            assert_eq!(receiver.try_iter().count(), most);
            let sampled = receiver.high_water();
            assert!(
                sampled <= most && most - sampled <= error,
                "{sampled}, {most}"
            );
            assert!(sampled >= seen);
            seen = sampled;
        }
    }
}

#[test]
fn timers_have_no_high_water_mark() {
    let timer = after(ms(0));
    assert!(timer.recv().is_ok());
    assert_eq!((timer.high_water(), timer.dropped()), (0, 0));
}
