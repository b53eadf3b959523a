//! A mutex of two processes, of which one may be stopped or killed.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use tamtam_ipc::{LockTimeoutError, Mutex, TryLockError};

use crate::other::{Numbers, Other, half};

const LONG: Duration = Duration::from_secs(30);

fn attached<T: tamtam_ipc::Plain>(mutex: &Mutex<T>) -> Mutex<T> {
    Mutex::attach(mutex.memory().try_clone_to_owned().unwrap()).unwrap()
}

/// Waits until another process holds it.
fn wait_until_held<T: tamtam_ipc::Plain>(mutex: &Mutex<T>) {
    let until = Instant::now() + LONG;
    while mutex.holder().is_none_or(|holder| holder.thread.is_none()) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_thread_that_holds_it_already_is_told() {
    let mutex = Mutex::create(1_u32).unwrap();
    let there = attached(&mutex);
    assert_eq!(mutex.processes(), 2);
    let guard = mutex.lock().unwrap();
    assert!(mutex.lock().is_err());
    assert_eq!(mutex.try_lock().unwrap_err(), TryLockError::Recursive);
    let error = mutex.lock_timeout(LONG).unwrap_err();
    assert_eq!(error, LockTimeoutError::Recursive);
    assert!(matches!(there.try_lock(), Err(TryLockError::Held { .. })));
    let soon = Duration::from_millis(10);
    let began = Instant::now();
    let error = there.lock_timeout(soon).unwrap_err();
    assert!(began.elapsed() >= soon);
    assert_eq!(error.holder().unwrap().process, std::process::id());
    drop(guard);
    assert!(mutex.lock().is_ok() && there.lock().is_ok());
    assert_eq!(mutex.holder(), None);
}

#[test]
fn a_panic_leaves_it_abandoned_until_it_is_put_in_order() {
    let mutex = Mutex::create(1_u32).unwrap();
    let there = attached(&mutex);
    let panicked = std::thread::scope(|threads| {
        let thread = threads.spawn(|| {
            let mut guard = mutex.lock().unwrap();
            guard.update(|_| std::panic::resume_unwind(Box::new("no news")))
        });
        thread.join()
    });
    assert!(panicked.is_err());
    for _ in 0..2 {
        let guard = there.lock().unwrap();
        assert!(guard.is_abandoned());
        assert_eq!(guard.get(), 1);
    }
    there.lock().unwrap().mark_consistent();
    assert!(!mutex.lock().unwrap().is_abandoned());
}

/// A handle that goes while a guard was forgotten frees it, as its process' death would.
#[test]
fn a_forgotten_guard_goes_with_its_handle() {
    let mutex = Mutex::create(1_u32).unwrap();
    let there = attached(&mutex);
    std::mem::forget(there.lock().unwrap());
    assert!(mutex.try_lock().is_err());
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| mutex.lock_timeout(LONG).unwrap().is_abandoned());
        std::thread::sleep(Duration::from_millis(10));
        drop(there);
        assert!(waiting.join().unwrap());
    });
}

#[test]
fn a_timeout_names_a_holder_that_is_stopped() {
    const PATH: &str = "mutex::a_timeout_names_a_holder_that_is_stopped";
    if let Some(memory) = half("stopped") {
        let mutex = Mutex::<u32>::attach(memory).unwrap();
        let mut guard = mutex.lock().unwrap();
        guard.set(rustix::thread::gettid().as_raw_pid().cast_unsigned());
        let this = rustix::process::getpid();
        rustix::process::kill_process(this, Signal::STOP).unwrap();
        // Another thread may have got it, and this one goes on for a moment.
        std::thread::sleep(Duration::from_secs(1));
        return;
    }
    let mutex = Mutex::create(0_u32).unwrap();
    let other = Other::start(PATH, "stopped", mutex.memory());
    other.wait_until_stopped();
    let error = mutex.lock_timeout(Duration::from_millis(300)).unwrap_err();
    let holder = error.holder().unwrap();
    assert_eq!(holder.process, other.id());
    assert!(holder.held_for >= Duration::from_millis(250), "{holder}");
    let text = error.to_string();
    let named = format!("process {}, thread ", other.id());
    let so_long = format!(" has held it for {:.1} s", holder.held_for.as_secs_f64());
    assert!(text.contains(&named) && text.contains(&so_long), "{text}");
    other.signal(Signal::CONT);
    let guard = mutex.lock_timeout(LONG).unwrap();
    assert!(!guard.is_abandoned());
    assert_eq!(holder.thread, Some(guard.get()));
    other.ends_well();
}

