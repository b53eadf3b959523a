//! What goes over the wire of a link over TLS, and how it ends.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rcgen::SanType;
use rustls::ClientConnection;
use rustls::version::TLS13;
use serde::{Deserialize, Serialize};
use tamtam_actor::{Address, AskError, Pool, Reply};
use tamtam_link::carrier::{Tls, tcp};
use tamtam_link::{Inbound, Link, LinkBuilder, LinkEnd};

use super::programs::{AUTHORITY, CLIENT, Program, SERVER, client, foreign_client, server, tls};
use super::proxy::Proxy;
use super::{meet, pair, until};
use crate::suite::messages::{Count, counter};

/// Two ends with a proxy between them.
fn through_a_proxy(one: LinkBuilder, other: LinkBuilder) -> (Link, Link, Proxy) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::new(listener.local_addr().unwrap());
    let listening = thread::spawn(move || {
        let socket = listener.accept().unwrap().0;
        server().accept(socket).unwrap().link(other).unwrap()
    });
    let socket = TcpStream::connect(proxy.place).unwrap();
    let here = client().connect(socket, SERVER).unwrap().link(one).unwrap();
    (here, listening.join().unwrap(), proxy)
}

/// Many bytes as they are, which takes a test less time than a list of numbers.
struct Block(Vec<u8>);

impl Serialize for Block {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl serde::de::Visitor<'_> for Bytes {
            type Value = Block;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Block, E> {
                Ok(Block(bytes.to_vec()))
            }
        }

        deserializer.deserialize_bytes(Bytes)
    }
}

/// Tells how many bytes each block had, if they are what was sent.
fn weigher(pool: &Pool) -> (Address<Block>, mpsc::Receiver<usize>) {
    let (sender, receiver) = mpsc::channel();
    let actor = pool.spawn_fn(move |Block(bytes), _| {
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        sender.send(bytes.len()).unwrap();
    });
    (actor, receiver)
}

const MIB: usize = 1 << 20;

fn large() -> LinkBuilder {
    Link::builder().most_unread(256 * MIB)
}

#[test]
fn sixty_four_mebibytes_both_ways_at_once_arrive() {
    let pool = Pool::with_threads(2);
    let (to_here, at_here) = weigher(&pool);
    let (to_there, at_there) = weigher(&pool);
    let (here, there) = pair(large().root(&to_here), large().root(&to_there));
    thread::scope(|scope| {
        for link in [&here, &there] {
            scope.spawn(|| {
                let far = link.root::<Block>();
                for number in 0..64 {
                    far.tell(Block(vec![number; MIB])).unwrap();
                }
            });
        }
    });
    for receiver in [at_here, at_there] {
        let all: usize = receiver.iter().take(64).sum();
        assert_eq!(all, 64 * MIB);
    }
    here.close();
}

#[test]
fn a_side_whose_writes_wait_goes_on_to_read() {
    let pool = Pool::with_threads(2);
    let (to_there, at_there) = weigher(&pool);
    let (sender, at_here) = mpsc::channel();
    let to_here = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
    let (here, there, proxy) = through_a_proxy(large().root(&to_here), large().root(&to_there));
    proxy.forth.is_stopped.store(true, Ordering::SeqCst);
    let far = here.root::<Block>();
    for _ in 0..32 {
        far.tell(Block(vec![1; MIB])).unwrap();
    }
    // More than sockets keep, so that the thread that writes is stuck.
    let mut before = usize::MAX;
    until("no more gets through", || {
        thread::sleep(Duration::from_millis(50));
        let now = proxy.forth.count.load(Ordering::SeqCst);
        std::mem::replace(&mut before, now) == now
    });
    assert!(before < 31 * MIB, "{before}");
    let back = there.root::<u64>();
    for number in 0..10_000 {
        back.tell(number).unwrap();
    }
    assert!((0..10_000).eq(at_here.iter().take(10_000)));
    proxy.forth.is_stopped.store(false, Ordering::SeqCst);
    assert_eq!(at_there.iter().take(32).sum::<usize>(), 32 * MIB);
    here.close();
}

const SECRET: &str = "the price of the blue one is to stay among us";

fn has_secret(bytes: &[u8]) -> bool {
    bytes
        .windows(SECRET.len())
        .any(|window| window == SECRET.as_bytes())
}

fn echo(pool: &Pool) -> Address<(String, Reply<String>)> {
    pool.spawn_fn(|(text, reply): (String, Reply<String>), _| reply.send(text))
}

