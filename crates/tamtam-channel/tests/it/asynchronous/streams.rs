//! Receivers as streams and senders as sinks, with the combinators that programs use.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::executor::block_on;
use futures::future::{Either, join, join_all, select};
use futures::stream::{FusedStream, FuturesUnordered};
use futures::{FutureExt, Sink, SinkExt, Stream, StreamExt};

use crate::asynchronous::executor::{Executor, task};
use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Drops, Flavour, for_every_flavour};

for_every_flavour!(
    a_stream_forwards_into_a_sink,
    many_streams_share_a_channel,
    a_stream_ends_once_and_for_all,
    a_stream_yields_no_fewer_than_its_hint_beside_another_receiver,
    a_sink_reports_the_end,
    the_future_of_a_next_message_may_be_dropped,
    a_select_of_two_futures_loses_nothing,
);

fn a_stream_forwards_into_a_sink(flavour: Flavour) {
    for executor in Executor::ALL {
        let ((sender, receiver), (onwards, arrived)) = (flavour.pair(), flavour.pair());
        let makes = task(async move {
            let mut numbers = futures::stream::iter(0..300).map(Ok);
            sender.into_sink().send_all(&mut numbers).await.unwrap();
        });
        let forwards = task(async move {
            let doubled = receiver.into_stream().map(|number| Ok(number * 2));
            doubled.forward(onwards.into_sink()).await.unwrap();
        });
        let takes = task(async move {
            let all: Vec<i32> = arrived.stream().collect().await;
            assert_eq!(all, (0..300).map(|number| number * 2).collect::<Vec<_>>());
        });
        executor.run(vec![makes, forwards, takes]);
    }
}

fn many_streams_share_a_channel(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let sends = async move {
        for number in 0..300 {
            sender.send_async(number).await.unwrap();
        }
    };
    let streams = (0..3).map(|_| receiver.stream().collect::<Vec<i32>>());
    let ((), parts) = block_on(join(sends, join_all(streams)));
    let mut all: Vec<_> = parts.concat();
    all.sort_unstable();
    assert_eq!(all, (0..300).collect::<Vec<_>>());
}

fn a_stream_ends_once_and_for_all(flavour: Flavour) {
    let (sender, receiver) = flavour.pair::<u8>();
    let mut stream = receiver.into_stream();
    let hand = Hand::new();
    hand.pends(&mut stream.next());
    assert!(!stream.is_terminated());
    drop(sender);
    // The future of its next message is gone, but the stream itself still waits.
    assert_eq!(hand.wakes(), 1);
    for _ in 0..3 {
        assert_eq!(hand.ready(&mut stream.next()), None);
        assert!(stream.is_terminated());
        assert_eq!(stream.size_hint(), (0, None));
    }
}

/// What another receiver takes is no more to come.
fn a_stream_yields_no_fewer_than_its_hint_beside_another_receiver(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let other = receiver.clone();
    let stream = receiver.into_stream();
    if !flavour.is_rendezvous() {
        (0..flavour.room()).for_each(|number| sender.send(number).unwrap());
    }
    let (least, most) = stream.size_hint();
    while other.try_recv().is_ok() {}
    drop(sender);
    let count = block_on(stream.count());
    assert!(least <= count && most.is_none_or(|most| count <= most));
}

fn a_sink_reports_the_end(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let mut sink = sender.sink();
    let hand = Hand::new();
    for number in 0..flavour.room() {
        hand.ready(&mut sink.send(number)).unwrap();
    }
    if flavour != Flavour::Unbounded {
        // One more than there is room for.
        hand.pends(&mut sink.send(1_000));
        drop(receiver);
        let refused = hand.ready(&mut SinkExt::<usize>::flush(&mut sink));
        assert_eq!(refused.unwrap_err().into_inner(), 1_000);
    } else {
        drop(receiver);
    }
    let refused = hand.ready(&mut sink.send(1_001));
    assert_eq!(refused.unwrap_err().into_inner(), 1_001);
    assert!(hand.ready(&mut SinkExt::<usize>::close(&mut sink)).is_ok());
}

