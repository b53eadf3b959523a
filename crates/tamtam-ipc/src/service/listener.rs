//! The socket at which a program listens under a name.
//!
//! Beside a socket that is a file lies a file whose lock the listener holds, which the kernel takes away when its process ends: who gets the lock finds
//! a socket there that is left over, and no other one can find the same at the same time. The lock's file goes before the lock does, so who has waited
//! for it looks whether it is still that file.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, fchmod, flock, fstat, stat, unlink};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::{SendFlags, SocketFlags, accept_with, bind, connect, listen, send};

use super::error::{AcceptError, ListenError};
use super::peer::Peer;
use super::{Place, REFUSED, Service, WELCOME, new_socket, this_user};

/// So many wait to be accepted at most; others get an error.
const BACKLOG: i32 = 128;
/// So often a lock's file that has gone meanwhile is made again.
const MOST_TRIES: usize = 100;

/// Accepts those who connect to a [`Service`]. When it is dropped, the name is free.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Service;
///
/// let service = Service::new(format!("listener-{}", std::process::id()))?;
/// let listener = service.listen()?;
/// let there = std::thread::spawn(move || service.connect().is_ok());
/// let (_socket, peer) = listener.accept()?;
/// assert_eq!(peer.process(), Some(std::process::id()));
/// assert!(there.join().unwrap());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    service: Service,
    /// Where it is a file: that, and the lock beside it.
    file: Option<(PathBuf, Lock)>,
}

/// The right to a file, as long as this is kept.
#[derive(Debug)]
struct Lock {
    _file: File,
    path: PathBuf,
}

/// Why there is no lock.
enum NoLock {
    Taken(Option<u32>),
    System(io::Error),
}

impl Lock {
    fn take(path: PathBuf) -> Result<Self, NoLock> {
        for _ in 0..MOST_TRIES {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
            let mut file = file.open(&path).map_err(NoLock::System)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(NoLock::Taken(process_in(&mut file))),
                Err(error) => return Err(NoLock::System(error.into())),
            }
            if is_still(&file, &path) {
                // For the error of another one. It is no error here if there is no room for it.
                let _ = file.set_len(0);
                let _ = write!(file, "{}", std::process::id());
                return Ok(Lock { _file: file, path });
            }
        }
        Err(NoLock::Taken(None))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The lock is still held.
        let _ = unlink(&self.path);
    }
}

