//! Calls in any order, beside a queue that says what each of them is to do.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tamtam_channel::{RecvError, RecvTimeoutError, SendTimeoutError, TryRecvError, TrySendError};

use super::Kind;
use super::kinds::CAPACITY;
use super::verbs::fill;
use crate::other::Numbers;

const CALLS: usize = 3_000;

pub(super) fn any_calls_do_what_a_queue_does<K: Kind>(_: &str) {
    let (sender, mut receiver) = K::channel();
    let room = fill::<K>(&sender) as usize;
    let mut queue: VecDeque<u64> = (0..room as u64).collect();
    let mut senders = vec![sender];
    let mut random = Numbers(0x9E37_79B9_7F4A_7C15);
    // Where it is bounded by the system, a run of one kind of calls goes from one end to the other.
    let run = (room / CAPACITY) as u64;
    let (mut choice, mut left) = (0, 0);
    let none = Duration::ZERO;
    for number in 0..CALLS as u64 {
        if left == 0 {
            choice = random.below(12);
            left = 1 + random.below(2 * run);
        }
        left -= 1;
        let sender = &senders[random.below(senders.len() as u64) as usize];
        let is_full = queue.len() == room;
        match choice {
            0 => {
                let full = Err(TrySendError::Full(number));
                let expected = if is_full { full } else { Ok(()) };
                assert_eq!(K::try_send(sender, number), expected);
            }
            1 | 2 => {
                let sent = if choice == 1 {
                    K::send_timeout(sender, number, none)
                } else {
                    K::send_deadline(sender, number, Instant::now())
                };
                let late = Err(SendTimeoutError::Timeout(number));
                assert_eq!(sent, if is_full { late } else { Ok(()) });
            }
            3 => {
                let mut task = K::send_async(sender, number);
                let sent = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                let done = Poll::Ready(Ok(()));
                assert_eq!(sent, if is_full { Poll::Pending } else { done });
            }
            4 => {
                let received = K::try_recv(&receiver);
                assert_eq!(received, queue.pop_front().ok_or(TryRecvError::Empty));
            }
            5 | 6 => {
                let received = if choice == 5 {
                    K::recv_timeout(&receiver, none)
                } else {
                    K::recv_deadline(&receiver, Instant::now())
                };
                let late = RecvTimeoutError::Timeout;
                assert_eq!(received, queue.pop_front().ok_or(late));
            }
            7 => {
                let mut task = K::recv_async(&mut receiver);
                let received = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                drop(task);
                let expected = queue.pop_front();
                assert_eq!(
                    received,
                    expected.map_or(Poll::Pending, |it| Poll::Ready(Ok(it)))
                );
            }
            8 => {
                // As many as there is room for.
                let count = random.below(1 + (room - queue.len()) as u64);
                let mut numbers = (0..count).map(|more| number + more);
                if let Some(sent) = K::send_many(sender, &mut numbers) {
                    assert_eq!(sent, Ok(count as usize));
                    queue.extend((0..count).map(|more| number + more));
                }
            }
            9 => {
                let limit = random.below(2 + room as u64) as usize;
                let mut numbers = Vec::new();
                if let Some(received) = K::try_recv_many(&receiver, &mut numbers, limit) {
                    let count = limit.min(queue.len());
                    let is_empty = limit > 0 && count == 0;
                    let empty = Err(TryRecvError::Empty);
                    assert_eq!(received, if is_empty { empty } else { Ok(count) });
                    assert!(numbers.into_iter().eq(queue.drain(..count)));
                }
            }
            10 => {
                let clone = sender.clone();
                senders.push(clone);
            }
            _ => {
                if senders.len() > 1 {
                    senders.pop();
                }
            }
        }
        if choice <= 3 && !is_full {
            queue.push_back(number);
        }
        assert_eq!(K::len(&receiver), queue.len());
        if number % 64 == 0 {
            let sender = &senders[0];
            assert!(!K::is_closed(sender));
            assert_eq!(K::has_room_within(sender, none), queue.len() < room);
            assert_eq!(
                K::has_message_within(&mut receiver, none),
                !queue.is_empty()
            );
        }
    }
    drop(senders);
    for number in queue {
        assert_eq!(K::recv(&receiver), Ok(number));
    }
    assert_eq!(K::recv(&receiver), Err(RecvError));
}