/// `stream.next()` borrows the stream: dropping it keeps the stream's place in the line.
fn the_future_of_a_next_message_may_be_dropped(flavour: Flavour) {
    let (sender, receiver) = flavour.pair();
    let mut stream = receiver.stream();
    let hands = Hand::several::<2>();
    for hand in &hands {
        for _ in 0..3 {
            hand.pends(&mut stream.next());
        }
    }
    let mut send = sender.send_async(1);
    let sent = Hand::new().poll(&mut send).is_ready();
    assert_eq!(sent, !flavour.is_rendezvous());
    assert_eq!(wakes(&hands), [0, 1]);
    assert_eq!(hands[0].ready(&mut stream.next()), Some(1));
}

/// What the loser of a race would have received is still there for the next one.
fn a_select_of_two_futures_loses_nothing(flavour: Flavour) {
    for executor in Executor::ALL {
        let ((left_sender, left), (right_sender, right)) = (flavour.pair(), flavour.pair());
        let sends = [left_sender, right_sender].map(|sender| {
            task(async move {
                for number in 0..200 {
                    sender.send_async(number).await.unwrap();
                }
            })
        });
        let selects = task(async move {
            let mut next = [0; 2];
            while next != [200, 200] {
                match select(left.recv_async(), right.recv_async()).await {
                    // A channel that has ended is ready at once, for ever.
                    Either::Left((Err(_), other)) => {
                        if let Ok(number) = other.await {
                            assert_eq!(number, next[1]);
                            next[1] += 1;
                        }
                    }
                    Either::Right((Err(_), other)) => {
                        if let Ok(number) = other.await {
                            assert_eq!(number, next[0]);
                            next[0] += 1;
                        }
                    }
                    Either::Left((Ok(number), _)) => {
                        assert_eq!(number, next[0]);
                        next[0] += 1;
                    }
                    Either::Right((Ok(number), _)) => {
                        assert_eq!(number, next[1]);
                        next[1] += 1;
                    }
                }
            }
        });
        executor.run(sends.into_iter().chain([selects]).collect());
    }
}

/// A stream of futures, each of which is polled in any order and some of which are dropped before their end.
#[test]
fn unordered_futures_are_dropped_once() {
    let drops = Drops::default();
    let (sender, receiver) = Flavour::Bounded(3).pair();
    for _ in 0..3 {
        sender.send(drops.token()).unwrap();
    }
    let mut sends: FuturesUnordered<_> = (0..10)
        .map(|_| sender.send_async(drops.token()).boxed_local())
        .collect();
    assert!(sends.next().now_or_never().is_none());
    for _ in 0..5 {
        assert!(receiver.try_recv().is_ok());
        assert!(sends.next().now_or_never().is_some());
    }
    assert_eq!((drops.count(), sends.len()), (5, 5));
    drop(sends);
    assert_eq!(drops.count(), 10);
    assert_eq!(receiver.try_iter().count(), 3);
    assert_eq!(drops.count(), 13);
}

/// A message that was started and not flushed is dropped with the sink, unsent.
#[test]
fn a_sink_drops_what_it_did_not_send() {
    for capacity in [0, 1] {
        let drops = Drops::default();
        let (sender, receiver) = Flavour::Bounded(capacity).pair();
        let mut sink = sender.sink();
        for _ in 0..capacity {
            sink.start_send(drops.token()).unwrap();
        }
        sink.start_send(drops.token()).unwrap();
        let mut context = Context::from_waker(std::task::Waker::noop());
        let pinned = Pin::new(&mut sink);
        assert!(matches!(
            Sink::poll_ready(pinned, &mut context),
            Poll::Pending
        ));
        drop(sink);
        assert_eq!(drops.count(), 1);
        assert_eq!(receiver.try_iter().count(), capacity);
    }
}

#[test]
#[should_panic(expected = "not ready")]
fn a_sink_that_was_not_asked_panics() {
    let (sender, _receiver) = Flavour::Bounded(1).pair();
    let mut sink = sender.sink();
    for number in 0..3 {
        sink.start_send(number).unwrap();
    }
}
