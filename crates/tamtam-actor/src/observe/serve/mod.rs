//! Lets `tamtam top` look at this program.

#[cfg(unix)]
mod answer;
#[cfg(unix)]
mod below;
#[cfg(unix)]
mod link;
#[cfg(unix)]
mod place;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod usage;

use core::fmt;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(unix)]
pub use below::{Answerer, ProcessBelow, look_below};

/// Serves figures of this program to `tamtam top`, for as long as what this returns is kept.
///
/// Pools that are made from now on count what their actors do, unless their builders say otherwise, as after
/// [`observe_all`](super::observe_all): so it is best called first in `main`.
///
/// It makes a socket: `$XDG_RUNTIME_DIR/tamtam/PID.sock`, or `/tmp/tamtam-UID/PID.sock` where there is no such
/// folder. Only the same user may connect: the folder has mode 0700, the socket 0600, and on Linux the user of each
/// connection is looked at, too. Who connects gets figures and the names of types, and can change nothing.
/// One thread answers, and sleeps while there is no question. Sockets that programs have left behind are removed.
///
/// # Errors
///
/// If the folder or the socket cannot be made, or the folder is another user's; if this program serves already.
/// [`Unsupported`](io::ErrorKind::Unsupported) where there are no Unix sockets.
///
/// # Examples
///
/// ```
/// use tamtam_actor::{Pool, observe};
///
/// # #[cfg(unix)] {
/// let serving = observe::serve()?; // `tamtam top` shows this program until `serving` is dropped
/// let pool = Pool::new();
/// let actor = pool.spawn_fn(|number: u32, _| println!("{number}"));
/// actor.tell(1)?;
/// println!("look at it by: tamtam top {}", serving.path().display());
/// # }
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn serve() -> io::Result<Serving> {
    start(None)
}

/// As [`serve`], at a path of one's own, for `tamtam top PATH`.
///
/// The socket appears there with mode 0600. If a program has left one there, it is replaced.
///
/// # Errors
///
/// As [`serve`]; and if there is anything else at that path, or the path is too long for a socket (about 85 bytes
/// for its folder).
pub fn serve_at(path: impl AsRef<Path>) -> io::Result<Serving> {
    start(Some(path.as_ref()))
}

#[cfg(unix)]
fn start(path: Option<&Path>) -> io::Result<Serving> {
    let place = match path {
        Some(path) => place::SocketPlace::at(path)?,
        None => place::SocketPlace::usual()?,
    };
    let server = server::Server::start(place)?;
    super::observe_all();
    Ok(Serving { server })
}

#[cfg(not(unix))]
fn start(_: Option<&Path>) -> io::Result<Serving> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "programs can be looked at by `tamtam top` only where there are Unix sockets",
    ))
}

/// Keeps this program to be looked at: see [`serve`]. Dropping it removes the socket and ends its thread.
///
/// # Examples
///
/// ```
/// use tamtam_actor::observe;
///
/// # #[cfg(unix)] {
/// let folder = std::env::temp_dir().join(format!("tamtam-serving-{}", std::process::id()));
/// std::fs::create_dir(&folder)?;
/// let serving = observe::serve_at(folder.join("socket"))?;
/// assert!(serving.path().exists());
/// drop(serving);
/// // Nothing is left of it.
/// std::fs::remove_dir(&folder)?;
/// # }
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "dropping it ends the service"]
pub struct Serving {
    #[cfg(unix)]
    server: server::Server,
}

impl Serving {
    /// Where the socket is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        #[cfg(unix)]
        return self.server.path().to_owned();
        #[cfg(not(unix))]
        return PathBuf::new();
    }

    /// Serves to the end of the process. The socket stays behind then, until another program serves or `tamtam top` is
    /// called.
    pub fn forever(self) {
        core::mem::forget(self);
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving")
            .field("path", &self.path())
            .finish()
    }
}
