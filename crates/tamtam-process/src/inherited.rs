//! Descriptors that a worker has inherited, though it was not given them: those that other code of its parent has opened without `O_CLOEXEC`.

use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::{FdFlags, fcntl_getfd};

/// Closes all of them but the standard streams. What Rust has opened since the worker was executed is not one of them: it has `FD_CLOEXEC`.
///
/// # Errors
///
/// If the system does not say what is open.
///
/// # Safety
///
/// - This process has one thread.
/// - No code of it has a descriptor without `FD_CLOEXEC`, and goes on using that.
pub(crate) unsafe fn close() -> io::Result<()> {
    let names = std::fs::read_dir("/proc/self/fd")?;
    let names = names.map(|name| Ok(name?.file_name()));
    let open: Vec<RawFd> = names
        .filter_map(|name: io::Result<_>| name.map(|name| name.to_str()?.parse().ok()).transpose())
        .collect::<io::Result<_>>()?;
    for fd in open.into_iter().filter(|fd| *fd > 2) {
        // SAFETY: at most it is not open any more, as that of the folder, and then the call says so.
        let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
        if fcntl_getfd(borrowed).is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC)) {
            // SAFETY: it has come from before this program was executed, so no value of it owns the descriptor, as the caller has seen to.
            unsafe { rustix::io::close(fd) };
        }
    }
    Ok(())
}