/// A process is killed at whatever moment. The lock is free soon after, and unless it is abandoned, what it guards is whole.
#[test]
fn a_holder_that_is_killed_at_any_moment_frees_it() {
    const PATH: &str = "mutex::a_holder_that_is_killed_at_any_moment_frees_it";
    type Row = [u64; 32];
    fn count(mutex: &Mutex<Row>) -> u64 {
        let mut guard = mutex.lock_timeout(LONG).unwrap();
        let row = guard.get();
        if guard.is_abandoned() {
            let most = row.iter().max().unwrap();
            guard.set([*most; 32]);
            guard.mark_consistent();
        } else {
            assert!(row.iter().all(|it| *it == row[0]), "{row:?}");
            guard.set([row[0] + 1; 32]);
        }
        row[0]
    }
    if let Some(memory) = half("counts") {
        let mutex = Mutex::<Row>::attach(memory).unwrap();
        loop {
            count(&mutex);
        }
    }
    let mutex = Mutex::create([0; 32]).unwrap();
    let mut numbers = Numbers(0x5EED);
    let (mut kills, mut abandoned) = (0, 0);
    let until = Instant::now() + Duration::from_secs(4);
    // As many as there is time for, and some in any case.
    while kills < 10 || kills < 300 && Instant::now() < until {
        let mut others = [0, 1].map(|_| Other::start(PATH, "counts", mutex.memory()));
        let both_are_there = Instant::now() + LONG;
        while mutex.processes() < 3 {
            assert!(Instant::now() < both_are_there);
            std::thread::yield_now();
        }
        for other in &mut others {
            std::thread::sleep(Duration::from_micros(numbers.below(1_500)));
            other.kill();
            kills += 1;
            let killed = Instant::now();
            let guard = mutex.lock_timeout(LONG).unwrap();
            // The last look before the end of the time is none that counts.
            assert!(killed.elapsed() < LONG / 2);
            abandoned += u32::from(guard.is_abandoned());
            drop(guard);
            count(&mutex);
        }
    }
    println!("{kills} kills, {abandoned} times abandoned");
}

/// How long a thread waits for a lock whose holder was killed: with little memory, and with 64 MiB that the system has to free.
#[test]
fn a_killed_holder_frees_it_at_once() {
    const PATH: &str = "mutex::a_killed_holder_frees_it_at_once";
    if let Some(memory) = half("holds") {
        let mutex = Mutex::<u64>::attach(memory).unwrap();
        let guard = mutex.lock().unwrap();
        let held = vec![1_u8; guard.get() as usize];
        std::thread::sleep(LONG);
        return drop(held);
    }
    for bytes in [0_u64, 64 << 20] {
        let mut waited: Vec<Duration> = (0..31)
            .map(|_| {
                let mutex = Mutex::create(bytes).unwrap();
                let mut other = Other::start(PATH, "holds", mutex.memory());
                wait_until_held(&mutex);
                // The memory was written to.
                std::thread::sleep(Duration::from_millis(if bytes == 0 { 5 } else { 60 }));
                std::thread::scope(|threads| {
                    let waiting = threads.spawn(|| {
                        let guard = mutex.lock_timeout(LONG).unwrap();
                        let at = Instant::now();
                        assert!(guard.is_abandoned());
                        at
                    });
                    std::thread::sleep(Duration::from_millis(5));
                    let killed = Instant::now();
                    other.kill();
                    waiting.join().unwrap().saturating_duration_since(killed)
                })
            })
            .collect();
        waited.sort();
        let [least, median, most] = [0, 15, 30].map(|place| waited[place]);
        println!("{bytes} bytes: free after {median:?} ({least:?} to {most:?})");
        assert!(median < Duration::from_millis(500));
    }
}
