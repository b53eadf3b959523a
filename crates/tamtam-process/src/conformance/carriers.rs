//! Two ends of a link, each written and read as a parent does it for its worker.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use tamtam_link::carrier::Room;
use tamtam_link::{Link, LinkBuilder};

use super::suite::Pair;
use crate::carried::{self, Beside, Incoming, Memory, Outgoing};
use crate::courier::{self, Courier};
use crate::reading::Reading;

pub(crate) const ALL: &[(&str, Pair)] = &[
    ("shared memory", |one, other| {
        shared_memory(one, other, carried::MEMORY)
    }),
    // Less than many a message, so that writers wait for readers.
    ("shared memory of 4 KiB", |one, other| {
        shared_memory(one, other, 4096)
    }),
    ("the socket of a process", socket),
];

fn shared_memory(one: LinkBuilder, other: LinkBuilder, bytes: usize) -> (Link, Link) {
    let (here, there) = UnixStream::pair().unwrap();
    let made = tamtam_ipc::carrier(bytes).unwrap();
    let memory = made.1.memory().try_clone_to_owned().unwrap();
    let attached = tamtam_ipc::attach(memory).unwrap();
    (
        by_memory(one, here, made),
        by_memory(other, there, attached),
    )
}

fn by_memory(builder: LinkBuilder, socket: UnixStream, (writer, reader): Memory) -> Link {
    let socket = Arc::new(socket);
    let beside = Beside::new(Arc::clone(&socket), reader.seats().waker());
    let outgoing = Outgoing::by_memory(writer, socket);
    end(
        builder,
        outgoing,
        Incoming::Memory(Box::new(reader), beside),
    )
}

fn socket(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (here, there) = UnixStream::pair().unwrap();
    (by_socket(one, here), by_socket(other, there))
}

fn by_socket(builder: LinkBuilder, socket: UnixStream) -> Link {
    let outgoing = Outgoing::Socket(Arc::new(socket.try_clone().unwrap()));
    end(builder, outgoing, Incoming::Socket(socket))
}

/// An end with its two threads, which end with it.
fn end(builder: LinkBuilder, outgoing: Outgoing, incoming: Incoming) -> Link {
    let courier = Arc::new(Courier::default());
    let reading = Arc::new(Reading::default());
    let (waking, asking) = (Arc::clone(&courier), Arc::clone(&reading));
    let room = Arc::new(Room::default());
    let ring_room = Arc::clone(&room);
    let (link, inbound) = builder
        .carry_descriptors()
        .before_wait(courier::note_wait)
        .while_waiting(move |answer, deadline| asking.while_waiting(answer, deadline))
        .ask_from_seats()
        .read_answers_by(Arc::clone(&reading) as _)
        .build(move || {
            waking.wake();
            ring_room.ring();
        });
    courier.serve(link.clone());
    courier.write_to(outgoing);
    let writer = Arc::clone(&courier);
    thread::spawn(move || writer.write_all());
    let read = link.clone();
    thread::spawn(move || {
        reading.read_all(incoming, inbound, &read, &room);
        read.lose("it is no longer read");
        courier.take_back();
        courier.end();
    });
    link
}
