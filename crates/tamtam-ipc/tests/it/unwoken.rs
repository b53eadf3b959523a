//! Sleepers that no wake-up reaches: another process has led them to a word of its own, or the kernel has told none of them of a death. They look once more by themselves.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures::executor::block_on;
use nix::sys::signal::{self, raise};
use rustix::process::Signal;
use tamtam_channel::{RecvError, select};
use tamtam_ipc::{Mutex, Sender, Wait, attach, carrier, channel};

use crate::other::{LONG, Other, Waiting, half, life_of, memory_of};
use crate::together::{WAKE_THREAD, until_it_sleeps};

/// In the other process: is stopped until the test has a sleeper.
fn pause() {
    // To this thread: as a signal to the process another thread may take it, and this one goes on for a moment.
    raise(signal::Signal::SIGSTOP).unwrap();
}

/// In the other process: leads all who sleep at any word of the memory to its first one, and dies of it.
fn lead_away(memory: &OwnedFd) -> ! {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    let bytes = rustix::fs::fstat(memory).unwrap().st_size as usize;
    // SAFETY: it is mapped where the kernel likes, and stays.
    let place = unsafe {
        mmap(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED,
            memory,
            0,
        )
    };
    let first = place.unwrap().cast::<u32>();
    pause();
    for number in 1..bytes / 4 {
        // SAFETY: both words lie in the memory, which the call does not change.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                first.add(number),
                libc::FUTEX_REQUEUE,
                0,
                i64::from(i32::MAX),
                first,
                0,
            )
        };
        assert!(result >= 0, "{}", std::io::Error::last_os_error());
    }
    raise(signal::Signal::SIGKILL).unwrap();
    unreachable!("it was killed")
}

/// Has the other process, which is stopped, do what it does, and die.
fn until_it_has_died(other: &mut Other) -> Instant {
    other.signal(Signal::CONT);
    other.wait();
    Instant::now()
}

/// What a sleeper has found: it was not late.
fn in_time<R: Send>(since: Instant, waiting: Waiting<'_, R>) -> R {
    let found = waiting.join();
    assert!(since.elapsed() < LONG / 3, "{:?}", since.elapsed());
    found
}

#[test]
fn one_that_was_led_away_gets_the_lock_of_the_dead() {
    const PATH: &str = "unwoken::one_that_was_led_away_gets_the_lock_of_the_dead";
    if let Some(memory) = half("holds it") {
        let mutex = Mutex::<u8>::attach(memory.try_clone().unwrap()).unwrap();
        let _guard = mutex.lock().unwrap();
        lead_away(&memory);
    }
    let mutex = Mutex::create(0_u8).unwrap();
    let mut other = Other::start(PATH, "holds it", mutex.memory());
    other.wait_until_stopped();
    std::thread::scope(|scope| {
        let mutex = &mutex;
        let waiting = Waiting::start(scope, move || {
            mutex.lock_timeout(LONG).unwrap().is_abandoned()
        });
        waiting.sleeps();
        let died = until_it_has_died(&mut other);
        assert!(in_time(died, waiting));
    });
}

/// A thread that asks sleeps at its seat alone, and is told by its own process of the other one's death.
#[test]
fn one_that_was_led_away_from_its_seat_is_told_of_the_end() {
    const PATH: &str = "unwoken::one_that_was_led_away_from_its_seat_is_told_of_the_end";
    if let Some(memory) = half("other side") {
        let _ends = attach(memory.try_clone().unwrap()).unwrap();
        lead_away(&memory);
    }
    let (_writer, reader) = carrier(4096).unwrap();
    let mut other = Other::start(PATH, "other side", reader.memory());
    other.wait_until_stopped();
    let seats = reader.seats();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (seats, is_over) = (&seats, &is_over);
        let waiting = Waiting::start(scope, move || {
            let deadline = Some(Instant::now() + LONG);
            seats.wait(0, Wait::Park, deadline, || is_over.load(Ordering::SeqCst))
        });
        waiting.sleeps();
        let died = until_it_has_died(&mut other);
        is_over.store(true, Ordering::SeqCst);
        seats.waker().wake();
        assert!(in_time(died, waiting));
    });
}

#[test]
fn one_that_selects_and_was_led_away_is_told_of_the_end() {
    const PATH: &str = "unwoken::one_that_selects_and_was_led_away_is_told_of_the_end";
    if let Some(memory) = half("sender") {
        let _sender = Sender::<u64>::attach(memory.try_clone().unwrap()).unwrap();
        lead_away(&memory);
    }
    let (sender, mut receiver) = channel::<u64>(4).unwrap();
    let mut other = Other::start(PATH, "sender", sender.memory());
    other.wait_until_stopped();
    drop(sender);
    let never = tamtam_channel::never::<u64>();
    std::thread::scope(|scope| {
        let waiting = Waiting::start(scope, move || {
            let process = receiver.selectable();
            select! {
                wait(process) => process.try_recv().unwrap_err().is_disconnected(),
                recv(never) -> _ => panic!("it never comes"),
                default(LONG) => false,
            }
        });
        waiting.sleeps();
        let died = until_it_has_died(&mut other);
        assert!(in_time(died, waiting));
    });
}

/// For tasks the wake thread sleeps.
#[test]
fn a_task_whose_thread_was_led_away_is_told_of_the_end() {
    const PATH: &str = "unwoken::a_task_whose_thread_was_led_away_is_told_of_the_end";
    if let Some(memory) = half("sender") {
        let _sender = Sender::<u64>::attach(memory.try_clone().unwrap()).unwrap();
        lead_away(&memory);
    }
    let test = || {
        let (sender, mut receiver) = channel::<u64>(4).unwrap();
        let mut other = Other::start(PATH, "sender", sender.memory());
        other.wait_until_stopped();
        drop(sender);
        std::thread::scope(|scope| {
            let waiting = Waiting::start(scope, move || block_on(receiver.recv_async()));
            until_it_sleeps(WAKE_THREAD);
            let died = until_it_has_died(&mut other);
            assert_eq!(in_time(died, waiting), Err(RecvError));
        });
    };
    tamtam_testing::in_a_process_of_its_own(PATH, LONG, |_| {}, test);
}

/// As where two processes die together, each having the one sleeper whom the kernel has told of the other's death. Here it tells none: the bit by which it wakes is taken away.
#[test]
fn a_death_of_which_the_kernel_tells_no_sleeper_is_found() {
    const PATH: &str = "unwoken::a_death_of_which_the_kernel_tells_no_sleeper_is_found";
    if let Some(memory) = half("holds it") {
        let mutex = Mutex::<u8>::attach(memory).unwrap();
        let _guard = mutex.lock().unwrap();
        pause();
        return;
    }
    let mutex = Mutex::create(0_u8).unwrap();
    let mut other = Other::start(PATH, "holds it", mutex.memory());
    other.wait_until_stopped();
    std::thread::scope(|scope| {
        let mutex = &mutex;
        let waiting = Waiting::start(scope, move || {
            mutex.lock_timeout(LONG).unwrap().is_abandoned()
        });
        waiting.sleeps();
        let memory = memory_of(mutex.memory().as_fd());
        let life = life_of(other.id(), &memory);
        let mut highest = [0];
        memory.read_exact_at(&mut highest, life + 3).unwrap();
        memory.write_all_at(&[highest[0] & 0x7F], life + 3).unwrap();
        other.kill();
        other.wait();
        assert!(in_time(Instant::now(), waiting));
    });
}
