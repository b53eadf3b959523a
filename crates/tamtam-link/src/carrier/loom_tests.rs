//! Models of what goes out of a link: a message that a sender does not write itself is written by the thread that writes, which has to be
//! rung for that; and all of them, with the goodbye, before what carries the link is closed.

use std::io::{self, Write};
use std::sync::{Arc, Mutex as Unlocked};

use tamtam_actor::models::model;
use tamtam_actor::{Address, Reply, Time};
use tamtam_wait::seam::{Condvar, Mutex, thread};

use super::outlet::Outlet;
use super::writing::Writing;
use super::{Room, carry};
use crate::frame::{Frame, LENGTH};
use crate::link::Link;

/// What carries the link: what was written to it, and whether it is closed.
struct Wire {
    /// Not loom's lock: it adds nothing to what threads know of each other.
    bytes: Unlocked<Vec<u8>>,
    written: Mutex<Written>,
    changed: Condvar,
}

/// What was written so far, in whole frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Written {
    has_hello: bool,
    messages: usize,
    has_goodbye: bool,
    is_closed: bool,
}

impl Wire {
    fn new() -> Arc<Self> {
        Arc::new(Wire {
            bytes: Unlocked::default(),
            written: Mutex::new(Written::default()),
            changed: Condvar::new(),
        })
    }

    fn write(&self, bytes: &[u8]) {
        let mut unread = self.bytes.lock().unwrap();
        unread.extend_from_slice(bytes);
        let mut news = Vec::new();
        while let Some((length, rest)) = unread.split_first_chunk::<LENGTH>() {
            let length = u32::from_le_bytes(*length) as usize;
            let Some((frame, _)) = rest.split_at_checked(length) else {
                break;
            };
            news.push(match Frame::read(frame).unwrap() {
                Frame::Hello(_) => |written: &mut Written| written.has_hello = true,
                Frame::Tell(..) => |written: &mut Written| written.messages += 1,
                Frame::Goodbye(_) => |written: &mut Written| written.has_goodbye = true,
                other => panic!("{other:?}"),
            });
            unread.drain(..LENGTH + length);
        }
        drop(unread);
        if !news.is_empty() {
            self.change(|written| {
                assert!(!written.has_goodbye, "nothing comes behind the goodbye");
                news.into_iter().for_each(|it| it(written));
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut Written)) {
        let mut written = self.written.lock();
        assert!(
            !written.is_closed,
            "it is closed once, and all is written then"
        );
        change(&mut written);
        self.changed.notify_all();
    }

    fn wait_until(&self, condition: impl Fn(&Written) -> bool) -> Written {
        let is_to_wait = |written: &mut Written| !condition(written);
        *self.changed.wait_while(self.written.lock(), is_to_wait)
    }
}

/// Takes so many bytes at most of a sender that does not wait.
struct Sink {
    wire: Arc<Wire>,
    most: usize,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wire.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Outlet for Sink {
    fn writer(&mut self) -> impl Write {
        self
    }

    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.most);
        if count == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.wire.write(&bytes[..count]);
        Ok(count)
    }
}

/// A link whose other side says nothing, and is gone when this one has closed.
fn link_over(wire: &Arc<Wire>, most: usize) -> Link {
    let (to, from, closed) = (Arc::clone(wire), Arc::clone(wire), Arc::clone(wire));
    let builder = Link::builder().time(Time::manual());
    let sink = Sink { wire: to, most };
    let read = move |link: Link, _, _: &Room| {
        from.wait_until(|written| written.is_closed);
        link.lose("it has closed the stream");
    };
    let close = move || closed.change(|written| written.is_closed = true);
    carry(builder, read, sink, close).unwrap()
}

/// Sends what is waited for, so that the sender writes it itself if it can; whether it was taken.
fn ask(root: &Address<Reply<()>>) -> bool {
    root.tell(Reply::to(|_| {})).is_ok()
}

/// Sends what is left to the thread that writes.
fn tell(root: &Address<u8>) -> bool {
    root.tell(1).is_ok()
}

/// Closes the link, and waits until what carries it is closed.
fn close(link: &Link, wire: &Wire) -> Written {
    link.close();
    wire.wait_until(|written| written.is_closed)
}

fn all(messages: usize) -> Written {
    Written {
        has_hello: true,
        messages,
        has_goodbye: true,
        is_closed: true,
    }
}

/// Senders while the threads of the link begin.
#[test]
fn loom_a_message_against_the_beginning() {
    model(2, || {
        let wire = Wire::new();
        let link = link_over(&wire, usize::MAX);
        assert!(ask(&link.root()));
        wire.wait_until(|written| written.messages == 1);
        loom::stop_exploring();
        assert_eq!(close(&link, &wire), all(1));
    });
}

/// Two senders, of which one writes itself; what both have sent is written without more of either.
fn two_senders(preemptions: usize, most: usize, both_ask: bool) {
    model(preemptions, move || {
        loom::stop_exploring();
        let wire = Wire::new();
        let link = link_over(&wire, most);
        let (asks, tells) = (link.root(), link.root());
        wire.wait_until(|written| written.has_hello);
        loom::explore();
        let other = {
            let asks = link.root();
            thread::spawn(move || {
                assert!(if both_ask { ask(&asks) } else { tell(&tells) });
            })
        };
        assert!(ask(&asks));
        wire.wait_until(|written| written.messages == 2);
        loom::stop_exploring();
        assert_eq!(close(&link, &wire), all(2));
        other.join().unwrap();
    });
}

#[test]
fn loom_a_sender_that_writes_beside_one_that_does_not() {
    two_senders(2, usize::MAX, false);
}

#[test]
fn loom_two_senders_that_write() {
    two_senders(2, usize::MAX, true);
}

#[test]
fn loom_two_senders_that_write_a_part() {
    two_senders(2, 3, true);
}

/// What was taken before the link was closed is written, and the goodbye behind it.
fn a_sender_against_the_end(most: usize) {
    model(2, move || {
        loom::stop_exploring();
        let wire = Wire::new();
        let link = link_over(&wire, most);
        let asks = link.root();
        wire.wait_until(|written| written.has_hello);
        loom::explore();
        let sender = thread::spawn(move || usize::from(ask(&asks)));
        let written = close(&link, &wire);
        assert_eq!(written, all(sender.join().unwrap()));
    });
}

#[test]
fn loom_a_sender_that_writes_against_the_end() {
    a_sender_against_the_end(usize::MAX);
}

#[test]
fn loom_a_sender_that_writes_a_part_against_the_end() {
    a_sender_against_the_end(3);
}

/// What a sender has left, and does not come to write itself, is written by the thread that writes: it is rung for the first batch, and looks
/// as long as others follow.
#[test]
fn loom_what_a_sender_leaves_is_written_without_it() {
    model(3, || {
        let (writing, left) = (Writing::new(|| {}), Arc::new(Mutex::new(0)));
        let sender = {
            let (writing, left) = (Arc::clone(&writing), Arc::clone(&left));
            thread::spawn(move || {
                for _ in 0..2 {
                    *left.lock() += 1;
                    writing.note_left();
                }
            })
        };
        let mut written = 0;
        loop {
            written += std::mem::take(&mut *left.lock());
            if written == 2 {
                break;
            }
            writing.wait();
        }
        sender.join().unwrap();
    });
}
