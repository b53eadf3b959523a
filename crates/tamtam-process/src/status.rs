//! What the system says of a process that is about to be gone: how it has ended, before its memory is freed and it can be waited for.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tamtam_actor::ProcessEnd;

/// Of the kernel's words for a thread: it is ending.
const EXITING: u64 = 4;

/// How a process has ended.
pub(crate) fn end_of(status: ExitStatus) -> ProcessEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => ProcessEnd::Exited(code),
        (None, signal) => ProcessEnd::Killed(signal.unwrap_or(0)),
    }
}

/// So long a process that was killed may take until its main thread runs no more.
const SOON: Duration = Duration::from_millis(1);

/// How a child is ending that says no more: once its main thread runs no more, which may be a moment later. `None` as by [`ending`].
pub(crate) fn ending_soon(pid: u32) -> Option<ProcessEnd> {
    let begun = Instant::now();
    loop {
        let end = ending(pid);
        if end.is_some() || begun.elapsed() > SOON {
            return end;
        }
        std::thread::yield_now();
    }
}

/// How a child is ending, as the kernel says; `None` if it is not, or the kernel does not say, or it has ended in order: then that is to be
/// waited for.
fn ending(pid: u32) -> Option<ProcessEnd> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    ending_by(&stat)
}

/// The same by the text of the file `stat`, which says more of a process in each version of the kernel, but nothing at another place.
fn ending_by(stat: &str) -> Option<ProcessEnd> {
    // Its name may have blanks and brackets in it. Behind that is the third field.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let flags: u64 = fields.nth(9 - 3)?.parse().ok()?;
    let status: i32 = fields.nth(52 - 9 - 1)?.parse().ok()?;
    // Zero is also what is said to a reader that may not know.
    (flags & EXITING != 0 && status != 0).then(|| end_of(ExitStatus::from_raw(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(name: &str, flags: u64, status: i32) -> String {
        let between = "1 ".repeat(52 - 9 - 1);
        format!("17 ({name}) R 1 2 3 4 5 {flags} {between}{status}\n")
    }

    #[test]
    fn an_end_is_known_by_its_flag_and_its_status() {
        assert_eq!(ending_by(&stat("a", 4, 9)), Some(ProcessEnd::Killed(9)));
        assert_eq!(
            ending_by(&stat("a) R 1 (b", 4_194_308, 7 << 8)),
            Some(ProcessEnd::Exited(7))
        );
        // A core was written.
        assert_eq!(ending_by(&stat("a", 4, 0x86)), Some(ProcessEnd::Killed(6)));
        assert_eq!(ending_by(&stat("a", 0, 9)), None);
        assert_eq!(ending_by(&stat("a", 4, 0)), None);
        assert_eq!(ending_by("17 (a) R 1 2"), None);
        assert_eq!(ending_by(""), None);
    }

    #[test]
    fn one_that_lives_is_not_ending() {
        assert_eq!(ending(std::process::id()), None);
    }

    #[test]
    fn one_that_was_killed_is() {
        let mut child = std::process::Command::new("/bin/sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        child.kill().unwrap();
        let end = loop {
            if let Some(end) = ending(child.id()) {
                break end;
            }
            std::thread::yield_now();
        };
        assert_eq!(end, ProcessEnd::Killed(9));
        assert_eq!(end_of(child.wait().unwrap()), end);
    }
}
