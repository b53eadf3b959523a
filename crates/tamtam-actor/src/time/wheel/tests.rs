//! The wheel against a list that is sorted anew each time.

use std::time::Instant;

use super::*;

/// xorshift64*, seeded.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 11) % end
    }

    /// Lengths of all magnitudes alike.
    fn length(&mut self, bits: u64) -> u64 {
        self.next() >> (64 - self.below(bits).max(1))
    }
}

/// What a wheel is to do, in the plainest way.
#[derive(Default)]
struct Plain {
    now: u64,
    next: u64,
    /// The tick, when it was set, what it is, and its key.
    waiting: Vec<(u64, u64, u64, Key)>,
}

impl Plain {
    fn set(&mut self, due: u64, what: u64, key: Key) {
        self.waiting.push((due.max(self.now), self.next, what, key));
        self.next += 1;
    }

    fn pop(&mut self, until: u64) -> Option<(u64, Key)> {
        self.waiting.sort_by_key(|(due, set, ..)| (*due, *set));
        match self.waiting.first() {
            Some(&(due, _, what, key)) if due <= until => {
                self.waiting.remove(0);
                self.now = self.now.max(due);
                Some((what, key))
            }
            _ => {
                self.now = self.now.max(until);
                None
            }
        }
    }
}

/// Adds an entry with something in it.
fn insert<T>(wheel: &mut Wheel<Option<T>>, due: u64, what: T, owner: Option<Key>) -> Key {
    wheel.insert(due, owner, |entry| *entry = Some(what))
}

/// What was in an entry; `None` if there is none any more.
fn remove<T>(wheel: &mut Wheel<Option<T>>, key: Key) -> Option<Option<T>> {
    let mut removed = None;
    let is_found = wheel.remove(key, |entry| removed = entry.take());
    is_found.then_some(removed)
}

/// What was in the next entry of an owner; `None` if there is none any more.
fn remove_owned<T>(wheel: &mut Wheel<Option<T>>, owner: Key) -> Option<Option<T>> {
    let mut removed = None;
    let is_found = wheel.remove_owned(owner, |entry| removed = entry.take());
    is_found.then_some(removed)
}

/// What is due next, if it is by then; it is taken out.
fn pop<T>(wheel: &mut Wheel<Option<T>>, until: u64) -> Option<T> {
    let mut popped = None;
    let is_due = wheel.pop(until, |_, entry| {
        popped = entry.take();
        false
    });
    assert_eq!(is_due, popped.is_some());
    popped
}

/// The key of what is due next, if it is by then; it stays in its entry.
fn knock<T>(wheel: &mut Wheel<Option<T>>, until: u64) -> Option<Key> {
    let mut due = None;
    let is_due = wheel.pop(until, |key, _| {
        due = Some(key);
        true
    });
    assert_eq!(is_due, due.is_some());
    due
}

/// Begins what has been due.
fn begin<T>(wheel: &mut Wheel<Option<T>>, key: Key, stays: bool) -> Option<T> {
    wheel.begin(key, |entry| entry.take().map(|what| (what, stays)))
}

