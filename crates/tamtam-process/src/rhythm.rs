//! How often a thread looks whether it is needed.

use std::time::Duration;

/// The shortest pause.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
/// The longest, in shortest ones.
const MOST_PAUSES: u32 = 8;
/// What is done so many times in a shortest pause is done often.
const BUSY_COUNT: u64 = 4;

/// A thread looks once a millisecond whether it is needed, and more seldom, at last every eighth, as long as much gets done without it. Each look takes a
/// processor from the threads that do it, for some microseconds: where two do nothing but ask and answer, a look of each process in each millisecond takes one
/// twentieth of their time.
#[derive(Clone, Copy)]
pub(crate) struct Rhythm {
    /// The pause, in shortest ones.
    pause: u32,
}

impl Rhythm {
    /// Looks often, until something is known.
    pub(crate) const fn new() -> Self {
        Rhythm { pause: 1 }
    }

    /// How long the thread may sleep until it looks again.
    pub(crate) fn pause(self) -> Duration {
        SHORTEST_PAUSE * self.pause
    }

    /// So much was done without the thread in the last pause.
    pub(crate) fn learn(&mut self, done: u64) {
        let is_much = done >= BUSY_COUNT * u64::from(self.pause);
        self.pause = if is_much {
            MOST_PAUSES.min(2 * self.pause)
        } else {
            1
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_more_seldom_as_long_as_much_gets_done_and_often_at_once_when_little_does() {
        let mut rhythm = Rhythm::new();
        let mut pauses = Vec::new();
        for done in [4, 3, 4, 8, 16, 32, u64::MAX, 31, 0] {
            pauses.push(rhythm.pause().as_millis());
            rhythm.learn(done);
        }
        assert_eq!(pauses, [1, 2, 1, 2, 4, 8, 8, 8, 1]);
        assert_eq!(rhythm.pause(), SHORTEST_PAUSE);
    }
}
