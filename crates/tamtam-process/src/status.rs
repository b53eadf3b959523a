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

/// So long a process that was killed may take until its main thread runs no more: that thread has to get a processor once more.
const SOON: Duration = Duration::from_millis(100);
/// So long it is left alone between two looks.
const PAUSE: Duration = Duration::from_micros(30);

/// How a child is ending that says no more, once its main thread runs no more, which may be a moment later. `None` if that has to be waited
/// for: it is ending in order, or it is gone, or it is not ending at all, or the kernel does not say.
pub(crate) fn ending_soon(pid: u32) -> Option<ProcessEnd> {
    let begun = Instant::now();
    loop {
        match look(pid) {
            Seen::Ending(end) => return Some(end),
            Seen::Over => return None,
            Seen::Alive if begun.elapsed() > SOON => return None,
            Seen::Alive => std::thread::sleep(PAUSE),
        }
    }
}

/// What the kernel says of a child.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    /// Its main thread runs.
    Alive,
    /// Its main thread runs no more, and this is why.
    Ending(ProcessEnd),
    /// It ends in order, or is gone, or the kernel does not say.
    Over,
}

fn look(pid: u32) -> Seen {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.map_or(Seen::Over, |stat| seen_by(&stat))
}

/// The same by the text of the file `stat`, which says more of a process in each version of the kernel, but nothing at another place.
fn seen_by(stat: &str) -> Seen {
    let numbers = || {
        // Its name may have blanks and brackets in it. Behind that is the third field.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let flags: u64 = fields.nth(9 - 3)?.parse().ok()?;
        let status: i32 = fields.nth(52 - 9 - 1)?.parse().ok()?;
        Some((flags, status))
    };
    match numbers() {
        Some((flags, _)) if flags & EXITING == 0 => Seen::Alive,
        // Zero is also what is said to a reader that may not know.
        None | Some((_, 0)) => Seen::Over,
        Some((_, status)) => Seen::Ending(end_of(ExitStatus::from_raw(status))),
    }
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
        let killed = |signal| Seen::Ending(ProcessEnd::Killed(signal));
        assert_eq!(seen_by(&stat("a", 4, 9)), killed(9));
        assert_eq!(
            seen_by(&stat("a) R 1 (b", 4_194_308, 7 << 8)),
            Seen::Ending(ProcessEnd::Exited(7))
        );
        // A core was written.
        assert_eq!(seen_by(&stat("a", 4, 0x86)), killed(6));
        assert_eq!(seen_by(&stat("a", 0, 9)), Seen::Alive);
        assert_eq!(seen_by(&stat("a", 4, 0)), Seen::Over);
        assert_eq!(seen_by("17 (a) R 1 2"), Seen::Over);
        assert_eq!(seen_by(""), Seen::Over);
    }

    #[test]
    fn one_that_lives_is_not_ending() {
        assert_eq!(look(std::process::id()), Seen::Alive);
    }

    #[test]
    fn one_that_was_killed_is() {
        let mut child = std::process::Command::new("/bin/sleep")
            .arg("1000")
            .spawn()
            .unwrap();
        child.kill().unwrap();
        let end = loop {
            if let Some(end) = ending_soon(child.id()) {
                break end;
            }
            std::thread::yield_now();
        };
        assert_eq!(end, ProcessEnd::Killed(9));
        assert_eq!(end_of(child.wait().unwrap()), end);
    }
}
