//! A wire between two programs that a test can read, stop, change and cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What one direction does with what it carries.
#[derive(Default)]
pub(super) struct Direction {
    pub(super) carried: Mutex<Vec<u8>>,
    pub(super) count: AtomicUsize,
    /// Nothing is read.
    pub(super) is_stopped: AtomicBool,
    /// A bit of what is carried next is changed.
    pub(super) changes: AtomicBool,
    /// What comes is not carried on.
    is_cut: AtomicBool,
    to: Mutex<Option<TcpStream>>,
}

/// A listener that connects who connects to it with another one.
pub(super) struct Proxy {
    pub(super) place: SocketAddr,
    /// From the program that has connected.
    pub(super) forth: Arc<Direction>,
    pub(super) back: Arc<Direction>,
}

impl Proxy {
    /// For one connection.
    pub(super) fn new(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            place: listener.local_addr().unwrap(),
            forth: Arc::default(),
            back: Arc::default(),
        };
        let (forth, back) = (Arc::clone(&proxy.forth), Arc::clone(&proxy.back));
        thread::spawn(move || {
            let here = listener.accept().unwrap().0;
            let there = TcpStream::connect(to).unwrap();
            let (from_here, from_there) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            thread::spawn(move || forth.carry(from_here, there));
            thread::spawn(move || back.carry(from_there, here));
        });
        proxy
    }

    /// Both directions end, as if the programs had; but neither program has.
    pub(super) fn cut(&self) {
        let directions = [&self.forth, &self.back];
        // Before either program hears of it: the one that does first ends its side in order.
        for direction in directions {
            direction.is_cut.store(true, Ordering::SeqCst);
        }
        for direction in directions {
            let to = direction.to.lock().unwrap();
            let _ = to.as_ref().unwrap().shutdown(Shutdown::Write);
        }
    }
}

impl Direction {
    fn carry(&self, mut from: TcpStream, mut to: TcpStream) {
        *self.to.lock().unwrap() = Some(to.try_clone().unwrap());
        let mut bytes = vec![0; 64 << 10];
        loop {
            while self.is_stopped.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            let count = from.read(&mut bytes).unwrap_or(0);
            if count == 0 {
                let _ = to.shutdown(Shutdown::Write);
                return;
            }
            if self.is_cut.load(Ordering::SeqCst) {
                return;
            }
            let bytes = &mut bytes[..count];
            self.carried.lock().unwrap().extend_from_slice(bytes);
            self.count.fetch_add(count, Ordering::SeqCst);
            if self.changes.swap(false, Ordering::SeqCst) {
                bytes[count - 1] ^= 1;
            }
            if to.write_all(bytes).is_err() {
                return;
            }
        }
    }
}
