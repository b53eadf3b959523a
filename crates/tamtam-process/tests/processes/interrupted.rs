//! Processes that are stopped, or die, in the middle of what they encode and write: from outside, while the other side does not read.

use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};
use tamtam_actor::{Address, AskError, ProcessEnd, Reply, Restart};
use tamtam_process::{Process, ProcessHandle};

use crate::steps::{Act, Passed, Walk, Walker, is_in_state, rounds};
use crate::until;

crate::tests! { "interrupted":
    who_is_stopped_or_dies_as_it_encodes_or_writes_loses_nothing_in_silence
}

/// What memory and socket between two processes take is less.
const MORE_THAN_FITS: usize = 1 << 20;

/// A walker with a child, of which both are known by their numbers, and the file in which the child notes what it begins.
struct Family {
    log: tempfile::NamedTempFile,
    parent: Address<Walk>,
    handle: ProcessHandle,
    pids: (u32, u32),
}

impl Family {
    fn new() -> Self {
        let log = tempfile::NamedTempFile::new().unwrap();
        let (parent, handle) = Process::spawner()
            .restart(Restart::never())
            .spawn_with_handle::<Walker>(log.path().to_str().unwrap().to_owned())
            .unwrap();
        let pids = parent.ask(Walk::HaveChild).unwrap();
        Family {
            log,
            parent,
            handle,
            pids,
        }
    }

    /// Has the parent ask the child; what it will have heard.
    fn pass(&self, passed: Passed) -> mpsc::Receiver<Result<bool, AskError>> {
        let (sender, heard) = mpsc::channel();
        let reply = Reply::to(move |answer| sender.send(answer).unwrap());
        self.parent.tell(Walk::Pass(passed, reply)).unwrap();
        heard
    }

    /// What the child, or one that has taken its place, has begun.
    fn begun(&self) -> Vec<u64> {
        let bytes = std::fs::read(self.log.path()).unwrap();
        let (numbers, rest) = bytes.as_chunks::<8>();
        assert!(rest.is_empty(), "a number was cut");
        numbers.iter().map(|it| u64::from_le_bytes(*it)).collect()
    }

    /// The parent dies, and the child with it, whatever it is at.
    fn die(self) {
        self.handle.kill();
        for pid in [self.pids.0, self.pids.1] {
            until(&format!("{pid} has died with its parent"), || {
                !std::path::Path::new(&format!("/proc/{pid}")).exists() || is_in_state(pid, ") Z ")
            });
        }
    }
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

fn stop(pid: u32) {
    signal(pid, Signal::STOP);
    until_stopped(pid);
}

fn until_stopped(pid: u32) {
    until("it is stopped", || is_in_state(pid, ") T "));
}

/// What becomes of the one that is stopped, or writes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Then {
    GoesOn,
    Dies,
}

fn who_is_stopped_or_dies_as_it_encodes_or_writes_loses_nothing_in_silence() {
    for _ in 0..rounds().div_ceil(3) {
        for then in [Then::GoesOn, Then::Dies] {
            stopped_as_it_encodes(then);
            stopped_as_it_writes(then);
            stopped_as_it_answers(then);
        }
        its_reader_dies_as_it_writes();
    }
}

const PASSED: Passed = Passed {
    number: 5,
    load: 0,
    encoding: Act::Nothing,
    begun: Act::Nothing,
};

/// The parent stops as it encodes a message; it goes on, or dies.
fn stopped_as_it_encodes(then: Then) {
    let family = Family::new();
    let heard = family.pass(Passed {
        encoding: Act::Stop,
        ..PASSED
    });
    until_stopped(family.pids.0);
    assert_eq!(family.begun(), Vec::<u64>::new());
    if then == Then::GoesOn {
        signal(family.pids.0, Signal::CONT);
        assert_eq!(heard.recv(), Ok(Ok(true)));
        assert_eq!(family.begun(), [5]);
    } else {
        family.handle.kill();
        let killed = AskError::ProcessEnded(ProcessEnd::Killed(9));
        assert_eq!(heard.recv(), Ok(Err(killed)));
        assert_eq!(family.begun(), Vec::<u64>::new());
    }
    family.die();
}

/// The parent is in the middle of a message to a child that does not read. It is stopped; it goes on, or dies.
fn stopped_as_it_writes(then: Then) {
    let family = Family::new();
    stop(family.pids.1);
    let heard = family.pass(Passed {
        load: MORE_THAN_FITS,
        ..PASSED
    });
    // It has told it, and answers.
    family.parent.ask(Walk::Here).unwrap();
    stop(family.pids.0);
    signal(family.pids.1, Signal::CONT);
    if then == Then::GoesOn {
        signal(family.pids.0, Signal::CONT);
        assert_eq!(heard.recv(), Ok(Ok(true)));
        assert_eq!(family.begun(), [5]);
    } else {
        family.handle.kill();
        assert!(heard.recv().unwrap().is_err());
        // The child had a part of it.
        assert_eq!(family.begun(), Vec::<u64>::new());
    }
    family.die();
}

/// The parent is in the middle of a message to a child that does not read, and dies: the next one has the message.
fn its_reader_dies_as_it_writes() {
    let family = Family::new();
    stop(family.pids.1);
    let heard = family.pass(Passed {
        load: MORE_THAN_FITS,
        ..PASSED
    });
    family.parent.ask(Walk::Here).unwrap();
    signal(family.pids.1, Signal::KILL);
    assert_eq!(heard.recv(), Ok(Ok(true)));
    assert_eq!(family.begun(), [5]);
    family.die();
}

/// The child is in the middle of an answer to a parent that does not read. It is stopped; it goes on, or dies.
fn stopped_as_it_answers(then: Then) {
    let family = Family::new();
    let heard = family.pass(Passed {
        load: MORE_THAN_FITS,
        begun: Act::Stop,
        ..PASSED
    });
    until_stopped(family.pids.1);
    stop(family.pids.0);
    signal(family.pids.1, Signal::CONT);
    // It waits for room.
    until("it has written what fits", || {
        is_in_state(family.pids.1, ") S ")
    });
    stop(family.pids.1);
    if then == Then::Dies {
        signal(family.pids.1, Signal::KILL);
    }
    signal(family.pids.0, Signal::CONT);
    // That the child does not go on keeps the parent from nothing.
    family.parent.ask(Walk::Here).unwrap();
    if then == Then::GoesOn {
        signal(family.pids.1, Signal::CONT);
    }
    assert_eq!(heard.recv(), Ok(Ok(then == Then::GoesOn)));
    assert_eq!(family.begun(), [5]);
    family.die();
}
