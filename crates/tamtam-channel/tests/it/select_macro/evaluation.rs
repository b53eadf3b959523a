//! What is evaluated when, and how long it lives.

use std::cell::RefCell;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use tamtam_channel::{Receiver, after, at, bounded, never, select, unbounded};

use crate::select_macro::{FOREVER, SHORT, filled};

/// Writes down when an expression is evaluated.
#[derive(Default)]
struct Diary(RefCell<Vec<&'static str>>);

impl Diary {
    fn note<V>(&self, name: &'static str, value: V) -> V {
        self.0.borrow_mut().push(name);
        value
    }

    fn guard(&self, name: &'static str) -> Guard<'_> {
        Guard { diary: self, name }
    }

    fn read(&self) -> Vec<&'static str> {
        self.0.take()
    }
}

struct Guard<'d> {
    diary: &'d Diary,
    name: &'static str,
}

impl Guard<'_> {
    fn of<'r, T>(&self, receiver: &'r Receiver<T>) -> &'r Receiver<T> {
        receiver
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.diary.note(self.name, ());
    }
}

#[test]
fn endpoints_once_and_in_order_then_the_timeout() {
    let diary = Diary::default();
    let (sender, _receiver) = bounded::<i32>(0);
    let (a, b) = (never::<i32>(), never::<i32>());
    select! {
        default(diary.note("timeout", SHORT)) => { diary.note("body", ()) }
        recv(diary.note("a", &a)) -> _ => unreachable!(),
        send(diary.note("sender", &sender), diary.note("value", 1)) -> _ => unreachable!(),
        recv(diary.note("b", &b)) -> _ => unreachable!(),
    }
    assert_eq!(diary.read(), ["a", "sender", "b", "timeout", "body"]);
}

#[test]
fn the_value_only_when_chosen() {
    let diary = Diary::default();
    let (sender, receiver) = bounded::<i32>(1);
    for _ in 0..2 {
        select! {
            send(diary.note("sender", &sender), diary.note("value", 1)) -> _ => diary.note("sent", ()),
            recv(never::<i32>()) -> _ => unreachable!(),
            default => diary.note("full", ()),
        }
    }
    assert_eq!(diary.read(), ["sender", "value", "sent", "sender", "full"]);
    assert_eq!(receiver.len(), 1);
}

#[test]
fn the_value_of_a_lone_send_only_when_there_is_room() {
    let (sender, receiver) = bounded(0);
    let taker_came = Mutex::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            *taker_came.lock().unwrap() = true;
            assert_eq!(receiver.recv(), Ok(true));
        });
        select! { send(sender, *taker_came.lock().unwrap()) -> result => result.unwrap() }
    });
}

#[test]
fn temporaries_outlive_the_body() {
    let diary = Diary::default();
    let (_sender, receiver) = filled(1);
    let silent = never::<()>();
    select! {
        recv(diary.guard("guard dropped").of(&receiver)) -> message => {
            message.unwrap();
            diary.note("several", ());
        }
        recv(silent) -> _ => unreachable!(),
    }
    assert_eq!(diary.read(), ["several", "guard dropped"]);

    let (_sender, receiver) = filled(1);
    select! {
        recv(diary.guard("guard dropped").of(&receiver)) -> message => {
            message.unwrap();
            diary.note("one", ());
        }
    }
    assert_eq!(diary.read(), ["one", "guard dropped"]);

    select! {
        recv(diary.guard("guard dropped").of(&silent)) -> _ => unreachable!(),
        default => diary.note("default", ()),
    }
    assert_eq!(diary.read(), ["default", "guard dropped"]);
}

#[test]
fn channels_made_on_the_spot() {
    let start = Instant::now();
    let absent: Option<Receiver<Instant>> = None;
    let present = Some(after(SHORT));
    select! {
        recv(after(FOREVER)) -> _ => unreachable!(),
        recv(absent.as_ref().unwrap_or(&never())) -> _ => unreachable!(),
        recv(present.as_ref().unwrap_or(&never())) -> fired => assert!(fired.is_ok()),
    }
    assert!(start.elapsed() >= SHORT);
    select! { recv(after(SHORT)) -> fired => assert!(fired.unwrap() >= start + 2 * SHORT) }
    select! { recv(at(start)) -> fired => assert!(fired.is_ok()), default(FOREVER) => unreachable!() }
    select! {
        recv(absent.as_ref().unwrap_or(&never())) -> _ => unreachable!(),
        default => {}
    }
    select! {
        recv(filled(1).1) -> message => assert_eq!(message, Ok(1)),
        recv({ let delay = FOREVER; after(delay) }) -> _ => unreachable!(),
    }
}

#[test]
fn the_message_is_dropped_after_the_body() {
    let diary = Diary::default();
    let (sender, receiver) = unbounded();
    let silent = never::<()>();
    let refill = || sender.send(diary.guard("message dropped")).unwrap();
    let body = || diary.note("body", ());

    refill();
    select! { recv(receiver) -> _message => body(), recv(silent) -> _ => unreachable!() }
    assert_eq!(diary.read(), ["body", "message dropped"]);
    refill();
    select! { recv(receiver) -> _ => body(), recv(silent) -> _ => unreachable!() }
    assert_eq!(diary.read(), ["body", "message dropped"]);
    refill();
    select! { recv(receiver) -> _ => body(), recv(silent) -> _ => unreachable!(), default => unreachable!() }
    assert_eq!(diary.read(), ["body", "message dropped"]);
    refill();
    select! { recv(receiver) -> _ => body() }
    assert_eq!(diary.read(), ["body", "message dropped"]);
    refill();
    select! { recv(receiver) -> _ => body(), default => unreachable!() }
    assert_eq!(diary.read(), ["body", "message dropped"]);
    refill();
    select! { recv(receiver) -> message => { drop(message); body() } }
    assert_eq!(diary.read(), ["message dropped", "body"]);
}
