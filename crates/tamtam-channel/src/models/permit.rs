//! Room that is kept for a message.

use tamtam_wait::seam::thread;

use super::{model, wide_model};
use crate::{TrySendError, bounded};

/// A permit is taken while another thread sends into the last room: one of them gets it.
#[test]
fn loom_permit_meets_send() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let other = sender.clone();
        let giver = thread::spawn(move || other.try_send(Box::new(1)).is_ok());
        let mine = sender.try_reserve().map(|permit| permit.send(Box::new(1)));
        let theirs = giver.join().unwrap();
        assert!(mine.is_ok() ^ theirs);
        assert!(mine.is_err() || mine == Ok(Ok(())));
        assert_eq!(receiver.len(), 1);
        assert_eq!(receiver.recv(), Ok(Box::new(1)));
    });
}

/// A permit that is held, a sender that fills the rest, a receiver that makes room again.
#[test]
fn loom_permit_is_held_beside_messages() {
    wide_model(|| {
        let (sender, receiver) = bounded(2);
        let permit = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || {
            other.send(Box::new(1)).unwrap();
            other.send(Box::new(2)).unwrap();
        });
        let taker = thread::spawn(move || receiver.iter().map(|number| *number).sum::<u32>());
        permit.send(Box::new(4)).unwrap();
        giver.join().unwrap();
        drop(sender);
        assert_eq!(taker.join().unwrap(), 7);
    });
}

/// A sender waits for the room of a permit that is dropped.
#[test]
fn loom_permit_that_is_dropped_wakes_a_sender() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let permit = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.send(1).unwrap());
        drop(permit);
        giver.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
    });
}

/// One of two permits is dropped while the other one stays: the bit stays, too.
#[test]
fn loom_one_of_two_permits_wakes_a_sender() {
    model(|| {
        let (sender, receiver) = bounded(2);
        let permit = sender.try_reserve().unwrap();
        let kept = sender.try_reserve().unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || other.reserve().unwrap().send(1).unwrap());
        drop(permit);
        giver.join().unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        kept.send(3).unwrap();
        assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(3)));
    });
}

/// A permit is used while the channel is closed and drained: accepted means received.
#[test]
fn loom_permit_meets_close() {
    model(|| {
        let (sender, receiver) = bounded(1);
        let giver = thread::spawn(move || {
            let permit = sender.try_reserve().ok()?;
            permit.send(Box::new(1)).ok()
        });
        receiver.close();
        let received = receiver.recv().ok();
        assert_eq!(received.is_some(), giver.join().unwrap().is_some());
    });
}
