//! The body against ways that are sound, and ways that commit one fault.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::{Look, Pictures, ROW, Sharpener, Slider, Window, measures, run};
use crate::{Conditions, Failure, Placement, Variant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sound,
    /// The second half of a frame was made of another move.
    Torn,
    /// A byte is another one.
    Damaged,
    /// A frame is shown twice.
    Repeated,
    /// A frame is of a move that is still to be made.
    Foreseen,
    /// Rows are missing.
    Short,
    /// The slider breaks.
    Broken,
}

#[derive(Debug, Default)]
struct Latest {
    number: Mutex<u64>,
    changed: Condvar,
    sets: AtomicU64,
}

struct Moved(Kind, Arc<Latest>);

struct Shown {
    kind: Kind,
    latest: Arc<Latest>,
    sharpener: Sharpener,
    last: u64,
}

impl Pictures for Kind {
    type Slider = Moved;
    type Window = Shown;

    fn open(&self) -> Result<(Moved, Shown), Failure> {
        let latest = Arc::new(Latest::default());
        let shown = Shown {
            kind: *self,
            latest: Arc::clone(&latest),
            sharpener: Sharpener::new(),
            last: 0,
        };
        Ok((Moved(*self, latest), shown))
    }
}

impl Slider for Moved {
    fn set(&mut self, number: u64) -> Result<(), Failure> {
        let Moved(kind, latest) = self;
        if *kind == Kind::Broken && latest.sets.fetch_add(1, Ordering::Relaxed) == 1 {
            // The window sees the last move all the same, so that it does not wait for it.
            *latest.number.lock().unwrap() = 20;
            latest.changed.notify_all();
            return Err(Failure::Unverified("broken".to_owned()));
        }
        *latest.number.lock().unwrap() = number;
        latest.changed.notify_all();
        Ok(())
    }
}

impl Window for Shown {
    fn show(&mut self, look: &mut Look) -> Result<(), Failure> {
        let is_first = self.last == 0;
        let number = self.latest.number.lock().unwrap();
        let number = self
            .latest
            .changed
            .wait_while(number, |number| *number == self.last)
            .unwrap();
        let mut number = *number;
        // The first one warms up.
        let kind = if is_first { Kind::Sound } else { self.kind };
        match kind {
            Kind::Repeated => number = self.last,
            Kind::Foreseen => number += 1_000_000,
            _ => self.last = number,
        }
        let made = self.sharpener.make(number, |place, row| {
            match kind {
                Kind::Torn if place == 500 => look.row(&[0; ROW]),
                Kind::Damaged if place == 500 => {
                    let mut row = row.to_vec();
                    row[1234] ^= 4;
                    look.row(&row);
                }
                Kind::Short if place == 500 => {}
                _ => look.row(row),
            }
            Ok::<_, Infallible>(())
        });
        made.unwrap();
        Ok(())
    }
}

fn conditions() -> Conditions {
    Conditions {
        variant: Variant::new(1000, Placement::Free),
        limit: Duration::from_millis(20),
    }
}

#[test]
fn frames_that_are_whole_are_measured() {
    let measurement = run(Kind::Sound, &conditions()).unwrap();
    assert!(measurement.operations >= 1);
    let value = |metric| measurement.value(metric).unwrap();
    assert_eq!(measurement.metrics[0].metric, "staleness_us");
    assert!(value("staleness_us") <= value("staleness_max_us"));
    assert!(value("frames_per_s") > 0.0);
}

#[test]
fn faults_are_noticed() {
    for kind in [
        Kind::Torn,
        Kind::Damaged,
        Kind::Repeated,
        Kind::Foreseen,
        Kind::Short,
        Kind::Broken,
    ] {
        let outcome = run(kind, &conditions());
        assert!(
            matches!(outcome, Err(Failure::Unverified(_))),
            "{kind:?}: {outcome:?}"
        );
    }
}

#[test]
fn the_listed_variants_are_those_of_the_contract() {
    let names: Vec<_> = measures(Kind::Sound)
        .iter()
        .map(|measure| measure.variant().to_string())
        .collect();
    assert_eq!(names, ["1000/free", "1000/2cores"]);
}
