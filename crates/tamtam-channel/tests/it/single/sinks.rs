//! Streams, sinks, and what is awaited with a deadline.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{RecvTimeoutError, SendError, SendTimeoutError, spsc};

use super::{assert_send, block_on, counter, for_each_kind};

const LONG: Duration = Duration::from_secs(60);

for_each_kind! {
    fn a_borrowed_stream_leaves_its_receiver(open) {
        let (sender, mut receiver) = open!(10);
        sender.send_many(0..5).unwrap();
        for number in 0..3 {
            let mut stream = receiver.stream();
            assert_send(&stream);
            assert_eq!(block_on(poll_fn(|context| stream.poll_next(context))), Some(number));
            assert_eq!(stream.receiver().len(), 4 - number);
        }
        assert!(receiver.try_iter().eq(3..5));
        let mut context = Context::from_waker(Waker::noop());
        let mut stream = receiver.stream();
        assert!(stream.poll_next(&mut context).is_pending());
        drop(sender);
        assert_eq!(stream.poll_next(&mut context), Poll::Ready(None));
        assert_eq!(stream.poll_next(&mut context), Poll::Ready(None));
        drop(stream);
        assert!(receiver.recv().is_err());
    }

    fn a_sink_sends_what_a_stream_brings(open) {
        let (mut sender, receiver) = open!(3);
        let receives = thread::spawn(move || {
            let mut stream = receiver.into_stream();
            let mut expected = 0;
            while let Some(number) = block_on(poll_fn(|context| stream.poll_next(context))) {
                assert_eq!(number, expected);
                expected += 1;
            }
            expected
        });
        let mut sink = sender.sink();
        assert_send(&sink);
        block_on(async {
            for number in 0..2_000 {
                poll_fn(|context| sink.poll_ready(context)).await.unwrap();
                sink.start_send(number).unwrap();
            }
            poll_fn(|context| sink.poll_flush(context)).await.unwrap();
        });
        assert_eq!(format!("{sink:?}"), "SendSink { .. }");
        drop(sink);
        sender.send(2_000).unwrap();
        let mut sink = sender.into_sink();
        sink.start_send(2_001).unwrap();
        assert!(!sink.sender().is_closed());
        block_on(poll_fn(|context| sink.poll_flush(context))).unwrap();
        drop(sink);
        assert_eq!(receives.join().unwrap(), 2_002);
    }

    fn a_sink_of_a_closed_channel_gives_its_message_back(open) {
        let (mut sender, receiver) = open!(1);
        drop(receiver);
        let mut sink = sender.sink();
        assert_eq!(sink.start_send(1), Err(SendError(1)));
        assert_eq!(block_on(poll_fn(|context| sink.poll_ready(context))), Ok(()));
    }

    fn a_deadline_is_awaited_at_both_ends(open) {
        let (mut sender, mut receiver) = open!(2);
        let soon = Instant::now() + Duration::from_millis(5);
        assert_eq!(
            block_on(receiver.recv_deadline_async(soon)),
            Err(RecvTimeoutError::Timeout)
        );
        assert!(Instant::now() >= soon);
        assert_eq!(block_on(sender.send_timeout_async(1, LONG)), Ok(()));
        assert_eq!(block_on(sender.send_deadline_async(2, Instant::now() + LONG)), Ok(()));
        let receives = thread::spawn(move || {
            for number in 1..=3 {
                let later = Instant::now() + LONG;
                assert_eq!(block_on(receiver.recv_deadline_async(later)), Ok(number));
            }
        });
        assert_eq!(block_on(sender.send_timeout_async(3, LONG)), Ok(()));
        receives.join().unwrap();
        assert_eq!(
            block_on(sender.send_timeout_async(4, LONG)),
            Err(SendTimeoutError::Disconnected(4))
        );
    }
}

#[test]
fn a_send_that_runs_out_of_time_gives_its_message_back() {
    let (mut sender, receiver) = spsc::bounded(1);
    sender.send(1).unwrap();
    let soon = Instant::now() + Duration::from_millis(5);
    assert_eq!(
        block_on(sender.send_deadline_async(2, soon)),
        Err(SendTimeoutError::Timeout(2))
    );
    assert!(Instant::now() >= soon);
    assert_eq!(
        block_on(sender.send_timeout_async(2, Duration::ZERO)),
        Err(SendTimeoutError::Timeout(2))
    );
    // Cancelled while it waits, it gives the message back, too.
    let mut context = Context::from_waker(Waker::noop());
    let mut future = sender.send_timeout_async(2, LONG);
    assert!(Pin::new(&mut future).poll(&mut context).is_pending());
    assert_eq!(future.into_inner(), Some(2));
    assert!(receiver.try_iter().eq([1]));
}

#[test]
fn an_unsent_message_goes_with_its_sink() {
    let (count, make) = counter();
    let (mut sender, receiver) = spsc::bounded(1);
    let mut context = Context::from_waker(Waker::noop());
    let mut sink = sender.sink();
    sink.start_send(make()).ok().unwrap();
    sink.start_send(make()).ok().unwrap();
    assert!(sink.poll_flush(&mut context).is_pending());
    drop(sink);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    drop(receiver.recv());
    let mut sink = sender.sink();
    sink.start_send(make()).ok().unwrap();
    sink.start_send(make()).ok().unwrap();
    assert!(sink.poll_ready(&mut context).is_pending());
    receiver.close();
    let Poll::Ready(Err(SendError(unsent))) = sink.poll_flush(&mut context) else {
        panic!("the channel is closed");
    };
    assert_eq!(count.load(Ordering::SeqCst), 2);
    drop((unsent, sink));
    drop((sender, receiver));
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

#[cfg(feature = "futures")]
#[test]
fn the_traits_forward_a_stream_into_a_sink() {
    use futures::{SinkExt, StreamExt};
    use tamtam_channel::mpsc;

    let (sender, mut receiver) = mpsc::bounded(2);
    let other = sender.clone();
    let sends = thread::spawn(move || {
        let numbers = futures::stream::iter(0..100).map(Ok);
        block_on(numbers.forward(sender.into_sink())).unwrap();
        let mut other = other;
        block_on(other.sink().send(100)).unwrap();
    });
    let sum: i32 = block_on(receiver.stream().fold(0, async |sum, number| sum + number));
    assert_eq!(sum, 5_050);
    sends.join().unwrap();
    assert!(receiver.is_closed());
}
