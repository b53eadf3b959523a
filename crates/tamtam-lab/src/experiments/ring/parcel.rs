//! The message of the ring, which counts its own way.

/// A message of the ring: a number, how many actors have handled it, and as many words as fill its size.
///
/// It counts its own way, so that each handled message is verified without a list of what every actor has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parcel<const WORDS: usize> {
    number: u32,
    hops: u32,
    body: [u64; WORDS],
}

/// A parcel's way that cannot be: it has been to an actor that it was not for.
const ASTRAY: u32 = u32::MAX;

impl<const WORDS: usize> Parcel<WORDS> {
    /// Its size in bytes.
    pub const BYTES: usize = size_of::<Self>();

    /// The parcel `number`, before its first actor.
    #[must_use]
    pub fn new(number: u32) -> Self {
        Parcel {
            number,
            hops: 0,
            body: [check(number); WORDS],
        }
    }

    /// Where it is due: the position of the actor at which it entered, and on by one for each that handled it.
    pub(super) fn due(&self) -> u32 {
        self.number.wrapping_add(self.hops)
    }

    /// An actor has handled it, the right one or not.
    pub(super) fn hop(&mut self, right: bool) {
        if right {
            self.hops = self.hops.wrapping_add(1);
        } else {
            self.hops = ASTRAY;
        }
    }

    /// Its number, and how many actors have handled it; `None` if it is damaged or went astray.
    pub(super) fn open(&self) -> Option<(u32, u32)> {
        let expected = check(self.number);
        let difference = self
            .body
            .iter()
            .fold(0, |difference, word| difference | (word ^ expected));
        (difference == 0 && self.hops < ASTRAY / 2).then_some((self.number, self.hops))
    }
}

/// A word that a damaged number does not fit: an odd factor spreads every bit upwards.
fn check(number: u32) -> u64 {
    u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
impl<const WORDS: usize> Parcel<WORDS> {
    /// The same with one bit of its body, or of its number, turned round.
    pub(super) fn damaged(mut self) -> Self {
        match self.body.last_mut() {
            Some(word) => *word ^= 1 << 40,
            None => self.number ^= 1,
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parcels_have_the_sizes_of_the_experiment() {
        assert_eq!(
            [Parcel::<0>::BYTES, Parcel::<4>::BYTES, Parcel::<24>::BYTES],
            [8, 40, 200]
        );
    }

    #[test]
    fn a_parcel_counts_its_way() {
        let mut parcel = Parcel::<4>::new(7);
        for position in 7..1007 {
            assert_eq!(parcel.due(), position);
            parcel.hop(true);
        }
        assert_eq!(parcel.open(), Some((7, 1000)));
    }

    #[test]
    fn a_parcel_that_went_astray_stays_so() {
        let mut parcel = Parcel::<0>::new(7);
        parcel.hop(false);
        assert_eq!(parcel.open(), None);
        // Its way goes on; nowhere is it due again.
        for _ in 0..10_000 {
            let due = parcel.due();
            parcel.hop(due == 3);
            assert_eq!(parcel.open(), None);
        }
    }

    #[test]
    fn a_damaged_parcel_is_noticed() {
        for words in 0..4 {
            let mut parcel = Parcel::<4>::new(7);
            parcel.body[words] ^= 1 << words;
            assert_eq!(parcel.open(), None);
        }
        assert_eq!(Parcel::<24>::new(7).damaged().open(), None);
    }
}
