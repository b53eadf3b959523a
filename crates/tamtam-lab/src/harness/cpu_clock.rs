//! CPU time of a thread and of the process.

use std::time::Duration;

/// The CPU time of the calling thread so far, to the nanosecond; `None` where the system has no such clock.
#[cfg(unix)]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// The CPU time of all threads of this process so far, to the nanosecond; `None` where the system has no such clock.
#[cfg(unix)]
pub(crate) fn process_cpu_time() -> Option<Duration> {
    read(rustix::time::ClockId::ProcessCPUTime)
}

#[cfg(unix)]
fn read(clock: rustix::time::ClockId) -> Option<Duration> {
    Duration::try_from(rustix::time::clock_gettime(clock)).ok()
}

#[cfg(not(unix))]
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    None
}

#[cfg(not(unix))]
pub(crate) fn process_cpu_time() -> Option<Duration> {
    None
}
