//! How what lies in a segment is reached: by copies, and by claims in the name of this process.

use tamtam_wait::{Futex, Scope};

use crate::claim::{Claim, Lives};
use crate::copy;
use crate::party;
use crate::plain::Plain;
use crate::segment::Segment;

impl Segment {
    /// Copies out what lies so many bytes behind the header.
    ///
    /// # Panics
    ///
    /// If not all of it would lie in the segment.
    #[inline]
    pub(crate) fn read_bytes(&self, offset: usize, to: &mut [u8]) {
        let from = self.bytes_at(offset, to.len());
        // SAFETY: so many bytes from there lie in the mapping, as was just seen. All of this crate copies by these two functions or uses
        // atomics, and gives references to such memory by unsafe functions only.
        unsafe { copy::out_of_shared(from, to) };
    }

    /// Copies in, so many bytes behind the header.
    ///
    /// # Panics
    ///
    /// If not all of it would lie in the segment.
    #[inline]
    pub(crate) fn write_bytes(&self, offset: usize, from: &[u8]) {
        let to = self.bytes_at(offset, from.len());
        // SAFETY: so many bytes from there lie in the mapping, as was just seen. All of this crate copies by these two functions or uses
        // atomics, and gives references to such memory by unsafe functions only.
        unsafe { copy::into_shared(from, to) };
    }

    fn bytes_at(&self, offset: usize, len: usize) -> *mut u8 {
        let end = offset.checked_add(len);
        assert!(end.is_some_and(|end| end <= self.bytes()));
        if len == 0 {
            return std::ptr::dangling_mut();
        }
        self.place::<u8>(offset).as_ptr()
    }

    /// A copy of the value that lies so many bytes behind the header, in whatever way it was written.
    #[inline]
    pub(crate) fn read_value<T: Plain>(&self, offset: usize) -> T {
        let mut value = T::new_zeroed();
        self.read_bytes(offset, value.as_mut_bytes());
        value
    }

    #[inline]
    pub(crate) fn write_value<T: Plain>(&self, offset: usize, value: &T) {
        self.write_bytes(offset, value.as_bytes());
    }

    /// How many processes have the segment now.
    pub(crate) fn processes(&self) -> usize {
        let parties = self.parties().iter();
        parties.filter(|party| party.look().is_some()).count()
    }

    /// A number that changes whenever a process gives the segment up or ends.
    pub(crate) fn ends(&self) -> u32 {
        party::ends(self.parties())
    }

    /// The number of the process that has made the claim, as it knows itself.
    pub(crate) fn process_of(&self, claim: Claim) -> u32 {
        self.parties()[claim.place()].pid()
    }
}

impl Lives for Segment {
    #[inline]
    fn own(&self) -> Claim {
        let stay = self.member().stay();
        Claim::new(stay.place, stay.count)
    }

    fn is_alive(&self, claim: Claim) -> bool {
        let life = self.parties()[claim.place()].look();
        life.is_some_and(|(_, count)| Claim::new(claim.place() as u32, count) == claim)
    }

    fn words(&self) -> impl Iterator<Item = (&Futex, u32, Scope)> {
        party::lives(self.parties(), self.member().stay())
    }
}
