//! Models of lanes: two or three threads, blocks of two cells.

use core::pin::Pin;
use core::task::{Context, Poll};

use tamtam_wait::seam::{Task, thread};

use crate::{TryRecvError, mpsc, spsc};

fn model(preemptions: usize, program: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(program);
}

#[test]
fn loom_messages_cross_blocks_in_order() {
    model(2, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || {
            for number in 0..3 {
                sender.send(Box::new(number)).unwrap();
            }
        });
        let receives = thread::spawn(move || {
            for number in 0..3 {
                assert_eq!(receiver.recv().map(|number| *number), Ok(number));
            }
            assert!(receiver.recv().is_err());
        });
        sends.join().unwrap();
        receives.join().unwrap();
    });
}

#[test]
fn loom_a_sleeping_receiver_hears_of_a_plain_store() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || {
            sender.send(1).unwrap();
            // The sender stays: only the message may wake the receiver.
            sender
        });
        let receives = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
        receives.join().unwrap();
        drop(sends.join().unwrap());
    });
}

#[test]
fn loom_a_sleeping_sender_hears_of_room() {
    model(3, || {
        let (sender, receiver) = spsc::bounded(1);
        let sends = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        let receives = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(1));
            receiver
        });
        sends.join().unwrap();
        let receiver = receives.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

#[test]
fn loom_a_sender_that_hoped_for_much_room_takes_less() {
    model(2, || {
        // Large enough, in the models, to hope for more room than for one message.
        let (sender, receiver) = spsc::bounded(4);
        sender.send_many(1..=4).unwrap();
        let sends = thread::spawn(move || {
            sender.send(5).unwrap();
            sender
        });
        // Room for one; and then the receiver waits for the sender.
        assert_eq!(receiver.recv(), Ok(1));
        drop(sends.join().unwrap());
        assert_eq!(receiver.iter().sum::<i32>(), 2 + 3 + 4 + 5);
    });
}

#[test]
fn loom_the_last_message_is_found_before_the_end() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || sender.send(1).unwrap());
        let receives = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(1));
            assert!(receiver.recv().is_err());
            assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        });
        sends.join().unwrap();
        receives.join().unwrap();
    });
}

/// A message that was accepted is received; one that was refused comes back: never both, never neither.
#[test]
fn loom_close_against_send() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || match sender.send(Box::new(1)) {
            Ok(()) => 1,
            Err(refused) => {
                assert_eq!(*refused.into_inner(), 1);
                0
            }
        });
        let receives = thread::spawn(move || {
            receiver.close();
            let mut received = 0;
            while let Ok(message) = receiver.try_recv() {
                assert_eq!(*message, 1);
                received += 1;
            }
            (received, receiver)
        });
        let accepted = sends.join().unwrap();
        let (mut received, receiver) = receives.join().unwrap();
        // What was accepted while the receiver looked is still there.
        while receiver.try_recv().is_ok() {
            received += 1;
        }
        assert_eq!(received, accepted);
    });
}

/// The receiver goes in the middle: nothing is dropped twice, nothing is leaked (loom counts).
#[test]
fn loom_drop_against_send() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let message = tamtam_wait::seam::Arc::new(());
        let sent = message.clone();
        let sends = thread::spawn(move || drop(sender.send(sent)));
        let receives = thread::spawn(move || drop(receiver));
        sends.join().unwrap();
        receives.join().unwrap();
        assert_eq!(tamtam_wait::seam::Arc::strong_count(&message), 1);
    });
}

#[test]
fn loom_two_lanes_and_a_sleeping_receiver() {
    model(1, || {
        let (sender, receiver) = mpsc::unbounded();
        let other = sender.clone();
        let one = thread::spawn(move || sender.send(1).unwrap());
        let two = thread::spawn(move || other.send(2).unwrap());
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
        assert!(receiver.recv().is_err());
        one.join().unwrap();
        two.join().unwrap();
    });
}

#[test]
fn loom_a_lane_that_is_opened_while_the_receiver_goes_to_sleep() {
    model(3, || {
        let (sender, receiver) = mpsc::unbounded();
        let sends = thread::spawn(move || {
            let other = sender.clone();
            other.send(1).unwrap();
            (sender, other)
        });
        let receives = thread::spawn(move || assert_eq!(receiver.recv(), Ok(1)));
        receives.join().unwrap();
        drop(sends.join().unwrap());
    });
}

/// Attention is wanted from an earlier wait, so that asking for it, which is a fence, does not come between the registration and the second look.
#[test]
fn loom_a_lane_that_is_opened_while_a_task_begins_to_wait() {
    model(3, || {
        let (sender, mut receiver) = mpsc::unbounded();
        {
            let mut future = receiver.recv_async();
            let task = Task::new();
            let mut context = Context::from_waker(task.waker());
            assert!(Pin::new(&mut future).poll(&mut context).is_pending());
        }
        let sends = thread::spawn(move || {
            let other = sender.clone();
            other.send(1).unwrap();
            (sender, other)
        });
        let receives = thread::spawn(move || {
            let mut future = receiver.recv_async();
            let received = Task::new()
                .run(|waker| Pin::new(&mut future).poll(&mut Context::from_waker(waker)));
            assert_eq!(received, Ok(1));
        });
        receives.join().unwrap();
        drop(sends.join().unwrap());
    });
}