/// Sets, cancels and expires at random, and compares each answer.
fn compare(seed: u64, bits: u64, steps: usize) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut wheel, mut plain) = (Wheel::new(false), Plain::default());
    let mut gone = Vec::new();
    for step in 0..steps as u64 {
        match random.below(10) {
            0..=4 => {
                let due = plain.now.saturating_add(random.length(bits));
                // Now and then one of the past.
                let due = due.saturating_sub(random.below(3));
                let key = insert(&mut wheel, due, step, None);
                plain.set(due, step, key);
            }
            5..=6 if !plain.waiting.is_empty() => {
                let place = random.below(plain.waiting.len() as u64) as usize;
                let (_, _, what, key) = plain.waiting.swap_remove(place);
                assert_eq!(remove(&mut wheel, key), Some(Some(what)));
                gone.push(key);
            }
            7 => {
                if let Some(key) = gone.pop() {
                    assert_eq!(remove(&mut wheel, key), None);
                }
            }
            _ => {
                let until = plain.now.saturating_add(random.length(bits));
                if let Some(next) = wheel.next() {
                    let first = plain.waiting.iter().map(|(due, ..)| *due).min();
                    assert!(Some(next) <= first, "it would wake too late");
                    assert!(next >= plain.now);
                    assert_eq!(wheel.first_due(), first);
                }
                loop {
                    let expected = plain.pop(until);
                    assert_eq!(pop(&mut wheel, until), expected.map(|(what, _)| what));
                    match expected {
                        Some((_, key)) => gone.push(key),
                        None => break,
                    }
                }
            }
        }
        assert_eq!(wheel.len(), plain.waiting.len());
    }
    while let Some((what, _)) = plain.pop(u64::MAX) {
        assert_eq!(pop(&mut wheel, u64::MAX), Some(what));
    }
    assert_eq!(pop(&mut wheel, u64::MAX), None);
    assert_eq!(wheel.next(), None);
}

#[test]
fn it_does_what_a_sorted_list_does() {
    for seed in 0..if cfg!(miri) { 1 } else { 60 } {
        // From all within a few ticks up to all that there are.
        for bits in [4, 7, 13, 26, 64] {
            compare(seed * 5 + bits, bits, if cfg!(miri) { 30 } else { 400 });
        }
    }
}

#[test]
fn what_stays_is_set_again_and_again() {
    let mut wheel = Wheel::new(false);
    let key = insert(&mut wheel, 5, 'a', None);
    for round in 1..100 {
        assert_eq!(knock(&mut wheel, round * 5 - 1), None);
        assert_eq!(knock(&mut wheel, round * 5), Some(key));
        assert_eq!((knock(&mut wheel, round * 5), wheel.len()), (None, 0));
        assert_eq!(wheel.get(key), Some(&Some('a')));
        assert_eq!(begin(&mut wheel, key, true), Some('a'));
        assert_eq!(begin(&mut wheel, key, true), None, "it has begun");
        assert_eq!(wheel.get(key), Some(&None));
        assert!(wheel.set_again(key, (round + 1) * 5, |entry| *entry = Some('a')));
        let again = wheel.set_again(key, 1, |_| unreachable!("it is set already"));
        assert!(!again);
        assert_eq!(begin(&mut wheel, key, true), None, "it is not due");
    }
    assert_eq!(remove(&mut wheel, key), Some(Some('a')));
    assert_eq!(remove(&mut wheel, key), None);
    assert!(!wheel.set_again(key, 1_000, |_| unreachable!("it was removed")));
    assert_eq!(wheel.next(), None);
}

#[test]
fn what_has_been_due_is_begun_once_or_removed() {
    let mut wheel = Wheel::new(false);
    for removed in [false, true] {
        let owner = wheel.insert_owner();
        let key = insert(&mut wheel, 5, 'a', Some(owner));
        assert_eq!(knock(&mut wheel, 5), Some(key));
        if removed {
            assert_eq!(remove(&mut wheel, key), Some(Some('a')));
        } else {
            assert_eq!(begin(&mut wheel, key, false), Some('a'));
        }
        assert_eq!(begin(&mut wheel, key, false), None);
        assert_eq!(wheel.get(key), None);
        assert_eq!(remove(&mut wheel, key), None);
        assert_eq!(remove_owned(&mut wheel, owner), None);
    }
    // One that happens while it is removed is not set again.
    let owner = wheel.insert_owner();
    let keys = [9, 9].map(|due| insert(&mut wheel, due, 'a', Some(owner)));
    for key in keys {
        assert_eq!(knock(&mut wheel, 9), Some(key));
        assert_eq!(begin(&mut wheel, key, true), Some('a'));
    }
    assert_eq!(remove(&mut wheel, keys[0]), Some(None));
    assert_eq!(remove_owned(&mut wheel, owner), Some(None));
    assert_eq!(remove_owned(&mut wheel, owner), None);
    for key in keys {
        assert!(!wheel.set_again(key, 10, |_| unreachable!("it was removed")));
    }
}

