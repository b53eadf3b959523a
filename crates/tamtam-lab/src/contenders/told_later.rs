//! Our timers: messages that an actor is told later.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tamtam_actor::{Actor, Address, Context, Pool, Timer};
use tamtam_channel::Latch;

use crate::grid::Clockwork;

/// An actor that keeps what it was told.
struct TimerListener {
    fired: Arc<Mutex<Vec<u64>>>,
    latch: Arc<Mutex<Arc<Latch>>>,
}

impl Actor for TimerListener {
    type Message = u64;

    fn handle(&mut self, number: u64, _: &mut Context<Self>) {
        let fired = self.fired.lock();
        fired.unwrap_or_else(PoisonError::into_inner).push(number);
        let latch = self.latch.lock();
        latch.unwrap_or_else(PoisonError::into_inner).count_down();
    }
}

/// Timers of an actor on a pool of one thread, set and cancelled by the thread that measures.
#[derive(Debug)]
pub(super) struct ToldLater {
    address: Address<u64>,
    fired: Arc<Mutex<Vec<u64>>>,
    latch: Arc<Mutex<Arc<Latch>>>,
    timers: Vec<Timer>,
    _pool: Pool,
}

impl ToldLater {
    pub(super) fn new() -> Self {
        let pool = Pool::with_threads(1);
        let fired = Arc::new(Mutex::new(Vec::new()));
        let latch = Arc::new(Mutex::new(Arc::new(Latch::new(0))));
        let address = pool.spawn(TimerListener {
            fired: Arc::clone(&fired),
            latch: Arc::clone(&latch),
        });
        ToldLater {
            address,
            fired,
            latch,
            timers: Vec::new(),
            _pool: pool,
        }
    }

    fn latch(&self) -> Arc<Latch> {
        Arc::clone(&self.latch.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clockwork for ToldLater {
    fn set(&mut self, count: u64, delay: impl Fn(u64) -> Duration) {
        *self.latch.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(Latch::new(count));
        let address = &self.address;
        self.timers
            .extend((0..count).map(|number| address.tell_after(delay(number), number)));
    }

    fn cancel(&mut self) -> u64 {
        let cancelled = self.timers.drain(..).filter(Timer::cancel);
        cancelled.count() as u64
    }

    fn fired(&mut self) -> Vec<u64> {
        // The experiment sees which are missing; longer than any of its delays.
        let _ = self.latch().wait_timeout(Duration::from_secs(15));
        self.timers.clear();
        std::mem::take(&mut *self.fired.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
