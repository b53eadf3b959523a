//! What is recorded for those who collect figures by the facade `metrics`.
//!
//! A program of its own: a process has one recorder.

mod support;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};
use support::{hold, panic_on_purpose, until, within_limit};
use tamtam_actor::observe::{Metrics, record_metrics};
use tamtam_actor::{Actor, Context, Overflow, Pool, Reply, Restart};

/// Keeps what is recorded, as one who collects figures does.
#[derive(Clone, Default)]
struct Kept {
    figures: Arc<Mutex<HashMap<Key, f64>>>,
    described: Arc<Mutex<Vec<String>>>,
}

/// One figure.
struct Figure(Key, Kept);

impl CounterFn for Figure {
    fn increment(&self, _: u64) {
        panic!("what is counted already is not counted again");
    }

    fn absolute(&self, value: u64) {
        self.set(value as f64);
    }
}

impl GaugeFn for Figure {
    fn increment(&self, _: f64) {
        panic!("what is counted already is not counted again");
    }

    fn decrement(&self, _: f64) {
        panic!("what is counted already is not counted again");
    }

    fn set(&self, value: f64) {
        self.1.figures.lock().unwrap().insert(self.0.clone(), value);
    }
}

impl Recorder for Kept {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.described
            .lock()
            .unwrap()
            .push(name.as_str().to_owned());
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, _: SharedString) {
        self.described
            .lock()
            .unwrap()
            .push(name.as_str().to_owned());
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        panic!("there is none");
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(Arc::new(Figure(key.clone(), self.clone())))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(Arc::new(Figure(key.clone(), self.clone())))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        panic!("there is none")
    }
}

/// The figures of one home: names, with the actor behind it if there is one.
fn figures(from: &Kept, home: &str) -> HashMap<String, f64> {
    let all = from.figures.lock().unwrap();
    let of_home = all.iter().filter_map(|(key, value)| {
        let label = |name| {
            let mut labels = key.labels();
            labels
                .find(|label| label.key() == name)
                .map(|label| label.value())
        };
        if label("home") != Some(home) {
            return None;
        }
        assert_eq!(label("kind"), Some("pool"));
        assert!(
            from.described
                .lock()
                .unwrap()
                .iter()
                .any(|name| name == key.name())
        );
        let name = match label("actor") {
            None => key.name().to_owned(),
            Some(actor) => format!("{} of {actor}", key.name()),
        };
        Some((name, *value))
    });
    of_home.collect()
}

enum Work {
    Read(Reply<()>),
    Hold(support::Hold),
    Panic,
    Nothing,
}

struct Clerk;

impl Actor for Clerk {
    type Message = Work;

    fn handle(&mut self, work: Work, _: &mut Context<Self>) {
        match work {
            Work::Read(reply) => reply.send(()),
            Work::Hold(hold) => hold.wait(),
            Work::Panic => panic_on_purpose(),
            Work::Nothing => {}
        }
    }
}

#[test]
fn what_pools_and_actors_do_is_recorded_and_never_by_themselves() {
    within_limit(|| {
        let seen = Kept::default();
        assert!(metrics::set_global_recorder(seen.clone()).is_ok());
        let builder = Pool::builder().threads(2).name("office").observe(true);
        let pool = builder.long_turn(Duration::MAX).build().unwrap();
        let spawner = pool
            .spawner()
            .name("clerk")
            .limited(3, Overflow::DropNewest);
        let clerk = spawner.restart(Restart::on_panic()).spawn_with(|_| Clerk);
        let nameless = pool.spawn(Clerk);
        for _ in 0..3 {
            assert_eq!(clerk.ask(Work::Read), Ok(()));
        }
        clerk.tell(Work::Panic).unwrap();
        assert_eq!(clerk.ask(Work::Read), Ok(()));
        assert_eq!(nameless.ask(Work::Read), Ok(()));
        let (wait, gate) = hold();
        clerk.tell(Work::Hold(wait)).unwrap();
        gate.until_entered();
        for _ in 0..5 {
            clerk.tell(Work::Nothing).unwrap();
        }
        // Nobody has asked for it so far.
        assert!(figures(&seen, "office").is_empty());
        record_metrics();
        let found = figures(&seen, "office");
        for (name, value) in [
            ("tamtam_threads", 2.0),
            ("tamtam_stand_ins", 0.0),
            ("tamtam_actors", 2.0),
            ("tamtam_born_total", 2.0),
            ("tamtam_handled_total", 7.0),
            ("tamtam_queued", 3.0),
            ("tamtam_lost_total", 3.0),
            ("tamtam_restarts_total", 1.0),
            ("tamtam_actor_handled_total of clerk", 6.0),
            ("tamtam_actor_queued of clerk", 3.0),
            ("tamtam_actor_lost_total of clerk", 3.0),
            ("tamtam_actor_restarts_total of clerk", 1.0),
        ] {
            assert_eq!(found.get(name), Some(&value), "{name} in {found:?}");
        }
        assert_eq!(found.keys().filter(|name| name.contains(" of ")).count(), 4);
        gate.open();
        // Again and again, until it is dropped; then once more.
        let metrics = Metrics::every(Duration::from_millis(1)).unwrap();
        until(|| figures(&seen, "office").get("tamtam_queued") == Some(&0.0));
        assert_eq!(nameless.ask(Work::Read), Ok(()));
        // One that hangs, is replaced, and comes back.
        assert_eq!(figures(&seen, "office")["tamtam_left_behind"], 0.0);
        let digger = pool.spawner().replaceable().spawn_with(|_| Clerk);
        let (wait, gate) = hold();
        digger.tell(Work::Hold(wait)).unwrap();
        gate.until_entered();
        assert!(digger.replace());
        until(|| figures(&seen, "office").get("tamtam_left_behind") == Some(&1.0));
        gate.open();
        until(|| figures(&seen, "office").get("tamtam_left_behind") == Some(&0.0));
        drop(metrics);
        let found = figures(&seen, "office");
        assert_eq!(found["tamtam_handled_total"], 12.0);
        assert_eq!(found["tamtam_restarts_total"], 2.0);
        assert_eq!(found["tamtam_lost_total"], 4.0);
    });
}
