//! Names under which programs that have nothing to do with each other meet: a socket that one listens at, and others connect to.
//!
//! Where the socket lies says who can reach it; the kernel's word on who is at the other end (`SO_PEERCRED`) says who may, on both sides:
//! a name that another user has taken first is no service of this one.

mod error;
mod listener;
mod peer;

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, socket_with,
};

pub use self::error::{AcceptError, ConnectError, ListenError, ServiceNameError};
pub use self::listener::Listener;
pub use self::peer::Peer;

/// A name has so many bytes at most.
const LONGEST_NAME: usize = 64;
/// What a listener says to one whom it has accepted.
const WELCOME: u8 = b'+';
/// What it says to one who may not.
const REFUSED: u8 = b'-';

/// The name of a service, and who may use it: one program [listens](Service::listen), others [connect](Service::connect). Both say the same of it.
///
/// What they have then is a Unix socket, over which shared memory goes ([`send_memory`](crate::send_memory)), or a link of actors
/// (`tamtam_link::carrier::unix`).
///
/// The socket lies in the folder `$XDG_RUNTIME_DIR`, which is this user's alone, with the mode 0600. Where there is no such folder, or other users
/// [are allowed](Service::allow), the name is an abstract one: it is no file, and belongs to the machine (the network namespace). What a program leaves
/// that was killed is taken over by the next one that listens.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{Service, Slot, receive_memory, send_memory};
///
/// let name = format!("example-{}", std::process::id());
/// let listener = Service::new(&name)?.listen()?;
/// // In another program:
/// let there = std::thread::spawn(move || -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
///     let socket = Service::new(name)?.connect()?;
///     Ok(Slot::<u64>::attach(receive_memory(&socket)?)?.take())
/// });
/// let (socket, peer) = listener.accept()?;
/// assert_eq!(peer.process(), Some(std::process::id()));
/// let slot = Slot::<u64>::create()?;
/// send_memory(&socket, slot.memory())?;
/// slot.put(5);
/// assert_eq!(there.join().unwrap()?, 5);
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Service {
    name: String,
    folder: Option<PathBuf>,
    /// Whose service it is.
    owner: u32,
    /// Who else may connect.
    allowed: Vec<u32>,
}

/// Where a socket lies.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A file in a folder.
    File(PathBuf),
    /// A name that is no file.
    Abstract(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => path.display().fmt(f),
            Place::Abstract(name) => write!(f, "the abstract name {name:?}"),
        }
    }
}

impl Place {
    fn address(&self) -> Result<SocketAddrUnix, Errno> {
        match self {
            Place::File(path) => SocketAddrUnix::new(path.as_path()),
            Place::Abstract(name) => SocketAddrUnix::new_abstract_name(name.as_bytes()),
        }
    }
}

fn this_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// The folder of this user for such files, if there is one that no other user can write to or look into.
fn runtime_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    let is_own = |folder: &Path| {
        let stat = rustix::fs::stat(folder).ok()?;
        let is_folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
        Some(is_folder && stat.st_uid == this_user() && stat.st_mode & 0o077 == 0)
    };
    (folder.is_absolute() && is_own(&folder) == Some(true)).then_some(folder)
}