#[test]
fn nothing_that_is_said_can_be_read_on_the_wire() {
    let pool = Pool::with_threads(1);
    let named = || Link::builder().program(SECRET);
    let (here, _there, proxy) = through_a_proxy(named(), named().root(&echo(&pool)));
    let far = here.root::<(String, Reply<String>)>();
    let answer = far.ask(|reply| (SECRET.to_owned(), reply));
    assert_eq!(answer.as_deref(), Ok(SECRET));
    for direction in [&proxy.forth, &proxy.back] {
        let carried = direction.carried.lock().unwrap();
        assert!(carried.len() > 500, "{} bytes", carried.len());
        assert!(!has_secret(&carried));
    }
    here.close();

    // The same look finds it where nothing is encrypted.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::new(listener.local_addr().unwrap());
    let socket = TcpStream::connect(proxy.place).unwrap();
    let here = tcp(Link::builder(), socket).unwrap();
    let root = Link::builder().root(&echo(&pool));
    let _there = tcp(root, listener.accept().unwrap().0).unwrap();
    let far = here.root::<(String, Reply<String>)>();
    far.ask(|reply| (SECRET.to_owned(), reply)).unwrap();
    for direction in [&proxy.forth, &proxy.back] {
        assert!(has_secret(&direction.carried.lock().unwrap()));
    }
    here.close();
}

fn lost(link: &Link) -> String {
    until("the link is lost", || link.ended().is_some());
    match link.ended() {
        Some(LinkEnd::Lost(words)) => words.to_string(),
        end => panic!("{end:?}"),
    }
}

#[test]
fn a_connection_that_is_cut_off_is_a_lost_link_that_says_so() {
    let pool = Pool::with_threads(1);
    let (here, there, proxy) =
        through_a_proxy(Link::builder(), Link::builder().root(&counter(&pool)));
    assert_eq!(here.root::<Count>().ask(Count::Read), Ok(0));
    proxy.cut();
    for link in [here, there] {
        let words = lost(&link);
        assert!(words.contains("it was cut off"), "{words}");
    }
}

#[test]
fn a_connection_that_is_changed_on_its_way_is_a_lost_link_that_says_so() {
    let pool = Pool::with_threads(1);
    let (here, there, proxy) =
        through_a_proxy(Link::builder(), Link::builder().root(&counter(&pool)));
    let far = here.root::<Count>();
    assert_eq!(far.ask(Count::Read), Ok(0));
    proxy.forth.changes.store(true, Ordering::SeqCst);
    assert!(far.ask(Count::Read).is_err());
    let words = lost(&there);
    assert!(words.contains("it was changed on its way"), "{words}");
    // The other side is told by an alert.
    let words = lost(&here);
    assert!(words.contains("BadRecordMac"), "{words}");
}

#[test]
fn a_link_that_is_closed_ends_in_order_at_both_sides() {
    let (here, there) = pair(Link::builder(), Link::builder());
    here.close();
    until("the other side has heard of it", || there.ended().is_some());
    assert_eq!(
        there.ended(),
        Some(LinkEnd::Goodbye("it was closed".into()))
    );
    assert_eq!(here.ended(), Some(LinkEnd::Closed));
}

#[test]
fn a_link_lasts_longer_than_its_handshake_may() {
    let limit = Duration::from_secs(5);
    let pool = Pool::with_threads(1);
    let root = Link::builder().root(&counter(&pool));
    let (here, there) = meet(
        |socket| {
            let tls = client().handshake_limit(limit);
            tls.connect(socket, SERVER)?.link(Link::builder())
        },
        |socket| server().handshake_limit(limit).accept(socket)?.link(root),
    );
    let (here, there) = (here.unwrap(), there.unwrap());
    thread::sleep(limit + limit / 8);
    assert_eq!((here.ended(), there.ended()), (None, None));
    assert_eq!(here.root::<Count>().ask(Count::Read), Ok(0));
    here.close();
}

