//! The other process: the same test program, which runs the other half of a test with the memory as its standard input.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use tamtam_testing::ChildGuard;

/// Nothing that has to come takes so long.
pub(crate) const LONG: Duration = Duration::from_secs(30);

const HALF: &str = "TAMTAM_IPC_TEST_HALF";
const NUMBERS: &str = "TAMTAM_IPC_TEST_NUMBERS";

/// In the process that a test has started for its other half: the memory.
pub(crate) fn half(name: &str) -> Option<OwnedFd> {
    if std::env::var(HALF).is_ok_and(|half| half == name) {
        let memory = std::io::stdin().as_fd().try_clone_to_owned();
        return Some(memory.expect("the standard input"));
    }
    None
}

/// In the other process: one more piece of memory that the test has, by its number there.
pub(crate) fn further(number: u32) -> OwnedFd {
    let test = std::os::unix::process::parent_id();
    let path = format!("/proc/{test}/fd/{number}");
    let file = std::fs::File::options().read(true).write(true).open(path);
    file.expect("memory of the test").into()
}

/// In the other process: further pieces of memory, by what [`Other::start_with`] was given.
#[cfg(feature = "link")]
pub(crate) fn all_further() -> Vec<OwnedFd> {
    let numbers = std::env::var(NUMBERS).expect("the test has set it");
    let numbers = numbers.split_whitespace();
    numbers
        .map(|number| further(number.parse().expect("a number")))
        .collect()
}

/// Numbers that look random, and are the same each time (xorshift; Marsaglia, 2003).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// The other half of a test, until it is dropped.
pub(crate) struct Other(ChildGuard);

impl Other {
    /// Starts the test of this path once more, as the half of this name.
    pub(crate) fn start(path: &str, name: &str, memory: BorrowedFd<'_>) -> Self {
        Other::start_with(path, name, memory, "")
    }

    /// As `start`, with numbers of further descriptors in a variable of the environment.
    pub(crate) fn start_with(
        path: &str,
        name: &str,
        memory: BorrowedFd<'_>,
        numbers: &str,
    ) -> Self {
        let memory = memory.try_clone_to_owned().expect("a descriptor");
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", path, "--test-threads", "1", "--nocapture"])
            .env(HALF, name)
            .env(NUMBERS, numbers)
            .stdin(Stdio::from(memory))
            .stdout(Stdio::null())
            .spawn();
        Other(child.expect("a process").into())
    }

    /// The number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().expect("it is there");
    }

    /// Waits for its end, whatever that is.
    pub(crate) fn wait(&mut self) {
        self.0.wait().expect("it was started here");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(id, signal).expect("it is there");
    }

    /// Waits until a signal has stopped it.
    pub(crate) fn wait_until_stopped(&self) {
        let status = format!("/proc/{}/stat", self.id());
        let patience = Instant::now() + Duration::from_secs(30);
        let is_stopped = || std::fs::read_to_string(&status).is_ok_and(|it| it.contains(") T "));
        while !is_stopped() {
            assert!(Instant::now() < patience, "it runs on");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for its end in order.
    pub(crate) fn ends_well(mut self) {
        let status = self.0.wait().expect("it was started here");
        assert!(status.success(), "{status}");
    }
}

/// The memory, for one that writes there what it likes.
pub(crate) fn memory_of(memory: BorrowedFd<'_>) -> std::fs::File {
    std::fs::File::from(memory.try_clone_to_owned().expect("a descriptor"))
}

/// Where the life of a process lies in memory that it has: before its number.
pub(crate) fn life_of(process: u32, memory: &std::fs::File) -> u64 {
    let mut page = [0; 4096];
    memory.read_exact_at(&mut page, 0).expect("a page");
    let numbers = page.chunks_exact(4);
    let numbers = numbers.map(|it| u32::from_le_bytes(it.try_into().expect("four bytes")));
    let mut own = numbers.enumerate().filter(|(_, number)| *number == process);
    4 * own.next().expect("it is there").0 as u64 - 8
}

/// A thread of the test that waits for the other process.
pub(crate) struct Waiting<'scope, R> {
    pub(crate) thread: ScopedJoinHandle<'scope, R>,
    id: u32,
}

impl<'scope, R: Send + 'scope> Waiting<'scope, R> {
    pub(crate) fn start(
        scope: &'scope Scope<'scope, '_>,
        wait: impl FnOnce() -> R + Send + 'scope,
    ) -> Waiting<'scope, R> {
        let (tell, told) = mpsc::channel();
        let thread = scope.spawn(move || {
            let own = rustix::thread::gettid().as_raw_pid().cast_unsigned();
            tell.send(own).unwrap();
            wait()
        });
        let id = told.recv().unwrap();
        Waiting { thread, id }
    }

    /// Until it sleeps. What has attached has woken it.
    pub(crate) fn sleeps(&self) {
        let status = format!("/proc/self/task/{}/stat", self.id);
        let patience = Instant::now() + LONG;
        while !std::fs::read_to_string(&status).unwrap().contains(") S ") {
            assert!(Instant::now() < patience, "it does not sleep");
            std::thread::yield_now();
        }
    }

    pub(crate) fn join(self) -> R {
        self.thread.join().unwrap()
    }
}
