use std::time::Duration;

use futures::StreamExt;
use tamtam_lab::grid::{Clockwork, Timers};
use tamtam_lab::{Card, Contender, Measure, grid};
use tokio::runtime::{Builder, Runtime};
use tokio_util::time::DelayQueue;
use tokio_util::time::delay_queue::Key;

/// The `DelayQueue` of the crate `tokio-util`, on a current-thread runtime.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delays;

impl Contender for Delays {
    fn card(&self) -> Card {
        Card {
            name: "tokio-util",
            version: env!("VERSION_OF_TOKIO_UTIL"),
            ours: false,
            about: "tokio-util's DelayQueue, in the thread that measures",
        }
    }

    fn measures(&self) -> Vec<Measure> {
        grid::timers(*self)
    }
}

impl Timers for Delays {
    type Clockwork = Queue;

    fn open(&self) -> Queue {
        let runtime = Builder::new_current_thread().enable_time().build();
        Queue {
            runtime: runtime.expect("a runtime with timers needs nothing of the system"),
            delays: DelayQueue::new(),
            keys: Vec::new(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Queue {
    runtime: Runtime,
    delays: DelayQueue<u64>,
    keys: Vec<Key>,
}

impl Clockwork for Queue {
    fn set(&mut self, count: u64, delay: impl Fn(u64) -> Duration) {
        let Queue {
            runtime,
            delays,
            keys,
        } = self;
        // Its timers are those of the runtime.
        let _inside = runtime.enter();
        keys.extend((0..count).map(|number| delays.insert(number, delay(number))));
    }

    fn cancel(&mut self) -> u64 {
        let Queue { delays, keys, .. } = self;
        let cancelled = keys
            .drain(..)
            .filter(|key| delays.try_remove(key).is_some());
        cancelled.count() as u64
    }

    fn fired(&mut self) -> Vec<u64> {
        let Queue {
            runtime,
            delays,
            keys,
        } = self;
        let count = keys.len();
        keys.clear();
        runtime.block_on(async {
            let mut fired = Vec::with_capacity(count);
            // It is at its end when all have fired.
            while let Some(expired) = delays.next().await {
                fired.push(expired.into_inner());
            }
            fired
        })
    }
}
