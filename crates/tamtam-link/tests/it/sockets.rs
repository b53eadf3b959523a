//! What holds over sockets alone: what lies in them when a side goes, how much waits there, and where they may lead.
#![cfg(unix)]

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;

use tamtam_actor::{Address, Pool, Reply};
use tamtam_link::{Link, LinkEnd, carrier};

use crate::suite::until;

/// Its first write fails, while what the other side has said lies there.
#[test]
fn what_the_other_side_said_before_it_went_is_read_by_one_that_cannot_write() {
    for _ in 0..100 {
        let pool = Pool::with_threads(1);
        let (sender, receiver) = mpsc::channel();
        let list = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
        let (mut gone, socket) = UnixStream::pair().unwrap();
        let (link, _inbound) = Link::builder().build(|| {});
        let far = link.root::<u64>();
        for number in 0..1_000 {
            far.tell(number).unwrap();
        }
        link.close();
        let mut said = Vec::new();
        link.take_outgoing(&mut said);
        gone.write_all(&said).unwrap();
        drop(gone);
        let here = carrier::unix(Link::builder().root(&list), socket).unwrap();
        until("the link has ended", || here.ended().is_some());
        assert_eq!(here.ended(), Some(LinkEnd::Goodbye("it was closed".into())));
        assert!((0..1_000).eq(receiver.iter().take(1_000)));
    }
}

/// What waits for another side that reads nothing is bounded, however small the bound is, also while a turn leaves what it writes.
#[test]
fn a_turn_leaves_no_more_than_may_be_unread() {
    let (here, _never_read) = UnixStream::pair().unwrap();
    let link = carrier::unix(Link::builder().most_unread(2_000), here).unwrap();
    let far: Address<Reply<()>> = link.root();
    let pool = Pool::with_threads(1);
    let (say, said) = mpsc::channel();
    let asker = pool.spawn_fn(move |(), _| {
        while far.tell(Reply::to(drop)).is_ok() {}
        say.send(()).unwrap();
    });
    asker.tell(()).unwrap();
    said.recv().unwrap();
    match link.ended() {
        Some(LinkEnd::Unread(bytes)) => assert!((2_001..2_100).contains(&bytes), "{bytes}"),
        other => panic!("{other:?}"),
    }
}

/// Two ends of a connection to this address of this machine.
fn connected(to: IpAddr) -> (TcpStream, TcpStream) {
    let any: IpAddr = match to {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let listener = TcpListener::bind((any, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let here = TcpStream::connect(SocketAddr::new(to, port)).unwrap();
    let (there, _) = listener.accept().unwrap();
    (here, there)
}

#[test]
fn bare_tcp_to_what_is_no_loopback_address_is_refused_with_what_to_do() {
    // Nothing is sent: it is asked from which address that would be.
    let probe = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    let own = probe
        .connect("192.0.2.1:9")
        .and_then(|()| probe.local_addr());
    let own = match own {
        Ok(own) if !own.ip().is_loopback() => own.ip(),
        _ => return println!("this machine has no address but the loopback one"),
    };
    let (here, there) = connected(own);
    let other = here.peer_addr().unwrap();
    for end in [here, there] {
        let refused = carrier::tcp(Link::builder(), end).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        let said = refused.to_string();
        assert!(said.contains(&own.to_string()), "{said}");
        assert!(said.contains("127.0.0.1") && said.contains("TLS"), "{said}");
    }
    assert!(!other.ip().is_loopback());
}

/// A listener for both families names a program that comes by IPv4 so.
#[test]
fn a_loopback_address_is_one_also_as_ipv6_writes_those_of_ipv4() {
    let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped().into();
    if TcpListener::bind("[::]:0").is_err() {
        return println!("this machine has no IPv6");
    }
    let pool = Pool::with_threads(1);
    let doubler = pool.spawn_fn(|(number, reply): (u32, Reply<u32>), _| reply.send(2 * number));
    let (here, there) = connected(mapped);
    assert!(!here.peer_addr().unwrap().ip().is_loopback());
    let _offered = carrier::tcp(Link::builder().root(&doubler), there).unwrap();
    let link = carrier::tcp(Link::builder(), here).unwrap();
    let far: Address<(u32, Reply<u32>)> = link.root();
    assert_eq!(far.ask(|reply| (21, reply)), Ok(42));
    link.close();
}

/// What it cannot take at once is waited for, however it was made.
#[test]
fn a_socket_that_does_not_block_carries_what_it_cannot_take_at_once() {
    const BYTES: usize = 5_000_000;
    let pool = Pool::with_threads(1);
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    for kind in ["Unix", "TCP"] {
        let (say, said) = mpsc::channel();
        let root = pool.spawn_fn(move |text: String, _| say.send(text.len()).unwrap());
        let there = Link::builder().root(&root);
        let (here, _there) = if kind == "Unix" {
            let (one, other) = UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            (
                carrier::unix(Link::builder(), one).unwrap(),
                carrier::unix(there, other).unwrap(),
            )
        } else {
            let (one, other) = connected(loopback);
            one.set_nonblocking(true).unwrap();
            (
                carrier::tcp(Link::builder(), one).unwrap(),
                carrier::tcp(there, other).unwrap(),
            )
        };
        let far: Address<String> = here.root();
        for _ in 0..5 {
            far.tell("x".repeat(BYTES))
                .unwrap_or_else(|_| panic!("{kind}: {:?}", here.ended()));
        }
        for _ in 0..5 {
            assert_eq!(said.recv().unwrap(), BYTES, "{kind}");
        }
        assert_eq!(here.ended(), None, "{kind}");
    }
}
