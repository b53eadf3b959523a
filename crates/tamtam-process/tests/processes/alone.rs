//! Programs of their own, of which something is as it is in few: the system does not tell them of the ends of their processes, or they have forked.

use std::time::Duration;

use rustix::process::Signal;
use tamtam_actor::{AskError, Restart};
use tamtam_process::{Process, SpawnError};

use crate::LONG;
use crate::actors::{Count, Counter, Death, this_program};

crate::tests! { "alone":
    an_end_of_which_the_system_does_not_tell_is_no_signal
    a_forked_child_is_told_that_it_can_have_no_process
}

/// Tells a program which of these it is.
const WHICH: &str = "TAMTAM_TEST_ALONE_AS";

/// Is that program, if it was asked to.
pub(crate) fn be_if_asked() {
    let Some(which) = std::env::var_os(WHICH) else {
        return;
    };
    match which.to_str() {
        Some("ignores") => ignores(),
        Some("forks") => forks(),
        other => panic!("{other:?}"),
    }
    std::process::exit(0);
}

fn an_end_of_which_the_system_does_not_tell_is_no_signal() {
    // A program keeps the signals that it is started to ignore.
    let mut program = std::process::Command::new("env");
    program.args([
        "--ignore-signal=CHLD".as_ref(),
        this_program().get_program(),
    ]);
    assert!(program.env(WHICH, "ignores").status().unwrap().success());
}

/// Its processes are gone without a trace.
fn ignores() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    assert_ne!(ignored & 1 << (Signal::CHILD.as_raw() - 1), 0);
    for death in [Death::Exit(0), Death::Exit(3), Death::Abort] {
        let restart = Restart::never();
        let spawner = Process::spawner().restart(restart);
        let (counter, handle) = spawner.spawn_with_handle::<Counter>(1).unwrap();
        let pid = handle.pid().unwrap();
        let end = match counter.ask(|reply| Count::DieAsking(death.clone(), reply)) {
            Err(AskError::ProcessEnded(end)) => end.to_string(),
            other => panic!("{other:?}"),
        };
        // It may have been seen when it was about to end.
        let known = match death {
            Death::Exit(code) => format!("it exited with code {code}"),
            _ => "it was killed by signal 6 (SIGABRT)".to_owned(),
        };
        let is_unknown = end.starts_with("how it has ended is not known");
        assert!(
            is_unknown || (end == known && death != Death::Exit(0)),
            "{end}"
        );
        crate::until("it is gone", || handle.pid().is_none());
        crate::until("the system has forgotten it", || {
            !std::path::Path::new(&format!("/proc/{pid}")).exists()
        });
    }
}

fn a_forked_child_is_told_that_it_can_have_no_process() {
    let status = this_program().env(WHICH, "forks").status();
    assert!(status.unwrap().success());
}

fn forks() {
    let counter = Process::spawn::<Counter>(1).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(1));
    let patience = Duration::from_secs(20).min(LONG);
    let is_told = tamtam_testing::succeeds_in_a_forked_child(patience, || {
        matches!(Process::spawn::<Counter>(1), Err(SpawnError::System { .. }))
    });
    assert!(is_told);
    // This one goes on.
    let counter = Process::spawn::<Counter>(2).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(2));
}
