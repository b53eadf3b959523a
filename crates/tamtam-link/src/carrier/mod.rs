//! Carriers: two threads each, one that reads for a link and one that writes.
//!
//! Over a socket, on Linux, a thread that asks reads its answer itself, instead of being woken by the one that reads.
//!
//! A question, or an answer, is written at once by the thread that sends it, with what is before it, if the carrier takes that without
//! waiting and no other thread writes: the one that writes for the link need not wake up for it. Messages that are not waited for are left to that thread, which writes many at once.
//!
//! A thread that gives one actor after another its turn leaves all but the first of them until it is through with what is due: many then go in
//! one piece, which costs one call of the system, at this side and at the other one. The thread that writes looks after a moment whether they have gone.
//!
//! What connects and does not say hello has the two threads and its descriptors for as long as [`LinkBuilder::hello_limit`] says.
//!
//! Of a side that is not trusted no more is read while too much of what it has sent waits for actors: see [`LinkBuilder::most_unhandled`].
//!
//! A link ends with its carrier, and a carrier with its link. The last [`Link`] that is dropped leaves both as they are; to end
//! them there is [`Link::close`]. What is outgoing then still goes; but another side that takes less than 64 KiB of it in 2 seconds is not
//! waited for: threads and socket are given back, whatever it does.

#[cfg(all(test, tamtam_loom))]
mod loom_tests;
mod outlet;
#[cfg(unix)]
mod pipes;
#[cfg(target_os = "linux")]
mod reading;
#[cfg(target_os = "linux")]
#[doc(hidden)]
pub mod rights;
mod room;
mod stepped;
#[cfg(feature = "tls")]
mod tls;
mod writing;

use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use tamtam_wait::seam::thread;

use self::outlet::{Attempt, Outgoing, Outlet, Stream};
#[cfg(unix)]
pub use self::pipes::pipes;
#[cfg(unix)]
#[doc(hidden)]
pub use self::room::has_closed;
#[doc(hidden)]
pub use self::room::{Room, RoomWait};
pub use self::stepped::{SteppedLink, stepped};
#[doc(hidden)]
pub use self::stepped::{Way, stepped_and_rung};
#[cfg(feature = "tls")]
pub use self::tls::{Authorities, Identity, PeerCertificate, Tls, TlsConnection};
use self::writing::Writing;
use crate::core::{Core, SendAtOnce};
use crate::inbound::Inbound;
use crate::link::{Link, LinkBuilder};
#[cfg(target_os = "linux")]
use {
    self::reading::Reading,
    rustix::net::{RecvFlags, recv},
    std::os::fd::AsFd,
    tamtam_actor::link::TakenDescriptor,
};

/// How much is read at once.
const PORTION: usize = 64 << 10;

/// A link over a Unix socket, which may be one that does not block; it does from then on. On Linux, messages may have descriptors in them: the ends of shared memory, for instance.
///
/// # Errors
///
/// If the system has no descriptor to wait for the socket by, or no thread.
#[cfg(unix)]
pub fn unix(builder: LinkBuilder, socket: UnixStream) -> io::Result<Link> {
    // A write waits for room.
    socket.set_nonblocking(false)?;
    let socket = Arc::new(socket);
    let shut = Arc::clone(&socket);
    let close = move || {
        let _ = shut.shutdown(std::net::Shutdown::Both);
    };
    #[cfg(target_os = "linux")]
    return carry_socket(
        builder.carry_descriptors(),
        Arc::clone(&socket),
        rights::Rights(socket),
        |socket, bytes, descriptors| {
            rights::receive_with(socket, bytes, descriptors, RecvFlags::DONTWAIT)
        },
        close,
    );
    #[cfg(not(target_os = "linux"))]
    {
        let asked = Arc::clone(&socket);
        let is_gone = move || has_closed(&asked);
        let read = socket.try_clone()?;
        carry_bytes(builder, read, is_gone, outlet::Socket(socket), close)
    }
}

/// A link over TCP, within this machine; a socket that does not block does from then on. What is sent is not encrypted, and no side proves which program it is.
///
/// # Errors
///
/// If the other side has no loopback address; if the system has no descriptor to wait for the socket by, or no thread.
pub fn tcp(builder: LinkBuilder, socket: TcpStream) -> io::Result<Link> {
    let other = socket.peer_addr()?;
    // Where IPv6 writes it the one of IPv4 is a loopback address, too.
    if !other.ip().to_canonical().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{other} is no loopback address, and bare TCP is neither encrypted nor proves who is there: connect to 127.0.0.1 or [::1] within this \
                 machine, or go by TLS (`carrier::Tls`, feature `tls`)"
            ),
        ));
    }
    // A write waits for room.
    socket.set_nonblocking(false)?;
    // A question waits for its answer, not for more to send with it.
    socket.set_nodelay(true)?;
    let socket = Arc::new(socket);
    let shut = Arc::clone(&socket);
    let close = move || {
        let _ = shut.shutdown(std::net::Shutdown::Both);
    };
    #[cfg(target_os = "linux")]
    return carry_socket(
        builder,
        Arc::clone(&socket),
        outlet::Socket(socket),
        |socket, bytes, _| Ok(recv(socket, bytes, RecvFlags::DONTWAIT)?.0),
        close,
    );
    #[cfg(not(target_os = "linux"))]
    {
        let read = socket.try_clone()?;
        #[cfg(unix)]
        let (is_gone, write) = {
            let asked = Arc::clone(&socket);
            (move || has_closed(&asked), outlet::Socket(socket))
        };
        #[cfg(not(unix))]
        let (is_gone, write) = (|| false, Stream(socket.try_clone()?));
        carry_bytes(builder, read, is_gone, write, close)
    }
}

