//! A link of a given speed: a proxy on the loopback, which passes on what a server answers no faster than that.
//!
//! What goes up to the server is not slowed, and nothing is added to the latency: a total is the server's work, the bytes
//! of the answer with its headers at the speed of the link, and the client's work.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// As much as a packet of Ethernet carries: what a slow link passes on at once.
const PACKET: usize = 1_448;

/// What a fast link passes on at once takes it this long: shorter waits are not kept by a system.
const LEAST_WAIT: Duration = Duration::from_micros(250);

/// A sleep ends this much later than it should, so that the rest is waited for awake.
const OVERSLEEP: Duration = Duration::from_micros(150);

/// How many pieces are read ahead: as much as waits before a link.
const PIECES: usize = 64;

/// A link to a server, until it is dropped.
#[derive(Debug)]
pub(super) struct ThrottledLink {
    address: SocketAddr,
    is_closed: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

/// What all connections of a link share.
#[derive(Debug)]
struct Line {
    bits_per_second: u64,
    /// Until when it is busy with what was given to it.
    busy_until: Mutex<Instant>,
}

impl ThrottledLink {
    /// A link of this speed to the server at `to`.
    ///
    /// # Errors
    /// If no socket or no thread is to be had.
    pub(super) fn open(to: SocketAddr, bits_per_second: u64) -> Result<ThrottledLink> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .context("no socket for a throttled link can be opened")?;
        let address = listener.local_addr()?;
        let is_closed = Arc::new(AtomicBool::new(false));
        let line = Arc::new(Line {
            bits_per_second,
            busy_until: Mutex::new(Instant::now()),
        });
        let closed = Arc::clone(&is_closed);
        let accepting = thread::Builder::new()
            .name("throttled link".to_owned())
            .spawn(move || {
                for client in listener.incoming() {
                    if closed.load(Ordering::Acquire) {
                        return;
                    }
                    // A client that cannot be served sees its connection end.
                    let _ = client.and_then(|client| connect(client, to, Arc::clone(&line)));
                }
            })
            .context("no thread for a throttled link can be started")?;
        Ok(ThrottledLink {
            address,
            is_closed,
            accepting: Some(accepting),
        })
    }

    #[must_use]
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a client finds the server behind the link.
    #[must_use]
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for ThrottledLink {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Release);
        // The thread looks once it has been called; those of connections end with these.
        if TcpStream::connect(self.address).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

/// Joins a client to the server: a thread for the way up, and two for the way down.
fn connect(client: TcpStream, to: SocketAddr, line: Arc<Line>) -> std::io::Result<()> {
    let server = TcpStream::connect(to)?;
    for end in [&client, &server] {
        end.set_nodelay(true)?;
    }
    let (mut asking, mut asked) = (client.try_clone()?, server.try_clone()?);
    thread::Builder::new()
        .name("link, up".to_owned())
        .spawn(move || {
            let _ = std::io::copy(&mut asking, &mut asked);
            let _ = asked.shutdown(Shutdown::Write);
        })?;
    let (queue, pieces) = sync_channel(PIECES);
    let coming = server.try_clone()?;
    let most = piece(line.bits_per_second);
    thread::Builder::new()
        .name("link, coming".to_owned())
        .spawn(move || read(coming, most, &queue))?;
    thread::Builder::new()
        .name("link, down".to_owned())
        .spawn(move || {
            line.pass(&pieces, &client);
            for end in [&client, &server] {
                let _ = end.shutdown(Shutdown::Both);
            }
        })?;
    Ok(())
}

/// What has come to the link, and when.
#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    came: Instant,
}

