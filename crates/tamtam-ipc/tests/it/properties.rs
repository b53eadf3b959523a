//! Named values of two processes.

use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use tamtam_channel::WaitTimeoutError;
use tamtam_ipc::{AttachError, Properties, SetPropertyError, Value};

use crate::other::{Numbers, Other, half, memory_of};

const LONG: Duration = Duration::from_secs(30);

#[test]
fn values_are_set_changed_and_removed_for_another_process() {
    const PATH: &str = "properties::values_are_set_changed_and_removed_for_another_process";
    if let Some(memory) = half("answers") {
        let there = Properties::attach(memory).unwrap();
        assert_eq!(there.capacity(), 8);
        there.wait_changed("question", 0);
        assert_eq!(there.get("question"), Some(Value::from("how much")));
        assert!(there.remove("question"));
        there.set("answer", 1.5).unwrap();
        return;
    }
    let properties = Properties::create(8, 64).unwrap();
    let other = Other::start(PATH, "answers", properties.memory());
    properties.set("question", "how much").unwrap();
    let version = properties.wait_changed("answer", 0);
    let (seen, value) = properties.versioned("answer").unwrap();
    assert_eq!((seen, value), (version, Value::Float(1.5)));
    assert_eq!(properties.names(), ["answer"]);
    other.ends_well();
    let soon = Duration::from_millis(5);
    let waited = properties.wait_changed_timeout("answer", version, soon);
    assert_eq!(waited, Err(WaitTimeoutError));
}

#[test]
fn limits_are_kept_and_places_used_again() {
    let properties = Properties::create(3, 10).unwrap();
    for round in 0..50_i64 {
        for name in ["a", "b", "c"] {
            properties.set(&format!("{name}{round}"), round).unwrap();
        }
        let refused = properties.set("d", true).unwrap_err();
        assert!(matches!(
            refused,
            SetPropertyError::Full { capacity: 3, .. }
        ));
        for name in ["b", "a", "c"] {
            assert!(properties.remove(&format!("{name}{round}")));
            assert!(!properties.remove(&format!("{name}{round}")));
        }
    }
    let long = "n".repeat(112);
    properties.set(&long, vec![9; 10]).unwrap();
    assert_eq!(properties.get(&long), Some(Value::Bytes(vec![9; 10])));
    properties.set(&long, "").unwrap();
    let long = "n".repeat(113);
    assert!(matches!(
        properties.set(&long, true),
        Err(SetPropertyError::NameTooLong { .. })
    ));
    assert!(matches!(
        properties.set("a", vec![9; 11]),
        Err(SetPropertyError::ValueTooLong {
            len: 11,
            longest: 10
        })
    ));
    assert!(Properties::create(usize::MAX, 10).is_err());
    assert!(Properties::create(10, usize::MAX).is_err());
    let event = tamtam_ipc::Event::auto().unwrap();
    let memory = event.memory().try_clone_to_owned().unwrap();
    let error = Properties::attach(memory).unwrap_err();
    assert!(matches!(error, AttachError::Kind { .. }), "{error}");
}

/// No name gets two places, and a process that dies while it sets, adds or removes leaves what was or what is.
#[test]
fn a_process_that_is_killed_at_any_moment_leaves_whole_values() {
    const PATH: &str = "properties::a_process_that_is_killed_at_any_moment_leaves_whole_values";
    fn change(properties: &Properties, numbers: &mut Numbers) {
        let name = format!("name {}", numbers.below(12));
        let byte = numbers.below(256) as u8;
        match numbers.below(4) {
            0 => drop(properties.remove(&name)),
            _ => match properties.set(&name, vec![byte; 500]) {
                Ok(()) | Err(SetPropertyError::Full { .. }) => {}
                Err(error) => panic!("{error}"),
            },
        }
    }
    if let Some(memory) = half("changes") {
        let properties = Properties::attach(memory).unwrap();
        let mut numbers = Numbers(u64::from(std::process::id()));
        loop {
            change(&properties, &mut numbers);
        }
    }
    let properties = Properties::create(10, 500).unwrap();
    let mut numbers = Numbers(0xFEED);
    let mut kills = 0;
    let until = Instant::now() + Duration::from_secs(3);
    // As many as there is time for, and some in any case.
    while kills < 10 || kills < 200 && Instant::now() < until {
        let mut other = Other::start(PATH, "changes", properties.memory());
        let joined = Instant::now() + LONG;
        while properties.processes() < 2 {
            assert!(Instant::now() < joined);
            std::thread::yield_now();
        }
        let killed_at = Instant::now() + Duration::from_micros(numbers.below(3_000));
        while Instant::now() < killed_at {
            change(&properties, &mut numbers);
        }
        other.kill();
        kills += 1;
        for _ in 0..20 {
            change(&properties, &mut numbers);
        }
    }
    let until = Instant::now() + LONG;
    while properties.processes() > 1 {
        assert!(Instant::now() < until);
    }
    let names = properties.names();
    assert!(names.len() <= 10);
    for name in &names {
        let Some(Value::Bytes(bytes)) = properties.get(name) else {
            panic!("{name}");
        };
        assert!(bytes.len() == 500 && bytes.iter().all(|it| *it == bytes[0]));
        assert!(properties.remove(name));
        assert_eq!(properties.get(name), None);
    }
    assert!(properties.names().is_empty());
    println!("{kills} kills");
}

#[test]
fn setting_tells_after_some_seconds_that_all_places_are_said_to_be_in_use() {
    /// Of the first name, behind its state: four stamps, each with the claim of a process. This one is in the first place there, for the first time.
    const STAMPS: u64 = 4096 + 512 + 8;
    const OWN_CLAIM: u64 = 1 << 29;
    tamtam_testing::within(LONG, || {
        let properties = Properties::create(2, 16).unwrap();
        properties.set("name", 1_i64).unwrap();
        let stamps = OWN_CLAIM.to_le_bytes().repeat(4);
        let memory = memory_of(properties.memory());
        memory.write_all_at(&stamps, STAMPS).unwrap();
        let refused = properties.set("name", 2_i64);
        assert_eq!(refused, Err(SetPropertyError::Stuck));
        assert_eq!(properties.get("name"), Some(Value::from(1_i64)));
        assert!(!properties.remove("name"));
        // Other names are not concerned.
        properties.set("other", 3_i64).unwrap();
        assert_eq!(properties.names(), ["name", "other"]);
    });
}
