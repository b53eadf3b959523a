//! Why programs do not meet under a name.

use std::io;

use super::Peer;

/// Why that is no name of a [`Service`](super::Service).
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::Service;
///
/// let error = Service::new("../other").unwrap_err();
/// assert!(error.to_string().contains("does not begin with a dot"));
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceNameError {
    /// It is empty, or too long, or begins with a dot.
    #[error("{name:?} names no service: a name has 1 to 64 letters, and does not begin with a dot")]
    Length {
        /// What was given.
        name: String,
    },
    /// It has a letter in it that a name has not.
    #[error(
        "{name:?} names no service: a name has letters, digits, dots, hyphens and underscores, and no {letter:?}"
    )]
    Letter {
        /// What was given.
        name: String,
        /// The first such letter.
        letter: char,
    },
}

/// Why a program does not listen.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{ListenError, Service};
///
/// let service = Service::new(format!("taken-{}", std::process::id()))?;
/// let _listener = service.listen()?;
/// assert!(matches!(service.listen(), Err(ListenError::Taken { .. })));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Another program listens under this name.
    #[error("{name:?} is taken{}: end that program, or take another name", by(*.process))]
    Taken {
        /// The service.
        name: String,
        /// The process, if it has said so.
        process: Option<u32>,
    },
    /// It is the service of another user.
    #[error(
        "{name:?} is to be the service of user {owner}, and this is user {user}: leave out `of_user` where the program listens"
    )]
    OtherUser {
        /// The service.
        name: String,
        /// Whose it should be.
        owner: u32,
        /// Who this is.
        user: u32,
    },
    /// The system has refused something.
    #[error("nothing can listen as {name:?} at {place}: {doing}: {source}")]
    System {
        /// The service.
        name: String,
        /// Where its socket should lie.
        place: String,
        /// What was refused.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

fn by(process: Option<u32>) -> String {
    process.map_or(String::new(), |process| format!(" by process {process}"))
}

/// Why a program is not connected.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{ConnectError, Service};
///
/// let error = Service::new("no-such-service")?.connect().unwrap_err();
/// assert!(matches!(error, ConnectError::NobodyThere { .. }));
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No program listens.
    #[error("no program listens as {name:?}: start it, with the same $XDG_RUNTIME_DIR")]
    NobodyThere {
        /// The service.
        name: String,
    },
    /// This user may not connect.
    #[error("{name:?} does not let this user in: the program that listens has to allow it")]
    NotAllowed {
        /// The service.
        name: String,
    },
    /// Another user has taken the name.
    #[error(
        "{name:?} is a program of user {user}, and not of user {expected}: it was not talked to"
    )]
    OtherUser {
        /// The service.
        name: String,
        /// Who listens.
        user: u32,
        /// Who should.
        expected: u32,
    },
    /// What listens is something else.
    #[error("what listens as {name:?} is no service of tamtam: it has said something else")]
    NoService {
        /// The service.
        name: String,
    },
    /// It has not accepted in time.
    #[error("{name:?} is there, and has not accepted in time")]
    Timeout {
        /// The service.
        name: String,
    },
    /// The system has refused something.
    #[error("{name:?} cannot be connected to: {doing}: {source}")]
    System {
        /// The service.
        name: String,
        /// What was refused.
        doing: &'static str,
        /// Why.
        source: io::Error,
    },
}

/// Why a listener has not accepted. It goes on: call [`accept`](super::Listener::accept) again.
///
/// # Examples
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use tamtam_ipc::{AcceptError, Listener};
///
/// fn next(listener: &Listener) -> std::io::Result<std::os::unix::net::UnixStream> {
///     loop {
///         match listener.accept() {
///             Ok((socket, _)) => return Ok(socket),
///             Err(AcceptError::NotAllowed { peer }) => eprintln!("user {} has tried", peer.user()),
///             Err(AcceptError::System { source }) => return Err(source),
///             Err(_) => {}
///         }
///     }
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// A user has connected who may not. It was told so.
    #[error("user {} has tried to connect, who is not allowed to", .peer.user())]
    NotAllowed {
        /// Who.
        peer: Peer,
    },
    /// The system has refused something.
    #[error("nothing can be accepted: {source}")]
    System {
        /// Why.
        source: io::Error,
    },
}
