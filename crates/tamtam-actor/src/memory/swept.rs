//! Lists whose entries end by themselves, without taking themselves out.

/// A list is never searched while it has fewer entries.
pub(crate) const SEARCHED_FROM: usize = 64;

/// Entries in the order in which they were added. Those that have ended are forgotten when there are twice as many as were left after
/// the last time: so adding costs the same on average however many there are, and at most as many ended ones are kept as live ones.
pub(crate) struct SweptList<T> {
    entries: Vec<T>,
    /// When there are so many, those that have ended are looked for.
    most: usize,
}

impl<T> SweptList<T> {
    pub(crate) const fn new() -> Self {
        SweptList {
            entries: Vec::new(),
            most: SEARCHED_FROM,
        }
    }

    pub(crate) fn add(&mut self, entry: T, lives: impl FnMut(&T) -> bool) {
        if self.entries.len() >= self.most {
            self.entries.retain(lives);
            self.make_small();
        }
        self.entries.push(entry);
    }

    fn make_small(&mut self) {
        self.most = SEARCHED_FROM.max(2 * self.entries.len());
        self.entries.shrink_to(self.most);
    }

    /// Takes those out of which this is true.
    pub(crate) fn take_out(&mut self, is_it: impl FnMut(&mut T) -> bool) -> Vec<T> {
        let out = self.entries.extract_if(.., is_it).collect();
        self.make_small();
        out
    }

    pub(crate) fn take_all(&mut self) -> Vec<T> {
        core::mem::take(&mut self.entries)
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> core::slice::Iter<'_, T> {
        self.entries.iter()
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }
}
