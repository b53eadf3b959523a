//! What is kept under the keys of watches.

use super::WatchKey;

/// Values by the keys of watches: a list in the order of the keys. They are counted up, so one that comes goes to the end, or near it,
/// and most actors have few. What is taken out leaves a hole; when half of the list is holes, it is made shorter.
pub(crate) struct Watches<V> {
    places: Vec<(WatchKey, Option<V>)>,
    /// How many places are taken.
    length: usize,
}

impl<V> Watches<V> {
    pub(crate) const fn new() -> Self {
        Watches {
            places: Vec::new(),
            length: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Puts a value under a key that nothing was put under before.
    pub(crate) fn insert(&mut self, key: WatchKey, value: V) {
        let mut place = self.places.len();
        while place > 0 && self.places[place - 1].0 > key {
            place -= 1;
        }
        debug_assert!(
            place == 0 || self.places[place - 1].0 != key,
            "a key is for one watch"
        );
        self.places.insert(place, (key, Some(value)));
        self.length += 1;
    }

    fn find(&self, key: WatchKey) -> Option<usize> {
        self.places
            .binary_search_by(|(other, _)| other.cmp(&key))
            .ok()
    }

    #[cfg(feature = "serde")]
    pub(crate) fn contains(&self, key: WatchKey) -> bool {
        self.find(key)
            .is_some_and(|place| self.places[place].1.is_some())
    }

    pub(crate) fn take(&mut self, key: WatchKey) -> Option<V> {
        let place = self.find(key)?;
        let taken = self.places[place].1.take()?;
        self.length -= 1;
        if self.length <= self.places.len() / 2 {
            self.places.retain(|(_, value)| value.is_some());
            self.places.shrink_to(2 * self.length);
        }
        Some(taken)
    }

    /// Takes out those of which this is true.
    pub(crate) fn take_if(&mut self, mut is_taken: impl FnMut(&V) -> bool) -> Self {
        let is_taken = |(_, value): &mut (_, Option<V>)| value.as_ref().is_some_and(&mut is_taken);
        let places: Vec<_> = self.places.extract_if(.., is_taken).collect();
        let length = places.len();
        self.length -= length;
        Watches { places, length }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (WatchKey, &V)> {
        let places = self.places.iter();
        places.filter_map(|(key, value)| Some((*key, value.as_ref()?)))
    }
}

impl<V> Default for Watches<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V> IntoIterator for Watches<V> {
    type Item = (WatchKey, V);
    type IntoIter = core::iter::FilterMap<
        std::vec::IntoIter<(WatchKey, Option<V>)>,
        fn((WatchKey, Option<V>)) -> Option<(WatchKey, V)>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        let places = self.places.into_iter();
        places.filter_map(|(key, value)| Some((key, value?)))
    }
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    fn keys(watches: &Watches<u32>) -> Vec<(WatchKey, u32)> {
        watches.iter().map(|(key, &value)| (key, value)).collect()
    }

    #[test]
    fn values_are_found_by_their_keys_whatever_the_order_in_which_they_come() {
        let [a, b, c, d] = [(); 4].map(|()| WatchKey::next());
        let mut watches = Watches::new();
        for (key, value) in [(b, 2), (a, 1), (d, 4), (c, 3)] {
            watches.insert(key, value);
        }
        assert_eq!(keys(&watches), [(a, 1), (b, 2), (c, 3), (d, 4)]);
        assert_eq!(watches.take(b), Some(2));
        assert_eq!(watches.take(b), None);
        assert_eq!(watches.take(WatchKey::next()), None);
        assert_eq!(keys(&watches), [(a, 1), (c, 3), (d, 4)]);
        let odd = watches.take_if(|value| value % 2 == 1);
        assert_eq!(keys(&odd), [(a, 1), (c, 3)]);
        assert_eq!(odd.into_iter().map(|(_, value)| value).sum::<u32>(), 4);
        assert_eq!(watches.take(d), Some(4));
        assert!(watches.is_empty() && watches.places.capacity() == 0);
    }

    #[test]
    fn many_are_taken_out_in_any_order_and_their_memory_given_back() {
        let count = if cfg!(miri) { 300 } else { 30_000 };
        let all: Vec<WatchKey> = (0..count).map(|_| WatchKey::next()).collect();
        let mut watches = Watches::new();
        for (key, value) in all.iter().zip(0..) {
            watches.insert(*key, value);
        }
        for (place, key) in all.iter().enumerate().filter(|(place, _)| place % 7 != 3) {
            assert_eq!(watches.take(*key), Some(place as u32));
        }
        assert_eq!(watches.length, watches.iter().count());
        assert!(watches.places.len() <= 2 * watches.length);
        for key in all.iter().skip(3).step_by(7) {
            assert!(watches.take(*key).is_some());
        }
        assert!(watches.is_empty() && watches.places.capacity() == 0);
    }
}
