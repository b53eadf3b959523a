//! Timers where the clock that is to keep them has no thread.
//!
//! A program of its own: it forks, limits the memory of the process, and needs a clock that no other test has started.

#![cfg(all(target_os = "linux", not(miri)))]

mod support;

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use support::LONG;
use tamtam_actor::{Address, AskError, Budget, Every, Frame, Pool, Reply, Worker};
use tamtam_testing::{in_a_process_of_its_own, succeeds_in_a_forked_child};

/// A wait that only a lost timer uses up; shorter than that of those who wait for the process.
const PATIENCE: Duration = Duration::from_secs(8);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Pumps until something was counted, or nothing comes any more.
fn pump_until_counted(frame: &mut Frame, count: &Cell<u32>) -> bool {
    let began = Instant::now();
    while count.get() == 0 && began.elapsed() < PATIENCE {
        frame.wait(ms(50));
        frame.pump(Budget::unlimited());
    }
    count.get() != 0
}

/// An actor of a frame that counts.
fn counter(frame: &Frame) -> (Address<()>, Rc<Cell<u32>>) {
    let count = Rc::new(Cell::new(0));
    let own = Rc::clone(&count);
    let address = frame.spawn_fn(move |(), _| own.set(own.get() + 1));
    (address, count)
}

/// Whether a timer of a pool comes, set from outside, and one of a handler.
fn timers_come(pool: &Pool) -> bool {
    let (sender, receiver) = mpsc::channel();
    let actor = pool.spawn_fn(move |(), _| {
        let _ = sender.send(());
    });
    // Later than what another process has made an appointment for.
    actor.tell_after(ms(300), ());
    let once = receiver.recv_timeout(PATIENCE).is_ok();
    let ticks = actor.tell_every(Every::delay(ms(2)), || ());
    let often = (0..5).all(|_| receiver.recv_timeout(PATIENCE).is_ok());
    ticks.cancel();
    once && often
}

#[test]
fn timers_in_a_forked_child_come() {
    let pool = Pool::with_threads(1);
    let ignoring = pool.spawn_fn(|(), _| ());
    // The clock of the parent has an appointment, and sleeps.
    ignoring.tell_after(ms(200), ());
    assert!(succeeds_in_a_forked_child(LONG / 4, || {
        timers_come(&Pool::with_threads(1))
    }));
    // Set in the parent, pumped in the child.
    let mut frame = Frame::new();
    let (actor, count) = counter(&frame);
    actor.tell_after(ms(200), ());
    assert!(succeeds_in_a_forked_child(LONG / 4, || pump_until_counted(
        &mut frame, &count
    )));
}

#[test]
fn timers_come_where_no_thread_can_be_started() {
    in_a_process_of_its_own(
        "timers_come_where_no_thread_can_be_started",
        LONG / 2,
        |_| {},
        without_threads,
    );
}

#[test]
fn a_worker_alone_keeps_its_timers_where_no_thread_can_be_started() {
    in_a_process_of_its_own(
        "a_worker_alone_keeps_its_timers_where_no_thread_can_be_started",
        LONG / 2,
        |_| {},
        without_threads_but_a_worker,
    );
}

/// Memory for no more than so many bytes beside what is used now; none is all that there is.
fn allow_memory(more: Option<u64>) {
    let used = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = used.split(' ').next().unwrap().parse().unwrap();
    let mut limits = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place to write to, then to read from; limits only decide whether memory is given.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_AS, &raw mut limits), 0);
        let page = u64::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
        limits.rlim_cur = more.map_or(limits.rlim_max, |more| pages * page + more);
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limits), 0);
    }
}

