//! Random programs as in `program`, for a property: values are set in every way while tasks that wait for a change are
//! polled, woken and dropped. Whoever waits waits for something that has not happened; each value is dropped once, and
//! only when nobody has it any more.

use std::cell::Cell;
use std::rc::Rc;
use std::task::Poll;

use tamtam_channel::{ChangedFuture, Property};

use crate::asynchronous::hand::Hand;
use crate::support::{Random, within_limit};

/// A value that knows the version it is to have, and says when it goes.
struct Value {
    version: u64,
    alive: Rc<Cell<usize>>,
}

impl Value {
    fn new(version: u64, alive: &Rc<Cell<usize>>) -> Self {
        alive.set(alive.get() + 1);
        Value {
            version,
            alive: Rc::clone(alive),
        }
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.alive.set(self.alive.get() - 1);
    }
}

struct Waiting<'a> {
    hand: Hand,
    polled: bool,
    heard: usize,
    since: u64,
    future: ChangedFuture<'a, Value>,
}

impl Waiting<'_> {
    fn was_woken(&self) -> bool {
        !self.polled || self.hand.wakes() > self.heard
    }

    /// Polls once; whether it has ended.
    fn poll(&mut self, current: u64) -> bool {
        self.polled = true;
        self.heard = self.hand.wakes();
        match self.hand.poll(&mut self.future) {
            Poll::Ready(version) => {
                assert_eq!(version, current);
                assert_ne!(version, self.since, "nothing has changed");
                true
            }
            Poll::Pending => {
                assert_eq!(self.since, current, "it has changed");
                false
            }
        }
    }
}

fn run(seed: u64, steps: usize) {
    let mut random = Random::new(seed);
    let alive = Rc::new(Cell::new(0));
    let property = Property::new(Value::new(0, &alive));
    let first = property.version();
    // So many have been set.
    let mut count = 0;
    let mut waiting: Vec<Waiting<'_>> = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..steps {
        let current = property.version();
        match random.below(16) {
            0..5 => {
                let since = match random.below(4) {
                    0 if count > 0 => current - 1,
                    _ => current,
                };
                waiting.push(Waiting {
                    hand: Hand::new(),
                    polled: false,
                    heard: 0,
                    since,
                    future: property.wait_changed_async(since),
                });
            }
            5..9 => {
                if !waiting.is_empty() {
                    let index = random.below(waiting.len() as u64) as usize;
                    if waiting[index].poll(current) {
                        waiting.swap_remove(index);
                    }
                }
            }
            // Dropped at whatever poll it has come to, woken or not.
            9 => {
                if !waiting.is_empty() {
                    let index = random.below(waiting.len() as u64) as usize;
                    drop(waiting.swap_remove(index));
                }
            }
            10 => {
                let mut next = count + 1;
                match random.below(5) {
                    0 => property.set(Value::new(next, &alive)),
                    1 => {
                        let before = property.replace(Value::new(next, &alive));
                        assert_eq!(before.version, count);
                    }
                    2 => {
                        property.update(|value| Value::new(value.version + 1, &alive));
                    }
                    3 => {
                        let set = property.compare_and_set(current, Value::new(next, &alive));
                        assert!(set.is_ok());
                    }
                    _ => {
                        let stale = current.wrapping_sub(1);
                        let set = property.compare_and_set(stale, Value::new(next, &alive));
                        assert!(set.is_err());
                        next = count;
                    }
                }
                count = next;
            }
            11 => {
                let (version, snapshot) = property.versioned();
                assert_eq!(version - first, snapshot.version);
                kept.push(snapshot);
            }
            12 => {
                property.read(|value| assert_eq!(value.version, count));
                kept.truncate(random.below(3) as usize);
            }
            _ => {
                while let Some(index) = waiting.iter().position(Waiting::was_woken) {
                    if waiting[index].poll(current) {
                        waiting.swap_remove(index);
                    }
                }
                for waits in &waiting {
                    assert_eq!(waits.since, current, "it was forgotten");
                }
            }
        }
        assert_eq!(property.version() - first, count);
    }
    drop(waiting);
    let last = property.into_inner();
    assert_eq!(last.version, count);
    drop((kept, last));
    assert_eq!(alive.get(), 0, "a value was leaked");
}

#[test]
fn a_property_tells_all_who_wait_and_keeps_no_value() {
    within_limit(move || {
        let (seeds, steps) = if cfg!(miri) { (6, 120) } else { (400, 300) };
        let first = std::env::var("TAMTAM_SEED").map_or(0, |seed| seed.parse().unwrap());
        for seed in first..first + seeds {
            let program = std::panic::AssertUnwindSafe(|| run(seed, steps));
            if let Err(panic) = std::panic::catch_unwind(program) {
                eprintln!("property with TAMTAM_SEED={seed}");
                std::panic::resume_unwind(panic);
            }
        }
    });
}