/// Reads what comes, at most so many bytes at once, until the server or the way down has ended.
fn read(mut from: TcpStream, most: usize, queue: &SyncSender<Piece>) {
    loop {
        let mut bytes = vec![0; most];
        match from.read(&mut bytes) {
            Ok(0) => return,
            Ok(length) => bytes.truncate(length),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let came = Instant::now();
        if queue.send(Piece { bytes, came }).is_err() {
            return;
        }
    }
}

/// How many bytes a link of this speed passes on at once, at most.
pub(super) fn piece(bits_per_second: u64) -> usize {
    let at_once = bits_per_second as f64 / 8.0 * LEAST_WAIT.as_secs_f64();
    PACKET.max(at_once as usize)
}

impl Line {
    /// How long so many bytes take.
    fn takes(&self, bytes: usize) -> Duration {
        Duration::from_secs_f64(bytes as f64 * 8.0 / self.bits_per_second as f64)
    }

    /// Passes on what comes, each piece when its last bit would have arrived, until a client takes no more.
    fn pass(&self, pieces: &Receiver<Piece>, mut to: &TcpStream) {
        for Piece { bytes, came } in pieces {
            wait_until(self.book(bytes.len(), came));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
    }

    /// When so many bytes have gone over the line. What came while this was late with others has been on its way meanwhile.
    fn book(&self, length: usize, came: Instant) -> Instant {
        let mut busy_until = self
            .busy_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *busy_until = came.max(*busy_until) + self.takes(length);
        *busy_until
    }
}

fn wait_until(due: Instant) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        match left.checked_sub(OVERSLEEP) {
            Some(sleep) if !sleep.is_zero() => thread::sleep(sleep),
            _ => std::hint::spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, ThrottledLink};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::{Barrier, Mutex};
    use std::thread;
    use std::time::{Duration, Instant};

    /// A server that answers each connection's first byte with so many bytes, and its second one with "end".
    fn server(bytes: usize) -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for client in listener.incoming() {
                thread::spawn(move || {
                    let mut client = client.unwrap();
                    let mut asked = [0];
                    client.read_exact(&mut asked).unwrap();
                    let answer: Vec<u8> = (0..bytes).map(|place| place as u8).collect();
                    client.write_all(&answer).unwrap();
                    client.read_exact(&mut asked).unwrap();
                    client.write_all(b"end").unwrap();
                });
            }
        });
        address
    }

    fn taken(url: &str, bytes: usize) -> Duration {
        let mut client = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
        let begun = Instant::now();
        client.write_all(b"?").unwrap();
        let mut answer = vec![0; bytes];
        client.read_exact(&mut answer).unwrap();
        let took = begun.elapsed();
        assert!(
            answer
                .iter()
                .enumerate()
                .all(|(place, byte)| *byte == place as u8)
        );
        client.write_all(b"?").unwrap();
        let mut end = String::new();
        client.read_to_string(&mut end).unwrap();
        assert_eq!(end, "end");
        took
    }

    #[test]
    fn an_answer_is_never_earlier_than_its_bytes_at_the_speed() {
        for (bits_per_second, bytes) in [(8_000_000, 100_000), (1_000_000_000, 5_000_000)] {
            let link = ThrottledLink::open(server(bytes), bits_per_second).unwrap();
            let computed = Duration::from_secs_f64(bytes as f64 * 8.0 / bits_per_second as f64);
            let least = (0..5).map(|_| taken(&link.url(), bytes)).min().unwrap();
            // The first packet comes at its last bit, so that nothing is early.
            assert!(least >= computed, "{least:?} of {computed:?}");
        }
    }

    #[test]
    fn those_who_share_a_link_share_its_speed() {
        let link = ThrottledLink::open(server(50_000), 8_000_000).unwrap();
        let (url, start) = (link.url(), Barrier::new(2));
        let begun = Instant::now();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    taken(&url, 50_000)
                });
            }
        });
        assert!(begun.elapsed() >= Duration::from_millis(100));
    }

    #[test]
    fn what_lay_there_while_the_link_slept_too_long_is_not_late_again() {
        let begun = Instant::now();
        let line = Line {
            bits_per_second: 8_000_000,
            busy_until: Mutex::new(begun),
        };
        let after = |milliseconds| begun + Duration::from_millis(milliseconds);
        assert_eq!(line.book(3_000, begun), after(3));
        // It came while the line was busy, and is booked when that has long been over.
        assert_eq!(line.book(1_000, after(2)), after(4));
        // After a pause there is nothing to make up for.
        assert_eq!(line.book(1_000, after(10)), after(11));
    }
}
