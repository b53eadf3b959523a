//! A program that says what no worker says, or nothing.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};
use tamtam_actor::{Actor, AskError, Context, EndReason, Pool, Reply, Restart};
use tamtam_process::{Limits, Process, Remote, SpawnError};

use crate::actors::{Count, Counter, this_program};
use crate::until;

crate::tests! { "garbled":
    a_process_that_breaks_the_protocol_is_killed_and_another_one_takes_its_place
    one_that_breaks_it_again_and_again_is_given_up_with_words
    a_program_that_is_no_worker_is_given_up_with_words
    one_that_does_not_read_what_it_is_made_of_keeps_no_thread
    one_that_is_stopped_before_it_has_begun_is_begun_again
    one_that_is_not_trusted_ends_no_actor_of_its_parent
}

/// Names a file: as long as there is one, the program that finds this is no worker, and takes a byte of it.
const GARBLES: &str = "TAMTAM_TEST_GARBLES";
/// What goes over the socket: that the rest goes there, a hello, and a frame of no kind.
const GARBLED: &[u8] = b"s\x12\0\0\0\x01TTLK\x03\x80\x80\x04\x00\x00\x01\x04Type\x05\x01\0\0\0\x63";

/// Names a file: if there is one, the program that finds this takes it away, and stops before it is a worker.
const STOPS: &str = "TAMTAM_TEST_STOPS";

/// Speaks garbled, and stays, if this process was started for that.
pub(crate) fn be_if_asked() {
    if let Some(path) = std::env::var_os(STOPS)
        && std::fs::remove_file(path).is_ok()
    {
        kill_process(getpid(), Signal::STOP).unwrap();
    }
    let Some(path) = std::env::var_os(GARBLES) else {
        return;
    };
    // It does not outlive the test.
    set_parent_process_death_signal(Some(Signal::KILL)).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    let left = file.metadata().unwrap().len();
    let Some(left) = left.checked_sub(1) else {
        return;
    };
    file.set_len(left).unwrap();
    let socket = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    File::from(socket).write_all(GARBLED).unwrap();
    loop {
        std::thread::park();
    }
}

/// A program that is garbled so often, and then a worker.
fn garbled(times: usize) -> (Command, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![0; times]).unwrap();
    let mut program = this_program();
    program.env(GARBLES, file.path());
    (program, file)
}

fn a_process_that_breaks_the_protocol_is_killed_and_another_one_takes_its_place() {
    let (program, file) = garbled(1);
    let (counter, handle) = Process::from(program)
        .spawn_with_handle::<Counter>(3)
        .unwrap();
    let first = handle.pid();
    counter.tell(Count::Add(4)).unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(7));
    assert_eq!(file.as_file().metadata().unwrap().len(), 0);
    assert_eq!(handle.restarts(), 1);
    if let Some(first) = first.filter(|first| handle.pid() != Some(*first)) {
        let path = format!("/proc/{first}");
        until("it was killed", || !std::path::Path::new(&path).exists());
    }
}

fn one_that_breaks_it_again_and_again_is_given_up_with_words() {
    let (program, _file) = garbled(10);
    let restart = Restart::on_panic().limit(2, Duration::from_secs(600));
    let (counter, handle) = Process::from(program)
        .restart(restart)
        .spawn_with_handle::<Counter>(3)
        .unwrap();
    let error = counter.ask(Count::Read).unwrap_err();
    assert!(matches!(error, AskError::Unreachable(_)), "{error:?}");
    assert!(
        error.to_string().contains("no frame is of kind 99"),
        "{error}"
    );
    assert_eq!(handle.restarts(), 2);
    let (sender, answers) = std::sync::mpsc::channel();
    let reply = Reply::to(move |answer| sender.send(answer).unwrap());
    assert!(counter.tell(Count::Read(reply)).is_err() || answers.recv().unwrap().is_err());
}

