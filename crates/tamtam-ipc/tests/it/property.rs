//! A property of several processes.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tamtam_channel::WaitTimeoutError;
use tamtam_ipc::{CompareAndSetTimeoutError, Property, SetTimeoutError};

use crate::other::{Numbers, Other, half, memory_of};

const LONG: Duration = Duration::from_secs(30);
type Row = [u64; 64];

fn whole(row: &Row) -> u64 {
    assert!(row.iter().all(|it| *it == row[0]), "{row:?}");
    row[0]
}

#[test]
fn each_update_of_two_processes_counts() {
    const PATH: &str = "property::each_update_of_two_processes_counts";
    const TIMES: u64 = 20_000;
    let update = |property: &Property<Row>| {
        for _ in 0..TIMES {
            property.update(|row| [whole(&row) + 1; 64]);
        }
    };
    if let Some(memory) = half("updates") {
        return update(&Property::attach(memory).unwrap());
    }
    let property = Property::create([0; 64]).unwrap();
    let other = Other::start(PATH, "updates", property.memory());
    std::thread::scope(|threads| {
        threads.spawn(|| update(&property));
        let (mut version, mut last) = (0, 0);
        while last < 2 * TIMES {
            version = property.wait_changed(version);
            let (seen, row) = property.versioned();
            assert!(seen >= version && whole(&row) >= last);
            assert_eq!(seen, whole(&row));
            last = whole(&row);
        }
    });
    other.ends_well();
    assert_eq!(property.version(), 2 * TIMES);
    let soon = Duration::from_millis(5);
    let waited = property.wait_changed_timeout(2 * TIMES, soon);
    assert_eq!(waited, Err(WaitTimeoutError));
    let refused = property.compare_and_set(0, [1; 64]).unwrap_err();
    assert_eq!(refused.version, 2 * TIMES);
    assert_eq!(
        property.compare_and_set(2 * TIMES, [1; 64]),
        Ok(2 * TIMES + 1)
    );
}

/// Neither a writer that is stopped nor one that is killed holds up readers and other writers, and what is read is whole.
#[test]
fn a_writer_that_is_stopped_or_killed_at_any_moment_is_no_hindrance() {
    const PATH: &str = "property::a_writer_that_is_stopped_or_killed_at_any_moment_is_no_hindrance";
    if let Some(memory) = half("sets") {
        let property = Property::<Row>::attach(memory).unwrap();
        for number in 0.. {
            property.set([number; 64]);
        }
    }
    let property = Property::create([0; 64]).unwrap();
    let mut numbers = Numbers(0xCAFE);
    let mut kills = 0;
    let until = Instant::now() + Duration::from_secs(3);
    // As many as there is time for, and some in any case.
    while kills < 10 || kills < 200 && Instant::now() < until {
        let version = property.version();
        let mut other = Other::start(PATH, "sets", property.memory());
        property.wait_changed_timeout(version, LONG).unwrap();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_micros(numbers.below(300)));
            other.signal(Signal::STOP);
            whole(&property.get());
            // The signal comes to the thread when that is in the kernel next.
            std::thread::sleep(Duration::from_micros(200));
            let began = Instant::now();
            property.set([kills; 64]);
            property.set([kills + 1; 64]);
            whole(&property.get());
            assert!(began.elapsed() < LONG);
            other.signal(Signal::CONT);
        }
        other.kill();
        kills += 1;
        whole(&property.get());
        for number in 0..20 {
            property.set([number; 64]);
        }
    }
    let until = Instant::now() + LONG;
    while property.processes() > 1 {
        assert!(Instant::now() < until);
    }
    property.set([7; 64]);
    assert_eq!(property.get(), [7; 64]);
    println!("{kills} kills");
}

/// Behind the state: eight stamps, each with the claim of a process. This one is in the first place there, for the first time.
const STAMPS: u64 = 4096 + 8;
const OWN_CLAIM: u64 = 1 << 29;

#[test]
fn setting_ends_in_its_time_while_all_places_are_said_to_be_in_use() {
    let property = Property::create([0_u64; 4]).unwrap();
    let memory = memory_of(property.memory());
    let claim = |claim: u64| {
        let stamps = claim.to_le_bytes().repeat(8);
        memory.write_all_at(&stamps, STAMPS).unwrap();
    };
    claim(OWN_CLAIM);
    for timeout in [Duration::ZERO, Duration::from_millis(3)] {
        let refused = property.set_timeout([1; 4], timeout);
        assert_eq!(refused, Err(SetTimeoutError([1; 4])));
        let refused = property.compare_and_set_timeout(0, [2; 4], timeout);
        let timed_out = CompareAndSetTimeoutError::Timeout(SetTimeoutError([2; 4]));
        assert_eq!(refused, Err(timed_out));
    }
    // Reading goes on, and nothing was set.
    assert_eq!(property.get_whole(), Ok((0, [0; 4])));
    claim(0);
    property.set_timeout([1; 4], Duration::ZERO).unwrap();
    let set = property.compare_and_set_timeout(1, [2; 4], Duration::ZERO);
    assert_eq!((set, property.get()), (Ok(2), [2; 4]));
}
