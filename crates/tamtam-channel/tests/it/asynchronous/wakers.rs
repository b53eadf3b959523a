//! Wakers that misbehave, and tasks that do: nobody else is harmed.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, mpsc};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{self, LocalKey};
use std::time::Duration;

use tamtam_channel::broadcast::{self, Lag};
use tamtam_channel::mpsc as lanes;
use tamtam_channel::{Event, Select, SendTimeoutError, Slot, TryRecvError, bounded, unbounded};

use crate::asynchronous::hand::{Hand, wakes};
use crate::support::{Flavour, LONG, SHORT, thread_number, until_asleep, within_limit};

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// A waker that panics when it is woken.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics on purpose");
    }
}

fn panics() -> Waker {
    Waker::from(Arc::new(Panics))
}

/// A waker that does what it is told when it is woken.
struct Acts<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Acts<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn acts(act: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(Acts(act)))
}

thread_local! {
    /// Set while wakers of this thread are to panic when they are cloned, or dropped.
    static CLONING_PANICS: Cell<bool> = const { Cell::new(false) };
    static DROPPING_PANICS: Cell<bool> = const { Cell::new(false) };
    /// Done when the next waker of this thread is cloned, or dropped.
    static AT_CLONING: Cell<Option<Act>> = const { Cell::new(None) };
    static AT_DROPPING: Cell<Option<Act>> = const { Cell::new(None) };
}

type Act = Box<dyn FnOnce()>;

fn act_at(what: &'static LocalKey<Cell<Option<Act>>>, act: impl FnOnce() + 'static) {
    what.set(Some(Box::new(act)));
}

/// As [`act_at`]: what `look` saw then, if it came back. In the drop of a waker a panic of it ends there.
fn seen_at<R: 'static>(
    what: &'static LocalKey<Cell<Option<Act>>>,
    look: impl FnOnce() -> R + 'static,
) -> Rc<Cell<Option<R>>> {
    let seen = Rc::new(Cell::new(None));
    let same = Rc::clone(&seen);
    act_at(what, move || same.set(Some(look())));
    seen
}

fn act_now(what: &'static LocalKey<Cell<Option<Act>>>) {
    if let Some(act) = what.take() {
        act();
    }
}

/// What is behind a [`fragile`] waker; how many of them there are is counted.
struct Fragile {
    wakes: AtomicUsize,
}

const FRAGILE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

unsafe fn clone(data: *const ()) -> RawWaker {
    assert!(!CLONING_PANICS.get(), "a clone panics on purpose");
    act_now(&AT_CLONING);
    // SAFETY: the pointer is from `Arc::into_raw` and its share is not given up here.
    unsafe { Arc::increment_strong_count(data.cast::<Fragile>()) };
    RawWaker::new(data, &FRAGILE)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: a waker that is woken by value gives its share up.
    let fragile = unsafe { Arc::from_raw(data.cast::<Fragile>()) };
    fragile.wakes.fetch_add(1, Ordering::SeqCst);
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: the waker's share keeps it alive.
    let fragile = unsafe { &*data.cast::<Fragile>() };
    fragile.wakes.fetch_add(1, Ordering::SeqCst);
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: a waker that is dropped gives its share up.
    drop(unsafe { Arc::from_raw(data.cast::<Fragile>()) });
    act_now(&AT_DROPPING);
    assert!(!DROPPING_PANICS.get(), "a drop panics on purpose");
}

fn fragile() -> (Waker, Arc<Fragile>) {
    let fragile = Arc::new(Fragile {
        wakes: AtomicUsize::new(0),
    });
    let data = Arc::into_raw(Arc::clone(&fragile)).cast();
    // SAFETY: the functions of the table keep to the rules of wakers.
    (unsafe { Waker::new(data, &FRAGILE) }, fragile)
}

fn with<R>(switch: &'static LocalKey<Cell<bool>>, act: impl FnOnce() -> R) -> Option<R> {
    switch.set(true);
    let result = catch_unwind(AssertUnwindSafe(act));
    switch.set(false);
    result.ok()
}

/// The task begins to wait, and the event is set and reset before it stands in the list.
#[test]
fn a_manual_event_that_is_reset_at_once_lets_a_task_pass_that_begins_to_wait() {
    static EVENT: LazyLock<Event> = LazyLock::new(Event::manual);
    let event: &'static Event = &EVENT;
    let (waker, _) = fragile();
    let hand = Hand::new();
    let pulsed_by_cloning = || {
        act_at(&AT_CLONING, move || {
            event.set();
            event.reset();
        });
    };
    pulsed_by_cloning();
    assert!(poll(&mut event.wait_async(), &waker).is_ready());
    pulsed_by_cloning();
    assert!(poll(&mut event.wait_timeout_async(LONG), &waker).is_ready());
    assert!(!event.is_set());
    hand.pends(&mut event.wait_async());
}

