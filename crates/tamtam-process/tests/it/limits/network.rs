//! Ways to other machines, and to other processes by sockets.

use std::io;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};

use tamtam_process::limits::Limits;

use super::{Needs, Walls, at, call, doubly_untrusted, untrusted, way_out};

/// With `no_network` alone, too: it holds without the other two as far as sockets go.
fn to_the_network<S>(
    test: &str,
    landlock: bool,
    set_up: impl Fn() -> S,
    way: impl Fn(&S) -> io::Result<()>,
) {
    let mut tried = if landlock {
        doubly_untrusted()
    } else {
        untrusted()
    };
    tried.push((Limits::new().no_network(), &[Walls::Both, Walls::Filter]));
    way_out(
        &format!("network::{test}"),
        Needs::Nothing,
        &tried,
        set_up,
        way,
    );
}

#[test]
fn tcp_connects() {
    let listen = || TcpListener::bind("127.0.0.1:0").unwrap();
    to_the_network("tcp_connects", true, listen, |listener| {
        TcpStream::connect(listener.local_addr()?).map(drop)
    });
}

#[test]
fn tcp_listens() {
    to_the_network(
        "tcp_listens",
        true,
        || (),
        |()| TcpListener::bind("127.0.0.1:0").map(drop),
    );
}

#[test]
fn udp_sends() {
    let receive = || UdpSocket::bind("127.0.0.1:0").unwrap();
    to_the_network("udp_sends", false, receive, |receiver| {
        let sender = UdpSocket::bind("127.0.0.1:0")?;
        sender.send_to(b"out", receiver.local_addr()?).map(drop)
    });
}

/// Two sockets that the worker has inherited.
fn two_datagram_sockets() -> (UdpSocket, UdpSocket) {
    let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
    (bind(), bind())
}

#[test]
fn an_inherited_socket_sends() {
    let test = "an_inherited_socket_sends";
    to_the_network(test, false, two_datagram_sockets, |(mine, theirs)| {
        mine.send_to(b"out", theirs.local_addr()?).map(drop)
    });
}

#[test]
fn an_inherited_socket_connects() {
    let test = "an_inherited_socket_connects";
    to_the_network(test, false, two_datagram_sockets, |(mine, theirs)| {
        mine.connect(theirs.local_addr()?)
    });
}

#[test]
fn an_inherited_socket_sends_a_message_with_an_address() {
    let test = "an_inherited_socket_sends_a_message_with_an_address";
    to_the_network(test, false, two_datagram_sockets, |(mine, theirs)| {
        let [high, low] = theirs.local_addr()?.port().to_be_bytes();
        // `sockaddr_in`, `iovec` and `msghdr`.
        let address: [u8; 16] = [2, 0, high, low, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let bytes = [at(b"out"), 3];
        let message = [at(&address), address.len(), at(&bytes), 1, 0, 0, 0];
        call(
            libc::SYS_sendmsg,
            [mine.as_raw_fd() as usize, at(&message), 0],
        )
        .map(drop)
    });
}

#[test]
fn an_inherited_listener_accepts() {
    let waiting = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let caller = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (listener, caller)
    };
    to_the_network(
        "an_inherited_listener_accepts",
        false,
        waiting,
        |(listener, _)| {
            listener.set_nonblocking(true)?;
            match listener.accept() {
                // The run without limits has taken it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
                other => other.map(drop),
            }
        },
    );
}

#[test]
fn a_unix_socket_connects() {
    let listen = || {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        (folder, listener)
    };
    to_the_network("a_unix_socket_connects", false, listen, |(folder, _)| {
        UnixStream::connect(folder.path().join("socket")).map(drop)
    });
}

#[test]
fn an_abstract_unix_socket_connects() {
    let listen = || {
        let address = SocketAddr::from_abstract_name(format!("tamtam-{}", std::process::id()));
        let address = address.unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        (address, listener)
    };
    // A name can be bound once.
    let test = "an_abstract_unix_socket_connects";
    let once = listen();
    to_the_network(
        test,
        true,
        || &once,
        |(address, _)| UnixStream::connect_addr(address).map(drop),
    );
}

#[test]
fn a_pair_of_datagram_sockets_sends_elsewhere() {
    let receive = || {
        let folder = tempfile::tempdir().unwrap();
        let receiver = UnixDatagram::bind(folder.path().join("socket")).unwrap();
        (folder, receiver)
    };
    let test = "a_pair_of_datagram_sockets_sends_elsewhere";
    to_the_network(test, false, receive, |(folder, _)| {
        let sender = UnixDatagram::pair()?.0;
        // A pair is connected; an address in a message goes elsewhere all the same.
        sender
            .send_to(b"out", folder.path().join("socket"))
            .map(drop)
    });
}

/// Pairs that are streams can be made; see `works::a_pair_of_sockets_within_the_worker`.
#[test]
fn a_pair_of_datagram_sockets_is_made() {
    to_the_network(
        "a_pair_of_datagram_sockets_is_made",
        false,
        || (),
        |()| UnixDatagram::pair().map(drop),
    );
}

fn a_socket(test: &str, needs: Needs, family: i32, kind: i32, protocol: i32) {
    way_out(
        &format!("network::{test}"),
        needs,
        &untrusted(),
        || (),
        |()| {
            let given = [family as usize, kind as usize, protocol as usize];
            call(libc::SYS_socket, given).map(drop)
        },
    );
}

#[test]
fn a_socket_of_version_6_is_opened() {
    let test = "a_socket_of_version_6_is_opened";
    a_socket(test, Needs::Rights, libc::AF_INET6, libc::SOCK_DGRAM, 0);
}

#[test]
fn a_raw_socket_is_opened() {
    let protocol = libc::IPPROTO_ICMP;
    a_socket(
        "a_raw_socket_is_opened",
        Needs::Rights,
        libc::AF_INET,
        libc::SOCK_RAW,
        protocol,
    );
}

#[test]
fn a_packet_socket_is_opened() {
    a_socket(
        "a_packet_socket_is_opened",
        Needs::Rights,
        libc::AF_PACKET,
        libc::SOCK_RAW,
        0,
    );
}

#[test]
fn a_netlink_socket_is_opened() {
    let test = "a_netlink_socket_is_opened";
    a_socket(
        test,
        Needs::Rights,
        libc::AF_NETLINK,
        libc::SOCK_RAW,
        libc::NETLINK_ROUTE,
    );
}

#[test]
fn a_socket_of_the_machine_below_is_opened() {
    let test = "a_socket_of_the_machine_below_is_opened";
    a_socket(test, Needs::Rights, libc::AF_VSOCK, libc::SOCK_STREAM, 0);
}

#[test]
fn a_socket_of_the_kernels_ciphers_is_opened() {
    let test = "a_socket_of_the_kernels_ciphers_is_opened";
    a_socket(test, Needs::Rights, libc::AF_ALG, libc::SOCK_SEQPACKET, 0);
}
