//! Models of a broadcast: each receiver gets each message, and who waits is woken.

use tamtam_wait::seam::{Task, thread};

use crate::models::{model, poll, wide_model};

use super::{Lag, Receiver, RecvError, Sender, bounded};

fn ends(capacity: usize) -> (Sender<u32>, Receiver<u32>) {
    bounded(capacity)
}

/// Two receivers, of which one is waited for by a sender that sleeps meanwhile.
#[test]
fn loom_broadcast_waits_for_each_receiver() {
    wide_model(|| {
        let (sender, receiver) = ends(1);
        let second = sender.subscribe(Lag::Wait);
        let other = thread::spawn(move || [second.recv(), second.recv()].map(|got| got.unwrap()));
        let giver = thread::spawn(move || {
            for number in 1..=2 {
                sender.send(number).unwrap();
            }
        });
        assert_eq!(
            [receiver.recv(), receiver.recv()].map(|got| got.unwrap()),
            [1, 2]
        );
        assert_eq!(receiver.recv(), Err(RecvError::Disconnected));
        giver.join().unwrap();
        assert_eq!(other.join().unwrap(), [1, 2]);
    });
}

/// What a receiver gets and what it loses are all messages, and the senders never wait.
#[test]
fn loom_broadcast_counts_what_is_lost() {
    model(|| {
        let (sender, receiver) = ends(1);
        let receiver = receiver.with_lag(Lag::Lose);
        let giver = thread::spawn(move || {
            for number in 0..3 {
                sender.send(number).unwrap();
            }
        });
        let mut next = 0;
        loop {
            match receiver.recv() {
                Ok(message) => {
                    assert_eq!(u64::from(message), next);
                    next += 1;
                }
                Err(RecvError::Lost(lost)) => {
                    assert_eq!(lost.first, next);
                    next += lost.count;
                }
                Err(RecvError::Disconnected) => break,
            }
        }
        assert_eq!(next, 3);
        giver.join().unwrap();
    });
}

/// The receiver that a sender waits for goes: the sender goes on with the others.
#[test]
fn loom_broadcast_leaving_wakes_the_sender() {
    model(|| {
        let (sender, slow) = ends(1);
        let receiver = sender.subscribe(Lag::Lose);
        sender.send(1).unwrap();
        let leaver = thread::spawn(move || drop(slow));
        sender.send(2).unwrap();
        drop(sender);
        assert_eq!(receiver.iter().last().unwrap(), Ok(2));
        leaver.join().unwrap();
    });
}

/// Two senders wait for room, one as a task, and each gets it.
#[test]
fn loom_async_broadcast_wakes_sender_after_sender() {
    model(|| {
        let (sender, receiver) = ends(1);
        sender.send(1).unwrap();
        let other = sender.clone();
        let giver = thread::spawn(move || {
            let task = Task::new();
            let mut send = other.send_async(1);
            task.run(|_| poll(&mut send, &task)).unwrap();
        });
        let taker = thread::spawn(move || (0..3).map(|_| receiver.recv().unwrap()).sum::<u32>());
        sender.send(1).unwrap();
        giver.join().unwrap();
        assert_eq!(taker.join().unwrap(), 3);
    });
}

/// A task that receives is woken by a message, or its end.
#[test]
fn loom_async_broadcast_wakes_a_receiving_task() {
    model(|| {
        let (sender, receiver) = ends(1);
        let giver = thread::spawn(move || sender.send(1).unwrap());
        let task = Task::new();
        let mut first = receiver.recv_async();
        let got = task.run(|_| poll(&mut first, &task));
        assert_eq!(got.unwrap(), 1);
        let mut second = receiver.recv_async();
        let end = task.run(|_| poll(&mut second, &task));
        assert_eq!(end, Err(RecvError::Disconnected));
        giver.join().unwrap();
    });
}
