//! What may stand for a channel.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use tamtam_channel::{Receiver, Sender, bounded, never, select, unbounded};

use crate::select_macro::filled;

struct Desk {
    inbox: Receiver<u32>,
    outbox: Sender<u32>,
    others: Vec<Receiver<u32>>,
}

impl Desk {
    fn inbox(&self) -> &Receiver<u32> {
        &self.inbox
    }

    fn accept(&mut self, value: u32) -> u32 {
        self.others.clear();
        value + 1
    }

    fn turn(&mut self) -> u32 {
        select! {
            recv(self.inbox()) -> message => self.accept(message.unwrap()),
            recv(self.others[0]) -> message => self.accept(10 * message.unwrap()),
            recv(self.others.last().unwrap()) -> message => self.accept(100 * message.unwrap()),
        }
    }
}

#[test]
fn fields_methods_and_elements() {
    let (outbox, last) = unbounded();
    let mut desk = Desk {
        inbox: never(),
        outbox,
        others: vec![never(), last],
    };
    select! {
        send(desk.outbox, 2) -> result => result.unwrap(),
        recv(desk.inbox) -> _ => unreachable!(),
    }
    assert_eq!(desk.turn(), 201);
    assert!(
        desk.others.is_empty(),
        "a body may change what it was selected from"
    );
}

#[test]
fn behind_references_and_pointers() {
    let (sender, receiver) = unbounded::<i32>();
    let boxed = Box::new(never::<i32>());
    let mut exclusive = never::<i32>();
    let exclusive = &mut exclusive;
    let shared_receiver = Arc::new(receiver);
    let shared_sender = &Arc::new(sender);
    select! {
        recv(shared_receiver) -> _ => unreachable!(),
        recv(*boxed) -> _ => unreachable!(),
        recv(boxed) -> _ => unreachable!(),
        recv(exclusive) -> _ => unreachable!(),
        recv(&&never::<i32>()) -> _ => unreachable!(),
        send(shared_sender, 1) -> result => result.unwrap(),
    }
    assert_eq!(
        select! { recv(&shared_receiver) -> message => message },
        Ok(1)
    );
    assert_eq!(
        select! { recv(shared_receiver) -> message => Some(message), default => None },
        None
    );
}

#[test]
fn behind_a_lock() {
    let locked = Mutex::new(filled(1).1);
    let cell = RefCell::new(never::<i32>());
    let value = select! {
        recv(locked.lock().unwrap()) -> message => message.unwrap(),
        recv(cell.borrow()) -> _ => unreachable!(),
    };
    assert_eq!(value, 1);
}

#[test]
fn the_same_channel_in_several_arms() {
    let (sender, receiver) = bounded(1);
    for round in 0..100 {
        select! {
            send(sender, round) -> result => result.unwrap(),
            recv(receiver) -> _ => unreachable!("the channel is empty"),
            send(sender, round) -> result => result.unwrap(),
        }
        let value = select! {
            recv(receiver) -> message => message,
            send(sender, 1000) -> _ => unreachable!("the channel is full"),
            recv(receiver) -> message => message,
        };
        assert_eq!(value, Ok(round));
    }
}
