//! Links over TLS: what is refused and in which words, what goes over the wire, and how a link ends.

mod programs;
mod proxy;
mod refused;
mod wire;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use tamtam_link::carrier::{Tls, TlsConnection};
use tamtam_link::{Link, LinkBuilder};

use self::programs::{SERVER, client, server};

/// Two ends of a link between two programs that trust each other.
pub(crate) fn pair(one: LinkBuilder, other: LinkBuilder) -> (Link, Link) {
    let (one, other) = meet(
        |socket| client().connect(socket, SERVER)?.link(one),
        |socket| server().accept(socket)?.link(other),
    );
    (one.unwrap(), other.unwrap())
}

/// What becomes of a connection, at the side that connects and at the one that listens.
fn meet<A, B: Send>(
    connecting: impl FnOnce(TcpStream) -> A,
    listening: impl FnOnce(TcpStream) -> B + Send,
) -> (A, B) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (there, _) = listener.accept().unwrap();
    for socket in [&here, &there] {
        // A program of the test that waits in vain fails; ours has limits of its own.
        let limit = Some(Duration::from_secs(60));
        socket.set_read_timeout(limit).unwrap();
    }
    thread::scope(|scope| {
        let there = scope.spawn(move || listening(there));
        let here = connecting(here);
        (here, there.join().unwrap())
    })
}

/// What the listening side says to a program that does this with its socket.
fn accepting(tls: &Tls, program: impl FnOnce(TcpStream)) -> io::Error {
    let ((), accepted) = meet(program, |socket| tls.accept(socket));
    failed(accepted)
}

/// What the connecting side says to a program that does this with its socket.
fn connecting(tls: &Tls, program: impl FnOnce(TcpStream) + Send) -> io::Error {
    let (connected, ()) = meet(|socket| tls.connect(socket, SERVER), program);
    failed(connected)
}

fn failed(result: io::Result<TlsConnection>) -> io::Error {
    let error = result.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("no link with 127.0.0.1:"), "{text}");
    error
}

fn assert_says(error: &io::Error, kind: io::ErrorKind, words: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

/// Until it holds, which it does at once or soon.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}