const QUEUES: [Flavour; 3] = [Flavour::Bounded(1), Flavour::Bounded(3), Flavour::Unbounded];

#[test]
fn a_receivers_waker_that_panics_does_not_stop_the_sender() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        // Alone, and in line.
        let (mut first, mut second) = (receiver.recv_async(), receiver.recv_async());
        let mut third = receiver.recv_async();
        let waker = panics();
        assert!(poll(&mut first, &waker).is_pending());
        assert!(poll(&mut second, &waker).is_pending());
        hand.pends(&mut third);
        sender.send(1).unwrap();
        assert_eq!(poll(&mut first, &waker), Poll::Ready(Ok(1)), "{flavour:?}");
        sender.send(2).unwrap();
        assert_eq!(poll(&mut second, &waker), Poll::Ready(Ok(2)));
        sender.send(3).unwrap();
        assert_eq!(hand.ready(&mut third), Ok(3));
    }
}

#[test]
fn a_senders_waker_that_panics_does_not_stop_the_receiver() {
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    let hand = Hand::new();
    let waker = panics();
    let (mut first, mut second) = (sender.send_async(1), sender.send_async(2));
    assert!(poll(&mut first, &waker).is_pending());
    hand.pends(&mut second);
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(poll(&mut first, &waker), Poll::Ready(Ok(())));
    assert_eq!(receiver.recv(), Ok(1));
    hand.ready(&mut second).unwrap();
    assert_eq!(receiver.recv(), Ok(2));
}

#[test]
fn wakers_that_panic_do_not_stop_slots_events_or_the_end_of_a_channel() {
    let waker = panics();
    let slot = Slot::new();
    let mut take = slot.take_async();
    assert!(poll(&mut take, &waker).is_pending());
    slot.put(1);
    let mut put = slot.put_async(2);
    assert!(poll(&mut put, &waker).is_pending());
    assert_eq!(poll(&mut take, &waker), Poll::Ready(1));
    assert_eq!(poll(&mut put, &waker), Poll::Ready(()));
    assert_eq!(slot.try_take(), Some(2));

    for event in [Event::auto(), Event::manual()] {
        let mut waits = [(); 3].map(|()| event.wait_async());
        for wait in &mut waits {
            assert!(poll(wait, &waker).is_pending());
        }
        for wait in &mut waits {
            event.set();
            assert!(poll(wait, &waker).is_ready());
        }
    }

    for flavour in Flavour::ALL {
        let (sender, receiver) = flavour.pair::<u8>();
        let mut waits = [(); 3].map(|()| receiver.recv_async());
        for wait in &mut waits {
            assert!(poll(wait, &waker).is_pending());
        }
        drop(sender);
        for wait in &mut waits {
            assert!(matches!(poll(wait, &waker), Poll::Ready(Err(_))));
        }
    }
}

/// The blocked sender's message is on its stack, and a panic must not unwind it while it is offered there.
#[test]
fn a_waker_that_panics_does_not_unwind_a_blocked_sender() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let waker = panics();
        let mut told = receiver.recv_async();
        assert!(poll(&mut told, &waker).is_pending());
        let back = sender.send_timeout(Box::new(1), SHORT).unwrap_err();
        assert_eq!(back.into_inner(), Box::new(1));
        assert!(poll(&mut told, &waker).is_pending());
        let sent = thread::scope(|scope| {
            let sending = scope.spawn(|| sender.send_timeout(Box::new(2), LONG));
            assert_eq!(receiver.recv(), Ok(Box::new(2)));
            sending.join().unwrap()
        });
        assert_eq!(sent, Ok(()));
        // The same with a task that offers.
        let giver = Hand::new();
        let mut offer = sender.send_async(Box::new(3));
        assert!(poll(&mut told, &waker).is_pending());
        giver.pends(&mut offer);
        assert_eq!(poll(&mut told, &waker), Poll::Ready(Ok(Box::new(3))));
        giver.ready(&mut offer).unwrap();
    });
}

#[test]
fn an_offers_waker_that_panics_does_not_keep_its_message() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let waker = panics();
        let mut offer = sender.send_async(1);
        assert!(poll(&mut offer, &waker).is_pending());
        assert_eq!(receiver.try_recv(), Ok(1));
        assert_eq!(poll(&mut offer, &waker), Poll::Ready(Ok(())));
        let mut offer = sender.send_async(2);
        assert!(poll(&mut offer, &waker).is_pending());
        let mut select = Select::new();
        select.recv(&receiver);
        assert_eq!(select.select().recv(&receiver), Ok(2));
        assert_eq!(poll(&mut offer, &waker), Poll::Ready(Ok(())));
        let mut offer = sender.send_async(3);
        assert!(poll(&mut offer, &waker).is_pending());
        let mut receive = receiver.recv_async();
        assert_eq!(Hand::new().ready(&mut receive), Ok(3));
        assert_eq!(offer.into_inner(), None);
    });
}

