//! What reads for a link, from one process after another.
//!
//! A thread of its own reads. But where threads ask question after question, that would wake it for each answer, and it the asker: twice the way. So askers
//! read themselves, [one at a time](over_socket) where a socket carries the link, and [all of them](in_memory) where memory does, and the thread
//! **rests** as long as they do. It looks once a millisecond whether it is still to, and every eighth at last where [they have read all the time](crate::rhythm::Rhythm): that
//! is how late a message may be that comes when no asker reads any more.

mod in_memory;
mod over_socket;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tamtam_actor::link::AwaitedAnswer;
use tamtam_link::carrier::Room;
use tamtam_link::{AnswerReader, Inbound, Link};

use crate::carried::Incoming;
use crate::lock::lock;
use in_memory::InMemory;
use over_socket::OverSocket;

/// How much is read at once.
const PORTION: usize = 64 << 10;
/// So many times in a row the thread has read nothing but answers to askers that may read; then they do.
const STREAK: u32 = 8;
/// And so many that they have read between two looks of the thread leave it to them.
const KEEP: u64 = 2;

#[derive(Default)]
pub(crate) struct Reading {
    /// How the process is read that is there now.
    way: Mutex<Option<Way>>,
    /// Questions so far of turns, whose threads may read; of 2^64 there are a thousand million a second for 500 years.
    asked_in_turns: AtomicU64,
}

#[derive(Clone)]
enum Way {
    Socket(Arc<OverSocket>),
    Memory(Arc<InMemory>),
}

impl Reading {
    fn way(&self) -> Option<Way> {
        lock(&self.way).clone()
    }

    /// Reads what a process says, or sees to it that it is read, until the process says no more.
    pub(crate) fn read_all(
        &self,
        incoming: Incoming,
        mut inbound: Inbound,
        link: &Link,
        room: &Room,
    ) {
        incoming.serve_descriptors(&mut inbound);
        match incoming {
            Incoming::Socket(_) => {
                let way = Arc::new(OverSocket::new(Received::new(inbound, link), incoming));
                *lock(&self.way) = Some(Way::Socket(Arc::clone(&way)));
                way.read_all(room);
            }
            Incoming::Memory(reader, beside) => {
                let way = InMemory::new(Received::new(inbound, link), *reader, beside);
                *lock(&self.way) = Some(Way::Memory(Arc::clone(&way)));
                way.read_all(&self.asked_in_turns, room);
            }
        }
        *lock(&self.way) = None;
    }

    /// A thread waits for an answer; it may read meanwhile, until that is there or the deadline.
    pub(crate) fn while_waiting(&self, answer: &mut dyn AwaitedAnswer, deadline: Option<Instant>) {
        match self.way() {
            Some(Way::Socket(way)) => way.while_waiting(answer, deadline),
            Some(Way::Memory(way)) => way.while_waiting(answer, deadline),
            None => {}
        }
        answer.wait();
    }
}

impl AnswerReader for Reading {
    fn asked(&self) {
        self.asked_in_turns.fetch_add(1, Ordering::Relaxed);
    }

    fn read_while(&self, goes_on: &mut dyn FnMut() -> bool) {
        if let Some(Way::Memory(way)) = self.way() {
            way.read_while(goes_on);
        }
    }
}

/// What was read goes here.
struct Received {
    link: Link,
    inbound: Inbound,
    portion: Box<[u8]>,
    /// The process is gone: the little that it has left is read whether there is room for it or not.
    is_last: bool,
}

impl Received {
    fn new(inbound: Inbound, link: &Link) -> Self {
        Received {
            link: link.clone(),
            inbound,
            portion: vec![0; PORTION].into(),
            is_last: false,
        }
    }

    /// Whether nothing is to be read now: too much of what a process has sent that is not trusted waits for actors. Who asks leaves it to the thread that
    /// reads, which waits for room.
    fn is_full(&self) -> bool {
        !self.is_last && !self.link.has_room()
    }

    /// Reads once, by what reads a portion and the descriptors that come with it. `None` if nothing is there, `false` if the process says no more.
    fn read_by(
        &mut self,
        read: impl FnOnce(&mut [u8], &mut Vec<OwnedFd>) -> io::Result<Option<usize>>,
    ) -> Option<bool> {
        let mut descriptors = Vec::new();
        match read(&mut self.portion, &mut descriptors) {
            Ok(None) => None,
            Ok(Some(0)) => Some(false),
            Ok(Some(count)) => {
                let bytes = &self.portion[..count];
                Some(self.inbound.receive_with(bytes, descriptors).is_ok())
            }
            // It has died with something unread, or talks nonsense.
            Err(_) => Some(false),
        }
    }
}
