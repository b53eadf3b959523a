//! Which pieces of an arena belong to a channel: what its maker knows, in memory of its own.

use std::collections::BTreeMap;

/// Regions begin at multiples of so many bytes, as what lies in them has to.
pub(crate) const REGION_ALIGNMENT: usize = 128;

/// A region that a channel has.
#[derive(Clone, Copy, Debug)]
struct Taken {
    len: usize,
    generation: u64,
    /// The maker has none of its ends any more.
    is_left: bool,
}

/// So many bytes, in pieces that are taken or free.
#[derive(Debug)]
pub(crate) struct Regions {
    /// Where each free piece begins, and how long it is. No two of them are neighbours.
    free: BTreeMap<usize, usize>,
    taken: BTreeMap<usize, Taken>,
    /// How many were taken; at a million a second a wrap takes half a million years.
    generations: u64,
}

impl Regions {
    pub(crate) fn new(bytes: usize) -> Self {
        let whole = bytes - bytes % REGION_ALIGNMENT;
        Regions {
            free: (whole > 0).then_some((0, whole)).into_iter().collect(),
            taken: BTreeMap::new(),
            generations: 0,
        }
    }

    /// Takes the first free piece that is large enough: where it begins, and its generation.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<(usize, u64)> {
        let len = bytes.max(1).checked_next_multiple_of(REGION_ALIGNMENT)?;
        let (&offset, &free) = self.free.iter().find(|(_, free)| **free >= len)?;
        self.free.remove(&offset);
        if free > len {
            self.free.insert(offset + len, free - len);
        }
        self.generations += 1;
        let taken = Taken {
            len,
            generation: self.generations,
            is_left: false,
        };
        self.taken.insert(offset, taken);
        Some((offset, self.generations))
    }

    /// The maker has no end any more of what begins there.
    pub(crate) fn leave(&mut self, offset: usize) {
        if let Some(taken) = self.taken.get_mut(&offset) {
            taken.is_left = true;
        }
    }

    /// Frees those that the maker has left and `is_over` says that no process holds, by where they begin and their generation.
    pub(crate) fn sweep(&mut self, is_over: impl Fn(usize, u64) -> bool) {
        let left = self.taken.iter().filter(|(_, taken)| taken.is_left);
        let over = left.filter(|(offset, taken)| is_over(**offset, taken.generation));
        let over: Vec<usize> = over.map(|(offset, _)| *offset).collect();
        for offset in over {
            if let Some(Taken { len, .. }) = self.taken.remove(&offset) {
                self.free_piece(offset, len);
            }
        }
    }

    fn free_piece(&mut self, mut offset: usize, mut len: usize) {
        if let Some((&before, &of_before)) = self.free.range(..offset).next_back()
            && before + of_before == offset
        {
            self.free.remove(&before);
            (offset, len) = (before, len + of_before);
        }
        if let Some(behind) = self.free.remove(&(offset + len)) {
            len += behind;
        }
        self.free.insert(offset, len);
    }

    /// The longest piece that is free, in bytes.
    pub(crate) fn longest_free(&self) -> usize {
        self.free.values().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_is_one_piece_again_in_whatever_order() {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let mut regions = Regions::new(1000);
            let taken = [300, 1, 128].map(|bytes| regions.take(bytes).unwrap());
            assert_eq!(taken, [(0, 1), (384, 2), (512, 3)]);
            assert_eq!(regions.take(300), None);
            assert_eq!(regions.longest_free(), 896 - 640);
            for place in order {
                let (offset, generation) = taken[place];
                regions.sweep(|_, _| true);
                assert!(regions.longest_free() < 896, "one is not left");
                regions.leave(offset);
                regions.sweep(|at, of| (at, of) != (offset, generation));
                regions.sweep(|at, of| (at, of) == (offset, generation));
            }
            assert_eq!(regions.longest_free(), 896);
            assert_eq!(regions.take(896), Some((0, 4)));
        }
    }

    #[test]
    fn more_than_there_is_is_not_to_be_had() {
        assert_eq!(Regions::new(127).take(0), None);
        assert_eq!(Regions::new(1 << 20).take(usize::MAX), None);
    }
}
