//! Linux: the kernel's futex.

use std::ptr;
use std::time::Instant;

use super::{Futex, Scope, TimedOut};

fn operation(operation: libc::c_int, scope: Scope) -> libc::c_int {
    match scope {
        Scope::Private => operation | libc::FUTEX_PRIVATE_FLAG,
        Scope::Shared => operation,
    }
}

pub(super) fn wait(
    futex: &Futex,
    expected: u32,
    deadline: Option<Instant>,
    scope: Scope,
) -> Result<(), TimedOut> {
    // The kernel's relative timeout is used: `Instant` does not tell its clock's reading, and a
    // sleep that a signal cuts short comes back here with the rest computed anew.
    let mut timeout = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let timeout_pointer = match deadline {
        None => ptr::null(),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TimedOut);
            }
            // A timeout beyond what the system can count is none.
            match libc::time_t::try_from(left.as_secs()) {
                Ok(seconds) => {
                    timeout.tv_sec = seconds;
                    timeout.tv_nsec = left.subsec_nanos() as _;
                    &raw const timeout
                }
                Err(_) => ptr::null(),
            }
        }
    };
    // SAFETY: the word is a live, aligned 32-bit integer, and the timeout is null or a valid
    // timespec that outlives the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            futex.as_ptr(),
            operation(libc::FUTEX_WAIT, scope),
            expected,
            timeout_pointer,
        )
    };
    if result == -1 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT) {
        // The kernel's clock and ours agree only to within its own rounding.
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Err(TimedOut);
        }
    }
    Ok(())
}

pub(super) fn wake(futex: &Futex, count: u32, scope: Scope) {
    // SAFETY: the kernel only uses the address as a key; it does not access the word.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            futex.as_ptr(),
            operation(libc::FUTEX_WAKE, scope),
            count.min(i32::MAX as u32),
        );
    }
}
