//! A process that is led through one operation, from each change of the shared memory to the next, and killed or stopped there.
//!
//! What other processes see of an operation is what it changes in the memory. So the test, as a debugger, has the process execute one machine
//! instruction after the other and compares the memory after each: where it has changed, the operation has done one more step. To halt the process
//! after each of these is to halt it at every moment that differs for others, in the very code that users run.

use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::other::Other;

/// By this the process says that the operation begins, or is over. Without a debugger it is ignored.
const MARK: Signal = Signal::SIGURG;
/// No operation has more instructions: it hangs.
const MOST_INSTRUCTIONS: u32 = 1_000_000;

/// What becomes of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Killed,
    Stopped,
}

/// In the other process: an operation through which the test leads it.
pub(crate) fn traced<R>(operation: impl FnOnce() -> R) -> R {
    ptrace::traceme().expect("the test may debug its processes");
    raise(MARK).expect("a signal to this thread");
    let result = operation();
    raise(MARK).expect("a signal to this thread");
    result
}

/// A process within its operation.
pub(crate) struct Traced {
    other: Other,
    thread: Pid,
    memory: File,
    seen: Vec<u8>,
    is_over: bool,
}

/// Of a thread that this one has started or leads.
fn wait_for(thread: Option<Pid>) -> WaitStatus {
    waitpid(thread, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD)).expect("it is led")
}

impl Traced {
    /// Starts the other half of a test, and leads it to where its operation begins.
    pub(crate) fn start(path: &str, half: &str, memory: BorrowedFd<'_>) -> Self {
        let other = Other::start(path, half, memory);
        let thread = match wait_for(None) {
            WaitStatus::Stopped(thread, MARK) => thread,
            status => panic!("{path} has not got to its operation: {status:?}"),
        };
        ptrace::setoptions(thread, ptrace::Options::PTRACE_O_EXITKILL).expect("it is led");
        let memory = File::from(memory.try_clone_to_owned().expect("a descriptor"));
        Traced {
            other,
            thread,
            memory,
            seen: Vec::new(),
            is_over: false,
        }
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.other.id()
    }

    /// Has it execute one more instruction.
    fn step(&mut self) {
        ptrace::step(self.thread, None).expect("it is led");
        match wait_for(Some(self.thread)) {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
            WaitStatus::Stopped(_, MARK) => self.is_over = true,
            status => panic!("it has ended in the middle: {status:?}"),
        }
    }

    /// Leads it to the end of its operation, while a process that is hostile writes into the memory before each instruction.
    pub(crate) fn lead_against(&mut self, mut hostile: impl FnMut(&File)) {
        for _ in 0..MOST_INSTRUCTIONS {
            hostile(&self.memory);
            self.step();
            if self.is_over {
                return;
            }
        }
        self.hangs();
    }

    fn hangs(&mut self) -> ! {
        self.other.kill();
        // Its end is told to this thread first.
        wait_for(Some(self.thread));
        panic!("the operation has no end");
    }

    fn look(&self) -> Vec<u8> {
        let len = self.memory.metadata().expect("it is there").len();
        let mut bytes = vec![0; len as usize];
        self.memory.read_exact_at(&mut bytes, 0).expect("all of it");
        bytes
    }

    /// Leads it until it has changed the memory so many times, or the operation is over.
    pub(crate) fn lead(&mut self, changes: usize) {
        self.seen = self.look();
        let mut left = changes;
        for _ in 0..MOST_INSTRUCTIONS {
            if left == 0 {
                return;
            }
            self.step();
            if self.is_over {
                return;
            }
            let now = self.look();
            if now != self.seen {
                left -= 1;
                self.seen = now;
            }
        }
        self.hangs();
    }

    /// Whether the whole operation is done.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Ends or halts it where it is.
    pub(crate) fn halt(mut self, fate: Fate) -> Halted {
        match fate {
            Fate::Killed => {
                self.other.kill();
                let status = wait_for(Some(self.thread));
                assert!(
                    matches!(status, WaitStatus::Signaled(_, Signal::SIGKILL, _)),
                    "{status:?}"
                );
                self.other.wait();
                Halted(None)
            }
            Fate::Stopped => {
                ptrace::detach(self.thread, Signal::SIGSTOP).expect("it is led");
                self.other.wait_until_stopped();
                Halted(Some(self.other))
            }
        }
    }
}

/// A process that was killed, or is stopped.
pub(crate) struct Halted(Option<Other>);

impl Halted {
    /// One that is stopped goes on, to its end in order.
    pub(crate) fn go_on(self) {
        if let Some(other) = self.0 {
            other.signal(rustix::process::Signal::CONT);
            other.ends_well();
        }
    }
}
