//! What the tests of several crates share: a test that has to end in its time, one that runs in a process of its own, a forked
//! child, a process that does not outlive its test, programs whose `main` is their own, and what a process has used of processors.

use std::io::Read;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Tells a test that it is in the process which was started for it.
const ALONE: &str = "TAMTAM_TEST_ALONE";

/// Runs `program`, the body of the test with this path, in a process that runs nothing else.
///
/// The test calls this with its own path as the test program lists it: `module::name`. `prepare` may change the command that
/// starts the process.
///
/// # Panics
///
/// If the test fails in that process, has not ended after `patience`, or is not found by that path.
pub fn in_a_process_of_its_own(
    path: &str,
    patience: Duration,
    prepare: impl FnOnce(&mut Command),
    program: impl FnOnce(),
) {
    if std::env::var_os(ALONE).is_some_and(|alone| alone == path) {
        return program();
    }
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", path, "--test-threads", "1"])
        .env(ALONE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    prepare(&mut command);
    let mut child = command.spawn().expect("a process for the test");
    let mut output = child.stdout.take().expect("its output");
    let said = thread::spawn(move || {
        let mut said = String::new();
        output.read_to_string(&mut said).map(|_| said)
    });
    let status = wait_for(&mut child, patience);
    let said = said.join().expect("the reader").expect("what it said");
    match status {
        None => panic!("{path} has not ended after {patience:?}:\n{said}"),
        Some(status) => assert!(status.success(), "{path}: {status}:\n{said}"),
    }
    assert!(
        said.contains("test result: ok. 1 passed"),
        "{path} is no test of this program:\n{said}"
    );
}

/// Runs tests by name, as the standard library's programs of tests do, and ends the process: for a program whose `main` is its own.
/// So many at a time, unless that is left to the arguments.
#[cfg(feature = "programs")]
pub fn run_tests(
    at_a_time: Option<usize>,
    tests: impl IntoIterator<Item = (&'static str, fn())>,
) -> ! {
    // What the standard library's tests take on nightly, or are told to, and these do not know.
    let arguments = std::env::args()
        .filter(|argument| !argument.starts_with("-Z") && argument != "--report-time");
    let mut arguments = libtest_mimic::Arguments::from_iter(arguments);
    if at_a_time.is_some() {
        arguments.test_threads = at_a_time;
    }
    let trial = |(name, test): (&str, fn())| {
        libtest_mimic::Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit()
}

/// The processor time that a process's threads have used so far, those that have ended, too, by the scheduler's own clock; without the calling thread,
/// which that costs something. The process is `self` or a number.
///
/// # Panics
///
/// If there is no such process.
#[cfg(target_os = "linux")]
pub fn processor_time(process: &str) -> Duration {
    if process == "self" {
        // This thread first: what it uses meanwhile counts, and what the others have used does not become less.
        let own = time_of(libc::CLOCK_THREAD_CPUTIME_ID);
        return time_of(libc::CLOCK_PROCESS_CPUTIME_ID) - own;
    }
    let process = process.parse().expect("a process");
    let mut clock = 0;
    // SAFETY: it writes the number of a clock there.
    let found = unsafe { libc::clock_getcpuclockid(process, &raw mut clock) };
    assert_eq!(found, 0, "there is no process {process}");
    time_of(clock)
}

/// The processor time that each of two idle processes uses in a second: the least of three, since what a process does again and again is in each. In
/// one of them a thread may end that a pool has kept for a while, and what a machine takes away from a thread is counted as the thread's.
///
/// # Panics
///
/// If one of them is not there.
#[cfg(target_os = "linux")]
pub fn processor_time_in_a_second(processes: [&str; 2]) -> [Duration; 2] {
    let seconds: [[Duration; 2]; 3] = std::array::from_fn(|_| {
        let before = processes.map(processor_time);
        std::thread::sleep(Duration::from_secs(1));
        let after = processes.map(processor_time);
        std::array::from_fn(|process| after[process] - before[process])
    });
    let [first, second, third] = seconds;
    std::array::from_fn(|process| first[process].min(second[process]).min(third[process]))
}

#[cfg(target_os = "linux")]
fn time_of(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes a time there.
    let told = unsafe { libc::clock_gettime(clock, &raw mut time) };
    assert_eq!(told, 0, "a clock of processes that are there");
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// Bytes of memory that a process has: those in use now, and the most that were since it began, or since it was told to forget. The process is `self` or a
/// number.
///
/// # Panics
///
/// If there is no such process.
#[cfg(target_os = "linux")]
pub fn memory(process: &str) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kibibytes.expect("a number") << 10
    };
    (bytes("VmRSS:"), bytes("VmHWM:"))
}

/// Runs `test` on a thread of its own and fails, instead of hanging, when it does not end within `limit`.
///
/// # Panics
///
/// As the test does, and if it does not end.
pub fn within(limit: Duration, test: impl FnOnce() + Send + 'static) {
    run_within(limit, Box::new(test));
}

/// Compiled once, and not for each test.
fn run_within(limit: Duration, test: Box<dyn FnOnce() + Send>) {
    // Miri is slower by orders of magnitude.
    let limit = if cfg!(miri) { 20 * limit } else { limit };
    #[cfg(all(target_os = "linux", not(miri)))]
    end_behind_threads();
    let (done, finished) = mpsc::channel();
    let worker = thread::Builder::new()
        .name(thread::current().name().unwrap_or("test").to_owned())
        .spawn(move || {
            // Dropped at the end, also by a panic: both end the wait below.
            let _done: mpsc::Sender<()> = done;
            test();
        })
        .expect("a thread for the test");
    if finished.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("still running after {limit:?}: a deadlock or a lost wake-up");
    }
    if let Err(panic) = worker.join() {
        resume_unwind(panic);
    }
}

/// Has the process end a moment after its threads: one is said to be done before it has ended, by a scope as by a channel, and what it has in that moment the
/// leak sanitizer takes for lost.
#[cfg(all(target_os = "linux", not(miri)))]
fn end_behind_threads() {
    /// Some stay as long as the process.
    const LONGEST: Duration = Duration::from_millis(300);
    static REGISTERED: std::sync::Once = std::sync::Once::new();

    extern "C" fn wait_for_threads() {
        let until = Instant::now() + LONGEST;
        let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        while threads() > 1 && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
    }

    REGISTERED.call_once(|| {
        // SAFETY: the function is there as long as the process, and panics nowhere.
        let _ = unsafe { libc::atexit(wait_for_threads) };
    });
}

/// A process that a test has started, which is killed and waited for when this is dropped, also by a panic. One that has ended and was waited
/// for is left alone.
#[derive(Debug)]
pub struct ChildGuard(Child);

impl From<Child> for ChildGuard {
    fn from(child: Child) -> ChildGuard {
        ChildGuard(child)
    }
}

impl Deref for ChildGuard {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl DerefMut for ChildGuard {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // Nothing but an end that is known already makes these fail.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for a process; ends it, and gives nothing, where that takes longer than `patience`.
fn wait_for(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let patient_until = Instant::now() + patience;
    while Instant::now() < patient_until {
        if let Some(status) = child.try_wait().expect("it was started here") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it was not waited for");
    child.wait().expect("it was started here");
    None
}

/// Runs `program` in a child that this thread alone is forked into; whether it returned `true`. A child that has not ended
/// after `patience` is ended.
#[cfg(target_os = "linux")]
pub fn succeeds_in_a_forked_child(patience: Duration, program: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs on with this thread alone, allocates (which the system's allocator allows) and ends without
    // returning from here.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        // A panic must not go on in the child to where this was called from.
        let succeeds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(program));
        let code = i32::from(!succeeds.unwrap_or(false));
        // SAFETY: ends the child.
        unsafe { libc::_exit(code) };
    }
    let patient_until = Instant::now() + patience;
    let mut status = 0;
    loop {
        // SAFETY: the child was started above and not waited for to its end; the status is a place to write to.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        }
        if Instant::now() > patient_until {
            // SAFETY: the child was started above and not waited for to its end; the status is a place to write to.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &raw mut status, 0);
            }
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn a_test_runs_in_another_process() {
        let this = std::process::id().to_string();
        in_a_process_of_its_own(
            "tests::a_test_runs_in_another_process",
            PATIENCE,
            |command| {
                command.env("TAMTAM_TEST_PARENT", &this);
            },
            || assert_ne!(std::env::var("TAMTAM_TEST_PARENT").unwrap(), this),
        );
    }

    /// It fails where it runs alone, and so it must where that is asked for.
    #[test]
    #[ignore = "run by the test below"]
    fn fails() {
        panic!("it is wrong");
    }

    #[test]
    #[should_panic(expected = "exit status")]
    fn a_failure_in_another_process_is_one_here() {
        let ignored = |command: &mut Command| {
            command.arg("--ignored");
        };
        in_a_process_of_its_own("tests::fails", PATIENCE, ignored, || {});
    }

    #[test]
    #[should_panic(expected = "is no test of this program")]
    fn a_path_that_is_wrong_is_noticed() {
        in_a_process_of_its_own("tests::no_such_test", PATIENCE, |_| {}, || {});
    }

    #[test]
    #[should_panic(expected = "has not ended")]
    fn a_test_that_hangs_is_ended() {
        in_a_process_of_its_own(
            "tests::a_test_that_hangs_is_ended",
            Duration::from_millis(300),
            |_| {},
            || loop {
                thread::park();
            },
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_forked_child_says_whether_it_succeeds() {
        assert!(succeeds_in_a_forked_child(PATIENCE, || true));
        assert!(!succeeds_in_a_forked_child(PATIENCE, || false));
        assert!(!succeeds_in_a_forked_child(
            Duration::from_millis(50),
            || loop {
                thread::park();
            }
        ));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_killed_and_waited_for_with_its_guard() {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let place = format!("/proc/{}", child.id());
        let guard = ChildGuard::from(child);
        let test = std::panic::AssertUnwindSafe(move || {
            let _guard = guard;
            panic!("the test fails");
        });
        std::panic::catch_unwind(test).unwrap_err();
        // It would be there as a zombie if it had been killed alone.
        assert!(!std::path::Path::new(&place).exists());
    }
}
