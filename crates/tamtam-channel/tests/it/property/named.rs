//! Properties by name.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crate::support::{LONG, SHORT, within_limit};
use tamtam_channel::{
    Event, GetPropertyError, Properties, Property, Wait, WaitForPropertyError, WrongType,
};

#[test]
fn each_name_has_a_value_of_its_own_type() {
    let shared = Properties::default();
    shared.set("speed", 88_u32).unwrap();
    shared.set("name", String::from("Delta")).unwrap();
    shared.set("", [0_u8; 3]).unwrap();
    assert_eq!(shared.get("speed"), Ok(88_u32));
    assert_eq!(shared.get("name"), Ok(String::from("Delta")));
    shared.set("speed", 99_u32).unwrap();
    assert_eq!(shared.get("speed"), Ok(99_u32));
    assert_eq!(shared.names(), ["", "name", "speed"]);
    assert!(shared.contains("name") && !shared.contains("Name"));
}

#[test]
fn another_type_is_refused_and_says_what_to_do() {
    let shared = Properties::new();
    shared.set("speed", 88_u32).unwrap();
    let error = shared.set("speed", 1.5_f64).unwrap_err();
    assert_eq!(
        (error.name.as_str(), error.found, error.wanted),
        ("speed", "u32", "f64")
    );
    assert_eq!(
        error.to_string(),
        "the property \"speed\" is of type u32, not f64: ask for u32, or remove it before you set a f64"
    );
    assert_eq!(
        shared.get::<f64>("speed"),
        Err(GetPropertyError::WrongType(error.clone()))
    );
    assert_eq!(shared.property_or("speed", 1.5).unwrap_err(), error);
    assert_eq!(shared.wait_for::<f64>("speed").unwrap_err(), error);
    assert_eq!(
        shared.wait_for_timeout::<f64>("speed", LONG).unwrap_err(),
        WaitForPropertyError::WrongType(error)
    );
    assert_eq!(shared.get("speed"), Ok(88_u32));

    assert!(shared.remove("speed"));
    shared.set("speed", 1.5).unwrap();
    assert_eq!(shared.get("speed"), Ok(1.5));
}

#[test]
fn a_missing_name_is_an_error_of_its_own() {
    let shared = Properties::new();
    let error = shared.get::<u8>("lost").unwrap_err();
    assert_eq!(
        error,
        GetPropertyError::Missing {
            name: "lost".into()
        }
    );
    assert_eq!(
        error.to_string(),
        "there is no property \"lost\": set it first, or wait for it"
    );
    assert!(!shared.remove("lost"));
    let start = Instant::now();
    let error = shared.wait_for_timeout::<u8>("lost", SHORT).unwrap_err();
    assert!(start.elapsed() >= SHORT);
    assert_eq!(
        error.to_string(),
        "timed out waiting for the property \"lost\""
    );
    assert_eq!(
        shared
            .wait_for_deadline::<u8>("lost", Instant::now())
            .unwrap_err(),
        error
    );
    fn converts() -> Result<u8, Box<dyn Error + Send + Sync>> {
        Ok(Properties::new().get::<u8>("lost")?)
    }
    assert!(converts().is_err());
}

#[test]
fn a_property_is_looked_up_once_and_used_often() {
    let shared = Properties::new();
    let count = shared.property_or("count", 0_u64).unwrap();
    let same: Arc<Property<u64>> = shared.property("count").unwrap();
    assert!(Arc::ptr_eq(&count, &same));
    assert!(Arc::ptr_eq(
        &count,
        &shared.property_or("count", 5).unwrap()
    ));
    count.set(7);
    assert_eq!(shared.get("count"), Ok(7_u64));
    assert!(shared.remove("count"));
    // The name means nothing any more; the property goes on.
    count.set(8);
    assert_eq!(same.get(), 8);
    assert_eq!(shared.property_or("count", 1_u64).unwrap().get(), 1);
}

#[test]
fn one_waits_until_a_name_exists() {
    within_limit(|| {
        for wait in [Wait::Adaptive, Wait::Park] {
            let shared = Properties::new().with_wait(wait);
            let waits = Event::auto();
            thread::scope(|scope| {
                let waiters: Vec<_> = (0..3)
                    .map(|_| {
                        scope.spawn(|| {
                            waits.set();
                            let late = shared.wait_for::<&str>("late").unwrap();
                            (late.get(), shared.wait_for_timeout::<u8>("later", LONG))
                        })
                    })
                    .collect();
                waits.wait();
                // Other names wake nobody for good.
                shared.set("early", 1).unwrap();
                shared.set("late", "here").unwrap();
                drop(shared.property_or("later", 9_u8).unwrap());
                for waiter in waiters {
                    let (late, later) = waiter.join().unwrap();
                    assert_eq!((late, later.unwrap().get()), ("here", 9));
                }
            });
        }
    });
}

#[test]
fn many_threads_agree_on_who_makes_a_name() {
    within_limit(|| {
        let shared = Properties::new();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for name in 0..200 {
                        let count = shared.property_or(&name.to_string(), 0_u32).unwrap();
                        count.update(|count| count + 1);
                    }
                });
            }
        });
        let names: BTreeSet<String> = (0..200).map(|name: u32| name.to_string()).collect();
        assert_eq!(shared.names(), names.iter().cloned().collect::<Vec<_>>());
        assert!(names.iter().all(|name| shared.get(name) == Ok(4_u32)));
    });
}

/// Article A's drop box: writing clears nothing, removing acknowledges.
#[test]
fn a_name_serves_as_a_drop_box() {
    within_limit(|| {
        let shared = Properties::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..200_u32 {
                    assert_eq!(shared.wait_for::<u32>("question").unwrap().get(), number);
                    assert!(shared.remove("question"));
                    shared.set("answer", number * 2).unwrap();
                }
            });
            for number in 0..200_u32 {
                shared.set("question", number).unwrap();
                assert_eq!(shared.wait_for::<u32>("answer").unwrap().get(), number * 2);
                assert!(shared.remove("answer"));
            }
        });
        assert!(shared.names().is_empty());
    });
}

#[test]
fn errors_compare_and_show_their_names() {
    let shared = Properties::new();
    shared.set("a", 1_u8).unwrap();
    let error: WrongType = shared.set("a", 'x').unwrap_err();
    assert_eq!(error, error.clone());
    assert_eq!(
        format!("{error:?}"),
        "WrongType { name: \"a\", found: \"u8\", wanted: \"char\" }"
    );
    assert_eq!(format!("{shared:?}"), "Properties { names: [\"a\"], .. }");
}