/// A waker may do anything; it does it under no lock of the channel.
#[test]
fn a_waker_may_use_the_channel_that_wakes_it() {
    within_limit(|| {
        for flavour in Flavour::ALL {
            let (sender, receiver) = flavour.pair();
            let seen = Arc::new(Mutex::new(Vec::new()));
            let waker = {
                let (sender, receiver, seen) =
                    (sender.clone(), receiver.clone(), Arc::clone(&seen));
                acts(move || {
                    // Receives, sends, waits and gives up, all from within.
                    let mut nested = receiver.recv_async();
                    if let Poll::Ready(Ok(number)) = poll(&mut nested, Waker::noop()) {
                        seen.lock().unwrap().push(number);
                    }
                    drop(nested);
                    let mut nested = sender.send_async(100);
                    if poll(&mut nested, Waker::noop()).is_ready() {
                        seen.lock().unwrap().extend(receiver.try_recv());
                    }
                })
            };
            let hand = Hand::new();
            let (mut first, mut second) = (receiver.recv_async(), receiver.recv_async());
            assert!(poll(&mut first, &waker).is_pending());
            assert!(poll(&mut second, &waker).is_pending());
            for number in [1, 2] {
                let mut send = sender.send_async(number);
                let _ = hand.poll(&mut send);
                drop(send);
            }
            // Whatever is left comes out.
            drop((first, second));
            seen.lock().unwrap().extend(receiver.try_iter());
            let mut seen = seen.lock().unwrap();
            seen.retain(|number| *number != 100);
            if flavour.room() > 1 {
                assert_eq!(*seen, [1, 2], "{flavour:?}");
            }
            // The channel keeps the last waker for the next wait; this one owns the channel.
            let _ = poll(&mut receiver.recv_async(), Waker::noop());
            drop(waker);
        }
    });
}

/// An executor that polls inside of `wake`.
#[test]
fn a_waker_may_poll_its_own_future() {
    within_limit(|| {
        for flavour in Flavour::ALL {
            let (sender, receiver) = flavour.pair();
            let received = Arc::new(Mutex::new(Vec::new()));
            type Shared = Arc<Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>>;
            let future: Shared = Arc::default();
            let inner = Arc::clone(&received);
            *future.lock().unwrap() = Some(Box::pin(async move {
                while let Ok(number) = receiver.recv_async().await {
                    inner.lock().unwrap().push(number);
                }
            }));
            let waker = {
                let future = Arc::clone(&future);
                acts(move || {
                    // Woken while it is polled: it is polled again by the one who polls.
                    if let Ok(mut future) = future.try_lock() {
                        let done = future
                            .as_mut()
                            .is_none_or(|future| poll(future, Waker::noop()).is_ready());
                        if done {
                            *future = None;
                        }
                    }
                })
            };
            let again = |waker: &Waker| {
                if let Some(future) = future.lock().unwrap().as_mut() {
                    let _ = poll(future, waker);
                }
            };
            again(&waker);
            for number in 0..10 {
                let mut send = sender.send_async(number);
                while poll(&mut send, Waker::noop()).is_pending() {}
                again(&waker);
            }
            drop(sender);
            again(&waker);
            *future.lock().unwrap() = None;
            assert_eq!(
                *received.lock().unwrap(),
                (0..10).collect::<Vec<_>>(),
                "{flavour:?}"
            );
        }
    });
}

/// A poll that panics because the waker's clone does leaves a future that can be polled on.
#[test]
fn a_clone_that_panics_does_not_lose_the_wake_up() {
    // Alone (the first) and in line (the second).
    for in_line in [false, true] {
        let (sender, receiver) = unbounded();
        let hand = Hand::new();
        let mut before = receiver.recv_async();
        if in_line {
            hand.pends(&mut before);
        }
        let (waker, watched) = fragile();
        let mut future = receiver.recv_async();
        assert!(with(&CLONING_PANICS, || poll(&mut future, &waker)).is_none());
        assert!(poll(&mut future, &waker).is_pending());
        // Another task's waker, which cannot be cloned: the task that has just been polled stays.
        let (other, other_watched) = fragile();
        assert!(with(&CLONING_PANICS, || poll(&mut future, &other)).is_none());
        if in_line {
            sender.send(0).unwrap();
            assert_eq!(hand.ready(&mut before), Ok(0));
        }
        // Whether or not it is polled on before the message comes.
        assert!(poll(&mut future, &other).is_pending());
        sender.send(1).unwrap();
        assert_eq!(watched.wakes.load(Ordering::SeqCst), 0);
        assert_eq!(other_watched.wakes.load(Ordering::SeqCst), 1);
        assert_eq!(poll(&mut future, &other), Poll::Ready(Ok(1)));
        drop((future, before));
        drop((sender, receiver, waker, other));
        assert_eq!(Arc::strong_count(&watched), 1);
        assert_eq!(Arc::strong_count(&other_watched), 1);
    }
}