fn without_threads() {
    let pool = Pool::with_threads(2);
    let worker = Worker::new();
    let mut frame = Frame::new();
    let (sender, receiver) = mpsc::channel();
    let resident = worker.spawn_fn(move |(), _| {
        let _ = sender.send(());
    });
    // The worker has nothing to do, and sleeps.
    resident.tell(()).unwrap();
    receiver.recv_timeout(PATIENCE).unwrap();
    let (actor, count) = counter(&frame);
    both_threads_have_begun(&pool);
    allow_memory(Some(1 << 20));
    assert!(thread::Builder::new().spawn(|| ()).is_err());

    let began = Instant::now();
    resident.tell_after(ms(20), ());
    receiver.recv_timeout(PATIENCE).expect("a worker's timer");
    assert!(began.elapsed() >= ms(20));
    assert!(timers_come(&pool), "a pool's timer");
    actor.tell_after(ms(20), ());
    assert!(pump_until_counted(&mut frame, &count), "a frame's timer");

    // With a thread again, timers that were set without one come, too.
    resident.tell_after(ms(50), ());
    allow_memory(None);
    receiver.recv_timeout(PATIENCE).expect("a worker's timer");
    assert!(timers_come(&pool), "a pool's timer");
}

/// Waits until both threads of the pool have had a turn: one that begins later may need more memory than there is then.
fn both_threads_have_begun(pool: &Pool) {
    let meet = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let meet = Arc::clone(&meet);
        let actor = pool.spawn_fn(move |(), _| {
            meet.wait();
        });
        actor.tell(()).unwrap();
    }
    meet.wait();
}

/// No pool looks after the timers, too: whoever sets one has to wake the worker.
fn without_threads_but_a_worker() {
    let worker = Worker::new();
    let (sender, receiver) = mpsc::channel();
    let resident = worker.spawn_fn(move |(), _| {
        let _ = sender.send(std::fs::read_link("/proc/thread-self").unwrap());
    });
    resident.tell(()).unwrap();
    let thread = receiver.recv_timeout(PATIENCE).unwrap();
    allow_memory(Some(1 << 20));
    assert!(thread::Builder::new().spawn(|| ()).is_err());
    for _ in 0..3 {
        until_asleep(&thread);
        let began = Instant::now();
        resident.tell_after(ms(20), ());
        receiver.recv_timeout(PATIENCE).expect("a worker's timer");
        assert!(began.elapsed() >= ms(20));
    }
}

/// Waits until that thread of this process sleeps, at several looks one after the other: it may wait for a lock once.
fn until_asleep(thread: &Path) {
    let stat = Path::new("/proc").join(thread).join("stat");
    let patient_until = Instant::now() + PATIENCE;
    let mut in_a_row = 0;
    while in_a_row < 5 {
        assert!(Instant::now() < patient_until, "the worker does not sleep");
        let status = std::fs::read_to_string(&stat).unwrap();
        // The state follows the name, which stands in parentheses.
        let state = status.rsplit_once(") ").map(|(_, rest)| rest);
        let is_asleep = state.is_some_and(|state| state.starts_with('S'));
        in_a_row = if is_asleep { in_a_row + 1 } else { 0 };
        thread::yield_now();
    }
}

#[test]
fn a_stand_in_that_could_not_be_started_is_not_counted() {
    in_a_process_of_its_own(
        "a_stand_in_that_could_not_be_started_is_not_counted",
        LONG / 2,
        |_| {},
        || {
            let pool = Pool::builder().threads(1).stand_ins(4).build().unwrap();
            let answerer = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(1));
            type Question = Reply<Result<u32, AskError>>;
            let asker = pool.spawn_fn(move |reply: Question, _| {
                reply.send(answerer.ask(|reply| reply));
            });
            // Its own thread is there from now on.
            let warm = pool.spawn_fn(|reply: Reply<u32>, _| reply.send(2));
            assert_eq!(warm.ask(|reply| reply), Ok(2));
            allow_memory(Some(1 << 20));
            assert!(thread::Builder::new().spawn(|| ()).is_err());
            for _ in 0..3 {
                let answer = asker.ask(|reply| reply).unwrap();
                assert!(matches!(answer, Err(AskError::NoThread(_))), "{answer:?}");
                assert_eq!(pool.snapshot().stand_ins, 0);
            }
            allow_memory(None);
            assert_eq!(asker.ask(|reply| reply), Ok(Ok(1)));
        },
    );
}
