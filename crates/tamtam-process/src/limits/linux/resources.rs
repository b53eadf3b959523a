//! Limits of memory and time, and rights that the process gives up.

use std::fs;
use std::time::Duration;

use rustix::process::{DumpableBehavior, Resource, Rlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::limits::LimitsError;

/// Landlock and capabilities concern one thread and those that it will start.
pub(super) fn check_one_thread() -> Result<(), LimitsError> {
    let threads = fs::read_dir("/proc/self/task").map_err(|cause| {
        LimitsError::system(
            "counting the threads of the worker in /proc/self/task",
            cause,
        )
    })?;
    match threads.count() {
        1 => Ok(()),
        count => Err(LimitsError::Threads(count)),
    }
}

pub(super) fn limit_memory(bytes: u64) -> Result<(), LimitsError> {
    // Without /proc it is not known; then the first allocation tells.
    if let Some(used) = address_space()
        && used >= bytes
    {
        return Err(LimitsError::MemoryUsed { limit: bytes, used });
    }
    limit(Resource::As, bytes, bytes).map_err(|cause| LimitsError::system("limiting memory", cause))
}

/// How much address space the process has, in bytes.
fn address_space() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

/// One second more before the kernel kills: with none it would do so at once, and the cause would not be seen.
pub(super) fn limit_cpu_time(time: Duration) -> Result<(), LimitsError> {
    let begun = u64::from(time.subsec_nanos() > 0);
    let seconds = time.as_secs().saturating_add(begun).max(1);
    limit(Resource::Cpu, seconds, seconds.saturating_add(1))
        .map_err(|cause| LimitsError::system("limiting the time on the processor", cause))
}

/// A limit that is stricter already stays.
fn limit(resource: Resource, current: u64, maximum: u64) -> rustix::io::Result<()> {
    let highest = rustix::process::getrlimit(resource)
        .maximum
        .unwrap_or(u64::MAX);
    rustix::process::setrlimit(
        resource,
        Rlimit {
            current: Some(current.min(highest)),
            maximum: Some(maximum.min(highest)),
        },
    )
}

pub(super) fn gain_no_rights() -> Result<(), LimitsError> {
    rustix::thread::set_no_new_privs(true).map_err(|cause| {
        LimitsError::system("giving up rights of programs (PR_SET_NO_NEW_PRIVS)", cause)
    })
}

pub(super) fn leave_no_dump() -> Result<(), LimitsError> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .and_then(|()| limit(Resource::Core, 0, 0))
        .map_err(|cause| LimitsError::system("switching core dumps off", cause))
}

pub(super) fn give_up_capabilities() -> Result<(), LimitsError> {
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, none)
        .map_err(|cause| LimitsError::system("giving up the powers of root (capset)", cause))
}
