//! Auto traits of every public type, for messages that have them and messages that lack them.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};

use tamtam_channel::{
    Builder, Drain, IntoIter, Iter, Permit, ReadyTimeoutError, Receiver, RecvError,
    RecvTimeoutError, Select, SelectTimeoutError, SelectedOperation, SendError, SendTimeoutError,
    Sender, TryIter, TryReadyError, TryRecvError, TrySelectError, TrySendError, WeakSender,
};

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn unwind_safe<T: UnwindSafe>() {}
fn ref_unwind_safe<T: RefUnwindSafe>() {}
fn unpin<T: Unpin>() {}
fn clone<T: Clone>() {}
fn debug<T: std::fmt::Debug>() {}

/// Can be sent, but lacks everything else.
struct OnlySend(
    #[expect(dead_code)] Cell<u8>,
    #[expect(dead_code)] Option<Box<dyn FnMut() + Send>>,
);

/// Asserts, while compiling, that a type lacks a trait: the two ways to name the method would be ambiguous otherwise.
macro_rules! lacks {
    ($type:ty: $lacking:path) => {
        const _: fn() = || {
            trait Either<Marker> {
                fn named() {}
            }
            impl<T: ?Sized> Either<()> for T {}
            struct Has;
            impl<T: ?Sized + $lacking> Either<Has> for T {}
            let _ = <$type as Either<_>>::named;
        };
    };
}

#[test]
fn ends_can_be_sent_and_shared_when_the_message_can_be_sent() {
    send::<Sender<OnlySend>>();
    sync::<Sender<OnlySend>>();
    send::<Receiver<OnlySend>>();
    sync::<Receiver<OnlySend>>();
    send::<Iter<'static, OnlySend>>();
    sync::<Iter<'static, OnlySend>>();
    send::<TryIter<'static, OnlySend>>();
    sync::<TryIter<'static, OnlySend>>();
    send::<IntoIter<OnlySend>>();
    sync::<IntoIter<OnlySend>>();
    send::<Permit<'static, OnlySend>>();
    sync::<Permit<'static, OnlySend>>();
    unwind_safe::<Permit<'static, OnlySend>>();
    send::<Drain<'static, OnlySend>>();
    sync::<Drain<'static, OnlySend>>();
    lacks!(Permit<'static, *mut u8>: Send);
    lacks!(Drain<'static, *mut u8>: Send);
    send::<Builder>();
    sync::<Builder>();
    send::<WeakSender<OnlySend>>();
    sync::<WeakSender<OnlySend>>();
    clone::<WeakSender<OnlySend>>();
    unwind_safe::<WeakSender<OnlySend>>();
    ref_unwind_safe::<WeakSender<OnlySend>>();
    lacks!(WeakSender<*mut u8>: Send);
    lacks!(Sender<*mut u8>: Send);
    lacks!(Sender<*mut u8>: Sync);
    lacks!(Receiver<*mut u8>: Send);
    lacks!(Receiver<*mut u8>: Sync);
    lacks!(Sender<std::rc::Rc<u8>>: Send);
    lacks!(IntoIter<std::rc::Rc<u8>>: Send);
}

#[test]
fn ends_are_unwind_safe_whatever_the_message() {
    unwind_safe::<Sender<OnlySend>>();
    ref_unwind_safe::<Sender<OnlySend>>();
    unwind_safe::<Receiver<OnlySend>>();
    ref_unwind_safe::<Receiver<OnlySend>>();
    unwind_safe::<Iter<'static, OnlySend>>();
    unwind_safe::<TryIter<'static, OnlySend>>();
    unwind_safe::<IntoIter<OnlySend>>();
    ref_unwind_safe::<IntoIter<OnlySend>>();
}

#[test]
fn ends_are_cloned_printed_and_moved_whatever_the_message() {
    clone::<Sender<OnlySend>>();
    clone::<Receiver<OnlySend>>();
    debug::<Sender<OnlySend>>();
    debug::<Receiver<OnlySend>>();
    debug::<Iter<'static, OnlySend>>();
    debug::<TryIter<'static, OnlySend>>();
    debug::<IntoIter<OnlySend>>();
    unpin::<Sender<OnlySend>>();
    unpin::<Receiver<OnlySend>>();
}

#[test]
fn select_moves_between_threads_and_a_selected_operation_stays() {
    send::<Select<'static>>();
    sync::<Select<'static>>();
    clone::<Select<'static>>();
    debug::<Select<'static>>();
    debug::<SelectedOperation<'static>>();
    unpin::<Select<'static>>();
}

#[test]
fn errors_have_the_traits_of_plain_values() {
    macro_rules! plain {
        ($($error:ty),+ $(,)?) => {
            $(send::<$error>(); sync::<$error>(); unpin::<$error>(); unwind_safe::<$error>(); ref_unwind_safe::<$error>();)+
        };
    }
    plain!(
        SendError<u8>,
        TrySendError<u8>,
        SendTimeoutError<u8>,
        RecvError,
        TryRecvError,
        RecvTimeoutError,
        TrySelectError,
        SelectTimeoutError,
        TryReadyError,
        ReadyTimeoutError,
    );
    debug::<SendError<OnlySend>>();
    debug::<TrySendError<OnlySend>>();
    debug::<SendTimeoutError<OnlySend>>();
}

#[test]
fn messages_may_borrow() {
    // Messages that borrow from the stack go through a channel that lives shorter.
    let text = String::from("borrowed");
    let (sender, receiver) = tamtam_channel::bounded::<&str>(1);
    sender.send(&text).unwrap();
    assert_eq!(receiver.recv(), Ok("borrowed"));
}

#[test]
fn an_end_inside_a_caught_panic_stays_usable() {
    let (sender, receiver) = tamtam_channel::bounded(2);
    let outcome = std::panic::catch_unwind(|| {
        sender.send(1).unwrap();
        panic!("on purpose");
    });
    assert!(outcome.is_err());
    sender.send(2).unwrap();
    assert!(receiver.try_iter().eq([1, 2]));
}
