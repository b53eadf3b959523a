//! What the mode packed would write for a list that was written in the mode small, which must not be larger.
//!
//! By samples alone, which may be wrong about what is smaller by little, it sometimes would be. To write each list in both
//! ways takes half as long again and more; here is told when that is superfluous. Lists inside a codec are not larger either,
//! so that the same codec of the same list is not, and nothing is larger than packing.

use super::choose::Choice;
use super::encode::Written;
use crate::kernels::{packed_bytes, width_of};

/// More than any codec takes besides its lists, and than packing takes besides the bits of its values.
const HEAD: usize = 48;
/// The least that packing takes besides them.
const LEAST_HEAD: usize = 3;

/// The mode packed, before a list.
pub(super) struct Rival {
    /// What it would choose, and what comes next should that not pay.
    pub(super) choices: [Choice; 2],
    pub(super) count: usize,
    pub(super) range: u64,
    /// What it divides offsets by: 1 for a list that is not worth to look for more.
    pub(super) divisor: u64,
    /// Whether the mode small divides them by the same.
    pub(super) is_divided_alike: bool,
}

impl Rival {
    /// More bytes than it takes for the list.
    pub(super) fn most(&self) -> usize {
        HEAD + packed_bytes(self.count, width_of(self.range))
    }

    /// Whether it may take fewer bytes than `size`, which the list takes by the codec and in the way in which it was `written`, with
    /// lists inside for which it may take `slack` bytes more.
    pub(super) fn may_be_smaller(
        &self,
        written: (Choice, Written),
        size: usize,
        slack: usize,
    ) -> bool {
        let (written, how) = written;
        let is_alike = self.is_divided_alike && how == Written::Yes;
        let packing = packed_bytes(self.count, width_of(self.range / self.divisor));
        // The same codec is sure to pay there, too, so that what comes next is not tried.
        let is_same = self.choices[0] == written && is_alike;
        if is_same && size + slack + HEAD < packing {
            return false;
        }
        // A divisor that only the mode small looks for takes some bytes, too.
        if !self.is_divided_alike && size > packing + LEAST_HEAD {
            return true;
        }
        self.choices.into_iter().any(|choice| match choice {
            Choice::Packed => false,
            Choice::Patched(low, _) if size <= packed_bytes(self.count, low) => false,
            choice => choice != written || !is_alike,
        })
    }
}