/// As above for a sender's place in line and for an offer.
#[test]
fn a_clone_that_panics_does_not_lose_a_senders_wake_up() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        if capacity == 1 {
            sender.send(0).unwrap();
        }
        let (waker, _watched) = fragile();
        let (other, other_watched) = fragile();
        let mut future = sender.send_async(7);
        assert!(poll(&mut future, &waker).is_pending());
        assert!(with(&CLONING_PANICS, || poll(&mut future, &other)).is_none());
        assert!(poll(&mut future, &other).is_pending());
        if capacity == 1 {
            assert_eq!(receiver.try_recv(), Ok(0));
        } else {
            assert_eq!(receiver.try_recv(), Ok(7));
        }
        assert_eq!(other_watched.wakes.load(Ordering::SeqCst), 1);
        assert_eq!(poll(&mut future, &other), Poll::Ready(Ok(())));
    }
}

/// The message is not lost if the waker's clone panics before the send has begun.
#[test]
fn a_clone_that_panics_leaves_the_message_with_its_future() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        for _ in 0..capacity {
            sender.send(0).unwrap();
        }
        let (waker, _watched) = fragile();
        let mut future = sender.send_async(7);
        assert!(with(&CLONING_PANICS, || poll(&mut future, &waker)).is_none());
        assert_eq!(future.into_inner(), Some(7), "capacity {capacity}");
        drop(receiver);
    }
}

#[test]
fn a_drop_that_panics_does_no_harm() {
    for in_line in [false, true] {
        let (sender, receiver) = bounded(1);
        let hand = Hand::new();
        let mut before = receiver.recv_async();
        if in_line {
            hand.pends(&mut before);
        }
        let mut future = receiver.recv_async();
        let (first, first_watched) = fragile();
        let (second, second_watched) = fragile();
        assert!(poll(&mut future, &first).is_pending());
        // The first waker is replaced, and dropped.
        let _ = with(&DROPPING_PANICS, || poll(&mut future, &second));
        assert!(poll(&mut future, &second).is_pending());
        let _ = with(&DROPPING_PANICS, || drop(future));
        drop(before);
        sender.send(1).unwrap();
        assert_eq!(receiver.try_recv(), Ok(1));
        // The channel still knows who waits.
        let mut future = receiver.recv_async();
        hand.pends(&mut future);
        let woken = hand.wakes();
        sender.send(2).unwrap();
        assert_eq!(hand.wakes(), woken + 1);
        assert_eq!(hand.ready(&mut future), Ok(2));
        drop((first, second));
        let shares = [first_watched, second_watched].map(|watched| Arc::strong_count(&watched));
        assert_eq!(shares, [1, 1]);
    }
}

/// One sender of a line, and its receiver with another lane that is over, and in which the waker of its sender's task was left: the next look gives it up.
fn a_lane_that_is_over_and_keeps(
    waker: &Waker,
) -> (lanes::Sender<Box<u8>>, lanes::Receiver<Box<u8>>) {
    let (mut one, receiver) = lanes::bounded(1);
    let other = one.clone();
    other.send(Box::new(0)).unwrap();
    assert_eq!(receiver.try_recv(), Ok(Box::new(0)));
    one.send(Box::new(1)).unwrap();
    let mut second = one.send_async(Box::new(2));
    assert!(poll(&mut second, waker).is_pending());
    assert_eq!(receiver.try_recv(), Ok(Box::new(1)));
    assert_eq!(poll(&mut second, waker), Poll::Ready(Ok(())));
    drop(second);
    drop(one);
    assert_eq!(receiver.try_recv(), Ok(Box::new(2)));
    (other, receiver)
}

/// The receiver would stand in memory that is free.
#[test]
fn a_drop_that_panics_does_not_leave_a_receiver_in_a_lane_that_is_gone() {
    let (waker, watched) = fragile();
    let (other, receiver) = a_lane_that_is_over_and_keeps(&waker);
    let looked = with(&DROPPING_PANICS, || receiver.try_recv());
    assert_eq!(looked, Some(Err(TryRecvError::Empty)));
    other.send(Box::new(3)).unwrap();
    assert_eq!(receiver.try_recv(), Ok(Box::new(3)));
    drop(waker);
    assert_eq!(Arc::strong_count(&watched), 1);
    // One that is still there when its receiver goes.
    let (waker, watched) = fragile();
    let (other, receiver) = a_lane_that_is_over_and_keeps(&waker);
    assert!(with(&DROPPING_PANICS, || drop(receiver)).is_some());
    drop((other, waker));
    assert_eq!(Arc::strong_count(&watched), 1);
}

