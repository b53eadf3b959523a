//! Two ends of a link over each carrier that there is.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use tamtam_actor::Stepper;
use tamtam_link::{Inbound, Link, LinkBuilder, carrier};

use crate::suite::Pair;

pub(crate) const ALL: &[(&str, Pair)] = &[
    ("memory, whole", |one, other| memory(one, other, usize::MAX)),
    ("memory, byte by byte", |one, other| memory(one, other, 1)),
    #[cfg(unix)]
    ("Unix socket", unix),
    ("TCP", tcp),
    #[cfg(unix)]
    ("pipes", pipes),
    ("streams", streams),
    #[cfg(feature = "tls")]
    ("TLS", crate::tls::pair),
    ("steps of a stepper", stepped),
    #[cfg(feature = "json")]
    ("memory, as JSON, in pieces of seven bytes", |one, other| {
        memory(as_json(one), as_json(other), 7)
    }),
    #[cfg(all(feature = "json", unix))]
    ("Unix socket, as JSON", |one, other| {
        unix(as_json(one), as_json(other))
    }),
];

#[cfg(feature = "json")]
fn as_json(builder: LinkBuilder) -> LinkBuilder {
    builder.encoding(tamtam_link::Encoding::Json)
}

/// No input or output: a thread for each direction carries portions of so many bytes.
fn memory(one: LinkBuilder, other: LinkBuilder, portion: usize) -> (Link, Link) {
    let ends = [one, other].map(|builder| {
        let (ring, rung) = mpsc::channel();
        let (link, inbound) = builder.build(move || {
            let _ = ring.send(());
        });
        (link, inbound, rung)
    });
    let [(one, to_one, of_one), (other, to_other, of_other)] = ends;
    carry(one.clone(), of_one, other.clone(), to_other, portion);
    carry(other.clone(), of_other, one.clone(), to_one, portion);
    (one, other)
}

fn carry(from: Link, rung: mpsc::Receiver<()>, to: Link, mut inbound: Inbound, portion: usize) {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            from.take_outgoing(&mut bytes);
            for portion in bytes.chunks(portion) {
                if inbound.receive(portion).is_err() {
                    return;
                }
            }
            if bytes.is_empty() {
                if let Some(end) = from.ended() {
                    return to.lose(&format!("the memory is gone: {end}"));
                }
                let _ = rung.recv();
            }
        }
    });
}

#[cfg(unix)]
fn unix(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
    (
        carrier::unix(one, here).unwrap(),
        carrier::unix(other, there).unwrap(),
    )
}

fn tcp(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    (
        carrier::tcp(one, here).unwrap(),
        carrier::tcp(other, there).unwrap(),
    )
}

#[cfg(unix)]
fn pipes(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (to_other, from_one) = std::io::pipe().unwrap();
    let (to_one, from_other) = std::io::pipe().unwrap();
    (
        carrier::pipes(one, to_one, from_one).unwrap(),
        carrier::pipes(other, to_other, from_other).unwrap(),
    )
}

fn streams(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (to_other, from_one) = std::io::pipe().unwrap();
    let (to_one, from_other) = std::io::pipe().unwrap();
    (
        carrier::streams(one, to_one, from_one, || {}).unwrap(),
        carrier::streams(other, to_other, from_other, || {}).unwrap(),
    )
}

/// A thread of its own takes the steps, in an order that a seed chooses, whenever there is one to take.
fn stepped(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (give, given) = mpsc::channel();
    thread::spawn(move || {
        let stepper = Stepper::with_seed(7);
        let steps = thread::current();
        let link = carrier::stepped_and_rung(&stepper, one, other, move || steps.unpark());
        let ends = (link.one().clone(), link.other().clone());
        let _ = give.send(ends.clone());
        drop(link);
        loop {
            let are_over = ends.0.ended().is_some() && ends.1.ended().is_some();
            stepper.run();
            if are_over {
                return;
            }
            thread::park();
        }
    });
    given.recv().unwrap()
}