#[test]
fn all_of_an_owner_go_together() {
    // Miri takes long. By the first hundred some are due.
    let numbers = if cfg!(miri) { 200 } else { 1_000 };
    let mut wheel = Wheel::new(false);
    let (one, other) = (wheel.insert_owner(), wheel.insert_owner());
    for number in 0..numbers {
        let owner = if number % 2 == 0 { one } else { other };
        let key = insert(&mut wheel, number * number, number, Some(owner));
        if number % 5 == 0 {
            assert_eq!(remove(&mut wheel, key), Some(Some(number)));
        }
    }
    // Some have been due; those that stay are still the owner's.
    let mut due = 0;
    while wheel.pop(10_000, |_, entry| {
        let stays = entry.is_some_and(|number| number % 10 == 4);
        if !stays {
            *entry = None;
        }
        stays
    }) {
        due += 1;
    }
    assert_eq!(due, 80);
    let mut of_one = Vec::new();
    while let Some(number) = remove_owned(&mut wheel, one) {
        of_one.extend(number);
    }
    of_one.sort_unstable();
    let expected: Vec<_> = (0..numbers)
        .step_by(2)
        .filter(|number| number % 5 != 0 && (*number > 100 || number % 10 == 4))
        .collect();
    assert_eq!(of_one, expected);
    // The owner itself is gone; the other one's are not.
    assert_eq!(remove_owned(&mut wheel, one), None);
    let mut left = 0;
    while let Some(number) = pop(&mut wheel, u64::MAX) {
        assert_eq!(number % 2, 1);
        left += 1;
    }
    assert_eq!(left, (numbers - 100) / 2 / 5 * 4);
    assert_eq!(remove_owned(&mut wheel, other), None);
}

#[test]
fn an_owner_that_is_gone_owns_nothing() {
    let mut wheel = Wheel::new(false);
    let owner = wheel.insert_owner();
    assert_eq!(remove_owned(&mut wheel, owner), None);
    insert(&mut wheel, 3, 'a', Some(owner));
    assert_eq!(remove_owned(&mut wheel, owner), None);
    assert_eq!(pop(&mut wheel, 3), Some('a'));
}

#[test]
fn an_entry_is_a_cache_line() {
    assert_eq!(size_of::<Option<TimerEntry<crate::time::AnyAlarm>>>(), 64);
}

#[test]
fn a_million_entries_come_in_order() {
    let count: u64 = if cfg!(miri) {
        100
    } else if cfg!(debug_assertions) {
        100_000
    } else {
        1_000_000
    };
    let mut random = Random(7);
    let mut wheel = Wheel::new(false);
    let each = |began: Instant| began.elapsed().as_nanos() / u128::from(count);
    let began = Instant::now();
    let keys: Vec<_> = (0..count)
        .map(|_| {
            let due = random.length(40);
            insert(&mut wheel, due, due, None)
        })
        .collect();
    println!("{count} entries set in {} ns each", each(began));
    let began = Instant::now();
    for key in keys.iter().step_by(2) {
        assert!(remove(&mut wheel, *key).is_some());
    }
    println!("half of them cancelled in {} ns each", 2 * each(began));
    let began = Instant::now();
    let mut last = 0;
    for _ in 0..count / 2 {
        let due = pop(&mut wheel, u64::MAX - 1).unwrap();
        assert!(last <= due);
        last = due;
    }
    println!("the others expired in {} ns each", 2 * each(began));
    assert_eq!((pop(&mut wheel, u64::MAX - 1), wheel.len()), (None, 0));
}