/// Whether the path still leads to this file.
fn is_still(file: &File, path: &Path) -> bool {
    let (Ok(here), Ok(there)) = (fstat(file), stat(path)) else {
        return false;
    };
    (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
}

/// The process that has written its number there.
fn process_in(file: &mut File) -> Option<u32> {
    file.rewind().ok()?;
    let mut number = String::new();
    file.take(16).read_to_string(&mut number).ok()?;
    number.parse().ok()
}

/// What is found at a place that is less good than that of a listener.
enum Occupied {
    /// Nothing, so this lies there, at which none listens: no other listener can begin there.
    ByThis { _socket: OwnedFd },
    /// A listener of this user, in that process.
    ByListener(Option<u32>),
    /// Nothing that would keep one from listening: it is a file, whose lock is another folder's, or what lies there is no listener, or another user's, which
    /// is no service of this one.
    Otherwise,
}

fn occupy(place: &Place) -> Result<Occupied, Errno> {
    if let Place::File(_) = place {
        return Ok(Occupied::Otherwise);
    }
    let (socket, address) = (new_socket()?, place.address()?);
    match bind(&socket, &address) {
        Ok(()) => return Ok(Occupied::ByThis { _socket: socket }),
        Err(Errno::ADDRINUSE) => {}
        Err(error) => return Err(error),
    }
    // Another user's listener, in which so many wait that one more would, is not waited for.
    ioctl_fionbio(&socket, true)?;
    if connect(&socket, &address).is_err() {
        return Ok(Occupied::Otherwise);
    }
    let peer = Peer::of(&socket)?;
    Ok(if peer.user() == this_user() {
        Occupied::ByListener(peer.process())
    } else {
        Occupied::Otherwise
    })
}

impl Listener {
    pub(super) fn new(service: &Service) -> Result<Self, ListenError> {
        if service.owner != this_user() {
            return Err(ListenError::OtherUser {
                name: service.name.clone(),
                owner: service.owner,
                user: this_user(),
            });
        }
        let places = service.places();
        let Some((place, others)) = places.split_first() else {
            unreachable!("a service has a place");
        };
        let taken = |process| ListenError::Taken {
            name: service.name.clone(),
            process,
        };
        let system = |doing: &'static str| {
            move |source: io::Error| ListenError::System {
                name: service.name.clone(),
                place: place.to_string(),
                doing,
                source,
            }
        };
        let errno = |doing: &'static str| move |error: Errno| system(doing)(error.into());
        let address = place.address().map_err(errno("its address"))?;
        let socket = new_socket().map_err(errno("there is no socket"))?;
        let file = match place {
            Place::Abstract(_) => None,
            Place::File(path) => {
                let lock = Lock::take(path.with_extension("tamtam-lock"));
                let lock = lock.map_err(|error| match error {
                    NoLock::Taken(process) => taken(process),
                    NoLock::System(source) => system("its lock cannot be had")(source),
                })?;
                // Who had it is gone.
                match unlink(path) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(error) => return Err(errno("what is there cannot be removed")(error)),
                }
                // Before there is a file: it comes with this mode.
                let others = service.is_for_others();
                let mode = Mode::from_raw_mode(if others { 0o666 } else { 0o600 });
                fchmod(&socket, mode).map_err(errno("its mode cannot be set"))?;
                Some((path.clone(), lock))
            }
        };
        // At the places that are less good no other one listens, or begins to while this one does.
        let mut occupied = Vec::new();
        for other in others {
            match occupy(other).map_err(errno("whether another one listens is not known"))? {
                Occupied::ByListener(process) => return Err(taken(process)),
                found => occupied.push(found),
            }
        }
        match bind(&socket, &address) {
            Ok(()) => {}
            Err(Errno::ADDRINUSE) => return Err(taken(None)),
            Err(error) => return Err(errno("it has no room there")(error)),
        }
        let listener = Listener {
            socket,
            service: service.clone(),
            file,
        };
        listen(&listener.socket, BACKLOG).map_err(errno("it cannot be listened at"))?;
        drop(occupied);
        Ok(listener)
    }

    /// Accepts the next one who connects, and says who that is.
    ///
    /// # Blocking
    ///
    /// Until one connects.
    ///
    /// # Errors
    ///
    /// [`AcceptError::NotAllowed`] if that one may not, or [`AcceptError::System`].
    pub fn accept(&self) -> Result<(UnixStream, Peer), AcceptError> {
        let system = |error: Errno| AcceptError::System {
            source: error.into(),
        };
        let socket = loop {
            match accept_with(&self.socket, SocketFlags::CLOEXEC) {
                // One that has gone before it was accepted is none.
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                accepted => break accepted.map_err(system)?,
            }
        };
        let peer = Peer::of(&socket).map_err(system)?;
        let is_allowed = self.service.may_connect(peer.user());
        let word = [if is_allowed { WELCOME } else { REFUSED }];
        // A new socket has room for it; one who has gone is found by those who use the socket.
        let _ = send(&socket, &word, SendFlags::NOSIGNAL);
        if is_allowed {
            Ok((UnixStream::from(socket), peer))
        } else {
            Err(AcceptError::NotAllowed { peer })
        }
    }

    /// Where the socket lies, if it is a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(path, _)| path.as_path())
    }
}

/// Readable when one waits to be accepted.
impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.file {
            // Before the lock is given up.
            let _ = unlink(path);
        }
    }
}