fn a_program_that_is_no_worker_is_given_up_with_words() {
    let mut program = Command::new("/bin/sleep");
    program.arg("1000");
    let (counter, handle) = Process::from(program)
        .begins_within(Duration::from_secs(2))
        .spawn_with_handle::<Counter>(3)
        .unwrap();
    let pid = handle.pid().unwrap();
    let error = counter.ask(Count::Read).unwrap_err();
    let words = "it has not begun within 2s: it is no worker, was stopped, or its actor";
    assert!(error.to_string().contains(words), "{error}");
    let ended = counter.end().wait_timeout(crate::LONG).unwrap();
    assert!(matches!(ended.reason, EndReason::LinkLost(_)), "{ended}");
    assert_eq!(handle.restarts(), 0);
    let path = format!("/proc/{pid}");
    until("it was killed", || !std::path::Path::new(&path).exists());
}

fn one_that_does_not_read_what_it_is_made_of_keeps_no_thread() {
    let mut program = Command::new("/bin/sleep");
    program.arg("1000");
    let spawned = Process::from(program)
        .begins_within(Duration::from_millis(200))
        .spawn::<Large>(vec![7; 8 << 20]);
    let Err(error @ SpawnError::System { .. }) = spawned else {
        panic!("{spawned:?}");
    };
    assert!(
        error.to_string().contains("it cannot be told what to do"),
        "{error}"
    );
    let source = std::error::Error::source(&error).unwrap();
    let source = source.downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(source.kind(), std::io::ErrorKind::TimedOut);
}

/// Is made of much.
struct Large;

impl Remote for Large {
    type Config = Vec<u8>;
    const NAME: &'static str = "large";

    fn create(
        _: Vec<u8>,
        _: &mut Context<Self>,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        Ok(Large)
    }
}

impl Actor for Large {
    type Message = ();

    fn handle(&mut self, (): (), _: &mut Context<Self>) {}
}

fn one_that_is_stopped_before_it_has_begun_is_begun_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stops");
    let mut program = this_program();
    program.env(STOPS, &path);
    let (counter, handle) = Process::from(program)
        .begins_within(Duration::from_secs(10))
        .spawn_with_handle::<Counter>(3)
        .unwrap();
    assert_eq!(counter.ask(Count::Read), Ok(3));
    std::fs::write(&path, "").unwrap();
    handle.kill();
    until("the next one has stopped", || !path.exists());
    assert_eq!(counter.ask(Count::Read), Ok(3));
    assert_eq!(handle.restarts(), 2);
}

fn one_that_is_not_trusted_ends_no_actor_of_its_parent() {
    let pool = Pool::with_threads(1);
    for limits in [Limits::none(), Limits::new().untrusted()] {
        let is_trusted = limits.is_none();
        for links in [false, true] {
            let (sender, told) = std::sync::mpsc::channel();
            let own = pool.spawn_fn(move |number: u64, _| sender.send(number).unwrap());
            let (counter, handle) = Process::spawner()
                .limits(limits.clone())
                .spawn_with_handle::<Counter>(3)
                .unwrap();
            // It may tell it.
            counter.tell(Count::TellMany(2, own.clone())).unwrap();
            assert_eq!([told.recv(), told.recv()], [Ok(3), Ok(4)]);
            let done = counter.ask(|reply| {
                if links {
                    Count::LinkWith(own.clone(), reply)
                } else {
                    Count::StopOther(own.clone(), reply)
                }
            });
            if is_trusted {
                assert_eq!(done, Ok(()));
                until("it has ended", || links || own.is_stopped());
                assert_eq!((counter.ask(Count::Read), handle.restarts()), (Ok(5), 0));
                continue;
            }
            until("another one has taken its place", || handle.restarts() == 1);
            assert_eq!(counter.ask(Count::Read), Ok(3));
            assert!(!own.is_stopped());
            own.tell(7).unwrap();
            assert_eq!(told.recv(), Ok(7));
        }
    }
}
