//! Values that a codec cannot hold: where they stand, and what is to be done there.

use super::{Effort, Integer, decode, encode};
use crate::kernels::vectorised;
use crate::packed::bytes::{Input, Output, Result};

/// Values that a codec cannot hold: where they stand, and what is to be done there.
pub(in crate::packed) struct Exceptions<T> {
    /// How many others lie before each.
    gaps: Vec<u32>,
    parts: Vec<T>,
}

impl<T: Integer> Exceptions<T> {
    /// In each of these rows, which are in order, its part.
    pub(in crate::packed) fn of(rows: &[u32], parts: Vec<T>) -> Exceptions<T> {
        debug_assert_eq!(rows.len(), parts.len());
        Exceptions {
            gaps: gaps(rows),
            parts,
        }
    }

    /// Writes how many there are, the gaps, and the parts.
    pub(in crate::packed) fn write(&self, effort: Effort, out: &mut Output<'_>) {
        out.varint(self.gaps.len() as u64);
        encode(&self.gaps, effort.inner(), out);
        encode(&self.parts, effort.inner(), out);
    }
}

/// How many rows lie between each row and the one before it.
pub(super) fn gaps(rows: &[u32]) -> Vec<u32> {
    let Some(&first) = rows.first() else {
        return Vec::new();
    };
    let mut gaps = vec![first; rows.len()];
    vectorised(|| {
        for (gap, (row, next)) in gaps[1..].iter_mut().zip(rows.iter().zip(&rows[1..])) {
            *gap = next - row - 1;
        }
    });
    gaps
}

/// Reads exceptions, and hands each part to the value that it belongs to.
pub(in crate::packed) fn read_exceptions<T>(
    input: &mut Input<'_>,
    depth: u8,
    values: &mut [T],
    mut hand: impl FnMut(&mut T, u64),
) -> Result<()> {
    let count = input.count(values.len(), "the number of exceptions")?;
    let gaps: Vec<u32> = decode(input, count, depth)?;
    let parts: Vec<u64> = decode(input, count, depth)?;
    let mut row = 0_usize;
    for (gap, part) in gaps.into_iter().zip(parts) {
        row += gap as usize;
        let Some(value) = values.get_mut(row) else {
            return Err(input.malformed("an exception beyond the end"));
        };
        hand(value, part);
        row += 1;
    }
    Ok(())
}
