//! The other program: it takes and makes load over a link, and notes what it has handled where that outlives it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::thread;

use serde::{Deserialize, Serialize};
use tamtam_actor::{Address, Overflow, Pool, Reply};
use tamtam_link::{Link, carrier};

/// How the other program is told what to be.
pub(crate) const ROLE: &str = "TAMTAM_TEST_VICTIM";

/// What both programs tell and ask each other. Each number is a sender's next one.
#[derive(Serialize, Deserialize)]
pub(crate) enum Load {
    Tell(u64),
    Ask(u64, Reply<u64>),
}

/// What the other program is to be.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub(crate) struct Role {
    /// The name of the socket: one without a file.
    pub(crate) name: String,
    pub(crate) listens: bool,
    /// How many messages may wait in its mailbox; the senders of more wait.
    pub(crate) room: Option<usize>,
    pub(crate) does: Does,
}

/// What it does beside what it is asked for.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
pub(crate) enum Does {
    /// Nothing. The other side may offer no actor.
    Nothing,
    /// Tells and asks the other side without an end.
    Load,
    /// Goes the way of each message, and kills or stops itself at a step of it.
    Steps,
}

/// A message that was handled, as it stands in the log: the number, and whether it was asked.
pub(crate) const ASKED: u64 = 1 << 63;

pub(crate) fn address(name: &str) -> SocketAddr {
    SocketAddr::from_abstract_name(name).unwrap()
}

/// Is the other program, if this is that: until the link ends, or it is killed.
pub(crate) fn be_it_if_asked() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let role: Role = serde_json::from_str(&role).unwrap();
    let socket = if role.listens {
        let listener = UnixListener::bind_addr(&address(&role.name)).unwrap();
        println!("listening");
        listener.accept().unwrap().0
    } else {
        UnixStream::connect_addr(&address(&role.name)).unwrap()
    };
    // The kernel has it when a write has come back.
    let mut log = File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let pool = Pool::with_threads(1);
    if role.does == Does::Steps {
        return crate::steps::walk(&pool, log, socket);
    }
    let spawner = pool.spawner().limited(role.room, Overflow::Wait);
    let root = spawner.spawn_fn(move |message: Load, _| match message {
        Load::Tell(number) => log.write_all(&number.to_ne_bytes()).unwrap(),
        Load::Ask(number, reply) => {
            log.write_all(&(number | ASKED).to_ne_bytes()).unwrap();
            reply.send(number);
        }
    });
    let link = carrier::unix(Link::builder().program("victim").root(&root), socket).unwrap();
    if role.does == Does::Nothing {
        // It is killed.
        loop {
            thread::park();
        }
    }
    let far: Address<Load> = link.root();
    let asking = far.clone();
    thread::spawn(move || {
        (0..).try_for_each(|number| asking.tell(Load::Tell(number)).map_err(drop))
    });
    let asking = far.clone();
    thread::spawn(move || {
        (0..).try_for_each(|number| {
            let answer = asking.ask(|reply| Load::Ask(number, reply));
            answer
                .map(|answer| assert_eq!(answer, number))
                .map_err(drop)
        })
    });
    far.end().wait();
    std::process::exit(0);
}
