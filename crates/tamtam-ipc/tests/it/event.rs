//! Events of two processes.

use std::time::Duration;

use tamtam_channel::WaitTimeoutError;
use tamtam_ipc::Event;

use crate::other::{Other, half};

#[test]
fn each_is_set_for_another_process() {
    const PATH: &str = "event::each_is_set_for_another_process";
    const TURNS: u32 = 10_000;
    if let Some(memory) = half("waits") {
        let event = Event::attach(memory).unwrap();
        // One event for both directions: what one sets, the other takes down.
        for _ in 0..TURNS {
            event.wait();
        }
        return;
    }
    let event = Event::auto().unwrap();
    let other = Other::start(PATH, "waits", event.memory());
    for _ in 0..TURNS {
        event.set();
        while event.is_set() {
            std::thread::yield_now();
        }
    }
    other.ends_well();
    assert_eq!(
        event.wait_timeout(Duration::from_millis(5)),
        Err(WaitTimeoutError)
    );
}

#[test]
fn a_manual_one_lets_all_pass_and_stays() {
    const PATH: &str = "event::a_manual_one_lets_all_pass_and_stays";
    if let Some(memory) = half("waits") {
        let event = Event::attach(memory).unwrap();
        std::thread::scope(|threads| {
            threads.spawn(|| event.wait());
            event.wait();
        });
        assert!(event.try_wait() && event.try_wait());
        return;
    }
    let event = Event::manual().unwrap();
    assert!(!event.try_wait());
    let others = [0, 1].map(|_| Other::start(PATH, "waits", event.memory()));
    std::thread::sleep(Duration::from_millis(50));
    event.set();
    for other in others {
        other.ends_well();
    }
    assert!(event.is_set() && event.wait_timeout(Duration::ZERO).is_ok());
    event.reset();
    assert!(!event.is_set());
}
