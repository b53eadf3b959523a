//! Linux: the kernel's futex.

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// What the kernel takes for one word of a sleep on several.
#[repr(C)]
#[derive(Clone, Copy)]
struct Waiter {
    expected: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// A word of 32 bits, in the kernel's flags.
const SIZE_32: u32 = 2;

/// The kernel has no call to sleep on several words, or a filter refuses it.
static IS_MISSING: AtomicBool = AtomicBool::new(false);

pub(super) fn can_wait_any() -> bool {
    // Miri knows `futex(2)` alone.
    if cfg!(miri) {
        return false;
    }
    static ASKED: std::sync::Once = std::sync::Once::new();
    ASKED.call_once(|| {
        // No words are no sleep, and an error; another one if there is no such call.
        // SAFETY: without a word the kernel reads nothing.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex_waitv,
                ptr::null::<Waiter>(),
                0,
                0,
                ptr::null::<libc::timespec>(),
                libc::CLOCK_MONOTONIC,
            )
        };
        let error = std::io::Error::last_os_error().raw_os_error();
        if result == -1 && matches!(error, Some(libc::ENOSYS | libc::EPERM)) {
            IS_MISSING.store(true, Ordering::Relaxed);
        }
    });
    !IS_MISSING.load(Ordering::Relaxed)
}

pub(super) fn wait_any(
    words: &[(&Futex, u32, Scope)],
    deadline: Option<Instant>,
) -> Result<(), TimedOut> {
    // Miri knows `futex(2)` alone.
    if words.is_empty() || cfg!(miri) || IS_MISSING.load(Ordering::Relaxed) {
        return super::in_slices(words, deadline);
    }
    let none = Waiter {
        expected: 0,
        address: 0,
        flags: 0,
        reserved: 0,
    };
    let mut waiters = [none; Futex::MOST_AT_ONCE];
    for (waiter, (word, expected, scope)) in waiters.iter_mut().zip(words) {
        let private = match scope {
            Scope::Private => libc::FUTEX_PRIVATE_FLAG as u32,
            Scope::Shared => 0,
        };
        *waiter = Waiter {
            expected: u64::from(*expected),
            address: word.as_ptr() as u64,
            flags: SIZE_32 | private,
            reserved: 0,
        };
    }
    let mut timeout = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let mut timeout_pointer = ptr::null();
    if let Some(deadline) = deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(TimedOut);
        }
        // This call takes a reading of the clock, and `Instant` does not tell its own.
        // SAFETY: the timespec is ours to write.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut timeout) };
        let nanoseconds = timeout.tv_nsec as u64 + u64::from(left.subsec_nanos());
        let seconds = libc::time_t::try_from(left.as_secs() + nanoseconds / 1_000_000_000);
        // A timeout beyond what the system can count is none.
        if let Some(seconds) = seconds.ok().and_then(|it| it.checked_add(timeout.tv_sec)) {
            timeout.tv_sec = seconds;
            timeout.tv_nsec = (nanoseconds % 1_000_000_000) as _;
            timeout_pointer = &raw const timeout;
        }
    }
    // SAFETY: so many waiters are filled in, each with a live, aligned 32-bit word; the timeout is null or a valid timespec. All of it outlives
    // the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex_waitv,
            waiters.as_ptr(),
            words.len(),
            0,
            timeout_pointer,
            libc::CLOCK_MONOTONIC,
        )
    };
    if result == -1 {
        match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::ENOSYS | libc::EPERM) => {
                IS_MISSING.store(true, Ordering::Relaxed);
                return super::in_slices(words, deadline);
            }
            Some(libc::ETIMEDOUT)
                if deadline.is_some_and(|deadline| deadline <= Instant::now()) =>
            {
                return Err(TimedOut);
            }
            _ => {}
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
