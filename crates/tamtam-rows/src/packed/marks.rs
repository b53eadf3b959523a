//! A bitmap in which values are marked at places that they are hashed to.

/// A bitmap in which values are marked at places that they are hashed to.
pub(super) struct Marks<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Marks<WORDS> {
    pub(super) const PLACES: usize = WORDS * 64;

    /// Marks a place: whether it was not marked before.
    #[inline(always)]
    pub(super) fn mark(&mut self, place: usize) -> bool {
        let word = &mut self.0[place / 64];
        let bit = 1 << (place % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl<const WORDS: usize> Default for Marks<WORDS> {
    fn default() -> Self {
        Marks([0; WORDS])
    }
}
