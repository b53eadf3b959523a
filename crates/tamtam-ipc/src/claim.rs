//! A mark in a shared word that says which process is at work there, so that what one leaves half done at its end is taken over.

use tamtam_wait::{Futex, Scope};

/// One stay of one process among those that share the memory, in 30 bits: a bit that says that there is a claim at all, the place (6), and the
/// lower bits of how often that place was freed before (23). A claim is taken for that of a later process only if it outlives eight million of
/// them in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim(u32);

/// There is a claim.
const IS_CLAIMED: u32 = 1 << 29;
const PLACE_SHIFT: u32 = 23;
const COUNT: u32 = (1 << PLACE_SHIFT) - 1;
const PLACE: u32 = 63;

impl Claim {
    /// The bits of a word that a claim takes; two are left above.
    pub(crate) const BITS: u32 = (1 << 30) - 1;

    /// Of the process that has this place for this time.
    pub(crate) fn new(place: u32, count: u32) -> Self {
        Claim(IS_CLAIMED | (place & PLACE) << PLACE_SHIFT | (count & COUNT))
    }

    /// The claim in a word, if there is one. Another process may have written it.
    pub(crate) fn in_word(word: u32) -> Option<Self> {
        (word & IS_CLAIMED != 0).then_some(Claim(word & Self::BITS))
    }

    /// As it stands in a word.
    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    /// Below 64.
    pub(crate) fn place(self) -> usize {
        (self.0 >> PLACE_SHIFT & PLACE) as usize
    }
}

/// The processes that share the memory.
pub(crate) trait Lives {
    /// The claim that this process makes.
    fn own(&self) -> Claim;

    /// Whether the process that has made the claim lives and has the memory still. If not, those who sleep until its end are woken.
    fn is_alive(&self, claim: Claim) -> bool;

    /// What to sleep on for the end of any other process. Those who sleep until the end of one that has ended are woken.
    fn words(&self) -> impl Iterator<Item = (&Futex, u32, Scope)>;
}

#[cfg(all(test, not(tamtam_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_claim_is_found_in_its_word_and_nowhere_else() {
        let claim = Claim::new(63, u32::MAX);
        assert_eq!(claim.bits() & !Claim::BITS, 0);
        assert_eq!(Claim::in_word(claim.bits() | 3 << 30), Some(claim));
        assert_eq!((claim.place(), Claim::new(5, 7).place()), (63, 5));
        assert_eq!(Claim::in_word(3 << 30), None);
        assert_ne!(Claim::new(0, 0), Claim::new(0, 1));
        assert_ne!(Claim::new(0, 0), Claim::new(1, 0));
        // Once in eight million times.
        assert_eq!(Claim::new(0, 1), Claim::new(0, 1 + (1 << 23)));
    }
}

/// Lives of the models: a word for each process.
#[cfg(all(test, tamtam_loom))]
pub(crate) mod models {
    use super::*;
    use tamtam_wait::seam::Arc;
    use tamtam_wait::seam::atomic::Ordering;

    /// What one process knows of two.
    #[derive(Clone)]
    pub(crate) struct Process {
        pub(crate) place: u32,
        /// 1 while it lives, one word for each process.
        pub(crate) lives: Arc<[Futex; 3]>,
    }

    impl Process {
        pub(crate) fn three() -> [Self; 3] {
            let lives = Arc::new([Futex::new(1), Futex::new(1), Futex::new(1)]);
            [0, 1, 2].map(|place| Process {
                place,
                lives: Arc::clone(&lives),
            })
        }

        /// What the kernel does when it ends.
        pub(crate) fn ends(&self) {
            let word = &self.lives[self.place as usize];
            word.store(0, Ordering::SeqCst);
            word.wake_one(Scope::Shared);
        }
    }

    impl Lives for Process {
        fn own(&self) -> Claim {
            Claim::new(self.place, 0)
        }

        fn is_alive(&self, claim: Claim) -> bool {
            self.lives[claim.place()].load(Ordering::SeqCst) == 1
        }

        /// None: a sleep on several words is a chain of short ones in the models, which hides a wake-up that is missed.
        fn words(&self) -> impl Iterator<Item = (&Futex, u32, Scope)> {
            std::iter::empty()
        }
    }
}
