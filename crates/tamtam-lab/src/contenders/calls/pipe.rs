//! Named pipes.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::calls::{self, Call, Framed, ServerApart, serve_frames};
use crate::contenders::standard;
use crate::{Card, Contender, Failure, Measure, PrivateFolder, Serving};

/// Two named pipes for each client, and a thread of the server for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamedPipes;

const NAME: &str = "pipe";

/// How many clients there is a pair of pipes for.
const CLIENTS: usize = 16;

impl Contender for NamedPipes {
    fn card(&self) -> Card {
        Card {
            name: NAME,
            version: standard::VERSION,
            ours: false,
            about: "two named pipes for each client, with frames of length and bytes, and a thread of the server for each",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        calls::measures(*self)
    }

    fn serve(&self) -> Result<Serving, Failure> {
        let folder = PrivateFolder::new()?;
        for client in 0..CLIENTS {
            let pair = Pair::of(folder.path(), client);
            for pipe in [&pair.requests, &pair.answers] {
                mkfifo(pipe, Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)?;
            }
            // A thread that fails, or cannot open its pipes, is the client's to tell.
            thread::Builder::new().spawn(move || {
                let requests = File::open(&pair.requests)?;
                serve_frames(requests, writing(&pair.answers)?)
            })?;
        }
        let address = folder.path().to_string_lossy().into_owned();
        Ok(Serving::at(address, folder))
    }
}

impl Call for NamedPipes {
    type Server = ServerApart<Framed<File, File>>;

    fn open(&self, _threads: usize) -> Result<Self::Server, Failure> {
        ServerApart::start(NAME, |address| {
            static CLIENT: AtomicUsize = AtomicUsize::new(0);
            let client = CLIENT.fetch_add(1, Ordering::Relaxed) % CLIENTS;
            let pair = Pair::of(Path::new(address), client);
            // Opened in the order of the server's thread: each waits until the other side opens it, too.
            let requests = writing(&pair.requests)?;
            Ok(Framed::new(File::open(&pair.answers)?, requests))
        })
    }
}

/// Where a client's pipes are.
struct Pair {
    requests: PathBuf,
    answers: PathBuf,
}

impl Pair {
    fn of(folder: &Path, client: usize) -> Self {
        Pair {
            requests: folder.join(format!("requests-{client}")),
            answers: folder.join(format!("answers-{client}")),
        }
    }
}

fn writing(pipe: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(pipe)
}
