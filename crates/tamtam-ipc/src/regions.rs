//! Which pieces of an arena belong to a channel: what its maker knows, in memory of its own.
//!
//! A piece is the channel's as long as the maker has a handle of it, whatever other processes write, and then until none of those holds it
//! ([`tenancy`](crate::tenancy)). A handle is counted by the generation that it is of: one that comes for what was there before is none.

use std::collections::BTreeMap;

/// Regions begin at multiples of so many bytes, as what lies in them has to.
pub(crate) const REGION_ALIGNMENT: usize = 128;

/// A region that a channel has.
#[derive(Clone, Copy, Debug)]
struct Taken {
    len: usize,
    generation: u64,
    /// So many handles of it the maker has.
    handles: usize,
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

    /// Takes the first free piece that is large enough: where it begins, and its generation. The maker has a handle of it.
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
            handles: 1,
        };
        self.taken.insert(offset, taken);
        Some((offset, self.generations))
    }

    /// The maker has one more handle of what begins there, unless that is of another generation, or nothing: then `false`.
    pub(crate) fn enter(&mut self, offset: usize, generation: u64) -> bool {
        let taken = self.taken.get_mut(&offset);
        match taken.filter(|taken| taken.generation == generation) {
            Some(taken) => {
                taken.handles += 1;
                true
            }
            None => false,
        }
    }

    /// The maker has given up a handle of what begins there.
    pub(crate) fn leave(&mut self, offset: usize) {
        if let Some(taken) = self.taken.get_mut(&offset) {
            taken.handles -= 1;
        }
    }

    /// Frees those of which the maker has no handle and `is_over` says that no process holds, by where they begin and their generation.
    pub(crate) fn sweep(&mut self, is_over: impl Fn(usize, u64) -> bool) {
        let left = self.taken.iter().filter(|(_, taken)| taken.handles == 0);
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

#[cfg(all(test, not(tamtam_loom)))]
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
    fn a_handle_counts_for_its_generation_alone() {
        let is_free = |regions: &Regions| regions.longest_free() == 896;
        let mut regions = Regions::new(1000);
        assert_eq!(regions.take(896), Some((0, 1)));
        assert!(regions.enter(0, 1));
        regions.leave(0);
        regions.sweep(|_, _| true);
        assert!(!is_free(&regions), "the maker has another handle");
        regions.leave(0);
        // As long as another process holds it, the maker may come back.
        regions.sweep(|_, _| false);
        assert!(regions.enter(0, 1));
        regions.sweep(|_, _| true);
        regions.leave(0);
        regions.sweep(|_, _| true);
        assert!(is_free(&regions));
        assert!(!regions.enter(0, 1));
        assert_eq!(regions.take(896), Some((0, 2)));
        for (offset, generation) in [(0, 1), (0, 3), (128, 2)] {
            assert!(!regions.enter(offset, generation));
            regions.sweep(|_, _| true);
            assert!(!is_free(&regions), "{offset} {generation}");
        }
    }

    #[test]
    fn more_than_there_is_is_not_to_be_had() {
        assert_eq!(Regions::new(127).take(0), None);
        assert_eq!(Regions::new(1 << 20).take(usize::MAX), None);
    }
}

#[cfg(all(test, tamtam_loom))]
mod loom_tests {
    use super::*;
    use crate::tenancy::{Entrance, Tenancy, Tenant};
    use tamtam_wait::seam::{Arc, Mutex, thread};

    /// An arena with room for one channel, as the threads of its maker have it.
    struct Maker {
        regions: Mutex<Regions>,
        tenancy: Tenancy,
        entrance: Entrance,
    }

    const OWN: Tenant = Tenant { place: 1, count: 3 };

    impl Maker {
        fn with_a_channel() -> Arc<Self> {
            let maker = Maker {
                regions: Mutex::new(Regions::new(REGION_ALIGNMENT)),
                tenancy: Tenancy::new(),
                entrance: Entrance::new(),
            };
            assert!(maker.make());
            Arc::new(maker)
        }

        /// Makes a channel, if there is room.
        fn make(&self) -> bool {
            let mut regions = self.regions.lock();
            let taken = regions.take(1).or_else(|| {
                regions.sweep(|_, generation| self.tenancy.end(generation, |_, _| true));
                regions.take(1)
            });
            drop(regions);
            let Some((_, generation)) = taken else {
                return false;
            };
            self.tenancy.begin(generation);
            assert!(self.tenancy.enter(&self.entrance, generation, OWN));
            true
        }

        /// Attaches to the first channel, and gives it up again.
        fn attach(&self) {
            if !self.regions.lock().enter(0, 1) {
                return;
            }
            if self.tenancy.enter(&self.entrance, 1, OWN) {
                self.tenancy.leave(OWN);
            }
            self.regions.lock().leave(0);
        }

        fn drop_first(&self) {
            self.tenancy.leave(OWN);
            self.regions.lock().leave(0);
        }
    }

    fn two_make_one(meanwhile: fn(&Maker)) {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let maker = Maker::with_a_channel();
            let makers = [0, 1].map(|_| {
                let maker = Arc::clone(&maker);
                thread::spawn(move || maker.make())
            });
            meanwhile(&maker);
            let made = makers.map(|it| it.join().unwrap());
            assert_ne!(made, [true; 2], "one piece is given to two");
            assert_eq!(maker.make(), made == [false; 2]);
        });
    }

    /// The last handle is dropped in two steps, between which another thread may take the piece.
    #[test]
    fn loom_a_handle_that_is_dropped_is_none_of_the_next_channel() {
        two_make_one(Maker::drop_first);
    }

    /// A thread attaches to what is over, or is not yet.
    #[test]
    fn loom_one_that_attaches_too_late_leaves_the_next_channel_alone() {
        two_make_one(|maker| {
            maker.drop_first();
            maker.attach();
        });
    }
}
