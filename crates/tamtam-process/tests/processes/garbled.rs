//! A program that says what no worker says, or nothing.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal};
use tamtam_actor::{AskError, Reply, Restart};
use tamtam_process::Process;

use crate::actors::{Count, Counter, this_program};
use crate::until;

crate::tests! { "garbled":
    a_process_that_breaks_the_protocol_is_killed_and_another_one_takes_its_place
    one_that_breaks_it_again_and_again_is_given_up_with_words
}

/// Names a file: as long as there is one, the program that finds this is no worker, and takes a byte of it.
const GARBLES: &str = "TAMTAM_TEST_GARBLES";
/// What goes over the socket: that the rest goes there, a hello, and a frame of no kind.
const GARBLED: &[u8] = b"s\x12\0\0\0\x01TTLK\x03\x80\x80\x04\x00\x00\x01\x04Type\x05\x01\0\0\0\x63";

/// Speaks garbled, and stays, if this process was started for that.
pub(crate) fn be_if_asked() {
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
    let restart = Restart::on_panic().limit(2, std::time::Duration::from_secs(600));
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
