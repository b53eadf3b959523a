//! Events.

use std::time::Instant;

use tamtam_wait::seam::{Arc, Task, thread};

use super::{model, poll};
use crate::{Event, Select};

/// One that gives up and one that does not: a permit is never lost between them.
#[test]
fn loom_auto_event_releases_one_for_each_set() {
    model(|| {
        let event = Arc::new(Event::auto());
        let past = Instant::now();
        let hasty = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait_deadline(past).is_ok())
        };
        let patient = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait())
        };
        event.set();
        if hasty.join().unwrap() {
            event.set();
        }
        patient.join().unwrap();
        assert!(!event.try_wait());
    });
}

/// A select that is registered when the event is set gets past, though it is reset at once.
#[test]
fn loom_manual_event_releases_who_waits() {
    model(|| {
        let event = Arc::new(Event::manual());
        let waiter = {
            let event = Arc::clone(&event);
            thread::spawn(move || {
                let mut select = Select::new();
                select.wait(&*event);
                select.select().wait(&*event);
            })
        };
        event.set();
        event.reset();
        event.set();
        waiter.join().unwrap();
        assert!(event.is_set());
    });
}

/// A task that gives up leaves the permit to the thread that waits, too.
#[test]
fn loom_async_auto_event_cancelling_meets_setting() {
    model(|| {
        let event = Arc::new(Event::auto());
        let patient = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.wait())
        };
        let setter = {
            let event = Arc::clone(&event);
            thread::spawn(move || event.set())
        };
        let task = Task::new();
        let mut wait = event.wait_async();
        let passed = poll(&mut wait, &task).is_ready();
        drop(wait);
        if passed {
            event.set();
        }
        patient.join().unwrap();
        setter.join().unwrap();
    });
}

/// Two sets beside a task that waits and one that gives up: two pass, whenever it does.
#[test]
fn loom_async_auto_event_keeps_the_turn_of_one_that_gives_up() {
    model(|| {
        let event = Arc::new(Event::auto());
        let tasks = [Task::new(), Task::new()];
        let mut stays = event.wait_async();
        let mut goes = event.wait_async();
        assert!(poll(&mut stays, &tasks[0]).is_pending());
        assert!(poll(&mut goes, &tasks[1]).is_pending());
        let setter = {
            let event = Arc::clone(&event);
            thread::spawn(move || {
                event.set();
                event.set();
            })
        };
        drop(goes);
        setter.join().unwrap();
        assert!(poll(&mut stays, &tasks[0]).is_ready());
        assert!(event.try_wait() && !event.try_wait());
    });
}
