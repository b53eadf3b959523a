//! The thread that starts processes.
//!
//! A worker is to die with its parent, and the system takes for the parent the *thread* that has started it (`PR_SET_PDEATHSIG`). So all are
//! started by one thread that ends with the process, and not before.

use std::io;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock};
use std::thread;

use crate::lock::lock;

type Job = Box<dyn FnOnce() + Send>;

static LAUNCHER: OnceLock<Mutex<Option<Sender<Job>>>> = OnceLock::new();
/// The process that has the thread, or that is about to; 0 as long as none is. A forked child has no thread but the one that has forked.
static PROCESS: AtomicU32 = AtomicU32::new(0);

/// Starts a process; the command comes back, for the next one, unless there is no thread.
pub(crate) fn launch(mut command: Command) -> (Option<Command>, io::Result<Child>) {
    let jobs = match jobs() {
        Ok(jobs) => jobs,
        // Perhaps for a moment, in which there could be no further thread.
        Err(error) => return (Some(command), Err(error)),
    };
    let (sender, answer) = mpsc::sync_channel(1);
    let job: Job = Box::new(move || {
        let child = command.spawn();
        // The thread that has asked may be gone; then the process hears of it by its socket.
        let _ = sender.send((command, child));
    });
    let is_given = jobs.send(job).is_ok();
    match answer.recv() {
        Ok((command, child)) if is_given => (Some(command), child),
        _ => (None, Err(gone())),
    }
}

/// Why no process can be started any more.
pub(crate) fn gone() -> io::Error {
    io::Error::other("the thread that starts processes is gone")
}

/// What hands the thread its work. It is there from then on.
fn jobs() -> io::Result<Sender<Job>> {
    let this = std::process::id();
    let before = PROCESS.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed);
    if before.is_err_and(|process| process != this) {
        // Before the lock, which a thread may have held that this process has not.
        let text = "this process was forked from one that had processes, and has none of its threads: \
                    let it execute a program, or fork before the first process is spawned";
        return Err(io::Error::other(text));
    }
    let launcher = LAUNCHER.get_or_init(Mutex::default);
    let mut launcher = lock(launcher);
    if launcher.is_none() {
        let (jobs, queue) = mpsc::channel::<Job>();
        thread::Builder::new()
            .name("tamtam-launcher".to_owned())
            .spawn(move || queue.into_iter().for_each(|job| job()))?;
        *launcher = Some(jobs);
    }
    launcher.clone().ok_or_else(gone)
}