/// One sender goes as soon as another one has come: the receiver may find itself without any lane in between.
#[test]
fn loom_a_relay_of_senders() {
    model(2, || {
        let (sender, receiver) = mpsc::unbounded();
        // So that the receiver's next look is at all lanes.
        sender.send(0).unwrap();
        let sends = thread::spawn(move || {
            let next = sender.clone();
            drop(sender);
            next.send(1).unwrap();
        });
        // In either order: they lie in two lanes.
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 1);
        assert!(receiver.recv().is_err());
        sends.join().unwrap();
    });
}

/// An upgrade of a weak sender against the last strong one's going: it fails, or its message is received
/// before the end.
#[test]
fn loom_upgrade_against_the_end() {
    model(1, || {
        let (sender, receiver) = mpsc::unbounded();
        let weak = sender.downgrade();
        let goes = thread::spawn(move || drop(sender));
        let sends = thread::spawn(move || match weak.upgrade() {
            Some(sender) => {
                sender.send(1).unwrap();
                1
            }
            None => 0,
        });
        let mut received = 0;
        while receiver.recv().is_ok() {
            received += 1;
        }
        goes.join().unwrap();
        assert_eq!(sends.join().unwrap(), received);
    });
}

/// Several messages, announced at once, against a receiver that awaits them one by one.
#[test]
fn loom_a_batch_against_an_awaiting_receiver() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || {
            // Two blocks: so it is announced in two portions.
            assert_eq!(sender.send_many(0..3), Ok(3));
            sender
        });
        let receives = thread::spawn(move || {
            let mut receiver = receiver;
            for number in 0..3 {
                let mut future = receiver.recv_async();
                let received = Task::new()
                    .run(|waker| Pin::new(&mut future).poll(&mut Context::from_waker(waker)));
                assert_eq!(received, Ok(number));
            }
        });
        receives.join().unwrap();
        drop(sends.join().unwrap());
    });
}

/// A batch and a receive that is given up at any point: what was sent is there for the next one.
#[test]
fn loom_a_batch_against_a_receiver_that_gives_up() {
    model(3, || {
        let (sender, receiver) = spsc::unbounded();
        let sends = thread::spawn(move || {
            assert_eq!(sender.send_many(0..2), Ok(2));
            sender
        });
        let receives = thread::spawn(move || {
            let mut receiver = receiver;
            let mut expected = 0;
            {
                let mut future = receiver.recv_async();
                let task = Task::new();
                let mut context = Context::from_waker(task.waker());
                if let Poll::Ready(received) = Pin::new(&mut future).poll(&mut context) {
                    assert_eq!(received, Ok(expected));
                    expected += 1;
                }
            }
            for number in expected..2 {
                assert_eq!(receiver.recv(), Ok(number));
            }
        });
        receives.join().unwrap();
        drop(sends.join().unwrap());
    });
}

/// A sender that awaits room for a permit, against the receive that makes it.
#[test]
fn loom_an_awaiting_sender_reserves() {
    model(2, || {
        let (sender, receiver) = spsc::bounded(1);
        let sends = thread::spawn(move || {
            let mut sender = sender;
            sender.send(1).unwrap();
            let mut future = sender.reserve_async();
            let permit = Task::new()
                .run(|waker| Pin::new(&mut future).poll(&mut Context::from_waker(waker)));
            permit.unwrap().send(2).unwrap();
        });
        let receives = thread::spawn(move || {
            assert_eq!(receiver.recv(), Ok(1));
            receiver
        });
        sends.join().unwrap();
        let receiver = receives.join().unwrap();
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

/// Room that a permit keeps is found by nobody else, and the permit's message is received or comes back.
#[test]
fn loom_a_permit_against_close() {
    model(3, || {
        let (sender, receiver) = spsc::bounded(1);
        let sends = thread::spawn(move || {
            let Ok(permit) = sender.reserve() else {
                return 0;
            };
            assert!(sender.try_send(Box::new(0)).is_err());
            usize::from(permit.send(Box::new(1)).is_ok())
        });
        let receives = thread::spawn(move || {
            receiver.close();
            let received = receiver.try_iter().count();
            (received, receiver)
        });
        let accepted = sends.join().unwrap();
        let (received, receiver) = receives.join().unwrap();
        assert_eq!(received + receiver.try_iter().count(), accepted);
    });
}

/// Senders that go look for lanes without a use while the receiver fetches them. What was sent is received.
#[test]
fn loom_senders_that_go_meet_the_receiver() {
    model(2, || {
        let (sender, receiver) = mpsc::unbounded();
        let one = sender.clone();
        let other = sender.clone();
        drop(sender);
        let sends = thread::spawn(move || {
            one.send(Box::new(1)).unwrap();
            drop(one);
            drop(other);
        });
        assert_eq!(receiver.recv().map(|number| *number), Ok(1));
        assert!(receiver.recv().is_err());
        sends.join().unwrap();
    });
}