impl Service {
    /// A service of this name: letters, digits, `.`, `-` and `_`, the first no `.`, at most 64 of them.
    ///
    /// # Errors
    ///
    /// [`ServiceNameError`] if it is no such name.
    pub fn new(name: impl Into<String>) -> Result<Self, ServiceNameError> {
        let name = name.into();
        let is_good = |letter: char| letter.is_ascii_alphanumeric() || ".-_".contains(letter);
        if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') {
            return Err(ServiceNameError::Length { name });
        }
        if let Some(letter) = name.chars().find(|letter| !is_good(*letter)) {
            return Err(ServiceNameError::Letter { name, letter });
        }
        Ok(Service {
            name,
            folder: None,
            owner: this_user(),
            allowed: Vec::new(),
        })
    }

    /// Has its socket in this folder, whatever `$XDG_RUNTIME_DIR` is.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Lets another user connect, by its number.
    #[must_use]
    pub fn allow(mut self, user: u32) -> Self {
        self.allowed.push(user);
        self
    }

    /// The service of another user, by its number: for one who connects.
    #[must_use]
    pub fn of_user(mut self, user: u32) -> Self {
        self.owner = user;
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn is_for_others(&self) -> bool {
        !self.allowed.is_empty() || self.owner != this_user()
    }

    fn may_connect(&self, user: u32) -> bool {
        user == self.owner || self.allowed.contains(&user)
    }

    /// Where its socket may lie, the best place first.
    fn places(&self) -> Vec<Place> {
        let file = |folder: &Path| Place::File(folder.join(format!("{}.tamtam", self.name)));
        if let Some(folder) = &self.folder {
            return vec![file(folder)];
        }
        let by_number = Place::Abstract(format!("tamtam/{}/{}", self.owner, self.name));
        let own = runtime_folder().filter(|_| self.owner == this_user());
        let own = own.map(|folder| file(&folder));
        if self.is_for_others() {
            vec![by_number]
        } else {
            own.into_iter().chain([by_number]).collect()
        }
    }

    /// Listens under this name.
    ///
    /// # Errors
    ///
    /// [`ListenError::Taken`] if another program does, and others if there can be no such socket.
    pub fn listen(&self) -> Result<Listener, ListenError> {
        Listener::new(self)
    }

    /// Connects to the program that listens under this name.
    ///
    /// # Blocking
    ///
    /// Until that accepts: without end if it never does.
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if no program listens, or it does not let this user in, or is another user's.
    pub fn connect(&self) -> Result<UnixStream, ConnectError> {
        self.connect_until(None)
    }

    /// As [`connect`](Service::connect), but waits at most `timeout`.
    ///
    /// # Errors
    ///
    /// [`ConnectError::Timeout`] if the program has not accepted in time, and others.
    pub fn connect_timeout(&self, timeout: Duration) -> Result<UnixStream, ConnectError> {
        // A time beyond the clock's end is none.
        self.connect_until(Instant::now().checked_add(timeout))
    }

    fn connect_until(&self, deadline: Option<Instant>) -> Result<UnixStream, ConnectError> {
        for place in self.places() {
            if let Some(socket) = self.reach(&place, deadline)? {
                return self.greet(socket, deadline);
            }
        }
        Err(ConnectError::NobodyThere {
            name: self.name.clone(),
        })
    }

    fn system(&self, doing: &'static str) -> impl Fn(Errno) -> ConnectError {
        let name = self.name.clone();
        move |source| ConnectError::System {
            name: name.clone(),
            doing,
            source: source.into(),
        }
    }

    /// A socket that is connected to a listener there, if there is one.
    fn reach(
        &self,
        place: &Place,
        deadline: Option<Instant>,
    ) -> Result<Option<OwnedFd>, ConnectError> {
        let address = place.address().map_err(self.system("its address"))?;
        let socket = new_socket().map_err(self.system("there is no socket"))?;
        // Where as many wait as may, this waits, too.
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // No time at all would be one without end.
        let left = left.map(|left| left.max(Duration::from_millis(1)));
        set_socket_timeout(&socket, Timeout::Send, left).map_err(self.system("its time"))?;
        match retry_on_intr(|| connect(&socket, &address)) {
            Ok(()) => {
                set_socket_timeout(&socket, Timeout::Send, None)
                    .map_err(self.system("its time"))?;
                Ok(Some(socket))
            }
            Err(Errno::AGAIN) => Err(ConnectError::Timeout {
                name: self.name.clone(),
            }),
            Err(Errno::NOENT | Errno::CONNREFUSED | Errno::NOTDIR) => Ok(None),
            Err(Errno::ACCESS | Errno::PERM) => Err(ConnectError::NotAllowed {
                name: self.name.clone(),
            }),
            Err(error) => Err(self.system("it cannot be reached")(error)),
        }
    }

    /// Sees who listens there, and waits to be let in.
    fn greet(
        &self,
        socket: OwnedFd,
        deadline: Option<Instant>,
    ) -> Result<UnixStream, ConnectError> {
        let peer = Peer::of(&socket).map_err(self.system("who listens is not known"))?;
        if peer.user() != self.owner {
            return Err(ConnectError::OtherUser {
                name: self.name.clone(),
                user: peer.user(),
                expected: self.owner,
            });
        }
        let mut word = [0];
        if !wait_readable(&socket, deadline).map_err(self.system("it cannot be waited for"))? {
            return Err(ConnectError::Timeout {
                name: self.name.clone(),
            });
        }
        match recv(&socket, &mut word, RecvFlags::empty()) {
            Ok((1, _)) if word[0] == WELCOME => Ok(UnixStream::from(socket)),
            Ok((1, _)) if word[0] == REFUSED => Err(ConnectError::NotAllowed {
                name: self.name.clone(),
            }),
            // It has gone before it has accepted.
            Ok((0, _)) | Err(Errno::CONNRESET) => Err(ConnectError::NobodyThere {
                name: self.name.clone(),
            }),
            Ok(_) => Err(ConnectError::NoService {
                name: self.name.clone(),
            }),
            Err(error) => Err(self.system("nothing can be read from it")(error)),
        }
    }
}

fn new_socket() -> Result<OwnedFd, Errno> {
    socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )
}

/// Waits until there is something to read; `false` if the deadline passes before.
fn wait_readable(socket: impl AsFd, deadline: Option<Instant>) -> Result<bool, Errno> {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let is_over = left == Some(Duration::ZERO);
        // A time that the system cannot wait for is none.
        let left = left.and_then(|left| left.try_into().ok());
        let mut fds = [PollFd::new(&socket, PollFlags::IN)];
        match poll(&mut fds, left.as_ref()) {
            Ok(0) if is_over => return Ok(false),
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_a_file_and_cannot_lead_elsewhere() {
        for name in ["", ".hidden", "..", &"n".repeat(65)] {
            let error = Service::new(name).unwrap_err();
            assert!(matches!(error, ServiceNameError::Length { .. }), "{name:?}");
        }
        for (name, bad) in [("a/b", '/'), ("a b", ' '), ("n\0", '\0'), ("ü", 'ü')] {
            match Service::new(name).unwrap_err() {
                ServiceNameError::Letter { letter, .. } => assert_eq!(letter, bad),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            Service::new("Thumbnails-2.0_x").unwrap().name(),
            "Thumbnails-2.0_x"
        );
    }

    #[test]
    fn what_is_for_others_is_no_file_of_this_user() {
        let own = Service::new("name").unwrap();
        let user = this_user();
        let by_number = Place::Abstract(format!("tamtam/{user}/name"));
        let others = own.clone().allow(user + 1).places();
        assert_eq!(others, std::slice::from_ref(&by_number));
        assert_eq!(own.places().last(), Some(&by_number));
        let theirs = Place::Abstract(format!("tamtam/{}/name", user + 1));
        assert_eq!(own.clone().of_user(user + 1).places(), [theirs]);
        let file = Place::File("/folder/name.tamtam".into());
        assert_eq!(own.allow(5).in_folder("/folder").places(), [file]);
    }
}
