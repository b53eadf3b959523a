//! A slot of two processes.

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tamtam_channel::{PutTimeoutError, TakeTimeoutError, TryPutError};
use tamtam_ipc::{Event, Property, Slot, Wait};

use crate::other::{Numbers, Other, further, half};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn values_go_from_process_to_process_in_order() {
    const PATH: &str = "slot::values_go_from_process_to_process_in_order";
    const VALUES: u64 = 50_000;
    if let Some(memory) = half("puts") {
        let slot = Slot::<[u64; 3]>::attach(memory).unwrap();
        for number in 0..VALUES {
            slot.put([number, number * 2, number * 3]);
        }
        return;
    }
    let slot = Slot::<[u64; 3]>::create().unwrap();
    let soon = Duration::from_millis(5);
    assert_eq!(slot.take_timeout(soon), Err(TakeTimeoutError));
    let other = Other::start(PATH, "puts", slot.memory());
    for number in 0..VALUES {
        assert_eq!(slot.take(), [number, number * 2, number * 3]);
    }
    other.ends_well();
    assert!(slot.is_empty() && slot.try_put([1; 3]).is_ok() && slot.is_full());
    assert_eq!(slot.try_put([2; 3]), Err(TryPutError([2; 3])));
    assert_eq!(slot.put_timeout([3; 3], soon), Err(PutTimeoutError([3; 3])));
    assert_eq!(slot.try_take(), Some([1; 3]));
    assert_eq!(slot.try_take(), None);
}

/// A slot each way, an event and a property, each process waiting in its own way.
#[test]
fn each_way_to_wait_goes_with_each_other() {
    const PATH: &str = "slot::each_way_to_wait_goes_with_each_other";
    const WAYS: [Wait; 4] = [Wait::Adaptive, Wait::Spin, Wait::Yield, Wait::Park];
    const ROUNDS: u64 = 50;
    if let Some(memory) = half("waits") {
        let slot = Slot::<[u32; 4]>::attach(memory).unwrap();
        let [back, event, property, way] = slot.take();
        let wait = WAYS[way as usize];
        let slot = slot.with_wait(wait);
        let back = Slot::<u64>::attach(further(back)).unwrap().with_wait(wait);
        let event = Event::attach(further(event)).unwrap().with_wait(wait);
        let property = Property::<u64>::attach(further(property)).unwrap();
        let property = property.with_wait(wait);
        for round in 0..ROUNDS {
            assert_eq!(slot.take()[0], round as u32);
            event.wait();
            let version = property.wait_changed(round);
            assert_eq!(version, round + 1);
            back.put(property.get());
        }
        return;
    }
    for (number, wait) in WAYS.into_iter().enumerate() {
        let other_way = (number as u32 + 1) % WAYS.len() as u32;
        let slot = Slot::<[u32; 4]>::create().unwrap().with_wait(wait);
        let back = Slot::<u64>::create().unwrap().with_wait(wait);
        let (event, property) = (Event::auto().unwrap(), Property::create(0_u64).unwrap());
        let other = Other::start(PATH, "waits", slot.memory());
        let memory = [back.memory(), event.memory(), property.memory()];
        let [back_there, event_there, property_there] =
            memory.map(|memory| memory.as_raw_fd().cast_unsigned());
        slot.put([back_there, event_there, property_there, other_way]);
        for round in 0..ROUNDS {
            slot.put([round as u32, 0, 0, 0]);
            event.set();
            property.set(1_000 + round);
            assert_eq!(back.take(), 1_000 + round);
        }
        other.ends_well();
    }
}

/// A process that dies while it puts or takes a large value blocks no other, and no value is torn, or comes twice to those that live.
#[test]
fn a_process_that_is_killed_at_any_moment_blocks_no_other() {
    const PATH: &str = "slot::a_process_that_is_killed_at_any_moment_blocks_no_other";
    type Large = [u64; 2048];
    if let Some(memory) = half("puts and takes") {
        let slot = Slot::<Large>::attach(memory).unwrap();
        loop {
            slot.put(slot.take());
        }
    }
    let slot = Slot::<Large>::create().unwrap();
    let mut numbers = Numbers(0xD1CE);
    let mut kills = 0;
    let until = Instant::now() + Duration::from_secs(3);
    // As many as there is time for, and some in any case.
    while kills < 10 || kills < 200 && Instant::now() < until {
        let mut other = Other::start(PATH, "puts and takes", slot.memory());
        while slot.processes() < 2 {
            std::thread::yield_now();
        }
        kills += 1;
        // The other one has it in its hand, or it is still there; then the value is gone, or was put back.
        let _ = slot.try_put([kills; 2048]);
        let killed_at = Instant::now() + Duration::from_micros(numbers.below(1_500));
        while Instant::now() < killed_at {
            if let Some(value) = slot.try_take() {
                assert!(value.iter().all(|it| *it == value[0]));
                slot.put_timeout(value, LONG).unwrap();
            }
        }
        other.kill();
        let value = slot.take_timeout(Duration::from_millis(50));
        if let Ok(value) = value {
            assert!(value.iter().all(|it| *it == value[0]));
        }
        let until = Instant::now() + LONG;
        while slot.processes() > 1 {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
        while slot.try_take().is_some() {}
        let began = Instant::now();
        slot.put_timeout([0; 2048], LONG).unwrap();
        assert_eq!(slot.take_timeout(LONG), Ok([0; 2048]));
        // The last look before the end of the time is none that counts.
        assert!(began.elapsed() < LONG / 2);
    }
    println!("{kills} kills");
}

/// A stopped process may hold the place; those that have a timeout get past.
#[test]
fn a_stopped_process_ends_no_timeout_late() {
    const PATH: &str = "slot::a_stopped_process_ends_no_timeout_late";
    if let Some(memory) = half("puts") {
        let slot = Slot::<[u64; 2048]>::attach(memory).unwrap();
        loop {
            slot.put([1; 2048]);
        }
    }
    let slot = Slot::<[u64; 2048]>::create().unwrap();
    let other = Other::start(PATH, "puts", slot.memory());
    for _ in 0..100 {
        assert_eq!(slot.take(), [1; 2048]);
        other.signal(Signal::STOP);
        // It goes on until it is in the kernel next.
        let until = Instant::now() + LONG;
        while slot.take_timeout(Duration::from_millis(1)).is_ok() {
            assert!(Instant::now() < until);
        }
        other.signal(Signal::CONT);
    }
}
