//! A process that this one has started: how it is ended, and how it has.
//!
//! It is named by a descriptor (`pidfd_open(2)`) from the beginning. Its number may be another process's as soon as something has waited for it, which need
//! not be this library: a program may wait for whatever child ends, or ignore `SIGCHLD`.

use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, pidfd_open, pidfd_send_signal, waitid,
};
use tamtam_actor::ProcessEnd;

use crate::status::end_of;

/// A child, with what names it.
pub(crate) struct ChildProcess {
    child: Child,
    /// Not there where the system has none. Also with a thread that waits.
    name: Option<Arc<OwnedFd>>,
}

impl From<Child> for ChildProcess {
    fn from(child: Child) -> Self {
        let pid = Pid::from_raw(child.id().cast_signed());
        let name = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let name = name.map(Arc::new);
        ChildProcess { child, name }
    }
}

impl ChildProcess {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What names it, to wait for its end by.
    pub(crate) fn name(&self) -> Option<Arc<OwnedFd>> {
        self.name.clone()
    }

    /// Kills it, unless it has ended already.
    pub(crate) fn kill(&mut self) {
        // What has ended cannot be killed, and that is no failure.
        match self.name.as_deref() {
            Some(name) => drop(pidfd_send_signal(name, Signal::KILL)),
            None => drop(self.child.kill()),
        }
    }

    /// Waits until it has ended, and says how.
    pub(crate) fn reap(mut self) -> ProcessEnd {
        let Some(name) = self.name.as_deref() else {
            return self.child.wait().map_or(ProcessEnd::Unknown, end_of);
        };
        let waited = retry_on_intr(|| waitid(WaitId::PidFd(name.as_fd()), WaitIdOptions::EXITED));
        let Ok(Some(status)) = waited else {
            // Something else has waited for it, or the system keeps nothing of it.
            return ProcessEnd::Unknown;
        };
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ProcessEnd::Exited(code),
            (None, Some(signal)) => ProcessEnd::Killed(signal),
            (None, None) => ProcessEnd::Unknown,
        }
    }
}

/// Gives a child of this name so long to end by itself.
pub(crate) fn wait_for_end(name: &OwnedFd, patience: Duration) {
    let deadline = Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = left.try_into().ok();
        let mut fds = [PollFd::new(name, PollFlags::IN)];
        match poll(&mut fds, left.as_ref()) {
            Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::process::Command;

    fn sleeping() -> ChildProcess {
        Command::new("/bin/sleep")
            .arg("1000")
            .spawn()
            .unwrap()
            .into()
    }

    #[test]
    fn an_end_is_told_as_it_was() {
        let mut child = sleeping();
        child.kill();
        assert_eq!(child.reap(), ProcessEnd::Killed(9));
        let exits = |code: i32| {
            Command::new("/bin/sh")
                .args(["-c", &format!("exit {code}")])
                .spawn()
        };
        for code in [0, 3] {
            let child = ChildProcess::from(exits(code).unwrap());
            wait_for_end(&child.name().unwrap(), Duration::from_secs(60));
            assert_eq!(child.reap(), ProcessEnd::Exited(code));
        }
    }

    #[test]
    fn one_that_something_else_has_waited_for_is_not_mistaken_for_another_one() {
        let mut child = sleeping();
        child.kill();
        child.child.wait().unwrap();
        // Its number may be another process's by now.
        child.kill();
        assert_eq!(child.reap(), ProcessEnd::Unknown);
    }
}
