//! How often a client of HTTP/2 may take back what it has asked for.

use std::time::Duration;

use tokio::time::Instant;

/// So many requests may be taken back at once: more than there may be at a time in one connection, twice.
const MOST_AT_ONCE: u32 = 200;

/// After so long another one may be taken back: a page that gives up a search at each key that is typed goes on for ever.
const REFILL: Duration = Duration::from_millis(100);

/// What is left to the client of one connection of requests that it takes back before it has their answers.
///
/// A reset costs a client a frame of 13 bytes and makes room for the next request at once, so that the bound of requests at a time bounds nothing
/// (CVE-2023-44487, *rapid reset*). Other servers end a connection for what share of its requests is taken back; a rate lets clients that take back most
/// of them go on, as long as they are people.
#[derive(Debug)]
pub(crate) struct ResetBudget {
    left: u32,
    /// When the last part of it came back.
    refilled: Instant,
}

impl ResetBudget {
    pub(crate) fn new(now: Instant) -> ResetBudget {
        ResetBudget {
            left: MOST_AT_ONCE,
            refilled: now,
        }
    }

    /// One more request is taken back: whether that is still within the budget.
    pub(crate) fn spend(&mut self, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.refilled);
        let refills = (since.as_nanos() / REFILL.as_nanos()).min(MOST_AT_ONCE.into()) as u32;
        if refills > 0 {
            self.left = MOST_AT_ONCE.min(self.left + refills);
            self.refilled = if self.left == MOST_AT_ONCE {
                now
            } else {
                self.refilled + REFILL * refills
            };
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_spent_at_once_and_comes_back_with_time() {
        let begin = Instant::now();
        let mut budget = ResetBudget::new(begin);
        for _ in 0..MOST_AT_ONCE {
            assert!(budget.spend(begin));
        }
        assert!(!budget.spend(begin));
        assert!(!budget.spend(begin + REFILL * 9 / 10));
        assert!(budget.spend(begin + REFILL));
        assert!(!budget.spend(begin + REFILL * 19 / 10));
        // What is left of an interval counts for the next one.
        assert!(budget.spend(begin + REFILL * 2));
        assert!(!budget.spend(begin + REFILL * 2));
        let late = begin + Duration::from_secs(1 << 30);
        for _ in 0..MOST_AT_ONCE {
            assert!(budget.spend(late));
        }
        assert!(!budget.spend(late));
    }

    #[test]
    fn ten_in_a_second_go_on_for_ever() {
        let begin = Instant::now();
        let mut budget = ResetBudget::new(begin);
        assert!((1..100_000).all(|number| budget.spend(begin + REFILL * number)));
    }
}
