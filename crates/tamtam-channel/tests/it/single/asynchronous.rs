use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_channel::{RecvTimeoutError, SendTimeoutError, Wait, mpsc, spsc};

use super::{assert_send, block_on, for_each_kind};
use crate::support::{LONG, SHORT, thread_number, until_asleep, within_limit};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

for_each_kind! {
    fn blocking_and_awaiting_ends_mix(open) {
        let (mut sender, receiver) = open!(3);
        let sends = thread::spawn(move || {
            block_on(async {
                for number in 0..5000 {
                    sender.send_async(number).await.unwrap();
                }
            });
        });
        for number in 0..5000 {
            assert_eq!(receiver.recv(), Ok(number));
        }
        sends.join().unwrap();
        let (sender, mut receiver) = open!(3);
        let sends = thread::spawn(move || (0..5000).for_each(|number| sender.send(number).unwrap()));
        block_on(async {
            for number in 0..5000 {
                assert_eq!(receiver.recv_async().await, Ok(number));
            }
            assert!(receiver.recv_async().await.is_err());
        });
        sends.join().unwrap();
    }

    fn futures_may_be_sent_to_other_threads(open) {
        let (mut sender, mut receiver) = open!(3);
        assert_send(&sender.send_async(Box::new(1)));
        assert_send(&receiver.recv_async());
        assert_send(&receiver.recv_timeout_async(Duration::ZERO));
    }

    fn a_blocking_receive_in_vain_leaves_a_message_to_the_task_that_waits(open) {
        let (sender, receiver) = open!(1);
        let mut stream = receiver.with_wait(Wait::Park).into_stream();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        for received in 0..3 {
            assert!(stream.poll_next(&mut context).is_pending());
            let timed_out = stream.receiver().recv_timeout(SHORT);
            assert_eq!(timed_out, Err(RecvTimeoutError::Timeout));
            sender.send(received).unwrap();
            // Before the message or at it.
            assert_eq!(count.0.swap(0, Ordering::SeqCst), 1);
            assert_eq!(stream.poll_next(&mut context), Poll::Ready(Some(received)));
        }
    }

    fn one_message_wakes_the_task_once(open) {
        let (sender, mut receiver) = open!(10);
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        let mut future = Box::pin(receiver.recv_async());
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(count.0.load(Ordering::SeqCst), 0);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(1)));
        drop(future);
        // Nobody waits, nobody is woken; and a cancelled receive takes nothing.
        let mut future = Box::pin(receiver.recv_async());
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(Ok(2)));
        drop(future);
        let mut future = Box::pin(receiver.recv_async());
        assert!(future.as_mut().poll(&mut context).is_pending());
        sender.send(3).unwrap();
        drop(future);
        assert_eq!(receiver.try_recv(), Ok(3));
    }

    fn an_awaited_timeout_needs_no_runtime(open) {
        let (sender, mut receiver) = open!(1);
        let start = Instant::now();
        let patience = Duration::from_millis(10);
        assert_eq!(
            block_on(receiver.recv_timeout_async(patience)),
            Err(RecvTimeoutError::Timeout)
        );
        assert!(start.elapsed() >= patience);
        sender.send(1).unwrap();
        assert_eq!(block_on(receiver.recv_timeout_async(patience)), Ok(1));
        drop(sender);
        assert_eq!(
            block_on(receiver.recv_timeout_async(patience)),
            Err(RecvTimeoutError::Disconnected)
        );
    }

    fn a_stream_ends_with_the_senders(open) {
        let (sender, receiver) = open!(3);
        let sends = thread::spawn(move || (0..1000).for_each(|number| sender.send(number).unwrap()));
        let mut stream = receiver.into_stream();
        let sum = block_on(async {
            let mut sum = 0;
            while let Some(number) = std::future::poll_fn(|context| stream.poll_next(context)).await {
                sum += number;
            }
            sum
        });
        assert_eq!(sum, 499_500);
        sends.join().unwrap();
    }
}

