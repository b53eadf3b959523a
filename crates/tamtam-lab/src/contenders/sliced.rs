//! A value in a slot, looked at only between slices of other work.

use std::hint::black_box;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tamtam_channel::Slot;

use super::VERSION;
use crate::{Card, Contender, End, Handover, Measure, turns};

/// How long a slice of other work is.
const SLICE: Duration = Duration::from_micros(10);

/// Article A's other reader: it looks at the shared value only between slices of other work.
///
/// A message waits for the rest of the slice, on each side; on one core for the rest of the other's time slice, since
/// neither side ever yields.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sliced;

impl Contender for Sliced {
    fn card(&self) -> Card {
        Card {
            name: "sliced",
            version: VERSION,
            ours: true,
            about: "a slot each way that is looked at only between slices of about 10 µs of other work",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        turns::measures(*self)
    }
}

impl<M: Send + 'static> Handover<M> for Sliced {
    type End = SlicedEnd<M>;

    fn connect(&self) -> (SlicedEnd<M>, SlicedEnd<M>) {
        let steps = steps_of_a_slice();
        let [there, back] = [(), ()].map(|()| Arc::new(Slot::new()));
        (
            SlicedEnd {
                outgoing: Arc::clone(&there),
                incoming: Arc::clone(&back),
                steps,
            },
            SlicedEnd {
                outgoing: back,
                incoming: there,
                steps,
            },
        )
    }
}

/// One worker's two values and its other work.
#[derive(Debug)]
pub(super) struct SlicedEnd<M> {
    outgoing: Arc<Slot<M>>,
    incoming: Arc<Slot<M>>,
    steps: u64,
}

impl<M: Send + 'static> End<M> for SlicedEnd<M> {
    fn send(&mut self, message: M) {
        self.outgoing.put(message);
    }

    fn receive(&mut self) -> M {
        loop {
            if let Some(message) = self.incoming.try_take() {
                return message;
            }
            work(self.steps);
        }
    }
}

/// The other work: arithmetic, of which each step needs the one before.
fn work(steps: u64) {
    let mut value = black_box(0x2545_f491_4f6c_dd1d_u64);
    for _ in 0..steps {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
    }
    black_box(value);
}

/// How many steps take about as long as a slice on this machine; measured once.
fn steps_of_a_slice() -> u64 {
    static STEPS: OnceLock<u64> = OnceLock::new();
    const TRIAL: u64 = 20_000;
    *STEPS.get_or_init(|| {
        // The shortest of some trials is the one that nothing interrupted.
        let shortest = (0..20)
            .map(|_| {
                let start = Instant::now();
                work(TRIAL);
                start.elapsed()
            })
            .min()
            .unwrap_or(SLICE);
        let steps = TRIAL as f64 * SLICE.as_secs_f64() / shortest.as_secs_f64().max(1e-9);
        (steps as u64).max(1)
    })
}
