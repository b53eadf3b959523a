//! TCP within the machine, bare.

use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::calls::{self, Call, Framed, ServerApart, serve_frames};
use crate::contenders::standard;
use crate::{Card, Contender, Failure, Measure, Serving};

/// A connection for each client, and a thread of the server for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tcp;

const NAME: &str = "tcp";

impl Contender for Tcp {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: standard::VERSION,
            ours: false,
            about: "a TCP connection for each client, without Nagle's delay, with frames of length and bytes, and a thread of the server for each",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::Builder::new().spawn(move || {
            for socket in listener.incoming().flatten() {
                // A connection that fails is the client's to tell.
                thread::spawn(move || {
                    let _ = socket.set_nodelay(true);
                    let _ = serve_frames(&socket, &socket);
                    let _ = socket.shutdown(Shutdown::Both);
                });
            }
        })?;
        Ok(Serving::at(address.to_string(), ()))
    }
}

impl Call for Tcp {
    type Server = ServerApart<Framed<TcpStream, TcpStream>>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            let socket = TcpStream::connect(address)?;
            socket.set_nodelay(true)?;
            Ok(Framed::new(socket.try_clone()?, socket))
        })
    }
}
