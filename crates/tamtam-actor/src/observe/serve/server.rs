//! The thread that answers.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::link::Connection;
#[cfg(any(target_os = "linux", target_os = "android"))]
use super::place;
use super::place::SocketPlace;

/// So many may ask at a time. When one more comes, the one goes that has said nothing for the longest time.
const MOST_LINKS: usize = 16;
/// How long no client is let in after that has failed, for instance for want of file descriptors.
const REST: Duration = Duration::from_millis(100);

/// The thread that answers. Dropping it ends it, and removes its socket.
pub(super) struct Server {
    path: PathBuf,
    /// Closed when the thread is to end.
    life: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start(place: SocketPlace) -> io::Result<Self> {
        let (life, end) = UnixStream::pair()?;
        let path = place.path().to_owned();
        let thread = std::thread::Builder::new()
            .name("tamtam-top".to_owned())
            .spawn(move || serve(&place, &end))?;
        Ok(Server {
            path,
            life: Some(life),
            thread: Some(thread),
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.life.take());
        if let Some(thread) = self.thread.take() {
            // It ends by itself.
            let _ = thread.join();
        }
    }
}

/// Answers until the other side of `end` is closed.
fn serve(place: &SocketPlace, end: &UnixStream) {
    let mut links: Vec<Connection> = Vec::new();
    let mut rests_until: Option<Instant> = None;
    loop {
        let rest = rests_until.map(|until| until.saturating_duration_since(Instant::now()));
        let ready = match wait(place, end, &links, rest) {
            Ok(ready) => ready,
            Err(why) if why.kind() == ErrorKind::Interrupted => continue,
            // What could be waited for is gone: no client can be answered any more.
            Err(_) => return,
        };
        if ready.ends {
            return;
        }
        let mut looks = ready.links.into_iter();
        links.retain_mut(|link| !looks.next().unwrap_or(false) || link.go_on());
        if rest.is_some_and(|rest| rest.is_zero()) {
            rests_until = None;
        }
        if ready.comes && let_in(place, &mut links).is_err() {
            rests_until = Some(Instant::now() + REST);
        }
    }
}

/// What there is to do.
struct Ready {
    ends: bool,
    comes: bool,
    links: Vec<bool>,
}

fn wait(
    place: &SocketPlace,
    end: &UnixStream,
    links: &[Connection],
    rest: Option<Duration>,
) -> io::Result<Ready> {
    let mut waits = vec![PollFd::new(end.as_fd(), PollFlags::POLLIN)];
    waits.extend(links.iter().map(|link| {
        let flags = if link.has_to_send() {
            PollFlags::POLLOUT
        } else {
            PollFlags::POLLIN
        };
        PollFd::new(link.stream.as_fd(), flags)
    }));
    if rest.is_none() {
        waits.push(PollFd::new(place.listener.as_fd(), PollFlags::POLLIN));
    }
    // It counts in milliseconds, and less than one would be none.
    let timeout = rest.map_or(PollTimeout::NONE, |rest| {
        PollTimeout::try_from(rest + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
    });
    poll(&mut waits, timeout)?;
    // Events that have no name here are some, too.
    let mut ready = waits
        .iter()
        .map(|wait| wait.revents().is_none_or(|events| !events.is_empty()));
    Ok(Ready {
        ends: ready.next().unwrap_or(true),
        links: ready.by_ref().take(links.len()).collect(),
        comes: ready.next().unwrap_or(false),
    })
}

/// Lets those in who want to ask.
fn let_in(place: &SocketPlace, links: &mut Vec<Connection>) -> io::Result<()> {
    for _ in 0..MOST_LINKS {
        let stream = match place.listener.accept() {
            Ok((stream, _)) => stream,
            Err(why) if why.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(why)
                if matches!(
                    why.kind(),
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted
                ) =>
            {
                continue;
            }
            Err(why) => return Err(why),
        };
        let mut link = Connection::new(stream)?;
        if !is_same_user(&link.stream) {
            link.refuse("only the user who runs this program may look at it");
        }
        if link.go_on() {
            if links.len() == MOST_LINKS {
                // Who has not said anything yet comes before those who have.
                let oldest = (0..MOST_LINKS).min_by_key(|place| links[*place].heard());
                oldest
                    .into_iter()
                    .for_each(|oldest| drop(links.remove(oldest)));
            }
            links.push(link);
        }
    }
    // The others are for the next round.
    Ok(())
}

/// Whether a process of this user is at the other side. Its own number is not asked for: here it may have none, as one outside of this container.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_same_user(stream: &UnixStream) -> bool {
    nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)
        .is_ok_and(|peer| peer.uid() == place::user())
}

/// Elsewhere the modes of the folder and the socket see to that.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_same_user(_: &UnixStream) -> bool {
    true
}
