//! The deadlines of a clock: which one comes first, and where each one is.

use core::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use crate::Context;

/// Deadlines: a heap, the earliest on top, and a place for what each of them ends. One that is taken back leaves its place, and goes out
/// of the heap later: when it comes to the top, or when half of the heap is such.
#[derive(Debug)]
pub(super) struct Deadlines {
    heap: BinaryHeap<Reverse<Deadline>>,
    /// With the number of the deadline that has the place.
    places: Vec<Option<(u64, Context)>>,
    free: Vec<u32>,
}

/// In the order in which they come; those of one moment in that of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline {
    due: Instant,
    number: u64,
    place: u32,
}

impl Deadlines {
    pub(super) const fn new() -> Self {
        Deadlines {
            heap: BinaryHeap::new(),
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    fn length(&self) -> usize {
        self.places.len() - self.free.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length() == 0
    }

    /// Adds a deadline, whose number no other one has; its place.
    pub(super) fn insert(&mut self, due: Instant, number: u64, context: Context) -> u32 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            u32::try_from(self.places.len() - 1).expect("no memory has room for so many")
        });
        self.places[place as usize] = Some((number, context));
        self.heap.push(Reverse(Deadline { due, number, place }));
        place
    }

    pub(super) fn has(&self, place: u32, number: u64) -> bool {
        matches!(self.places.get(place as usize), Some(Some((other, _))) if *other == number)
    }

    /// Takes a deadline back; `None` if it has come.
    pub(super) fn take(&mut self, place: u32, number: u64) -> Option<Context> {
        if !self.has(place, number) {
            return None;
        }
        let (_, context) = self.places[place as usize].take()?;
        if self.length() == 1 {
            // The memory of a rush is given back.
            *self = Self::new();
            return Some(context);
        }
        self.free.push(place);
        if self.heap.len() > 2 * self.length() {
            let mut heap = core::mem::take(&mut self.heap);
            heap.retain(|Reverse(deadline)| self.has(deadline.place, deadline.number));
            heap.shrink_to(2 * self.length());
            self.heap = heap;
        }
        Some(context)
    }

    /// When the first of them is due.
    pub(super) fn first(&mut self) -> Option<Instant> {
        while let Some(Reverse(first)) = self.heap.peek() {
            if self.has(first.place, first.number) {
                return Some(first.due);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes out the first of them, if it is due by then.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Context> {
        if self.first()? > now {
            return None;
        }
        let Reverse(first) = self.heap.pop()?;
        self.take(first.place, first.number)
    }
}

#[cfg(test)]
mod tests {
    use core::task::Waker;
    use std::time::Duration;

    use super::*;

    fn context() -> Context {
        Context::for_task(Waker::noop())
    }

    #[test]
    fn they_come_in_order_and_those_taken_back_do_not() {
        let now = Instant::now();
        let mut deadlines = Deadlines::new();
        let contexts: Vec<Context> = (0..6).map(|_| context()).collect();
        let mut insert = |millis: u64, number: usize| {
            let due = now + Duration::from_millis(millis);
            deadlines.insert(due, number as u64, contexts[number].clone())
        };
        let places = [(30, 0), (10, 1), (20, 2), (10, 3), (40, 4)]
            .map(|(millis, number)| insert(millis, number));
        assert_eq!(deadlines.first(), Some(now + Duration::from_millis(10)));
        assert!(deadlines.take(places[1], 1).is_some());
        // It is gone, and no other one has its place yet.
        assert!(deadlines.take(places[1], 1).is_none());
        let again = deadlines.insert(now, 5, contexts[5].clone());
        assert_eq!(again, places[1]);
        assert!(!deadlines.has(again, 1) && deadlines.has(again, 5));
        assert!(deadlines.take(again, 5).is_some());
        assert!(deadlines.take_due(now + Duration::from_millis(9)).is_none());
        let mut come = |millis: u64| {
            let context = deadlines.take_due(now + Duration::from_millis(millis))?;
            context.expire();
            contexts.iter().position(|other| {
                other.outcome().is_some() && {
                    other.reset();
                    true
                }
            })
        };
        assert_eq!(
            [come(50), come(50), come(25), come(50), come(50)],
            [Some(3), Some(2), None, Some(0), Some(4)]
        );
        assert!(deadlines.is_empty());
    }

    #[test]
    fn many_that_are_taken_back_keep_no_memory() {
        let now = Instant::now();
        let mut deadlines = Deadlines::new();
        let context = context();
        let first = deadlines.insert(now + Duration::from_secs(1), 0, context.clone());
        let count = if cfg!(miri) { 50 } else { 20_000 };
        for number in 1..count {
            let due = now + Duration::from_nanos(number % 97);
            let place = deadlines.insert(due, number, context.clone());
            assert!(deadlines.take(place, number).is_some());
        }
        assert!(deadlines.heap.len() <= 3 && deadlines.places.len() == 2);
        let all: Vec<_> = (count..2 * count)
            .map(|number| (deadlines.insert(now, number, context.clone()), number))
            .collect();
        for (place, number) in all {
            assert!(deadlines.take(place, number).is_some());
        }
        assert!(deadlines.heap.len() <= 2);
        assert!(deadlines.take(first, 0).is_some());
        assert!(deadlines.is_empty() && deadlines.places.capacity() == 0);
    }
}
