//! Whether this process was started by another one of ours, as a worker.
//!
//! It is told so by a variable, which processes inherit that a worker starts in turn. So the variable names the socket that the worker has as its
//! standard input, which is no longer that of any other process. Who its parent is would not do: that may be gone already when the worker
//! begins, which would then take itself for the program.

use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::fs::{FileType, fstat};

/// The variable: the number of the parent, and that of the socket.
pub(crate) const WORKER: &str = "TAMTAM_WORKER";

/// What the variable is to say for a worker with this end of the socket.
pub(crate) fn of_this_process(socket: impl AsFd) -> std::io::Result<String> {
    let socket = fstat(socket)?.st_ino;
    Ok(format!("{}:{socket}", std::process::id()))
}

/// Of which process this one is a worker.
pub(crate) fn parent() -> Option<u32> {
    static PARENT: OnceLock<Option<u32>> = OnceLock::new();
    *PARENT.get_or_init(|| {
        let said = std::env::var(WORKER).ok()?;
        let (parent, socket) = said.split_once(':')?;
        let (parent, socket): (_, u64) = (parent.parse().ok()?, socket.parse().ok()?);
        let input = fstat(rustix::stdio::stdin()).ok()?;
        let is_socket = FileType::from_raw_mode(input.st_mode) == FileType::Socket;
        (is_socket && input.st_ino == socket).then_some(parent)
    })
}

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    parent().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_known_by_its_number() {
        let (here, there) = std::os::unix::net::UnixStream::pair().unwrap();
        let (of_here, of_there) = (of_this_process(&here), of_this_process(&there));
        assert_ne!(of_here.unwrap(), of_there.unwrap());
        assert!(!is_worker());
    }
}
