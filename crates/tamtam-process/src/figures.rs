//! What workers have said of what they do, and which of them are still to say it.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::lock::lock;
use crate::report::Figures;

/// No answer is longer, in bytes.
const LONGEST_ANSWER: usize = 2 << 20;

/// The answers of workers, by the numbers of their processes.
#[derive(Default)]
pub(crate) struct Answers {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The last wish that workers were told of.
    told: u64,
    /// Those that have not answered it.
    awaited: HashSet<u32>,
    by_pid: HashMap<u32, Answer>,
}

#[derive(Default)]
struct Answer {
    /// Which wish is being answered, and how far.
    number: u64,
    partial: String,
    whole: Option<(Instant, String)>,
}

impl Answers {
    /// These workers were told of a wish.
    pub(crate) fn told(&self, number: u64, workers: impl Iterator<Item = u32>) {
        let mut state = lock(&self.state);
        state.told = number;
        state.awaited = workers.collect();
        drop(state);
        self.changed.notify_all();
    }

    /// A worker answers.
    pub(crate) fn take(&self, pid: u32, figures: Figures) {
        let mut state = lock(&self.state);
        let answer = state.by_pid.entry(pid).or_default();
        if answer.number != figures.number {
            answer.number = figures.number;
            answer.partial.clear();
        }
        if answer.partial.len() + figures.part.len() <= LONGEST_ANSWER {
            answer.partial.push_str(&figures.part);
        }
        if !figures.is_last {
            return;
        }
        let whole = std::mem::take(&mut answer.partial);
        answer.whole = Some((Instant::now(), whole));
        if figures.number == state.told {
            state.awaited.remove(&pid);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// A worker is gone.
    pub(crate) fn forget(&self, pid: u32) {
        let mut state = lock(&self.state);
        state.by_pid.remove(&pid);
        state.awaited.remove(&pid);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until all have answered, for a while.
    pub(crate) fn wait(&self, number: u64, patience: Duration) {
        let state = lock(&self.state);
        let is_missing = |state: &mut State| state.told < number || !state.awaited.is_empty();
        let waited = self.changed.wait_timeout_while(state, patience, is_missing);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// What a worker has said last, and how long ago.
    pub(crate) fn of(&self, pid: u32) -> Option<(Duration, String)> {
        let state = lock(&self.state);
        let (at, text) = state.by_pid.get(&pid)?.whole.as_ref()?;
        Some((at.elapsed(), text.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_when_it_is_whole_and_one_that_was_cut_short_is_forgotten() {
        let answers = Answers::default();
        let take = |number, part: &str, is_last| {
            let part = part.to_owned();
            let figures = Figures {
                number,
                part,
                is_last,
            };
            answers.take(7, figures);
        };
        answers.told(1, [7].into_iter());
        take(1, "one, ", false);
        assert_eq!(answers.of(7), None);
        // The rest of it was dropped.
        answers.told(2, [7, 8].into_iter());
        take(2, "two, ", false);
        take(2, "and three", true);
        assert_eq!(answers.of(7).unwrap().1, "two, and three");
        assert_eq!(lock(&answers.state).awaited, HashSet::from([8]));
        answers.forget(8);
        answers.wait(2, Duration::from_secs(60));
        answers.forget(7);
        assert_eq!(answers.of(7), None);
    }
}
