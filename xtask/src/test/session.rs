//! A session of processes: all that a step has started, directly or not, whatever became of who started it.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process that still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) id: i32,
    pub(crate) command: String,
}

/// The processes of a session, whose number is that of the process that began it. Empty where there is no `/proc`.
pub(crate) fn members(session: i32) -> Vec<Member> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|id: i32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            (session_of(&stat)? == session).then(|| Member {
                id,
                command: command_of(id),
            })
        })
        .collect()
}

/// The session that a line of `/proc/ID/stat` names; none of a process that has ended and is only to be waited for.
fn session_of(stat: &str) -> Option<i32> {
    // The name of the program stands in parentheses and may contain anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let session = fields.nth(2)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(session)
}

/// Whether a process that runs with this number was started by this one.
fn is_child(id: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let this = i32::try_from(std::process::id()).ok();
    this.is_some() && parent_of(&stat) == this
}

/// The parent that a line of `/proc/ID/stat` names; none of a process that has ended and is only to be waited for.
fn parent_of(stat: &str) -> Option<i32> {
    session_of(stat)?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    fields.nth(1)?.parse().ok()
}

fn command_of(id: i32) -> String {
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0);
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    words.join(" ").trim_end().to_owned()
}

/// Ends all that the session still runs: asks each process, gives it `patience`, then takes the rest down. Says what was there.
pub(crate) fn end(session: i32, patience: Duration) -> Vec<Member> {
    let asked = members(session);
    // The first one may not have begun its session yet. Once it has ended its number may be another's.
    if asked.is_empty() && (is_child(session) || !cfg!(target_os = "linux")) {
        let _ = kill(Pid::from_raw(session), Signal::SIGTERM);
    }
    for member in &asked {
        let _ = kill(Pid::from_raw(member.id), Signal::SIGTERM);
    }
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline && !members(session).is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    // A process that starts others may have started one since it was seen.
    loop {
        let left = members(session);
        if left.is_empty() {
            return asked;
        }
        for member in left {
            let _ = kill(Pid::from_raw(member.id), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until nothing of the session runs any more, at most for `patience`; says whether that is so.
pub(crate) fn await_end(session: i32, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while !members(session).is_empty() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_read_whatever_the_program_is_called() {
        assert_eq!(session_of("71 (cargo) S 70 71 68 0 -1 4194560"), Some(68));
        assert_eq!(session_of("71 (a) S 1 2) R 70 71 69 0"), Some(69));
        assert_eq!(session_of("71 (cargo) Z 70 71 68 0 -1"), None);
        assert_eq!(session_of("71 (cargo"), None);
        assert_eq!(session_of(""), None);
        assert_eq!(parent_of("71 (cargo) S 70 71 68 0 -1 4194560"), Some(70));
        assert_eq!(parent_of("71 (cargo) Z 70 71 68 0 -1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_a_member_of_its_session() {
        let own = nix::unistd::getsid(None).unwrap().as_raw();
        let this = i32::try_from(std::process::id()).unwrap();
        assert!(members(own).iter().any(|member| member.id == this));
        assert!(members(i32::MAX).is_empty());
    }
}
