//! Panics of workers: what the parent hears of them, beside what they lead to.

use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use tamtam_actor::{AskError, EndReason, ProcessEnd, Restart};
use tamtam_process::{Limits, PanicWatch, Process, ProcessSpawner, WorkerPanic, on_panic};

use crate::actors::{Count, Counter, Death};

crate::tests! { "panics":
    a_panic_of_a_handler_is_told_and_so_is_what_it_leads_to
    a_panic_on_another_thread_is_told_and_ends_nothing
    a_panic_within_a_panic_is_told_before_the_process_is_aborted
    a_backtrace_is_told_if_it_is_asked_for
    a_worker_within_limits_tells_its_panics
}

const LONG: Duration = Duration::from_secs(20);

/// The panics of workers of this name from now on.
fn panics_of(name: &'static str) -> (PanicWatch, Receiver<WorkerPanic>) {
    let (sender, panics) = mpsc::channel();
    let watch = on_panic(move |panic| {
        if &*panic.worker == name {
            let _ = sender.send(panic.clone());
        }
    });
    (watch, panics)
}

fn called(name: &'static str) -> ProcessSpawner {
    Process::spawner().name(name)
}

fn a_panic_of_a_handler_is_told_and_so_is_what_it_leads_to() {
    let (_watch, panics) = panics_of("panicking");
    let spawner = called("panicking").restart(Restart::never());
    let (counter, handle) = spawner.spawn_with_handle::<Counter>(0).unwrap();
    let pid = handle.pid().unwrap();
    let asked = counter.ask(|reply| Count::DieAsking(Death::Panic, reply));
    let panic = panics.recv_timeout(LONG).unwrap();
    assert_eq!((panic.pid, panic.thread.as_deref()), (pid, Some("main")));
    let place = panic.place.as_deref().unwrap();
    assert!(place.contains("tests/processes/actors.rs:"), "{panic}");
    // What is told by other ways has the same words.
    match asked {
        Err(AskError::Panicked(told)) => assert_eq!(told.message(), panic.message),
        other => panic!("{other:?}"),
    }
    match counter.end().wait().reason {
        EndReason::Panicked(message) => assert_eq!(*message, panic.message),
        other => panic!("{other:?}"),
    }
}

fn a_panic_on_another_thread_is_told_and_ends_nothing() {
    let (_watch, panics) = panics_of("threaded");
    let counter = called("threaded").spawn::<Counter>(4).unwrap();
    counter.tell(Count::PanicOn("helper".to_owned())).unwrap();
    let panic = panics.recv_timeout(LONG).unwrap();
    assert_eq!(panic.thread.as_deref(), Some("helper"));
    assert_eq!(panic.message, "a thread of a worker panics");
    assert_eq!(counter.ask(Count::Read), Ok(4));
}

fn a_panic_within_a_panic_is_told_before_the_process_is_aborted() {
    let (_watch, panics) = panics_of("aborted");
    let spawner = called("aborted").restart(Restart::never());
    let counter = spawner.spawn::<Counter>(0).unwrap();
    counter.tell(Count::Die(Death::DoublePanic)).unwrap();
    let messages: Vec<_> = (0..2)
        .map(|_| panics.recv_timeout(LONG).unwrap().message)
        .collect();
    assert_eq!(messages, ["the first panic", "the second panic"]);
    let end = counter.end().wait().reason.clone();
    assert_eq!(end, EndReason::ProcessEnded(ProcessEnd::Killed(6)));
}

fn a_backtrace_is_told_if_it_is_asked_for() {
    for (name, asks) in [("traced", "1"), ("untraced", "0")] {
        let (_watch, panics) = panics_of(name);
        let mut program = Command::new("/proc/self/exe");
        program.env("RUST_BACKTRACE", asks);
        program.env_remove("RUST_LIB_BACKTRACE");
        let counter = Process::from(program).name(name).spawn::<Counter>(0);
        let counter = counter.unwrap();
        counter.tell(Count::Die(Death::Panic)).unwrap();
        let panic = panics.recv_timeout(LONG).unwrap();
        assert_eq!(panic.backtrace.is_some(), asks == "1", "{panic:?}");
    }
}

fn a_worker_within_limits_tells_its_panics() {
    let (_watch, panics) = panics_of("limited");
    let spawner = called("limited").limits(Limits::new().untrusted().allow_less());
    let counter = spawner.spawn::<Counter>(0).unwrap();
    for _ in 0..2 {
        // The second time it is the next process.
        counter.tell(Count::Die(Death::Panic)).unwrap();
        panics.recv_timeout(LONG).unwrap();
    }
}
