//! Deadlines of tasks where the clock that is to keep them has no thread.
//!
//! A program of its own: it forks, and needs a clock that no other test has started.

#![cfg(all(target_os = "linux", not(miri)))]

mod support;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join;
use support::{LONG, ms};
use tamtam_channel::{RecvTimeoutError, SendTimeoutError, bounded, unbounded};
use tamtam_testing::{in_a_process_of_its_own, succeeds_in_a_forked_child};

fn poll_once<F: Future>(future: Pin<&mut F>) -> bool {
    future
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_ready()
}

#[test]
fn a_deadline_in_a_forked_child_is_kept() {
    let (_sender, receiver) = unbounded::<u32>();
    let (offering, _offered) = bounded::<u32>(0);
    // The clock of the parent has a thread, which sleeps for long.
    let mut far = pin!(receiver.recv_timeout_async(LONG));
    assert!(!poll_once(far.as_mut()));
    // Begun in the parent, waited for in the child.
    let mut begun = pin!(receiver.recv_timeout_async(ms(30)));
    let mut offer = pin!(offering.send_timeout_async(1, ms(30)));
    assert!(!poll_once(begun.as_mut()));
    assert!(!poll_once(offer.as_mut()));
    assert!(succeeds_in_a_forked_child(LONG / 4, || {
        let fresh = block_on(receiver.recv_timeout_async(ms(10)));
        let (begun, offer) = block_on(join(begun.as_mut(), offer.as_mut()));
        fresh == Err(RecvTimeoutError::Timeout)
            && begun == Err(RecvTimeoutError::Timeout)
            && offer == Err(SendTimeoutError::Timeout(1))
    }));
}

/// The child of a child is another process once more.
#[test]
fn a_deadline_in_the_child_of_a_child_is_kept() {
    let (_sender, receiver) = unbounded::<u32>();
    let times_out = || block_on(receiver.recv_timeout_async(ms(5))).is_err();
    assert!(times_out());
    assert!(succeeds_in_a_forked_child(LONG / 4, || {
        times_out() && succeeds_in_a_forked_child(LONG / 4, times_out) && times_out()
    }));
}

/// In a process whose threads would have stacks larger than all memory, so that none can be started.
#[test]
fn a_deadline_is_kept_where_no_thread_can_be_started() {
    in_a_process_of_its_own(
        "a_deadline_is_kept_where_no_thread_can_be_started",
        LONG / 4,
        |command| {
            command.env("RUST_MIN_STACK", (1_u64 << 47).to_string());
        },
        without_threads,
    );
}

/// Where no thread looks after its deadline, a task is told at once to come again. A panic of that would leave it in the list.
#[test]
fn a_waker_that_panics_where_no_thread_can_be_started_leaves_no_wait_behind() {
    in_a_process_of_its_own(
        "a_waker_that_panics_where_no_thread_can_be_started_leaves_no_wait_behind",
        LONG / 4,
        |command| {
            command.env("RUST_MIN_STACK", (1_u64 << 47).to_string());
        },
        with_a_waker_that_panics,
    );
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker panics on purpose");
    }
}

fn with_a_waker_that_panics() {
    assert!(thread::Builder::new().spawn(|| ()).is_err());
    let (sender, receiver) = unbounded::<u32>();
    let waker = Waker::from(Arc::new(Panics));
    let mut first = Box::pin(receiver.recv_timeout_async(LONG));
    // As it enters the list, and when it stands there.
    for _ in 0..2 {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            first.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        assert!(polled.is_ok_and(|polled| polled.is_pending()));
    }
    drop(first);
    sender.send(7).unwrap();
    assert_eq!(block_on(receiver.recv_timeout_async(LONG)), Ok(7));
}

fn without_threads() {
    assert!(thread::Builder::new().spawn(|| ()).is_err());
    let (sender, receiver) = unbounded::<u32>();
    let (offering, _offered) = bounded::<u32>(0);
    let began = Instant::now();
    let (one, (other, offer)) = block_on(join(
        receiver.recv_timeout_async(ms(20)),
        join(
            receiver.recv_timeout_async(ms(40)),
            offering.send_timeout_async(1, ms(30)),
        ),
    ));
    assert_eq!(one, Err(RecvTimeoutError::Timeout));
    assert_eq!(other, Err(RecvTimeoutError::Timeout));
    assert_eq!(offer, Err(SendTimeoutError::Timeout(1)));
    assert!(began.elapsed() >= ms(40));
    // A message in time is as good as ever.
    let (got, ()) = block_on(join(receiver.recv_timeout_async(LONG), async {
        sender.send(7).unwrap();
    }));
    assert_eq!(got, Ok(7));
    // Beside many others, too, each of which looks after itself.
    let all = (0..200).map(|_| receiver.recv_timeout_async(Duration::from_millis(20)));
    let all = block_on(futures::future::join_all(all));
    assert!(all.iter().all(Result::is_err));
}