/// A link over a socket, of which `read` takes what is there without waiting: see [`reading`].
#[cfg(target_os = "linux")]
fn carry_socket<S: AsFd + Send + Sync + 'static>(
    builder: LinkBuilder,
    socket: Arc<S>,
    write: impl Outlet,
    mut read: impl FnMut(&S, &mut [u8], &mut Vec<TakenDescriptor>) -> io::Result<usize> + Send + 'static,
    close: impl FnOnce() + Send + 'static,
) -> io::Result<Link> {
    let (reading, thread) = Reading::new(Arc::clone(&socket) as _)?;
    let builder = builder.while_waiting(move |answer, deadline| {
        reading.while_waiting(answer, deadline);
    });
    let read_all = move |link, inbound, room: &Room| {
        thread.read_all(link, inbound, room, move |bytes, descriptors| {
            read(&socket, bytes, descriptors)
        });
    };
    carry(builder, read_all, write, close)
}

/// A link over two streams. `close` is called, once, when the link has ended and all is written, or the other side does not take the rest
/// within 2 seconds. It ends a read and a write that wait, if it can: one that goes on waiting keeps its thread and its stream. For pipes there
/// is [`pipes`], which keeps neither.
///
/// While another side that is not trusted [is not read](LinkBuilder::most_unhandled), a read is what would tell that it is gone: over two streams that
/// is heard when the actors here have gone on, whereas over a socket, pipes and TLS it is heard at once.
///
/// # Errors
///
/// If the system has no thread.
pub fn streams(
    builder: LinkBuilder,
    read: impl Read + Send + 'static,
    write: impl Write + Send + 'static,
    close: impl FnOnce() + Send + 'static,
) -> io::Result<Link> {
    carry_bytes(builder, read, || false, Stream(write), close)
}

/// A link over what reads bytes and what writes them, without descriptors. While it may not read, it asks `is_gone` whether the other side is gone, so
/// that no more will come than there is.
fn carry_bytes(
    builder: LinkBuilder,
    mut read: impl Read + Send + 'static,
    is_gone: impl FnMut() -> bool + Send + 'static,
    write: impl Outlet,
    close: impl FnOnce() + Send + 'static,
) -> io::Result<Link> {
    carry(
        builder,
        move |link, inbound, room| {
            read_all(&link, inbound, room, is_gone, |bytes| read.read(bytes));
        },
        write,
        close,
    )
}

/// A link over what writes all it is given, with the descriptors that go. `read_all` reads for it, on a thread of its own, until it is over.
fn carry(
    builder: LinkBuilder,
    read_all: impl FnOnce(Link, Inbound, &Room) + Send + 'static,
    write: impl Outlet,
    close: impl FnOnce() + Send + 'static,
) -> io::Result<Link> {
    let writing = Writing::new(close);
    let outgoing = Arc::new(Outgoing::new(write));
    let builder = builder.send_at_once(WriteAtOnce {
        outgoing: Arc::clone(&outgoing),
        writing: Arc::clone(&writing),
    });
    let room = Arc::new(Room::default());
    let (ringer, ring_room) = (Arc::clone(&writing), Arc::clone(&room));
    let hello_limit = builder.hello_limit;
    let (link, inbound) = builder.build(move || {
        ringer.ring();
        ring_room.ring();
    });
    let (writer, own) = (link.clone(), Arc::clone(&writing));
    thread::Builder::new()
        .name("tamtam-link-write".to_owned())
        .spawn(move || {
            outgoing.write_all(&writer, &own);
            own.end();
        })?;
    let reader = link.clone();
    let spawned = thread::Builder::new()
        .name("tamtam-link-read".to_owned())
        .spawn(move || read_all(reader, inbound, &room));
    if let Err(error) = spawned {
        // The writer's thread ends by it.
        link.lose("there is no thread to read");
        writing.begin(&link);
        return Err(error);
    }
    writing.begin(&link);
    link.expect_hello(hello_limit);
    Ok(link)
}

/// How a thread that has written a question or an answer sends it.
struct WriteAtOnce<O> {
    outgoing: Arc<Outgoing<O>>,
    writing: Arc<Writing>,
}

impl<O: Outlet> SendAtOnce for WriteAtOnce<O> {
    fn send_now(&self, core: &Core, had_outgoing: bool) -> bool {
        let attempt = self.outgoing.write_now(core, &self.writing);
        match attempt {
            Attempt::Written => {}
            // Who added the first of it sees to it.
            Attempt::Busy if had_outgoing => {}
            Attempt::Busy | Attempt::Left => self.writing.ring(),
        }
        attempt == Attempt::Written
    }

    fn send_soon(&self) {
        self.writing.note_left();
    }
}

fn read_all(
    link: &Link,
    mut inbound: Inbound,
    room: &Room,
    mut is_gone: impl FnMut() -> bool,
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) {
    let mut portion = vec![0; PORTION];
    let mut is_last = false;
    loop {
        // What is left is little, and is read whether it has room or not.
        is_last = is_last || room.wait(link, &mut is_gone) == RoomWait::IsLast;
        match read(&mut portion) {
            Ok(0) => return link.lose("it has closed the stream"),
            Ok(count) => {
                if inbound.receive(&portion[..count]).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return link.lose(&format!("the stream cannot be read: {error}")),
        }
    }
}