#[test]
fn a_waker_that_goes_with_its_lane_may_use_the_receiver() {
    let (waker, _watched) = fragile();
    let (other, receiver) = a_lane_that_is_over_and_keeps(&waker);
    let receiver = Rc::new(receiver);
    let same = Rc::clone(&receiver);
    let received = seen_at(&AT_DROPPING, move || {
        other.send(Box::new(3)).unwrap();
        let received = same.try_recv();
        other.send(Box::new(4)).unwrap();
        (received, other)
    });
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let (received, other) = received.take().expect("the lane was given up");
    assert_eq!(received, Ok(Box::new(3)));
    assert_eq!(receiver.try_recv(), Ok(Box::new(4)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(other);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

/// Its deadline is over before the wait has begun.
#[test]
fn a_waker_that_an_offer_drops_may_use_the_channel() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let (waker, _watched) = fragile();
        let is_closed = seen_at(&AT_DROPPING, {
            let receiver = receiver.clone();
            move || receiver.is_closed()
        });
        let mut offer = sender.send_timeout_async(1, Duration::ZERO);
        let refused = poll(&mut offer, &waker);
        assert_eq!(refused, Poll::Ready(Err(SendTimeoutError::Timeout(1))));
        assert_eq!(is_closed.take(), Some(false));
        drop(receiver);
    });
}

#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_waker_that_an_offer_drops_may_wait_for_the_receiver_that_was_met() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let (tell, told) = mpsc::channel();
        let (got, is_got) = mpsc::channel();
        let receives = thread::spawn(move || {
            tell.send(thread_number()).unwrap();
            got.send(receiver.recv()).unwrap();
        });
        until_asleep(&[told.recv().unwrap()]);
        let (waker, _watched) = fragile();
        let received = seen_at(&AT_DROPPING, move || is_got.recv());
        let mut offer = sender.send_async(1);
        assert_eq!(poll(&mut offer, &waker), Poll::Ready(Ok(())));
        assert_eq!(received.take(), Some(Ok(Ok(1))));
        receives.join().unwrap();
    });
}

/// The task is chosen while it changes its waker, so that no other thread has that.
#[test]
fn a_waker_that_is_dropped_as_a_send_ends_may_receive_the_message() {
    within_limit(|| {
        let (sender, receiver) = bounded(1);
        sender.send(1).unwrap();
        let mut send = sender.send_timeout_async(2, LONG);
        assert!(poll(&mut send, Waker::noop()).is_pending());
        let (waker, _watched) = fragile();
        let received = [&AT_CLONING, &AT_DROPPING].map(|moment| {
            let receiver = receiver.clone();
            seen_at(moment, move || receiver.try_recv())
        });
        assert_eq!(poll(&mut send, &waker), Poll::Ready(Ok(())));
        let received = received.map(|received| received.take());
        assert_eq!(received, [Some(Ok(1)), Some(Ok(2))]);
    });
}

/// As above; the one that is chosen first has the place for one task.
#[test]
fn a_waker_that_is_dropped_as_a_put_ends_may_take_the_value() {
    within_limit(|| {
        let slot = Rc::new(Slot::from(0));
        let hand = Hand::new();
        let (waker, _watched) = fragile();
        let (mut before, mut put) = (slot.put_async(10), slot.put_async(1));
        hand.pends(&mut before);
        assert!(poll(&mut put, Waker::noop()).is_pending());
        let same = Rc::clone(&slot);
        act_at(&AT_CLONING, move || {
            assert_eq!(same.try_take(), Some(0));
            same.try_put(0).unwrap();
            assert_eq!(same.try_take(), Some(0));
        });
        let same = Rc::clone(&slot);
        let taken = seen_at(&AT_DROPPING, move || same.try_take());
        assert_eq!(poll(&mut put, &waker), Poll::Ready(()));
        assert_eq!(taken.take(), Some(Some(1)));
        drop(before);
    });
}

#[test]
fn a_waker_that_is_dropped_as_a_take_ends_may_put_another_value() {
    within_limit(|| {
        let slot = Rc::new(Slot::new());
        let hand = Hand::new();
        let (waker, _watched) = fragile();
        let (mut before, mut take) = (slot.take_async(), slot.take_async());
        hand.pends(&mut before);
        assert!(poll(&mut take, Waker::noop()).is_pending());
        let same = Rc::clone(&slot);
        act_at(&AT_CLONING, move || {
            same.try_put(0).unwrap();
            assert_eq!(same.try_take(), Some(0));
            same.try_put(2).unwrap();
        });
        let same = Rc::clone(&slot);
        let put = seen_at(&AT_DROPPING, move || same.try_put(3));
        assert_eq!(poll(&mut take, &waker), Poll::Ready(2));
        assert_eq!(put.take(), Some(Ok(())));
        drop(before);
        assert_eq!(slot.try_take(), Some(3));
    });
}

