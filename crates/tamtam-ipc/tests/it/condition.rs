//! Threads of two processes that wait for a change under a mutex.

use std::os::fd::AsRawFd;
use std::time::Duration;

use tamtam_ipc::{Condition, Mutex};

use crate::other::{Other, further, half};

#[test]
fn two_processes_take_turns_and_the_end_of_one_ends_a_wait() {
    const PATH: &str = "condition::two_processes_take_turns_and_the_end_of_one_ends_a_wait";
    const TURNS: u32 = 20_000;
    fn play(mutex: &Mutex<[u32; 2]>, changed: &Condition, own: u32) {
        let mut guard = mutex.lock().unwrap();
        while guard.get()[0] < TURNS {
            if guard.get()[0] % 2 == own {
                guard.update(|[count, number]| [count + 1, number]);
                changed.notify_all();
            } else {
                guard = changed.wait(guard).unwrap();
            }
        }
    }
    if let Some(memory) = half("plays") {
        let mutex = Mutex::<[u32; 2]>::attach(memory).unwrap();
        let [_, number] = mutex.lock().unwrap().get();
        let changed = Condition::attach(further(number)).unwrap();
        play(&mutex, &changed, 1);
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let changed = Condition::create().unwrap();
    let number = changed.memory().as_raw_fd().cast_unsigned();
    let mutex = Mutex::create([0, number]).unwrap();
    let mut other = Other::start(PATH, "plays", mutex.memory());
    play(&mutex, &changed, 0);
    assert_eq!(changed.processes(), 2);
    let guard = mutex.lock().unwrap();
    let soon = Duration::from_millis(10);
    let (guard, is_notified) = changed.wait_timeout(guard, soon).unwrap();
    assert!(!is_notified);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            // Free as soon as the wait has begun.
            drop(mutex.lock().unwrap());
            other.kill();
        });
        // No notification comes any more.
        let guard = changed.wait(guard).unwrap();
        drop(guard);
    });
    assert_eq!(changed.processes(), 1);
}
