//! What a process uses of the machine, as the system says.

#[cfg(target_os = "linux")]
use nix::unistd::{SysconfVar, sysconf};

use crate::observe::json::Json;

/// Its memory in bytes, and its time on processors in nanoseconds, as members; none where the system does not say.
pub(super) fn show(json: &mut Json, pid: u32) {
    if let Some(bytes) = memory(pid) {
        json.plain("memory", bytes);
    }
    if let Some(nanos) = processor_time(pid) {
        json.plain("cpu_ns", nanos);
    }
}

/// A unit of the system.
#[cfg(target_os = "linux")]
fn system_value(of: SysconfVar) -> Option<u64> {
    sysconf(of).ok()??.try_into().ok()
}

/// What of it lies in memory.
#[cfg(target_os = "linux")]
fn memory(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * system_value(SysconfVar::PAGE_SIZE)?)
}

/// Of all its threads.
#[cfg(target_os = "linux")]
fn processor_time(pid: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = text.rsplit_once(')')?;
    // `utime` and `stime` are the fields 14 and 15; the first behind the name is 3.
    let mut fields = fields.split_ascii_whitespace().skip(14 - 3);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let ticks_a_second = system_value(SysconfVar::CLK_TCK)?;
    Some((user + system) * (1_000_000_000 / ticks_a_second.max(1)))
}

#[cfg(not(target_os = "linux"))]
fn memory(_: u32) -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
fn processor_time(_: u32) -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_has_taken_time() {
        let pid = std::process::id();
        assert!(memory(pid).unwrap() > 100_000);
        let start = std::time::Instant::now();
        let before = processor_time(pid).unwrap();
        while processor_time(pid).unwrap() - before < 20_000_000 {
            assert!(start.elapsed().as_secs() < 60);
        }
        assert_eq!((memory(u32::MAX), processor_time(u32::MAX)), (None, None));
    }
}
