//! A Unix socket, bare.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use crate::calls::{self, Call, Framed, ServerApart, serve_frames};
use crate::contenders::standard;
use crate::{Card, Contender, Failure, Measure, PrivateFolder, Serving};

/// A Unix socket for each client, and a thread of the server for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnixSocket;

const NAME: &str = "unix-socket";

impl Contender for UnixSocket {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: standard::VERSION,
            ours: false,
            about: "a Unix socket for each client, with frames of length and bytes, and a thread of the server for each",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let (folder, path) = PrivateFolder::listening(|socket| {
            // A connection that fails is the client's to tell.
            thread::spawn(move || {
                let _ = serve_frames(&socket, &socket);
                let _ = socket.shutdown(Shutdown::Both);
            });
        })?;
        Ok(Serving::at(path.to_string_lossy(), folder))
    }
}

impl Call for UnixSocket {
    type Server = ServerApart<Framed<UnixStream, UnixStream>>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            let socket = UnixStream::connect(address)?;
            Ok(Framed::new(socket.try_clone()?, socket))
        })
    }
}
