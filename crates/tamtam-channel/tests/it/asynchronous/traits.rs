//! What the futures, streams and sinks are: `Send` for messages that are, `Unpin`, and small.

use std::cell::Cell;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::MutexGuard;
use std::time::Duration;

use tamtam_channel::{
    Event, Latch, Property, PutFuture, RecvFuture, RecvStream, RecvTimeoutFuture, SendFuture,
    SendSink, SendTimeoutFuture, Slot, TakeFuture, WaitFuture, WaitTimeoutFuture, bounded,
    unbounded,
};

fn is_send<T: Send>() {}
fn is_unpin<T: Unpin>() {}
fn is_debug<T: Debug>() {}
fn is_static<T: 'static>() {}

#[test]
fn futures_are_send() {
    // A message that is `Send` and not `Sync`.
    type Message = Cell<u8>;
    is_send::<RecvFuture<'_, Message>>();
    is_send::<RecvTimeoutFuture<'_, Message>>();
    is_send::<SendFuture<'_, Message>>();
    is_send::<SendTimeoutFuture<'_, Message>>();
    is_send::<RecvStream<'_, Message>>();
    is_send::<SendSink<'_, Message>>();
    is_send::<TakeFuture<'_, Message>>();
    is_send::<PutFuture<'_, Message>>();
    is_send::<WaitFuture<'_, Event>>();
    is_send::<WaitFuture<'_, Latch>>();
    is_send::<WaitTimeoutFuture<'_, Event>>();
    is_send::<WaitTimeoutFuture<'_, Latch>>();
    is_static::<RecvStream<'static, Message>>();
    is_static::<SendSink<'static, Message>>();
}

/// `true` where the expression's type is `Send`; by which of two methods is nearer.
macro_rules! sendable {
    ($value:expr) => {{
        struct Probe<T>(std::marker::PhantomData<T>);
        // One of the two is not used.
        #[allow(dead_code)]
        trait Otherwise {
            fn sendable(&self) -> bool {
                false
            }
        }
        impl<T> Otherwise for &Probe<T> {}
        #[allow(dead_code)]
        impl<T: Send> Probe<T> {
            fn sendable(&self) -> bool {
                true
            }
        }
        fn probe<T>(_: &T) -> Probe<T> {
            Probe(std::marker::PhantomData)
        }
        (&probe(&$value)).sendable()
    }};
}

#[test]
fn futures_of_messages_that_may_not_be_sent_are_not_send() {
    let (sender, receiver) = unbounded::<Rc<u8>>();
    assert!(!sendable!(sender.send_async(Rc::new(1))));
    assert!(!sendable!(receiver.recv_async()));
    assert!(!sendable!(receiver.stream()));
    assert!(!sendable!(sender.sink()));
    let slot = Slot::<Rc<u8>>::new();
    assert!(!sendable!(slot.take_async()));
    assert!(!sendable!(slot.put_async(Rc::new(1))));
    // The probe can tell.
    let (sender, receiver) = unbounded::<u8>();
    assert!(sendable!(sender.send_async(1)));
    assert!(sendable!(receiver.recv_async()));
    // A message that is `Sync` and not `Send`.
    let (_, receiver) = unbounded::<MutexGuard<'static, u8>>();
    assert!(!sendable!(receiver.recv_async()));
}

#[test]
fn futures_need_not_be_pinned_and_print_whatever_the_message_is() {
    struct Plain(std::marker::PhantomPinned);
    is_unpin::<RecvFuture<'_, Plain>>();
    is_unpin::<RecvTimeoutFuture<'_, Plain>>();
    is_unpin::<SendFuture<'_, Plain>>();
    is_unpin::<SendTimeoutFuture<'_, Plain>>();
    is_unpin::<RecvStream<'_, Plain>>();
    is_unpin::<SendSink<'_, Plain>>();
    is_unpin::<TakeFuture<'_, Plain>>();
    is_unpin::<PutFuture<'_, Plain>>();
    is_unpin::<WaitFuture<'_, Event>>();
    is_unpin::<WaitTimeoutFuture<'_, Latch>>();
    is_debug::<RecvFuture<'_, Plain>>();
    is_debug::<RecvTimeoutFuture<'_, Plain>>();
    is_debug::<SendFuture<'_, Plain>>();
    is_debug::<SendTimeoutFuture<'_, Plain>>();
    is_debug::<RecvStream<'_, Plain>>();
    is_debug::<SendSink<'_, Plain>>();
    is_debug::<TakeFuture<'_, Plain>>();
    is_debug::<PutFuture<'_, Plain>>();
    is_debug::<WaitFuture<'_, Event>>();
}

/// `Debug` asks nothing of the message, and tells one kind of wait from another.
#[test]
fn futures_streams_and_sinks_show_what_they_are() {
    macro_rules! shows {
        ($($value:expr => $name:literal),+ $(,)?) => {
            $(assert_eq!(format!("{:?}", $value), concat!($name, " { .. }"), stringify!($value));)+
        };
    }
    const TIME: Duration = Duration::ZERO;
    let mut buffer = Vec::new();
    let (sender, receiver) = bounded::<u8>(1);
    shows! {
        receiver.recv_async() => "RecvFuture",
        receiver.recv_timeout_async(TIME) => "RecvTimeoutFuture",
        receiver.recv_many_async(&mut buffer, 1) => "RecvManyFuture",
        receiver.recv_timeout_many_async(&mut buffer, 1, TIME) => "RecvManyTimeoutFuture",
        receiver.stream() => "RecvStream",
        sender.send_async(1) => "SendFuture",
        sender.send_timeout_async(1, TIME) => "SendTimeoutFuture",
        sender.reserve_async() => "ReserveFuture",
        sender.reserve_timeout_async(TIME) => "ReserveTimeoutFuture",
        sender.reserve().unwrap() => "Permit",
        sender.sink() => "SendSink",
        sender.downgrade() => "WeakSender",
        sender => "Sender",
        receiver => "Receiver",
    }
    let (mut sender, mut receiver) = tamtam_channel::mpsc::bounded::<u8>(1);
    shows! {
        receiver.recv_async() => "RecvFuture",
        receiver.recv_many_async(&mut buffer, 1) => "RecvManyFuture",
        receiver.selectable() => "Selectable",
        sender.selectable() => "Selectable",
        sender.send_async(1) => "SendFuture",
        sender.reserve_async() => "ReserveFuture",
        sender.reserve().unwrap() => "Permit",
        sender.downgrade() => "WeakSender",
        sender => "LaneSender",
        receiver => "Receiver",
    }
    let (sender, receiver) = tamtam_channel::broadcast::bounded::<u8>(1);
    shows! {
        receiver.recv_async() => "RecvFuture",
        receiver.recv_timeout_async(TIME) => "RecvTimeoutFuture",
        sender.send_async(1) => "SendFuture",
        sender.send_timeout_async(1, TIME) => "SendTimeoutFuture",
        sender => "Sender",
    }
    let (event, property) = (Event::manual(), Property::new(1));
    shows! {
        event.wait_timeout_async(TIME) => "WaitTimeoutFuture",
        property.wait_changed_timeout_async(0, TIME) => "ChangedTimeoutFuture",
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn futures_are_small() {
    let (sender, receiver) = bounded(1);
    assert!(size_of_val(&receiver.recv_async()) <= 64);
    assert!(size_of_val(&receiver.recv_timeout_async(std::time::Duration::ZERO)) <= 80);
    assert!(size_of_val(&sender.send_async(1_u64)) <= 128);
}