/// One that gets room tells the next one of what is left: by then its own message is there.
#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_waker_that_is_told_of_room_may_receive_what_a_thread_has_sent_before() {
    type Sends = fn(tamtam_channel::Sender<i32>);
    let sends: [Sends; 2] = [
        |sender| sender.send(2).unwrap(),
        |sender| assert_eq!(sender.send_many([2]), Ok(1)),
    ];
    for send in sends {
        within_limit(move || {
            let (sender, receiver) = bounded(2);
            sender.send_many([0, 1]).unwrap();
            let (tell, told) = mpsc::channel();
            let other = sender.clone();
            let sends = thread::spawn(move || {
                tell.send(thread_number()).unwrap();
                send(other);
            });
            until_asleep(&[told.recv().unwrap()]);
            receives_when_it_is_told_of_room(&sender, &receiver, || sends.join().unwrap());
        });
    }
}

#[test]
fn a_waker_that_is_told_of_room_may_receive_what_a_task_has_sent_before() {
    within_limit(|| {
        let (sender, receiver) = bounded(2);
        sender.send_many([0, 1]).unwrap();
        let hands = Hand::several::<2>();
        let (mut idle, mut send) = (sender.send_async(100), sender.send_async(2));
        hands[0].pends(&mut idle);
        hands[1].pends(&mut send);
        receives_when_it_is_told_of_room(&sender, &receiver, || {
            hands[1].ready(&mut send).unwrap();
        });
        drop(idle);
    });
}

/// Behind others that wait for room in the full channel, of which one is told: then `finish` lets that one send.
fn receives_when_it_is_told_of_room(
    sender: &tamtam_channel::Sender<i32>,
    receiver: &tamtam_channel::Receiver<i32>,
    finish: impl FnOnce(),
) {
    let received = Arc::new(Mutex::new(Vec::new()));
    let (same, seen) = (receiver.clone(), Arc::clone(&received));
    let waker = acts(move || seen.lock().unwrap().extend(same.try_recv()));
    let mut last = sender.send_async(101);
    assert!(poll(&mut last, &waker).is_pending());
    // Both at once, so that there is room left.
    let mut buffer = Vec::new();
    assert_eq!(receiver.recv_many(&mut buffer, 2), Ok(2));
    finish();
    assert_eq!(*received.lock().unwrap(), [2]);
    drop(last);
}

/// A future that moves between tasks wakes the task that polled it last.
#[test]
fn a_future_that_moves_wakes_its_new_task() {
    for flavour in Flavour::ALL {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<4>();
        let mut future = receiver.recv_async();
        for hand in &hands {
            hand.pends(&mut future);
        }
        let giver = Hand::new();
        let mut send = sender.send_async(1);
        let _ = giver.poll(&mut send);
        assert_eq!(wakes(&hands), [0, 0, 0, 1], "{flavour:?}");
        assert_eq!(hands[0].ready(&mut future), Ok(1));
    }
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        let hands = Hand::several::<3>();
        for _ in 0..capacity {
            sender.send(0).unwrap();
        }
        let mut send = sender.send_async(0);
        for hand in &hands {
            hand.pends(&mut send);
        }
        receiver.try_recv().unwrap();
        assert_eq!(wakes(&hands), [0, 0, 1]);
        hands[1].ready(&mut send).unwrap();
    }
    for event in [Event::auto(), Event::manual()] {
        let hands = Hand::several::<3>();
        let mut wait = event.wait_async();
        for hand in &hands {
            hand.pends(&mut wait);
        }
        event.set();
        assert_eq!(wakes(&hands), [0, 0, 1]);
        hands[0].ready(&mut wait);
    }
}

/// The waker is still being called when the task is polled, gets its message, and waits again.
#[test]
fn a_wake_that_takes_long_does_not_disturb_the_next_wait() {
    within_limit(|| {
        for flavour in QUEUES {
            for in_line in [false, true] {
                let (sender, receiver) = flavour.pair();
                let (entered, leave) = (Event::auto(), Event::auto());
                let shared = Arc::new((entered, leave));
                let waker = {
                    let shared = Arc::clone(&shared);
                    acts(move || {
                        shared.0.set();
                        shared.1.wait();
                    })
                };
                let hand = Hand::new();
                let mut before = receiver.recv_async();
                if in_line {
                    hand.pends(&mut before);
                }
                let mut future = receiver.recv_async();
                assert!(poll(&mut future, &waker).is_pending());
                if in_line {
                    sender.send(0).unwrap();
                    assert_eq!(hand.ready(&mut before), Ok(0));
                }
                thread::scope(|scope| {
                    scope.spawn(|| sender.send(1).unwrap());
                    shared.0.wait();
                    // Woken in the middle of the call: polled, ready, gone, and others wait in its place.
                    assert_eq!(poll(&mut future, &waker), Poll::Ready(Ok(1)));
                    drop(future);
                    for number in 10..13 {
                        let woken = hand.wakes();
                        let mut next = receiver.recv_async();
                        hand.pends(&mut next);
                        sender.send(number).unwrap();
                        assert_eq!(hand.wakes(), woken + 1, "{flavour:?}");
                        assert_eq!(hand.ready(&mut next), Ok(number));
                    }
                    let mut next = receiver.recv_async();
                    hand.pends(&mut next);
                    let woken = hand.wakes();
                    shared.1.set();
                    sender.send(2).unwrap();
                    hand.until_woken(woken + 1);
                    assert_eq!(hand.ready(&mut next), Ok(2));
                });
            }
        }
    });
}

