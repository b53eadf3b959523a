//! A pump: what is due, as far as is allowed.

use std::time::{Duration, Instant};

use super::Line;

/// A pump without a budget ends after so many rounds; each one after so many in a row that handled nothing.
const ROUNDS_OF_PUMP: usize = 16;
/// So many messages are handled in a turn of a pump at most; what came after its beginning is not among them.
const MOST_OF_PUMP: u32 = 65_536;

/// How much a pump handles.
pub(crate) struct Allowed {
    pub(crate) time: Option<Duration>,
    pub(crate) messages: Option<usize>,
}

impl Line {
    /// Does what is due as far as is allowed: how many messages were handled, and whether something is left.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, and no turn is under way.
    pub(crate) unsafe fn pump(&self, allowed: &Allowed) -> (usize, bool) {
        let _entered = self.enter();
        let before = self.own.handled.get();
        let until = match allowed.messages {
            Some(messages) => before.saturating_add(messages as u64),
            None => u64::MAX,
        };
        let has_budget = allowed.time.is_some() || allowed.messages.is_some();
        let mut paces = Paces::new(allowed.time);
        let mut idle_rounds = 0;
        let mut rounds = 0;
        'rounds: while idle_rounds < ROUNDS_OF_PUMP && (has_budget || rounds < ROUNDS_OF_PUMP) {
            let at_first = self.own.handled.get();
            // SAFETY: the caller is the keeper.
            let due = unsafe { self.take_in() };
            if due == 0 {
                break;
            }
            if has_budget {
                for _ in 0..due {
                    let left = until.saturating_sub(self.own.handled.get());
                    // Not more than the pace, which is 32 bits.
                    let allowance = left.min(u64::from(paces.allowance())) as u32;
                    if allowance == 0 {
                        break 'rounds;
                    }
                    self.own.allowance.set(allowance);
                    // SAFETY: the caller is the keeper.
                    if let Some(task) = unsafe { self.next() } {
                        task.run();
                    }
                    paces.look();
                }
            } else {
                self.own.allowance.set(MOST_OF_PUMP);
                // SAFETY: the caller is the keeper.
                unsafe { self.run_due(due) };
            }
            rounds += 1;
            idle_rounds = if self.own.handled.get() == at_first {
                idle_rounds + 1
            } else {
                0
            };
        }
        if let Some(hook) = &self.hook {
            // Before the keeper is idle: from then on a sender may tell.
            hook.make_ready();
        }
        // SAFETY: the caller is the keeper, and no turn is under way.
        let is_left = !unsafe { self.rest() };
        let handled = self.own.handled.get() - before;
        (usize::try_from(handled).unwrap_or(usize::MAX), is_left)
    }

    /// Runs so many tasks of what is due, where there are so many.
    ///
    /// # Safety
    ///
    /// The caller is the keeper, and no turn is under way.
    unsafe fn run_due(&self, count: usize) {
        for _ in 0..count {
            // SAFETY: the caller is the keeper.
            let Some(task) = (unsafe { self.next() }) else {
                return;
            };
            task.run();
        }
    }
}

/// How many messages a turn may handle before the clock is looked at: the fewer, the less time is left.
struct Paces {
    until: Option<Instant>,
    allowance: u32,
    looked: Option<Instant>,
}

impl Paces {
    fn new(time: Option<Duration>) -> Self {
        let began = time.map(|_| Instant::now());
        Paces {
            until: began
                .zip(time)
                .and_then(|(began, time)| began.checked_add(time)),
            allowance: match time {
                // One, however long this thread is kept from it.
                Some(time) => u32::from(!time.is_zero()),
                None => MOST_OF_PUMP,
            },
            looked: began,
        }
    }

    fn allowance(&self) -> u32 {
        self.allowance
    }

    /// A turn is over.
    fn look(&mut self) {
        let (Some(until), Some(before)) = (self.until, self.looked) else {
            return;
        };
        let now = Instant::now();
        self.looked = Some(now);
        let left = until.saturating_duration_since(now);
        self.allowance = if left == Duration::ZERO {
            0
        } else if (now - before) * 4 < left {
            (self.allowance * 2).min(MOST_OF_PUMP)
        } else {
            1
        };
    }
}