fn leak_a_wait<F: Future + Unpin>(mut future: F) {
    let mut context = Context::from_waker(Waker::noop());
    let polled = std::pin::Pin::new(&mut future).poll(&mut context);
    assert!(polled.is_pending());
    std::mem::forget(future);
}

/// A future that is leaked while it waits stays in its place; whoever has the end goes on all the same.
#[test]
fn a_leaked_future_does_not_keep_its_end_from_waiting() {
    let (sender, mut receiver) = mpsc::unbounded();
    for number in 0..4 {
        leak_a_wait(receiver.recv_async());
        let sender = sender.clone();
        let sends = thread::spawn(move || sender.send(number).unwrap());
        let received = if number % 2 == 0 {
            receiver.recv()
        } else {
            block_on(receiver.recv_async())
        };
        assert_eq!(received, Ok(number));
        sends.join().unwrap();
    }
}

/// With a deadline it stands in the queue, before the next wait of its end.
#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_leaked_receive_with_a_deadline_does_not_keep_its_end_from_waiting() {
    within_limit(|| {
        let (sender, mut receiver) = mpsc::unbounded();
        let waiting = [thread_number()];
        for number in 0..4 {
            leak_a_wait(receiver.recv_timeout_async(LONG));
            let sender = sender.clone();
            let sends = thread::spawn(move || {
                until_asleep(&waiting);
                sender.send(number).unwrap();
            });
            let received = if number % 2 == 0 {
                receiver.recv()
            } else {
                block_on(receiver.recv_async())
            };
            assert_eq!(received, Ok(number));
            sends.join().unwrap();
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_leaked_send_with_a_deadline_does_not_keep_its_end_from_waiting() {
    within_limit(|| {
        let (mut sender, mut receiver) = spsc::bounded(1);
        sender.send(0).unwrap();
        let waiting = [thread_number()];
        for number in 1..5 {
            leak_a_wait(sender.send_timeout_async(100, LONG));
            let receives = thread::spawn(move || {
                until_asleep(&waiting);
                assert_eq!(receiver.recv(), Ok(number - 1));
                receiver
            });
            if number % 2 == 0 {
                sender.send(number).unwrap();
            } else {
                block_on(sender.send_async(number)).unwrap();
            }
            receiver = receives.join().unwrap();
        }
    });
}

#[test]
fn a_cancelled_send_gives_its_message_back() {
    let (mut sender, receiver) = spsc::bounded(1);
    sender.send(1).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut future = sender.send_async(2);
    assert!(
        std::pin::Pin::new(&mut future)
            .poll(&mut context)
            .is_pending()
    );
    assert_eq!(future.into_inner(), Some(2));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn an_awaiting_receiver_hears_of_a_lane_opened_later() {
    let (sender, mut receiver) = mpsc::unbounded();
    let sends = thread::spawn(move || {
        for number in 0..500 {
            sender.clone().send(number).unwrap();
        }
    });
    let mut sum = 0;
    block_on(async {
        while let Ok(number) = receiver.recv_async().await {
            sum += number;
        }
    });
    assert_eq!(sum, 124_750);
    sends.join().unwrap();
}

#[test]
fn a_blocking_send_in_vain_leaves_room_to_the_task_that_waits() {
    within_limit(|| {
        let (sender, receiver) = spsc::bounded(1);
        let mut sink = sender.with_wait(Wait::Park).into_sink();
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut context = Context::from_waker(&waker);
        sink.start_send(1).unwrap();
        sink.start_send(2).unwrap();
        assert!(sink.poll_flush(&mut context).is_pending());
        let timed_out = sink.sender().send_timeout(3, SHORT);
        assert_eq!(timed_out, Err(SendTimeoutError::Timeout(3)));
        assert_eq!(receiver.recv(), Ok(1));
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert_eq!(sink.poll_flush(&mut context), Poll::Ready(Ok(())));
        assert_eq!(receiver.recv(), Ok(2));
    });
}
