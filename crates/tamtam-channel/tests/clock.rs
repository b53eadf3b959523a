//! Deadlines of tasks where the clock that is to keep them has no thread.
//!
//! A program of its own: it forks, and needs a clock that no other test has started.

#![cfg(all(target_os = "linux", not(miri)))]

mod support;

use std::future::Future;
use std::pin::{Pin, pin};
use std::process::{Command, Stdio};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::join;
use support::{LONG, ms};
use tamtam_channel::{RecvTimeoutError, SendTimeoutError, bounded, unbounded};

/// Runs `program` in a child that this thread alone is forked into; whether it returned `true`. One that hangs is ended.
fn succeeds_in_a_forked_child(program: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs on with this thread alone, allocates (which the system's allocator allows) and ends
    // without returning from here.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        let code = i32::from(!program());
        // SAFETY: ends the child.
        unsafe { libc::_exit(code) };
    }
    let patient_until = Instant::now() + LONG / 4;
    let mut status = 0;
    loop {
        // SAFETY: the child is ours, and the status a place to write to.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0;
        }
        if Instant::now() > patient_until {
            // SAFETY: the child is ours and was not waited for to its end.
            unsafe {
                libc::kill(child, libc::SIGKILL);
                libc::waitpid(child, &raw mut status, 0);
            }
            return false;
        }
        thread::sleep(ms(1));
    }
}

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
    assert!(succeeds_in_a_forked_child(|| {
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
    assert!(succeeds_in_a_forked_child(|| {
        times_out() && succeeds_in_a_forked_child(times_out) && times_out()
    }));
}

const WITHOUT_THREADS: &str = "TAMTAM_TEST_WITHOUT_THREADS";

/// Runs in a process of its own, whose threads would have stacks larger than all memory: none can be started.
#[test]
fn a_deadline_is_kept_where_no_thread_can_be_started() {
    if std::env::var_os(WITHOUT_THREADS).is_some() {
        return without_threads();
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_deadline_is_kept_where_no_thread_can_be_started",
        ])
        .args(["--test-threads", "1"])
        .env(WITHOUT_THREADS, "1")
        .env("RUST_MIN_STACK", (1_u64 << 47).to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let patient_until = Instant::now() + LONG / 4;
    while Instant::now() < patient_until {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return;
        }
        thread::sleep(ms(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("a deadline did not come");
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