/// A future that is never polled again, forgotten or kept beside one that is awaited first, keeps its place in the line.
/// It may swallow one wake-up, and the next one after that makes up for it.
#[test]
fn a_receiver_that_is_not_polled_on_does_not_stop_the_others() {
    for flavour in [Flavour::Bounded(3), Flavour::Unbounded] {
        let (sender, receiver) = flavour.pair();
        let hands = Hand::several::<4>();
        let mut futures: Vec<_> = (0..4).map(|_| receiver.recv_async()).collect();
        for (hand, future) in hands.iter().zip(&mut futures) {
            hand.pends(future);
        }
        let mut last = futures.pop().unwrap();
        for number in 0..3 {
            sender.send(number).unwrap();
        }
        assert_eq!(wakes(&hands), [1, 1, 1, 0]);
        assert_eq!(receiver.recv(), Ok(0));
        sender.send(3).unwrap();
        assert_eq!(wakes(&hands), [1; 4], "{flavour:?}");
        assert_eq!(hands[3].ready(&mut last), Ok(1));
        drop(futures);
    }
}

/// Two places come free, one of them for a task that will never be polled again.
#[test]
fn a_sender_that_is_not_polled_on_does_not_stop_the_others() {
    let (sender, receiver) = bounded(3);
    for number in 0..3 {
        sender.send(number).unwrap();
    }
    let hands = Hand::several::<2>();
    let mut idle = sender.send_async(100);
    hands[0].pends(&mut idle);
    let mut waits = sender.send_async(3);
    hands[1].pends(&mut waits);
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(hands[0].wakes(), 1);
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(hands[1].wakes(), 1, "it waits for one that will never come");
    hands[1].ready(&mut waits).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
    drop(idle);
}

/// As above, in a broadcast, and with a thread that waits behind the task.
#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_sender_of_a_broadcast_that_is_not_polled_on_does_not_stop_the_others() {
    within_limit(|| {
        let (sender, receiver) = broadcast::bounded(2);
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let hand = Hand::new();
        let mut idle = sender.send_async(100);
        hand.pends(&mut idle);
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let other = sender.clone();
            let waits = scope.spawn(move || {
                tell.send(thread_number()).unwrap();
                other.send_timeout(2, LONG)
            });
            until_asleep(&[told.recv().unwrap()]);
            assert_eq!(receiver.try_recv(), Ok(0));
            assert_eq!(hand.wakes(), 1);
            assert_eq!(receiver.try_recv(), Ok(1));
            assert_eq!(waits.join().unwrap(), Ok(()));
        });
        drop(idle);
        assert_eq!(receiver.try_recv(), Ok(2));
    });
}

/// A receiver that goes, or is waited for no more, makes room for several at once, as the one that all waited for.
#[test]
#[cfg_attr(miri, ignore = "looks at /proc")]
fn a_sender_of_a_broadcast_that_is_not_polled_on_does_not_stop_the_others_when_a_slow_receiver_goes()
 {
    type Leave = fn(broadcast::Receiver<i32>) -> Option<broadcast::Receiver<i32>>;
    let goes: Leave = |slow| {
        drop(slow);
        None
    };
    let loses: Leave = |slow| Some(slow.with_lag(Lag::Lose));
    for leave in [goes, loses] {
        within_limit(move || {
            let (sender, receiver) = broadcast::bounded(2);
            let slow = sender.subscribe(Lag::Wait);
            for number in 0..2 {
                sender.send(number).unwrap();
                assert_eq!(receiver.try_recv(), Ok(number));
            }
            let hand = Hand::new();
            let mut idle = sender.send_async(100);
            hand.pends(&mut idle);
            thread::scope(|scope| {
                let (tell, told) = mpsc::channel();
                let other = sender.clone();
                let waits = scope.spawn(move || {
                    tell.send(thread_number()).unwrap();
                    other.send(2)
                });
                until_asleep(&[told.recv().unwrap()]);
                let left = leave(slow);
                assert_eq!(waits.join().unwrap(), Ok(()));
                drop(left);
            });
            assert_eq!(hand.wakes(), 1);
            drop(idle);
            assert_eq!(receiver.try_recv(), Ok(2));
        });
    }
}

/// The place of a task that is not polled on is not lost, either: whoever comes last passes on what is left.
#[test]
fn the_place_of_a_sender_that_is_not_polled_on_goes_to_another() {
    let (sender, receiver) = bounded(3);
    for number in 0..3 {
        sender.send(number).unwrap();
    }
    let hands = Hand::several::<3>();
    let mut sends = [10, 11, 12].map(|number| sender.send_async(number));
    for (hand, send) in hands.iter().zip(&mut sends) {
        hand.pends(send);
    }
    assert_eq!((receiver.recv(), receiver.recv()), (Ok(0), Ok(1)));
    assert_eq!(wakes(&hands), [1, 1, 0]);
    hands[1].ready(&mut sends[1]).unwrap();
    assert_eq!(wakes(&hands), [1, 1, 1]);
    hands[2].ready(&mut sends[2]).unwrap();
    // The first one was too late.
    hands[0].pends(&mut sends[0]);
    assert_eq!(receiver.recv(), Ok(2));
    hands[0].ready(&mut sends[0]).unwrap();
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [11, 12, 10]);
}

