//! Which step may run beside which: cores are shared out, and what is named to be used alone is.

use std::collections::VecDeque;

/// How much of the machine a step uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// It compiles in folders of its own, or for a short while, and often waits or uses one core: another step may run beside it.
    Half,
    /// It compiles in the target folder, where cargo lets only one step at a time work, or keeps all cores busy.
    Whole,
    /// It measures, or is to find the machine as it was left: nothing may run beside it.
    Alone,
}

/// What is to run, in order.
#[derive(Debug)]
pub(crate) struct Schedule<T> {
    waiting: VecDeque<(T, Load)>,
    running: Vec<Load>,
    /// How many may run at a time.
    lanes: usize,
}

impl<T> Schedule<T> {
    pub(crate) fn new(steps: impl IntoIterator<Item = (T, Load)>, lanes: usize) -> Self {
        Schedule {
            waiting: steps.into_iter().collect(),
            running: Vec::new(),
            lanes: lanes.max(1),
        }
    }

    /// The next step, if one may begin now: the first in order that is ready and fits beside what runs.
    ///
    /// What runs is at most one [`Load::Whole`] and one [`Load::Half`], or as many halves as there are lanes: while the one
    /// compiles, the other waits or tests.
    pub(crate) fn begin(&mut self, is_ready: impl Fn(&T, Load) -> bool) -> Option<T> {
        if self.running.len() >= self.lanes {
            return None;
        }
        let fits = |load: Load| match load {
            Load::Half => !self.running.contains(&Load::Alone),
            Load::Whole => self.running.iter().all(|running| *running == Load::Half),
            Load::Alone => self.running.is_empty(),
        };
        let may_begin = |(step, load): &(T, Load)| fits(*load) && is_ready(step, *load);
        let at = self.waiting.iter().position(may_begin)?;
        let (step, load) = self.waiting.remove(at)?;
        self.running.push(load);
        Some(step)
    }

    /// A step of this load has ended.
    pub(crate) fn end(&mut self, load: Load) {
        let at = self.running.iter().position(|running| *running == load);
        self.running.remove(at.expect("it ran"));
    }

    /// Begins nothing more.
    pub(crate) fn stop(&mut self) {
        self.waiting.clear();
    }

    pub(crate) fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Load::{Alone, Half, Whole};

    /// Begins all that may begin now.
    fn begun(schedule: &mut Schedule<u8>) -> Vec<u8> {
        std::iter::from_fn(|| schedule.begin(|_, _| true)).collect()
    }

    #[test]
    fn one_lane_keeps_the_order() {
        let mut schedule = Schedule::new([(1, Half), (2, Whole), (3, Half)], 1);
        for (step, load) in [(1, Half), (2, Whole), (3, Half)] {
            assert_eq!(begun(&mut schedule), [step]);
            schedule.end(load);
        }
        assert!(schedule.is_done());
    }

    #[test]
    fn what_waits_runs_beside_what_computes() {
        let mut schedule = Schedule::new([(1, Whole), (2, Whole), (3, Half), (4, Half)], 2);
        assert_eq!(begun(&mut schedule), [1, 3]);
        schedule.end(Half);
        assert_eq!(begun(&mut schedule), [4]);
        schedule.end(Whole);
        assert_eq!(begun(&mut schedule), [2]);
        schedule.end(Half);
        assert!(begun(&mut schedule).is_empty());
        assert!(!schedule.is_done());
        schedule.end(Whole);
        assert!(schedule.is_done());
    }

    #[test]
    fn nothing_runs_beside_what_is_to_be_alone() {
        let mut schedule = Schedule::new([(1, Half), (2, Alone), (3, Half), (4, Whole)], 2);
        assert_eq!(begun(&mut schedule), [1, 3]);
        schedule.end(Half);
        assert_eq!(begun(&mut schedule), [4]);
        schedule.end(Half);
        schedule.end(Whole);
        assert_eq!(begun(&mut schedule), [2]);
        schedule.end(Alone);
        assert!(schedule.is_done());
    }

    #[test]
    fn what_is_not_ready_lets_others_go_first() {
        let mut schedule = Schedule::new([(1, Whole), (2, Whole), (3, Half)], 2);
        assert_eq!(schedule.begin(|step, _| *step != 1), Some(2));
        assert_eq!(schedule.begin(|step, _| *step == 1), None);
        assert_eq!(begun(&mut schedule), [3]);
        schedule.end(Whole);
        assert_eq!(begun(&mut schedule), [1]);
    }

    #[test]
    fn a_stopped_schedule_begins_nothing_more() {
        let mut schedule = Schedule::new([(1, Whole), (2, Whole)], 2);
        assert_eq!(begun(&mut schedule), [1]);
        schedule.stop();
        assert!(!schedule.is_done());
        schedule.end(Whole);
        assert!(begun(&mut schedule).is_empty());
        assert!(schedule.is_done());
    }
}
