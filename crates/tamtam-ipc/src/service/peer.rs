//! Who is at the other end of a Unix socket, by the word of the kernel.

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

/// Who is at the other end of a socket: for a listener the one that has connected, as it was then.
///
/// # Examples
///
/// ```
/// use tamtam_ipc::Peer;
///
/// fn is_root(peer: &Peer) -> bool {
///     peer.user() == 0
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    user: u32,
    group: u32,
    process: u32,
}

impl Peer {
    pub(super) fn of(socket: impl AsFd) -> Result<Self, Errno> {
        // `rustix` has a call for it, which takes it for granted that the process has a number here.
        let mut peer = libc::ucred {
            pid: 0,
            uid: 0,
            gid: 0,
        };
        let mut len = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the kernel writes as many bytes as `len` says at most, which are those of `peer`; any numbers are a valid one.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut peer).cast(),
                &raw mut len,
            )
        };
        if result != 0 {
            let error = std::io::Error::last_os_error();
            return Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL));
        }
        Ok(Peer {
            user: peer.uid,
            group: peer.gid,
            process: peer.pid.cast_unsigned(),
        })
    }

    /// The user, by its number.
    #[must_use]
    pub fn user(&self) -> u32 {
        self.user
    }

    /// The user's group, by its number.
    #[must_use]
    pub fn group(&self) -> u32 {
        self.group
    }

    /// The process; none if it has no number here, as one outside of this container. It may have ended, and its number may be another one's by now.
    #[must_use]
    pub fn process(&self) -> Option<u32> {
        (self.process != 0).then_some(self.process)
    }
}
