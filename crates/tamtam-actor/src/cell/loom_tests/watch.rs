//! Models of those who are told of an actor's end.

use super::*;

/// Whoever watches is told once, also if the end comes meanwhile.
#[test]
fn loom_watch_against_end() {
    model(3, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        for _ in 0..2 {
            let fate = Arc::clone(&fate);
            address.place().watch(
                WatchKey::next(),
                Box::new(move |ended| {
                    assert_eq!(ended.reason, EndReason::Stopped);
                    fate.handled.fetch_add(1, Relaxed);
                }),
            );
        }
        stage.run();
        other.join().unwrap();
        stage.run();
        assert_eq!(fate.handled.load(Relaxed), 2);
    });
}

/// A watch that is taken back is told of, or not, and never both.
#[test]
fn loom_forgetting_a_watch_against_the_end() {
    model(3, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn_fn(handle);
        let key = WatchKey::next();
        let told = Arc::clone(&fate);
        address.place().watch(
            key,
            Box::new(move |_| {
                told.handled.fetch_add(1, Relaxed);
            }),
        );
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        let was_forgotten = address.place().life().forget_watcher(key);
        stage.run();
        other.join().unwrap();
        stage.run();
        assert_eq!(
            fate.handled.load(Relaxed) + u32::from(was_forgotten),
            1,
            "told, or forgotten in time"
        );
    });
}

/// Two actors are linked while one of them ends: the other one keeps nothing of that, and has not ended itself.
#[cfg(feature = "serde")]
#[test]
fn loom_a_link_against_the_end_of_either() {
    model(3, || {
        let stage = ModelHome::new();
        let one = stage.spawner().spawn_fn(handle);
        let other = stage.spawner().spawn_fn(handle);
        let stopping = {
            let (stage, one) = (Arc::clone(&stage), one.clone());
            thread::spawn(move || {
                one.stop();
                stage.run();
            })
        };
        crate::cell::tie(&one.place(), &other.place());
        stage.run();
        stopping.join().unwrap();
        stage.run();
        let place = other.place();
        assert!(!place.life().is_watched());
        assert!(place.life().links().is_empty());
        assert!(!place.life().has_ended());
    });
}

/// One actor links another one, which takes that back as soon as it finds it: then nothing is left of it at either, and else all.
#[test]
fn loom_a_link_against_the_other_one_that_takes_it_back() {
    model(3, || {
        let stage = ModelHome::new();
        let one = stage.spawner().spawn_fn(handle);
        let other = stage.spawner().spawn_fn(handle);
        let taking_back = {
            let (one, other) = (one.place(), other.place());
            thread::spawn(move || {
                let found = crate::cell::find(&*other, &*one);
                if let Some((key, _)) = &found {
                    crate::cell::untie(*key, [&other, &one]);
                }
                found.is_some()
            })
        };
        let key = crate::cell::tie(&one.place(), &other.place());
        let is_linked = !taking_back.join().unwrap();
        for place in [one.place(), other.place()] {
            assert_eq!(place.life().links().len(), usize::from(is_linked));
            assert_eq!(place.life().forget_watcher(key), is_linked);
        }
    });
}
