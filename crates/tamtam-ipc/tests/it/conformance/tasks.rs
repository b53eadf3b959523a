//! Verbs as tasks.

use std::future::Future;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures::executor::block_on;
use futures::future::join;
use tamtam_channel::{RecvError, SendError, TryRecvError};

use super::Kind;
use super::verbs::fill;
use crate::other::{Other, half};

const MESSAGES: u64 = 2_000;

pub(super) fn tasks_of_two_processes_send_and_receive<K: Kind>(path: &str) {
    if let Some(memory) = half("receives") {
        let mut receiver = K::receiver(memory);
        return block_on(async {
            for number in 0..MESSAGES {
                assert_eq!(K::recv_async(&mut receiver).await, Ok(number));
            }
            assert_eq!(K::recv_async(&mut receiver).await, Err(RecvError));
        });
    }
    let (sender, receiver) = K::channel();
    let memory = K::hand_over(receiver);
    let other = Other::start(path, "receives", memory.as_fd());
    drop(memory);
    block_on(async {
        for number in 0..MESSAGES {
            K::send_async(&sender, number).await.unwrap();
        }
    });
    drop(sender);
    other.ends_well();
}

fn poll<R>(task: &mut Pin<Box<dyn Future<Output = R> + Send + '_>>) -> Poll<R> {
    task.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

pub(super) fn a_dropped_future_has_taken_and_sent_nothing<K: Kind>(_: &str) {
    let (sender, mut receiver) = K::channel();
    for number in 0..50 {
        let mut receiving = K::recv_async(&mut receiver);
        assert_eq!(poll(&mut receiving), Poll::Pending);
        K::send(&sender, number).unwrap();
        drop(receiving);
        assert_eq!(K::try_recv(&receiver), Ok(number));
    }
    let room = fill::<K>(&sender);
    for number in 0..50 {
        let mut sending = K::send_async(&sender, 1_000 + number);
        assert_eq!(poll(&mut sending), Poll::Pending);
        drop(sending);
    }
    // Nor one for which there was room meanwhile.
    let mut sending = K::send_async(&sender, 2_000);
    assert_eq!(poll(&mut sending), Poll::Pending);
    assert_eq!(K::recv(&receiver), Ok(0));
    drop(sending);
    for number in 1..room {
        assert_eq!(K::recv(&receiver), Ok(number));
    }
    assert_eq!(K::try_recv(&receiver), Err(TryRecvError::Empty));
}

pub(super) fn a_task_is_woken_by_a_message_by_room_and_by_the_end<K: Kind>(_: &str) {
    let (sender, mut receiver) = K::channel();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| block_on(K::recv_async(&mut receiver)));
        K::send(&sender, 3).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(3));
    });
    let room = fill::<K>(&sender);
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| block_on(K::send_async(&sender, room)));
        for number in 0..=room {
            assert_eq!(K::recv(&receiver), Ok(number));
        }
        waiting.join().unwrap().unwrap();
    });
    fill::<K>(&sender);
    let other = sender.clone();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| block_on(K::send_async(&sender, 7)));
        drop(receiver);
        assert_eq!(waiting.join().unwrap(), Err(SendError(7)));
    });
    drop((sender, other));
    let (sender, mut receiver) = K::channel();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| block_on(K::recv_async(&mut receiver)));
        drop(sender);
        assert_eq!(waiting.join().unwrap(), Err(RecvError));
    });
    // Both at once, by one thread.
    let (sender, mut receiver) = K::channel();
    let sent = async {
        for number in 0..MESSAGES {
            K::send_async(&sender, number).await.unwrap();
        }
    };
    let received = async {
        for number in 0..MESSAGES {
            assert_eq!(K::recv_async(&mut receiver).await, Ok(number));
        }
    };
    block_on(join(sent, received));
}