/// As above, with a thread that waits behind the task.
#[test]
fn a_sender_that_is_not_polled_on_does_not_stop_a_thread() {
    within_limit(|| {
        let (sender, receiver) = bounded(2);
        sender.send(0).unwrap();
        sender.send(1).unwrap();
        let hand = Hand::new();
        let mut idle = sender.send_async(100);
        hand.pends(&mut idle);
        let sent = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                sender.send_timeout(2, LONG).unwrap();
                sent.store(true, Ordering::SeqCst);
            });
            assert_eq!(receiver.recv(), Ok(0));
            assert_eq!(receiver.recv(), Ok(1));
            assert_eq!(receiver.recv_timeout(LONG), Ok(2));
        });
        assert!(sent.load(Ordering::SeqCst));
        drop(idle);
    });
}

#[test]
fn an_offer_that_is_not_polled_on_can_be_received() {
    let (sender, receiver) = bounded(0);
    let hand = Hand::new();
    let mut idle = sender.send_async(1);
    hand.pends(&mut idle);
    let mut other = sender.send_async(2);
    hand.pends(&mut other);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2]);
    hand.ready(&mut other).unwrap();
    drop(idle);
}

/// What is polled after its end panics clearly, and the channel goes on.
#[test]
fn a_send_that_is_polled_after_its_end_panics_and_does_no_harm() {
    within_limit(|| {
        for flavour in Flavour::ALL {
            let (sender, receiver) = flavour.pair();
            let hand = Hand::new();
            let mut send = sender.send_async(1);
            if flavour.is_rendezvous() {
                hand.pends(&mut send);
                assert_eq!(receiver.try_recv(), Ok(1));
            }
            hand.ready(&mut send).unwrap();
            let again = catch_unwind(AssertUnwindSafe(|| hand.poll(&mut send).is_ready()));
            let panic = again.expect_err("polled after its end");
            let message = panic.downcast_ref::<&str>();
            assert_eq!(message, Some(&"a send was polled after it had ended"));
            if !flavour.is_rendezvous() {
                assert_eq!(receiver.recv_timeout(LONG), Ok(1));
            }
            // Nothing was begun by that poll.
            let mut next = receiver.recv_async();
            hand.pends(&mut next);
            let mut send = sender.send_async(2);
            let _ = hand.poll(&mut send);
            assert_eq!(hand.ready(&mut next), Ok(2), "{flavour:?}");
        }
    });
}

#[test]
fn a_put_that_is_polled_after_its_end_panics_and_does_no_harm() {
    let slot = Slot::new();
    let hand = Hand::new();
    let mut put = slot.put_async(1);
    hand.ready(&mut put);
    assert_eq!(slot.try_take(), Some(1));
    assert!(catch_unwind(AssertUnwindSafe(|| hand.poll(&mut put).is_ready())).is_err());
    slot.put(2);
    assert_eq!(slot.try_take(), Some(2));
}

/// What takes nothing along when it begins may begin again.
#[test]
fn a_receive_that_is_polled_after_its_end_receives_again() {
    for flavour in QUEUES {
        let (sender, receiver) = flavour.pair();
        let hand = Hand::new();
        let mut receive = receiver.recv_async();
        for number in 0..3 {
            hand.pends(&mut receive);
            sender.send(number).unwrap();
            assert_eq!(hand.ready(&mut receive), Ok(number), "{flavour:?}");
        }
        drop(sender);
        assert!(hand.ready(&mut receive).is_err());
        assert!(hand.ready(&mut receive).is_err());
    }
    let slot = Slot::new();
    let hand = Hand::new();
    let mut take = slot.take_async();
    for number in 0..3 {
        hand.pends(&mut take);
        slot.put(number);
        assert_eq!(hand.ready(&mut take), number);
    }
}

/// An operation that a select has begun may be finished after the sender's task was polled, by the same thread.
#[test]
fn a_selected_offer_does_not_hold_up_its_task() {
    within_limit(|| {
        let (sender, receiver) = bounded(0);
        let hand = Hand::new();
        let mut offer = sender.send_async(1);
        hand.pends(&mut offer);
        let mut select = Select::new();
        select.recv(&receiver);
        let selected = select.try_select().unwrap();
        assert_eq!(hand.wakes(), 1);
        hand.ready(&mut offer).unwrap();
        assert_eq!(selected.recv(&receiver), Ok(1));
    });
}
