//! The programs that channels of more than one flavour run.

use tamtam_wait::seam::{Arc, Task, thread};

use super::{Ends, block_on, model, poll, wide_model};
use crate::RecvError;

pub(super) fn sends_in_order(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            for number in 0..3 {
                sender.send(Box::new(number)).unwrap();
            }
        });
        for number in 0..3 {
            assert_eq!(receiver.recv(), Ok(Box::new(number)));
        }
        assert_eq!(receiver.recv(), Err(RecvError));
        giver.join().unwrap();
    });
}

pub(super) fn two_senders_lose_nothing(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let givers = [sender.clone(), sender]
            .map(|sender| thread::spawn(move || sender.send(Box::new(1)).unwrap()));
        let sum = *receiver.recv().unwrap() + *receiver.recv().unwrap();
        assert_eq!(sum, 2);
        for giver in givers {
            giver.join().unwrap();
        }
        assert_eq!(receiver.recv(), Err(RecvError));
    });
}

pub(super) fn two_receivers_double_nothing(ends: fn() -> Ends<Box<u32>>, messages: u32) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let takers = [receiver.clone(), receiver].map(|receiver| {
            thread::spawn(move || receiver.iter().map(|message| *message).sum::<u32>())
        });
        for _ in 0..messages {
            sender.send(Box::new(1)).unwrap();
        }
        drop(sender);
        let sum = takers
            .map(|taker| taker.join().unwrap())
            .iter()
            .sum::<u32>();
        assert_eq!(sum, messages);
    });
}

/// The receiver goes while a message is being sent: it is either refused or dropped, once.
pub(super) fn closing_meets_sending(ends: fn() -> Ends<Arc<()>>) {
    model(move || {
        let (sender, receiver) = ends();
        let message = Arc::new(());
        let giver = {
            let message = Arc::clone(&message);
            thread::spawn(move || drop(sender.send(message)))
        };
        drop(receiver);
        giver.join().unwrap();
        // loom's `Arc` checks for leaks at the end; this checks that nothing is left in the channel.
        assert!(Arc::try_unwrap(message).is_ok());
    });
}

/// Somebody closes while a message is being sent: it comes back, or it is received.
pub(super) fn close_meets_send(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            (0..2)
                .take_while(|number| sender.send(Box::new(*number)).is_ok())
                .count()
        });
        let closer = receiver.clone();
        let taker = thread::spawn(move || receiver.iter().count());
        closer.close();
        assert_eq!(giver.join().unwrap(), taker.join().unwrap());
    });
}

/// A batch of two for two receivers that may sleep: none of them is left asleep.
pub(super) fn batch_meets_receivers(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let other = receiver.clone();
        let taker = thread::spawn(move || *other.recv().unwrap());
        let keeper = sender.clone();
        let giver = thread::spawn(move || {
            assert_eq!(sender.send_many([1, 1].map(Box::new)), Ok(2));
        });
        assert_eq!(*receiver.recv().unwrap(), 1);
        assert_eq!(taker.join().unwrap(), 1);
        giver.join().unwrap();
        // Until here, or the end of the channel would wake whoever was forgotten.
        drop(keeper);
    });
}

/// Batches through a ring that is smaller than they are, or across blocks.
pub(super) fn batches_in_order(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            assert_eq!(sender.send_many((0..3).map(Box::new)), Ok(3));
        });
        let mut got = Vec::new();
        while receiver.recv_many(&mut got, 4).is_ok() {}
        assert!(got.into_iter().map(|number| *number).eq(0..3));
        giver.join().unwrap();
    });
}

/// A task at each end, each on a thread of its own.
pub(super) fn tasks_at_both_ends(ends: fn() -> Ends<Box<u32>>) {
    model(move || {
        let (sender, receiver) = ends();
        let giver = thread::spawn(move || {
            for number in 0..2 {
                block_on(sender.send_async(Box::new(number))).unwrap();
            }
        });
        for number in 0..2 {
            assert_eq!(block_on(receiver.recv_async()), Ok(Box::new(number)));
        }
        assert_eq!(block_on(receiver.recv_async()), Err(RecvError));
        giver.join().unwrap();
    });
}

/// A task that gives up while a message comes leaves it to the thread that waits, too.
pub(super) fn cancelling_meets_sending(ends: fn() -> Ends<Box<u32>>) {
    wide_model(move || {
        let (sender, receiver) = ends();
        let other = receiver.clone();
        let taker = thread::spawn(move || other.recv().is_ok());
        let giver = thread::spawn(move || {
            sender.send(Box::new(1)).unwrap();
            sender
        });
        let task = Task::new();
        let mut future = receiver.recv_async();
        // Polled again it looks whether it has been chosen, which it may be just then, or a moment later.
        let received = poll(&mut future, &task).is_ready() || poll(&mut future, &task).is_ready();
        drop(future);
        if received {
            let sender = giver.join().unwrap();
            sender.send(Box::new(2)).unwrap();
        }
        assert!(taker.join().unwrap());
    });
}
