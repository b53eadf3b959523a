use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use super::{counter, for_each_kind};

for_each_kind! {
    fn every_message_is_dropped_once(open) {
        let (dropped, message) = counter();
        let (sender, receiver) = open!(1000);
        for _ in 0..700 {
            sender.send(message()).unwrap();
        }
        assert_eq!(receiver.drain().take(300).count(), 300);
        assert_eq!(dropped.load(Ordering::SeqCst), 300);
        drop(receiver);
        // At once, not when the sender goes: a message may hold what somebody waits for.
        assert_eq!(dropped.load(Ordering::SeqCst), 700);
        drop(sender.send(message()));
        assert_eq!(dropped.load(Ordering::SeqCst), 701);
        drop(sender);
        assert_eq!(dropped.load(Ordering::SeqCst), 701);
    }

    fn messages_are_dropped_when_the_sender_goes_first(open) {
        let (dropped, message) = counter();
        let (sender, receiver) = open!(1000);
        (0..700).for_each(|_| sender.send(message()).unwrap());
        drop(sender);
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        drop(receiver);
        assert_eq!(dropped.load(Ordering::SeqCst), 700);
    }

    fn a_message_that_panics_when_dropped_is_dropped_once(open) {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("as planned");
            }
        }
        let (sender, receiver) = open!(10);
        let (dropped, message) = counter();
        sender.send((Some(message()), Some(Panics))).unwrap();
        sender.send((Some(message()), None)).unwrap();
        assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        // Those behind it are leaked, and not dropped now either.
        drop(sender);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }
}
