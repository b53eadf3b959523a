//! Panics of workers, as their parent hears of them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::lock::lock;

/// A panic in a worker: in a handler of its actor, or on another thread of the process.
///
/// It is told beside what the panic leads to (the end of the actor or its restart, [`Panicked`](tamtam_actor::Panicked) for an asker, a dead
/// letter), and also if it ends the process at once, as a panic within a panic does.
///
/// # Examples
///
/// ```
/// use tamtam_process::{WorkerPanic, on_panic};
///
/// fn note(panic: &WorkerPanic) {
///     eprintln!("process {} of {}: {}", panic.pid, panic.worker, panic.message);
/// }
///
/// let _watch = on_panic(note);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerPanic {
    /// The name of the worker's actor: [`ProcessSpawner::name`](crate::ProcessSpawner::name), or else
    /// [`Remote::NAME`](crate::Remote::NAME).
    pub worker: Arc<str>,
    /// The system's number of the process.
    pub pid: u32,
    /// The name of the thread; a handler of the worker's actor runs on `main`.
    pub thread: Option<String>,
    /// What the panic said, its first 8 KiB.
    pub message: String,
    /// Where it was: the file, the line and the column.
    pub place: Option<String>,
    /// How it came there, if `RUST_BACKTRACE` asks for that in the worker.
    pub backtrace: Option<String>,
}

impl fmt::Display for WorkerPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = self.thread.as_deref().unwrap_or("<unnamed>");
        write!(
            f,
            "thread {thread:?} of the worker {:?}, process {}, has panicked",
            self.worker, self.pid
        )?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

type Observer = Arc<dyn Fn(&WorkerPanic) + Send + Sync>;

struct Observers {
    next: u64,
    all: Vec<(u64, Observer)>,
}

static OBSERVERS: Mutex<Observers> = Mutex::new(Observers {
    next: 0,
    all: Vec::new(),
});

/// Calls `observer` for each panic in a process that is begun from now on for an actor, as long as what this returns is kept.
///
/// It is called on a thread of its own, one panic after the other, and under no lock. While it runs, nothing else that workers report is
/// heard. With the feature `tracing` each panic is an event as well.
///
/// # Panics
///
/// A panic in it ends there.
///
/// # Examples
///
/// ```
/// use tamtam_process::on_panic;
///
/// let _watch = on_panic(|panic| eprintln!("{panic}"));
/// ```
pub fn on_panic(observer: impl Fn(&WorkerPanic) + Send + Sync + 'static) -> PanicWatch {
    let mut observers = lock(&OBSERVERS);
    let number = observers.next;
    observers.next += 1;
    observers.all.push((number, Arc::new(observer)));
    PanicWatch(number)
}

/// Keeps an observer of panics: see [`on_panic`]. Dropping it ends the watch; a call that has begun goes on.
///
/// # Examples
///
/// ```
/// use tamtam_process::on_panic;
///
/// let watch = on_panic(|panic| eprintln!("{panic}"));
/// drop(watch); // nothing more is told
///
/// on_panic(|panic| eprintln!("{panic}")).forever();
/// ```
#[derive(Debug)]
#[must_use = "dropping it ends the watch"]
pub struct PanicWatch(u64);

impl PanicWatch {
    /// Lets the watch go on to the end of the process.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for PanicWatch {
    fn drop(&mut self) {
        let gone = {
            let mut observers = lock(&OBSERVERS);
            let place = observers
                .all
                .iter()
                .position(|(number, _)| *number == self.0);
            place.map(|place| observers.all.remove(place))
        };
        // The user's, so without the lock.
        drop(gone);
    }
}

/// Whether there is an observer.
pub(crate) fn is_watched() -> bool {
    !lock(&OBSERVERS).all.is_empty()
}

/// Tells all observers.
pub(crate) fn tell(panic: &WorkerPanic) {
    let observers: Vec<Observer> = lock(&OBSERVERS)
        .all
        .iter()
        .map(|(_, observer)| Arc::clone(observer))
        .collect();
    for observer in observers {
        let _ = catch_unwind(AssertUnwindSafe(|| observer(panic)));
        // Perhaps the last one to have it.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(observer)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn each_observer_hears_until_it_goes_also_if_another_one_panics() {
        let panic = WorkerPanic {
            worker: "decoder".into(),
            pid: 7,
            thread: None,
            message: "no such colour".to_owned(),
            place: Some("src/colour.rs:3:9".to_owned()),
            backtrace: None,
        };
        assert_eq!(
            panic.to_string(),
            "thread \"<unnamed>\" of the worker \"decoder\", process 7, has panicked at src/colour.rs:3:9: no such colour"
        );
        let (sender, heard) = mpsc::channel();
        let _first = on_panic(|_| std::panic::resume_unwind(Box::new(())));
        let second = on_panic(move |panic| sender.send(panic.clone()).unwrap());
        tell(&panic);
        assert_eq!(heard.recv(), Ok(panic.clone()));
        assert!(is_watched());
        drop(second);
        tell(&panic);
        assert!(heard.recv().is_err());
    }
}