#[test]
fn the_names_of_the_other_side_are_known_before_the_link() {
    let uri = "spiffe://example/shop";
    let shop: Tls = tls(&Program::with(&AUTHORITY, "SHOP.example", |params| {
        let names = &mut params.subject_alt_names;
        names.push(SanType::IpAddress("10.1.2.3".parse().unwrap()));
        names.push(SanType::URI(uri.try_into().unwrap()));
        names.push(SanType::DnsName("*.shop.example".try_into().unwrap()));
    }));
    let (here, there) = meet(
        |socket| {
            let connection = shop.connect(socket, SERVER).unwrap();
            assert_eq!(connection.peer().names().collect::<Vec<_>>(), [SERVER]);
            connection.link(Link::builder()).unwrap()
        },
        |socket| {
            let connection = server().accept(socket).unwrap();
            let peer = connection.peer().clone();
            let names: Vec<_> = peer.names().collect();
            assert_eq!(names, [CLIENT, "*.shop.example", uri]);
            for name in [CLIENT, "Shop.Example", "10.1.2.3", uri] {
                assert!(peer.is_named(name), "{name}");
            }
            for name in [
                "",
                "example",
                "one.shop.example",
                "10.1.2.4",
                "spiffe://example/Shop",
                "rcgen self signed cert",
            ] {
                assert!(!peer.is_named(name), "{name}");
            }
            assert!(!peer.der().is_empty());
            connection.link(Link::builder()).unwrap()
        },
    );
    here.close();
    there.close();
}

#[test]
fn a_server_may_be_named_by_its_address() {
    let server = tls(&Program::new("127.0.0.1"));
    let (here, there) = meet(
        |socket| client().connect(socket, "127.0.0.1")?.link(Link::builder()),
        |socket| server.accept(socket)?.link(Link::builder()),
    );
    here.unwrap().close();
    there.unwrap().close();
}

/// The end of a link in another program, over the library itself.
struct Foreign {
    stream: rustls::StreamOwned<ClientConnection, TcpStream>,
    link: Link,
    inbound: Inbound,
}

impl Foreign {
    fn new(socket: TcpStream) -> Self {
        let program = Program::new(CLIENT);
        let config = foreign_client(Some(&program), &TLS13, &[b"tamtam-link"]);
        let name = SERVER.try_into().unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let (link, inbound) = Link::builder().build(|| {});
        Self {
            stream: rustls::StreamOwned::new(connection, socket),
            link,
            inbound,
        }
    }

    /// A reply, and where its answer comes.
    fn reply() -> (Reply<u64>, mpsc::Receiver<Result<u64, AskError>>) {
        let (sender, answer) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        (reply, answer)
    }

    /// Encrypts what is to go, and sends it if the handshake is done.
    fn write(&mut self) {
        let mut bytes = Vec::new();
        self.link.take_outgoing(&mut bytes);
        self.stream.conn.writer().write_all(&bytes).unwrap();
        if !self.stream.conn.is_handshaking() {
            self.stream.flush().unwrap();
        }
    }

    fn read_until(&mut self, answer: &mpsc::Receiver<Result<u64, AskError>>) -> u64 {
        loop {
            if let Ok(answer) = answer.try_recv() {
                return answer.unwrap();
            }
            let mut bytes = [0; 1000];
            let count = self.stream.read(&mut bytes).unwrap();
            self.inbound.receive(&bytes[..count]).unwrap();
        }
    }

    /// Ends without a goodbye, and in order.
    fn end(mut self) {
        self.stream.conn.send_close_notify();
        self.stream.flush().unwrap();
    }
}

/// Lets an end that is no link of ours talk with one that is, about a counter, until it ends in order.
fn talk(foreign: impl FnOnce(&mut Foreign) + Send) {
    let pool = Pool::with_threads(1);
    let root = Link::builder().root(&counter(&pool));
    let ((), there) = meet(
        |socket| {
            let mut end = Foreign::new(socket);
            foreign(&mut end);
            end.end();
        },
        |socket| server().accept(socket).unwrap().link(root).unwrap(),
    );
    assert_eq!(lost(&there), "it has closed the stream");
}

#[test]
fn keys_may_change_while_a_link_goes_on() {
    talk(|foreign| {
        let far = foreign.link.root::<Count>();
        for number in 1..=20 {
            far.tell(Count::Add(1)).unwrap();
            let (reply, answer) = Foreign::reply();
            far.tell(Count::Read(reply)).unwrap();
            foreign.write();
            assert_eq!(foreign.read_until(&answer), number);
            // What comes next has another key, and demands one of the other side's.
            foreign.stream.conn.refresh_traffic_keys().unwrap();
        }
    });
}

#[test]
fn what_comes_together_with_the_end_of_the_handshake_is_not_lost() {
    talk(|foreign| {
        let far = foreign.link.root::<Count>();
        let (reply, answer) = Foreign::reply();
        far.tell(Count::Text("x".repeat(40_000), reply)).unwrap();
        // It goes out with the last message of the handshake.
        foreign.write();
        assert_eq!(foreign.read_until(&answer), 40_000);
    });
}
