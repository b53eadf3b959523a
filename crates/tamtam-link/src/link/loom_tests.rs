//! Models of what is lent to senders: each message goes once and in order, whether a sender puts it there itself or the carrier writes it, and
//! none is left lying.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use tamtam_actor::link::Call;
use tamtam_actor::models::model;
use tamtam_actor::{Address, Time};
use tamtam_wait::seam::{Condvar, Mutex, thread};

use super::*;
use crate::frame::LENGTH;

/// What goes to the other side.
struct Wire {
    written: Mutex<Written>,
    changed: Condvar,
}

#[derive(Default)]
struct Written {
    /// The payloads of messages.
    shown: Vec<u8>,
    has_hello: bool,
}

impl Wire {
    fn new() -> Arc<Self> {
        Arc::new(Wire {
            written: Mutex::new(Written::default()),
            changed: Condvar::new(),
        })
    }

    fn show(&self, bytes: &[u8]) {
        let mut written = self.written.lock();
        let mut rest = bytes;
        while let Some((length, behind)) = rest.split_first_chunk::<LENGTH>() {
            let (frame, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
            match Frame::read(frame).unwrap() {
                Frame::Hello(_) => written.has_hello = true,
                Frame::Tell(_, body) => written.shown.extend_from_slice(body.payload),
                Frame::Goodbye(_) => {}
                other => panic!("{other:?}"),
            }
            rest = behind;
        }
        assert!(rest.is_empty(), "frames go as a whole");
        drop(written);
        self.changed.notify_all();
    }

    fn wait_until(&self, condition: impl Fn(&Written) -> bool) -> Vec<u8> {
        let is_to_wait = |written: &mut Written| !condition(written);
        let written = self.changed.wait_while(self.written.lock(), is_to_wait);
        written.shown.clone()
    }
}

/// Takes so many times something of senders; what comes then has no room.
struct Memory {
    wire: Arc<Wire>,
    room: usize,
    put: VecDeque<u8>,
}

impl DirectOutlet for Memory {
    fn put(&mut self, bytes: &[u8]) -> bool {
        let has_room = self.room > 0;
        if has_room {
            self.room -= 1;
            self.put.extend(bytes);
        }
        has_room
    }

    fn show(&mut self, _: Seats) -> Option<Call> {
        let put: Vec<u8> = self.put.drain(..).collect();
        self.wire.show(&put);
        None
    }
}

/// Carries as a process is written to: whoever wakes it writes, unless another thread does, which then looks again; and when nothing is left it
/// lends the memory.
struct Carrier {
    link: OnceLock<Link>,
    state: Mutex<CarrierState>,
}

#[derive(Default)]
struct CarrierState {
    memory: Option<Box<Memory>>,
    is_lent: bool,
    is_woken: bool,
    is_writing: bool,
}

fn memory_of(lent: Box<dyn DirectOutlet>) -> Box<Memory> {
    let lent: Box<dyn Any> = lent;
    lent.downcast().unwrap()
}

impl Carrier {
    fn wake(&self) {
        let Some(link) = self.link.get() else { return };
        let mut state = self.state.lock();
        state.is_woken = true;
        if state.is_writing {
            return;
        }
        let lent = std::mem::take(&mut state.is_lent);
        let memory = match lent {
            true => link.take_direct().map(memory_of).unwrap(),
            false => state.memory.take().unwrap(),
        };
        state.is_writing = true;
        while std::mem::take(&mut state.is_woken) {
            drop(state);
            let mut bytes = Vec::new();
            link.take_outgoing(&mut bytes);
            memory.wire.show(&bytes);
            state = self.state.lock();
        }
        state.is_writing = false;
        link.lend_direct(memory);
        state.is_lent = true;
    }
}

/// A link whose hello is written; its memory has so much room for senders, and is lent.
fn link_to(wire: &Arc<Wire>, room: usize) -> (Link, Arc<Carrier>) {
    let memory = Box::new(Memory {
        wire: Arc::clone(wire),
        room,
        put: VecDeque::new(),
    });
    let carrier = Arc::new(Carrier {
        link: OnceLock::new(),
        state: Mutex::new(CarrierState {
            memory: Some(memory),
            ..CarrierState::default()
        }),
    });
    let woken = Arc::downgrade(&carrier);
    let builder = Link::builder().time(Time::manual()).keep_root();
    let (link, _) = builder.build(move || {
        if let Some(carrier) = woken.upgrade() {
            carrier.wake();
        }
    });
    let _ = carrier.link.set(link.clone());
    carrier.wake();
    (link, carrier)
}

/// Two senders, and room for so much of what both send.
fn two_senders(room: usize) {
    model(3, move || {
        loom::stop_exploring();
        let wire = Wire::new();
        let (link, carrier) = link_to(&wire, room);
        let here: Address<u8> = link.root();
        let there: Address<u8> = link.root();
        assert!(wire.written.lock().has_hello);
        loom::explore();
        let other = thread::spawn(move || {
            assert!(there.tell(11).is_ok() && there.tell(12).is_ok());
        });
        assert!(here.tell(1).is_ok());
        let shown = wire.wait_until(|written| written.shown.len() >= 3);
        loom::stop_exploring();
        other.join().unwrap();
        let of_other: Vec<u8> = shown.iter().copied().filter(|it| *it > 10).collect();
        assert_eq!((shown.len(), &of_other[..]), (3, &[11, 12][..]));
        link.close();
        drop((here, carrier));
    });
}

#[test]
fn loom_two_senders_that_put_all_there_themselves() {
    two_senders(3);
}

#[test]
fn loom_two_senders_of_whom_one_finds_no_room() {
    two_senders(2);
}

#[test]
fn loom_two_senders_that_find_no_room() {
    two_senders(0);
}
