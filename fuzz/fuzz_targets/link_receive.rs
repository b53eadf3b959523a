//! Any bytes as the other side of a link with live actors: no panic, no wait, and nothing is left of it when the link has ended.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde::{Deserialize, Serialize};
use tamtam_actor::{Address, Budget, Frame, Reply};
use tamtam_link::Link;

#[derive(Serialize, Deserialize)]
enum Message {
    Read(Reply<u64>),
    Drop(Reply<u64>),
    Echo(Address<Message>, Reply<Address<Message>>),
    Forward(Address<Reply<u64>>, Reply<u64>),
    Nested(Address<Message>, Box<Message>),
    Bytes(Vec<u8>, Reply<Vec<u8>>),
    Keep(Address<Message>),
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, mut bytes)) = bytes.split_first() else {
        return;
    };
    let mut frame = Frame::new();
    let mut kept = Vec::new();
    let actor = frame.spawn_fn(move |message: Message, _| match message {
        Message::Read(reply) => reply.send(7),
        Message::Drop(reply) => drop(reply),
        Message::Echo(address, reply) => reply.send(address),
        Message::Forward(address, reply) => drop(address.tell(reply)),
        Message::Nested(address, message) => drop(address.tell(*message)),
        Message::Bytes(bytes, reply) => reply.send(bytes),
        Message::Keep(address) => kept.push(address),
    });
    let (link, mut inbound) = Link::builder()
        .longest_frame(1 << 16)
        .most_unread(1 << 20)
        .root(&actor)
        .build(|| {});
    let far = link.root::<Message>();
    let end = far.end();
    let _asked = far.ask_async(Message::Read);
    let hello: &[u8] = match first & 3 {
        1 => b"\x11\0\0\0\x01TTLK\x01\x80\x80\x04\x00\x01\x04Type\x05",
        2 => b"\x0b\0\0\0\x01TTLK\x01\x80\x80\x04\x00\x00",
        _ => b"",
    };
    inbound.receive(hello).expect("a right hello is taken");
    let portion = usize::from(first >> 2) + 1;
    let mut outgoing = Vec::new();
    while !bytes.is_empty() {
        let (now, later) = bytes.split_at(portion.min(bytes.len()));
        bytes = later;
        let received = inbound.receive(now);
        frame.pump(Budget::messages(1_000));
        outgoing.clear();
        link.take_outgoing(&mut outgoing);
        if received.is_err() {
            break;
        }
    }
    link.close();
    frame.pump(Budget::messages(1_000));
    assert!(link.ended().is_some());
    assert_eq!((link.pending(), link.addresses()), (0, (0, 0)));
    drop(end);
});
